// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a merged recording in an order that depends on its contents only, so
 * that the order of the recordings does not matter: see merge.h.
 *
 * All rows are sorted by what they contain and numbered anew.  Rows that refer to
 * other rows are sorted after them.  By what the rows of a table are sorted is
 * in the table's struct order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/search.h"
#include "profile/merge_sum.h"
#include "profile/thread_labels.h"
#include "profile/writer.h"

enum {
	FLUSH_NODES = 1 << 20,	/* so that no chunk of tables is too large */
	ROWS_A_SUM = 4,		/* samples that a sum by event and stack must save to
				 * be worth its bytes */
};

struct ordering {
	struct merger *m;
	const struct profile *p;	/* the rows in their first order */
	struct profile q;		/* the same in the final order */
	struct merge to;		/* from p to q */
	struct merge_maps maps;		/* rows of q by rows of p */
	struct merge_maps ranks;	/* maps to compare by: those of `maps`, but
					 * of a string its place when sorted */
	struct thread_labels labels;	/* of p */
	uint32_t *end_of;		/* row of ends by node of p, or PROF_NONE */
	uint32_t *depth;		/* of frames of p */
	struct merge_sums sums;		/* of q, by event and stack; thread 0 */
	size_t rows;			/* of samples that were written */
	struct writer *w;
};

/* --- how tables are sorted */

enum { KEYS_MAX = 13 };

struct sort_key {
	size_t offset;			/* of a column in the row */
	bool down;			/* largest first */
	bool none_first;		/* PROF_NONE comes first */
};

struct order {
	enum section_kind section;
	/* rows that are equal in this many keys become one; 0: none */
	size_t distinct;
	bool last_first;		/* rows with equal keys are reversed */
	size_t nkeys;
	struct sort_key keys[KEYS_MAX];
};

#define KEY(type, field) { offsetof(struct type, field), false, false }
#define KEYS(...) \
	.keys = { __VA_ARGS__ }, \
	.nkeys = sizeof((struct sort_key[]){ __VA_ARGS__ }) / \
		 sizeof(struct sort_key)

/* by_run compares the host before these keys, and labels after the first
 * three. */
