/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_FRAMEKEY_H
#define TALLY_VIEWS_QUERY_FRAMEKEY_H
/*
 * What a frame counts for under a set of frame keys: a dense id (fk) for each
 * combination of image, symbol, file and line that occurs.
 *
 * A step is one function of a location's inline chain, or the location itself
 * where nothing is known of it.  steps.v[head[loc]] is the innermost; `outer`
 * leads outwards and ends with PROF_NONE.
 *
 * Symbols and images are told apart by what they are (identity.h), not by their
 * text: `labels` says what to show beside equal texts.
 */
#include "profile/model.h"
#include "compare/identity.h"
#include "views/query/keys.h"
#include "compare/labels.h"
#include "views/query/select.h"

enum frame_kind {
	FRAME_FUNC,	/* a named function */
	FRAME_ADDR,	/* an address without name in a known image: the start of
			 * its function where that is known */
	FRAME_UNKNOWN,	/* not even an image, or no frame at all */
};

struct frame_key {
	uint8_t sort;		/* enum frame_kind, 0 when symbol is no key */
	uint8_t kernel;
	uint32_t image;		/* str: path */
	uint32_t name;		/* str: linkage name */
	uint32_t file, line;
	uint64_t vaddr;		/* FRAME_ADDR */
	/* 0 where it is no key, else 1 + the row that stands for it in
	 * identity.func or .image; what its label is found by */
	uint32_t func, im;
};

struct frame_step {
	uint32_t fk;		/* PROF_NONE: filtered out */
	uint32_t outer;		/* step, or PROF_NONE */
};

enum {
	/* Deeper inline chains are damage; they lose their outer end. */
	INLINE_MAX = 256,
};

struct frame_keys {
	uint32_t mask;		/* KEY_BITs of frames */
	VEC(struct frame_key) keys;	/* by fk */
	struct frame_step *steps;	/* frames, then one for each location */
	uint32_t *head;			/* by location */
	size_t nframes;
	uint32_t unknown;	/* fk of a sample without frames, or NONE */
	struct idtab tab;
	struct identity same;	/* of the profile's rows */
	struct labels labels;
};

/* `sel` may be NULL: all frames. */
int frame_keys_init(struct frame_keys *k, const struct profile *p,
		    uint32_t mask, bool inlined, const struct selection *sel,
		    struct error *err);
void frame_keys_fini(struct frame_keys *k);
/* The id of an equal key, or of a new one; PROF_NONE when out of memory. */
uint32_t frame_keys_add(struct frame_keys *k, const struct frame_key *key);

/* True when the step is a function that was inlined into another. */
static inline bool frame_step_inlined(const struct frame_keys *k,
				      uint32_t step)
{
	return step < k->nframes && k->steps[step].outer != PROF_NONE;
}

/* How an address without name is shown: image+0x1234.  `image` is its path or
 * label.  Appends, unsafe text. */
void frame_address_name(const char *image, uint64_t vaddr, struct buf *out);

#endif
