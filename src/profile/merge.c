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
	const struct table *t = format_table(SECTION_EVENTS);

	for (uint32_t i = 0; i < m->from->events.n; i++) {
		if (!merge_add(m, t, &m->from->events.v[i]))
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
				"combined: only the second measured %s",
				paths[0], paths[at], prof_event_actual(m->from, &m->from->events.v[i]));
		taken[id] = 1;
		m->maps->event[i] = id;
	}
	for (uint32_t k = 0; k < m->p->events.n; k++)
		if (!taken[k])
			return error_set(err, ERR_USAGE, "%s and %s cannot be "
				"combined: only the first measured %s",
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
		return error_set(err, ERR_UNSUPPORTED, "%s has %zu events: only "
				 "recordings with up to %d can be combined",
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
static uint64_t time_shift(const struct merge *m)
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

/* Adds the runs, or those in run_ok. */
static int take_runs(struct merge *m, uint64_t shift, const uint8_t *run_ok)
{
	const struct table *runs = format_table(SECTION_RUNS);
	const struct table *threads = format_table(SECTION_THREADS);

	for (size_t i = 0; i < m->from->runs.n; i++) {
		struct prof_run *r;

		if (run_ok && !run_ok[i])
			continue;
		r = merge_add(m, runs, &m->from->runs.v[i]);
		if (!r)
			return -ERR_NOMEM;
		r->start_ns += shift;
		r->end_ns += r->end_ns ? shift : 0;
		m->maps->run[i] = (uint32_t)m->p->runs.n - 1;
	}
	for (size_t i = 0; i < m->from->threads.n; i++) {
		struct prof_thread *t;

		if (m->maps->run[m->from->threads.v[i].run] == PROF_NONE)
			continue;
		t = merge_add(m, threads, &m->from->threads.v[i]);
		if (!t)
			return -ERR_NOMEM;
		t->start_ns += t->start_ns ? shift : 0;
		m->maps->thread[i] = (uint32_t)m->p->threads.n - 1;
	}
	return 0;
}

struct input {
	struct merge_maps maps;
	uint64_t shift;
	const uint8_t *thread_ok, *run_ok;	/* NULL: all */
};

static int take_tables(struct merge *m, struct input *in, size_t at,
		       const char *const *paths, struct idtab *images,
		       struct error *err)
{
	int rc = take_events(m, paths, at, err);

	if (rc)
		return rc;
	in->shift = time_shift(m);
	return take_runs(m, in->shift, in->run_ok) ?:
	       merge_facts(m) ?:
	       merge_images(m, images) ?:
	       merge_stacks(m) ?:
	       merge_totals(m, in->shift);
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
		rc = merge_maps_init(m.maps, m.from) ?:
		     take_tables(&m, &in[i], i, paths, &images, err);
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
			uint32_t thread = b.thread[i];
			struct prof_sample s = {
				.time_ns = b.time_ns[i] + in->shift,
				.thread = m->thread[thread],
				.cpu = b.cpu[i], .event = m->event[b.event[i]],
				.stack = m->node[b.stack[i]],
				.weight = b.weight[i],
				.more = b.more[i],
			};

			if (!in->thread_ok || in->thread_ok[thread])
				rc = writer_sample(w, &s, err);
		}
	reader_rewind(r);
	return rc;
}

static int write_all(int fd, const struct profile *p, struct reader *const *r,
		     const struct input *in, size_t n, struct error *err)
{
	struct writer *w = NULL;
	int rc = writer_open_fd(fd, "combined recordings", p, &w, err);

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

/* Makes one recording of the inputs, whose filters are set. */
static int make(struct reader *const *in, struct input *inputs,
		const char *const *paths, size_t n, struct reader **out,
		struct error *err)
{
	int fd = memfd_create("tally-merge", MFD_CLOEXEC);
	struct profile p;
	int rc = profile_init(&p);

	if (!rc && fd < 0)
		rc = error_errno(err, errno, "no memory to combine recordings");
	if (!rc)
		rc = take_all(&p, in, inputs, n, paths, err) ?:
		     write_all(fd, &p, in, inputs, n, err) ?:
		     reader_open_fd(fd, paths[0], UINT64_MAX, out, err);
	if (!rc)
		inherit(*out, in, paths, n);
	for (size_t i = 0; i < n; i++)
		merge_maps_fini(&inputs[i].maps);
	profile_fini(&p);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory while combining "
			 "recordings");
}

int recordings_merge(struct reader *const *in, const char *const *paths,
		     size_t n, struct reader **out, struct error *err)
{
	struct input *inputs = calloc(n + 1, sizeof(*inputs));
	int rc;

	*out = NULL;
	rc = inputs ? make(in, inputs, paths, n, out, err) : -ERR_NOMEM;
	free(inputs);
	return rc == -ERR_NOMEM ? no_memory(err) : rc;
}

int recording_select(struct reader *in, const uint8_t *thread_ok,
		     const char *path, struct reader **out, struct error *err)
{
	const struct profile *p = reader_profile(in);
	uint8_t *run_ok = calloc(p->runs.n + 1, 1);
	struct input input = { .thread_ok = thread_ok, .run_ok = run_ok };
	int rc = run_ok ? 0 : -ERR_NOMEM;

	*out = NULL;
	for (size_t i = 0; !rc && i < p->threads.n; i++)
		run_ok[p->threads.v[i].run] |= thread_ok[i];
	if (!rc)
		rc = make(&in, &input, &path, 1, out, err);
	free(run_ok);
	return rc == -ERR_NOMEM ? no_memory(err) : rc;
}
