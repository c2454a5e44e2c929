/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_RECORD_REPLAY_H
#define TALLY_TESTS_RECORD_REPLAY_H
/* A collector for records that a test makes, with a folder for the files they speak of. */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/collect/collector.h"

struct replay {
	char dir[64];
	struct profile p;
	struct collector c;
	struct error err;
	uint64_t time;
};

/* `proc`: the collector's /proc, or NULL: the folder. */
static inline int replay_begin(void **state, const char *proc, size_t nevents)
{
	struct replay *r = calloc(1, sizeof(*r));
	const char *tmp = getenv("TMPDIR");

	if (!r)
		return -1;
	snprintf(r->dir, sizeof(r->dir), "%.40s/tally-replay.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(r->dir) || profile_init(&r->p) < 0 ||
	    collector_init(&r->c, &r->p, proc ? proc : r->dir, "/nonexistent",
			   &r->err) < 0)
		return -1;
	r->c.nevents = nevents;
	*state = r;
	return 0;
}

static inline int replay_end(void **state)
{
	struct replay *r = *state;
	char cmd[128];

	collector_fini(&r->c);
	profile_fini(&r->p);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", r->dir);
	free(r);
	return system(cmd);
}

#endif
