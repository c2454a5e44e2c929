/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_FRAMEKEY_H
#define TALLY_VIEWS_QUERY_FRAMEKEY_H
/*
 * Frame keys: a dense id (fk) for each combination of image, symbol, file and
 * line that occurs, for a set of keys.
 *
 * A step is one function of a location's inline chain, or the location itself
 * if nothing is known about it.  steps.v[head[loc]] is the innermost step;
 * `outer` leads outwards and ends with PROF_NONE.
 *
 * Symbols and images are distinguished by identity (identity.h), not by text;
 * `labels` holds what is shown beside equal texts.
 */
#include "profile/model.h"
#include "compare/identity.h"
#include "views/query/keys.h"
#include "compare/labels.h"
#include "views/query/select.h"

enum frame_kind {
	FRAME_FUNC,	/* a named function */
	/* an address without name in a known image: the start of its function
	 * if that is known */
	FRAME_ADDR,
	FRAME_UNKNOWN,	/* no image, or no frame at all */
};

struct frame_key {
	uint8_t kind;		/* enum frame_kind; 0 if symbol is not a key */
	uint8_t kernel;
	uint32_t image;		/* str: path */
	uint32_t name;		/* str: linkage name */
	uint32_t file, line;
	uint64_t vaddr;		/* FRAME_ADDR */
	/* 1 + the row that represents it in identity.func or .image, also the
	 * key of its label; 0 if it is not a key */
	uint32_t func, im;
};

struct frame_step {
	uint32_t fk;		/* PROF_NONE: filtered out */
	uint32_t outer;		/* next outer step, or PROF_NONE */
};

enum {
	/* Maximum depth of an inline chain.  Deeper ones are damaged and lose
	 * their outer end. */
	INLINE_MAX = 256,
};

struct frame_keys {
	uint32_t mask;		/* KEY_BITs of the frame keys */
	VEC(struct frame_key) keys;	/* by fk */
	struct frame_step *steps;	/* frames first, then one step per location */
	uint32_t *head;			/* by location */
	size_t nframes;
	uint32_t unknown;	/* fk of a sample without frames, or PROF_NONE */
	struct idtab tab;
	struct identity same;	/* identity of the profile's rows */
	struct labels labels;
};

/* Builds the frame keys.  `sel` may be NULL for all frames. */
int frame_keys_init(struct frame_keys *k, const struct profile *p,
		    uint32_t mask, bool inlined, const struct selection *sel,
		    struct error *err);
void frame_keys_fini(struct frame_keys *k);
/* Returns the id of an equal key, or of a new one; PROF_NONE if out of
 * memory. */
uint32_t frame_keys_add(struct frame_keys *k, const struct frame_key *key);
/* Returns the outermost step of a location that passes the filter, or
 * PROF_NONE. */
static inline uint32_t frame_keys_outermost(const struct frame_keys *k,
					    uint32_t loc)
{
	uint32_t found = PROF_NONE;

	for (uint32_t s = k->head[loc]; s != PROF_NONE; s = k->steps[s].outer)
		if (k->steps[s].fk != PROF_NONE)
			found = s;
	return found;
}

/* Returns whether the step is a function that was inlined into another. */
static inline bool frame_step_inlined(const struct frame_keys *k,
				      uint32_t step)
{
	return step < k->nframes && k->steps[step].outer != PROF_NONE;
}

/* Appends the display form of an unresolved address, image+0x1234, as unsafe
 * text. `image` is its path or label. */
void frame_address_name(const char *image, uint64_t vaddr, struct buf *out);

#endif
