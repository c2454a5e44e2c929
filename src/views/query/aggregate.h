/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_AGGREGATE_H
#define TALLY_VIEWS_QUERY_AGGREGATE_H
/*
 * Streams the samples of a file once and sums them by stack, event and the
 * requested sample keys.  After this the samples are no longer needed.  Memory
 * use grows with the number of unique stacks.
 *
 * A lane is one combination of the requested sample keys (comm, pid, tid, run,
 * cpu, event, labels).  Without sample keys there is one lane.  A column is an event
 * shown beside others.  If `event` is a key, lanes distinguish events and there
 * is one column.
 */
#include "profile/reader.h"
#include "profile/thread_labels.h"
#include "views/query/keys.h"
#include "views/query/select.h"

struct cell {
	uint64_t weight, count;
};

static inline void cell_add(struct cell *to, struct cell c)
{
	to->weight += c.weight;
	to->count += c.count;
}

/* Returns the cost of one row of samples. */
static inline struct cell batch_cell(const struct sample_batch *b, size_t i)
{
	return (struct cell){ b->weight[i], b->more[i] + 1 };
}

/* Returns the percentage of all samples of an event, by weight.  If the event's
 * samples have no weight, it is the percentage of their number. */
static inline double cell_percent(struct cell c, struct cell all)
{
	if (all.weight)
		return 100.0 * (double)c.weight / (double)all.weight;
	return all.count ? 100.0 * (double)c.count / (double)all.count : 0;
}

struct lane {
	uint32_t comm;		/* str; each field is 0 if it is not a key */
	uint32_t label[LABEL_COUNT];	/* str, by enum thread_label */
	uint32_t pid, tid, run, cpu, event;
	uint32_t wait;		/* str: kind of the wait */
	uint32_t group;
};

struct slot {			/* one combination of lane and event */
	uint32_t lane, event;
	struct cell *dense;	/* by leaf; NULL: cells are in `sparse` */
	size_t cap;		/* size of `dense`; leaves beyond have no cost */
	size_t first, n;	/* its range in `sparse` once finished */
};

struct sparse_cell {
	uint32_t slot, stack;
	struct cell c;
};

struct aggregate {
	const struct profile *p;
	uint32_t mask;		/* sample keys */
	size_t ncols;
	VEC(uint32_t) cols;	/* event by column */
	uint32_t *col_of;	/* column by event; PROF_NONE: not shown */
	VEC(struct lane) lanes;
	VEC(struct slot) slots;
	uint32_t *lane_slot;	/* [lane * ncols + column]; PROF_NONE: none */
	VEC(struct sparse_cell) sparse;	/* sorted by slot once finished */
	/* Stacks with samples are numbered in order of occurrence.  There are
	 * far fewer of these leaves than nodes. */
	size_t nodes;		/* of the profile */
	uint32_t *leaf_of;	/* by node: 1 + leaf; 0: no sample has it */
	VEC(uint32_t) leaves;	/* node by leaf */
	struct cell *got;	/* by event: sum of all samples of the file */
	/* by event: sum of the squared weights of all samples of the file, each
	 * divided by the number of samples that a row stands for; NULL: not
	 * requested */
	double *squares;
	struct cell *shown;	/* by event: sum of selected samples */
	uint64_t last_ns;	/* time of the last sample, in ns */
	/* Used while streaming. */
	uint32_t *thread_group;	/* by thread; NULL: all 0 */
	uint32_t *wait_of;	/* kind of wait by stack; NULL: not a key */
	uint8_t *has_waits;	/* by event: it has kinds */
	VEC(struct lane) groups;
	struct u64map slot_map, lane_map, sparse_map;
	size_t dense_bytes;
};

/* Receives the cost of one slot at one stack. */
typedef void aggregate_fn(void *ctx, uint32_t stack, const struct slot *slot,
			  struct cell c);

/* Passes all sums to `fn`, slot by slot; cells may be 0. */
void aggregate_each(const struct aggregate *a, aggregate_fn *fn, void *ctx);

/* Sums all selected samples of `r` by stack, event and the sample keys
 * (KEY_BIT) in `mask`.  `spread`: also measures how much weights vary
 * (`squares`).  After an error there is nothing to release. */
int aggregate_run(struct reader *r, const struct selection *sel, uint32_t mask,
		  bool spread, struct aggregate *out, struct error *err);
void aggregate_fini(struct aggregate *a);

#endif
