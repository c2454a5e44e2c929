/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_CHECK_H
#define TALLY_CMD_CHECK_H
/* Options and functions that the files of `tally check` share. */
#include "check/check.h"
#include "cmd/open.h"

#define ALPHA_NOT_GIVEN (-1.0)

struct check_opts {
	struct side_opts sides;
	struct cmd_reading reading;
	struct opt_strs again, events;
	struct check_options limits;	/* what options say of them */
	double alpha;		/* or ALPHA_NOT_GIVEN */
	const char *allow;
	int by_line, no_text;	/* --by line; --format none */
	const char *json, *junit, *markdown, *openmetrics, *repo, *html,
		*sarif, *code_quality;
	const char *run, *against, *keep, *history, *benchmark, *commit;
	const char *since, *from;
	double budget;		/* seconds; 0: none */
	bool early, warn_only, full_names, github, calibrate;
	bool graph, user;
	uint64_t top, runs, freq;
};

/* check_write.c */
int check_write(struct cmd_io *io, const struct check_opts *o, const struct check *c,
		struct error *err);
struct findings;
/* Writes the reports for continuous integration that the options name. */
int check_write_findings(struct cmd_io *io, const struct check_opts *o,
			 const struct findings *f, struct error *err);

/* Reports a new side that left nothing to compare.  Returns 0 or a negative error. */
int check_write_broken(struct cmd_io *io, const struct check_opts *o,
		       const char *why, struct error *err);

enum { CHECK_RUNS = 10 };	/* runs of each side that suffice in most checks */
/* Returns the number of runs of each side that the options ask for. */
static inline size_t check_planned(const struct check_opts *o)
{
	return o->runs == UINT64_MAX ? CHECK_RUNS : (size_t)o->runs;
}

/* check_record.c: the recordings made for one check. */
struct check_recordings {
	struct opt_strs files[2];	/* indexed by enum check_side */
	char *dir;
	bool keep;
	bool out_of_time;	/* the time of --budget is over */
	char *broken;		/* why the new side's command cannot be compared: it
				 * failed at once; or NULL */
};

/* Called when `runs` runs of each side exist.  Returns 1 if they are enough, 0 if
 * not, or a negative error. */
typedef int check_enough(void *ctx, size_t runs, struct error *err);
/* Records both sides `runs` times into temporary files or a kept folder, or until
 * `enough` (may be NULL) says so, or the time is over.  Call check_recordings_fini in
 * any case. */
int check_record(struct cmd_io *io, const struct check_opts *o,
		 size_t runs, struct check_recordings *out, check_enough *enough,
		 void *ctx, struct error *err);
/* Removes the files, unless the user keeps them. */
void check_recordings_fini(struct check_recordings *r);

/* check_commits.c: adds the commits of --repo between the revisions of both sides that
 * touched code of failed rows, or what else they changed. */
int check_commits(struct check *c, const struct check_opts *o,
		  struct error *err);

/* check_history.c: checks against a history.  `limits` are those of the
 * options.  Returns 0, another enum check_verdict, or a negative error. */
int check_history(struct cmd_io *io, const struct check_opts *o,
		  const struct check_options *limits,
		  const struct allow_list *allow, struct error *err);

#endif
