/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_LATE_NAMES_H
#define TALLY_CMD_LATE_NAMES_H
/*
 * Names that come after a report: debug files are requested from debuginfod servers
 * by another process (side_process.h) while the report is shown, and the names are
 * then stored in the recording.
 *
 * Nothing is requested unless the user asks for it, because a server learns which
 * programs were recorded.  It is done only for the user's own recordings: files that
 * belong to the user and say that the user made them on this machine.  With other
 * recordings, their authors would choose what tally requests.
 */
#include "cmd/fetch_debug.h"
#include "cmd/side_process.h"

struct late_names {
	struct cmd_io *io;
	const struct fetch_options *limits;
	const struct opt_strs *debug_dirs;
	const char *path;
	struct reader *r;	/* borrowed; its profile shows what is missing */
	struct side fetcher;
	int *files;		/* by image: a fetched program, or -1 */
	struct fetch_step now;
	char why[256];		/* of now.why */
	size_t here, absent;	/* images with files; that no server has */
	bool ended;		/* all requests have ended: */
	struct fetch_result result;
	struct error failed;	/* no message: they did not fail */
};

enum late_event {
	LATE_NOTHING,
	LATE_STEP,		/* `now` has changed */
	LATE_IMAGE,		/* … and the requests for its image have ended */
	LATE_END,		/* all requests have ended */
};

/* Returns whether names may be requested and stored.  Otherwise appends the reason.
 * `trusted`: --trust-recording. */
bool cmd_late_allowed(const char *path, struct reader *r, bool trusted,
		      struct buf *why);

/* Tells the user which servers are asked. */
void cmd_late_announce(struct cmd_io *io);
/* Starts the requests.  Set the borrowed fields before.  Call cmd_late_fini in any
 * case. */
int cmd_late_start(struct late_names *l, struct error *err);
/* Waits up to `ms` for something to happen. */
enum late_event cmd_late_take(struct late_names *l, int ms);
/* Ends the requests, and waits shortly for the process. */
void cmd_late_stop(struct late_names *l);
void cmd_late_fini(struct late_names *l);
/* Appends what is missing after the end, as lines of safe text; nothing if all files
 * came. */
void cmd_late_summary(const struct late_names *l, struct buf *out);

/* Looks up the symbols with what was fetched, in r's profile, and stores them.  Fails
 * if the recording was replaced since `r` was opened. */
int cmd_late_store(const struct late_names *l, struct reader *r, struct error *err);

/* Does all of this in the foreground.  Ctrl-C ends the requests.  *news: r's profile
 * has changed. */
int cmd_late_names(struct late_names *l, bool *news, struct error *err);

/* --- which functions got names when a recording was symbolized again */

/* What the addresses of a profile were called: by location, a hash of the innermost
 * function's name, or 0. */
struct old_names {
	uint64_t *of;
	size_t n;
	size_t details;		/* number of frames and lines of code */
};

/* Returns 0 or -ERR_NOMEM. */
int old_names_take(struct old_names *o, const struct profile *p);
void old_names_fini(struct old_names *o);
/*
 * Appends, as safe text, which functions have other names in `p` than before, those
 * with the most samples first: "names of 12 functions are new: foo, bar, …", or that
 * there are only new lines and inlined functions.  `self`: samples by location; NULL:
 * unknown.  Appends nothing and returns false if nothing is new.
 */
bool new_names_show(const struct old_names *o, const struct profile *p,
		    const uint64_t *self, struct buf *out);

#endif
