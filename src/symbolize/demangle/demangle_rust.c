// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles legacy Rust names, which look like C++ and end in a hash, and reads
 * the elements of version 0 names (RFC 2603; Punycode is RFC 3492).
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/demangle/demangle_rust.h"

enum { PUNYCODE_MAX = 256 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void r_put_number(struct r_reader *r, uint64_t v)
{
	char text[24];
	size_t i = sizeof(text) - 1;

	text[i] = '\0';
	do
		text[--i] = (char)('0' + v % 10);
	while (v /= 10);
	r_put(r, text + i);
}

void r_put_utf8(struct r_reader *r, uint32_t c)
{
	if (!r->quiet && !r->bad)
		text_utf8(r->out, c);
}

static int digit_62(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 36;
	return -1;
}

uint64_t r_read_62(struct r_reader *r)
{
	uint64_t v = 0;
	int d;

	if (r_accept(r, '_'))
		return 0;
	while (!r->bad && !r_accept(r, '_')) {
		d = digit_62(r_next(r));
		if (d < 0 || v > (UINT64_MAX - 61) / 62)
			r_fail(r);
		else
			v = v * 62 + (uint64_t)d;
	}
	if (v == UINT64_MAX)
		r_fail(r);
	return v + 1;
}

struct r_ident r_read_ident(struct r_reader *r)
{
	struct r_ident id = { 0 };
	size_t n = 0;

