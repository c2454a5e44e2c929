// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes text safe for terminals, CSV, JSON and XML: see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static size_t utf8_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	if (lead >= 0xf0 && lead < 0xf5)
		return 4;
	return 0;
}

/* Decodes one code point (Unicode 15 §3.9, table 3-7).  Returns its size in
 * bytes; 0 if the bytes are not UTF-8. */
static size_t utf8_decode(const char *s, uint32_t *cp)
{
	const uint8_t *b = (const uint8_t *)s;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = utf8_length(b[0]);

	if (n <= 1) {
		*cp = b[0];
		return n;
	}
	*cp = b[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (b[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff ||
	    (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return n;
}

/* Returns whether a code point is C0, C1, DEL, or a mark that hides or reorders
 * text (Unicode Bidi_Control, zero-width, line separators, byte order mark,
 * tags), or is forbidden in XML 1.0 (§2.2). */
static bool is_hazard(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c ||
	       cp == 0xad || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff ||
	       (cp >= 0xfff9 && cp <= 0xfffb) || cp == 0xfffe || cp == 0xffff ||
	       (cp >= 0xe0000 && cp <= 0xe007f);
}

/* Appends the first character made safe and returns its length in s. */
static size_t safe_char(struct buf *out, const char *s)
{
	uint32_t cp;
	size_t n = utf8_decode(s, &cp);

	if (!n) {
		buf_printf(out, "\\x%02x", (uint8_t)*s);
		return 1;
	}
	if (is_hazard(cp))
		buf_printf(out, cp < 0x80 ? "\\x%02x" : "\\u{%x}", cp);
	else
		buf_bytes(out, s, n);
	return n;
}

/* Returns the number of leading characters that are visible ASCII or blanks. */
static size_t plain_run(const char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f)
		n++;
	return n;
}

void text_safe(struct buf *out, const char *s)
{
	/* A full buffer costs no time. */
	while (!out->failed) {
		size_t n = plain_run(s);

		buf_bytes(out, s, n);
		s += n;
		if (!*s)
			return;
		s += safe_char(out, s);
	}
}

static bool is_wide(uint32_t cp)
{
	return (cp >= 0x1100 && cp <= 0x115f) ||
	       (cp >= 0x2e80 && cp <= 0xa4cf) ||
	       (cp >= 0xac00 && cp <= 0xd7a3) ||
	       (cp >= 0xf900 && cp <= 0xfaff) ||
	       (cp >= 0xfe30 && cp <= 0xfe6f) ||
	       (cp >= 0xff00 && cp <= 0xff60) ||
	       (cp >= 0x1f300 && cp <= 0x1faff) ||
	       (cp >= 0x20000 && cp <= 0x3fffd);
}

static size_t next_column(const char *s, size_t *columns)
{
	uint32_t cp = 0;
	size_t n = utf8_decode(s, &cp);

	*columns = n && is_wide(cp) ? 2 : 1;
	return n ? n : 1;
}

size_t text_columns(const char *s)
{
	size_t total = 0, w;

	while (*s) {
		s += next_column(s, &w);
		total += w;
	}
	return total;
}

void text_cut(struct buf *out, const char *s, size_t columns)
{
	size_t used = 0, w;

	if (text_columns(s) <= columns) {
		buf_str(out, s);
		return;
	}
	while (*s) {
		size_t n = next_column(s, &w);

		if (used + w + 1 > columns)
			break;
		buf_bytes(out, s, n);
		s += n;
		used += w;
	}
	if (columns)
		buf_str(out, "\xe2\x80\xa6");
}

/* Appends a \u escape; frequent in C++ names, which contain <, > and &. */
static void json_unit(struct buf *out, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15],
			 hex[unit >> 4 & 15], hex[unit & 15] };

	buf_bytes(out, text, sizeof(text));
}

static void json_codepoint(struct buf *out, uint32_t cp)
{
	if (cp >= 0x10000) {
		cp -= 0x10000;
		json_unit(out, 0xd800 + (cp >> 10));
		json_unit(out, 0xdc00 + (cp & 0x3ff));
	} else {
		json_unit(out, cp);
	}
}

/* Returns the number of leading characters that need no escape. */
static size_t json_run(const char *s, bool markup)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\' &&
	       (markup || (s[n] != '<' && s[n] != '>' && s[n] != '&')))
		n++;
	return n;
}

