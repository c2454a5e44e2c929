/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_MAPS_WATCH_H
#define TALLY_RECORD_SOURCE_MAPS_WATCH_H
/*
 * Mappings and names for sources that no kernel tells of them: PROC/PID/maps is
 * read when there is reason to, and what was not there the last time becomes
 * RECORD_MMAP.  (What has gone needs no record: no code runs there.)
 *
 * For each sample, before it is handed on:
 *
 *	maps_watch_sample(&w, &at, rip, cb, ctx, err);
 *
 * and exec, fork and the end of a process where the source learns of them.
 * Costs one binary search a sample while the address is known.  /proc is
 * hostile: lines out of order are left out, the number of mappings is bounded.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "record/source/source.h"

struct watched_map {
	uint64_t start, end, offset, dev, inode;
	uint64_t path;		/* its hash */
};

struct watched {
	uint32_t pid;
	VEC(struct watched_map) maps;	/* sorted, never overlapping */
	uint64_t pages;		/* that it has mapped: statm */
	uint64_t look_ns;	/* when to look at them again */
	uint64_t again_ns;	/* … to read all without another reason */
	uint64_t change_ns;	/* until then another number is no reason */
	uint64_t missed_ns;	/* … an unknown address is none */
	uint64_t miss;		/* how long that lasts */
	size_t told;		/* by the last reading */
};

struct maps_watch {
	const char *proc;
	VEC(struct watched) procs;
	VEC(uint32_t) free;	/* rows of procs */
	struct u64map by_pid;
	struct buf text;
	VEC(struct watched_map) fresh;
	uint64_t reads;		/* of maps */
};

/* Whose record it is, and when. */
struct watch_place {
	uint32_t pid, tid;
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
};

/* `proc` is normally "/proc" and must outlive it. */
void maps_watch_init(struct maps_watch *w, const char *proc);
void maps_watch_fini(struct maps_watch *w);

/* Whether a mapping that was told of holds the address. */
bool maps_watch_knows(const struct maps_watch *w, uint32_t pid, uint64_t addr);

/* All of these return 0, -ERR_NOMEM, or what the callback returned when that was
 * negative. */

/* Reads the mappings now. */
int maps_watch_read(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err);
/* The same from what PROC/PID/maps holds. */
int maps_watch_text(struct maps_watch *w, const struct watch_place *at,
		    const void *text, size_t n, record_cb *cb, void *ctx,
		    struct error *err);
/* A sample at addr: reads them when addr is in none that is known, and when the
 * process has mapped or unmapped anything, as callers may be in new ones, too;
 * at once, as long as this takes little of the time. */
int maps_watch_sample(struct maps_watch *w, const struct watch_place *at,
		      uint64_t addr, record_cb *cb, void *ctx,
		      struct error *err);
/* The process executes another program: RECORD_COMM, and its mappings. */
int maps_watch_exec(struct maps_watch *w, const struct watch_place *at,
		    record_cb *cb, void *ctx, struct error *err);
/* A thread's name as it is now: RECORD_COMM. */
int maps_watch_name(struct maps_watch *w, const struct watch_place *at,
		    bool exec, record_cb *cb, void *ctx, struct error *err);
/* A process begins with the mappings of its parent; the caller tells of the
 * fork. */
int maps_watch_fork(struct maps_watch *w, uint32_t pid, uint32_t parent);
void maps_watch_exit(struct maps_watch *w, uint32_t pid);

#endif
