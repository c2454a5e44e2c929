// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the functions and files to show, hottest first. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "symbolize/demangle/demangle.h"
#include "views/annotate/annotate.h"
#include "views/query/framekey.h"
#include "views/query/match.h"

struct candidate {
	struct annot_unit unit;
	uint64_t weight, count;	/* cost of the first event that has any */
	size_t at;
};

struct chooser {
	struct annotation *a;
	struct cell *self, *all;	/* [func * ncols + column] */
	uint32_t *seen;			/* by func: 1 + its last location */
	struct cell *codes;		/* by symbol: cost without frames */
	/* by func: a function that it called has samples; set only if one is
	 * named */
	uint8_t *callers;
	VEC(struct candidate) found;
};

static void add_cells(const struct annotation *a, struct cell *to, uint32_t id,
		      uint32_t loc)
{
	for (size_t c = 0; c < a->ncols; c++)
		cell_add(&to[(size_t)id * a->ncols + c],
			 a->loc_cells[(size_t)loc * a->ncols + c]);
}

/* Sums each function's self cost, and its cost with functions inlined into
 * it. */
static void sum_functions(struct chooser *k)
{
	const struct annotation *a = k->a;
	const struct profile *p = a->p;

	for (size_t i = 0; i < a->locs.n; i++) {
		uint32_t loc = a->locs.v[i].loc;
		uint32_t frame = profile_loc_frame(p, loc), func;

		if ((frame == PROF_NONE || a->spec.by_symbol) &&
		    a->locs.v[i].symbol != PROF_NONE)
			add_cells(a, k->codes, a->locs.v[i].symbol, loc);
		if (frame == PROF_NONE)
			continue;
		func = a->same_func[p->frames.v[frame].func];
		add_cells(a, k->self, func, loc);
		for (; frame != PROF_NONE; frame = p->frames.v[frame].outer) {
			func = a->same_func[p->frames.v[frame].func];
			if (k->seen[func] != loc + 1)
				add_cells(a, k->all, func, loc);
			k->seen[func] = loc + 1;
		}
	}
}

static int add_candidate(struct chooser *k, struct annot_unit unit,
			 const struct cell *cells)
{
	struct candidate c = { .unit = unit, .at = k->found.n };

	for (size_t i = 0; i < k->a->ncols && !c.count; i++) {
		c.weight = cells[i].weight;
		c.count = cells[i].count;
	}
	if (!c.count && !(unit.kind == UNIT_FUNCTION && k->a->spec.what &&
			  k->callers[unit.func]))
		return 0;
	return vec_push(&k->found, c);
}

static int add_function(struct chooser *k, uint32_t func, bool self)
{
	struct annot_unit u = { .kind = UNIT_FUNCTION, .func = func,
				.symbol = PROF_NONE,
				.image = k->a->p->funcs.v[func].image };

	return add_candidate(k, u, (self ? k->self : k->all) +
				   (size_t)func * k->a->ncols);
}

static int add_code(struct chooser *k, uint32_t symbol)
{
	struct annot_unit u = { .kind = UNIT_CODE, .func = PROF_NONE,
				.symbol = symbol,
				.image = k->a->p->symbols.v[symbol].image };

	return add_candidate(k, u, k->codes + (size_t)symbol * k->a->ncols);
}

static bool wanted_image(const struct annotation *a, uint32_t image,
			 const char *word)
{
	const char *path = profile_cstr(a->p, a->p->images.v[image].path);

	return !word || match_word(word, path) ||
	       match_word(word, path_base(path));
}

/* Adds functions by self cost: all, or those of an image. */
static int add_hottest(struct chooser *k, const char *image)
{
	const struct annotation *a = k->a;
	int rc = 0;

	for (uint32_t i = 0; !rc && !a->spec.by_symbol &&
			     i < a->p->funcs.n; i++)
		if (a->same_func[i] == i &&
		    (!a->spec.funcs || a->spec.funcs[i]) &&
		    wanted_image(a, a->p->funcs.v[i].image, image))
			rc = add_function(k, i, true);
	for (uint32_t i = 0; !rc && !a->spec.funcs && i < a->p->symbols.n; i++)
		if (wanted_image(a, a->p->symbols.v[i].image, image))
			rc = add_code(k, i);
	return rc;
}

/* Returns whether `word` is the end of a path: "vec.c" and "src/vec.c" match
 * /home/me/src/vec.c. */
static bool is_file(const char *path, const char *word, size_t n)
{
	size_t len = strlen(path);

	return n && len >= n && !strncmp(path + len - n, word, n) &&
	       (len == n || path[len - n - 1] == '/' || word[0] == '/');
}

