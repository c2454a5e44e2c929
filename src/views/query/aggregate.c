// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums samples by stack, event and sample keys.
 *
 * The sums of a slot are a dense array by leaf as long as all arrays together
 * are small.  Otherwise they are a hash of the stacks that occur.
 */
#include "views/query/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/search.h"
#include "views/query/wait_kinds.h"

/* Limit of the bytes of all dense arrays except the first slot's. */
enum { DENSE_BUDGET = 8 << 20, DENSE_MIN = 256 };

static bool lane_eq(const struct lane *a, const struct lane *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->run == b->run &&
	       !memcmp(a->label, b->label, sizeof(a->label));
}


static bool group_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct aggregate *a = ctx;

	return lane_eq(&a->groups.v[id], key);
}

/* Sets the labels of a thread that are keys, as strings of the profile. */
static int label_lane(struct aggregate *a, struct profile *p,
		      struct thread_labels *labels, uint32_t thread,
		      struct lane *k, uint64_t *h)
{
	for (int i = 0; i < LABEL_COUNT; i++) {
		const char *text;

		if (!(a->mask & KEY_BIT(KEY_LABEL + i)))
			continue;
		text = thread_label(labels, thread, (enum thread_label)i);
		k->label[i] = text ? profile_str(p, text) : PROF_NONE;
		if (k->label[i] == PROF_NONE)
			return -ERR_NOMEM;
		*h = hash_mix(*h, k->label[i]);
	}
	return 0;
}

/* Groups threads that have equal values of all requested keys. */
static int group_threads(struct aggregate *a, struct profile *p,
			 struct error *err)
{
	bool labelled = a->mask & KEYS_OF_LABELS;
	struct thread_labels labels = { .p = NULL };
	struct idtab tab = { 0 };
	int rc = 0;

	a->thread_group = calloc(p->threads.n + 1, sizeof(*a->thread_group));
	if (!a->thread_group ||
	    (labelled && thread_labels_init(&labels, p) < 0))
		return error_nomem(err);
	for (size_t i = 0; !rc && i < p->threads.n; i++) {
		const struct prof_thread *t = &p->threads.v[i];
		struct lane k = { .comm = 0 };
		uint64_t h;
		uint32_t id;

		k.comm = a->mask & KEY_BIT(KEY_COMM) ? t->comm : 0;
		k.pid = a->mask & KEY_BIT(KEY_PID) ? t->pid : 0;
		k.tid = a->mask & KEY_BIT(KEY_TID) ? t->tid : 0;
		k.run = a->mask & KEY_BIT(KEY_RUN) ? t->run : 0;
		h = hash_mix(hash_mix(k.comm, k.pid), hash_mix(k.tid, k.run));
		if (labelled && label_lane(a, p, &labels, (uint32_t)i, &k, &h))
			rc = error_nomem(err);
		id = idtab_row(&tab, &a->groups, h, group_eq, a, &k);
		if (id == IDTAB_NONE)
			rc = error_nomem(err);
		a->thread_group[i] = id;
	}
	if (labelled)
		thread_labels_fini(&labels);
	idtab_fini(&tab);
	return rc;
}

/* Finds what threads wait for at each stack. */
static int find_waits(struct aggregate *a, struct profile *p, struct error *err)
{
	a->wait_of = wait_kinds_of_nodes(p);
	a->has_waits = calloc(p->events.n + 1, 1);
	if (!a->wait_of || !a->has_waits)
		return error_nomem(err);
	for (size_t i = 0; i < p->events.n; i++)
		a->has_waits[i] = wait_kinds_has(p, &p->events.v[i]);
	return 0;
}

static int choose_columns(struct aggregate *a, const struct selection *sel,
			  struct error *err)
{
	size_t n = a->p->events.n;

	a->col_of = malloc((n + 1) * sizeof(*a->col_of));
	a->got = calloc(n + 1, sizeof(*a->got));
	a->shown = calloc(n + 1, sizeof(*a->shown));
	if (!a->col_of || !a->got || !a->shown)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++) {
		a->col_of[i] = PROF_NONE;
		if (sel->event_ok && !sel->event_ok[i])
			continue;
		a->col_of[i] = (uint32_t)a->cols.n;
		if (vec_push(&a->cols, (uint32_t)i) < 0)
			return error_nomem(err);
	}
	a->ncols = a->cols.n;
	if (a->mask & KEY_BIT(KEY_EVENT)) {
		a->ncols = a->cols.n ? 1 : 0;
		for (size_t i = 0; i < n; i++)
			a->col_of[i] = a->col_of[i] == PROF_NONE ? PROF_NONE
								 : 0;
	}
	return 0;
}

/* What distinguishes the slots of samples. */
struct slot_key {
	uint32_t group, cpu, event, wait;
};

