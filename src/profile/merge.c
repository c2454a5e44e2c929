// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges several recordings: see merge.h. */
#include "profile/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/merge_internal.h"
#include "profile/writer.h"

enum { EVENTS_MAX = 4096 };	/* every pair is compared */

uint32_t *merge_map(size_t n)
{
	uint32_t *map = malloc((n + 1) * sizeof(*map));

	if (map)
		memset(map, 0xff, (n + 1) * sizeof(*map));
	return map;
}

uint32_t merge_str(struct merge *m, uint32_t id)
{
	if (m->maps->str[id] == PROF_NONE)
		m->maps->str[id] = profile_str(m->p, profile_cstr(m->from, id));
	m->failed |= m->maps->str[id] == PROF_NONE;
	return m->maps->str[id];
}

/* Returns the event of the result that measures the same and has no other
 * partner in this recording; prefers the one at the same position.  Returns
 * events.n if there is none. */
static uint32_t partner(const struct merge *m, uint32_t event,
			const uint8_t *taken)
{
	const struct prof_event *e = &m->from->events.v[event];
	size_t n = m->p->events.n;

	for (uint32_t i = 0; i <= n; i++) {
		uint32_t id = i ? i - 1 : event;

		if (id < n && !taken[id] &&
		    prof_same_event(m->p, &m->p->events.v[id], m->from, e))
			return id;
	}
	return (uint32_t)n;
}

static int first_events(struct merge *m)
{
	for (uint32_t i = 0; i < m->from->events.n; i++) {
		struct prof_event e = m->from->events.v[i];

		e.name = merge_str(m, e.name);
		e.actual = merge_str(m, e.actual);
		e.note = merge_str(m, e.note);
		if (vec_push(&m->p->events, e) < 0)
			return -ERR_NOMEM;
		m->maps->event[i] = i;
	}
	return 0;
}

/* Assigns each event to a distinct event of the result. */
static int match_events(struct merge *m, uint8_t *taken,
			const char *const *paths, size_t at, struct error *err)
{
	for (uint32_t i = 0; i < m->from->events.n; i++) {
		uint32_t id = partner(m, i, taken);

		if (id == m->p->events.n)
			return error_set(err, ERR_USAGE, "%s and %s cannot be "
				"taken together: only the second measured %s",
				paths[0], paths[at], prof_event_actual(m->from, &m->from->events.v[i]));
		taken[id] = 1;
		m->maps->event[i] = id;
	}
	for (uint32_t k = 0; k < m->p->events.n; k++)
		if (!taken[k])
			return error_set(err, ERR_USAGE, "%s and %s cannot be "
				"taken together: only the first measured %s",
				paths[0], paths[at], prof_event_actual(m->p, &m->p->events.v[k]));
	return 0;
}

/* Takes the first recording's events into the result; all others must have the
 * same events. */
static int take_events(struct merge *m, const char *const *paths, size_t at,
		       struct error *err)
{
	uint8_t *taken;
	int rc;

	if (m->from->events.n > EVENTS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "%s holds %zu events: "
				 "those with up to %d can be taken together",
				 paths[at], m->from->events.n, EVENTS_MAX);
	if (!at)
		return first_events(m);
	taken = calloc(m->p->events.n + 1, 1);
	rc = taken ? match_events(m, taken, paths, at, err) : -ERR_NOMEM;
	free(taken);
	return rc;
}

/* Returns the offset that shifts the recording's times so that they start where
 * the previous ones end.  The subtraction may wrap, and so does the
 * addition. */
static uint64_t put_behind(const struct merge *m)
{
	uint64_t start = UINT64_MAX, last = 0;

	for (size_t i = 0; i < m->from->runs.n; i++) {
		const struct prof_run *r = &m->from->runs.v[i];

		start = r->start_ns < start ? r->start_ns : start;
	}
	for (size_t i = 0; i < m->p->runs.n; i++) {
		const struct prof_run *r = &m->p->runs.v[i];
		uint64_t end = r->end_ns > r->start_ns ? r->end_ns : r->start_ns;

		last = end > last ? end : last;
	}
	return m->p->runs.n && start != UINT64_MAX ? last - start : 0;
}

