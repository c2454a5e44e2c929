// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes data quality, and writes it as JSON (as text: quality_text.c). */
#include "views/quality/quality.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"

struct tally_up {
	struct quality *t;
	const struct profile *p;
	uint32_t *end;		/* by node: 0, or 1 + the number of its outer end */
	struct quality_image *images;	/* by image */
};

/* Adds time that the kernel counted and no sample represents. */
static void add_unseen(struct quality *t, const char *image, uint64_t weight)
{
	if (!strcmp(image, PLACE_BEFORE_FIRST))
		t->before_first += weight;
	else if (!strcmp(image, PLACE_NOT_SAMPLED))
		t->not_sampled += weight;
}

static void add_stack(void *ctx, uint32_t stack, const struct slot *slot,
		      struct cell c)
{
	struct tally_up *u = ctx;
	uint64_t count = c.count;
	uint32_t loc = u->p->nodes.v[stack].loc, frame;
	struct quality_image *im;

	(void)slot;
	if (!count)
		return;
	u->t->shown += count;
	u->t->weight += c.weight;
	if (u->end[stack])
		u->t->ends.v[u->end[stack] - 1].samples += count;
	if (!stack || prof_is_mark(loc)) {
		u->t->frameless += count;
		return;
	}
	im = &u->images[u->p->locs.v[loc].image];
	im->samples += count;
	if (prof_is_kernel(&u->p->images.v[u->p->locs.v[loc].image]))
		u->t->in_kernel += c.weight;
	if (u->p->images.v[u->p->locs.v[loc].image].kind == PROF_IMAGE_UNKNOWN)
		add_unseen(u->t, profile_cstr(u->p, u->p->images.v[
					u->p->locs.v[loc].image].path),
			   c.weight);
	frame = profile_loc_frame(u->p, loc);
	if (frame == PROF_NONE) {
		im->unresolved += count;
		u->t->unresolved += count;
	} else if (!u->p->frames.v[frame].line) {
		im->lineless += count;
	}
}

/* Finds the end of each stack. */
static int find_ends(struct tally_up *u)
{
	const struct prof_node *nodes = u->p->nodes.v;
	struct quality *t = u->t;

	for (size_t i = 1; i < u->p->nodes.n; i++) {
		struct stack_end e = { nodes[i].loc, PROF_END_UNKNOWN,
				       PROF_NONE, 0 };

		if (!prof_is_mark(nodes[i].loc)) {
			u->end[i] = u->end[nodes[i].parent];
			continue;
		}
		if (vec_push(&t->ends, e) < 0)
			return -ERR_NOMEM;
		u->end[i] = (uint32_t)t->ends.n;
	}
	for (size_t i = 0; i < u->p->ends.n; i++) {
		const struct prof_stack_end *e = &u->p->ends.v[i];

		if (!prof_is_mark(nodes[e->node].loc))
			continue;
		t->ends.v[u->end[e->node] - 1].reason = e->reason;
		t->ends.v[u->end[e->node] - 1].image = e->image;
	}
	return 0;
}

static int more_samples(const void *x, const void *y)
{
	const struct stack_end *a = x, *b = y;

	return descending(a->samples, b->samples) ?:
	       ascending(a->mark, b->mark) ?:
	       ascending(a->reason, b->reason) ?:
	       ascending(a->image, b->image);
}

/* Sums the ends that samples have, and drops the others. */
static void sum_ends(struct quality *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->ends.n; i++) {
		const struct stack_end *e = &t->ends.v[i];

		if (!e->samples)
			continue;
		if (e->mark == PROF_MARK_CUT)
			t->cut += e->samples;
		else if (e->mark == PROF_MARK_READ_LATE)
			t->later += e->samples;
		else if (e->mark == PROF_MARK_HEURISTIC)
			t->guessed += e->samples;
		else
			t->broken += e->samples;
		t->ends.v[n++] = *e;
	}
	t->ends.n = n;
	sort_rows(t->ends.v, n, more_samples);
}

static int by_samples(const void *x, const void *y)
{
	const struct quality_image *a = x, *b = y;

	return descending(a->samples, b->samples) ?:
	       ascending(a->image, b->image);
}

static int count_images(struct quality *t, const struct aggregate *a)
{
	const struct profile *p = t->p;
	struct tally_up u = { .t = t, .p = p };
	int rc = -ERR_NOMEM;

	u.end = calloc(p->nodes.n + 1, sizeof(*u.end));
	u.images = calloc(p->images.n + 1, sizeof(*u.images));
	if (u.end && u.images)
		rc = find_ends(&u);
	if (!rc) {
		aggregate_each(a, add_stack, &u);
		sum_ends(t);
	}
	for (size_t i = 0; !rc && i < p->images.n; i++) {
		u.images[i].image = (uint32_t)i;
		if (u.images[i].samples)
			rc = vec_push(&t->images, u.images[i]);
	}
	vec_sort(&t->images, by_samples);
	free(u.end);
	free(u.images);
	return rc;
}

static void count_events(struct quality *t, const struct aggregate *a)
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
		struct quality_event *e = &t->events[s->event];

		e->wanted += s->wanted;
		e->value += s->value;
		e->enabled_ns += s->enabled_ns;
		e->running_ns += s->running_ns;
	}
}

/* Returns whether there are more samples than the sampling rate explains.  With timers,
 * the time of a program before its first tick is a sample, however short it is. */
static bool rate_is_exceeded(const struct quality *t, uint64_t wanted, uint64_t found)
{
	enum { FEW = 10 };

	return !strcmp(profile_fact(t->p, "source"), PROF_SOURCE_TIMER) &&
	       found > wanted + wanted / 8 + FEW;
}

/* Computes missed samples.  Sampling rates are kept on average, so samples
 * beyond the expected number were expected, too. */
