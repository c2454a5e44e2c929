// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiles filters and applies them to samples. */
#include "views/query/select.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/nearest.h"
#include "profile/thread_labels.h"
#include "views/query/match.h"

static const char *parse_number(const char *s, uint64_t *out)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return errno ? NULL : end;
}

int range_list_parse(const char *text, const char *what,
		     struct range_list *out, struct error *err)
{
	const char *s = text;

	for (;;) {
		struct range r;

		s = parse_number(s, &r.first);
		if (!s)
			break;
		r.last = r.first;
		if (*s == '-')
			s = parse_number(s + 1, &r.last);
		if (!s || r.last < r.first || (*s && *s != ','))
			break;
		if (vec_push(out, r) < 0)
			return error_nomem(err);
		if (!*s)
			return 0;
		s++;
	}
	return error_set(err, ERR_USAGE,
			 "%s '%s': use numbers and ranges such as 1,4-7", what,
			 text);
}

bool range_list_has(const struct range_list *l, uint64_t x)
{
	for (size_t i = 0; i < l->n; i++)
		if (x >= l->v[i].first && x <= l->v[i].last)
			return true;
	return false;
}

struct span_ns {
	uint64_t start, end;
};

static int time_usage(const char *text, struct error *err)
{
	return error_set(err, ERR_USAGE, "--time '%s': use START,END in seconds "
			 "since the start of the recording (1.5,3 or 200ms,1s) or "
			 "in %% of it (10%%,20%%)", text);
}

/* Parses one side of the slice from word[0..n). */
static int parse_side(const char *word, size_t n, struct span_ns whole,
		      uint64_t *out)
{
	bool share = n && word[n - 1] == '%', bare;
	double v;

	if (!duration_parse(word, n - share, &v, &bare) || (share && !bare))
		return -ERR_USAGE;
	if (share && !whole.end)
		return -ERR_NOTFOUND;
	v *= share ? (double)(whole.end - whole.start) / 100 : 1e9;
	*out = v < 1e18 ? whole.start + (uint64_t)llround(v) : UINT64_MAX;
	return 0;
}

int timeslice_parse(const char *text, uint64_t start_ns, uint64_t end_ns,
		    uint64_t *from, uint64_t *to, struct error *err)
{
	struct span_ns whole = { start_ns,
				 end_ns > start_ns ? end_ns : 0 };
	const char *comma = strchr(text, ',');
	int rc = 0;

	*from = 0;
	*to = UINT64_MAX;
	/* perf writes a slice in percent as 10%-20% */
	if (!comma && strstr(text, "%-"))
		comma = strstr(text, "%-") + 1;
	if (!comma)
		return time_usage(text, err);
	if (comma > text)
		rc = parse_side(text, (size_t)(comma - text), whole, from);
	if (!rc && comma[1])
		rc = parse_side(comma + 1, strlen(comma + 1), whole, to);
	if (rc == -ERR_NOTFOUND)
		return error_set(err, ERR_USAGE,
				 "--time '%s': the file does not say when the "
				 "recording ended; give seconds instead of %%",
				 text);
	if (rc < 0)
		return time_usage(text, err);
	if (*from >= *to)
		return error_set(err, ERR_USAGE,
				 "--time '%s': the slice ends before it starts",
				 text);
	return 0;
}

/* Returns whether the text matches the whole item, or one of its
 * comma-separated words. */
static bool item_matches(const char *item, const char *text)
{
	char *copy, *word, *save;
	bool hit = match_word(item, text);

	if (hit || !strchr(item, ','))
		return hit;
	copy = strdup(item);
	if (!copy)
		return false;
	for (word = strtok_r(copy, ",", &save); word && !hit;
	     word = strtok_r(NULL, ",", &save))
		hit = match_word(word, text);
	free(copy);
	return hit;
}

static bool list_matches(const struct name_list *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (item_matches(l->v[i], text))
			return true;
	return false;
}

uint64_t profile_start_ns(const struct profile *p)
{
	uint64_t t = UINT64_MAX;

	for (size_t i = 0; i < p->runs.n; i++)
		if (p->runs.v[i].start_ns < t)
			t = p->runs.v[i].start_ns;
	return p->runs.n ? t : 0;
}

