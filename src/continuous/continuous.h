/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_CONTINUOUS_H
#define TALLY_CONTINUOUS_CONTINUOUS_H
/*
 * Recording without end, into a folder of bounded size.
 *
 *	supervisor	starts the others, removes old files, writes status.json
 *	recorder	record(), which begins a new file each time and size
 *	keeper		counts what finished files hold, and pushes it
 *
 * Three processes, so that neither a slow server nor a damaged file touches
 * sampling.  What a recorder knows of stacks only grows; therefore a second one is
 * started now and then, and the first one is stopped when the second one samples:
 * for some milliseconds both do.  A recorder or keeper that dies is started again.
 *
 * The folder:
 *
 *	record-N.tally		what a recorder writes (N: 0 or 1)
 *	record-N.tally.TIME	finished files
 *	status.json		status.h
 *	pushed			names of the finished files that were pushed
 *	spool			what waits for the server (push/spool.h)
 *	lock			locked while a supervisor runs
 */
#include "push/push.h"
#include "record/record.h"

struct continuous_options {
	/* output, rotate and control are not used. */
	struct record_options record;
	const char *dir;
	uint64_t every_ns, bytes;	/* of a file */
	uint64_t renew_ns;		/* life of a recorder */
	uint64_t keep_ns, keep_bytes;	/* finished files: older ones, and the oldest
					 * beyond so many bytes, go */
	uint64_t free_bytes;	/* of the disk: below, files go, and where none is
				 * left sampling pauses */
	uint64_t duration_ns;	/* of the whole; 0: until a signal */
	const struct push_options *push;	/* NULL: nothing is sent */
	/* A line for the user; called in all three processes. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/* Returns when a signal (SIGINT, SIGTERM, SIGHUP) or the end of what is recorded ends
 * it, after the last file was finished; an error where recording cannot begin. */
int continuous_run(const struct continuous_options *o, struct error *err);

#endif
