// SPDX-License-Identifier: GPL-2.0-or-later
/* What a function is called: see func_name.h. */
#include "symbolize/dwarf/func_name.h"

#include <stdio.h>
#include <string.h>

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

/* What stands before a template's arguments or an ABI tag. */
static size_t stem(const char *name)
{
	return strcspn(name, "<[");
}

/* Conversion functions: the types are spelled differently in DWARF. */
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

/* `last` is the last component of a mangled name. */
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
	/* a closure's constructors */
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

/* Constructors that a class inherits (CI1, CI2) end in the name of the base in
 * one, and have the class' name in the other. */
static bool is_inherited(const char *mangled, size_t len)
{
	return memmem(mangled, len, "CI1", 3) || memmem(mangled, len, "CI2", 3);
}

bool func_name_matches(const char *mangled, size_t len, const char *plain)
{
	struct buf last = { 0 };
	bool same;

	if (!demangle_cxx_last(mangled, len, &last)) {
		/* Rust; and what only its own compiler can read */
		buf_fini(&last);
		return contains(mangled, len, plain);
	}
	same = !last.failed &&
	       (same_last(buf_cstr(&last), plain) ||
		(is_inherited(mangled, len) && contains(mangled, len, plain)));
	buf_fini(&last);
	return same;
}

/* Whether a symbol is that of one of the functions that a coroutine is made of,
 * behind the first `at` bytes, which are the coroutine's name. */
static bool is_coroutine_part(const char *symbol, size_t at, size_t end)
{
	static const char *const parts[] = { "actor", "resume", "destroy",
					     "cleanup" };
	size_t i, n;

	if (symbol[at] != '.')
		return false;
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		n = strlen(parts[i]);
		if (end - at == n + 1 && !memcmp(symbol + at + 1, parts[i], n))
			return true;
	}
	return false;
}

/* Whether the mangled name of D has `plain` as an identifier: its length, and
 * itself.  gdc writes no linkage name for nested functions and copies. */
static bool d_has(const char *mangled, size_t len, const char *plain)
{
	char word[256];
	int n = snprintf(word, sizeof(word), "%zu%s", strlen(plain), plain);

	return *plain && n > 0 && (size_t)n < sizeof(word) &&
	       memmem(mangled, len, word, (size_t)n);
}

enum func_name_from func_name_choose(const struct func_name *dwarf,
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
	/* no mark of C++: main, extern "C" */
	if (*len == n && !memcmp(symbol, dwarf->name, n))
		return NAME_IN_DWARF;
	if (is_mangled(symbol) && !is_mangled(dwarf->name) &&
	    func_name_matches(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	if (is_mangled_d(symbol) && !is_mangled_d(dwarf->name) &&
	    d_has(symbol, *len, dwarf->plain))
		return NAME_OF_SYMBOL;
	return NAME_OF_DWARF;
}