static void count_missed(struct quality *t)
{
	for (size_t i = 0; i < t->p->events.n; i++) {
		struct quality_event *e = &t->events[i];
		uint64_t found = e->got + e->lost;

		if (rate_is_exceeded(t, e->wanted, found))
			e->wanted = 0;
		if (!e->wanted)
			continue;
		if (e->wanted < found)
			e->wanted = found;
		e->missed = e->wanted - found;
		t->missed += e->missed;
	}
}

static void measure_time(struct quality *t, const struct aggregate *a)
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

int quality_build(struct quality *t, struct reader *r, const struct aggregate *a,
		  struct error *err)
{
	*t = (struct quality){ .p = reader_profile(r),
			     .damage = reader_damage(r) };
	t->events = calloc(t->p->events.n + 1, sizeof(*t->events));
	if (!t->events || count_images(t, a) < 0) {
		quality_fini(t);
		return error_nomem(err);
	}
	count_events(t, a);
	count_missed(t);
	measure_time(t, a);
	return 0;
}

void quality_fini(struct quality *t)
{
	free(t->events);
	vec_fini(&t->images);
	vec_fini(&t->ends);
	*t = (struct quality){ 0 };
}

/* --- as JSON, at the head of every view */

/* maximum entries written; only hostile files have more */
enum { ENVS_LISTED = 1000 };

static void json_event(const struct quality *t, size_t i, struct json *j)
{
	const struct prof_event *e = &t->p->events.v[i];
	const struct quality_event *te = &t->events[i];

	json_object(j, NULL);
	json_str(j, "name", profile_cstr(t->p, e->name));
	json_str(j, "actual", profile_cstr(t->p, e->actual));
	json_str(j, "note", profile_cstr(t->p, e->note));
	json_str(j, "unit", e->unit == PROF_UNIT_NS ? "ns" : "count");
	json_uint(j, "precise", e->precise);
	json_bool(j, "user", !e->exclude_user);
	json_bool(j, "kernel", !e->exclude_kernel);
	json_uints(j, { "frequency", e->freq }, { "period", e->period },
		   { "wanted", te->wanted }, { "got", te->got },
		   { "lost", te->lost }, { "missed", te->missed },
		   { "throttled", te->throttled }, { "weight", te->weight },
		   { "counted", te->value }, { "enabled_ns", te->enabled_ns },
		   { "running_ns", te->running_ns });
	json_end(j);
}

static void json_build_id(struct json *j, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1];

	text_hex(hex, id->bytes, id->len <= BUILD_ID_MAX ? id->len
							 : BUILD_ID_MAX);
	json_str(j, "build_id", hex);
}

static void json_image(const struct quality *t, const struct quality_image *ti,
		       struct json *j)
{
	const struct prof_image *im = &t->p->images.v[ti->image];

	json_object(j, NULL);
	json_str(j, "path", profile_cstr(t->p, im->path));
	json_build_id(j, &im->build_id);
	json_uint(j, "samples", ti->samples);
	json_uint(j, "unresolved", ti->unresolved);
	json_str(j, "note", profile_cstr(t->p, im->note));
	json_end(j);
}

static void json_damage(const struct quality *t, struct json *j)
{
	const struct reader_damage *d = t->damage;

	json_object(j, "damage");
	json_bool(j, "incomplete", d->incomplete);
	json_uint(j, "bad_chunks", d->bad_chunks);
	json_uint(j, "bad_samples", d->bad_samples);
	json_str(j, "message", d->message);
	json_end(j);
}

/* Returns whether no later entry sets the same key. */
static bool is_last(const struct profile *p, size_t i, size_t n)
{
	const struct prof_env *e = &p->envs.v[i];

	for (size_t k = i + 1; k < n; k++)
		if (p->envs.v[k].run == e->run && p->envs.v[k].key == e->key)
			return false;
	return true;
}

static void json_environment(const struct quality *t, struct json *j)
{
	size_t n = t->p->envs.n < ENVS_LISTED ? t->p->envs.n : ENVS_LISTED;

	json_object(j, "environment");
	for (size_t i = 0; i < n; i++) {
		const struct prof_env *e = &t->p->envs.v[i];

		if (e->run == PROF_NONE && is_last(t->p, i, n))
			json_str(j, profile_cstr(t->p, e->key),
				 profile_cstr(t->p, e->value));
	}
	json_end(j);
}

static void json_samples(const struct quality *t, struct json *j)
{
	json_object(j, "samples");
	json_uints(j, { "got", t->got }, { "selected", t->shown },
		   { "lost", t->lost }, { "missed", t->missed },
		   { "throttled", t->throttled }, { "cut_stacks", t->cut },
		   { "broken_stacks", t->broken },
		   { "without_frames", t->frameless },
		   { "unresolved", t->unresolved });
	json_end(j);
}

void quality_json(const struct quality *t, struct json *j)
{
	const struct profile *p = t->p;

	json_str(j, "command",
		 p->runs.n ? profile_cstr(p, p->runs.v[0].command) : "");
	json_uints(j, { "runs", p->runs.n },
		   { "start_wall_ns", p->runs.n ? p->runs.v[0].start_wall_ns : 0 },
		   { "duration_ns", t->duration_ns });
	json_bool(j, "complete", !t->running && !t->damage->incomplete);
	json_environment(t, j);
	json_samples(t, j);
	quality_time_json(t, j);
	quality_stacks_json(t, j);
	json_array_lines(j, "events");
	for (size_t i = 0; i < p->events.n; i++)
		json_event(t, i, j);
	json_end(j);
	json_array_lines(j, "images");
	for (size_t i = 0; i < t->images.n; i++)
		json_image(t, &t->images.v[i], j);
	json_end(j);
	json_damage(t, j);
}
