// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files as runs and functions: see runs.h. */
#include "check/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/search.h"
#include "compare/paths.h"
#include "symbolize/demangle/demangle.h"
#include "views/query/aggregate.h"
#include "views/wait_place.h"

const char *check_str(const struct check_runs *c, uint32_t id)
{
	return strtab_get(&c->str, id);
}

int check_compare_str(const struct check_runs *c, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(check_str(c, a), check_str(c, b));
}

int check_compare_funcs(const struct check_runs *c, uint32_t a, uint32_t b)
{
	const struct compare_func *f = &c->match.funcs.v[a];
	const struct compare_func *g = &c->match.funcs.v[b];

	return check_compare_str(c, f->image, g->image) ?:
	       check_compare_str(c, f->name, g->name) ?:
	       strcmp(check_func_which(c, a), check_func_which(c, b));
}

int check_runs_init(struct check_runs *c, struct error *err)
{
	*c = (struct check_runs){ .nbase = 0 };
	return strtab_init(&c->str) < 0 ? error_nomem(err) : 0;
}

static void file_fini(struct check_file *f)
{
	free(f->path);
	free(f->func);
	free(f->unit);
	vec_fini(&f->cells);
	line_map_fini(&f->lines);
	free(f->file_of);
	frame_keys_fini(&f->keys);
	reader_close(f->reader);
}

void check_runs_fini(struct check_runs *c)
{
	for (size_t i = 0; i < c->files.n; i++)
		file_fini(&c->files.v[i]);
	vec_fini(&c->files);
	vec_fini(&c->runs);
	labels_fini(&c->labels);
	vec_fini(&c->units);
	idtab_fini(&c->unit_tab);
	strtab_fini(&c->str);
	compare_match_fini(&c->match);
	*c = (struct check_runs){ .nbase = 0 };
}

static bool unit_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct check_runs *c = ctx;
	const struct check_unit *a = &c->units.v[id], *b = key;

	return a->func == b->func && a->base == b->base && a->line == b->line;
}

static uint32_t find_unit(struct check_runs *c, const struct check_unit *u)
{
	uint64_t h = hash_mix(hash_mix(u->func, u->base), u->line);

	return idtab_row(&c->unit_tab, &c->units, h, unit_eq, c, u);
}

static uint32_t copy_str(struct check_runs *c, const struct profile *p,
			 uint32_t id)
{
	return strtab_add(&c->str, profile_cstr(p, id));
}

static uint32_t find_func(struct check_runs *c, size_t file,
			  const struct frame_key *k)
{
	if (k->kind == FRAME_FUNC && k->func)
		return c->match.func_of[file][k->func - 1];
	return compare_unnamed(&c->match,
			       k->im ? c->match.image_of[file][k->im - 1] : 0,
			       k->kernel);
}

/* Assigns functions and units to a file's frame keys. */
static int map_keys(struct check_runs *c, size_t file, bool by_line)
{
	struct check_file *f = &c->files.v[file];
	size_t n = f->keys.keys.n;

	f->func = malloc((n + 1) * sizeof(*f->func));
	f->unit = malloc((n + 1) * sizeof(*f->unit));
	if (!f->func || !f->unit)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct frame_key *k = &f->keys.keys.v[i];
		struct check_unit u = { .func = 0 };

		f->func[i] = u.func = find_func(c, file, k);
		if (u.func == PROF_NONE)
			return -ERR_NOMEM;
		if (by_line && k->file) {
			u.file = copy_str(c, f->p, k->file);
			u.base = strtab_add(&c->str, path_base(
						profile_cstr(f->p, k->file)));
			u.line = check_line(f, k->file, k->line);
			if (u.file == UINT32_MAX || u.base == UINT32_MAX)
				return -ERR_NOMEM;
		}
		f->unit[i] = find_unit(c, &u);
		if (f->unit[i] == PROF_NONE)
			return -ERR_NOMEM;
		/* show the newest path */
		if (f->side == CHECK_NEW && u.file)
			c->units.v[f->unit[i]].file = u.file;
	}
	return 0;
}

static int find_event(struct check_file *f, const char *name,
		      struct error *err)
{
	const struct profile *p = f->p;