enum { RUN_KEYS_BEFORE_LABELS = 3 };
static const struct order run_order = {
	.section = SECTION_RUNS,
	KEYS(KEY(prof_run, start_ns), KEY(prof_run, command),
	     KEY(prof_run, end_ns), KEY(prof_run, user_ns),
	     KEY(prof_run, sys_ns), KEY(prof_run, exit_status)),
};
static const struct order event_order = {
	.section = SECTION_EVENTS,
	KEYS(KEY(prof_event, actual), KEY(prof_event, name),
	     KEY(prof_event, note),
	     { offsetof(struct prof_event, freq), true, false },
	     KEY(prof_event, period), KEY(prof_event, unit),
	     KEY(prof_event, precise), KEY(prof_event, exclude_user),
	     KEY(prof_event, exclude_kernel), KEY(prof_event, type),
	     KEY(prof_event, config), KEY(prof_event, config1),
	     KEY(prof_event, config2)),
};
/* Facts of the file come first; of equal keys, the last value is kept. */
static const struct order env_order = {
	.section = SECTION_ENVS, .distinct = 2, .last_first = true,
	KEYS({ offsetof(struct prof_env, run), false, true },
	     KEY(prof_env, key)),
};
/* Rows that differ only in their start become one. */
static const struct order thread_order = {
	.section = SECTION_THREADS, .distinct = 7,
	KEYS(KEY(prof_thread, run), KEY(prof_thread, pid),
	     KEY(prof_thread, tid), KEY(prof_thread, comm),
	     KEY(prof_thread, cgroup), KEY(prof_thread, parent),
	     KEY(prof_thread, task), KEY(prof_thread, start_ns)),
};
static const struct order loss_order = {
	.section = SECTION_LOSSES,
	KEYS(KEY(prof_loss, run), KEY(prof_loss, event), KEY(prof_loss, cpu),
	     KEY(prof_loss, kind)),
};
static const struct order stat_order = {
	.section = SECTION_STATS,
	KEYS(KEY(prof_stat, run), KEY(prof_stat, event),
	     KEY(prof_stat, value), KEY(prof_stat, enabled_ns),
	     KEY(prof_stat, running_ns), KEY(prof_stat, wanted)),
};
static const struct order image_order = {
	.section = SECTION_IMAGES,
	KEYS(KEY(prof_image, path), KEY(prof_image, kind),
	     KEY(prof_image, flags), KEY(prof_image, base),
	     KEY(prof_image, build_id), KEY(prof_image, reason)),
};
static const struct order loc_order = {
	.section = SECTION_LOCS,
	KEYS(KEY(prof_loc, image), KEY(prof_loc, vaddr)),
};
static const struct order wait_kind_order = {
	.section = SECTION_WAIT_KINDS, .distinct = 2,
	KEYS(KEY(prof_wait_kind, node), KEY(prof_wait_kind, kind)),
};
static const struct order func_order = {
	.section = SECTION_FUNCS,
	KEYS(KEY(prof_func, image), KEY(prof_func, name),
	     KEY(prof_func, file), KEY(prof_func, line),
	     KEY(prof_func, vaddr)),
};
/* Frames of one depth; those outside them have their numbers. */
static const struct order frame_order = {
	.section = SECTION_FRAMES,
	KEYS(KEY(prof_frame, func), KEY(prof_frame, file),
	     KEY(prof_frame, line), KEY(prof_frame, column),
	     KEY(prof_frame, outer)),
};
static const struct order symbol_order = {
	.section = SECTION_SYMBOLS,
	KEYS(KEY(prof_symbol, image), KEY(prof_symbol, vaddr)),
};
static const struct order source_order = {
	.section = SECTION_SOURCES, KEYS(KEY(image_debug_info, image)),
};
static const struct order text_order = {
	.section = SECTION_TEXTS,
	KEYS(KEY(source_excerpt, file), KEY(source_excerpt, line)),
};
/* merge_finish_symbols sorts these. */
static const struct order line_order = { .section = SECTION_LINES };
static const struct order code_order = { .section = SECTION_CODES };

/* An order with its columns. */
struct sorter {
	const struct ordering *o;
	const struct order *order;
	const struct table *t;
	const struct column *column[KEYS_MAX];	/* by key */
};

static struct sorter sorter_of(const struct ordering *o,
			       const struct order *order)
{
	struct sorter s = { o, order, format_table(order->section), { 0 } };

	for (size_t i = 0; i < order->nkeys; i++)
		for (size_t c = 0; c < s.t->ncolumns; c++)
			if (s.t->columns[c].offset == order->keys[i].offset)
				s.column[i] = &s.t->columns[c];
	return s;
}

static int compare_build_ids(const void *a, const void *b)
{
	const struct build_id *x = a, *y = b;
	int c = ascending(x->len, y->len);

	return c ? c : memcmp(x->bytes, y->bytes, x->len);
}

/* Compares two rows by the keys [first, end). */
static int compare_rows(const struct sorter *s, uint32_t i, uint32_t k,
			size_t first, size_t end)
{
	const char *a = table_row(s->o->p, s->t, i);
	const char *b = table_row(s->o->p, s->t, k);
	int c = 0;

	for (size_t n = first; !c && n < end; n++) {
		const struct sort_key *key = &s->order->keys[n];
		const struct column *col = s->column[n];
		uint64_t x, y;

		if (col->code == COL_BUILD_ID) {
			c = compare_build_ids(a + col->offset, b + col->offset);
			continue;
		}
		x = merge_ref(&s->o->ranks, s->t, col, a);
		y = merge_ref(&s->o->ranks, s->t, col, b);
		if (key->none_first)
			c = ascending((uint32_t)(x + 1), (uint32_t)(y + 1));
		else
			c = key->down ? ascending(y, x) : ascending(x, y);
	}
	return c;
}

static int by_keys(const void *x, const void *y, void *ctx)
{
	const struct sorter *s = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	int c = compare_rows(s, i, k, 0, s->order->nkeys);

	return c ? c : s->order->last_first ? ascending(k, i) : ascending(i, k);
}

