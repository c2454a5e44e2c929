/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_SOURCE_SERVER_H
#define TALLY_VIEWS_CODE_SOURCE_SERVER_H
/*
 * Source files from debuginfod servers (DEBUGINFOD_URLS, debuginfod(8)) and the
 * cache of what they gave, by libdebuginfod: loaded only when it is needed, as it
 * brings a dozen libraries along.
 */
#include "profile/model.h"

enum {
	SOURCE_SERVER_SECONDS = 30,	/* for all files together … */
	SOURCE_SERVER_MB = 64,		/* … and what they may have */
};

/* All-zero, with the callbacks: nobody was asked yet.  One for all that a command
 * shows, so that the limits are the command's. */
struct source_server {
	/* That servers are asked now, and which; once.  May be NULL. */
	void (*notice)(void *ctx, const char *text);
	/* A line while it takes time; NULL text: it is over.  May be NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
	bool told;
	char given_up[96];	/* why no more are asked, or "" */
	uint64_t spent_ns, bytes;
	void *lib, *client;
};

void source_server_fini(struct source_server *s);
/* Tells now who will be asked, and nothing later: before a screen is taken. */
void source_server_tell(struct source_server *s);
/* The file that a program with this build-id was made from.  ERR_NOTFOUND where
 * there is none, without a message where nobody was to be asked; `s` may be NULL. */
int source_server_read(struct source_server *s, const struct build_id *id,
		       const char *path, size_t limit, struct buf *out,
		       struct error *err);

#endif
