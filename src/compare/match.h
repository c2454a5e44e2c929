/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_MATCH_H
#define TALLY_COMPARE_MATCH_H
/*
 * Matches images and functions of N recordings of an old and a new side.  It
 * also finds renamed functions, and functions whose code may have moved from
 * one to the other.  Every command that compares recordings uses it.
 *
 *	1. Images with the same file name are the same image.  Where a recording
 *	   has several of that name, the ends of their paths decide
 *	   (func_match.h).  An image of the old side only and one of the new side
 *	   only are the same in two cases: both are the recorded program, or
 *	   functions that both have make up at least half of the cost of each.
 *	2. Functions with the same linkage name in the same image are the same
 *	   function.  Where a recording has several of that name, source files,
 *	   addresses and lines decide (func_match.h).  Copies made by a compiler
 *	   (foo.isra.0) belong to the function they were made from.
 *	3. A function of the old side only and one of the new side only are the
 *	   same function if their code is similar (renames.h).  Such a function
 *	   was renamed, or moved to another source file or image.
 */
#include "base/strtab.h"
#include "compare/code_overlap.h"
#include "compare/identity.h"
#include "compare/labels.h"

enum { COMPARE_OLD, COMPARE_NEW, COMPARE_SIDES };
#define COMPARE_NONE UINT32_MAX

/* The cost of a stack, or of its part in one run. */
struct compare_cell {
	uint32_t run, stack;	/* the caller's number of a run */
	uint64_t weight, count;	/* cost; samples */
};

/* One recording, which must outlive the match. */
struct compare_input {
	const struct profile *p;
	const struct identity *same;	/* functions and images of the profile */
	uint8_t side;
	const struct compare_cell *cells;
	size_t ncells;
};

struct compare_func {
	/* str; `name` is the linkage name without clone suffix */
	uint32_t image, name;
	/* str: place of the declaration in the newest recording; 0: unknown */
	uint32_t file, line;
	uint64_t vaddr;
	bool kernel;
	uint8_t sides;		/* bit 1 << side is set if the side has this function */
	/* as `sides`, for functions in a stack; set by compare_related */
	uint8_t ran;
	/* the function renamed to this one, or COMPARE_NONE; it keeps its old
	 * name, file and image, and no recording refers to it */
	uint32_t before;
};

struct compare_code;		/* instructions of functions, read on demand */
struct compare_calls;		/* caller relations between functions */

struct compare_match {
	struct strtab *str;	/* borrowed */
	size_t n;		/* recordings */
	struct compare_input *in;
	bool inlined;		/* inlined functions count as functions */
	uint32_t **image_of;	/* by recording and image: name or label (str) */
	uint32_t **func_of;	/* by recording and function: index in `funcs` */
	/* the functions of the recordings, then code without names, which is one
	 * function of each image (compare_unnamed) */
	VEC(struct compare_func) funcs;
	size_t nnamed;		/* number of functions of the recordings */
	struct u64map unnamed;	/* by image (str): index in `funcs` */
	struct compare_code *code;
	struct compare_calls *calls;	/* caller relations in the stacks */
	bool failed;		/* out of memory while reading code or stacks */
	struct arrays arrays;	/* the tables and the code */
};

/*
 * Matches n recordings.  Those of the old side come first, and each side is
 * ordered from old to new.  Strings are added to `str`, whose string 0 is "".
 * `by_image`: functions of different images are different functions.
 * `inlined`: inlined functions count as functions.  Returns 0 or -ERR_NOMEM.
 * Call compare_match_fini in both cases.
 */
int compare_match_init(struct compare_match *m, struct strtab *str,
		       const struct compare_input *in, size_t n, bool by_image,
		       bool inlined);
void compare_match_fini(struct compare_match *m);

/* Returns the function that represents an image's code without names;
 * COMPARE_NONE if memory ran out. */
uint32_t compare_unnamed(struct compare_match *m, uint32_t image, bool kernel);

/* Labels the functions in `seen`, by index; NULL: all of them.  The id of a
 * function is 1 + its index in `funcs`.  Returns 0 or -ERR_NOMEM. */
int compare_labels(const struct compare_match *m, const uint8_t *seen,
		   struct labels *out);

/* Returns a hash that is equal for images of one build; 0 without a build
 * ID. */
static inline uint64_t compare_build_of(const struct prof_image *im)
{
	return !im->build_id.len ? 0
		: hash_bytes(im->build_id.bytes, im->build_id.len) | 1;
}

/* func_code.c */
/* Returns the code of a function on a side, from the first recording that
 * contains it.  Returns NULL if no recording contains it or memory ran out
 * (m->failed).  The match owns the result. */
const struct code_ngrams *compare_code_of(struct compare_match *m, uint32_t func,
					  int side);

/* Returns a hash of all of a function's instructions on a side, also if the code
 * is too short for compare_code_of; 0: unknown. */
uint64_t compare_code_hash(struct compare_match *m, uint32_t func, int side);
/* Gives the code of `old` on the old side to `now`. */
void compare_code_rename(struct compare_match *m, uint32_t old, uint32_t now);
/* Called when the functions are numbered.  Returns 0 or -ERR_NOMEM. */
int compare_code_init(struct compare_match *m);
void compare_code_free(struct compare_match *m);

/* moved.c */
/*
 * Returns whether code of `lost`, whose cost decreased, may be in `gained` now.
 *
 * A new function is related to functions that call it or that it calls.  It is
 * related to functions declared in the same source file (not a header) or
 * called by the same function.  Without debug information it is related to all
 * functions of its image.  If the code of both is known, most of one must also
 * be in the other.  If `gained` also ran on the old side, it must have gained
 * code that `lost` had.
 *
 * A linker or compiler that folds equal functions into one gives all their cost to
 * one of their names.  Two functions are also related if one side may have folded
 * them: it has code of only one of them, and the other side's code of the other
 * one has most of the same instructions.
 */
bool compare_related(struct compare_match *m, uint32_t gained, uint32_t lost);
/* Frees what compare_related collected. */
void compare_calls_free(struct compare_calls *c);

#endif