	if (!p->runs.n)
		return error_set(err, ERR_FORMAT, "%s: has no run", f->path);
	for (f->event = 0; f->event < p->events.n; f->event++) {
		const struct prof_event *e = &p->events.v[f->event];

		if (!name || !strcmp(profile_cstr(p, e->name), name) ||
		    !strcmp(profile_cstr(p, e->actual), name))
			return 0;
	}
	if (!name)
		return error_set(err, ERR_FORMAT, "%s: has no event",
				 f->path);
	return error_set(err, ERR_NOTFOUND, "%s: has no event \"%s\"; 'tally "
			 "info' lists its events", f->path, name);
}

struct summing {
	struct check_file *f;
	const struct aggregate *a;
	bool failed;		/* out of memory */
};

static void add_cell(void *ctx, uint32_t stack, const struct slot *slot,
		     struct cell c)
{
	struct summing *s = ctx;
	struct compare_cell new = { s->a->lanes.v[slot->lane].run, stack,
				  s->f->weighted ? c.weight : c.count, c.count };

	if (c.count && vec_push(&s->f->cells, new) < 0)
		s->failed = true;
}

static void take_sums(struct summing *s)
{
	struct cell all = s->a->got[s->f->event];
	struct check_file *f = s->f;

	f->samples = all.count;
	f->weighted = all.weight > 0;
	f->sum = (double)(f->weighted ? all.weight : all.count);
	f->squares = f->weighted ? s->a->squares[f->event] : f->sum;
	aggregate_each(s->a, add_cell, s);
}

static int sum_samples(struct check_file *f, struct error *err)
{
	uint32_t mask = f->p->runs.n > 1 ? KEY_BIT(KEY_RUN) : 0;
	struct selection only = { .event_ok = NULL };
	struct aggregate a = { .p = NULL };
	struct summing s = { .f = f, .a = &a };
	int rc = 0;

	if (f->p->events.n > 1) {
		only.event_ok = calloc(f->p->events.n + 1, 1);
		if (!only.event_ok)
			return error_nomem(err);
		only.event_ok[f->event] = 1;
	}
	rc = aggregate_run(f->reader, &only, mask, true, &a, err);
	if (!rc)
		take_sums(&s);
	if (s.failed)
		rc = error_nomem(err);
	aggregate_fini(&a);
	selection_fini(&only);
	for (size_t i = 0; i < f->p->losses.n; i++) {
		const struct prof_loss *l = &f->p->losses.v[i];

		if (l->event != PROF_NONE && l->event != f->event)
			continue;
		*(l->kind == PROF_LOST ? &f->lost : &f->throttled) += l->count;
	}
	return rc;
}

static int read_file(struct check_file *f,
		     const struct check_runs_options *o, struct error *err)
{
	uint32_t mask = KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL) |
			KEY_BIT(KEY_FILE) | KEY_BIT(KEY_LINE);

	return find_event(f, o->event, err) ?: sum_samples(f, err) ?:
	       frame_keys_init(&f->keys, f->p, mask, !o->no_inline, NULL, err);
}

int check_runs_add(struct check_runs *c, enum check_side side,
		   const char *path, struct reader *r, struct error *err)
{
	struct check_file f = { .side = side, .path = strdup(path),
				.reader = r, .p = reader_profile(r) };

	if (f.path && vec_push(&c->files, f) == 0)
		return 0;
	file_fini(&f);
	return error_nomem(err);
}

uint32_t check_leaf(const struct check_file *f, uint32_t stack)
{
	uint32_t loc = stack ? f->p->nodes.v[stack].loc : PROF_NONE;

	if (loc == PROF_NONE || prof_is_mark(loc))
		return f->keys.unknown;
	return f->keys.steps[f->keys.head[loc]].fk;
}

/* Returns whether a function waits on behalf of its caller: all locks wait in the same
 * ones. */
static bool waits_for_caller(const struct check_file *f, uint32_t stack,
			     uint32_t step)
{
	const struct profile *p = f->p;
	uint32_t image = p->locs.v[p->nodes.v[stack].loc].image;

	return prof_is_of_waits(&p->events.v[f->event]) &&
	       (wait_place_is_library(profile_cstr(p, p->images.v[image].path)) ||
		wait_place_is_header(p, step));
}

