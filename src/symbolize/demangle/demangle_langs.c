// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangles small schemes: Fortran (gfortran, flang), OCaml, Haskell, Go.  Each
 * is read only in a form that is unlikely in C names.
 */
#include <string.h>

#include "base/text.h"
#include "symbolize/demangle/manglings.h"

/* Demangles __module_MOD_procedure, __module.submodule_MOD_procedure. */
static bool demangle_gfortran(const char *s, const char *end, struct buf *out)
{
	const char *p = s + 2;

	if (end - s < 8 || memcmp(s, "__", 2) || !text_is_lower(*p))
		return false;
	while (end - p > 5 && (text_is_lower(*p) || text_is_digit(*p) || *p == '_' ||
			       *p == '.') && memcmp(p, "_MOD_", 5))
		p++;
	if (end - p < 6 || memcmp(p, "_MOD_", 5))
		return false;
	for (s += 2; s < p; s++)
		if (*s == '.')
			buf_str(out, "::");
		else
			buf_u8(out, (uint8_t)*s);
	buf_str(out, "::");
	buf_bytes(out, p + 5, (size_t)(end - p) - 5);
	return true;
}

/*
 * Demangles flang's unique names (Bijective Internal Name Uniquing): _Q, then
 * the scopes, then the procedure (P).  A scope is a letter (Module, Submodule,
 * Function that hosts, Block) and its name in small letters.
 */
static bool demangle_flang(const char *s, const char *end, struct buf *out)
{
	size_t start = out->n;
	char kind = 0;

	if (end - s < 4 || memcmp(s, "_Q", 2))
		return false;
	for (s += 2; s < end && kind != 'P'; ) {
		kind = *s++;
		if (!memchr("MSFPB", kind, 5) || s == end)
			break;
		if (kind != 'B' && out->n > start)
			buf_str(out, "::");
		for (; s < end && !text_is_upper(*s) && *s != '.'; s++)
			if (kind != 'B')
				buf_u8(out, (uint8_t)*s);
	}
	if (kind == 'P' && out->n > start && (s == end || *s == '.')) {
		buf_bytes(out, s, (size_t)(end - s));
		return true;
	}
	out->n = start;
	return false;
}

bool demangle_fortran(const char *s, size_t n, struct buf *out)
{
	return demangle_gfortran(s, s + n, out) ||
	       demangle_flang(s, s + n, out);
}

/*
 * camlModule__function_123: two underscores (one '.' or '$' since OCaml 5.1)
 * join modules, other characters are '$' and two hexadecimal digits.
 */
bool demangle_ocaml(const char *s, size_t n, struct buf *out)
{
	const char *end = s + n, *p = s + 4;

	if (n < 8 || memcmp(s, "caml", 4) || !text_is_upper(*p))
		return false;
	while (p + 2 < end && (p[0] != '_' || p[1] != '_'))
		if (text_is_word(*p) && (unsigned char)*p < 0x80)
			p++;
		else
			return false;
	if (p + 2 >= end)
		return false;
	for (s += 4; s < end; s++) {
		if (end - s > 2 && s[0] == '_' && s[1] == '_') {
			buf_u8(out, '.');
			s++;
		} else if (end - s > 2 && *s == '$' && text_hex_digit(s[1]) >= 2 &&
			   text_hex_digit(s[2]) >= 0 && text_hex_digit(s[1]) < 8) {
			buf_u8(out, (uint8_t)(text_hex_digit(s[1]) * 16 +
					      text_hex_digit(s[2])));
			s += 2;
		} else {
			buf_u8(out, (uint8_t)(*s == '$' ? '.' : *s));
		}
	}
	return true;
}

/* Returns the character that a letter after z or Z represents in GHC's
 * Z-encoding. */
static char z_sign(char z, char c)
{
	static const char small[] = "a&b|c^d$e=g>h#i.l<m-n!p+q\'r\\s/t*u_v%zz";
	static const char large[] = "L(R)M[N]C:ZZ";
	const char *p = z == 'z' ? small : large;

	for (; *p; p += 2)
		if (*p == c)
			return p[1];
	return 0;
}

/* Reads a character by its number, z3bbU, or a tuple, Z2T. */
static const char *z_number(const char *p, const char *end, struct buf *out)
{
	bool tuple = *p == 'Z';
	uint32_t v = 0;

	for (p++; p < end && (tuple ? text_is_digit(*p) ? *p - '0' : -1
				    : text_hex_digit(*p)) >= 0 && v < 0x100000; p++)
		v = v * (tuple ? 10 : 16) + (uint32_t)text_hex_digit(*p);
	if (p == end || v >= 0x80)
		return NULL;
	if (tuple && (*p == 'T' || *p == 'H')) {
		buf_str(out, *p == 'T' ? "(" : "(#");
		while (v-- > 1)
			buf_u8(out, ',');
		buf_str(out, *p == 'T' ? ")" : "#)");
		return p + 1;
	}
	if (tuple || *p != 'U' || v < 0x20)
		return NULL;
	buf_u8(out, (uint8_t)v);
	return p + 1;
}

