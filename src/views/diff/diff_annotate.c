// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs functions of two annotations. */
#include "views/diff/diff_annotate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "symbolize/demangle/clones.h"
#include "symbolize/demangle/demangle.h"
#include "views/diff/diff_internal.h"

enum { CODES_MAX = 200 };	/* codes of one function */

struct cell diff_part_cell(const struct diff_annotation *x, int side,
			   size_t row, size_t col)
{
	const struct annotation *a = x->a[side];

	if (row == SIZE_MAX || !a)
		return (struct cell){ 0, 0 };
	return annot_sum(&annot_costs(a, row)[x->col[side][col]]);
}

/* Returns 1 + the row's function in diff.match.funcs; 0 if none. */
static uint32_t row_func(const struct diff *d, uint32_t row)
{
	return d->keys.keys.v[d->rows.v[row].key].func;
}

/* Returns whether `what` is a name of the function with this linkage name: the
 * linkage name itself, the demangled name, or the shortened name. */
static bool is_name(const struct diff *d, uint32_t linkage, const char *what)
{
	struct buf name = { 0 }, shorter = { 0 };
	const char *own = profile_cstr(&d->names, linkage);
	bool is;

	demangle(own, &name);
	name_shorten(buf_cstr(&name), &shorter);
	is = !strcmp(what, own) || !strcmp(what, buf_cstr(&name)) ||
	     !strcmp(what, buf_cstr(&shorter));
	buf_fini(&name);
	buf_fini(&shorter);
	return is;
}

static bool is_on(const struct diff *d, int side, uint32_t row)
{
	return diff_values(d, side, row)->total.count;
}

/* Finds what each function became: itself, the function that it was renamed to, or
 * the new one that all of its code moved to. */
static uint32_t *find_successors(const struct diff *d)
{
	const struct compare_func *v = d->match.funcs.v;
	uint32_t *to = malloc((d->match.funcs.n + 1) * sizeof(*to));

	for (uint32_t i = 0; to && i < d->match.funcs.n; i++)
		to[i] = i;
	for (uint32_t i = 0; to && i < d->match.funcs.n; i++)
		if (v[i].before != COMPARE_NONE)
			to[v[i].before] = i;
	for (uint32_t i = 0; to && i < d->rows.n; i++) {
		uint32_t of = d->moved_from[i];

		if (of != PROF_NONE && !is_on(d, DIFF_OLD, i) &&
		    !is_on(d, DIFF_NEW, of) && row_func(d, i))
			to[row_func(d, of) - 1] = row_func(d, i) - 1;
	}
	return to;
}

/* Returns the name on a side that `what` refers to, because a function may have
 * had another name. */
static const char *meant(const struct diff_annotation *x, int side)
{
	const struct compare_func *v = x->d->match.funcs.v;

	for (size_t i = 0; x->spec.what && i < x->d->match.funcs.n; i++) {
		uint32_t name[DIFF_SIDES] = { v[i].name, v[x->became[i]].name };

		if (name[0] != name[1] && is_name(x->d, name[!side], x->spec.what))
			return profile_cstr(&x->d->names, name[side]);
	}
	return x->spec.what;
}

/* Returns the name by which an old function is paired. */
static uint32_t name_now(const struct diff_annotation *x, uint32_t name)
{
	const struct compare_func *v = x->d->match.funcs.v;

	for (size_t i = 0; i < x->d->match.funcs.n; i++)
		if (x->became[i] != i && v[i].name == name)
			return v[x->became[i]].name;
	return name;
}

/* Returns the key of an annotation's unit in the diff.  `funcs` maps its
 * functions. */
static uint64_t unit_key(const struct diff_annotation *x, int side,
			 const struct annot_unit *u, const uint32_t *funcs)
{
	const struct profile *p = x->a[side]->p;
	struct diff *d = x->d;
	const char *name;
	uint32_t id, image;

	if (u->kind == UNIT_FILE)
		return (uint64_t)UNIT_FILE << 62 | d->side[side].file_of[u->file];
	if (u->kind == UNIT_FUNCTION) {
		uint32_t func = funcs[u->func];

		if (side == DIFF_OLD && func < d->match.funcs.n)
			func = x->became[func];
		return 2ull << 62 | func;
	}
	name = profile_cstr(p, p->symbols.v[u->symbol].name);
	id = strtab_add_n(&d->names.str, name, clone_base(name));
	if (side == DIFF_OLD && id != PROF_STR_EMPTY)
		id = name_now(x, id);
	image = d->side[side].image_of[u->image];
	/* code without a name has no counterpart */
	if (id == PROF_STR_EMPTY)
		return 3ull << 62 | (uint64_t)side << 61 | u->symbol;
	return (uint64_t)(image & 0x3fffffff) << 32 | id;
}

/* Maps functions to the diff.  An annotation shows copies in several images as
 * one; these map to the first of them. */