/* Adds the functions with code of a line, or whole files if line is 0. */
static int add_files(struct chooser *k, const char *word, size_t n,
		     uint32_t line)
{
	const struct profile *p = k->a->p;
	struct cell *cells = calloc(k->a->ncols + 1, sizeof(*cells));
	uint8_t *done = calloc((line ? p->funcs.n : p->str.str.n) + 1, 1);
	int rc = cells && done ? 0 : -ERR_NOMEM;

	for (size_t c = 0; !rc && c < k->a->ncols; c++)
		cells[c] = (struct cell){ 1, 1 };
	for (size_t i = 0; !rc && i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		struct annot_unit u = { .kind = UNIT_FILE, .file = f->file,
					.func = PROF_NONE, .symbol = PROF_NONE };
		uint32_t func;

		if (f->func >= p->funcs.n)	/* damaged file */
			continue;
		func = k->a->same_func[f->func];
		u.image = p->funcs.v[func].image;
		if (!f->file || (line && f->line != line) ||
		    done[line ? func : f->file] ||
		    !is_file(profile_cstr(p, f->file), word, n))
			continue;
		done[line ? func : f->file] = 1;
		rc = line ? add_function(k, func, false)
			  : add_candidate(k, u, cells);
	}
	free(cells);
	free(done);
	return rc;
}

/* Returns whether `word` names a function exactly.  `full` is its readable
 * name. */
static bool is_exact(const char *stored, const char *full, const char *word)
{
	size_t n = strlen(word), len = strcspn(full, "(<");

	return !strcmp(stored, word) || !strcmp(full, word) ||
	       (len >= n && !strncmp(full + len - n, word, n) &&
		(len == n || full[len - n - 1] == ':' ||
		 full[len - n - 1] == ' '));
}

static int add_named(struct chooser *k, const char *word, bool exact,
		     struct error *err)
{
	const struct profile *p = k->a->p;
	const struct name_list l = { &word, 1 };
	uint8_t *ok = calloc(p->funcs.n + 1, 1);
	struct buf full = { 0 };
	int rc = ok ? match_functions(p, &l, ok, err) : -ERR_NOMEM;

	for (uint32_t i = 0; !rc && i < p->funcs.n; i++) {
		const char *name = profile_cstr(p, p->funcs.v[i].name);

		if (!ok[i])
			continue;
		buf_reset(&full);
		demangle(name, &full);
		if (exact && !is_exact(name, buf_cstr(&full), word) &&
		    !strpbrk(word, "*?") && !match_placed(p, i, word))
			continue;
		ok[k->a->same_func[i]] |= 2;
	}
	for (uint32_t i = 0; !rc && i < p->funcs.n; i++)
		if (ok[i] & 2)
			rc = add_function(k, i, false);
	buf_fini(&full);
	free(ok);
	return rc;
}

static int add_meant(struct chooser *k, struct error *err)
{
	const char *what = k->a->spec.what, *colon = strrchr(what, ':');
	uint32_t line = 0;
	size_t n = strlen(what);
	int rc;

	if (colon && colon[1] && strlen(colon + 1) < 9 &&
	    strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		line = (uint32_t)strtoul(colon + 1, NULL, 10);
		n = (size_t)(colon - what);
	}
	rc = add_named(k, what, true, err);
	if (!rc && !k->found.n)
		rc = add_files(k, what, n, line);
	if (!rc && !k->found.n)
		rc = add_hottest(k, what);
	if (!rc && !k->found.n)
		rc = add_named(k, what, false, err);
	if (!rc && !k->found.n)
		rc = error_set(err, ERR_NOTFOUND,
			       "no function, source file or image with samples "
			       "is called '%s': tally report shows the names",
			       what);
	return rc;
}

static int hotter(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return descending(a->weight, b->weight) ?: ascending(a->at, b->at);
}

static bool reaches_limit(const struct annotation *a, const struct candidate *c)
{
	return a->spec.what || !a->ncols ||
	       100.0 * (double)c->count >=
		       a->spec.limit * (double)annot_all(a, 0).count;
}

