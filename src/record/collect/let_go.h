/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LET_GO_H
#define TALLY_RECORD_COLLECT_LET_GO_H
/*
 * Files that no process maps any more are closed, the longest unused first, so that
 * a long recording of a whole machine holds no more of them open than are mapped
 * at a time, and a few.
 *
 * A file may be deleted by the recording's end: what was sampled in it gets its
 * names before it is closed, and these are kept until then.  Each location is named
 * once, so that what is kept grows with new locations only.
 */
#include "profile/model.h"
#include "record/collect/images.h"
#include "record/collect/processes.h"
#include "record/collect/unwinder.h"

/* The names of some images that were let go together. */
struct let_go_part {
	struct profile names;
	uint32_t *images, *locs;	/* rows of the recording, by those of
					 * `names` */
};

struct let_go {
	VEC(struct let_go_part) parts;
	size_t mapped;		/* open files that were mapped somewhere, when
				 * that was last looked at */
	uint64_t round;		/* how often that was */
	uint64_t looked_ns;	/* … the last time */
	bool no_names;		/* nobody wants any */
};

struct let_go_what {
	struct images *images;
	const struct processes *processes;
	struct unwinder *unwinder;
	const uint64_t *self_samples;	/* samples by innermost location … */
	size_t n_self_samples;		/* … their number */
	uint64_t samples;	/* of the whole recording so far */
};

void let_go_fini(struct let_go *l);
/* Between two batches of records: closes what is too much.  0 or -ERR_NOMEM. */
int let_go_rest(struct let_go *l, const struct let_go_what *w, uint64_t now_ns,
		struct error *err);
/* Puts the names that were kept into a profile without symbol part, for
 * profile_fill_symbols to take what it finds no file for.  0 or -ERR_NOMEM. */
int let_go_restore(const struct let_go *l, struct profile *p);

#endif
