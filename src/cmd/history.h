/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_HISTORY_H
#define TALLY_CMD_HISTORY_H
/* What `tally history` and `tally check --history` share. */
#include "cmd/command.h"
#include "history/history.h"

/* What a repository says of a history's commits. */
struct commit_log {
	struct u64map order;	/* str of the history -> rank, oldest first */
	struct buf text;	/* of all subjects, each ended by a NUL */
	struct u64map subject;	/* str -> offset in text */
};

/* Asks the git repository `repo`; NULL or no repository: knows nothing, which is
 * no error.  -ERR_NOMEM. */
int commit_log_read(struct commit_log *l, struct history *h, const char *repo,
		    struct error *err);
void commit_log_fini(struct commit_log *l);
/* As history_report wants them; ctx is the log. */
const char *commit_log_subject(void *ctx, uint32_t commit);
size_t commit_log_between(void *ctx, uint32_t older, uint32_t newer);
/* The full name of a revision and the time of its commit; false: it is none of the
 * repository's. */
bool commit_resolve(const char *repo, const char *revision, struct buf *name,
		    int64_t *time);

struct batch_files {
	const struct opt_strs *files;
	const char *event;	/* NULL: the first one of each */
	const struct opt_strs *debug_dirs;
	const char *commit, *benchmark, *repo;	/* may be NULL */
	uint64_t max_memory;
	bool trust, no_inline;
};
/* Adds the batch of these recordings. */
int cmd_add_batch(struct cmd_io *io, struct history *h,
		  const struct batch_files *b, struct error *err);

#endif