static bool z_decode(const char *s, const char *end, struct buf *out)
{
	while (s < end) {
		if (*s != 'z' && *s != 'Z') {
			buf_u8(out, (uint8_t)*s++);
		} else if (end - s > 1 && text_is_digit(s[1])) {
			s = z_number(s, end, out);
			if (!s)
				return false;
		} else {
			char c = end - s > 1 ? z_sign(*s, s[1]) : 0;

			if (!c)
				return false;
			buf_u8(out, (uint8_t)c);
			s += 2;
		}
	}
	return true;
}

/* Returns whether only GHC writes this module and function: a module in another one,
 * GHCziBase, that of the program, or a function made by the compiler, zdwgo. */
static bool is_haskell(const char *mod, const char *name, const char *end)
{
	const char *p;

	for (p = mod; p + 2 < name; p++)
		if (p[0] == 'z' && p[1] == 'i' && text_is_upper(p[2]))
			return true;
	return (name - mod == 4 && !memcmp(mod, "Main", 4)) ||
	       (end - name > 4 && !memcmp(name, "_zd", 3));
}

/* package_ModuleziName_function_info -> package:Module.Name.function; modules of the
 * program itself have no package. */
bool demangle_haskell(const char *s, size_t n, struct buf *out)
{
	const char *end = s + n, *mod = s, *name, *next;
	size_t start = out->n;
	bool ok = true;

	if (n < 9 || memcmp(end - 5, "_info", 5))
		return false;
	end -= 5;
	name = memchr(s, '_', (size_t)(end - s));
	next = name ? memchr(name + 1, '_', (size_t)(end - name) - 1) : NULL;
	if (next) {
		mod = name + 1;
		name = next;
	}
	if (!name || name + 1 == end || mod == s + 1 || !text_is_upper(*mod) ||
	    memchr(name + 1, '_', (size_t)(end - name) - 1) ||
	    !is_haskell(mod, name, end))
		return false;
	if (mod > s) {
		ok = z_decode(s, mod - 1, out);
		buf_u8(out, ':');
	}
	ok = ok && z_decode(mod, name, out);
	buf_u8(out, '.');
	ok = ok && z_decode(name + 1, end, out);
	if (!ok)
		out->n = start;
	return ok;
}

/*
 * Go names: escapes in package paths are decoded.  The short form keeps their
 * last element, like `go tool pprof`.
 */

/*
 * Go encodes dots in the last element of a package path, and characters other
 * than plain ASCII, as %2e: "gopkg.in/yaml%2ev3.Unmarshal"
 * (cmd/internal/objabi).
 */
bool demangle_go(const char *s, size_t n, struct buf *out)
{
	const char *end = s + n, *p;
	size_t start = out->n;
	bool found = false;

	for (p = s; p < end; p++) {
		int hi = -1, lo = -1;

		if (*p == '%' && end - p > 2) {
			hi = text_hex_digit(p[1]);
			lo = text_hex_digit(p[2]);
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

static bool in_path(char c)
{
	return text_is_word(c) || strchr(".-~%+@:", c);
}

/* Returns the length of the prefix of a function that the compiler generates
 * for a type; 0 if there is none.  The prefix is kept, and the path after it is
 * shortened. */
static size_t made_for_type(const char *s, size_t n)
{
	static const char *const words[] = {
		"type:.eq.", "type:.hash.", "type..eq.", "type..hash.",
		"go:itab.", "go.itab.", "go:buildid", "go.buildid",
	};
	size_t i, len;

	for (i = 0; i < COUNT(words); i++) {
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
		if (*p == '/' && p > s && end - p > 2 && text_is_word(p[-1]) &&
		    text_is_word(p[1]) && !(p - s >= 8 && !memcmp(p - 8, "operator", 8)))
			return true;
		if (end - p > 3 && p > s && text_is_word(p[-1]) &&
		    !memcmp(p, ".(*", 3))
			return true;
		if (*p == '[')
			return end - p > 10 && !memcmp(p, "[go.shape.", 10);
		if (!in_path(*p) || (*p == ':' && p[1] == ':'))
			return false;
	}
	return false;
}

/* Returns the length of a version, not a name: /v2, /v10 before a dot or a
 * slash. */
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

/* Returns the end of the bracket that opens at p, or NULL. */
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
			   (*s == '[' && s > first && text_is_word(s[-1]))) {
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