static uint32_t *unit_funcs(const struct diff *d, int side,
			    const struct annotation *a)
{
	const uint32_t *of = d->side[side].func_of;
	uint32_t *first = malloc((a->p->funcs.n + 1) * sizeof(*first));

	for (size_t i = 0; first && i < a->p->funcs.n; i++)
		first[i] = PROF_NONE >> 1;
	for (size_t i = 0; first && i < a->p->funcs.n; i++)
		if (of[i] < first[a->same_func[i]])
			first[a->same_func[i]] = of[i];
	return first;
}

static int add_units(struct diff_annotation *x, int side, struct u64map *tab)
{
	const struct annotation *a = x->a[side];
	const struct diff_unit none = { .unit = { SIZE_MAX, SIZE_MAX } };
	uint32_t *funcs = a ? unit_funcs(x->d, side, a) : NULL;
	int rc = a && !funcs ? -ERR_NOMEM : 0;

	for (size_t i = 0; !rc && a && i < a->units.n; i++) {
		uint32_t *slot = u64map_slot(tab, unit_key(x, side,
						&a->units.v[i], funcs));
		struct diff_unit *u;

		if (!slot) {
			rc = -ERR_NOMEM;
			break;
		}
		/* several functions with one name on a side: the hottest is
		 * paired */
		if (*slot == U64MAP_NONE ||
		    x->units.v[*slot].unit[side] != SIZE_MAX) {
			*slot = (uint32_t)x->units.n;
			if (vec_push(&x->units, none) < 0) {
				rc = -ERR_NOMEM;
				break;
			}
		}
		u = &x->units.v[*slot];
		u->unit[side] = i;
	}
	free(funcs);
	return rc;
}

static size_t unit_total(const struct diff_annotation *x, int side,
			 const struct diff_unit *u)
{
	return u->unit[side] == SIZE_MAX
		       ? SIZE_MAX : x->a[side]->units.v[u->unit[side]].total;
}

static int most_changed(const void *a, const void *b)
{
	const struct diff_unit *x = a, *y = b;
	double c = fabs(x->change.change), e = fabs(y->change.change);

	return descending(c, e) ?:
	       ascending(x->unit[DIFF_NEW], y->unit[DIFF_NEW]) ?:
	       ascending(x->unit[DIFF_OLD], y->unit[DIFF_OLD]);
}

static int pair_units(struct diff_annotation *x)
{
	struct u64map tab = { 0 };
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = add_units(x, s, &tab);
	u64map_fini(&tab);
	for (size_t i = 0; !rc && i < x->units.n; i++) {
		struct diff_unit *u = &x->units.v[i];

		diff_change_of(x->d, 0,
			       diff_part_cell(x, 0, unit_total(x, 0, u), 0),
			       diff_part_cell(x, 1, unit_total(x, 1, u), 0),
			       &u->change);
	}
	if (!rc)
		vec_sort(&x->units, most_changed);
	if (!rc && x->spec.top && x->units.n > x->spec.top) {
		x->hidden = x->units.n - x->spec.top;
		x->units.n = x->spec.top;
	}
	return rc;
}

/* Maps columns of the diff to the annotation's; events have the same order
 * there. */
static int map_columns(struct diff_annotation *x, int side)
{
	const struct annotation *a = x->a[side];
	size_t n = x->d->cols.n;

	x->col[side] = calloc(n + 1, sizeof(**x->col));
	if (!x->col[side])
		return -ERR_NOMEM;
	for (size_t c = 0; a && c < n; c++)
		x->col[side][c] =
			a->agg.col_of[x->d->cols.v[c].event[side]];
	return 0;
}

/* Marks the functions of a side with the most changed rows.  If any row changed
 * significantly, only those rows count. */
static uint8_t *changed_functions(struct diff_annotation *x, int side)
{
	struct diff *d = x->d;
	const struct profile *p = d->side[side].p;
	uint8_t *is = calloc(d->match.funcs.n + 1, 1);
	uint8_t *out = calloc(p->funcs.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; is && i < d->order.n; i++) {
		uint32_t row = d->order.v[i];

		if (!row_func(d, row) ||
		    (d->real && !diff_row_change(d, row, 0,
						 d->spec.by_total)->real))
			continue;
		if (x->spec.top && n++ >= x->spec.top)
			break;
		is[row_func(d, row) - 1] = 1;
	}
	for (size_t i = 0; is && out && i < p->funcs.n; i++)
		out[i] = is[d->side[side].func_of[i]];
	if (!is) {
		free(out);
		out = NULL;
	}
	free(is);
	return out;
}

