/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_AGGREGATE_H
#define TALLY_VIEWS_QUERY_AGGREGATE_H
/*
 * Streams the samples of a file once and sums them by (stack, event) and by the
 * sample's keys that a view asked for.  After this nothing needs the samples:
 * memory follows unique stacks.
 *
 * A lane is one combination of the sample keys (comm, pid, tid, run, cpu, event
 * as far as asked for); with none of them there is one lane.  A column is an
 * event shown beside others; when `event` is a key, lanes tell events apart and
 * there is one column.
 */
#include "profile/reader.h"
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

/* A share of all samples of an event: by weight, or by number where the event's
 * samples have no weight. */
static inline double cell_percent(struct cell c, struct cell all)
{
	if (all.weight)
		return 100.0 * (double)c.weight / (double)all.weight;
	return all.count ? 100.0 * (double)c.count / (double)all.count : 0;
}

struct lane {
	uint32_t comm;		/* str; each field 0 when not a key */
	uint32_t pid, tid, run, cpu, event;
	uint32_t group;
};

struct slot {			/* one (lane, event) */
	uint32_t lane, event;
	struct cell *dense;	/* by leaf, or NULL: cells are in `sparse` */
	size_t cap;		/* of dense; leaves beyond have nothing */
	size_t first, n;	/* of its cells in `sparse` when finished */
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
	uint32_t *col_of;	/* column by event, PROF_NONE: not shown */
	VEC(struct lane) lanes;
	VEC(struct slot) slots;
	uint32_t *lane_slot;	/* [lane * ncols + column], PROF_NONE: none */
	VEC(struct sparse_cell) sparse;	/* sorted by slot when finished */
	/* Stacks that samples have are numbered as they occur: there are far
	 * fewer of these leaves than nodes. */
	uint32_t *leaf_of;	/* by node: 1 + leaf, 0: no sample has it */
	VEC(uint32_t) leaves;	/* node by leaf */
	struct cell *got;	/* by event: all samples of the file */
	struct cell *shown;	/* by event: those selected */
	uint64_t last_ns;	/* time of the last sample */
	/* while streaming */
	uint32_t *thread_group;	/* by thread, NULL: all 0 */
	VEC(struct lane) groups;
	struct u64map slot_map, lane_map, sparse_map;
	size_t dense_bytes;
};

/* What a dense slot holds for a node. */
static inline struct cell slot_cell(const struct aggregate *a,
				    const struct slot *s, uint32_t node)
{
	size_t leaf = a->leaf_of[node];

	return leaf && leaf <= s->cap ? s->dense[leaf - 1]
				      : (struct cell){ 0, 0 };
}

/* What one slot has at one stack. */
typedef void aggregate_fn(void *ctx, uint32_t stack, uint32_t event,
			  struct cell c);

/* All that was summed, slot by slot; cells may be 0. */
void aggregate_each(const struct aggregate *a, aggregate_fn *fn, void *ctx);

/* Sums all samples of `r` that `sel` lets through, by stack, event and the
 * sample keys (KEY_BIT) in `mask`.  After an error there is nothing to release. */
int aggregate_run(struct reader *r, const struct selection *sel, uint32_t mask,
		  struct aggregate *out, struct error *err);
void aggregate_fini(struct aggregate *a);

#endif
