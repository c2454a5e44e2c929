// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums waits by the function of the program that waits. */
#include "views/wait_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"
#include "views/query/wait_kinds.h"

/*
 * Idle threads: those that waited in one place nearly all the time, such as a pool's
 * workers without work or a server's timer thread.  Their waits are long but seldom
 * the reason why a program is slow, so tables put them last.  A thread that waits for
 * a lock is never idle.
 */

struct wait_life {
	uint64_t from_ns, to_ns;	/* first and last time seen */
	uint64_t ran;			/* samples that are not waits */
};

struct wait_lives {
	VEC(struct wait_life) threads;	/* by thread row */
	uint64_t from_ns, to_ns;	/* of all of them */
};

/* A client that waits for a busy lock may do so for nearly all its time, too, but
 * often and not for long. */
#define LONG_WAIT_NS 500000000ull
enum {
	FEW_WAITS = 2,
	/* Polled waits are not counted.  A thread that had work was seen running. */
	POLLS_LEAST = 50,
	POLLS_PER_RUN = 500,
};

static int wait_lives_init(struct wait_lives *l, const struct profile *p)
{
	*l = (struct wait_lives){ .from_ns = UINT64_MAX };
	if (vec_reserve(&l->threads, p->threads.n + 1) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->threads.n; i++)
		l->threads.v[l->threads.n++] =
			(struct wait_life){ .from_ns = UINT64_MAX };
	return 0;
}

static void wait_lives_fini(struct wait_lives *l)
{
	vec_fini(&l->threads);
}

/* Takes one sample. */
static void wait_lives_add(struct wait_lives *l, const struct profile *p,
			   const struct sample_batch *b, size_t i)
{
	const struct prof_event *e = &p->events.v[b->event[i]];
	struct wait_life *t = &l->threads.v[b->thread[i]];
	uint64_t to = b->time_ns[i], from = to;

	if (prof_is_waking(e) || prof_is_latency(e))
		return;
	if (prof_is_wait(e))
		from = to > b->weight[i] ? to - b->weight[i] : 0;
	else
		t->ran++;
	t->from_ns = from < t->from_ns ? from : t->from_ns;
	t->to_ns = to > t->to_ns ? to : t->to_ns;
	l->from_ns = from < l->from_ns ? from : l->from_ns;
	l->to_ns = to > l->to_ns ? to : l->to_ns;
}

/* Returns whether a function takes a lock, by its name: mutex_lock, rdlock, flock, but
 * not unlock or clock_nanosleep. */
static bool takes_lock(const char *name)
{
	for (const char *at = name; (at = strstr(at, "lock")); at += 4)
		if (at == name || (at[-1] != 'c' && at[-1] != 'b' &&
				   (at - name < 2 || strncmp(at - 2, "un", 2) != 0)))
			return true;
	return false;
}

/* Returns whether a thread is idle.  `sum`: its waits in one place; `call`: the library
 * function that it waits in, or "". */
static bool wait_is_idle(const struct wait_lives *l, uint32_t thread,
			 const struct prof_event *e, struct cell sum, const char *call)
{
	const struct wait_life *t = &l->threads.v[thread];
	uint64_t span = t->to_ns > t->from_ns ? t->to_ns - t->from_ns : 0;

	if (!prof_is_wait(e) || !sum.count || takes_lock(call) ||
	    span < (l->to_ns - l->from_ns) / 2 || sum.weight < span / 20 * 19)
		return false;
	if (prof_is_sampled_wait(e))
		return sum.count >= POLLS_LEAST &&
		       t->ran <= sum.count / POLLS_PER_RUN;
	return sum.count <= FEW_WAITS || sum.weight / sum.count >= LONG_WAIT_NS;
}

struct sites {
	struct wait_places places;
	struct wait_sites *out;
	struct idtab rows;	/* of out->rows */
	bool failed;
};

static bool row_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_site *a = &((const struct sites *)ctx)->out->rows.v[id];
	const struct wait_site *b = key;

	return wait_place_equal(a->at, b->at) && wait_place_equal(a->by, b->by) &&
	       a->kind == b->kind && a->event == b->event && a->thread == b->thread &&
	       a->group == b->group && a->from == b->from &&
	       !memcmp(a->callers, b->callers, sizeof(a->callers));
}

