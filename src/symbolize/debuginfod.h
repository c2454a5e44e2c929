/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEBUGINFOD_H
#define TALLY_SYMBOLIZE_DEBUGINFOD_H
/*
 * Files from debuginfod servers (DEBUGINFOD_URLS, debuginfod(8)) and from
 * libdebuginfod's cache of earlier answers, which also remembers for ten minutes
 * that no server has a file.  elfutils 0.188 cannot tell an error of a server (HTTP
 * 403, 429, 5xx) from that, and remembers it likewise; it remembers no server that
 * cannot be reached.  The library is loaded only when it is needed
 * because it pulls in a dozen others.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/image.h"

enum debuginfod_kind {
	DEBUGINFOD_SOURCE,	/* a source file of a program */
	DEBUGINFOD_DEBUG_FILE,	/* its debug information */
	DEBUGINFOD_PROGRAM,	/* the program or library itself */
};

/* State of the requests.  It starts as all zero except for the limits and the
 * callbacks.  One state serves everything that a command needs, so the limits
 * apply to the command.  A server that sends nothing for ten seconds is not asked
 * again. */
struct debuginfod {
	const char *what;	/* files that are requested: "source files" */
	const char *off;	/* option that turns requests off, or NULL */
	unsigned int seconds;	/* time limit, all files together */
	/* Size limits: of a file, of all together, at least 1.  A file that is larger
	 * than what is left is refused, and smaller ones are still requested. */
	unsigned int file_mb, mb;
	/* Announces once that servers are contacted now, and which.  May be
	 * NULL. */
	void (*notice)(void *ctx, const char *text);
	/* Shows a line during a long download; NULL text ends it.  May be
	 * NULL. */
	void (*progress)(void *ctx, const char *text);
	/* Returns whether the user wants no more files.  May be NULL. */
	bool (*stopped)(void *ctx);
	void *ctx;
	bool notified;
	char given_up[96];	/* reason why requests stopped, or "" */
	uint64_t spent_ns, bytes;
	uint64_t now;		/* bytes of the current file so far */
	uint64_t user_limit;	/* DEBUGINFOD_MAXSIZE of the user; 0: none */
	void *lib, *client;
};

void debuginfod_fini(struct debuginfod *d);
/* Returns whether there are servers to ask. */
bool debuginfod_has_servers(void);
/* Appends the path of libdebuginfod's cache (debuginfod-find(1), CACHE); nothing if it
 * is unknown. */
void debuginfod_cache(struct buf *out);
/* Announces the servers now and never again, before a full-screen view
 * starts. */
void debuginfod_notify(struct debuginfod *d);
/* Requests a file of the program with this build ID.  `path`: of a source file, as the
 * debug information has it; otherwise the name to show.  Returns a descriptor
 * that the caller closes, or an error: ERR_NOTFOUND if no server has the file, with an
 * empty message if none was asked. */
int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind,
		     const struct build_id *id, const char *path,
		     struct error *err);
/* Appends a source file, at most `limit` bytes of it, to `out`.  Errors are those of
 * debuginfod_fetch.  `d` may be NULL. */
int debuginfod_read_source(struct debuginfod *d, const struct build_id *id,
			   const char *path, size_t limit, struct buf *out,
			   struct error *err);

#endif