typedef int order_fn(const void *x, const void *y, void *ctx);

/* Returns the numbers of n rows, or of those in `used`, in order; NULL if out of
 * memory. */
static uint32_t *sorted(size_t *n, const uint8_t *used, order_fn *compare,
			void *ctx)
{
	uint32_t *v = malloc((*n + 1) * sizeof(*v));
	size_t kept = 0;

	for (size_t i = 0; v && i < *n; i++)
		if (!used || used[i])
			v[kept++] = (uint32_t)i;
	*n = kept;
	if (v)
		sort_rows_r(v, kept, compare, ctx);
	return v;
}

/* Adds n rows; `map`, if not NULL, gets their new numbers. */
static int put_rows(struct ordering *o, const struct sorter *s,
		    const uint32_t *v, size_t n, uint32_t *map)
{
	size_t same = s->order->distinct;

	for (size_t i = 0; i < n; i++) {
		if ((!i || !same || compare_rows(s, v[i - 1], v[i], 0, same)) &&
		    !merge_add(&o->to, s->t, table_row(o->p, s->t, v[i])))
			return -ERR_NOMEM;
		if (map)
			map[v[i]] = (uint32_t)table_rows(&o->q, s->t) - 1;
	}
	return 0;
}

/* Adds the rows of a table, or those in `used`, as put_rows. */
static int put_table(struct ordering *o, const struct order *order,
		     order_fn *compare, const uint8_t *used, uint32_t *map)
{
	struct sorter s = sorter_of(o, order);
	size_t n = table_rows(o->p, s.t);
	uint32_t *v = sorted(&n, used, compare, &s);
	int rc = v ? put_rows(o, &s, v, n, map) : -ERR_NOMEM;

	free(v);
	return rc;
}

/* Returns the row of p by row of q, or NULL if out of memory. */
static uint32_t *inverse(const uint32_t *map, size_t n)
{
	uint32_t *old = merge_map(n);

	for (size_t i = 0; old && i < n; i++)
		old[map[i]] = (uint32_t)i;
	return old;
}

static int by_text(const void *x, const void *y, void *ctx)
{
	const struct profile *p = ctx;

	return strcmp(profile_cstr(p, *(const uint32_t *)x),
		      profile_cstr(p, *(const uint32_t *)y));
}

static int rank_strings(struct ordering *o)
{
	size_t n = o->p->str.str.n;
	uint32_t *v = sorted(&n, NULL, by_text, (void *)o->p);

	o->ranks = o->maps;
	o->ranks.str = v ? inverse(v, n) : NULL;
	free(v);
	return o->ranks.str ? 0 : -ERR_NOMEM;
}

/* --- the tables */

/* Runs by host, time and everything else. */
static int by_run(const void *x, const void *y, void *ctx)
{
	const struct sorter *s = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct thread_labels *l = &s->o->labels;
	int c = strcmp(strtab_get(&l->str, l->host[i]),
		       strtab_get(&l->str, l->host[k]));

	if (!c)
		c = compare_rows(s, i, k, 0, RUN_KEYS_BEFORE_LABELS);
	if (!c)
		c = strcmp(strtab_get(&l->str, l->all[i]),
			   strtab_get(&l->str, l->all[k]));
	return c ? c : compare_rows(s, i, k, RUN_KEYS_BEFORE_LABELS,
				    s->order->nkeys);
}

/* Losses of the same kind become one, at the start of the run. */
static int put_losses(struct ordering *o)
{
	int rc = put_table(o, &loss_order, by_keys, NULL, NULL);
	struct profile *q = &o->q;
	size_t n = 0;

	for (size_t i = 0; !rc && i < q->losses.n; i++) {
		struct prof_loss *l = &q->losses.v[i];
		struct prof_loss *last = n ? &q->losses.v[n - 1] : NULL;

		l->time_ns = q->runs.v[l->run].start_ns;
		if (last && last->run == l->run && last->event == l->event &&
		    last->cpu == l->cpu && last->kind == l->kind)
			last->count += l->count;
		else
			q->losses.v[n++] = *l;
	}
	q->losses.n = n;
	return rc;
}

