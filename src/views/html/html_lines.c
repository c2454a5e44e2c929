// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the functions whose lines and instructions a page contains.
 *
 * These are the functions that the user named, then the most expensive ones, as
 * many as fit.  A location has samples by thread and time, like nodes of the
 * graph, and a chain of frames.  From these the page computes, for any
 * selection, the cost of a line both where it was written and where it was
 * inlined.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/html/html_data.h"

struct by_func {		/* locations of one recording by function */
	size_t *first;		/* by function of the page, plus the end */
	uint32_t *locs;
};

enum {				/* whether a function is selected */
	NOT_TAKEN,
	TAKEN,			/* without its calls, which exceeded the limit */
	TAKEN_WITH_CALLS,
};

struct chooser {
	struct html_data *d;
	struct by_func *by;	/* by source */
	uint8_t *taken;		/* by function: NOT_TAKEN, TAKEN, TAKEN_WITH_CALLS */
	uint64_t entries;	/* upper bound of the entries selected */
	/* by function: upper bound of the entries of its calls */
	uint64_t *call_weight;
	uint64_t call_entries;	/* upper bound of the entries of the selected calls */
};

/* --- code that contains the locations */

/* Returns the same code in another recording of the same side (runs of one
 * program). */
static uint32_t same_code(const struct html_data *d, uint32_t source,
			  const struct annot_code *c)
{
	const struct profile *p = html_rep(d, source)->p;
	const struct prof_symbol *s = &p->symbols.v[c->symbol];
	const struct prof_image *im = &p->images.v[s->image];

	for (size_t i = 0; i < d->lines.codes.n; i++) {
		const struct html_code *x = &d->lines.codes.v[i];
		const struct annot_code *y =
			&d->src[x->source].in.lines->codes.v[x->at];
		const struct profile *q = html_rep(d, x->source)->p;
		const struct prof_symbol *t = &q->symbols.v[y->symbol];
		const struct prof_image *jm = &q->images.v[t->image];

		if (x->source != source && s->vaddr == t->vaddr &&
		    s->size == t->size && y->ninsns == c->ninsns &&
		    d->src[x->source].in.side == d->src[source].in.side &&
		    build_id_equal(&im->build_id, &jm->build_id) &&
		    !strcmp(profile_cstr(p, im->path),
			    profile_cstr(q, jm->path)))
			return (uint32_t)i;
	}
	return PROF_NONE;
}

/* Returns the instruction that covers vaddr, or PROF_NONE. */
static uint32_t find_insn(const struct annotation *a,
			  const struct annot_code *c, uint64_t vaddr)
{
	const struct annot_insn *in;
	size_t end;

	lower_bound(end, 0, c->ninsns, a->insns.v[c->insn + end].vaddr <= vaddr);
	if (!end)
		return PROF_NONE;
	in = &a->insns.v[c->insn + end - 1];
	return vaddr - in->vaddr < in->size ? (uint32_t)end - 1 : PROF_NONE;
}

/* Returns an upper bound of the entries that a location makes. */
static uint64_t weight_of(const struct chooser *k,
			  const struct html_source *s, uint32_t loc)
{
	const struct annotation *a = s->in.lines;
	uint64_t most = (uint64_t)k->d->lanes.n * k->d->buckets, n = 0;

	for (size_t c = 0; c < a->ncols; c++)
		n += a->loc_cells[(size_t)loc * a->ncols + c].count;
	return n < most ? n : most;
}

/* Selects a location, once. */
static int take_location(struct chooser *k, uint32_t source, uint32_t loc)
{
	struct html_source *s = &k->d->src[source];
	struct html_loc l = { source, loc, PROF_NONE, PROF_NONE, PROF_NONE };

	if (s->loc_of[loc] != PROF_NONE)
		return 0;
	s->loc_of[loc] = (uint32_t)k->d->lines.locs.n;
	k->entries += weight_of(k, s, loc);
	return vec_push(&k->d->lines.locs, l);
}