static int take(struct chooser *k)
{
	struct annotation *a = k->a;

	vec_sort(&k->found, hotter);
	for (size_t i = 0; i < k->found.n; i++) {
		if ((a->spec.top && a->units.n >= a->spec.top) ||
		    !reaches_limit(a, &k->found.v[i])) {
			a->hidden++;
			continue;
		}
		if (vec_push(&a->units, k->found.v[i].unit) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Adds the unit given by spec.pick, regardless of its cost. */
static int add_pick(struct annotation *a, struct error *err)
{
	const struct annot_pick *k = a->spec.pick;
	struct annot_unit u = { .kind = k->kind, .func = PROF_NONE,
				.symbol = PROF_NONE };

	if (k->kind == UNIT_FUNCTION && k->id < a->p->funcs.n) {
		u.func = a->same_func[k->id];
		u.image = a->p->funcs.v[k->id].image;
	} else if (k->kind == UNIT_CODE && k->id < a->p->symbols.n) {
		u.symbol = k->id;
		u.image = a->p->symbols.v[k->id].image;
	} else if (k->kind == UNIT_FILE) {
		u.file = k->id;
	} else {
		return error_set(err, ERR_NOTFOUND, "no such function");
	}
	return vec_push(&a->units, u);
}

struct caller_walk {
	const struct annotation *a;
	uint8_t *callers;	/* chooser.callers */
	uint8_t *seen;		/* by node */
};

/* Marks the callers of a stack.  If a node was visited, its callers were
 * visited, too. */
static void mark_callers(void *ctx, uint32_t node, const struct slot *slot,
			 struct cell c)
{
	struct caller_walk *w = ctx;
	const struct profile *p = w->a->p;

	if (w->a->agg.col_of[slot->event] == PROF_NONE || !c.count || !node)
		return;
	for (node = p->nodes.v[node].parent; node && !w->seen[node];
	     node = p->nodes.v[node].parent) {
		uint32_t f = profile_loc_frame(p, p->nodes.v[node].loc);

		w->seen[node] = 1;
		for (; f != PROF_NONE; f = p->frames.v[f].outer)
			if (p->frames.v[f].func < p->funcs.n)
				w->callers[w->a->same_func[
					p->frames.v[f].func]] = 1;
	}
}

/* Sets callers[func] (by same_func) of every function that called one with samples. */
static int find_callers(const struct annotation *a, uint8_t *callers)
{
	struct caller_walk w = { .a = a, .callers = callers };

	w.seen = calloc(a->p->nodes.n + 1, sizeof(*w.seen));
	if (!w.seen)
		return -ERR_NOMEM;
	aggregate_each(&a->agg, mark_callers, &w);
	free(w.seen);
	return 0;
}

int annotate_choose(struct annotation *a, struct error *err)
{
	size_t n = a->p->funcs.n, s = a->p->symbols.n;
	struct chooser k = { .a = a };
	int rc = -ERR_NOMEM;

	if (a->spec.pick)
		return add_pick(a, err);
	k.self = calloc(n * a->ncols + 1, sizeof(*k.self));
	k.all = calloc(n * a->ncols + 1, sizeof(*k.all));
	k.seen = calloc(n + 1, sizeof(*k.seen));
	k.codes = calloc(s * a->ncols + 1, sizeof(*k.codes));
	k.callers = calloc(n + 1, 1);
	if (k.self && k.all && k.seen && k.codes && k.callers)
		rc = a->spec.what ? find_callers(a, k.callers) : 0;
	if (!rc) {
		sum_functions(&k);
		rc = a->spec.what ? add_meant(&k, err) : add_hottest(&k, NULL);
		if (!rc)
			rc = take(&k);
	}
	free(k.self);
	free(k.all);
	free(k.seen);
	free(k.codes);
	free(k.callers);
	vec_fini(&k.found);
	if (rc == -ERR_NOMEM || rc == -1)
		return error_nomem(err);
	return rc;
}

bool annot_unit_has_lines(const struct annotation *a,
			  const struct annot_unit *u)
{
	for (size_t i = u->line; i < u->line + u->nlines; i++)
		if (a->lines.v[i].file && a->lines.v[i].line)
			return true;
	return false;
}

void annot_unit_name(const struct annotation *a, const struct annot_unit *u,
		     bool full, struct buf *out)
{
	const struct profile *p = a->p;
	struct buf name = { 0 };
	const char *label = "";
	uint32_t id;

	if (u->kind == UNIT_FILE) {
		buf_str(out, profile_cstr(p, u->file));
		return;
	}
	id = u->kind == UNIT_FUNCTION ? p->funcs.v[u->func].name
				      : p->symbols.v[u->symbol].name;
	if (!*profile_cstr(p, id)) {
		frame_address_name(profile_cstr(p, p->images.v[u->image].path),
				   u->kind == UNIT_CODE
				   ? p->symbols.v[u->symbol].vaddr : 0, out);
		return;
	}
	demangle(profile_cstr(p, id), &name);
	if (full)
		buf_str(out, buf_cstr(&name));
	else
		demangle_short(buf_cstr(&name), out);
	if (u->kind == UNIT_FUNCTION)
		label = label_among(&a->labels, u->func + 1);
	if (*label)
		buf_printf(out, " (%s)", label);
	buf_close(&name, out);
}

void annot_unit_names(const struct annotation *a, bool full,
		      struct name_set *set)
{
	name_set_init(set, a->units.n);
	for (size_t i = 0; i < set->n; i++) {
		annot_unit_name(a, &a->units.v[i], true, &set->full[i]);
		if (full || a->units.v[i].kind == UNIT_FILE)
			buf_str(&set->brief[i], buf_cstr(&set->full[i]));
	}
	name_set_shorten(set);
}