uint32_t check_caller(const struct check_file *f, uint32_t stack)
{
	const struct profile *p = f->p;
	uint32_t loc = stack ? p->nodes.v[stack].loc : PROF_NONE;
	uint32_t self = check_leaf(f, stack), s, fk;

	if (loc == PROF_NONE || prof_is_mark(loc) || self == PROF_NONE)
		return PROF_NONE;
	s = f->keys.steps[f->keys.head[loc]].outer;
	for (;;) {
		for (; s != PROF_NONE; s = f->keys.steps[s].outer) {
			fk = f->keys.steps[s].fk;
			/* a recursive call does not identify the caller */
			if (fk != PROF_NONE && f->func[fk] != f->func[self] &&
			    !waits_for_caller(f, stack, s))
				return f->func[fk];
		}
		stack = p->nodes.v[stack].parent;
		if (!stack || prof_is_mark(p->nodes.v[stack].loc))
			return PROF_NONE;
		s = f->keys.head[p->nodes.v[stack].loc];
	}
}

static int by_file(const void *a, const void *b)
{
	const struct check_file *x = a, *y = b;

	return ascending(x->side, y->side) ?: strcmp(x->path, y->path);
}

static int by_time(const void *a, const void *b)
{
	const struct check_run *x = a, *y = b;

	return ascending(x->side, y->side) ?:
	       ascending(x->start_ns, y->start_ns) ?:
	       ascending(x->file, y->file) ?:
	       ascending(x->run, y->run);
}

static int add_runs(struct check_runs *c, uint32_t file)
{
	struct check_file *f = &c->files.v[file];
	uint32_t first = (uint32_t)c->runs.n;

	for (uint32_t r = 0; r < f->p->runs.n; r++) {
		struct check_run run = {
			.file = file, .run = r, .side = f->side,
			.start_ns = f->p->runs.v[r].start_wall_ns,
		};

		if (vec_push(&c->runs, run) < 0)
			return -ERR_NOMEM;
		*(f->side == CHECK_BASE ? &c->nbase : &c->nnew) += 1;
	}
	for (size_t i = 0; i < f->cells.n; i++) {
		struct compare_cell *cell = &f->cells.v[i];

		cell->run += first;
		c->runs.v[cell->run].samples += cell->count;
		c->runs.v[cell->run].cost += (double)cell->weight;
	}
	return 0;
}

/* Orders the runs by time. */
static int order_runs(struct check_runs *c)
{
	size_t n = c->runs.n;
	struct arrays a = { 0 };
	uint32_t *first = arrays_new(&a, c->files.n + 1, sizeof(*first));
	uint32_t *to = arrays_new(&a, n, sizeof(*to));
	int rc = a.failed ? -ERR_NOMEM : 0;

	for (size_t i = 0; !rc && i < c->files.n; i++)
		first[i + 1] = first[i] + (uint32_t)c->files.v[i].p->runs.n;
	if (!rc)
		sort_rows(c->runs.v, n, by_time);
	for (uint32_t i = 0; !rc && i < n; i++)
		to[first[c->runs.v[i].file] + c->runs.v[i].run] = i;
	for (size_t i = 0; !rc && i < c->files.n; i++)
		for (size_t k = 0; k < c->files.v[i].cells.n; k++) {
			struct compare_cell *cell = &c->files.v[i].cells.v[k];

			cell->run = to[cell->run];
		}
	arrays_fini(&a);
	return rc;
}

static int match_functions(struct check_runs *c, bool inlined)
{
	size_t n = c->files.n;
	struct compare_input *in = calloc(n + 1, sizeof(*in));
	int rc = in ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct check_file *f = &c->files.v[i];

		in[i] = (struct compare_input){ f->p, &f->keys.same,
			(uint8_t)f->side, f->cells.v, f->cells.n };
	}
	rc = rc ?: compare_match_init(&c->match, &c->str, in, n, true, inlined) ?:
	     compare_labels(&c->match, NULL, &c->labels);
	free(in);
	return rc;
}