/* markup: <, > and & may stay. */
static void json_string(struct buf *out, const char *s, bool markup)
{
	uint32_t cp;

	buf_u8(out, '"');
	while (!out->failed) {
		size_t n = json_run(s, markup);

		buf_bytes(out, s, n);
		s += n;
		if (!*s)
			break;
		n = utf8_decode(s, &cp);
		if (!n) {
			buf_str(out, "\\ufffd");
			n = 1;
		} else if (cp == '"' || cp == '\\') {
			buf_u8(out, '\\');
			buf_u8(out, (uint8_t)cp);
		} else if (is_hazard(cp) || cp == '<' || cp == '>' ||
			   cp == '&') {
			json_codepoint(out, cp);
		} else {
			buf_bytes(out, s, n);
		}
		s += n;
	}
	buf_u8(out, '"');
}

void text_json(struct buf *out, const char *s)
{
	json_string(out, s, false);
}

void text_json_of_file(struct buf *out, const char *s)
{
	json_string(out, s, true);
}

void text_csv(struct buf *out, const char *s)
{
	bool formula = *s && strchr("=+-@", *s);
	struct buf safe = { 0 };
	const char *p;

	text_safe(&safe, s);
	p = buf_cstr(&safe);
	out->failed |= safe.failed;
	if (!formula && !strpbrk(p, ",\"")) {
		buf_str(out, p);
		buf_fini(&safe);
		return;
	}
	buf_u8(out, '"');
	if (formula)
		buf_u8(out, '\'');
	for (; *p; p++) {
		if (*p == '"')
			buf_u8(out, '"');
		buf_u8(out, (uint8_t)*p);
	}
	buf_u8(out, '"');
	buf_fini(&safe);
}

void text_count(struct buf *out, uint64_t n)
{
	char digits[24];
	int len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (len--) {
		buf_u8(out, (uint8_t)digits[len]);
		if (len && len % 3 == 0)
			buf_u8(out, ',');
	}
}

void text_wrap(struct buf *out, const char *text, size_t indent,
	       size_t columns)
{
	size_t at = indent;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > indent && at + 1 + n > columns) {
			buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			buf_u8(out, ' ');
			at++;
		}
		buf_bytes(out, text, n);
		at += n;
		text += n + strspn(text + n, " ");
	}
	buf_u8(out, '\n');
}

void text_utf8(struct buf *out, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	buf_u8(out, (uint8_t)(lead[more] | c >> 6 * more));
	while (more--)
		buf_u8(out, (uint8_t)(0x80 | (c >> 6 * more & 0x3f)));
}

void text_xml(struct buf *out, const char *s)
{
	static const char marks[] = "&<>\"'";
	static const char names[][7] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	struct buf safe = { 0 };

	text_safe(&safe, s);
	for (const char *c = buf_cstr(&safe); *c; c++) {
		const char *mark = strchr(marks, *c);

		if (mark)
			buf_str(out, names[mark - marks]);
		else
			buf_u8(out, (uint8_t)*c);
	}
	buf_close(&safe, out);
}

/* Appends one word, quoted for a POSIX shell. */
static void quote_word(struct buf *out, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*s && strspn(s, plain) == strlen(s)) {
		buf_str(out, s);
		return;
	}
	buf_u8(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(out, "'\\''");
		else
			buf_u8(out, (uint8_t)*s);
	}
	buf_u8(out, '\'');
}

void shell_quote(struct buf *out, char *const argv[])
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_u8(out, ' ');
		quote_word(out, argv[i]);
	}
}

void text_percent(struct buf *out, const char *s, const char *plain)
{
	for (; *s; s++)
		if (isalnum((unsigned char)*s) || strchr(plain, *s))
			buf_u8(out, (uint8_t)*s);
		else
			buf_printf(out, "%%%02X", (unsigned char)*s);
}

void text_hex(char *out, const void *p, size_t n)
{
	*out = 0;
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", ((const uint8_t *)p)[i]);
}
