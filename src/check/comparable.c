// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which recordings may be compared, and in which way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "check/check_internal.h"

#define LOST_MAX 0.01
/* Cost of a whole run by the same program on the same machine at different times, as a
 * standard deviation: 1.4 to 8 % were measured. */
#define SESSION_SD 0.045

static const struct prof_event *event_of(const struct check_file *f)
{
	return &f->p->events.v[f->event];
}

static int refuse_file(const struct check_file *f, bool may_be_empty,
		       struct error *err)
{
	const struct reader_damage *d = reader_damage(f->reader);
	double all = (double)f->samples + (double)f->lost;

	if (d->incomplete || d->bad_chunks || d->bad_samples)
		return error_set(err, ERR_FORMAT, "%s: is incomplete, so its "
				 "cost cannot be compared: %s",
				 f->path, d->message);
	if (!f->p->runs.n || (!f->samples && !may_be_empty))
		return error_set(err, ERR_FORMAT, "%s: has no samples of "
				 "%s", f->path,
				 profile_cstr(f->p, event_of(f)->actual));
	if ((double)f->lost > LOST_MAX * all)
		return error_set(err, ERR_FORMAT, "%s: %.1f%% of its samples "
				 "were lost; more than 1%% makes shares "
				 "wrong: record again with a lower rate (-F) "
				 "or fewer events", f->path,
				 100 * (double)f->lost / all);
	return 0;
}

/* Compares the bits of the configuration, because one event name can denote
 * different events on different machines. */
static bool same_config(const struct prof_event *a, const struct prof_event *b)
{
	return a->type == b->type && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2;
}

static const char *modes(const struct prof_event *e)
{
	return e->exclude_kernel ? " (user only)"
	     : e->exclude_user ? " (kernel only)" : "";
}

static int refuse_pair(const struct check_file *a, const struct check_file *b,
		       struct error *err)
{
	const struct prof_event *x = event_of(a), *y = event_of(b);

	if (a->side != b->side && !strcmp(a->path, b->path))
		return error_set(err, ERR_USAGE, "%s is on both sides",
				 a->path);
	if (!prof_same_event(a->p, x, b->p, y) || !same_config(x, y))
		return error_set(err, ERR_USAGE, "%s samples %s%s and %s %s%s: "
				 "different events cannot be compared",
				 a->path, prof_event_actual(a->p, x), modes(x),
				 b->path, prof_event_actual(b->p, y), modes(y));
	if (a->samples && b->samples && a->weighted != b->weighted)
		return error_set(err, ERR_USAGE, "%s records the period of "
				 "each sample and %s does not: they cannot be "
				 "compared", a->weighted ? a->path : b->path,
				 a->weighted ? b->path : a->path);
	return 0;
}

static int note_rates(struct check *c)
{
	const struct check_file *f = c->runs.files.v;

	for (size_t i = 1; i < c->runs.files.n; i++) {
		const struct prof_event *x = event_of(&f[0]);
		const struct prof_event *y = event_of(&f[i]);

		if (x->freq != y->freq || x->period != y->period)
			return check_note(c, "sampling rates differ (%s, %s): "
					  "costs are scaled by the periods",
					  f[0].path, f[i].path);
	}
	return 0;
}

/* Facts that must agree so that absolute costs are comparable. */
static const struct {
	const char *key, *words;
} facts[] = {
	{ "arch", "architecture" }, { "cpu", "processor" },
	{ "cpus_online", "number of processors" }, { "kernel", "kernel" },
};

static int note_machine(struct check *c, const char *what, const char *x,
			const char *y)
{
	struct buf b = { 0 };
	char *text;

	buf_printf(&b, "%s: %s, %s", what, *x ? x : "unknown",
		   *y ? y : "unknown");
	text = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_fini(&b);
	return text && vec_push(&c->machine, text) == 0 ? 0 : -ERR_NOMEM;
}

static int compare_machines(struct check *c)
{
	const struct check_file *first = &c->runs.files.v[0];
	int rc = 0;

	for (size_t k = 0; k < COUNT(facts); k++)
		for (size_t i = 1; !rc && i < c->runs.files.n; i++) {
			const struct check_file *f = &c->runs.files.v[i];
			const char *x = profile_fact(first->p, facts[k].key);
			const char *y = profile_fact(f->p, facts[k].key);

			if (!strcmp(x, y))
				continue;
			rc = note_machine(c, facts[k].words, x, y);
			c->o.judge.same_machine = false;
			break;
		}
	return rc;
}

/* Returns whether the runs of the sides alternate in pairs (also B A, A B). */
static bool is_interleaved(const struct check_runs *r)
{
	if (r->nbase != r->nnew || r->nbase < 2)
		return false;
	for (size_t i = 0; i < r->nbase; i++) {
		const struct check_run *a = &r->runs.v[i];
		const struct check_run *b = &r->runs.v[r->nbase + i];
		uint64_t end = a->start_ns > b->start_ns ? a->start_ns
							 : b->start_ns;
		uint64_t next_a, next_b;

		if (!a->start_ns || a->start_ns == b->start_ns)
			return false;
		if (i + 1 == r->nbase)
			return true;
		next_a = a[1].start_ns;
		next_b = b[1].start_ns;
		if (next_a <= end || next_b <= end)
			return false;
	}
	return true;
}

static int note_runs(struct check *c)
{
	size_t failed = 0, throttled = 0;
	int rc = 0;

	for (size_t i = 0; i < c->runs.runs.n; i++) {
		int st = check_run_status(c, i);

		failed += st > 0 && (!WIFEXITED(st) || WEXITSTATUS(st));
	}
	for (size_t i = 0; i < c->runs.files.n; i++)
		throttled += c->runs.files.v[i].throttled > 0;
	if (failed)
		rc = check_note(c, "%zu run%s failed and may have done less "
				"work", failed, plural(failed, "s"));
	if (!rc && throttled)
		rc = check_note(c, "the kernel throttled sampling in %zu "
				"recording%s: their costs are underestimated",
				throttled, plural(throttled, "s"));
	return rc;
}

int check_runs_usable(const struct check_runs *c, bool new_may_be_empty,
		      struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->files.n; i++)
		rc = refuse_file(&c->files.v[i], new_may_be_empty &&
				 c->files.v[i].side == CHECK_NEW, err);
	for (size_t i = 0; !rc && i < c->runs.n; i++) {
		const struct check_run *r = &c->runs.v[i];

		if (!r->samples && !(new_may_be_empty && r->side == CHECK_NEW))
			rc = error_set(err, ERR_FORMAT, "%s: run %u has no "
				       "samples", c->files.v[r->file].path,
				       r->run + 1);
	}
	return rc;
}

int check_comparable(struct check *c, struct error *err)
{
	const struct check_file *f = c->runs.files.v;
	/* a new side that did nothing is broken */
	int rc = check_runs_usable(&c->runs, !c->o.any_outcome, err);

	for (size_t i = 1; !rc && i < c->runs.files.n; i++)
		for (size_t k = 0; !rc && k < i; k++)
			rc = refuse_pair(&f[k], &f[i], err);
	if (rc < 0)
		return rc;
	c->interleaved = is_interleaved(&c->runs);
	c->o.judge.paired = c->interleaved;
	c->o.judge.session = c->interleaved ? 0 : SESSION_SD;
	c->is_time = event_of(&f[0])->unit == PROF_UNIT_NS;
	if (compare_machines(c) < 0 || note_rates(c) < 0 || note_runs(c) < 0)
		return error_nomem(err);
	return 0;
}
