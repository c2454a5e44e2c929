/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_FUNC_NAME_H
#define TALLY_SYMBOLIZE_DWARF_FUNC_NAME_H
/*
 * Decides what a function is called (private to src/symbolize), given what DWARF
 * and the ELF symbol table say of it.  The first that holds:
 *
 *	1. the linkage name in DWARF (DW_AT_linkage_name);
 *	2. the mangled ELF symbol that covers the address, if it is that of the
 *	   same function: its last component is the name in DWARF.  g++ writes no
 *	   linkage name for functions that other files cannot see: lambdas,
 *	   static functions, members of local classes and anonymous namespaces;
 *	   gdc none for nested functions and copies;
 *	3. the name in DWARF: with its scopes and parameters where it is C++
 *	   (dwarf_spell.c), as it stands in all other languages;
 *	4. the ELF symbol.
 *
 * Suffixes of clones (.isra.0, .cold) are not part of the name, so that all parts
 * of a function have one name.  The parts of a coroutine (.actor, .resume,
 * .destroy, .cleanup) are functions of their own and keep theirs.  glibc's
 * hidden aliases (__GI_…) are never the name.
 *
 * Identical code folded by the linker has several symbols for one function in
 * DWARF; a symbol whose last component differs is then that of another function.
 */
#include <stdbool.h>
#include <stddef.h>

#include "symbolize/dwarf/dwarf.h"

enum func_name_from {
	NAME_OF_DWARF,		/* with scopes and parameters */
	NAME_IN_DWARF,		/* as it stands there */
	NAME_OF_SYMBOL,		/* the first *len bytes of it */
};

/* Which name a function that really exists gets; symbol: "" if none covers the
 * address. */
enum func_name_from func_name_choose(const struct func_name *dwarf,
				     const char *symbol, size_t *len);

/* Whether the mangled name is that of a function called `plain` in DWARF
 * (DW_AT_name): `operator()` of _ZZ4mainENKUliE_clEi, `f<int>` of _Z1fIiEvT_. */
bool func_name_matches(const char *mangled, size_t len, const char *plain);

#endif