/* Returns the place of the lane of other events' slots, or of a new one; NULL if out
 * of memory. */
static uint32_t *find_lane(struct aggregate *a, const struct slot_key *k)
{
	uint64_t key = hash_mix((uint64_t)k->group << 32 | k->cpu, k->wait);

	/* Keys with equal hashes are distinguished by probing onwards. */
	for (;; key++) {
		uint32_t *lane = u64map_slot(&a->lane_map, key);
		const struct lane *l;

		if (!lane || *lane == U64MAP_NONE)
			return lane;
		l = &a->lanes.v[*lane];
		if (l->group == k->group && l->cpu == k->cpu &&
		    l->wait == k->wait)
			return lane;
	}
}

static int add_slot(struct aggregate *a, const struct slot_key *k)
{
	bool split = a->mask & KEY_BIT(KEY_EVENT);
	struct slot s = { .event = k->event };
	uint32_t *lane = NULL;

	if (!split)
		lane = find_lane(a, k);
	if (!split && !lane)
		return -ERR_NOMEM;
	if (!lane || *lane == U64MAP_NONE) {
		struct lane l = { .comm = 0 };

		if (a->thread_group)
			l = a->groups.v[k->group];
		l.group = k->group;
		l.cpu = k->cpu;
		l.wait = k->wait;
		l.event = split ? k->event : 0;
		if (vec_push(&a->lanes, l) < 0)
			return -ERR_NOMEM;
		s.lane = (uint32_t)a->lanes.n - 1;
		if (lane)
			*lane = s.lane;
	} else {
		s.lane = *lane;
	}
	if (!a->slots.n || a->dense_bytes < DENSE_BUDGET) {
		s.cap = DENSE_MIN;
		s.dense = calloc(s.cap, sizeof(struct cell));
		if (!s.dense)
			return -ERR_NOMEM;
		if (a->slots.n)
			a->dense_bytes += s.cap * sizeof(struct cell);
	}
	if (vec_push(&a->slots, s) < 0) {
		free(s.dense);
		return -ERR_NOMEM;
	}
	return 0;
}

/* Returns the slot of a sample; PROF_NONE if out of memory. */
static uint32_t find_slot(struct aggregate *a, const struct slot_key *k)
{
	uint64_t key = hash_mix(hash_mix(k->group, k->cpu),
				(uint64_t)k->wait << 32 | k->event);
	uint32_t *id;

	/* Keys with equal hashes are distinguished by probing onwards. */
	for (;; key++) {
		const struct slot *s;
		const struct lane *l;

		id = u64map_slot(&a->slot_map, key);
		if (!id)
			return PROF_NONE;
		if (*id == U64MAP_NONE)
			break;
		s = &a->slots.v[*id];
		l = &a->lanes.v[s->lane];
		if (s->event == k->event && l->group == k->group &&
		    l->cpu == k->cpu && l->wait == k->wait)
			return *id;
	}
	/* if add_slot fails, the entry must not be incomplete */
	*id = (uint32_t)a->slots.n;
	return add_slot(a, k) < 0 ? PROF_NONE : (uint32_t)a->slots.n - 1;
}

static int add_sparse(struct aggregate *a, uint32_t slot, uint32_t stack,
		      struct cell add)
{
	uint32_t *id = u64map_slot(&a->sparse_map,
				   (uint64_t)slot << 32 | stack);
	struct sparse_cell c = { slot, stack, add };

	if (!id)
		return -ERR_NOMEM;
	if (*id != U64MAP_NONE) {
		cell_add(&a->sparse.v[*id].c, add);
		return 0;
	}
	*id = (uint32_t)a->sparse.n;
	return vec_push(&a->sparse, c);
}

/* Moves the cells of a slot to the hash. */
static int make_sparse(struct aggregate *a, uint32_t slot)
{
	struct slot *s = &a->slots.v[slot];

	for (size_t i = 0; i < s->cap; i++)
		if (s->dense[i].count &&
		    add_sparse(a, slot, a->leaves.v[i], s->dense[i]) < 0)
			return -ERR_NOMEM;
	a->dense_bytes -= s->cap * sizeof(struct cell);
	free(s->dense);
	s->dense = NULL;
	s->cap = 0;
	return 0;
}

/* Grows an array to hold all existing leaves and some more. */
static int grow_dense(struct aggregate *a, uint32_t slot)
{
	struct slot *s = &a->slots.v[slot];
	size_t cap = a->leaves.n + a->leaves.n / 2;
	size_t more = (cap - s->cap) * sizeof(struct cell);
	struct cell *p;

	if (slot && a->dense_bytes + more > DENSE_BUDGET)
		return make_sparse(a, slot);
	p = realloc(s->dense, cap * sizeof(*p));
	if (!p)
		return -ERR_NOMEM;
	memset(p + s->cap, 0, more);
	s->dense = p;
	s->cap = cap;
	if (slot)
		a->dense_bytes += more;
	return 0;
}

