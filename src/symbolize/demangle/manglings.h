/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_MANGLINGS_H
#define TALLY_SYMBOLIZE_DEMANGLE_MANGLINGS_H
/*
 * The manglings, one function each.  All take a name of n bytes (not ended by 0
 * there) and return false, with `out` as it was, where it is not theirs.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* C++ (Itanium C++ ABI): _Z, with what compilers put behind: .isra.0. */
bool demangle_cxx(const char *s, size_t n, struct buf *out);
/* Only the function's own name: `operator()`, `~vector`, `run`; no scopes, no
 * template arguments, no parameters, no clone suffixes. */
bool demangle_cxx_last(const char *s, size_t n, struct buf *out);
/* As it stands before :: in names of what the function has in it: without return
 * type and clone suffixes. */
bool demangle_cxx_scope(const char *s, size_t n, struct buf *out);
/* Rust: _R (RFC 2603), and _ZN…E that ends in a hash. */
bool demangle_rust(const char *s, size_t n, struct buf *out);
/* [clone .isra.0] [clone .cold] for such ends of names, as c++filt does. */
void demangle_clones(const char *s, const char *end, struct buf *out);
/* D: _D and a length. */
bool demangle_d(const char *s, size_t n, struct buf *out);
/* The name's own form says gfortran (__mod_MOD_proc) or flang (_QMmodPproc). */
bool demangle_fortran(const char *s, size_t n, struct buf *out);
/* GNAT's encoding; `sure` when the unit is known to be Ada. */
bool demangle_ada(const char *s, size_t n, bool sure, struct buf *out);
/* Package paths have their dots as %2e. */
bool demangle_go(const char *s, size_t n, struct buf *out);
bool demangle_ocaml(const char *s, size_t n, struct buf *out);
bool demangle_haskell(const char *s, size_t n, struct buf *out);

/* Short form of a demangled Go name; false when it is not Go. */
bool shorten_go(const char *s, size_t n, struct buf *out);

#endif
