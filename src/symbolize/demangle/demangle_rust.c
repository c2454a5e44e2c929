// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangles legacy Rust names, which look like C++ and end in a hash. */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"

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

	while (p < end && text_is_digit(*p) && len < 0x100000)
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