/* Returns 1 + the leaf of a stack; 0 if out of memory. */
static uint32_t leaf_number(struct aggregate *a, uint32_t stack)
{
	if (!a->leaf_of[stack] && vec_push(&a->leaves, stack) == 0)
		a->leaf_of[stack] = (uint32_t)a->leaves.n;
	return a->leaf_of[stack];
}

static int add_cell(struct aggregate *a, uint32_t slot, uint32_t stack,
		    struct cell add)
{
	uint32_t leaf = leaf_number(a, stack);

	if (!leaf)
		return -ERR_NOMEM;
	if (a->slots.v[slot].dense && leaf > a->slots.v[slot].cap &&
	    grow_dense(a, slot) < 0)
		return -ERR_NOMEM;
	if (!a->slots.v[slot].dense)
		return add_sparse(a, slot, stack, add);
	cell_add(&a->slots.v[slot].dense[leaf - 1], add);
	return 0;
}

static int add_keyed(struct aggregate *a, const struct sample_batch *b,
		     const uint32_t *keep, size_t n)
{
	bool by_cpu = a->mask & KEY_BIT(KEY_CPU);
	struct slot_key last = { .group = PROF_NONE };
	uint32_t slot = PROF_NONE;

	for (size_t k = 0; k < n; k++) {
		size_t i = keep ? keep[k] : k;
		struct slot_key now = {
			.group = a->thread_group
				 ? a->thread_group[b->thread[i]] : 0,
			.cpu = by_cpu ? b->cpu[i] : 0,
			.event = b->event[i],
		};

		if (a->wait_of && a->has_waits[now.event])
			now.wait = a->wait_of[b->stack[i]];
		if (now.group != last.group || now.cpu != last.cpu ||
		    now.event != last.event || now.wait != last.wait)
			slot = find_slot(a, &now);
		if (slot == PROF_NONE)
			return -ERR_NOMEM;
		last = now;
		if (add_cell(a, slot, b->stack[i], batch_cell(b, i)) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Adds samples if there is one lane, one event and no filter.  Most reports spend
 * their time in this loop. */
static int add_plain(struct aggregate *a, const struct sample_batch *b)
{
	enum { AHEAD = 16 };	/* stacks of merged recordings are in no cache */
	const struct slot *s = &a->slots.v[0];

	for (size_t i = 0; i < b->n; i++) {
		uint32_t leaf = a->leaf_of[b->stack[i]];

		if (i + AHEAD < b->n)
			__builtin_prefetch(&a->leaf_of[b->stack[i + AHEAD]]);
		if (!leaf || leaf > s->cap) {
			if (add_cell(a, 0, b->stack[i], batch_cell(b, i)) < 0)
				return -ERR_NOMEM;
			continue;
		}
		cell_add(&s->dense[leaf - 1], batch_cell(b, i));
	}
	return 0;
}

static void count_got(struct aggregate *a, const struct sample_batch *b)
{
	struct cell sum = { 0, 0 };	/* of the samples in a row with one event */

	for (size_t i = 0; i < b->n; i++) {
		cell_add(&sum, batch_cell(b, i));
		if (i + 1 == b->n || b->event[i] != b->event[i + 1]) {
			cell_add(&a->got[b->event[i]], sum);
			sum = (struct cell){ 0, 0 };
		}
	}
	for (size_t i = 0; a->squares && i < b->n; i++) {
		double w = (double)b->weight[i];

		a->squares[b->event[i]] += w * w / ((double)b->more[i] + 1);
	}
	for (size_t i = 0; b->time_ns && i < b->n; i++)
		if (b->time_ns[i] > a->last_ns)
			a->last_ns = b->time_ns[i];
}

/* Selects the columns to decode: only those that are needed. */
static unsigned int columns_needed(const struct aggregate *a,
				   const struct selection *sel)
{
	unsigned int mask = COLUMN_EVENT | COLUMN_WEIGHT | COLUMN_STACK |
			    COLUMN_MORE;

	if (sel->timed || !profile_end_ns(a->p))
		mask |= COLUMN_TIME;
	if (sel->thread_ok || a->thread_group)
		mask |= COLUMN_THREAD;
	if (sel->cpus.n || (a->mask & KEY_BIT(KEY_CPU)))
		mask |= COLUMN_CPU;
	return mask;
}

static int stream(struct aggregate *a, struct reader *r,
		  const struct selection *sel, uint32_t *keep)
{
	bool filters = selection_filters(sel);
	bool plain = !filters && a->p->events.n == 1 && !a->thread_group &&
		     !a->wait_of && !(a->mask & KEY_BIT(KEY_CPU));
	struct sample_batch b;
	int rc = 0;

	reader_columns(r, columns_needed(a, sel));
	/* sums do not tell how much their samples vary */
	if (filters || a->squares)
		reader_rewind(r);
	else
		reader_rewind_sums(r);
	while (!rc && reader_next(r, &b)) {
		size_t n = b.n;

		count_got(a, &b);
		if (filters)
			n = selection_apply(sel, &b, keep);
		if (plain && a->slots.n)
			rc = add_plain(a, &b);
		else
			rc = add_keyed(a, &b, filters ? keep : NULL, n);
	}
	reader_columns(r, COLUMN_ALL);
	return rc;
}

static int by_slot(const void *x, const void *y)
{
	const struct sparse_cell *a = x, *b = y;

	return ascending(a->slot, b->slot) ?: ascending(a->stack, b->stack);
}

static void add_shown(void *ctx, uint32_t stack, const struct slot *slot,
		      struct cell c)
{
	struct aggregate *a = ctx;

	(void)stack;
	cell_add(&a->shown[slot->event], c);
}

/* Gives back the room for further leaves. */
static void trim_dense(const struct aggregate *a, struct slot *s)
{
	size_t n = a->leaves.n;
	struct cell *p = n && s->cap > n ? realloc(s->dense, n * sizeof(*p)) : NULL;

	if (p) {
		s->dense = p;
		s->cap = n;
	}
}

static int finish(struct aggregate *a, struct error *err)
{
	size_t n = a->lanes.n * a->ncols;

	a->lane_slot = malloc((n + 1) * sizeof(*a->lane_slot));
	if (!a->lane_slot)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		a->lane_slot[i] = PROF_NONE;
	vec_sort(&a->sparse, by_slot);
	for (size_t i = 0; i < a->sparse.n; i++) {
		struct slot *s = &a->slots.v[a->sparse.v[i].slot];

		if (!s->n++)
			s->first = i;
	}
	for (size_t i = 0; i < a->slots.n; i++) {
		struct slot *s = &a->slots.v[i];

		a->lane_slot[s->lane * a->ncols + a->col_of[s->event]] =
			(uint32_t)i;
		trim_dense(a, s);
	}
	aggregate_each(a, add_shown, a);
	u64map_fini(&a->sparse_map);
	return 0;
}

int aggregate_run(struct reader *r, const struct selection *sel, uint32_t mask,
		  bool spread, struct aggregate *out, struct error *err)
{
	uint32_t *keep = malloc(SAMPLE_BATCH * sizeof(*keep));
	int rc = 0;

	*out = (struct aggregate){ .p = reader_profile(r), .mask = mask };
	out->nodes = out->p->nodes.n;
	out->leaf_of = pages_calloc(out->nodes + 1, sizeof(*out->leaf_of));
	if (spread)
		out->squares = calloc(out->p->events.n + 1, sizeof(double));
	if (!keep || !out->leaf_of || (spread && !out->squares)) {
		free(keep);
		aggregate_fini(out);
		return error_nomem(err);
	}
	rc = choose_columns(out, sel, err);
	if (!rc && (mask & KEYS_OF_THREAD))
		rc = group_threads(out, reader_profile(r), err);
	if (!rc && (mask & KEY_BIT(KEY_WAIT)))
		rc = find_waits(out, reader_profile(r), err);
	if (!rc && stream(out, r, sel, keep) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = finish(out, err);
	free(keep);
	if (rc < 0)
		aggregate_fini(out);
	return rc;
}

void aggregate_each(const struct aggregate *a, aggregate_fn *fn, void *ctx)
{
	for (size_t i = 0; i < a->slots.n; i++) {
		const struct slot *s = &a->slots.v[i];

		for (size_t k = 0; s->dense && k < a->leaves.n && k < s->cap;
		     k++)
			fn(ctx, a->leaves.v[k], s, s->dense[k]);
		for (size_t k = s->first; !s->dense && k < s->first + s->n; k++)
			fn(ctx, a->sparse.v[k].stack, s, a->sparse.v[k].c);
	}
}

void aggregate_fini(struct aggregate *a)
{
	for (size_t i = 0; i < a->slots.n; i++)
		free(a->slots.v[i].dense);
	vec_fini(&a->slots);
	vec_fini(&a->lanes);
	vec_fini(&a->groups);
	vec_fini(&a->cols);
	vec_fini(&a->sparse);
	vec_fini(&a->leaves);
	pages_free(a->leaf_of, a->nodes + 1, sizeof(*a->leaf_of));
	free(a->col_of);
	free(a->lane_slot);
	free(a->got);
	free(a->shown);
	free(a->squares);
	free(a->thread_group);
	free(a->wait_of);
	free(a->has_waits);
	u64map_fini(&a->slot_map);
	u64map_fini(&a->lane_map);
	u64map_fini(&a->sparse_map);
	*a = (struct aggregate){ 0 };
}