static int build_side(struct diff_annotation *x, int side, struct error *err)
{
	uint8_t *funcs = NULL;
	struct annotate_spec spec = {
		.select = x->d->spec.select, .what = meant(x, side),
		.code = x->spec.code, .intel = x->spec.intel,
		.where = x->d->spec.where[side],
	};
	int rc;

	if (!x->spec.what) {
		spec.funcs = funcs = changed_functions(x, side);
		if (!funcs)
			return error_nomem(err);
	}
	reader_rewind(x->d->side[side].reader);
	rc = annotate_build(x->d->side[side].reader, &spec, &x->a[side], err);
	if (x->a[side])
		x->a[side]->spec.funcs = NULL;
	free(funcs);
	/* a function missing on one side is new or gone */
	if (rc == -ERR_NOTFOUND && (side == DIFF_OLD || x->a[DIFF_OLD]))
		rc = 0;
	return rc;
}

/* Computes the changes of rows [first, end) of a unit in a column, adjusted for
 * their number. */
static int judge_rows(struct diff_annotation *x, struct diff_unit *u,
		      size_t first, size_t end, size_t col)
{
	size_t nc = x->d->cols.n;
	struct cost_change *v = u->changes + first * nc + col;
	long tested;

	for (size_t i = first; i < end; i++) {
		const struct listing_row *r = &u->list.rows.v[i];

		diff_change_of(x->d, col, diff_part_cell(x, 0, r->cost[0], col),
			       diff_part_cell(x, 1, r->cost[1], col),
			       v + (i - first) * nc);
	}
	tested = cost_changes_adjust(v, end - first, nc);
	return tested < 0 ? (int)tested : 0;
}

/* Computes the changes of a unit's rows.  All its lines are adjusted together,
 * and so are the instructions of each code. */
static int judge(struct diff_annotation *x, struct diff_unit *u)
{
	const struct listing *l = &u->list;
	size_t nc = x->d->cols.n, first = 0, end;
	int rc = 0;

	u->changes = calloc(l->rows.n * nc + 1, sizeof(*u->changes));
	if (!u->changes)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < l->groups.n; i++, first = end) {
		end = l->groups.v[i].row + l->groups.v[i].nrows;
		/* files come first */
		if (!l->groups.v[i].is_code && i + 1 < l->groups.n &&
		    !l->groups.v[i + 1].is_code)
			end = first;
		for (size_t c = 0; !rc && end > first && c < nc; c++)
			rc = judge_rows(x, u, first, end, c);
	}
	return rc;
}

/* Aligns the lines and instructions of a unit. */
static int list_unit(struct diff_annotation *x, struct diff_unit *u)
{
	struct listing_spec spec = {
		.ncols = x->d->cols.n, .codes = CODES_MAX, .all = true,
	};

	for (int s = 0; s < DIFF_SIDES; s++) {
		/* a listing without the other side is one of a pair, too */
		spec.a[s] = x->a[s] ? x->a[s] : x->a[!s];
		spec.u[s] = u->unit[s] == SIZE_MAX
				    ? NULL : &x->a[s]->units.v[u->unit[s]];
		spec.file_of[s] = x->d->side[s].file_of;
		spec.col[s] = x->col[s];
	}
	listing_init(&u->list, &spec);
	return listing_add_files(&u->list) ?:
	       listing_add_codes(&u->list) ?:
	       judge(x, u);
}

static int build(struct diff_annotation *x, struct error *err)
{
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = build_side(x, s, err);
	if (rc < 0)
		return rc;
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = map_columns(x, s);
	if (!rc)
		rc = pair_units(x);
	for (size_t i = 0; !rc && i < x->units.n; i++)
		rc = list_unit(x, &x->units.v[i]);
	return rc ? error_nomem(err) : 0;
}

int diff_annotate(struct diff *d, const struct diff_annotate_spec *spec,
		  struct diff_annotation **out, struct error *err)
{
	struct diff_annotation *x = calloc(1, sizeof(*x));
	int rc;

	*out = NULL;
	if (!x)
		return error_nomem(err);
	x->d = d;
	x->spec = *spec;
	x->became = find_successors(d);
	rc = x->became ? build(x, err) : error_nomem(err);
	if (rc < 0) {
		diff_annotation_free(x);
		return rc;
	}
	*out = x;
	return 0;
}

void diff_annotation_free(struct diff_annotation *x)
{
	if (!x)
		return;
	for (int s = 0; s < DIFF_SIDES; s++) {
		annotate_free(x->a[s]);
		free(x->col[s]);
	}
	for (size_t i = 0; i < x->units.n; i++) {
		listing_fini(&x->units.v[i].list);
		free(x->units.v[i].changes);
	}
	vec_fini(&x->units);
	free(x->became);
	free(x);
}

void diff_unit_name(const struct diff_annotation *x, const struct diff_unit *u,
		    bool full, struct buf *out)
{
	int side = u->unit[DIFF_NEW] != SIZE_MAX ? DIFF_NEW : DIFF_OLD;

	annot_unit_name(x->a[side], &x->a[side]->units.v[u->unit[side]], full,
			out);
}
