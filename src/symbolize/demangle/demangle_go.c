// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Go names: package paths are read where they are escaped, and shortened to
 * their last element as `go tool pprof` does.
 */
#include <string.h>

#include "symbolize/demangle/manglings.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	     : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Go writes dots of the last element of a package path, and what is not plain
 * ASCII, as %2e: "gopkg.in/yaml%2ev3.Unmarshal" (cmd/internal/objabi).
 */
bool demangle_go(const char *s, size_t n, struct buf *out)
{
	const char *end = s + n, *p;
	size_t start = out->n;
	bool found = false;

	for (p = s; p < end; p++) {
		int hi = -1, lo = -1;

		if (*p == '%' && end - p > 2) {
			hi = hex_digit(p[1]);
			lo = hex_digit(p[2]);
		}
		if (hi < 0 || lo < 0 || hi * 16 + lo < 0x20) {
			buf_u8(out, (uint8_t)*p);
			continue;
		}
		buf_u8(out, (uint8_t)(hi * 16 + lo));
		found = true;
		p += 2;
	}
	if (!found)
		out->n = start;
	return found;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_path(char c)
{
	return is_word(c) || strchr(".-~%+@:", c);
}

/* What the compiler makes for types: the word stays, the path behind it goes. */
static size_t made_for_type(const char *s, size_t n)
{
	static const char *const words[] = {
		"type:.eq.", "type:.hash.", "type..eq.", "type..hash.",
		"go:itab.", "go.itab.", "go:buildid", "go.buildid",
	};
	size_t i, len;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		len = strlen(words[i]);
		if (n > len && !memcmp(s, words[i], len))
			return len;
	}
	return 0;
}

static bool is_go(const char *s, size_t n)
{
	const char *end = s + n, *p;

	if (made_for_type(s, n))
		return true;
	for (p = s; p < end; p++) {
		if (*p == '/' && p > s && end - p > 2 && is_word(p[-1]) &&
		    is_word(p[1]) && !(p - s >= 8 && !memcmp(p - 8, "operator", 8)))
			return true;
		if (end - p > 3 && p > s && is_word(p[-1]) &&
		    !memcmp(p, ".(*", 3))
			return true;
		if (*p == '[')
			return end - p > 10 && !memcmp(p, "[go.shape.", 10);
		if (!in_path(*p) || (*p == ':' && p[1] == ':'))
			return false;
	}
	return false;
}

/* /v2, /v10 before a dot or a slash: a version, not a name. */
static size_t version_len(const char *p, const char *end)
{
	const char *q = p + 2;

	if (end - p < 4 || p[1] != 'v' || *q < '1' || *q > '9' ||
	    (*q == '1' && (q[1] < '0' || q[1] > '9')))
		return 0;
	while (q < end && *q >= '0' && *q <= '9')
		q++;
	return q < end && (*q == '.' || *q == '/') ? (size_t)(q - p) : 0;
}

/* The end of the bracket that opens at p, or NULL. */
static const char *skip_group(const char *p, const char *end)
{
	size_t depth = 0;

	for (; p < end; p++) {
		if (*p == '[' || *p == '{')
			depth++;
		else if ((*p == ']' || *p == '}') && --depth == 0)
			return p + 1;
	}
	return NULL;
}

bool shorten_go(const char *s, size_t n, struct buf *out)
{
	size_t start = out->n, path, len;
	const char *end = s + n, *first = s, *to;

	if (!is_go(s, n))
		return false;
	len = made_for_type(s, n);
	buf_bytes(out, s, len);
	path = out->n;
	for (s += len; s < end; s++) {
		if (*s == '/') {
			len = version_len(s, end);
			if (len)
				s += len - 1;
			else
				out->n = path;
		} else if (in_path(*s)) {
			buf_u8(out, (uint8_t)*s);
		} else if (*s == '{' ||
			   (*s == '[' && s > first && is_word(s[-1]))) {
			to = skip_group(s, end);
			if (!to) {
				out->n = start;
				return false;
			}
			buf_str(out, to - s == 2 ? *s == '{' ? "{}" : "[]"
				    : *s == '{' ? "{…}" : "[…]");
			s = to - 1;
			path = out->n;
		} else {
			buf_u8(out, (uint8_t)*s);
			path = out->n;
		}
	}
	return true;
}
