// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the mangling scheme of a name and handles its suffixes.  Names come
 * from untrusted binaries, and a short mangled name can expand to an endless
 * readable one: each reader has its limits.
 */
#include <dwarf.h>
#include <string.h>

#include "symbolize/demangle/manglings.h"
#include "symbolize/demangle/demangle.h"

enum { MAX_IN = 32 * 1024 };

/* Returns the start of the suffix that compilers append to copies and parts of
 * functions: .isra.0, .cold, .llvm.123; n if there is none. */
static size_t clone_at(const char *s, size_t n)
{
	static const char *const words[] = {
		"isra", "constprop", "part", "cold", "llvm", "lto_priv",
		"localalias", "__uniq", "resolver", "ifunc", "warm", "hot",
		"unlikely", "default",
	};
	size_t end = n, i, len;

	while (end > 1 && (s[end - 1] >= '0' && s[end - 1] <= '9'))
		end--;
	if (end == n || s[end - 1] != '.')
		end = n + 1;
	for (i = 0; i < COUNT(words); i++) {
		len = strlen(words[i]);
		if (end - 1 > len + 1 && s[end - 2 - len] == '.' &&
		    !memcmp(s + end - 1 - len, words[i], len))
			return end - 2 - len;
	}
	return n;
}

bool lang_is_ada(uint16_t lang)
{
	return lang == DW_LANG_Ada83 || lang == DW_LANG_Ada95 ||
	       lang == 0x2e || lang == 0x2f;	/* 2005, 2012 */
}

static bool demangle_any(uint16_t lang, const char *s, size_t n,
			 struct buf *out)
{
	if (lang_is_ada(lang) && demangle_ada(s, n, true, out))
		return true;
	if (s[0] != '_')
		return (memchr(s, '%', n) && demangle_go(s, n, out)) ||
		       demangle_ocaml(s, n, out) ||
		       demangle_haskell(s, n, out) ||
		       demangle_ada(s, n, false, out);
	if (s[1] == 'D')
		return demangle_d(s, n, out);
	if (s[1] == 'Z' || s[1] == 'R' ||
	    (n > 8 && !memcmp(s, "_GLOBAL_", 8)))
		return demangle_rust(s, n, out) || demangle_cxx(s, n, out);
	return demangle_fortran(s, n, out) || demangle_ada(s, n, false, out);
}

/* Returns the length of the name without its version (name@VERS, name@@VERS).
 * Sets *tail to the part that remains after it: @plt marks the stub of the
 * function. */
static size_t without_version(const char *name, size_t n, const char **tail)
{
	const char *at;

	*tail = "";
	if (n > 4 && (!memcmp(name + n - 4, "@plt", 4) ||
		      !memcmp(name + n - 4, "$plt", 4))) {
		*tail = name + n - 4;
		n -= 4;
	}
	at = memchr(name, '@', n);
	return at && at != name ? (size_t)(at - name) : n;
}

void demangle_as(uint16_t lang, const char *name, struct buf *out)
{
	const char *tail;
	size_t n = without_version(name, strlen(name), &tail), base = n, at;

	if (n > 1 && n <= MAX_IN) {
		while ((at = clone_at(name, base)) < base)
			base = at;
		if (demangle_any(lang, name, base, out))
			demangle_clones(name + base, name + n, out);
		else
			buf_bytes(out, name, n);
	} else {
		buf_bytes(out, name, n);
	}
	buf_str(out, tail);
}

void demangle(const char *name, struct buf *out)
{
	demangle_as(0, name, out);
}