/* Selects the code that contains the selected locations, most expensive
 * first.  Also selects all locations in it, so its instructions show all of
 * their cost. */
static int take_codes(struct chooser *k, uint32_t source, size_t *insns)
{
	struct html_data *d = k->d;
	struct html_source *s = &d->src[source];
	const struct annotation *a = s->in.lines;
	uint8_t *hit = calloc(a->p->symbols.n + 1, 1);
	int rc = hit ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < a->locs.n; i++)
		if (a->locs.v[i].symbol != PROF_NONE &&
		    s->loc_of[a->locs.v[i].loc] != PROF_NONE)
			hit[a->locs.v[i].symbol] = 1;
	for (size_t i = 0; !rc && i < a->codes.n; i++) {
		const struct annot_code *c = &a->codes.v[i];
		struct html_code code = { source, i, c->ninsns };

		if (!hit[c->symbol])
			continue;
		hit[c->symbol] = 2;
		s->code_of[c->symbol] = same_code(d, source, c);
		if (s->code_of[c->symbol] != PROF_NONE)
			continue;
		s->code_of[c->symbol] = (uint32_t)d->lines.codes.n;
		if (*insns + c->ninsns > HTML_INSNS)
			code.insns = 0;
		*insns += code.insns;
		rc = vec_push(&d->lines.codes, code);
	}
	for (size_t i = 0; !rc && i < a->locs.n; i++)
		if (a->locs.v[i].symbol != PROF_NONE &&
		    hit[a->locs.v[i].symbol] == 2)
			rc = take_location(k, source, a->locs.v[i].loc);
	free(hit);
	return rc;
}

static void place_locations(struct html_data *d)
{
	for (uint32_t s = 0; s < d->nsrc; s++) {
		const struct annotation *a = d->src[s].in.lines;

		for (size_t i = 0; a && i < a->locs.n; i++) {
			const struct annot_loc *l = &a->locs.v[i];
			uint32_t at = d->src[s].loc_of[l->loc], code;
			const struct html_code *c;

			if (at == PROF_NONE || l->symbol == PROF_NONE)
				continue;
			code = d->src[s].code_of[l->symbol];
			if (code == PROF_NONE)
				continue;
			c = &d->lines.codes.v[code];
			if (!c->insns)
				continue;
			a = d->src[c->source].in.lines;
			d->lines.locs.v[at].code = code;
			d->lines.locs.v[at].insn = find_insn(
				a, &a->codes.v[c->at], l->vaddr);
			a = d->src[s].in.lines;
		}
	}
}

/* --- frames, and lines whose text is shown */

/* Returns the file of the page for a source's path, or PROF_NONE. */
static uint32_t page_file(struct html_data *d, uint32_t source, uint32_t str,
			  uint32_t image)
{
	struct html_lines *l = &d->lines;
	const char *path = profile_cstr(d->src[source].in.rep->p, str);
	struct html_file f = { source, str, image };
	uint32_t id;

	if (!str || !*path)
		return PROF_NONE;
	id = strtab_add(&l->paths, path);
	if (id != UINT32_MAX)
		id = u64map_row(&l->file_tab, &l->files,
				(uint64_t)id * 2 + d->src[source].in.side, &f);
	l->failed |= id == UINT32_MAX;
	return id;
}

static bool frame_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct html_lines *l = ctx;
	const struct html_frame *a = &l->frames.v[id], *b = key;

	return a->func == b->func && a->file == b->file && a->line == b->line &&
	       a->outer == b->outer;
}

static uint32_t intern_frame(struct html_lines *l, const struct html_frame *f)
{
	uint64_t h = hash_mix((uint64_t)f->func << 32 | f->file,
			      (uint64_t)f->line << 32 | f->outer);
	uint32_t id = idtab_row(&l->frame_tab, &l->frames, h, frame_eq, l, f);

	l->failed |= id == IDTAB_NONE;
	return id;
}

