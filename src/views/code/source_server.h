/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCE_SERVER_H
#define TALLY_VIEWS_CODE_SOURCE_SERVER_H
/*
 * Source files from debuginfod servers (DEBUGINFOD_URLS, debuginfod(8)) and
 * from libdebuginfod's cache of earlier answers.  The library is loaded only
 * when it is needed because it pulls in a dozen others.
 */
#include "profile/model.h"

enum {
	SOURCE_SERVER_SECONDS = 30,	/* time limit, all files together */
	SOURCE_SERVER_MB = 64,		/* size limit in MB, all files together */
};

/* State of the requests.  It starts as all zero except for the callbacks.  One
 * state serves everything that a command shows, so the limits apply to the
 * command. */
struct source_server {
	/* Announces once that servers are contacted now, and which.  May be
	 * NULL. */
	void (*notice)(void *ctx, const char *text);
	/* Shows a line during a long download; NULL text ends it.  May be
	 * NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
	bool notified;
	char given_up[96];	/* reason why requests stopped, or "" */
	uint64_t spent_ns, bytes;
	void *lib, *client;
};

void source_server_fini(struct source_server *s);
/* Announces the servers now and never again, before a full-screen view
 * starts. */
void source_server_notify(struct source_server *s);
/* Appends a source file of the program with this build ID to `out`.  Returns
 * ERR_NOTFOUND if there is none; the message is empty if no server was asked.
 * `s` may be NULL. */
int source_server_read(struct source_server *s, const struct build_id *id,
		       const char *path, size_t limit, struct buf *out,
		       struct error *err);

#endif
