/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_FUNC_NAME_H
#define TALLY_SYMBOLIZE_FUNC_NAME_H
/*
 * Source of a function's name, given DWARF and the ELF symbol table.  The first
 * of these that applies:
 *
 *	1. the linkage name in DWARF (DW_AT_linkage_name);
 *	2. the mangled ELF symbol that covers the address, if it belongs to the
 *	   same function: its last component is the name in DWARF.  g++ writes no
 *	   linkage name for functions that are invisible to other files: lambdas,
 *	   static functions, members of local classes and anonymous namespaces;
 *	   gdc writes none for nested functions and copies;
 *	3. the name in DWARF: with its scopes and parameters for C++
 *	   (dwarf_spell.c), unchanged for all other languages;
 *	4. the ELF symbol.
 *
 * Suffixes of clones (.isra.0, .cold) are not part of the name, so that all
 * parts of a function have one name.  The parts of a coroutine (.actor,
 * .resume, .destroy, .cleanup) are functions of their own and keep theirs.
 * glibc's hidden aliases (__GI_…) are never used as names.
 *
 * Identical code folded by the linker has several symbols for one function in
 * DWARF.  A symbol with a different last component then belongs to another
 * function.
 */
#include "symbolize/dwarf/dwarf.h"

enum func_name_from {
	NAME_OF_DWARF,		/* with scopes and parameters */
	NAME_IN_DWARF,		/* unchanged */
	NAME_OF_SYMBOL,		/* its first *len bytes */
};

/* Chooses the name of a physical function.  symbol: "" if none covers the address. */
enum func_name_from choose_func_name(const struct func_name *dwarf,
				     const char *symbol, size_t *len);

#endif
