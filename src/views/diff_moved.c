// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which rows are code that moved, as `tally check` tells it (moves.h): functions
 * that are declared in one file, share a caller or call each other are related,
 * or where debug information does not say, those of an image.  Where the code of a
 * new function and of the other one is known, most of one must be in the other, too;
 * a function that there was before must have got code of the other's.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/symbol_order.h"
#include "views/code_like.h"
#include "views/diff_internal.h"
#include "views/moves.h"

/* Changes that may be what others gained: more likely than chance alone. */
#define FELL_P 0.1
/* What costs so little more together costs the same. */
#define SAME_COST 1.03

struct key_code {
	struct code_runs runs;
	bool asked, known;
};

struct call {
	uint32_t key, caller;	/* in diff.keys */
};

struct mover {
	struct diff *d;
	uint32_t *file;		/* by key: where it is declared, str of names;
				 * 0: not known */
	VEC(struct call) calls;	/* sorted, each once */
	struct u64map tab;
	struct key_code *code[DIFF_SIDES];	/* by key */
	struct prof_symbol *symbols[DIFF_SIDES];	/* by address */
	int side;		/* at hand */
	bool failed;
};

static uint32_t step_key(const struct diff_side *s, uint32_t step)
{
	uint32_t fk = s->rep->keys.steps[step].fk;

	return fk == PROF_NONE ? PROF_NONE : s->key_of[fk];
}

