/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_HISTORY_H
#define TALLY_HISTORY_HISTORY_H
/*
 * The costs of a program's functions, commit by commit.
 *
 * A batch holds what was recorded of one commit at one time: several runs, each with
 * the samples of every function (self cost).  Batches are compared with each other
 * instead of runs, because runs of one batch differ less than days on one machine.
 *
 * A store is a folder with one file for each batch, runs/XX/YYYY….gz.  The file's
 * name is the SHA-256 of its text.  Files never change, so two stores are merged by
 * copying their files together in any order.  A killed writer leaves nothing behind.
 * The text has tabs between fields and one line for each function:
 *
 *	tally-history 3
 *	commit ID | time SECONDS | recorded SECONDS | benchmark NAME | cpu MODEL |
 *	kernel RELEASE | event NAME | settings TEXT | unit ns or count |
 *	per-sample NUMBER | runs N		one line each, in this order
 *	ended STATUS…				wait status of each run, - if unknown
 *	recording SHA-256 PATH			for each recording
 *	f|k COUNT… IMAGE NAME WHICH		of the program, of the kernel
 *	d FILE LINE CODE SKETCH			of the function above: declaration, code
 *	l COUNT LINE				its costliest lines, from the declaration
 *	c COUNT NAME				the functions that call it most
 *	end LINES				number of function lines
 *
 * The counts are the samples of each run, separated by spaces.  NAME is the linkage
 * name, "" for unnamed code.  WHICH distinguishes functions of the same name in an
 * image.  Functions with fewer than HISTORY_MIN samples in all runs together are
 * summed into one without image and name.  Those with at least a hundredth of the
 * program's samples have details (d, l, c): history/detail.h.  Version 1 has none, and no
 * recordings; the statuses came with version 3.
 */
#include "base/error.h"
#include "base/sha256.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "check/runs.h"

enum {
	HISTORY_MIN = 5,
	HISTORY_RUNS_MAX = 10000,	/* most runs of a batch */
};

struct history_func {
	uint32_t image, name, which;	/* str */
	bool kernel;
	uint32_t file, line;	/* str: place of the declaration, if the function was
				 * gathered from recordings; 0: unknown, as stores do
				 * not contain it */
};

struct batch {
	uint32_t commit, benchmark;	/* str */
	uint32_t cpu, kernel, event, settings;	/* str */
	int64_t time;			/* time of the commit, seconds since 1970 */
	int64_t recorded;		/* start of the first run, seconds since
					 * 1970 */
	double per_sample;		/* units of the event per sample */
	bool is_time;			/* the event's unit is nanoseconds */
	uint32_t runs;
	uint32_t first_ended;	/* in history.ended, one value for each run; UINT32_MAX:
				 * unknown */
	uint32_t first, n;		/* range in history.costs */
	uint32_t first_detail, ndetails;	/* in history.details */
	uint32_t first_recording, nrecordings;	/* in history.recordings */
	uint8_t hash[SHA256_BYTES];
};

/* The samples of a function in the runs of a batch. */
struct history_cost {
	uint32_t func;
	uint32_t counts;	/* index in history.counts, which has one value for
				 * each run */
};

/* Properties of a costly function in a batch, apart from its cost. */
struct history_detail {
	uint32_t cost;		/* in history.costs */
	uint32_t file, line;	/* str, base name; of its declaration, 0: unknown */
	uint64_t code;		/* hash of its instructions; 0: unknown */
	uint32_t first_part, nparts;	/* in history.parts */
	uint32_t first_hash, nhashes;	/* in history.hashes: its code's sketch */
};
/* A line of a function, or a function that calls it. */
struct history_part {
	bool caller;
	uint32_t key;		/* caller: str of its linkage name; line: lines after
				 * the declaration */
	double samples;		/* in all runs */
};

/* A recording of a batch. */
struct history_recording {
	uint32_t path;		/* str, as given */
	uint8_t hash[SHA256_BYTES];	/* of its contents */
};

struct history {
	struct strtab str;
	VEC(struct history_func) funcs;
	struct idtab func_tab;
	VEC(struct batch) batches;
	VEC(struct history_cost) costs;
	VEC(double) counts;
	VEC(int32_t) ended;	/* wait statuses, negative if unknown */
	VEC(struct history_detail) details;
	VEC(struct history_part) parts;
	VEC(uint32_t) hashes;
	VEC(struct history_recording) recordings;
	size_t damaged;		/* number of entries of the store that were skipped */
	char damage[256];	/* name of the first of them and the reason */
};

int history_init(struct history *h, struct error *err);
void history_fini(struct history *h);
static inline const char *history_str(const struct history *h, uint32_t id)
{
	return strtab_get(&h->str, id);
}
/* Appends the readable name of a function, not safe for a terminal. */
void history_name(const struct history *h, uint32_t func, struct buf *out);

/* Returns the ID of an equal function, which is added if it is new; UINT32_MAX if
 * memory ran out. */
uint32_t history_func(struct history *h, const struct history_func *f);

/* Returns the wait status of a run; negative if unknown. */
static inline int history_ended(const struct history *h, const struct batch *b,
				uint32_t run)
{
	return b->first_ended == UINT32_MAX ? -1
					    : h->ended.v[b->first_ended + run];
}

/* Facts that the recordings of a batch lack, or that replace theirs. */
struct batch_facts {
	const char *commit;	/* NULL: the revision that was recorded */
	const char *benchmark;	/* NULL: "default" */
	int64_t time;		/* time of the commit, seconds since 1970; 0: when
				 * it was recorded */
};
/* Adds a batch with all runs of the files that were added to `runs` and read
 * (check_runs_finish).  They must have the same commit, event and machine. */
int history_gather(struct history *h, struct check_runs *runs,
		   const struct batch_facts *facts, struct error *err);

/* Adds all batches of a store, which must exist.  Counts damaged files. */
int history_read(struct history *h, const char *dir, struct error *err);
/* Adds the batch in a text; `name` appears in messages. */
int history_parse(struct history *h, const char *name, const char *text,
		  size_t n, struct error *err);
/* Writes a batch and creates missing folders of the store.  Returns 1 if the batch
 * existed already, undamaged. */
int history_write(const struct history *h, size_t batch, const char *dir,
		  struct error *err);

/* Copies the recordings of a batch into the store, where they are found by their
 * contents. */
int history_keep(const struct history *h, size_t batch, const char *dir,
		 struct error *err);
/* Appends the path of a recording: of the copy in the store, or else the one that
 * was given, if that file is still the same.  Returns false if neither exists. */
bool history_recording_path(const struct history *h, size_t recording,
			    const char *dir, struct buf *out);

#endif
