/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_PUSH_H
#define TALLY_PUSH_PUSH_H
/*
 * Sends recordings to servers that store profiles: Grafana Pyroscope, Parca, and any
 * that accept OpenTelemetry's profiles.
 *
 * A recording is divided into windows of wall-clock time and into services.  The
 * samples of each window are summed by stack and become requests of a size that the
 * server accepts.  Without a spool, each request is sent before the next one is
 * made, and is repeated while the server is away.  With a spool, each request is a
 * file until the server has accepted it.  What a server does not accept now is sent
 * later, oldest first, by the next process that opens the spool.
 *
 *	push_open, push_recording …, push_drain, push_close
 *
 * A process that handles each recording once, even if it is killed, names it:
 *
 *	push_open, push_resume
 *	push_hold, push_recording, … note that it is done …, push_release
 *
 * Where a server distinguishes requests by an ID, the ID is derived from the
 * content.  A request that is sent again because its answer was lost is thus
 * recognized.
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

/* The clock, network and random numbers, which tests replace. */
struct push_world {
	void *ctx;
	uint64_t (*now_ns)(void *ctx);		/* nanoseconds, monotonic */
	uint64_t (*wall_ns)(void *ctx);		/* nanoseconds since 1970 */
	void (*sleep_ns)(void *ctx, uint64_t ns);
	uint64_t (*random)(void *ctx);
	http_post_fn *post;
};

struct push_options {
	const char *url;		/* see url.h */
	const struct push_label *labels;	/* labels of all profiles,
						 * validated by labels_check */
	size_t nlabels;
	const char *tenant;		/* X-Scope-OrgID, or NULL */
	const char *authorization;	/* value of the header, or NULL; secret */
	struct http_options http;
	uint64_t window_ns;
	uint64_t patience_ns;	/* how long a server may be away before push_drain
				 * (and, without a spool, push_recording) gives up */
	const char *spool;	/* folder, or NULL */
	uint64_t spool_bytes;	/* most bytes in the spool */
	/* Send addresses without functions where a build ID identifies the code, and
	 * upload debug information (debuginfo.h) where the protocol has that. */
	bool server_names;
	const char *debug_dirs;		/* as in sym_options, for the upload */
	const char *version;	/* version of tally */
	const struct push_world *world;	/* NULL: the real clock and network */
	/* Receives a line for the user, which never contains a secret. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

struct push_counts {
	uint64_t sent, sent_bytes;	/* requests that the server accepted, and
					 * their size */
	uint64_t samples;		/* samples of the recordings in these
					 * requests */
	uint64_t rejected;		/* profiles in these requests that the
					 * server left out */
	uint64_t refused;		/* requests that the server will never
					 * accept */
	uint64_t dropped;		/* requests removed from the spool to make
					 * room, or for which there was none */
	uint64_t damaged;		/* invalid files in the spool */
	uint64_t tries;			/* failed attempts that were repeated */
	uint64_t waiting, waiting_bytes;	/* requests in the spool, and their
						 * size */
	uint64_t debug_files, debug_bytes;	/* uploaded debug information */
	char problem[512];		/* reason of the last failure; "" if the
					 * last request succeeded */
};

/* Checks the URL and libcurl, but neither the spool nor the server, so that
 * push_open can succeed. */
int push_check(const struct push_options *o, struct error *err);
/* Opens the connection's resources and the spool, which push_close releases.  No
 * request is sent yet.  The strings in *o must outlive *out. */
int push_open(const struct push_options *o, struct push **out,
	      struct error *err);
/* Sends the selected samples of a recording, or adds them to the spool.  ERR_IO:
 * there is no spool and the server was away for too long.  ERR_PERM: the server
 * refuses the credentials. */
int push_recording(struct push *p, struct reader *r,
		   const struct select_spec *select, struct error *err);
/* Until push_release, requests of recordings are only added to the spool, under the
 * name of the recording.  If the spool is full they are sent nevertheless. */
void push_hold(struct push *p, const char *source);
int push_release(struct push *p, struct error *err);
/* Removes what an earlier process left in the spool: requests of recordings that it
 * did not finish, according to the function, and those for another protocol, which
 * count as refused. */
int push_resume(struct push *p, bool (*unfinished)(void *ctx, const char *source),
		void *ctx, struct error *err);
/* Sends the content of the spool until it is empty or the server was away for
 * patience_ns.  What remains is no error; push_counts reports it. */
int push_drain(struct push *p, struct error *err);
/* Sends what can be sent now, as one round of push_drain, which takes some seconds
 * at most if the server answers.  *next_ns is the time of the next useful round
 * (monotonic), UINT64_MAX if nothing waits. */
int push_step(struct push *p, uint64_t *next_ns, struct error *err);
/* Uploads the debug information of one image of the recordings so far, if the server
 * wants it.  Returns 1 if others wait, 0 if none does or the server is away. */
int push_debuginfo(struct push *p, struct error *err);
/* Returns the counts so far. */
const struct push_counts *push_get_counts(const struct push *p);
void push_close(struct push *p);

#endif
