/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_SOURCE_SERVER_H
#define TALLY_VIEWS_SOURCE_SERVER_H
/*
 * Source files from debuginfod servers (DEBUGINFOD_URLS, debuginfod(8)) and the
 * cache of what they gave, by libdebuginfod: loaded only when it is needed, as it
 * brings a dozen libraries along.
 */
#include "profile/model.h"

struct source_server {
	bool on;		/* they may be asked */
	bool given_up;		/* one did not answer: no more waiting */
	void *lib, *client;
};

void source_server_fini(struct source_server *s);
/* The file that a program with this build-id was made from.  ERR_NOTFOUND where
 * there is none, without a message where nobody was to be asked. */
int source_server_read(struct source_server *s, const struct build_id *id,
		       const char *path, size_t limit, struct buf *out,
		       struct error *err);

#endif
