/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_DEBUGINFO_H
#define TALLY_PUSH_DEBUGINFO_H
/*
 * Uploads debug information to Parca, which names the addresses that were sent
 * without functions (parca.debuginfo.v1alpha1.DebuginfoService by gRPC):
 *
 *	ShouldInitiateUpload	the server may have it, or get it from debuginfod
 *	InitiateUpload		returns an ID for the upload
 *	Upload			a stream: the ID, then the bytes
 *	MarkUploadFinished
 *
 * What is uploaded for an image is its separate debug file or, without one, the
 * image itself.  The image is looked for by its path; a file with another build ID
 * does not count.  A build ID is asked for once: neither what the server has nor what
 * it refuses is tried again.
 */
#include "base/cursor.h"
#include "profile/model.h"
#include "push/answer.h"

enum {
	/* Larger files are not uploaded. */
	DEBUGINFO_FILE_MAX = 256 << 20,
	DEBUGINFO_CHUNK = 64 << 10,
};

/* How to upload a file (UploadInstructions). */
struct debuginfo_plan {
	bool by_grpc;		/* other ways are not supported */
	struct cursor id;	/* upload_id, borrowed */
};

/* Calls a method, whose path follows the server's address, with q->body or
 * q->more.  Returns a negative value only if memory ran out. */
typedef int debuginfo_call_fn(void *ctx, const char *path,
			      struct http_request *q, struct http_answer *a,
			      struct push_verdict *v, struct error *err);

struct debuginfo_options {
	const char *debug_dirs;		/* as in sym_options */
	debuginfo_call_fn *call;
	/* Receives a line for the user. */
	void (*notice)(void *ctx, const char *what, const char *text);
	void *ctx;
};

struct debuginfo_counts {
	uint64_t files, bytes;		/* uploaded */
	uint64_t refused;		/* files that the server refused, or that are
					 * too large */
};

struct debuginfo;

/* Returns NULL if out of memory. */
struct debuginfo *debuginfo_open(const struct debuginfo_options *o);
void debuginfo_close(struct debuginfo *d);
/* Adds the identified images of a recording to those that wait, the ones with the
 * most addresses first.  Another user's recording is left out, because that user
 * would choose which files are uploaded.  Returns 0 or -ERR_NOMEM. */
int debuginfo_add(struct debuginfo *d, const struct profile *p);
/* Handles the next image.  Returns 1, 0 if none waits or the server is away, or
 * -ERR_NOMEM. */
int debuginfo_next(struct debuginfo *d, struct error *err);
struct debuginfo_counts debuginfo_count(const struct debuginfo *d);

/* Parse the message of ShouldInitiateUploadResponse and InitiateUploadResponse.
 * Return false if the bytes are invalid. */
bool debuginfo_wanted(struct cursor c, bool *wanted);
bool debuginfo_read_plan(struct cursor c, struct debuginfo_plan *plan);

#endif
