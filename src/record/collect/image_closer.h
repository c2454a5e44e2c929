/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_CLOSER_H
#define TALLY_RECORD_COLLECT_IMAGE_CLOSER_H
/*
 * Closes files that no process maps any more: deleted ones soon, others, whose programs
 * may start again, when there are many.  A long recording of a whole machine therefore
 * holds only the files mapped at a time open, plus a few hundred.
 *
 * A closed file may be deleted before the recording ends.  Its sampled locations are
 * therefore named before it is closed, and the names are kept until the end.  Each
 * location is named once, so the kept data grows only with new locations.
 */
#include "profile/model.h"
#include "record/collect/images.h"
#include "record/collect/processes.h"
#include "record/collect/python_live.h"
#include "record/collect/unwinder.h"

/* The names of some images that were closed together. */
struct closed_names {
	struct profile names;
	uint32_t *images, *locs;	/* rows of the recording, indexed by those of
					 * `names` */
};

struct image_closer {
	VEC(struct closed_names) parts;
	size_t mapped;		/* number of open files that were mapped at the last
				 * check */
	size_t gone;		/* number of open files that were deleted and not mapped
				 * then, and ... */
	uint64_t gone_bytes;	/* ... their size */
	uint64_t round;		/* number of checks */
	uint64_t checked_ns;	/* time of the last check */
	size_t images;		/* number of images after the last one was dropped */
	bool no_names;		/* the recording needs no names */
	bool keep_numbers;	/* the source knows images by their numbers */
};

struct image_closer_input {
	struct images *images;
	const struct processes *processes;
	struct unwinder *unwinder;
	struct python_live *python;
	const uint64_t *self_samples;	/* number of samples by innermost location */
	size_t n_self_samples;		/* length of self_samples */
	uint64_t samples;	/* number in the whole recording so far */
	bool calm;		/* look rarely, and name in one thread */
};

void image_closer_fini(struct image_closer *l);
/* Drops the kept names, because the file that they belong to is finished. */
void image_closer_forget(struct image_closer *l);
/* Closes surplus files, and drops images without samples in this file, between two
 * batches of records.  Returns 0 or -ERR_NOMEM. */
int image_closer_idle(struct image_closer *l,
		      const struct image_closer_input *w, uint64_t now_ns,
		      struct error *err);
/* Puts the kept names into a profile without symbols.  profile_symbolize uses them
 * for locations whose file it cannot find.  Returns 0 or -ERR_NOMEM. */
int image_closer_restore(const struct image_closer *l, struct profile *p);

#endif
