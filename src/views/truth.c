// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be trusted: see truth.h; how it is written: truth_text.c. */
#include "views/truth.h"

#include <stdlib.h>
#include <string.h>

struct tally_up {
	struct truth *t;
	const struct profile *p;
	uint8_t *mark;		/* by node: 0, or 1 + mark at its outer end */
	struct truth_image *images;	/* by image */
};

static void add_stack(struct tally_up *u, uint32_t stack, uint64_t count)
{
	uint32_t loc = u->p->nodes.v[stack].loc, frame;
	struct truth_image *im;

	if (!count)
		return;
	u->t->shown += count;
	if (u->mark[stack] == 1 + (PROF_MARK_CUT - PROF_MARK))
		u->t->cut += count;
	else if (u->mark[stack])
		u->t->broken += count;
	if (!stack || prof_is_mark(loc)) {
		u->t->frameless += count;
		return;
	}
	im = &u->images[u->p->locs.v[loc].image];
	im->samples += count;
	frame = profile_loc_frame(u->p, loc);
	if (frame == PROF_NONE) {
		im->unresolved += count;
		u->t->unresolved += count;
	} else if (!u->p->frames.v[frame].line) {
		im->lineless += count;
	}
}

static void add_stacks(struct tally_up *u, const struct aggregate *a)
{
	const struct prof_node *nodes = u->p->nodes.v;

	for (size_t i = 1; i < u->p->nodes.n; i++)
		u->mark[i] = prof_is_mark(nodes[i].loc)
				     ? (uint8_t)(1 + nodes[i].loc - PROF_MARK)
				     : u->mark[nodes[i].parent];
	for (size_t s = 0; s < a->slots.n; s++) {
		const struct slot *slot = &a->slots.v[s];

		for (size_t i = 0; slot->dense && i < a->leaves.n; i++)
			add_stack(u, a->leaves.v[i],
				  slot_cell(a, slot, a->leaves.v[i]).count);
		for (size_t k = 0; k < slot->n; k++) {
			const struct sparse_cell *c =
				&a->sparse.v[slot->first + k];

			add_stack(u, c->stack, c->c.count);
		}
	}
}

static int by_samples(const void *x, const void *y)
{
	const struct truth_image *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->image < b->image ? -1 : a->image > b->image;
}

static int count_images(struct truth *t, const struct aggregate *a)
{
	const struct profile *p = t->p;
	struct tally_up u = { .t = t, .p = p };
	int rc = -ERR_NOMEM;

	u.mark = calloc(p->nodes.n + 1, 1);
	u.images = calloc(p->images.n + 1, sizeof(*u.images));
	if (u.mark && u.images) {
		add_stacks(&u, a);
		rc = 0;
	}
	for (size_t i = 0; !rc && i < p->images.n; i++) {
		u.images[i].image = (uint32_t)i;
		if (u.images[i].samples)
			rc = vec_push(&t->images, u.images[i]);
	}
	if (t->images.n)
		qsort(t->images.v, t->images.n, sizeof(*t->images.v),
		      by_samples);
	free(u.mark);
	free(u.images);
	return rc;
}

static void count_events(struct truth *t, const struct aggregate *a)
{
	const struct profile *p = t->p;

	for (size_t i = 0; i < p->events.n; i++) {
		t->events[i].got = a->got[i].count;
		t->events[i].weight = a->got[i].weight;
		t->got += a->got[i].count;
	}
	for (size_t i = 0; i < p->losses.n; i++) {
		const struct prof_loss *l = &p->losses.v[i];
		bool lost = l->kind == PROF_LOST;

		*(lost ? &t->lost : &t->throttled) += l->count;
		if (l->event == PROF_NONE)
			continue;
		if (lost)
			t->events[l->event].lost += l->count;
		else
			t->events[l->event].throttled += l->count;
	}
	for (size_t i = 0; i < p->stats.n; i++) {
		const struct prof_stat *s = &p->stats.v[i];
		struct truth_event *e = &t->events[s->event];

		e->wanted += s->wanted;
		e->value += s->value;
		e->enabled_ns += s->enabled_ns;
		e->running_ns += s->running_ns;
	}
}

static void measure_time(struct truth *t, const struct aggregate *a)
{
	const struct profile *p = t->p;

	for (size_t i = 0; i < p->runs.n; i++) {
		const struct prof_run *r = &p->runs.v[i];
		uint64_t end = r->end_ns;

		if (!end) {
			t->running = true;
			end = i + 1 < p->runs.n ? p->runs.v[i + 1].start_ns
						: a->last_ns;
		}
		if (end > r->start_ns)
			t->duration_ns += end - r->start_ns;
	}
}

int truth_build(struct truth *t, struct reader *r, const struct aggregate *a,
		struct error *err)
{
	*t = (struct truth){ .p = reader_profile(r),
			     .damage = reader_damage(r) };
	t->events = calloc(t->p->events.n + 1, sizeof(*t->events));
	if (!t->events || count_images(t, a) < 0) {
		truth_fini(t);
		return error_set(err, ERR_NOMEM, "out of memory");
	}
	count_events(t, a);
	measure_time(t, a);
	return 0;
}

void truth_fini(struct truth *t)
{
	free(t->events);
	vec_fini(&t->images);
	*t = (struct truth){ 0 };
}
