/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_HISTORY_H
#define TALLY_HISTORY_HISTORY_H
/*
 * What a program's functions cost, commit by commit.
 *
 * A batch is what was recorded of one commit at one time: some runs, each with the
 * samples of every function (self cost).  Batches, not runs, are compared with each
 * other: runs of one batch are more alike than a machine is from day to day.
 *
 * A store is a folder with one file for each batch, runs/XX/YYYY….gz, whose name is
 * the SHA-256 of the text in it.  Files are never changed, so the union of two
 * stores' files is their merge, in any order, and a killed writer leaves nothing.
 * The text (tabs between fields, one line for each function):
 *
 *	tally-history 1
 *	commit ID | time SECONDS | recorded SECONDS | benchmark NAME | cpu MODEL |
 *	kernel RELEASE | event NAME | settings TEXT | unit ns or count |
 *	per-sample NUMBER | runs N		one line each, in this order
 *	f|k COUNT… IMAGE NAME WHICH		of the program, of the kernel
 *	end LINES				how many of these there are
 *
 * Counts are samples of each run, separated by spaces.  NAME is the linkage name,
 * "" for code without names; WHICH tells functions of one name in an image apart.
 * The functions that had fewer than HISTORY_LEAST samples in all runs together are
 * one, with neither image nor name.
 */
#include "base/error.h"
#include "base/sha256.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "check/runs.h"

enum {
	HISTORY_LEAST = 5,
	HISTORY_RUNS_MAX = 10000,	/* of a batch */
};

struct history_func {
	uint32_t image, name, which;	/* str */
	bool kernel;
};

struct batch {
	uint32_t commit, benchmark;	/* str */
	uint32_t cpu, kernel, event, settings;	/* str */
	int64_t time;			/* the commit's, seconds since 1970 */
	int64_t recorded;		/* its first run's */
	double per_sample;		/* the event's units of a sample */
	bool is_time;			/* that unit is ns */
	uint32_t runs;
	uint32_t first, n;		/* in history.costs */
	uint8_t hash[SHA256_BYTES];
};

/* A function's samples in the runs of a batch. */
struct history_cost {
	uint32_t func;
	uint32_t counts;	/* in history.counts: one for each run */
};

struct history {
	struct strtab str;
	VEC(struct history_func) funcs;
	struct idtab func_tab;
	VEC(struct batch) batches;
	VEC(struct history_cost) costs;
	VEC(double) counts;
	size_t damaged;		/* files of the store that were passed over */
	char damage[256];	/* the first one, and why */
};

int history_init(struct history *h, struct error *err);
void history_fini(struct history *h);
static inline const char *history_str(const struct history *h, uint32_t id)
{
	return strtab_get(&h->str, id);
}
/* The readable name of a function, not safe. */
void history_name(const struct history *h, uint32_t func, struct buf *out);

/* The id of an equal function, or of a new one; UINT32_MAX: out of memory. */
uint32_t history_func(struct history *h, const struct history_func *f);

/* What the recordings of a batch do not say, or what replaces what they say. */
struct batch_facts {
	const char *commit;	/* NULL: the revision that they were made at */
	const char *benchmark;	/* NULL: "default" */
	int64_t time;		/* of the commit; 0: when it was recorded */
};
/* Adds a batch: all runs of files that were added to `runs` and read
 * (check_runs_finish).  They must be of one commit, event and machine. */
int history_gather(struct history *h, const struct check_runs *runs,
		   const struct batch_facts *facts, struct error *err);

/* Adds all batches of a store, which must exist; damaged files are counted. */
int history_read(struct history *h, const char *dir, struct error *err);
/* Adds the batch of a text; `name` is for messages. */
int history_parse(struct history *h, const char *name, const char *text,
		  size_t n, struct error *err);
/* Writes a batch, and the store's folders that are missing.  1: it was there. */
int history_write(const struct history *h, size_t batch, const char *dir,
		  struct error *err);

#endif
