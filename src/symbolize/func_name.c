// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses between the names of a function in DWARF and in the symbol table: see
 * func_name.h. */
#include "symbolize/func_name.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "symbolize/demangle/clones.h"
#include "symbolize/demangle/manglings.h"

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static bool is_mangled_d(const char *name)
{
	return name[0] == '_' && name[1] == 'D' && name[2] >= '1' &&
	       name[2] <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the length of a name without template arguments and ABI tags. */
static size_t stem(const char *name)
{
	return strcspn(name, "<[");
}

/* Returns whether a name is a conversion function; DWARF spells its type
 * differently. */
static bool is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) && is_letter(name[9]) &&
	       strncmp(name + 9, "new", 3) && strncmp(name + 9, "delete", 6) &&
	       strncmp(name + 9, "co_await", 8);
}

static bool same_operator(const char *last, const char *plain)
{
	size_t n = strlen(last), all = strlen(plain);

	if (is_conversion(last))
		return !strncmp(plain, "operator ", 9);
	if (strncmp(last, plain, n))
		return false;
	plain += n;
	/* operator()<int>, but not operator<< for operator< */
	return !*plain ||
	       ((*plain == '<' || *plain == ' ' || *plain == '[') &&
		n + 2 < all && strchr(">]", plain[all - n - 1]));
}

/* Compares `last`, the last component of a mangled name, with a plain name. */
static bool same_last(const char *last, const char *plain)
{
	size_t n;

	if (!strncmp(last, "operator", 8) && !is_letter(last[8]) &&
	    !(last[8] >= '0' && last[8] <= '9'))
		return same_operator(last, plain);
	if (*last == '~' || *plain == '~') {
		if (*last++ != *plain++)
			return false;
	}
	/* constructors of a closure */
	if (!strncmp(plain, "<lambda", 7))
		return !strncmp(last, "{lambda", 7);
	n = stem(last);
	return n && n == stem(plain) && !memcmp(last, plain, n);
}

static bool contains(const char *mangled, size_t len, const char *plain)
{
	size_t n = stem(plain);

	return n && memmem(mangled, len, plain, n);
}

/* Returns whether a mangled name is an inherited constructor (CI1, CI2).  It
 * ends in the base's name in one source and in the class's name in the
 * other. */
static bool is_inherited(const char *mangled, size_t len)
{
	return memmem(mangled, len, "CI1", 3) || memmem(mangled, len, "CI2", 3);
}

/* Returns whether the mangled name belongs to a function called `plain` in
 * DWARF (DW_AT_name): `operator()` of _ZZ4mainENKUliE_clEi, `f<int>` of
 * _Z1fIiEvT_. */
static bool name_matches(const char *mangled, size_t len,
			 const char *plain)
{
	struct buf last = { 0 };
	bool same;

	if (!demangle_cxx_last(mangled, len, &last)) {
		/* Rust, and names that only their own compiler can read */
		buf_fini(&last);
		return contains(mangled, len, plain);
	}
	same = !last.failed &&
	       (same_last(buf_cstr(&last), plain) ||
		(is_inherited(mangled, len) && contains(mangled, len, plain)));
	buf_fini(&last);
	return same;
}

/* Returns whether a symbol names a part of a coroutine; its first `at` bytes
 * are the coroutine's name. */
static bool is_coroutine_part(const char *symbol, size_t at, size_t end)
{
	static const char *const parts[] = { "actor", "resume", "destroy",
					     "cleanup" };
	size_t i, n;

	if (symbol[at] != '.')
		return false;
	for (i = 0; i < COUNT(parts); i++) {
		n = strlen(parts[i]);
		if (end - at == n + 1 && !memcmp(symbol + at + 1, parts[i], n))
			return true;
	}
	return false;
}

/* Returns whether a mangled D name contains `plain` as an identifier: its
 * length, then the text. gdc writes no linkage name for nested functions and
 * copies. */
static bool d_has(const char *mangled, size_t len, const char *plain)
{
	char word[256];
	int n = snprintf(word, sizeof(word), "%zu%s", strlen(plain), plain);

	return *plain && n > 0 && (size_t)n < sizeof(word) &&
	       memmem(mangled, len, word, (size_t)n);
}

enum func_name_from choose_func_name(const struct func_name *dwarf,
				     const char *symbol, size_t *len)
{
	size_t n = strlen(dwarf->name);

	*len = clone_base(symbol);
	if (!*symbol)
		return NAME_OF_DWARF;
	if (!n || !strncmp(dwarf->name, "__GI_", 5)) {
		*len = strlen(symbol);
		return NAME_OF_SYMBOL;
	}
	if (*len > n && !memcmp(symbol, dwarf->name, n) &&
	    is_coroutine_part(symbol, n, *len))
		return NAME_OF_SYMBOL;
	/* no mangling: main, extern "C" */
	if (*len == n && !memcmp(symbol, dwarf->name, n))
		return NAME_IN_DWARF;
	if (is_mangled(symbol) && !is_mangled(dwarf->name) &&
	    name_matches(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	if (is_mangled_d(symbol) && !is_mangled_d(dwarf->name) &&
	    d_has(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	return NAME_OF_DWARF;
}
