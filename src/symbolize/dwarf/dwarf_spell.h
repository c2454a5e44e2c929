/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DWARF_SPELL_H
#define TALLY_SYMBOLIZE_DWARF_DWARF_SPELL_H
/*
 * C++ names made of DIEs, for functions whose linkage name is not in DWARF (private
 * to dwarf_spell.c and dwarf_spell_type.c).  The text is what binutils makes of
 * the linkage name, with these differences:
 *
 *	closures are {lambda(int) at file.cpp:3:9}, generic ones {lambda at
 *	file.cpp:3:9}, other types without a name
 *	{unnamed type at file.cpp:3:9}: their numbers count types that DWARF may
 *	leave out, and would be wrong without a sign of it;
 *	a deduced return type is the type, not `auto`;
 *	types stand where the source has a template's parameter.
 *
 * DIEs may be hostile: depth, steps and length are bounded, and a name that meets a
 * bound is not made.
 */
#include "symbolize/dwarf/dwarf.h"

struct spell {
	struct dwarf *d;
	unsigned depth, steps;
	bool bad;		/* cannot be told */
};

struct spell_die {
	struct dwarf_unit *u;
	struct dwarf_die v;
	uint64_t at, next;	/* offsets in the section: its own, and that
				 * behind its attributes */
};

enum { SPELL_DEPTH = 24, SPELL_STEPS = 1 << 15, SPELL_LENGTH = 16 << 10 };

/* Reads a DIE by number; false (and bad) if there is none. */
bool spell_read(struct spell *s, uint64_t die, struct spell_die *out);
bool spell_child(struct spell *s, const struct spell_die *parent,
		 struct spell_die *out);
bool spell_sibling(struct spell *s, struct spell_die *v);
uint64_t spell_number(const struct spell_die *v);

/* The scopes that a DIE is in, each with :: behind it. */
void spell_scopes(struct spell *s, const struct spell_die *v, struct buf *out);
/* {lambda(int) at file.cpp:3:9} */
void spell_nameless(struct spell *s, const struct spell_die *v, struct buf *out);

/* dwarf_spell_type.c */
/* A type (NO_DIE: void) and what stands behind it in a declaration. */
void spell_type(struct spell *s, uint64_t die, const char *declarator,
		struct buf *out);
/* (int, char const*) */
void spell_parameters(struct spell *s, const struct spell_die *f,
		      struct buf *out);
/* The template arguments of a class or function, whose name in DWARF is given:
 * <int, 3>, or nothing.  Returns how many parameters it has. */
size_t spell_arguments(struct spell *s, const struct spell_die *v,
		       const char *name, struct buf *out);
/* The name of a class or enumeration, without its scopes. */
void spell_class(struct spell *s, const struct spell_die *v, struct buf *out);

#endif