static uint32_t page_frame(struct html_data *d, uint32_t source, uint32_t step)
{
	struct html_source *s = &d->src[source];
	const struct frame_keys *k = &s->in.rep->keys;
	const struct profile *p = s->in.rep->p;
	uint32_t chain[INLINE_MAX + 1], outer = PROF_NONE;
	size_t n = 0;

	for (; step != PROF_NONE && n <= INLINE_MAX;
	     step = k->steps[step].outer)
		chain[n++] = step;
	while (n--) {
		struct html_frame f = { html_step_func(s, chain[n]), PROF_NONE,
					0, outer };

		if (s->frame_of[chain[n]] == PROF_NONE) {
			if (chain[n] < k->nframes) {
				const struct prof_frame *x =
					&p->frames.v[chain[n]];

				f.line = x->line;
				f.file = page_file(d, source, x->file,
					x->func < p->funcs.n
					? p->funcs.v[x->func].image : 0);
			}
			s->frame_of[chain[n]] = intern_frame(&d->lines, &f);
		}
		outer = s->frame_of[chain[n]];
	}
	return outer;
}

static uint32_t insn_step(const struct html_source *s, uint32_t frame)
{
	const struct frame_keys *k = &s->in.rep->keys;

	while (frame != PROF_NONE && s->in.rep->spec.no_inline &&
	       k->steps[frame].outer != PROF_NONE)
		frame = k->steps[frame].outer;
	return frame;
}

