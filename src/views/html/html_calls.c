// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the cost of calls made at a line, for a page.
 *
 * As in annotate_calls.c, a sample counts once for each function that is on its
 * stack but not at its instruction.  It counts for the line of the innermost
 * frame of that function.  All calls of a function made at one line are one
 * call of the page.
 */
#include <stdlib.h>
#include <string.h>

#include "views/html/html_lines.h"

int html_call_walk_init(struct html_call_walk *w, const struct html_data *d)
{
	w->seen = calloc(d->funcs.n + 1, sizeof(*w->seen));
	return w->seen ? 0 : -ERR_NOMEM;
}

void html_call_walk_fini(struct html_call_walk *w)
{
	free(w->seen);
	vec_fini(&w->steps);
	outward_fini(&w->outward);
}

/* Begins a new stack; marks of earlier stacks become invalid. */
static void begin_stack(struct html_call_walk *w, const struct html_data *d)
{
	w->steps.n = 0;
	if (++w->stamp)
		return;
	memset(w->seen, 0, (d->funcs.n + 1) * sizeof(*w->seen));
	w->stamp = 1;
}

int html_walk_calls(struct html_call_walk *w, const struct html_data *d,
		    const struct html_source *s, uint32_t stack)
{
	const struct profile *p = s->in.rep->p;
	const struct frame_keys *k = &s->in.rep->keys;
	struct outward o;
	uint32_t loc;
	bool leaf = true;

	begin_stack(w, d);
	if (w->outward.p != p) {
		outward_fini(&w->outward);
		if (outward_init(&w->outward, p) < 0)
			return -ERR_NOMEM;
	}
	for (o = outward_begin(&w->outward, stack);
	     outward_next(&w->outward, &o, &loc); leaf = false) {
		uint32_t x = loc < p->locs.n ? k->head[loc] : PROF_NONE;

		for (; x != PROF_NONE; x = k->steps[x].outer) {
			uint32_t func = html_step_func(s, x);

			if (func == PROF_NONE || w->seen[func] == w->stamp)
				continue;
			w->seen[func] = w->stamp;
			/* frames at the instruction are self or inlined cost */
			if (!leaf && x < k->nframes && p->frames.v[x].file &&
			    vec_push(&w->steps, x) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* --- size of the calls */

struct weigher {
	struct html_call_walk walk;
	const struct html_chooser *k;
	const struct html_source *s;
	uint64_t *count;	/* number of samples, by step */
	int rc;
};

static void count_stack(void *ctx, uint32_t stack, const struct slot *slot,
			struct cell c)
{
	struct weigher *w = ctx;

	if (w->rc || !c.count ||
	    w->s->in.rep->agg.col_of[slot->event] == PROF_NONE)
		return;
	w->rc = html_walk_calls(&w->walk, w->k->d, w->s, stack);
	for (size_t i = 0; !w->rc && i < w->walk.steps.n; i++)
		w->count[w->walk.steps.v[i]] += c.count;
}

int html_weigh_calls(struct html_chooser *k, uint32_t source)
{
	struct html_source *s = &k->d->src[source];
	uint64_t most = (uint64_t)k->d->lanes.n * k->d->buckets;
	size_t n = s->in.rep->keys.nframes;
	struct weigher w = { .k = k, .s = s };

	s->call_of = malloc((n + 1) * sizeof(*s->call_of));
	w.count = calloc(n + 1, sizeof(*w.count));
	w.rc = s->call_of && w.count ? html_call_walk_init(&w.walk, k->d)
				     : -ERR_NOMEM;
	if (!w.rc)
		aggregate_each(&s->in.rep->agg, count_stack, &w);
	for (uint32_t i = 0; !w.rc && i < n; i++) {
		/* provisional value: there are calls */
		s->call_of[i] = w.count[i] ? 0 : PROF_NONE;
		if (w.count[i])
			k->call_weight[html_step_func(s, i)] +=
				w.count[i] < most ? w.count[i] : most;
	}
	html_call_walk_fini(&w.walk);
	free(w.count);
	return w.rc;
}

/* --- calls of the selected functions */

static bool call_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct html_lines *l = ctx;
	const struct html_call *a = &l->calls.v[id], *b = key;

	return a->func == b->func && a->file == b->file && a->line == b->line;
}

static uint32_t intern_call(struct html_lines *l, const struct html_call *c)
{
	uint64_t h = hash_mix((uint64_t)c->func << 32 | c->file, c->line);
	uint32_t id = idtab_find(&l->call_tab, h, call_eq, l, c);

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)l->calls.n;
	if (vec_push(&l->calls, *c) < 0 || idtab_add(&l->call_tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

int html_take_calls(struct html_chooser *k, uint32_t source)
{
	struct html_source *s = &k->d->src[source];
	const struct profile *p = s->in.rep->p;

	for (uint32_t i = 0; i < s->in.rep->keys.nframes; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		struct html_call c = { html_step_func(s, i), PROF_NONE,
				       f->line };

		if (s->call_of[i] == PROF_NONE)
			continue;
		s->call_of[i] = PROF_NONE;
		if (k->taken[c.func] != HTML_TAKEN_CALLS)
			continue;
		c.file = html_page_file(k->d, source, f->file,
					f->func < p->funcs.n
					? p->funcs.v[f->func].image : 0);
		s->call_of[i] = intern_call(&k->d->lines, &c);
		if (s->call_of[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}