/* The files that functions are declared in: the new side's count. */
static int find_files(struct mover *m)
{
	struct diff *d = m->d;

	m->file = calloc(d->keys.keys.n + 1, sizeof(*m->file));
	if (!m->file)
		return -ERR_NOMEM;
	for (int s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &d->side[s];
		const struct profile *p = side->p;

		for (uint32_t i = 0; i < p->frames.n; i++) {
			uint32_t key = step_key(side, i), file;

			if (key == PROF_NONE || p->frames.v[i].func >= p->funcs.n)
				continue;
			file = p->funcs.v[p->frames.v[i].func].file;
			if (file)
				m->file[key] = diff_str(d, s, file);
			if (m->file[key] == PROF_NONE)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* The first function outwards that is not the innermost one. */
static void add_caller(void *ctx, uint32_t node, uint32_t event, struct cell c)
{
	struct mover *m = ctx;
	const struct diff_side *s = &m->d->side[m->side];
	const struct frame_keys *k = &s->rep->keys;
	const struct profile *p = s->p;
	uint32_t self = PROF_NONE;

	(void)event;
	for (; c.count && node && !prof_is_mark(p->nodes.v[node].loc);
	     node = p->nodes.v[node].parent)
		for (uint32_t at = k->head[p->nodes.v[node].loc];
		     at != PROF_NONE; at = k->steps[at].outer) {
			uint32_t key = step_key(s, at), *slot;

			if (self == PROF_NONE)
				self = key;
			if (key == PROF_NONE || key == self)
				continue;
			slot = u64map_slot(&m->tab,
					   (uint64_t)self << 32 | key);
			if (!slot ||
			    (*slot == U64MAP_NONE &&
			     vec_push(&m->calls, (struct call){ self, key })))
				m->failed = true;
			else
				*slot = 0;
			return;
		}
}

static int by_key(const void *x, const void *y)
{
	const struct call *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static int find_callers(struct mover *m)
{
	for (m->side = 0; m->side < DIFF_SIDES; m->side++)
		aggregate_each(&m->d->side[m->side].rep->agg, add_caller, m);
	if (m->calls.n)
		qsort(m->calls.v, m->calls.n, sizeof(*m->calls.v), by_key);
	return m->failed ? -ERR_NOMEM : 0;
}

static bool calls(const struct mover *m, uint32_t caller, uint32_t key)
{
	return u64map_get(&m->tab, (uint64_t)key << 32 | caller) !=
	       U64MAP_NONE;
}

static bool share_caller(const struct mover *m, uint32_t a, uint32_t b)
{
	size_t lo = 0, hi = m->calls.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->calls.v[mid].key < a)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < m->calls.n && m->calls.v[lo].key == a; lo++)
		if (calls(m, m->calls.v[lo].caller, b))
			return true;
	return false;
}

static const struct code_runs *code_of(struct mover *m, uint32_t key, int side)
{
	const struct profile *p = m->d->side[side].p;
	struct key_code *x = &m->code[side][key];
	const char *name = profile_cstr(&m->d->names,
					m->d->keys.keys.v[key].name);
	int rc;

	if (!x->asked && !m->symbols[side] &&
	    symbols_copy(p, &m->symbols[side]) < 0) {
		m->failed = true;
		return NULL;
	}
	if (!x->asked) {
		rc = code_runs_of(p, name, m->symbols[side], &x->runs);
		m->failed |= rc < 0;
		x->known = !rc;
	}
	x->asked = true;
	return x->known ? &x->runs : NULL;
}

static const char *file_name(const struct mover *m, uint32_t key)
{
	return path_base(profile_cstr(&m->d->names, m->file[key]));
}

/* What is declared in a header may be inlined anywhere: that two of them are near
 * says nothing. */
static bool in_header(const struct mover *m, uint32_t key)
{
	const char *base = file_name(m, key), *dot = strrchr(base, '.');

	return *base && (!dot || dot[1] == 'h' || dot[1] == 'H');
}

static bool are_near(const struct mover *m, uint32_t a, uint32_t b)
{
	if (calls(m, a, b) || calls(m, b, a))
		return true;
	if (in_header(m, a) || in_header(m, b))
		return false;
	return (m->file[a] && !strcmp(file_name(m, a), file_name(m, b))) ||
	       share_caller(m, a, b);
}

static bool was_there(const struct diff *d, uint32_t row)
{
	return diff_values(d, DIFF_OLD, row)->total.count;
}

static bool related(void *ctx, size_t rose, size_t fell)
{
	struct mover *m = ctx;
	const struct diff *d = m->d;
	uint32_t a = d->rows.v[rose].key, b = d->rows.v[fell].key;
	const struct code_runs *x, *y, *before;
	bool near = are_near(m, a, b);

	if (!near && (m->file[a] || d->keys.keys.v[a].image !=
					    d->keys.keys.v[b].image))
		return false;
	x = code_of(m, a, DIFF_NEW);
	y = code_of(m, b, DIFF_OLD);
	if (!was_there(d, (uint32_t)rose))
		return x && y ? code_like(x, y) : near;
	before = code_of(m, a, DIFF_OLD);
	return x && y && before && code_came_from(x, before, y);
}

static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	const struct diff *d = ((struct mover *)ctx)->d;
	struct cell sum[DIFF_SIDES] = { { 0, 0 }, { 0, 0 } };
	struct diff_change c;

	for (int s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 0; i < n; i++)
			cell_add(&sum[s], diff_values(d, s, (uint32_t)rows[i])
						  ->self);
	diff_change_of(d, 0, sum[DIFF_OLD], sum[DIFF_NEW], &c);
	return c.cost[DIFF_NEW] > SAME_COST * c.cost[DIFF_OLD] && c.low > 0;
}

static struct move_item item_of(const struct diff *d, uint32_t row)
{
	const struct diff_change *c = diff_row_change(d, row, 0, false);
	struct move_item x = { MOVE_NONE, c->change };

	/* what has no name has nothing to be known by */
	if (d->keys.keys.v[d->rows.v[row].key].sort != FRAME_FUNC)
		return x;
	if (c->change < 0 && c->tested && (c->real || c->p <= FELL_P))
		x.kind = MOVE_FELL;
	else if (c->change > 0 && c->real)
		x.kind = was_there(d, row) ? MOVE_ROSE : MOVE_NEW;
	return x;
}

static void set_moved(struct diff *d, const size_t *from)
{
	for (uint32_t i = 0; i < d->rows.n; i++) {
		uint32_t of = from[i] == MOVE_FROM_NONE ? PROF_NONE
							: (uint32_t)from[i];
		double most = 0;

		d->moved_from[i] = of;
		if (of == PROF_NONE)
			continue;
		if (d->moved_to[of] != PROF_NONE)
			most = diff_row_change(d, d->moved_to[of], 0, false)
				       ->change;
		if (diff_row_change(d, i, 0, false)->change > most)
			d->moved_to[of] = i;
	}
}

static int find(struct mover *m)
{
	struct diff *d = m->d;
	size_t n = d->rows.n;
	struct move_item *v = calloc(n + 1, sizeof(*v));
	size_t *from = calloc(n + 1, sizeof(*from));
	struct moves moves = { v, n, m, related, costs_more };
	int rc = v && from ? find_files(m) : -ERR_NOMEM;

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		m->code[s] = calloc(d->keys.keys.n + 1, sizeof(*m->code[s]));
		rc = m->code[s] ? 0 : -ERR_NOMEM;
	}
	if (!rc)
		rc = find_callers(m);
	for (uint32_t i = 0; !rc && i < n; i++)
		v[i] = item_of(d, i);
	if (!rc)
		rc = moves_find(&moves, from);
	if (!rc)
		set_moved(d, from);
	free(v);
	free(from);
	return rc || m->failed ? -ERR_NOMEM : 0;
}

int diff_moved(struct diff *d)
{
	struct mover m = { .d = d };
	size_t bytes = (d->rows.n + 1) * sizeof(uint32_t);
	int rc = 0;

	d->moved_from = malloc(bytes);
	d->moved_to = malloc(bytes);
	if (!d->moved_from || !d->moved_to)
		return -ERR_NOMEM;
	memset(d->moved_from, 0xff, bytes);
	memset(d->moved_to, 0xff, bytes);
	/* functions only: lines and threads do not move */
	if (d->cols.n && (d->spec.keys.mask & ~KEY_BIT(KEY_IMAGE)) ==
				 KEY_BIT(KEY_SYMBOL))
		rc = find(&m);
	for (int s = 0; s < DIFF_SIDES; s++) {
		for (size_t i = 0; m.code[s] && i < d->keys.keys.n; i++)
			code_runs_fini(&m.code[s][i].runs);
		free(m.code[s]);
		free(m.symbols[s]);
	}
	free(m.file);
	vec_fini(&m.calls);
	u64map_fini(&m.tab);
	return rc;
}