static void add_row(struct sites *s, const struct wait_site *row, struct cell c)
{
	uint64_t h = hash_mix((uint64_t)row->at.func << 32 | row->at.call,
			      (uint64_t)row->kind << 32 | row->event);
	uint32_t id;

	h = hash_mix(h, (uint64_t)row->by.func << 32 | row->by.call);
	h = hash_mix(h, (uint64_t)row->thread * WAITS_GROUPS + row->group);
	h = hash_mix(h, row->from);
	for (int i = 0; i < WAIT_CALLERS; i++)
		h = hash_mix(h, row->callers[i]);
	id = idtab_row(&s->rows, &s->out->rows, h, row_eq, s, row);
	if (id == IDTAB_NONE)
		s->failed = true;
	else
		cell_add(&s->out->rows.v[id].sum, c);
}

static const struct wait_site no_site = {
	.at = { PROF_NONE, PROF_NONE }, .by = { PROF_NONE, PROF_NONE },
	.callers = { PROF_NONE, PROF_NONE, PROF_NONE }, .from = PROF_NONE,
};
_Static_assert(WAIT_CALLERS == 3, "no_site has as many callers");

/* Returns whether waits of this kind are divided by callers, because one function may
 * wait for anything. */
static bool wait_kind_is_any(const char *kind)
{
	return !strcmp(kind, "epoll") || !strcmp(kind, "poll");
}

static void add_wait(struct sites *s, const struct sample_batch *b, size_t i)
{
	const struct profile *p = s->places.rep->p;
	const struct prof_event *e = &p->events.v[b->event[i]];
	struct wait_site row = no_site;

	row.event = b->event[i];
	row.thread = b->thread[i];
	if (!prof_is_of_waits(e))
		return;
	row.at = wait_place(&s->places, b->stack[i]);
	if (row.at.func == PROF_NONE)
		return;
	if (wait_kinds_has(p, e))
		row.kind = s->places.kinds[b->stack[i]];
	if (wait_kind_is_any(profile_cstr(p, row.kind)))
		wait_place_callers(&s->places, b->stack[i], row.callers,
				   WAIT_CALLERS);
	add_row(s, &row, batch_cell(b, i));
}

static int compare_places(struct wait_place a, struct wait_place b)
{
	return wait_place_equal(a, b) ? 0 : wait_place_before(a, b) ? -1 : 1;
}

static int longer_first(const void *a, const void *b)
{
	const struct wait_site *x = a, *y = b;

	return ascending(x->group, y->group) ?:
	       descending(x->sum.weight, y->sum.weight) ?:
	       compare_places(x->at, y->at) ?: compare_places(x->by, y->by) ?:
	       ascending(x->event, y->event) ?: ascending(x->from, y->from) ?:
	       ascending(x->kind, y->kind);
}

/* Ends a sum: returns 0 or -ERR_NOMEM. */
static int finish(struct sites *s)
{
	struct wait_sites *out = s->out;

	wait_places_fini(&s->places);
	idtab_fini(&s->rows);
	if (s->failed) {
		wait_sites_fini(out);
		return -ERR_NOMEM;
	}
	vec_sort(&out->rows, longer_first);
	return 0;
}

/* Sums the rows of all threads by group. */
static void unite_threads(struct sites *s, const struct wait_lives *lives)
{
	const struct report *rep = s->places.rep;
	struct wait_sites of_threads = *s->out;
	struct buf call = { 0 };

	memset(s->out, 0, sizeof(*s->out));
	idtab_fini(&s->rows);
	for (size_t i = 0; i < of_threads.rows.n && !s->failed; i++) {
		struct wait_site row = of_threads.rows.v[i];
		const struct prof_event *e = &rep->p->events.v[row.event];
		struct cell sum = row.sum;

		buf_again(&call);
		if (row.at.call != PROF_NONE)
			name_symbol(rep->p, &rep->keys,
				    &rep->keys.keys.v[row.at.call], 0, &call);
		row.group = wait_place_is_missing(rep, row.at) ? WAITS_NO_STACK
			    : wait_is_idle(lives, row.thread, e, sum,
					   buf_cstr(&call)) ? WAITS_IDLE : WAITS_BUSY;
		row.thread = 0;
		row.sum = (struct cell){ 0, 0 };
		add_row(s, &row, sum);
	}
	s->failed |= call.failed;
	buf_fini(&call);
	wait_sites_fini(&of_threads);
}

/* Callers of less than this part of the waits are not significant. */
enum { LEAST_PART = 50 };

