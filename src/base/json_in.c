// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads JSON from memory, value by value. */
#include "base/json_in.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

struct json_in json_in_of(const void *p, size_t n)
{
	const uint8_t *b = p ? p : (const uint8_t *)"";

	return (struct json_in){ b, b, p ? b + n : b, false, false };
}

static bool fail(struct json_in *j)
{
	j->bad = true;
	j->p = j->end;
	return false;
}

/* Returns the next character other than white space; 0 at the end. */
static int peek(struct json_in *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' ||
				 *j->p == '\t' || *j->p == '\r'))
		j->p++;
	return j->p < j->end ? *j->p : 0;
}

bool json_in_is(struct json_in *j, char kind)
{
	int c = peek(j);

	return kind == '0' ? c == '-' || (c >= '0' && c <= '9') : c == kind;
}

static bool enter(struct json_in *j, int open)
{
	if (peek(j) != open)
		return false;
	j->p++;
	j->first = true;
	return true;
}

bool json_in_object(struct json_in *j)
{
	return enter(j, '{');
}

bool json_in_array(struct json_in *j)
{
	return enter(j, '[');
}

/* Moves to the next element.  Returns false after the last one. */
static bool advance(struct json_in *j, int close)
{
	int c = peek(j);
	bool first = j->first;

	if (j->bad)
		return false;
	j->first = false;
	if (c == close) {
		j->p++;
		return false;
	}
	if (first)
		return c ? true : fail(j);
	if (c != ',')
		return fail(j);
	j->p++;
	c = peek(j);
	return c && c != close ? true : fail(j);
}

bool json_in_item(struct json_in *j)
{
	return advance(j, ']');
}

bool json_in_key(struct json_in *j, struct buf *key)
{
	buf_reset(key);
	if (!advance(j, '}'))
		return false;
	if (!json_in_string(j, key) || peek(j) != ':')
		return fail(j);
	j->p++;
	return true;
}

static int hex_digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Reads four hexadecimal digits after \u.  Returns -1 if they are invalid. */
static int32_t take_unit(struct json_in *j)
{
	int32_t v = 0;

	if (j->end - j->p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = hex_digit(j->p[i]);

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	j->p += 4;
	return v;
}

static void put_utf8(struct buf *out, uint32_t c)
{
	text_utf8(out, !c || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
}

/* Reads \uXXXX, with the second half of a surrogate pair if it follows. */
static bool take_escape_u(struct json_in *j, struct buf *out)
{
	int32_t c = take_unit(j), low;

	if (c < 0)
		return fail(j);
	if (c >= 0xd800 && c < 0xdc00 && j->end - j->p >= 6 &&
	    j->p[0] == '\\' && j->p[1] == 'u') {
		j->p += 2;
		low = take_unit(j);
		if (low < 0)
			return fail(j);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		} else {
			put_utf8(out, (uint32_t)c);
			c = low;
		}
	}
	put_utf8(out, (uint32_t)c);
	return true;
}

static bool take_escape(struct json_in *j, struct buf *out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (j->p == j->end)
		return fail(j);
	if (*j->p == 'u') {
		j->p++;
		return take_escape_u(j, out);
	}
	at = *j->p ? strchr(names, *j->p) : NULL;
	if (!at)
		return fail(j);
	j->p++;
	buf_u8(out, (uint8_t)values[at - names]);
	return true;
}

bool json_in_string(struct json_in *j, struct buf *out)
{
	size_t begin = out->n;

	if (peek(j) != '"')
		return fail(j);
	j->p++;
	while (!j->bad) {
		const uint8_t *from = j->p;

		while (j->p < j->end && *j->p >= 0x20 && *j->p != '"' &&
		       *j->p != '\\')
			j->p++;
		if (j->p == j->end || (size_t)(j->p - from) > JSON_IN_TEXT)
			return fail(j);
		buf_bytes(out, from, (size_t)(j->p - from));
		if (out->n - begin > JSON_IN_TEXT || *j->p < 0x20)
			return fail(j);
		if (*j->p++ == '"')
			return !out->failed;
		take_escape(j, out);
	}
	return false;
}

/* Skips the string that starts here. */
static bool skip_string(struct json_in *j)
{
	for (j->p++; j->p < j->end && *j->p != '"'; j->p++)
		if (*j->p == '\\' && ++j->p == j->end)
			break;
	if (j->p >= j->end)
		return fail(j);
	j->p++;
	return true;
}

static bool take_word(struct json_in *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n))
		return false;
	j->p += n;
	return true;
}

static bool is_digit(const struct json_in *j)
{
	return j->p < j->end && *j->p >= '0' && *j->p <= '9';
}

static double scaled(uint64_t digits, int exponent)
{
	static const double powers[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};

	if (exponent >= 0 && exponent <= 22)
		return (double)digits * powers[exponent];
	if (exponent < 0 && exponent >= -22)
		return (double)digits / powers[-exponent];
	return (double)digits * pow(10, exponent);
}

static double take_number(struct json_in *j)
{
	bool negative = *j->p == '-', below = false, minus;
	uint64_t digits = 0;
	int exponent = 0, e = 0;
	double v;

	j->p += negative;
	if (!is_digit(j)) {
		fail(j);
		return NAN;
	}
	for (;; j->p++) {
		if (!below && j->p < j->end && *j->p == '.') {
			below = true;
			continue;
		}
		if (!is_digit(j))
			break;
		if (digits < UINT64_MAX / 10 - 1) {
			digits = digits * 10 + (*j->p - '0');
			exponent -= below;
		} else {
			exponent += !below && exponent < 10000;
		}
	}
	if (j->p < j->end && (*j->p | 32) == 'e') {
		j->p++;
		minus = j->p < j->end && *j->p == '-';
		if (j->p < j->end && (*j->p == '-' || *j->p == '+'))
			j->p++;
		if (!is_digit(j))
			fail(j);
		for (; is_digit(j); j->p++)
			e = e < 10000 ? e * 10 + (*j->p - '0') : e;
		exponent += minus ? -e : e;
	}
	v = scaled(digits, exponent);
	return negative ? -v : v;
}

double json_in_number(struct json_in *j)
{
	int c = peek(j);

	if (c == '-' || (c >= '0' && c <= '9'))
		return take_number(j);
	if (take_word(j, "null"))
		return -1;
	if (take_word(j, "true"))
		return 1;
	if (take_word(j, "false"))
		return 0;
	json_in_skip(j);
	return NAN;
}

void json_in_skip(struct json_in *j)
{
	uint8_t close[JSON_IN_DEPTH];
	int depth = 0;

	do {
		int c = peek(j);

		if (depth && c == close[depth - 1]) {
			j->p++;
			depth--;
		} else if (depth && (c == ',' || c == ':')) {
			j->p++;
			continue;	/* the value follows */
		} else if (c == '"') {
			skip_string(j);
		} else if (c == '{' || c == '[') {
			if (depth == JSON_IN_DEPTH) {
				fail(j);
				return;
			}
			close[depth++] = c == '{' ? '}' : ']';
			j->p++;
		} else if (c == '-' || (c >= '0' && c <= '9')) {
			take_number(j);
		} else if (!take_word(j, "null") && !take_word(j, "true") &&
			   !take_word(j, "false")) {
			fail(j);
		}
	} while (depth && !j->bad);
}
