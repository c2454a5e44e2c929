/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_PUSH_H
#define TALLY_PUSH_PUSH_H
/*
 * Sends recordings to servers that store profiles: Grafana Pyroscope, Parca, and
 * whatever takes OpenTelemetry's profiles.
 *
 * A recording is divided into windows of wall-clock time and into services; each
 * window's samples are summed by stack and become requests as large as the server
 * takes.  Without a spool a request is sent, and tried again while the server is
 * away, before the next one is made.  With a spool each request is a file before it
 * is sent, and no longer one when the server has it: what a server does not take
 * now is sent later, oldest first, by whoever opens the spool next.
 *
 *	push_open, push_recording …, push_drain, push_close
 *
 * What a server can tell apart has an id that follows from its content, so that a
 * request whose answer was lost is the same one when it is sent again.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/reader.h"
#include "push/http.h"
#include "views/query/select.h"

struct push;

struct push_label {
	const char *name, *value;
};

/* Time and the network, so that tests can have others. */
struct push_world {
	void *ctx;
	uint64_t (*now_ns)(void *ctx);		/* monotonic */
	uint64_t (*wall_ns)(void *ctx);		/* since 1970 */
	void (*sleep_ns)(void *ctx, uint64_t ns);
	uint64_t (*random)(void *ctx);
	http_post_fn *post;
};

struct push_options {
	const char *url;		/* url.h */
	const struct push_label *labels;	/* of everything sent; valid by
						 * labels_check */
	size_t nlabels;
	const char *tenant;		/* NULL or X-Scope-OrgID */
	const char *authorization;	/* NULL or the header's value; secret */
	struct http_options http;
	uint64_t window_ns;
	uint64_t patience_ns;	/* how long a server may be away before push_drain
				 * (and, without a spool, push_recording) gives
				 * up */
	const char *spool;	/* folder, or NULL */
	uint64_t spool_bytes;	/* that it may hold */
	const char *version;	/* of tally */
	const struct push_world *world;	/* NULL: the real one */
	/* A line for the user; never holds a secret. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

struct push_counts {
	uint64_t sent, sent_bytes;	/* requests that the server took */
	uint64_t samples;		/* of the recordings, in these */
	uint64_t rejected;		/* profiles of them that it left out */
	uint64_t refused;		/* requests that it will never take */
	uint64_t dropped;		/* from the spool, for want of room */
	uint64_t damaged;		/* files of the spool that were no requests */
	uint64_t tries;			/* attempts that failed and were repeated */
	uint64_t waiting, waiting_bytes;	/* in the spool */
	char problem[512];		/* why the last one failed; "" if it did not */
};

/* Whether push_open can succeed: the URL and libcurl, not the spool or the server. */
int push_check(const struct push_options *o, struct error *err);
int push_open(const struct push_options *o, struct push **out,
	      struct error *err);
/* Sends what `select` lets through of a recording, or puts it into the spool.
 * ERR_IO: without a spool, the server was away for too long; ERR_PERM: it wants
 * other rights. */
int push_recording(struct push *p, struct reader *r,
		   const struct select_spec *select, struct error *err);
/* Sends what is in the spool, until it is empty or the server was away for
 * patience_ns.  What is left is no error: push_counts says it. */
int push_drain(struct push *p, struct error *err);
/* One round of push_drain: sends what can be sent now.  *next_ns is when another
 * round is worth it (monotonic), UINT64_MAX where nothing waits. */
int push_some(struct push *p, uint64_t *next_ns, struct error *err);
const struct push_counts *push_so_far(const struct push *p);
void push_close(struct push *p);

#endif
