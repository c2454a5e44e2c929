// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Begins another file of the same recording.  It has only the threads, images,
 * locations and stacks of its own samples, so that memory and files do not grow with
 * what earlier files contained.
 */
#include <stdlib.h>
#include <string.h>

#include "record/collect/collector.h"

/* The tables of the file before, and the way from them into the new ones. */
struct carry {
	struct collector *c;
	const struct profile *old;
	const uint32_t *images;		/* recorded image by old row */
	VEC(uint32_t) path;		/* nodes of the current stack, innermost first */
	bool failed;
};

static uint32_t carry_image(struct carry *k, uint32_t row)
{
	return row == PROF_NONE ? row : images_row(&k->c->images, k->images[row]);
}

static uint32_t carry_loc(struct carry *k, uint32_t loc)
{
	const struct prof_loc *l = &k->old->locs.v[loc];
	uint32_t row = carry_image(k, l->image);

	return row == PROF_NONE ? row : profile_loc(k->c->profile, row, l->vaddr);
}

static uint32_t carry_mark(struct carry *k, uint32_t node, uint32_t mark)
{
	struct prof_stack_end none = { node, PROF_END_UNKNOWN, PROF_NONE };
	const struct prof_stack_end *end = &none;

	for (size_t i = 0; i < k->old->ends.n; i++)
		if (k->old->ends.v[i].node == node)
			end = &k->old->ends.v[i];
	return profile_end(k->c->profile, mark, end->reason,
			   carry_image(k, end->image));
}

/* Returns the new node of an old one; PROF_NONE when out of memory. */
static uint32_t carry_node(struct carry *k, uint32_t node)
{
	const struct prof_node *v = k->old->nodes.v;
	uint32_t at = 0;

	k->path.n = 0;
	for (; node; node = v[node].parent)
		if (vec_push(&k->path, node) < 0)
			return PROF_NONE;
	for (size_t i = k->path.n; i-- > 0 && at != PROF_NONE;) {
		uint32_t from = k->path.v[i], loc = v[from].loc;

		if (prof_is_mark(loc)) {
			at = carry_mark(k, from, loc);
			continue;
		}
		loc = carry_loc(k, loc);
		at = loc == PROF_NONE ? loc
				      : profile_node(k->c->profile, at, loc);
	}
	return at;
}

/* Replaces the ids of a stack and its innermost location. */
static void carry_stack(struct carry *k, uint32_t *stack, uint32_t *loc)
{
	*stack = carry_node(k, *stack);
	*loc = carry_loc(k, *loc);
	k->failed |= *stack == PROF_NONE || *loc == PROF_NONE;
}

/* Open waits end in the new file. */
static int carry_waits(struct carry *k)
{
	struct collector *c = k->c;

	for (size_t i = 0; i < c->waits.threads.n && !k->failed; i++) {
		struct waiter *t = &c->waits.threads.v[i];

		if (t->tid && t->sampled)
			carry_stack(k, &t->left.stack, &t->left.loc);
		if (t->tid && t->sample.to_ns)
			carry_stack(k, &t->sample.stack, &t->sample.loc);
		for (int l = 0; t->tid && l < WAIT_POLLS && !k->failed; l++)
			if (t->polls[l].to_ns)
				carry_stack(k, &t->polls[l].stack,
					    &t->polls[l].loc);
	}
	for (size_t i = 0; i < c->polled_waits.threads.n && !k->failed; i++) {
		struct polled_thread *t = &c->polled_waits.threads.v[i];

		if (t->tid && t->asleep.time_ns && t->asleep.looked)
			carry_stack(k, &t->asleep.stack, &t->asleep.loc);
	}
	vec_fini(&k->path);
	return k->failed ? -ERR_NOMEM : 0;
}

/* Strings have other numbers in the new file. */
static int carry_cgroups(struct collector *c, const struct profile *old)
{
	for (size_t i = 0; i < c->processes.procs.n; i++) {
		struct process *p = &c->processes.procs.v[i];

		if (p->cgroup == PROF_STR_EMPTY)
			continue;
		p->cgroup = profile_str(c->profile,
					profile_cstr(old, p->cgroup));
		if (p->cgroup == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

void collector_forked(struct collector *c)
{
	c->forked = true;
	profile_end_lookup(c->profile);
	stacks_fini(&c->stacks);
	unwinder_forked(&c->unwinder);
}

uint64_t collector_table_bytes(const struct collector *c)
{
	uint64_t bytes = profile_table_bytes(c->profile) +
			 c->held.rows.n * sizeof(*c->held.rows.v);

	for (size_t i = 0; i < c->closer.parts.n; i++)
		bytes += profile_table_bytes(&c->closer.parts.v[i].names);
	return bytes;
}

int collector_next_file(struct collector *c, struct error *err)
{
	struct profile old;
	struct carry k = { .c = c, .old = &old };
	uint32_t *images;
	int rc = 0;

	if (profile_restart(c->profile, &old) < 0)
		return collector_nomem(err);
	images = c->images.by_row.v;
	memset(&c->images.by_row, 0, sizeof(c->images.by_row));
	images_forget_rows(&c->images);
	processes_forget_rows(&c->processes);
	collector_forget_tasks(c);
	image_closer_forget(&c->closer);
	stacks_forget(&c->stacks);
	deep_forget_nodes(&c->unwinder.deep);
	held_forget_rows(&c->held);
	c->self_samples.n = 0;
	u64map_clear(&c->wait_samples.kinds);
	k.images = images;
	rc = carry_cgroups(c, &old);
	if (!rc && !old.nodes_gone)
		rc = carry_waits(&k);
	profile_fini(&old);
	free(images);
	return rc < 0 ? collector_nomem(err) : 0;
}
