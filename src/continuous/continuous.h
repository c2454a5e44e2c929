/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_CONTINUOUS_H
#define TALLY_CONTINUOUS_CONTINUOUS_H
/*
 * Records continuously into a folder of bounded size, with three processes:
 *
 *	supervisor	starts the others, removes old files, writes status.json
 *	recorder	record(), which begins a new file by time, size and memory
 *	keeper		counts what finished files contain, and pushes it
 *
 * The processes are separate so that neither a slow server nor a damaged file
 * affects sampling.  A recorder's knowledge of stacks only grows.  The supervisor
 * therefore replaces the recorder at intervals.  Once the new one samples, both learn
 * a time shortly ahead: the new one leaves out earlier samples, the old one later
 * samples, and ends.  Each sample is thus counted once.  The supervisor restarts a
 * recorder or keeper that dies.
 *
 * The folder:
 *
 *	record-N.tally		file that a recorder writes (N: 0 or 1)
 *	record-N.tally.TIME	finished files
 *	status.json		status.h
 *	pushed			names of the finished files that were pushed
 *	spool			requests that wait for the server (push/spool.h)
 *	symbols			functions and lines of images (symbolize/symbol_cache.h)
 *	lock			locked while a supervisor runs
 */
#include "push/push.h"
#include "record/record.h"

struct continuous_options {
	/* The members output, rotate, control and symbol_cache are ignored. */
	struct record_options record;
	const char *dir;
	uint64_t every_ns, bytes, table_bytes;	/* limits of a file */
	uint64_t renew_ns;		/* lifetime of a recorder */
	uint64_t keep_ns, keep_bytes;	/* limits of finished files: older files,
					 * and the oldest beyond the size, are
					 * removed */
	uint64_t free_bytes;	/* free space to leave on the disk; below it files
				 * are removed, and sampling pauses once none is
				 * left */
	uint64_t symbol_bytes;	/* limit of the folder `symbols`; 0: none is kept */
	uint64_t duration_ns;	/* duration of the whole recording; 0: until a
				 * signal */
	const struct push_options *push;	/* NULL: nothing is sent */
	/* Receives a line for the user; called in all three processes. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/* Records until a signal (SIGINT, SIGTERM, SIGHUP) or the end of what is recorded,
 * and returns after the last file was finished.  Returns an error if recording
 * cannot begin. */
int continuous_run(const struct continuous_options *o, struct error *err);

#endif
