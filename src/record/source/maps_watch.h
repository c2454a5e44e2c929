/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_MAPS_WATCH_H
#define TALLY_RECORD_SOURCE_MAPS_WATCH_H
/*
 * Mappings and names for sources that get no records of them from the kernel.
 * PROC/PID/maps is read when there is reason to; each mapping that is new since the
 * last reading becomes a RECORD_MMAP.  (Mappings that have gone need no record: no
 * code runs there.)
 *
 * Call this for each sample before you pass it on:
 *
 *	maps_watch_sample(&w, &at, rip, cb, ctx, err);
 *
 * Also report exec, fork and the end of a process where the source learns of them.
 * The cost is one binary search per sample while the address is known.  /proc is
 * hostile: lines out of order are ignored, and the number of mappings is bounded.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "record/source/source.h"

struct watched_map {
	uint64_t start, end, offset, dev, inode;
	uint64_t path;		/* hash of the path */
};

struct watched {
	uint32_t pid;
	VEC(struct watched_map) maps;	/* sorted, without overlaps */
	uint64_t pages;		/* number of pages mapped, from statm */
	uint64_t look_ns;	/* time of the next check of `pages` */
	uint64_t again_ns;	/* time of the next full reading without another
				 * reason */
	uint64_t change_ns;	/* time before which a changed `pages` causes no
				 * reading */
	uint64_t missed_ns;	/* time before which an unknown address causes no
				 * reading */
	uint64_t miss;		/* length of that last delay, in ns */
	size_t reported;	/* number of mappings reported by the last reading */
};

struct maps_watch {
	const char *proc;
	VEC(struct watched) procs;
	VEC(uint32_t) free;	/* free rows of procs */
	struct u64map by_pid;
	struct buf text;
	VEC(struct watched_map) fresh;
	uint64_t reads;		/* number of readings of maps files */
};

/* The process, thread and time that a record belongs to. */
struct watch_place {
	uint32_t pid, tid;
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
};

/* Initialises `w`.  `proc` is normally "/proc" and must outlive it. */
void maps_watch_init(struct maps_watch *w, const char *proc);
void maps_watch_fini(struct maps_watch *w);

/* Returns whether a reported mapping holds the address. */
bool maps_watch_knows(const struct maps_watch *w, uint32_t pid, uint64_t addr);

/* All of the following return 0, -ERR_NOMEM, or the callback's negative result. */

/* Reads the mappings now. */
int maps_watch_read(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err);
/* Does the same from `text`, the contents of PROC/PID/maps. */
int maps_watch_text(struct maps_watch *w, const struct watch_place *at,
		    const void *text, size_t n, record_cb *cb, void *ctx,
		    struct error *err);
/* Handles a sample at addr.  Reads the mappings when no known mapping holds addr.
 * Also reads them when the process has mapped or unmapped anything, because callers
 * may be in new mappings.  Reads happen at once as long as they take little of the
 * time. */
int maps_watch_sample(struct maps_watch *w, const struct watch_place *at,
		      uint64_t addr, record_cb *cb, void *ctx,
		      struct error *err);
/* Handles the start of another program in the process: delivers RECORD_COMM and its
 * mappings. */
int maps_watch_exec(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err);
/* Delivers a thread's current name as RECORD_COMM. */
int maps_watch_name(struct maps_watch *w, const struct watch_place *at,
		    bool exec, record_cb *cb, void *ctx, struct error *err);
/* Starts a process with the mappings of its parent.  The caller delivers the fork
 * itself. */
int maps_watch_fork(struct maps_watch *w, uint32_t pid, uint32_t parent);
void maps_watch_exit(struct maps_watch *w, uint32_t pid);

#endif