static int put_images(struct ordering *o)
{
	int rc = put_table(o, &image_order, by_keys, NULL, o->maps.image);

	/* put_notes adds these as part of the symbols */
	for (size_t i = 0; i < o->q.images.n; i++)
		o->q.images.v[i].debug_file = o->q.images.v[i].note = 0;
	return rc;
}

/* Returns what distinguishes a node from others with the same parent.  Marks
 * come last. */
static uint64_t node_key(const struct ordering *o, uint32_t node)
{
	uint32_t loc = o->p->nodes.v[node].loc;
	const struct prof_stack_end *e;

	if (!prof_is_mark(loc))
		return merge_row(o->maps.loc, loc);
	if (o->end_of[node] == PROF_NONE)
		return 1ull << 63 | (uint64_t)(loc & 15) << 56;
	e = &o->p->ends.v[o->end_of[node]];
	return 1ull << 63 | (uint64_t)(loc & 15) << 56 |
	       (uint64_t)(e->reason & 0xffff) << 33 |
	       (uint64_t)(merge_row(o->maps.image, e->image) + 1u);
}

static int by_node(const void *x, const void *y, void *ctx)
{
	const struct ordering *o = ctx;

	uint64_t a = node_key(o, *(const uint32_t *)x);
	uint64_t b = node_key(o, *(const uint32_t *)y);

	return ascending(a, b);
}

/* Sets v[first[i]] to v[first[i + 1] - 1] to the children of node i, in order;
 * first has room for all nodes and two more. */
