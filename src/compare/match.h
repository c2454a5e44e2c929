/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MATCH_H
#define TALLY_COMPARE_MATCH_H
/*
 * What is the same in N recordings of an old and a new side: images, functions,
 * renamed functions, and functions whose code may have moved from one to the
 * other.  Every command that compares recordings asks here.
 *
 *	1. Images with the same file name are the same image; where a recording has
 *	   several of that name, the ends of their paths decide (func_match.h).
 *	   An image of the old side only and one of the new side only are the same
 *	   one if both are the recorded program, or if functions that both have
 *	   make up at least half of the cost of each (match_images.c).
 *	2. Functions with the same linkage name in the same image are the same
 *	   function; where a recording has several of that name, source files,
 *	   addresses and lines decide (func_match.h).  Copies that a compiler made
 *	   (foo.isra.0) belong to the function that they were made of.
 *	3. A function of the old side only and one of the new side only are the same
 *	   function if their code is alike (renames.h): it was renamed, or it moved
 *	   to another source file or image.
 */
#include "base/strtab.h"
#include "compare/code_overlap.h"
#include "compare/identity.h"

enum { COMPARE_OLD, COMPARE_NEW, COMPARE_SIDES };
#define COMPARE_NONE UINT32_MAX

/* One recording.  The profile and the identity must outlive the match. */
struct compare_input {
	const struct profile *p;
	const struct identity *same;	/* of the profile's functions and images */
	uint8_t side;
	double *cost;		/* by function: self cost, all runs together */
	double *samples;	/* by function: self samples */
};

struct compare_func {
	uint32_t image, name;	/* str; name: linkage name without clone suffix */
	const char *file;	/* declared here, "": unknown; newest recording */
	uint32_t line;		/* 0: unknown */
	uint64_t vaddr;
	bool kernel;
	uint8_t sides;		/* bit 1 << side: the side has this function */
	uint8_t ran;		/* … and it is in a stack of compare_add_stack */
	uint32_t before;	/* the function that was renamed to this one: it
				 * keeps its old name, file and image, and no
				 * recording refers to it; COMPARE_NONE: none */
};

struct compare_code;		/* instructions of functions, read when needed */
struct compare_calls;		/* which functions call which */

struct compare_match {
	struct strtab *str;	/* borrowed */
	size_t n;		/* recordings */
	struct compare_input *in;	/* a copy; cost and samples are not kept */
	uint32_t **image_of;	/* by recording and image: name or label, str */
	uint32_t **func_of;	/* by recording and function: in funcs */
	VEC(struct compare_func) funcs;
	struct compare_code *code;
	struct compare_calls *calls;	/* of the stacks added */
	bool failed;		/* out of memory while code was read */
};

/*
 * Matches n recordings: those of the old side first, each side from old to new.
 * Strings are added to `str`, whose string 0 is "".  `by_image`: functions of
 * different images are different functions.  Returns 0 or -ERR_NOMEM; the match
 * must be ended in both cases.
 */
int compare_match_init(struct compare_match *m, struct strtab *str,
		       const struct compare_input *in, size_t n, bool by_image);
void compare_match_fini(struct compare_match *m);

/* The code of a function on a side, from the first recording that holds it; NULL
 * if none does, or out of memory (m->failed). */
const struct code_ngrams *compare_code_of(struct compare_match *m, uint32_t func,
					  int side);

/*
 * Records which functions are in a stack, and who called the innermost one;
 * `inlined`: inlined functions count as functions.  Returns 0 or -ERR_NOMEM.
 */
int compare_add_stack(struct compare_match *m, size_t recording, uint32_t node,
		      bool inlined);
/*
 * Whether code of `fell`, which costs less than before, may be in `rose` now.
 *
 * A new function is related to functions that call it or that it calls; to those
 * declared in the same source file (not a header) or called by the same function;
 * without debug information, to all of its image.  If the code of both is known,
 * most of one must also be in the other.  A function that ran on the old side, too,
 * must have gained code that `fell` had.
 */
bool compare_related(struct compare_match *m, uint32_t rose, uint32_t fell);

#endif
