/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_MANGLINGS_H
#define TALLY_SYMBOLIZE_DEMANGLE_MANGLINGS_H
/*
 * The mangling schemes, one function each.  All take a name of n bytes, not
 * terminated by NUL, and append to `out`.  They return false, with `out`
 * unchanged, if the name does not use the scheme.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"

/* C++ (Itanium C++ ABI): _Z, with suffixes of compilers such as .isra.0. */
bool demangle_cxx(const char *s, size_t n, struct buf *out);
/* Appends only the function's own name, such as `operator()`, `~vector` or
 * `run`: no scopes, template arguments, parameters or clone suffixes. */
bool demangle_cxx_last(const char *s, size_t n, struct buf *out);
/* Appends the name as it appears before :: in names of the function's local
 * entities: without return type and clone suffixes. */
bool demangle_cxx_scope(const char *s, size_t n, struct buf *out);
/* Rust: _R (RFC 2603), and _ZN…E with a hash at the end; v0: only _R. */
bool demangle_rust(const char *s, size_t n, struct buf *out);
bool demangle_rust_v0(const char *s, size_t n, struct buf *out);
/* Appends "[clone .isra.0] [clone .cold]" for such suffixes, as c++filt
 * does. */
void demangle_clones(const char *s, const char *end, struct buf *out);
/* D: _D followed by a length. */
bool demangle_d(const char *s, size_t n, struct buf *out);
/* gfortran (__mod_MOD_proc) or flang (_QMmodPproc), recognized by the form of
 * the name. */
bool demangle_fortran(const char *s, size_t n, struct buf *out);
/* GNAT's encoding; `sure` if the unit is known to be Ada. */
bool demangle_ada(const char *s, size_t n, bool sure, struct buf *out);
/* Go: package paths with dots encoded as %2e. */
bool demangle_go(const char *s, size_t n, struct buf *out);
bool demangle_ocaml(const char *s, size_t n, struct buf *out);
bool demangle_haskell(const char *s, size_t n, struct buf *out);

/* Appends the short form of a demangled Go name.  Returns false if it is not a
 * Go name. */
bool shorten_go(const char *s, size_t n, struct buf *out);

/* The bytes of "<…>", "(…)" and "[…]". */
enum { SHORT_SIGN = 5 };

/* What a short form leaves out: a bracket and its contents in the name, and where
 * the sign for it is in the short form. */
struct short_cut {
	const char *from, *to;
	size_t at;
};

struct short_cuts {
	struct short_cut *v;
	size_t n, cap;
	bool failed;
};

/* Like demangle_short into an empty buffer; appends the cuts to `cuts`, which may
 * be NULL. */
void demangle_short_cuts(const char *demangled, struct buf *out,
			 struct short_cuts *cuts);
/* Returns the end of the operator, arrow, bracket with its contents, or other
 * character at p, or NULL if the bracket has no end.  The name begins at start. */
const char *skip_part(const char *start, const char *p, const char *end);

#endif