static void sort_children(struct ordering *o, uint32_t *v, uint32_t *first)
{
	const struct prof_node *nodes = o->p->nodes.v;
	size_t n = o->p->nodes.n;

	memset(first, 0, (n + 2) * sizeof(*first));
	for (size_t i = 1; i < n; i++)
		first[nodes[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 1; i < n; i++)
		v[first[nodes[i].parent + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		if (first[i + 1] - first[i] > 1)
			sort_rows_r(v + first[i], first[i + 1] - first[i], by_node, o);
}

static int put_node(struct ordering *o, uint32_t id)
{
	const struct profile *p = o->p;
	uint32_t end = o->end_of[id];

	o->maps.node[id] = (uint32_t)o->q.nodes.n;
	if (!merge_add(&o->to, format_table(SECTION_NODES), &p->nodes.v[id]))
		return -ERR_NOMEM;
	return end == PROF_NONE || merge_add(&o->to, format_table(SECTION_ENDS),
					     &p->ends.v[end])
		       ? 0 : -ERR_NOMEM;
}

/* Numbers the nodes of the tree: each before its children, and those in order. */
static int walk_nodes(struct ordering *o, const uint32_t *v,
		      const uint32_t *first, struct error *err)
{
	VEC(uint32_t) todo = { 0 };
	int rc = 0;

	for (uint32_t i = first[1]; !rc && i-- > first[0];)
		rc = vec_push(&todo, v[i]) < 0 ? -ERR_NOMEM : 0;
	while (!rc && todo.n) {
		uint32_t id = todo.v[--todo.n];

		rc = put_node(o, id);
		for (uint32_t i = first[id + 1]; !rc && i-- > first[id];)
			rc = vec_push(&todo, v[i]) < 0 ? -ERR_NOMEM : 0;
		if (!rc && !(o->q.nodes.n % FLUSH_NODES))
			rc = writer_flush(o->w, err);
	}
	vec_fini(&todo);
	return rc;
}

static int put_nodes(struct ordering *o, struct error *err)
{
	size_t n = o->p->nodes.n;
	uint32_t *v = malloc(n * sizeof(*v));
	uint32_t *first = malloc((n + 2) * sizeof(*first));
	int rc = -ERR_NOMEM;

	o->end_of = merge_map(n);
	if (v && first && o->end_of) {
		for (size_t i = 0; i < o->p->ends.n; i++)
			o->end_of[o->p->ends.v[i].node] = (uint32_t)i;
		sort_children(o, v, first);
		o->maps.node[0] = 0;
		rc = walk_nodes(o, v, first, err);
	}
	free(v);
	free(first);
	return rc;
}

static int put_tables(struct ordering *o, struct error *err)
{
	return put_table(o, &run_order, by_run, NULL, o->maps.run) ?:
	       put_table(o, &event_order, by_keys, NULL, o->maps.event) ?:
	       put_table(o, &env_order, by_keys, NULL, NULL) ?:
	       put_table(o, &thread_order, by_keys, NULL, o->maps.thread) ?:
	       put_losses(o) ?:
	       put_table(o, &stat_order, by_keys, NULL, NULL) ?:
	       writer_flush(o->w, err) ?:
	       put_images(o) ?:
	       put_table(o, &loc_order, by_keys, NULL, o->maps.loc) ?:
	       writer_flush(o->w, err) ?:
	       put_nodes(o, err) ?:
	       put_table(o, &wait_kind_order, by_keys, NULL, NULL);
}

/* Writes a sum.  Only in theory a single row cannot hold its count. */
static int put_sum(struct ordering *o, const struct merge_sum *s,
		   uint64_t time_ns, struct error *err)
{
	struct prof_sample row = { .time_ns = time_ns, .thread = s->thread,
				   .cpu = PROF_NONE, .event = s->event,
				   .stack = s->stack };
	uint64_t left = s->count;
	int rc = 0;

	while (!rc && left > 1ull + UINT32_MAX) {
		row.more = UINT32_MAX;
		left -= 1ull + UINT32_MAX;
		rc = writer_sample(o->w, &row, err);
	}
	row.more = left ? left - 1 : 0;
	row.weight = s->weight;
	return rc ? rc : writer_sample(o->w, &row, err);
}

static int sort_sums(struct merge_sum *v, size_t n)
{
	uint32_t count[1 << RADIX_BITS];
	struct merge_sum *spare = malloc((n + 1) * sizeof(*v));
	struct radix r = { v, spare, n, sizeof(*v), RADIX_BITS, count };

	if (!spare)
		return -ERR_NOMEM;
	radix_sort(&r, offsetof(struct merge_sum, stack), sizeof(v->stack));
	radix_sort(&r, offsetof(struct merge_sum, event), sizeof(v->event));
	radix_sort(&r, offsetof(struct merge_sum, thread), sizeof(v->thread));
	free(spare);
	return 0;
}

/* Adds the samples of a run to the sums by event and stack. */
static int add_to_sums(struct ordering *o, const struct merge_sum *v, size_t n)
{
	enum { AHEAD = 16 };	/* the stacks of a run are far from each other */
	struct merge_sums *s = &o->sums;

	o->rows += n;
	for (size_t i = 0; i < n; i++) {
		struct merge_sum *all;

		if (i + 2 * AHEAD < n) {
			uint32_t near = s->last[v[i + AHEAD].stack];

			__builtin_prefetch(&s->last[v[i + 2 * AHEAD].stack]);
			if (near != PROF_NONE)
				__builtin_prefetch(&s->v.v[near]);
		}
		all = merge_sums_find(s, 0, v[i].event, v[i].stack);
		if (!all)
			return -ERR_NOMEM;
		all->weight += v[i].weight;
		all->count += v[i].count;
	}
	return 0;
}

static int put_run_samples(struct ordering *o, uint32_t run, uint32_t old,
			   struct error *err)
{
	const struct merge_run *r = &o->m->runs.v[old];
	struct cursor c = cursor_of(o->m->sums.p + r->at, o->m->sums.n - r->at);
	struct merge_sum *v = malloc((r->n + 1) * sizeof(*v));
	struct merge_sum last = { .thread = 0 };
	size_t kept = 0;
	int rc = v ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < r->n; i++) {
		merge_sum_next(&c, &last);
		v[i] = (struct merge_sum){ o->maps.thread[last.thread],
					   o->maps.event[last.event],
					   o->maps.node[last.stack], last.weight,
					   last.count };
	}
	if (!rc)
		rc = sort_sums(v, r->n);
	for (size_t i = 1; !rc && i < r->n; i++)
		if (!merge_sum_compare(&v[kept], &v[i])) {
			v[kept].weight += v[i].weight;
			v[kept].count += v[i].count;
		} else {
			v[++kept] = v[i];
		}
	if (!rc && r->n)
		rc = add_to_sums(o, v, kept + 1);
	for (size_t i = 0; !rc && r->n && i <= kept; i++)
		rc = put_sum(o, &v[i], o->q.runs.v[run].start_ns, err);
	free(v);
	return rc;
}

/* Writes the sums by event and stack, from which a report is made without all samples. */
static int put_sums(struct ordering *o, struct error *err)
{
	struct merge_sum *v = o->sums.v.v;
	size_t n = o->sums.v.n;
	int rc;

	if (!n || o->rows / ROWS_A_SUM < n)
		return 0;
	rc = writer_begin_sums(o->w, err) ?: sort_sums(v, n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = put_sum(o, &v[i], 0, err);
	return rc;
}

static int put_samples(struct ordering *o, struct error *err)
{
	size_t n = o->p->runs.n;
	uint32_t *old = inverse(o->maps.run, n);
	int rc = old ? 0 : -ERR_NOMEM;

	if (!rc)
		rc = merge_sums_init(&o->sums, o->q.nodes.n);
	for (uint32_t i = 0; !rc && i < n; i++)
		if (o->m->runs.v[old[i]].n)
			rc = put_run_samples(o, i, old[i], err);
	free(old);
	return rc ? rc : put_sums(o, err);
}

static int by_depth(const void *x, const void *y, void *ctx)
{
	const struct ordering *o = ctx;

	return ascending(o->depth[*(const uint32_t *)x],
			 o->depth[*(const uint32_t *)y]);
}

static int put_frames(struct ordering *o, const uint8_t *used)
{
	struct sorter s = sorter_of(o, &frame_order);
	size_t n = o->p->frames.n;
	uint32_t *v;
	int rc;

	o->depth = merge_map(n);
	for (size_t i = 0; o->depth && i < n; i++) {
		uint32_t outer = o->p->frames.v[i].outer;

		o->depth[i] = outer == PROF_NONE ? 0 : o->depth[outer] + 1;
	}
	v = o->depth ? sorted(&n, used, by_depth, o) : NULL;
	rc = v ? 0 : -ERR_NOMEM;
	for (size_t i = 0, end; !rc && i < n; i = end) {
		for (end = i; end < n && o->depth[v[end]] == o->depth[v[i]];)
			end++;
		sort_rows_r(v + i, end - i, by_keys, &s);
		rc = put_rows(o, &s, v + i, end - i, o->maps.frame);
	}
	free(v);
	return rc;
}

/* Marks what locations and lines use.  Others have lost to more detailed ones. */
static void mark_used(const struct profile *p, uint8_t *frames, uint8_t *funcs)
{
	for (size_t i = 0; i < p->loc_frame.n; i++)
		if (p->loc_frame.v[i] != PROF_NONE)
			frames[p->loc_frame.v[i]] = 1;
	for (size_t i = 0; i < p->lines.n; i++)
		if (p->lines.v[i].frame != PROF_NONE)
			frames[p->lines.v[i].frame] = 1;
	for (size_t i = p->frames.n; i-- > 0;) {	/* outer ones are before */
		const struct prof_frame *f = &p->frames.v[i];

		if (!frames[i])
			continue;
		funcs[f->func] = 1;
		if (f->outer != PROF_NONE)
			frames[f->outer] = 1;
	}
}

static int put_places(struct ordering *o)
{
	struct profile *q = &o->q;

	if (vec_reserve(&q->loc_frame, q->locs.n + 1) < 0)
		return -ERR_NOMEM;
	q->loc_frame.n = q->locs.n;
	for (uint32_t i = 0; i < o->p->locs.n; i++)
		q->loc_frame.v[o->maps.loc[i]] = merge_row(
			o->maps.frame, profile_loc_frame(o->p, i));
	return 0;
}

static int put_notes(struct ordering *o)
{
	size_t n = o->p->images.n;
	uint32_t *old = inverse(o->maps.image, n);
	int rc = old ? 0 : -ERR_NOMEM;

	for (size_t i = 0; old && i < n; i++) {
		const struct prof_image *im = &o->p->images.v[old[i]];

		o->q.images.v[i].debug_file = merge_str(&o->to, im->debug_file);
		o->q.images.v[i].note = merge_str(&o->to, im->note);
	}
	free(old);
	return rc;
}

static int put_bytes(struct ordering *o)
{
	struct profile *q = &o->q;
	int rc = put_table(o, &code_order, by_keys, NULL, NULL) ?:
		 put_table(o, &text_order, by_keys, NULL, NULL);

	for (size_t i = 0; !rc && i < q->codes.n; i++)
		merge_bytes(&o->p->code_bytes, &q->codes.v[i].offset,
			    q->codes.v[i].size, &q->code_bytes);
	for (size_t i = 0; !rc && i < q->texts.n; i++)
		merge_bytes(&o->p->text_bytes, &q->texts.v[i].offset,
			    q->texts.v[i].size, &q->text_bytes);
	return rc || q->code_bytes.failed || q->text_bytes.failed ? -ERR_NOMEM
								  : 0;
}

static int put_symbols(struct ordering *o)
{
	const struct profile *p = o->p;
	uint8_t *frames = calloc(p->frames.n + 1, 1);
	uint8_t *funcs = calloc(p->funcs.n + 1, 1);
	int rc = frames && funcs ? 0 : -ERR_NOMEM;

	if (!rc) {
		mark_used(p, frames, funcs);
		rc = put_table(o, &func_order, by_keys, funcs, o->maps.func);
	}
	if (!rc)
		rc = put_frames(o, frames) ?:
		     put_places(o) ?:
		     put_notes(o) ?:
		     put_table(o, &symbol_order, by_keys, NULL, NULL) ?:
		     put_table(o, &source_order, by_keys, NULL, NULL) ?:
		     put_table(o, &line_order, by_keys, NULL, NULL) ?:
		     put_bytes(o);
	/* the rows of each image are in its order */
	if (!rc)
		rc = merge_finish_symbols(&o->q);
	free(frames);
	free(funcs);
	return rc;
}

static int ordering_init(struct ordering *o, struct merger *m)
{
	const struct profile *p = &m->p;

	*o = (struct ordering){ .m = m, .p = p };
	o->to = (struct merge){ .p = &o->q, .from = p, .maps = &o->maps };
	if (merge_finish_symbols(&m->p) || profile_init(&o->q) < 0)
		return -ERR_NOMEM;
	if (thread_labels_init(&o->labels, p) < 0 ||
	    merge_maps_init(&o->maps, p) < 0)
		return -ERR_NOMEM;
	return rank_strings(o);
}

static void ordering_fini(struct ordering *o)
{
	free(o->ranks.str);
	merge_maps_fini(&o->maps);
	free(o->end_of);
	free(o->depth);
	merge_sums_fini(&o->sums);
	thread_labels_fini(&o->labels);
	writer_close(o->w);
	profile_fini(&o->q);
}

int merger_write(struct merger *m, int fd, const char *name,
		 struct error *err)
{
	struct ordering o;
	int rc = ordering_init(&o, m) ?:
		 writer_open_fd(fd, name, &o.q, &o.w, err) ?:
		 put_tables(&o, err);

	if (!rc && m->p.symbolized) {
		o.q.str_base = o.q.str.str.n;
		o.q.symbolized = true;
		rc = put_symbols(&o);
	}
	if (!rc)
		rc = put_samples(&o, err);
	if (!rc && o.to.failed)
		rc = -ERR_NOMEM;
	if (!rc)
		rc = writer_finish(o.w, err);
	ordering_fini(&o);
	return rc != -ERR_NOMEM ? rc
	       : error_set(err, ERR_NOMEM, "%s: out of memory while merging",
			   name);
}
