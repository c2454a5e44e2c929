/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_H
#define TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_H
/*
 * Demangling: C++ (Itanium), Rust (legacy and v0), D, Fortran modules, Go package
 * paths, OCaml, Haskell; of Ada what only GNAT writes.  Appends the readable name,
 * or the name itself where it is not mangled or hostile (bounded time and size).
 * Clone suffixes become [clone .cold], symbol versions go, @plt stays.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void demangle(const char *name, struct buf *out);
/* The same where the unit's language is known (DW_AT_language, 0 if not): Ada's
 * names have no mark of their own. */
void demangle_as(uint16_t lang, const char *name, struct buf *out);
bool lang_is_ada(uint16_t lang);
/* Shortens a demangled name for reading: template and generic arguments and
 * parameter lists become <…> and (…), Rust hashes go, ABI tags go, `(anonymous
 * namespace)` and operators stay readable.  Appends to out. */
void demangle_short(const char *demangled, struct buf *out);

#endif