static int take_runs(struct merge *m, uint64_t shift)
{
	for (size_t i = 0; i < m->from->runs.n; i++) {
		struct prof_run r = m->from->runs.v[i];

		r.command = merge_str(m, r.command);
		r.start_ns += shift;
		r.end_ns += r.end_ns ? shift : 0;
		m->maps->run[i] = (uint32_t)m->p->runs.n;
		if (vec_push(&m->p->runs, r) < 0)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->from->threads.n; i++) {
		struct prof_thread t = m->from->threads.v[i];

		t.run = m->maps->run[t.run];
		t.comm = merge_str(m, t.comm);
		t.start_ns += t.start_ns ? shift : 0;
		m->maps->thread[i] = (uint32_t)m->p->threads.n;
		if (vec_push(&m->p->threads, t) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static bool image_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct prof_image *a = &((const struct profile *)ctx)->images.v[id];
	const struct prof_image *b = key;

	return a->path == b->path && a->kind == b->kind &&
	       a->flags == b->flags && a->base == b->base &&
	       a->reason == b->reason &&
	       build_id_equal(&a->build_id, &b->build_id);
}

static uint64_t image_hash(const struct prof_image *im)
{
	uint64_t h = hash_mix((uint64_t)im->path << 32 | im->reason, im->base);

	h = hash_mix(h, (uint64_t)im->kind << 32 | im->flags);
	return hash_mix(h, hash_bytes(im->build_id.bytes, im->build_id.len));
}

/* Merges images; `tab` finds those of the result. */
static int take_images(struct merge *m, struct idtab *tab)
{
	for (size_t i = 0; i < m->from->images.n; i++) {
		struct prof_image im = m->from->images.v[i];
		uint64_t h;
		uint32_t id;

		im.path = merge_str(m, im.path);
		im.reason = merge_str(m, im.reason);
		im.debug_file = im.note = 0;	/* part of the symbol part */
		h = image_hash(&im);
		id = idtab_find(tab, h, image_eq, m->p, &im);
		if (id == IDTAB_NONE) {
			id = (uint32_t)m->p->images.n;
			if (vec_push(&m->p->images, im) < 0 ||
			    idtab_add(tab, h, id) < 0)
				return -ERR_NOMEM;
		}
		m->maps->image[i] = id;
	}
	return 0;
}

static int take_stacks(struct merge *m)
{
	const struct profile *f = m->from;
	uint32_t *end_of = merge_map(f->nodes.n);	/* row of `ends` for each
							 * node */
	bool good = true;

	if (!end_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->ends.n; i++)
		end_of[f->ends.v[i].node] = (uint32_t)i;
	for (size_t i = 0; i < f->locs.n; i++) {
		m->maps->loc[i] = profile_loc(
			m->p, m->maps->image[f->locs.v[i].image],
			f->locs.v[i].vaddr);
		good &= m->maps->loc[i] != PROF_NONE;
	}
	m->maps->node[0] = 0;
	for (size_t i = 1; good && i < f->nodes.n; i++) {
		const struct prof_node *n = &f->nodes.v[i];
		uint32_t parent = m->maps->node[n->parent], id;

		if (end_of[i] != PROF_NONE && prof_is_mark(n->loc)) {
			const struct prof_stack_end *e = &f->ends.v[end_of[i]];

			id = profile_end(m->p, n->loc, e->reason,
					 merge_row(m->maps->image, e->image));
		} else {
			id = profile_node(m->p, parent, prof_is_mark(n->loc)
					  ? n->loc : merge_row(m->maps->loc,
							       n->loc));
		}
		m->maps->node[i] = id;
		good = id != PROF_NONE;
	}
	free(end_of);
	return good ? 0 : -ERR_NOMEM;
}

static int take_totals(struct merge *m, uint64_t shift)
{
	for (size_t i = 0; i < m->from->losses.n; i++) {
		struct prof_loss l = m->from->losses.v[i];

		l.run = m->maps->run[l.run];
		l.event = merge_row(m->maps->event, l.event);
		l.time_ns += shift;
		if (vec_push(&m->p->losses, l) < 0)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->from->stats.n; i++) {
		struct prof_stat s = m->from->stats.v[i];

		s.run = m->maps->run[s.run];
		s.event = m->maps->event[s.event];
		if (vec_push(&m->p->stats, s) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static void maps_fini(struct merge_maps *m)
{
	uint32_t *all[] = { m->str, m->event, m->run, m->thread, m->image,
			    m->loc, m->node, m->func, m->frame };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static int maps_init(struct merge_maps *m, const struct profile *p)
{
	*m = (struct merge_maps){
		merge_map(p->str.str.n), merge_map(p->events.n),
		merge_map(p->runs.n), merge_map(p->threads.n),
		merge_map(p->images.n), merge_map(p->locs.n),
		merge_map(p->nodes.n), merge_map(p->funcs.n),
		merge_map(p->frames.n),
	};
	return m->str && m->event && m->run && m->thread && m->image &&
	       m->loc && m->node && m->func && m->frame ? 0 : -ERR_NOMEM;
}

struct input {
	struct merge_maps maps;
	uint64_t shift;
};

static int take_tables(struct merge *m, struct input *in, size_t at,
		       const char *const *paths, struct idtab *images,
		       struct error *err)
{
	int rc = take_events(m, paths, at, err);

	if (rc)
		return rc;
	in->shift = put_behind(m);
	rc = take_runs(m, in->shift);
	if (!rc)
		rc = merge_facts(m);
	if (!rc)
		rc = take_images(m, images);
	if (!rc)
		rc = take_stacks(m);
	if (!rc)
		rc = take_totals(m, in->shift);
	return rc;
}

/* Merges all tables, then all symbol parts, whose strings must come last. */
static int take_all(struct profile *p, struct reader *const *r,
		    struct input *in, size_t n, const char *const *paths,
		    struct error *err)
{
	struct merge m = { .p = p };
	struct idtab images = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		m.from = reader_profile(r[i]);
		m.maps = &in[i].maps;
		rc = maps_init(m.maps, m.from);
		if (!rc)
			rc = take_tables(&m, &in[i], i, paths, &images, err);
	}
	idtab_fini(&images);
	p->str_base = p->str.str.n;
	for (size_t i = 0; !rc && i < n; i++) {
		m.from = reader_profile(r[i]);
		m.maps = &in[i].maps;
		p->symbolized |= m.from->symbolized;
		rc = merge_symbols(&m);
	}
	if (!rc && m.failed)
		rc = -ERR_NOMEM;
	return rc ? rc : merge_finish_symbols(p);
}

static int put_samples(struct writer *w, struct reader *r,
		       const struct input *in, struct error *err)
{
	const struct merge_maps *m = &in->maps;
	struct sample_batch b;
	int rc = 0;

	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (!rc && reader_next(r, &b))
		for (size_t i = 0; !rc && i < b.n; i++) {
			struct prof_sample s = {
				.time_ns = b.time_ns[i] + in->shift,
				.thread = m->thread[b.thread[i]],
				.cpu = b.cpu[i], .event = m->event[b.event[i]],
				.stack = m->node[b.stack[i]],
				.weight = b.weight[i],
			};

			rc = writer_sample(w, &s, err);
		}
	reader_rewind(r);
	return rc;
}

static int write_all(int fd, const struct profile *p, struct reader *const *r,
		     const struct input *in, size_t n, struct error *err)
{
	struct writer *w = NULL;
	int rc = writer_open_fd(fd, "recordings taken together", p, &w, err);

	for (size_t i = 0; !rc && i < n; i++)
		rc = put_samples(w, r[i], &in[i], err);
	if (!rc)
		rc = writer_finish(w, err);
	writer_close(w);
	return rc;
}

/* Inherits properties of the inputs that are not stored in the new
 * recording. */
static void inherit(struct reader *out, struct reader *const *r,
			const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		reader_inherit_damage(out, reader_damage(r[i]), paths[i]);
		reader_profile(out)->foreign |= reader_profile(r[i])->foreign;
	}
}

int recordings_merge(struct reader *const *in, const char *const *paths,
		     size_t n, struct reader **out, struct error *err)
{
	struct input *inputs = calloc(n + 1, sizeof(*inputs));
	int fd = memfd_create("tally-merge", MFD_CLOEXEC);
	struct profile p;
	int rc = profile_init(&p);

	*out = NULL;
	if (!rc && !inputs)
		rc = -ERR_NOMEM;
	if (!rc && fd < 0)
		rc = error_errno(err, errno, "no memory to take recordings "
				 "together");
	if (!rc)
		rc = take_all(&p, in, inputs, n, paths, err);
	if (!rc)
		rc = write_all(fd, &p, in, inputs, n, err);
	if (!rc)
		rc = reader_open_fd(fd, paths[0], UINT64_MAX, out, err);
	if (!rc)
		inherit(*out, in, paths, n);
	if (rc == -ERR_NOMEM)
		error_set(err, ERR_NOMEM, "out of memory while taking "
			  "recordings together");
	for (size_t i = 0; inputs && i < n; i++)
		maps_fini(&inputs[i].maps);
	free(inputs);
	profile_fini(&p);
	if (fd >= 0)
		close(fd);
	return rc;
}