static int make_frames(struct html_data *d)
{
	struct html_lines *l = &d->lines;

	for (size_t i = 0; i < l->locs.n; i++) {
		struct html_loc *x = &l->locs.v[i];

		x->frame = page_frame(d, x->source, d->src[x->source].in.rep->
						    keys.head[x->loc]);
		if (x->frame == PROF_NONE)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < l->codes.n; i++) {
		const struct html_code *c = &l->codes.v[i];
		struct html_source *s = &d->src[c->source];
		const struct annotation *a = s->in.lines;

		for (size_t n = 0; n < c->insns; n++) {
			uint32_t step = insn_step(s, a->insns.v[
				a->codes.v[c->at].insn + n].frame);
			uint32_t f = step == PROF_NONE ? PROF_NONE
				: page_frame(d, c->source, step);

			if (vec_push(&l->insn_frames, f) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

static int want(struct html_data *d, uint32_t source, uint32_t file,
		uint32_t line, uint32_t image)
{
	struct page_source_line w = {
		page_file(d, source, file, image), line
	};

	return w.file == PROF_NONE || !line ||
	       d->lines.wants.n >= 4 * HTML_LINE_TEXTS
		       ? 0 : vec_push(&d->lines.wants, w);
}

static int by_line(const void *x, const void *y)
{
	const struct page_source_line *a = x, *b = y;

	return ascending(a->file, b->file) ?:
	       ascending(a->line, b->line);
}

/* Requests the text of all lines that selected functions have code of, and of
 * the lines where these functions begin. */
static int want_lines(struct chooser *k, uint32_t source)
{
	struct html_source *s = &k->d->src[source];
	const struct profile *p = s->in.rep->p;
	struct html_lines *l = &k->d->lines;
	size_t kept = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		uint32_t func = html_step_func(s, i);
		const struct prof_func *x;

		if (func == PROF_NONE || !k->taken[func] ||
		    f->func >= p->funcs.n)
			continue;
		x = &p->funcs.v[f->func];
		rc = want(k->d, source, f->file, f->line, x->image);
		if (!rc && (s->frame_of[i] != PROF_NONE ||
			    (s->call_of && s->call_of[i] != PROF_NONE)))
			rc = want(k->d, source, x->file, x->line, x->image);
	}
	vec_sort(&l->wants, by_line);
	for (size_t i = 0; i < l->wants.n; i++)
		if (!kept || by_line(&l->wants.v[kept - 1], &l->wants.v[i]))
			l->wants.v[kept++] = l->wants.v[i];
	l->wants.n = kept;
	return rc;
}

/*
 * --- the cost of calls made at a line
 *
 * As in an annotation, a sample counts once for each function that is on its
 * stack but not at its instruction.  It counts for the line of the innermost
 * frame of that function.  All calls of a function made at one line are one
 * call of the page.
 */

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

struct weigher {
	struct html_call_walk walk;
	const struct chooser *k;
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

/* Fills call_weight from a source. */
static int weigh_calls(struct chooser *k, uint32_t source)
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

static bool call_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct html_lines *l = ctx;
	const struct html_call *a = &l->calls.v[id], *b = key;

	return a->func == b->func && a->file == b->file && a->line == b->line;
}

static uint32_t intern_call(struct html_lines *l, const struct html_call *c)
{
	uint64_t h = hash_mix((uint64_t)c->func << 32 | c->file, c->line);

	return idtab_row(&l->call_tab, &l->calls, h, call_eq, l, c);
}

/* Adds the calls of the selected functions. */
static int take_calls(struct chooser *k, uint32_t source)
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
		if (k->taken[c.func] != TAKEN_WITH_CALLS)
			continue;
		c.file = page_file(k->d, source, f->file,
					f->func < p->funcs.n
					? p->funcs.v[f->func].image : 0);
		s->call_of[i] = intern_call(&k->d->lines, &c);
		if (s->call_of[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

/* --- selection of functions */

/* Lists each function of a location's chain once.  If `locs` is NULL, they are
 * only counted. */
static void list_chain(const struct html_source *s, uint32_t loc, size_t *at,
		       uint32_t *locs)
{
	const struct frame_keys *k = &s->in.rep->keys;

	for (uint32_t x = k->head[loc]; x != PROF_NONE; x = k->steps[x].outer) {
		uint32_t func = html_step_func(s, x), y = k->head[loc];

		while (y != x && html_step_func(s, y) != func)
			y = k->steps[y].outer;
		if (y != x || func == PROF_NONE)
			continue;
		if (locs)
			locs[at[func]] = loc;
		at[func]++;
	}
}

static int index_locations(const struct html_data *d,
			   const struct html_source *s, struct by_func *by)
{
	const struct annotation *a = s->in.lines;
	size_t n = d->funcs.n, sum = 0;

	by->first = calloc(n + 2, sizeof(*by->first));
	if (!by->first)
		return -ERR_NOMEM;
	for (size_t i = 0; i < a->locs.n; i++)
		list_chain(s, a->locs.v[i].loc, by->first + 1, NULL);
	for (size_t i = 0; i <= n; i++) {
		sum += by->first[i];
		by->first[i] = sum;
	}
	by->locs = malloc((sum + 1) * sizeof(*by->locs));
	if (!by->locs)
		return -ERR_NOMEM;
	for (size_t i = 0; i < a->locs.n; i++)
		list_chain(s, a->locs.v[i].loc, by->first, by->locs);
	/* each index is now where the next range begins */
	memmove(by->first + 1, by->first, n * sizeof(*by->first));
	by->first[0] = 0;
	return 0;
}

static uint64_t function_weight(const struct chooser *k, uint32_t func)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < k->d->nsrc; s++) {
		const struct by_func *by = &k->by[s];

		for (size_t i = by->first ? by->first[func] : 0;
		     by->first && i < by->first[func + 1]; i++)
			if (k->d->src[s].loc_of[by->locs[i]] == PROF_NONE)
				sum += weight_of(k, &k->d->src[s],
						 by->locs[i]);
	}
	return sum;
}

/* Selects a function.  Returns false if it does not fit. */
static bool take_function(struct chooser *k, uint32_t func, bool asked,
			  int *rc)
{
	struct html_lines *l = &k->d->lines;
	uint64_t more, calls;
	bool fit;

	if (func == PROF_NONE || k->taken[func])
		return true;
	more = function_weight(k, func);
	calls = k->call_weight[func];
	if (!more && !calls)
		return true;
	if (!asked && (k->entries + more > HTML_LINE_ENTRIES ||
		       l->funcs.n >= HTML_LINE_FUNCS))
		return false;
	fit = asked || k->call_entries + calls <= HTML_CALL_ENTRIES;
	if (!more && !fit)
		return true;
	k->taken[func] = fit ? TAKEN_WITH_CALLS : TAKEN;
	if (fit)
		k->call_entries += calls;
	else if (vec_push(&l->uncalled, func) < 0)
		*rc = -ERR_NOMEM;
	if (!*rc)
		*rc = vec_push(&l->funcs, func);
	for (uint32_t s = 0; !*rc && s < k->d->nsrc; s++) {
		const struct by_func *by = &k->by[s];

		for (size_t i = by->first ? by->first[func] : 0; !*rc &&
		     by->first && i < by->first[func + 1]; i++)
			*rc = take_location(k, s, by->locs[i]);
	}
	return true;
}

/* Selects the functions that the user named. */
static int take_named(struct chooser *k)
{
	const struct annotation *a = k->d->style->named;
	struct html_source *s = &k->d->src[k->d->nsrc - 1];
	int rc = 0;

	for (size_t i = 0; !rc && a && i < a->units.n; i++) {
		const struct annot_unit *u = &a->units.v[i];

		for (uint32_t f = 0; !rc && f < a->p->frames.n; f++)
			if (u->kind != UNIT_CODE &&
			    annot_unit_has(a, u, f))
				take_function(k, html_step_func(s, f), true, &rc);
		for (size_t n = 0; !rc && u->kind == UNIT_CODE &&
		     n < a->locs.n; n++)
			if (a->locs.v[n].symbol == u->symbol)
				take_function(k, html_step_func(s, s->in.rep->
					keys.head[a->locs.v[n].loc]), true,
					&rc);
	}
	return rc;
}

/* Selects functions that failed a check, regardless of their cost. */
static int take_verdicts(struct chooser *k)
{
	const struct html_compare *c = k->d->style->compare;
	int rc = 0;

	for (uint32_t f = 0; c && c->nverdicts && !rc && f < k->d->funcs.n;
	     f++) {
		const struct html_func *x = &k->d->funcs.v[f];

		if (html_find_verdict(k->d, x))
			take_function(k, f, true, &rc);
	}
	return rc;
}

static int take_functions(struct chooser *k)
{
	size_t n = k->d->funcs.n;
	int rc = take_named(k) ?: take_verdicts(k);

	for (uint32_t f = 0; !rc && f < n; f++) {
		bool self = false;

		for (size_t c = 0; c < k->d->ncols; c++)
			self |= k->d->sums[f * k->d->ncols + c].self.count > 0;
		if (self && !take_function(k, f, false, &rc))
			break;
	}
	/* then functions that only make calls */
	for (uint32_t f = 0; !rc && f < n; f++)
		if (k->call_weight[f] && !take_function(k, f, false, &rc))
			break;
	return rc;
}

static int prepare(struct chooser *k, uint32_t source)
{
	struct html_source *s = &k->d->src[source];
	size_t locs = s->in.rep->p->locs.n, steps = s->in.rep->keys.nframes +
						    locs;

	s->loc_of = malloc((locs + 1) * sizeof(*s->loc_of));
	s->frame_of = malloc((steps + 1) * sizeof(*s->frame_of));
	if (!s->loc_of || !s->frame_of)
		return -ERR_NOMEM;
	s->code_of = malloc((s->in.rep->p->symbols.n + 1) *
			    sizeof(*s->code_of));
	if (!s->code_of)
		return -ERR_NOMEM;
	memset(s->code_of, 0xff, (s->in.rep->p->symbols.n + 1) *
				 sizeof(*s->code_of));
	memset(s->loc_of, 0xff, (locs + 1) * sizeof(*s->loc_of));
	memset(s->frame_of, 0xff, (steps + 1) * sizeof(*s->frame_of));
	return s->in.lines ? index_locations(k->d, s, &k->by[source]) : 0;
}

static int choose(struct chooser *k)
{
	size_t insns = 0;
	int rc = 0;

	for (uint32_t s = 0; !rc && s < k->d->nsrc; s++)
		rc = prepare(k, s);
	/* comparisons omit the cost of calls: sides are compared by the code of
	 * a line */
	for (uint32_t s = 0; !rc && s < k->d->nsrc; s++)
		if (k->d->src[s].in.lines && !k->d->style->compare)
			rc = weigh_calls(k, s);
	if (!rc)
		rc = take_functions(k);
	for (uint32_t s = 0; !rc && s < k->d->nsrc; s++)
		if (k->d->src[s].in.lines)
			rc = take_codes(k, s, &insns);
	if (!rc)
		place_locations(k->d);
	if (!rc)
		rc = make_frames(k->d);
	for (uint32_t s = 0; !rc && s < k->d->nsrc; s++)
		if (k->d->src[s].call_of)
			rc = take_calls(k, s);
	for (uint32_t s = 0; !rc && s < k->d->nsrc; s++)
		if (k->d->src[s].in.lines)
			rc = want_lines(k, s);
	k->d->lines.entries.nodes = k->d->lines.locs.n;
	k->d->lines.call_entries.nodes = k->d->lines.calls.n;
	return rc;
}

int html_lines(struct html_data *d, struct error *err)
{
	struct chooser k = { .d = d };
	int rc = -ERR_NOMEM;

	k.by = calloc(d->nsrc, sizeof(*k.by));
	k.taken = calloc(d->funcs.n + 1, 1);
	k.call_weight = calloc(d->funcs.n + 1, sizeof(*k.call_weight));
	if (k.by && k.taken && k.call_weight &&
	    strtab_init(&d->lines.paths) == 0)
		rc = choose(&k);
	for (size_t i = 0; k.by && i < d->nsrc; i++) {
		free(k.by[i].first);
		free(k.by[i].locs);
	}
	free(k.by);
	free(k.taken);
	free(k.call_weight);
	return rc < 0 ? error_nomem(err) : 0;
}

void html_lines_fini(struct html_lines *l)
{
	vec_fini(&l->funcs);
	vec_fini(&l->frames);
	vec_fini(&l->locs);
	vec_fini(&l->codes);
	vec_fini(&l->files);
	vec_fini(&l->wants);
	vec_fini(&l->insn_frames);
	vec_fini(&l->entries.v);
	vec_fini(&l->calls);
	vec_fini(&l->call_entries.v);
	vec_fini(&l->uncalled);
	vec_fini(&l->pairs);
	vec_fini(&l->runs);
	strtab_fini(&l->paths);
	u64map_fini(&l->file_tab);
	idtab_fini(&l->frame_tab);
	idtab_fini(&l->call_tab);
}

enum {
	CONTEXT = 4,		/* lines shown around those with code */
	BRIDGE = 12,		/* largest gap that is filled */
};

/* Returns the first line of a file in html_lines.wants. */
static size_t first_want(const struct html_lines *l, uint32_t file)
{
	size_t at;

	lower_bound(at, 0, l->wants.n, l->wants.v[at].file < file);
	return at;
}

bool html_next_lines(const struct html_lines *l, struct html_text_range *r)
{
	const struct page_source_line *w = l->wants.v;
	size_t at = r->next ? r->next - 1 : first_want(l, r->file);

	if (at == l->wants.n || w[at].file != r->file)
		return false;
	r->from = w[at].line > CONTEXT ? w[at].line - CONTEXT : 1;
	for (r->to = w[at].line; at < l->wants.n && w[at].file == r->file &&
	     w[at].line - r->to <= BRIDGE; at++)
		r->to = w[at].line;
	r->end = r->to < UINT32_MAX - 1 - CONTEXT ? r->to + CONTEXT
						  : UINT32_MAX - 1;
	r->next = at + 1;
	return true;
}