	if (r_accept(r, 's'))
		id.number = r_read_62(r) + 1;
	id.punycode = r_accept(r, 'u');
	if (!is_digit(r_peek(r)))
		r_fail(r);
	if (!r_accept(r, '0'))
		while (is_digit(r_peek(r)) && n < r->n)
			n = n * 10 + (size_t)(r_next(r) - '0');
	r_accept(r, '_');
	if (r->bad || n > r->n - r->at) {
		r_fail(r);
		return id;
	}
	id.s = r->s + r->at;
	id.n = n;
	r->at += n;
	return id;
}

static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / points;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* Reads the next generalized integer of RFC 3492 and adds it to *i. */
static bool punycode_delta(const char **s, const char *end, uint32_t bias,
			   uint32_t *i)
{
	uint32_t w = 1, k = 36, d, t;

	for (;; k += 36) {
		if (*s == end)
			return false;
		d = (uint8_t)*(*s)++;
		if (d >= 'a' && d <= 'z')
			d -= 'a';
		else if (d >= '0' && d <= '9')
			d = d - '0' + 26;
		else
			return false;
		if (d * (uint64_t)w > 0x10000000 - *i)
			return false;
		*i += d * w;
		t = k <= bias + 1 ? 1 : k >= bias + 26 ? 26 : k - bias;
		if (d < t)
			return true;
		if (w > 0x1000000)
			return false;
		w *= 36 - t;
	}
}

/* Decodes Punycode.  Returns the number of characters; 0 if it is invalid. */
static size_t punycode(const struct r_ident *id, uint32_t *chars)
{
	const char *s = id->s, *end = s + id->n, *cut = NULL, *p;
	uint32_t i = 0, c = 0x80, bias = 72, from;
	size_t n = 0;

	for (p = s; p < end; p++)
		if (*p == '_')
			cut = p;
	for (p = s; cut && p < cut && n < PUNYCODE_MAX; p++)
		chars[n++] = (uint8_t)*p;
	s = cut ? cut + 1 : s;
	if (s == end)
		return 0;
	while (s < end) {
		from = i;
		if (n == PUNYCODE_MAX || !punycode_delta(&s, end, bias, &i))
			return 0;
		n++;
		bias = adapt(i - from, (uint32_t)n, from == 0);
		c += i / (uint32_t)n;
		i %= (uint32_t)n;
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		memmove(chars + i + 1, chars + i,
			(n - 1 - i) * sizeof(*chars));
		chars[i++] = c;
	}
	return n;
}

void r_put_ident(struct r_reader *r, const struct r_ident *id)
{
	uint32_t chars[PUNYCODE_MAX];
	size_t i, n;

	if (r->quiet || r->bad)
		return;
	if (!id->punycode) {
		buf_bytes(r->out, id->s, id->n);
		return;
	}
	n = punycode(id, chars);
	for (i = 0; i < n; i++)
		text_utf8(r->out, chars[i]);
	if (!n) {
		buf_str(r->out, "punycode{");
		buf_bytes(r->out, id->s, id->n);
		buf_u8(r->out, '}');
	}
}

struct escape {
	const char *code;
	char c;
};

static const struct escape escapes[] = {
	{ "SP", '@' }, { "BP", '*' }, { "RF", '&' }, { "LT", '<' },
	{ "GT", '>' }, { "LP", '(' }, { "RP", ')' }, { "C", ',' },
};

/* Decodes an escape such as $LT$ at s.  Returns its length; 0 if there is
 * none. */
static size_t unescape(const char *s, size_t n, struct buf *out)
{
	const char *end = memchr(s + 1, '$', n - 1);
	size_t len = end ? (size_t)(end - s) - 1 : 0, i;
	uint32_t c = 0;

	if (!len)
		return 0;
	for (i = 0; i < COUNT(escapes); i++)
		if (strlen(escapes[i].code) == len &&
		    !memcmp(escapes[i].code, s + 1, len)) {
			buf_u8(out, (uint8_t)escapes[i].c);
			return len + 2;
		}
	if (s[1] != 'u' || len < 2 || len > 7)
		return 0;
	for (i = 2; i <= len; i++) {
		if (text_hex_digit(s[i]) < 0)
			return 0;
		c = c << 4 | (uint32_t)text_hex_digit(s[i]);
	}
	if (c < 0x20 || c == 0x7f || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	text_utf8(out, c);
	return len + 2;
}

static void put_part(const char *s, size_t n, struct buf *out)
{
	size_t len;

	if (n > 1 && s[0] == '_' && s[1] == '$') {
		s++;
		n--;
	}
	while (n) {
		len = 1;
		if (*s == '$' && (len = unescape(s, n, out)) > 0) {
			;
		} else if (*s == '.' && n > 1 && s[1] == '.') {
			buf_str(out, "::");
			len = 2;
		} else if (*s == '$') {
			buf_bytes(out, s, n);	/* unknown escape */
			return;
		} else {
			buf_u8(out, (uint8_t)*s);
		}
		s += len;
		n -= len;
	}
}

/* Returns whether a part is a hash: h and 16 digits, at least 5 of them
 * different. */
static bool is_hash(const char *s, size_t n)
{
	unsigned seen = 0;
	size_t i;

	if (n != 17 || s[0] != 'h')
		return false;
	for (i = 1; i < n; i++) {
		if (text_hex_digit(s[i]) < 0)
			return false;
		seen |= 1U << text_hex_digit(s[i]);
	}
	return __builtin_popcount(seen) >= 5;
}

/* Returns the next part of _ZN…E; NULL at the end or if it is invalid. */
static const char *next_part(const char **s, const char *end, size_t *n)
{
	const char *p = *s, *text;
	size_t len = 0;

	while (p < end && is_digit(*p) && len < 0x100000)
		len = len * 10 + (size_t)(*p++ - '0');
	if (p == *s || !len || len > (size_t)(end - p))
		return NULL;
	text = p;
	*n = len;
	*s = p + len;
	return text;
}

static bool demangle_legacy(const char *s, size_t n, struct buf *out)
{
	const char *p = s + 3, *end = s + n, *text, *last = NULL;
	size_t len, last_len = 0, parts = 0, i;

	while ((text = next_part(&p, end, &len))) {
		last = text;
		last_len = len;
		parts++;
	}
	if (p == end || *p != 'E' || parts < 2 || !is_hash(last, last_len) ||
	    (p + 1 < end && p[1] != '.'))
		return false;
	s += 3;
	for (i = 0; i + 1 < parts; i++) {
		text = next_part(&s, end, &len);
		if (i)
			buf_str(out, "::");
		put_part(text, len, out);
	}
	demangle_clones(p + 1, end, out);
	return true;
}

bool demangle_rust(const char *s, size_t n, struct buf *out)
{
	if (n > 20 && !memcmp(s, "_ZN", 3))
		return demangle_legacy(s, n, out);
	return n > 3 && s[0] == '_' && s[1] == 'R' &&
	       demangle_rust_v0(s, n, out);
}