static int by_callers(const void *a, const void *b)
{
	const struct wait_called *x = a, *y = b;

	for (int i = 0; i < WAIT_CALLERS; i++)
		if (x->callers[i] != y->callers[i])
			return x->callers[i] < y->callers[i] ? -1 : 1;
	return ascending(x->row, y->row);
}

/* Divides sorted waits that share their callers below `depth`.  `from`: the outermost
 * of these that divides waits.  Recursion ends at WAIT_CALLERS. */
static void divide(struct wait_called *v, size_t n, int depth, uint32_t from)
{
	uint64_t all = 0;
	size_t parts = 0, end;

	for (size_t i = 0; i < n; i++) {
		v[i].from = from;
		all += v[i].weight;
	}
	if (depth == WAIT_CALLERS)
		return;
	/* Counts the parts first, because a single one divides nothing. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i = end) {
			uint32_t fk = v[i].callers[depth];
			uint64_t sum = 0;

			for (end = i; end < n && v[end].callers[depth] == fk; end++)
				sum += v[end].weight;
			if (fk == PROF_NONE || sum < all / LEAST_PART || !sum)
				continue;
			if (!pass)
				parts++;
			else
				divide(&v[i], end - i, depth + 1,
				     parts > 1 ? fk : from);
		}
	}
}

void wait_callers_find(struct wait_called *v, size_t n)
{
	sort_rows(v, n, by_callers);
	divide(v, n, 0, PROF_NONE);
}

/* Sorts by the groups that wait_callers_find divides. */
static int by_place(const void *a, const void *b)
{
	const struct wait_site *x = a, *y = b;

	return ascending(x->event, y->event) ?: ascending(x->kind, y->kind) ?:
	       ascending(x->group, y->group) ?: compare_places(x->at, y->at);
}

/* Replaces the callers of rows by the one that divides them, if any does. */
static void tell_callers(struct sites *s)
{
	struct wait_sites all = *s->out;
	struct wait_called *v = calloc(all.rows.n + 1, sizeof(*v));
	size_t end;

	s->failed |= !v;
	memset(s->out, 0, sizeof(*s->out));
	idtab_fini(&s->rows);
	vec_sort(&all.rows, by_place);
	for (size_t i = 0; i < all.rows.n && !s->failed; i = end) {
		const struct wait_site *first = &all.rows.v[i];

		for (end = i; end < all.rows.n &&
			      !by_place(first, &all.rows.v[end]); end++) {
			struct wait_called *c = &v[end - i];

			memcpy(c->callers, all.rows.v[end].callers,
			       sizeof(c->callers));
			c->weight = all.rows.v[end].sum.weight;
			c->row = end;
		}
		wait_callers_find(v, end - i);
		for (size_t k = 0; k < end - i && !s->failed; k++) {
			struct wait_site row = all.rows.v[v[k].row];
			struct cell sum = row.sum;

			memcpy(row.callers, no_site.callers, sizeof(row.callers));
			row.from = v[k].from;
			row.sum = (struct cell){ 0, 0 };
			add_row(s, &row, sum);
		}
	}
	free(v);
	wait_sites_fini(&all);
}

int wait_sites_build(const struct report *rep, struct reader *r,
		     struct wait_sites *out)
{
	struct sites s = { .out = out };
	uint32_t *keep = malloc(SAMPLE_BATCH * sizeof(*keep));
	struct wait_lives lives = { .from_ns = 0 };
	struct sample_batch b;

	memset(out, 0, sizeof(*out));
	s.failed = wait_places_init(&s.places, rep) < 0 ||
		   wait_lives_init(&lives, rep->p) < 0 || !keep;
	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (!s.failed && reader_next(r, &b)) {
		size_t n = selection_apply(&rep->sel, &b, keep);

		for (size_t i = 0; i < b.n; i++)
			wait_lives_add(&lives, rep->p, &b, i);
		for (size_t i = 0; i < n && !s.failed; i++)
			add_wait(&s, &b, keep[i]);
	}
	if (!s.failed)
		unite_threads(&s, &lives);
	if (!s.failed)
		tell_callers(&s);
	wait_lives_fini(&lives);
	free(keep);
	return finish(&s);
}

/* Merging moves all samples to the start of their run; times are rounded. */
enum { MERGED_NS = 2000 };

/* The last sample of what ended a wait. */
struct ending {
	bool known;
	uint64_t time_ns, weight;
	uint32_t stack;
};

/* Takes a blocked wait.  The recorder writes what ended it directly before, with the
 * same time.  It omits one of the two only for short waits. */
static void add_pair(struct sites *s, const struct sample_batch *b, size_t i,
		     const struct ending *end)
{
	const struct profile *p = s->places.rep->p;
	struct wait_site row = no_site;
	uint32_t run = p->threads.v[b->thread[i]].run;

	if (!end->known || end->time_ns != b->time_ns[i] ||
	    end->weight < b->weight[i] ||
	    b->time_ns[i] < p->runs.v[run].start_ns + MERGED_NS)
		return;
	row.event = b->event[i];
	row.kind = s->places.kinds[b->stack[i]];
	row.at = wait_place(&s->places, b->stack[i]);
	row.by = wait_place(&s->places, end->stack);
	if (row.at.func != PROF_NONE && row.by.func != PROF_NONE)
		add_row(s, &row, batch_cell(b, i));
}

int wait_pairs_build(const struct report *rep, struct reader *r,
		     struct wait_sites *out, uint64_t *blocked)
{
	struct sites s = { .out = out };
	uint8_t *shown = calloc(SAMPLE_BATCH, 1);
	uint32_t *keep = malloc(SAMPLE_BATCH * sizeof(*keep));
	struct ending end = { .known = false };
	const struct prof_event *events = rep->p->events.v;
	struct sample_batch b;

	memset(out, 0, sizeof(*out));
	*blocked = 0;
	s.failed = wait_places_init(&s.places, rep) < 0 || !shown || !keep;
	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (!s.failed && reader_next(r, &b)) {
		size_t n = selection_apply(&rep->sel, &b, keep);

		memset(shown, 0, b.n);
		for (size_t i = 0; i < n; i++)
			shown[keep[i]] = 1;
		for (size_t i = 0; i < b.n && !s.failed; i++) {
			const struct prof_event *e = &events[b.event[i]];

			if (prof_is_waking(e))
				end = (struct ending){ true, b.time_ns[i],
						       b.weight[i], b.stack[i] };
			if (!wait_kinds_has(rep->p, e))
				continue;
			if (shown[i]) {
				*blocked += b.weight[i];
				add_pair(&s, &b, i, &end);
			}
			end.known = false;
		}
	}
	free(shown);
	free(keep);
	return finish(&s);
}

void wait_sites_fini(struct wait_sites *s)
{
	vec_fini(&s->rows);
}

enum { EVENT_WIDTH = 9, KIND_WIDTH = 12 };

/* `kinds`: with the column of kinds. */
static void put_row(const struct report *rep, const struct wait_site *w,
		    uint64_t total, bool kinds, const struct text_style *style,
		    struct buf *out)
{
	const struct profile *p = rep->p;
	struct buf line = { 0 }, name = { 0 };

	text_safe(&name, profile_cstr(p, p->events.v[w->event].name));
	buf_printf(&line, "%-*.*s", EVENT_WIDTH, EVENT_WIDTH, buf_cstr(&name));
	buf_reset(&name);
	text_count(&name, w->sum.count);
	buf_printf(&line, " %6.2f%% %9.3f s %11s  ", line_share(w->sum.weight,
								total),
		   (double)w->sum.weight / 1e9, buf_cstr(&name));
	if (kinds) {
		buf_reset(&name);
		text_safe(&name, w->kind ? profile_cstr(p, w->kind) : "-");
		buf_printf(&line, "%-*s  ", KIND_WIDTH, buf_cstr(&name));
	}
	wait_place_text(rep, w->at, style->full_names, &line);
	if (w->from != PROF_NONE) {
		buf_str(&line, ", from ");
		wait_place_text(rep, (struct wait_place){ w->from, PROF_NONE },
				style->full_names, &line);
	}
	if (w->by.func != PROF_NONE) {
		buf_str(&line, " <- ");
		wait_place_text(rep, w->by, style->full_names, &line);
	}
	if (style->columns)
		text_cut(out, buf_cstr(&line), (size_t)style->columns);
	else
		buf_str(out, buf_cstr(&line));
	buf_u8(out, '\n');
	buf_close(&line, out);
	buf_close(&name, out);
}

const char *wait_group_heading(enum wait_group g)
{
	static const char *const headings[WAITS_GROUPS] = {
		[WAITS_NO_STACK] = "Waits without a stack, mostly short ones",
		[WAITS_IDLE] = "Idle threads, which waited in one place for 95% of the "
			       "time or more",
	};

	return headings[g];
}

static void put_head(const char *first, bool kinds, const char *last,
		     struct buf *out)
{
	buf_printf(out, "\n%s    SHARE        TIME      NUMBER  ", first);
	if (kinds)
		buf_printf(out, "%-*s  ", KIND_WIDTH, "FOR");
	buf_printf(out, "%s\n", last);
}

static void put_table(const struct report *rep, const struct wait_sites *s,
		      bool waking, const struct text_style *style, size_t most,
		      struct buf *out)
{
	const struct prof_event *events = rep->p->events.v;
	uint64_t total = 0;
	size_t n[WAITS_GROUPS] = { 0 }, any = 0;
	bool kinds = false;

	for (size_t i = 0; i < s->rows.n; i++) {
		if (prof_is_waking(&events[s->rows.v[i].event]) != waking)
			continue;
		total += s->rows.v[i].sum.weight;
		kinds |= s->rows.v[i].kind != 0;
		n[s->rows.v[i].group]++;
		any++;
	}
	if (!any)
		return;
	put_head(waking ? "ENDED BY" : "WAITS   ", kinds, "FUNCTION", out);
	for (int g = 0; g < WAITS_GROUPS; g++) {
		size_t rows = g == WAITS_BUSY ? most : most / 2 + 1, shown = 0;

		if (wait_group_heading(g) && n[g])
			buf_printf(out, "# %s:\n", wait_group_heading(g));
		for (size_t i = 0; i < s->rows.n && shown < rows; i++) {
			const struct wait_site *w = &s->rows.v[i];

			if (prof_is_waking(&events[w->event]) != waking ||
			    w->group != g)
				continue;
			put_row(rep, w, total, kinds, style, out);
			shown++;
		}
		if (n[g] > shown)
			buf_printf(out, "# %zu more\n", n[g] - shown);
	}
}

void wait_sites_text(const struct report *rep, const struct wait_sites *s,
		     const struct text_style *style, size_t most,
		     struct buf *out)
{
	put_table(rep, s, false, style, most, out);
	put_table(rep, s, true, style, most, out);
}

void wait_pairs_text(const struct report *rep, const struct wait_sites *s,
		     uint64_t blocked, const struct text_style *style,
		     size_t most, struct buf *out)
{
	uint64_t known = 0;
	bool kinds = false;

	for (size_t i = 0; i < s->rows.n; i++) {
		known += s->rows.v[i].sum.weight;
		kinds |= s->rows.v[i].kind != 0;
	}
	if (!style->no_header)
		buf_printf(out, "# What ended waits: known for %.1f%% of %.3f s "
			   "blocked\n", line_share(known, blocked),
			   (double)blocked / 1e9);
	if (!s->rows.n)
		return;
	put_head("WAITS   ", kinds, "FUNCTION <- ENDED BY", out);
	for (size_t i = 0; i < s->rows.n && i < most; i++)
		put_row(rep, &s->rows.v[i], blocked, kinds, style, out);
	if (s->rows.n > most)
		buf_printf(out, "# %zu more\n", s->rows.n - most);
}

static void put_json_place(const struct report *rep, struct wait_place at,
			   const char *func, const char *call, struct buf *tmp,
			   struct json *j)
{
	const struct frame_key *keys = rep->keys.keys.v;

	buf_again(tmp);
	name_symbol(rep->p, &rep->keys, &keys[at.func], 0, tmp);
	json_str(j, func, buf_cstr(tmp));
	buf_again(tmp);
	if (at.call != PROF_NONE)
		name_symbol(rep->p, &rep->keys, &keys[at.call], 0, tmp);
	json_str(j, call, buf_cstr(tmp));
}

void wait_pairs_json(const struct report *rep, const struct wait_sites *s,
		     uint64_t blocked, struct buf *out)
{
	struct json j = json_on(out);
	struct buf tmp = { 0 };

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_uint(&j, "blocked_ns", blocked);
	json_array_lines(&j, "pairs");
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct wait_site *w = &s->rows.v[i];

		json_object(&j, NULL);
		json_str(&j, "wait", profile_cstr(rep->p, w->kind));
		put_json_place(rep, w->at, "function", "call", &tmp, &j);
		put_json_place(rep, w->by, "by_function", "by_call", &tmp, &j);
		json_uint(&j, "waits", w->sum.count);
		json_uint(&j, "blocked_ns", w->sum.weight);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
	buf_close(&tmp, out);
}
