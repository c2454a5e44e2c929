/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_HISTORY_H
#define TALLY_CMD_HISTORY_H
/* Functions that `tally history` and `tally check --history` share. */
#include "cmd/open.h"
#include "history/history.h"

/* A repository's data about the commits of a history. */
struct commit_log {
	struct u64map order;	/* maps a str of the history to the commit's rank,
				 * oldest first */
	struct buf text;	/* all subjects, each followed by a NUL */
	struct u64map subject;	/* maps a str of the history to an offset in `text` */
};

/* Reads the log of the git repository `repo`, which must be one; NULL: the log is
 * empty.  `newest` (NULL or unknown: HEAD) and its first parents get ranks; all other
 * commits of the repository's branches are HISTORY_ASIDE. */
int commit_log_read(struct commit_log *l, struct history *h, const char *repo,
		    const char *newest, struct error *err);
void commit_log_fini(struct commit_log *l);
/* Finds the full name of a revision and the time of its commit.  Returns false if
 * the repository lacks it. */
bool commit_resolve(const char *repo, const char *revision, struct buf *name,
		    int64_t *time);

struct batch_files {
	const struct opt_strs *files;
	const char *event;	/* NULL: the first event of each */
	const struct cmd_reading *reading;
	const char *commit, *benchmark, *repo;	/* may be NULL */
	bool no_inline;
};
/* Adds the batch of these recordings to the history. */
int cmd_add_batch(struct cmd_io *io, struct history *h,
		  const struct batch_files *b, struct error *err);

#endif