uint64_t profile_end_ns(const struct profile *p)
{
	uint64_t t = 0;

	for (size_t i = 0; i < p->runs.n; i++) {
		if (!p->runs.v[i].end_ns)
			return 0;
		if (p->runs.v[i].end_ns > t)
			t = p->runs.v[i].end_ns;
	}
	return t;
}

struct number_filters {
	struct range_list pids, tids, runs;
};

static bool thread_passes(const struct profile *p, const struct prof_thread *t,
			  const struct select_spec *spec,
			  const struct number_filters *f)
{
	if (spec->comms.n && !list_matches(&spec->comms,
					   profile_cstr(p, t->comm)))
		return false;
	return (!f->pids.n || range_list_has(&f->pids, t->pid)) &&
	       (!f->tids.n || range_list_has(&f->tids, t->tid)) &&
	       (!f->runs.n || range_list_has(&f->runs, t->run + 1ull));
}

/* Splits "NAME=VALUE" or "NAME!=VALUE" and writes the name to `name`; returns
 * VALUE or NULL. */
static const char *split_label(const char *text, struct buf *name, bool *negated)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return NULL;
	*negated = equals[-1] == '!';
	buf_reset(name);
	buf_bytes(name, text, (size_t)(equals - text) - *negated);
	return name->n ? equals + 1 : NULL;
}

/* Removes the threads that a label does not select. */
static int filter_label(struct selection *s, struct thread_labels *l,
			const char *text, struct error *err)
{
	struct buf name = { 0 };
	bool negated = false;
	const char *value = split_label(text, &name, &negated);
	int rc = 0;

	if (!value)
		rc = error_set(err, ERR_USAGE, "--label '%s': expected "
			       "NAME=VALUE "
			       "or NAME!=VALUE", text);
	else if (name.failed)
		rc = error_nomem(err);
	else if (!thread_labels_know(l, buf_cstr(&name)))
		rc = error_set(err, ERR_USAGE, "--label '%s': the recording "
			       "has no label %s (see -s label)", text,
			       buf_cstr(&name));
	for (uint32_t i = 0; !rc && i < l->p->threads.n; i++) {
		const char *has;

		if (!s->thread_ok[i])
			continue;
		has = thread_label_named(l, i, buf_cstr(&name));
		if (!has)
			rc = error_nomem(err);
		else
			s->thread_ok[i] = item_matches(value, has) != negated;
	}
	buf_fini(&name);
	return rc;
}

static int filter_labels(struct selection *s, const struct profile *p,
			 const struct select_spec *spec, struct error *err)
{
	struct thread_labels l;
	int rc = 0;

	if (!spec->labels.n)
		return 0;
	if (thread_labels_init(&l, p) < 0)
		return error_nomem(err);
	for (size_t i = 0; !rc && i < spec->labels.n; i++)
		rc = filter_label(s, &l, spec->labels.v[i], err);
	thread_labels_fini(&l);
	return rc;
}

static int compile_threads(struct selection *s, const struct profile *p,
			   const struct select_spec *spec, struct error *err)
{
	struct number_filters f = { 0 };
	int rc = 0;

	if (spec->pids)
		rc = range_list_parse(spec->pids, "--pid", &f.pids, err);
	if (!rc && spec->tids)
		rc = range_list_parse(spec->tids, "--tid", &f.tids, err);
	if (!rc && spec->runs)
		rc = range_list_parse(spec->runs, "--run", &f.runs, err);
	if (!rc && (spec->comms.n || spec->labels.n || f.pids.n || f.tids.n || f.runs.n)) {
		s->thread_ok = calloc(p->threads.n + 1, 1);
		if (!s->thread_ok)
			rc = error_nomem(err);
		for (size_t i = 0; !rc && i < p->threads.n; i++)
			s->thread_ok[i] = thread_passes(p, &p->threads.v[i],
							spec, &f);
		if (!rc)
			rc = filter_labels(s, p, spec, err);
	}
	vec_fini(&f.pids);
	vec_fini(&f.tids);
	vec_fini(&f.runs);
	return rc;
}

/* Compiles the filter of events.  An unknown event is an error, because it is a
 * typing mistake rather than an empty result. */
