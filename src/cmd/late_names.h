/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_LATE_NAMES_H
#define TALLY_CMD_LATE_NAMES_H
/*
 * Names that come after a report: debug files are requested from debuginfod servers
 * by another process while the report is shown, and the names are
 * then stored in the recording.
 *
 * Nothing is requested unless the user asks for it, because a server learns which
 * programs were recorded.  It is done only for the user's own recordings: files that
 * belong to the user and say that the user made them on this machine.  With other
 * recordings, their authors would choose what tally requests.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "cmd/fetch_debug.h"
#include "tui/tui.h"

/*
 * --- side_process.c: a forked process that does a part of a command's work and sends
 * messages about it.  The command goes on, shows them, and may end the process at any
 * time, whatever it waits for.  The process sees the command's data as they were at the
 * start.  It has no terminal: its standard streams are /dev/null.
 */

struct side {
	pid_t pid;		/* 0: none, and the rest has no meaning */
	int fd;			/* readable when there is a message, or the end */
};

enum { SIDE_MESSAGE_MAX = 4096 };

/* Does the work and sends messages to `fd`.  SIGINT is blocked.  When it is pending, the
 * process should end: it was asked to, or the command has ended. */
typedef void side_work(void *ctx, int fd);

int side_start(struct side *s, side_work *work, void *ctx, struct error *err);
/* In the process: sends a message of at most SIDE_MESSAGE_MAX bytes, and a
 * descriptor unless `pass` is -1.  With `drop`, it does not wait for room, and the
 * message may be lost.  Returns false if the command is gone. */
bool side_send(int fd, const void *message, size_t n, int pass, bool drop);
/* Waits up to `ms` for a message.  Returns its size, 0 if there is none yet, or -1 if
 * the process has ended.  Sets *pass to the descriptor that came with it, or -1. */
int side_take(struct side *s, void *message, size_t most, int *pass, int ms);
/* Asks the process to end soon. */
void side_ask_end(const struct side *s);
/* Waits up to `ms` for the process, then kills it.  Messages that were not taken are
 * lost.  Returns its wait status, or 0 if there is none. */
int side_end(struct side *s, int ms);

/* --- late_names.c */

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

/*
 * --- late_view.c: names that come while the interactive view is shown .  One process
 * requests files; others look up and store the names of what has come, so that the view
 * always answers keys.  The first file is stored at once, because it is that of the image
 * with the most samples; later ones wait until storing takes a tenth of the time.
 */

struct late_view {
	struct late_names *late;	/* borrowed; late->r is shown at first */
	uint64_t max_memory;		/* as for reader_open */
	struct tui_news news;		/* for tui_options */
	struct reader *shown, *newer;	/* `newer` is not shown yet, or NULL */
	struct old_names old;		/* names in `shown` */
	int events;			/* epoll descriptor of the processes */
	struct side storer;		/* pid 0: nothing is being stored */
	size_t storing, stored;		/* of late->here, how many are */
	uint64_t begun_ns, next_ns;	/* of storing: its start, the next one */
	struct error failed;		/* why nothing is stored any more */
};

/* Set the borrowed fields before.  Call late_view_fini in any case. */
int late_view_init(struct late_view *v, struct error *err);
/* After the view: ends the requests, and stores what came.  Errors are those of
 * storing. */
int late_view_finish(struct late_view *v, struct error *err);
void late_view_fini(struct late_view *v);

#endif
