/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LET_GO_H
#define TALLY_RECORD_COLLECT_LET_GO_H
/*
 * Closes files that no process maps any more, the longest unused first.  A long
 * recording of a whole machine therefore holds only the files mapped at a time open,
 * plus a few.
 *
 * A closed file may be deleted before the recording ends.  Its sampled locations are
 * therefore named before it is closed, and the names are kept until the end.  Each
 * location is named once, so the kept data grows only with new locations.
 */
#include "profile/model.h"
#include "record/collect/images.h"
#include "record/collect/processes.h"
#include "record/collect/unwinder.h"

/* The names of some images that were closed together. */
struct let_go_part {
	struct profile names;
	uint32_t *images, *locs;	/* rows of the recording, indexed by those of
					 * `names` */
};

struct let_go {
	VEC(struct let_go_part) parts;
	size_t mapped;		/* number of open files that were mapped at the last
				 * check */
	uint64_t round;		/* number of checks */
	uint64_t looked_ns;	/* time of the last check */
	bool no_names;		/* the recording needs no names */
};

struct let_go_what {
	struct images *images;
	const struct processes *processes;
	struct unwinder *unwinder;
	const uint64_t *self_samples;	/* number of samples by innermost location */
	size_t n_self_samples;		/* length of self_samples */
	uint64_t samples;	/* number in the whole recording so far */
};

void let_go_fini(struct let_go *l);
/* Closes surplus files between two batches of records.  Returns 0 or -ERR_NOMEM. */
int let_go_rest(struct let_go *l, const struct let_go_what *w, uint64_t now_ns,
		struct error *err);
/* Puts the kept names into a profile without symbols.  profile_fill_symbols uses them
 * for locations whose file it cannot find.  Returns 0 or -ERR_NOMEM. */
int let_go_restore(const struct let_go *l, struct profile *p);

#endif