static int compile_events(struct selection *s, const struct profile *p,
			  const struct select_spec *spec, struct error *err)
{
	bool any = false;
	struct nearest near;
	const char *best;

	if (!spec->events.n)
		return 0;
	s->event_ok = calloc(p->events.n + 1, 1);
	if (!s->event_ok)
		return error_nomem(err);
	near = nearest_to(spec->events.v[0]);
	for (size_t i = 0; i < p->events.n; i++) {
		const struct prof_event *e = &p->events.v[i];
		const char *name = profile_cstr(p, e->name);

		s->event_ok[i] = list_matches(&spec->events, name) ||
				 list_matches(&spec->events,
					      profile_cstr(p, e->actual));
		any |= s->event_ok[i];
		nearest_try(&near, name);
	}
	if (any)
		return 0;
	best = nearest_best(&near);
	if (!best && p->events.n)
		best = profile_cstr(p, p->events.v[0].name);
	return error_set(err, ERR_USAGE,
			 "--event '%s': the file has no such event; it has "
			 "%s%s", spec->events.v[0], best ? best : "none",
			 p->events.n > 1 ? " and others (see tally info)" : "");
}

static int compile_images(struct selection *s, const struct profile *p,
			  const struct select_spec *spec, struct error *err)
{
	if (!spec->images.n)
		return 0;
	s->image_ok = calloc(p->images.n + 1, 1);
	if (!s->image_ok)
		return error_nomem(err);
	for (size_t i = 0; i < p->images.n; i++) {
		const char *path = profile_cstr(p, p->images.v[i].path);
		const char *slash = strrchr(path, '/');

		s->image_ok[i] = list_matches(&spec->images, path) ||
				 (slash && list_matches(&spec->images,
							slash + 1));
	}
	return 0;
}

static int compile_symbols(struct selection *s, const struct profile *p,
			   const struct select_spec *spec, struct error *err)
{
	int rc = 0;

	if (!spec->symbols.n && !s->image_ok)
		return 0;
	s->symbols = spec->symbols;
	s->func_ok = malloc(p->funcs.n + 1);
	if (!s->func_ok)
		return error_nomem(err);
	memset(s->func_ok, 1, p->funcs.n + 1);
	if (spec->symbols.n)
		rc = match_functions(p, &spec->symbols, s->func_ok, err);
	for (size_t i = 0; s->image_ok && i < p->funcs.n; i++)
		s->func_ok[i] &= s->image_ok[p->funcs.v[i].image];
	return rc;
}

bool selection_has_address(const struct selection *s, uint32_t image,
			   const char *name)
{
	if (s->image_ok && (image == PROF_NONE || !s->image_ok[image]))
		return false;
	return !s->symbols.n || match_symbol_part(&s->symbols, name);
}

int selection_init(struct selection *s, const struct profile *p,
		   const struct select_spec *spec, struct error *err)
{
	int rc;

	*s = (struct selection){ 0 };
	rc = compile_threads(s, p, spec, err) ?:
	     compile_events(s, p, spec, err) ?:
	     compile_images(s, p, spec, err) ?:
	     compile_symbols(s, p, spec, err);
	if (!rc && spec->cpus)
		rc = range_list_parse(spec->cpus, "--cpu", &s->cpus, err);
	if (!rc && spec->time) {
		s->timed = true;
		rc = timeslice_parse(spec->time, profile_start_ns(p),
				     profile_end_ns(p), &s->from_ns, &s->to_ns,
				     err);
	}
	if (rc < 0)
		selection_fini(s);
	return rc;
}

void selection_fini(struct selection *s)
{
	free(s->thread_ok);
	free(s->event_ok);
	free(s->func_ok);
	free(s->image_ok);
	vec_fini(&s->cpus);
	*s = (struct selection){ 0 };
}

size_t selection_apply(const struct selection *s, const struct sample_batch *b,
		       uint32_t *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		bool ok = (!s->thread_ok || s->thread_ok[b->thread[i]]) &&
			  (!s->event_ok || s->event_ok[b->event[i]]) &&
			  (!s->timed || (b->time_ns[i] >= s->from_ns &&
					 b->time_ns[i] < s->to_ns)) &&
			  (!s->cpus.n || range_list_has(&s->cpus, b->cpu[i]));

		keep[n] = (uint32_t)i;
		n += ok;
	}
	return n;
}