/* Matches only lines of the wanted files. */
static void leave_out(struct check_file *f, const struct strtab *str,
		      const uint8_t *wanted, size_t nwanted)
{
	for (uint32_t i = 1; i < f->p->str.str.n; i++) {
		uint32_t base = f->file_of[i]
			? strtab_find(str, path_base(profile_cstr(f->p, i))) : 0;

		if (base >= nwanted || !wanted[base])
			f->file_of[i] = 0;
	}
}

int check_runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted)
{
	const struct check_file *newest = NULL;
	int rc = 0;

	for (size_t i = 0; i < c->files.n; i++)
		if (c->files.v[i].side == CHECK_NEW)
			newest = &c->files.v[i];
	for (size_t i = 0; !rc && newest && i < c->files.n; i++) {
		struct check_file *f = &c->files.v[i];
		const struct profile *const p[] = { f->p, newest->p };
		uint32_t *file_of[LINE_SIDES];

		if (f == newest)
			continue;
		rc = files_pair(&c->str, p, file_of);
		f->file_of = file_of[LINE_OLD];
		if (!rc && wanted)
			leave_out(f, &c->str, wanted, nwanted);
		if (!rc)
			rc = line_map_init(&f->lines, (struct line_side[]){
				{ f->p, where, file_of[LINE_OLD] },
				{ newest->p, where, file_of[LINE_NEW] } });
		free(file_of[LINE_NEW]);
	}
	return rc;
}

uint32_t check_line(const struct check_file *f, uint32_t file, uint32_t line)
{
	if (!f->file_of || !line || line >= LINE_REMOVED)
		return line;
	return line_map_get(&f->lines, f->file_of[file], line);
}

int check_runs_finish(struct check_runs *c, const struct check_runs_options *o,
		      struct error *err)
{
	int rc = 0;

	vec_sort(&c->files, by_file);
	if (o->by_line)
		rc = check_runs_match_lines(c, &o->where, NULL, 0);
	for (size_t i = 0; !rc && i < c->files.n; i++) {
		rc = read_file(&c->files.v[i], o, err);
		if (rc < 0)
			return rc;
	}
	if (!rc)
		rc = match_functions(c, !o->no_inline);
	for (size_t i = 0; !rc && i < c->files.n; i++)
		rc = map_keys(c, i, o->by_line);
	for (uint32_t i = 0; !rc && i < c->files.n; i++)
		rc = add_runs(c, i);
	if (!rc)
		rc = order_runs(c);
	return rc < 0 ? error_nomem(err) : 0;
}

double check_per_sample(const struct check_runs *c)
{
	double squares[COMPARE_SIDES] = { 0, 0 }, sum[COMPARE_SIDES] = { 0, 0 };
	double per_sample = 1;

	for (size_t i = 0; i < c->files.n; i++) {
		const struct check_file *f = &c->files.v[i];

		squares[f->side] += f->squares;
		sum[f->side] += f->sum;
	}
	for (int s = 0; s < COMPARE_SIDES; s++)
		if (sum[s] > 0 && squares[s] / sum[s] > per_sample)
			per_sample = squares[s] / sum[s];
	return per_sample;
}

double *check_self_costs(const struct check_runs *c, bool by_unit, size_t n,
			 double per_sample)
{
	double *cost = calloc(c->runs.n * n + 1, sizeof(*cost));

	for (size_t i = 0; cost && i < c->files.n; i++) {
		const struct check_file *f = &c->files.v[i];
		const uint32_t *of = by_unit ? f->unit : f->func;

		for (size_t k = 0; k < f->cells.n; k++) {
			const struct compare_cell *cell = &f->cells.v[k];
			uint32_t fk = check_leaf(f, cell->stack);

			if (fk != PROF_NONE)
				cost[cell->run * n + of[fk]] +=
					(double)cell->weight / per_sample;
		}
	}
	return cost;
}

void check_func_name(const struct check_runs *c, uint32_t func,
		     struct buf *out)
{
	const struct compare_func *f = &c->match.funcs.v[func];
	const char *image = check_str(c, f->image);
	const char *which = check_func_which(c, func);

	if (f->name)
		demangle(check_str(c, f->name), out);
	if (f->name && *which)
		buf_printf(out, " (%s)", which);
	if (!f->name)
		buf_printf(out, "[no name in %s]", *image ? image : "any file");
}
