// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the call tree of both sides of a diff. */
#include <stdlib.h>

#include "views/diff/diff_internal.h"

/* Returns the diff's column by the report's; PROF_NONE: not on the other
 * side. */
static uint32_t *columns_of(const struct diff *d, int side,
			    const struct report *rep)
{
	uint32_t *col_of = malloc((rep->agg.ncols + 1) * sizeof(*col_of));

	for (size_t c = 0; col_of && c < rep->agg.ncols; c++)
		col_of[c] = PROF_NONE;
	for (uint32_t c = 0; col_of && c < d->cols.n; c++)
		col_of[d->cols.v[c].col[side]] = c;
	return col_of;
}

static int build(const struct diff *d, struct calltree *t,
		 struct report **made, uint32_t **col_of, double *scale,
		 struct error *err)
{
	struct calltree_source sources[DIFF_SIDES] = { 0 };
	struct calltree_spec spec = {
		.sources = sources, .nsources = DIFF_SIDES,
		.nsides = DIFF_SIDES, .ncols = d->cols.n, .scale = scale,
		.merge_inlined = true
	};

	for (int s = 0; s < DIFF_SIDES; s++) {
		/* the diff's own, if that has one lane */
		bool own = d->side[s].p->runs.n <= 1;
		int rc = own ? 0 : diff_side_report(d, s, &made[s], err);

		if (rc)
			return rc;
		sources[s].rep = own ? d->side[s].rep : made[s];
		col_of[s] = columns_of(d, s, sources[s].rep);
		if (!col_of[s])
			return error_nomem(err);
		sources[s].col_of = col_of[s];
		sources[s].func_of = d->side[s].key_of;
		sources[s].side = (unsigned int)s;
		for (size_t c = 0; c < d->cols.n; c++)
			scale[(size_t)s * d->cols.n + c] = d->cols.v[c].per[s];
	}
	return calltree_build(t, &spec, err);
}

int diff_tree(const struct diff *d, struct calltree *t, struct error *err)
{
	struct report *made[DIFF_SIDES] = { 0 };
	uint32_t *col_of[DIFF_SIDES] = { 0 };
	double *scale = calloc(DIFF_SIDES * d->cols.n + 1, sizeof(*scale));
	int rc;

	*t = (struct calltree){ 0 };
	if (d->spec.keys.mask != (KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL)) ||
	    d->spec.select.symbols.n || d->spec.select.images.n)
		rc = error_set(err, ERR_USAGE, "a flame graph compares all "
			       "functions and cannot be combined with --by, "
			       "--symbol or --image");
	else
		rc = scale ? build(d, t, made, col_of, scale, err)
			   : error_nomem(err);
	for (int s = 0; s < DIFF_SIDES; s++) {
		report_free(made[s]);
		free(col_of[s]);
	}
	free(scale);
	return rc;
}

void diff_tree_name(const struct diff *d, uint32_t func, struct buf *out)
{
	if (func >= CALLTREE_SPECIAL)
		calltree_func_name(d->side[DIFF_OLD].rep, func, out);
	else
		diff_name_alone(d, func, out);
}
