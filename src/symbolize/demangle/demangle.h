/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_H
#define TALLY_SYMBOLIZE_DEMANGLE_DEMANGLE_H
/*
 * Demangles C++ (Itanium), Rust (legacy and v0), D, Fortran modules, Go package
 * paths, OCaml and Haskell, and the forms of Ada names that only GNAT writes.
 * Appends the readable name; appends the name unchanged if it is not mangled or
 * is hostile (time and size are bounded).  Clone suffixes become [clone .cold],
 * symbol versions are removed, @plt remains.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void demangle(const char *name, struct buf *out);
/* Like demangle, with the unit's language (DW_AT_language, 0 if unknown),
 * because most Ada names cannot be recognized by their form. */
void demangle_as(uint16_t lang, const char *name, struct buf *out);
bool lang_is_ada(uint16_t lang);
/* Appends a shortened form of a demangled name.  Template and generic arguments
 * and parameter lists become <…> and (…).  Rust hashes and ABI tags are
 * removed.  `(anonymous namespace)` and operators remain readable. */
void demangle_short(const char *demangled, struct buf *out);
/* Short names of a table.  Names that would look the same keep the first arguments or
 * parameters that differ: "apply<main::{lambda(int)#2}>(…)", "find<…, long>(…)".  Full
 * names are long, so they are not kept: add up to n of them, in order, then make the
 * short ones differ. */
struct short_names;
/* Returns the i-th name that was added, as it was then; valid until the next call. */
typedef const char *short_names_full(void *ctx, size_t i);
/* Returns NULL when out of memory. */
struct short_names *short_names_new(size_t n);
void short_names_add(struct short_names *s, const char *full);
/* Asks again for the names whose short form others have. */
void short_names_apart(struct short_names *s, short_names_full *full, void *ctx);
/* Returns the i-th short name, or "" if it is the name itself. */
const char *short_names_get(struct short_names *s, size_t i);
/* Returns whether memory was missing for any name.  `s` may be NULL: it was. */
bool short_names_free(struct short_names *s);
/* Returns the length of a C++ function's name in DWARF (DW_AT_name) without template
 * arguments: 10 for `operator<< <char>`, 11 for `operator<=>`. */
size_t cxx_name_stem(const char *name);

#endif
