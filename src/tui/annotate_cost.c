// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs of the rows of an annotated function, and keys that go to costly
 * rows. */
#include "tui/annotate_page.h"
#include "views/query/interval.h"

size_t annotate_page_column(const struct annotate_page *ap)
{
	return ap->pg.t->m.event < ap->a->ncols ? ap->pg.t->m.event : 0;
}

struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row)
{
	const struct annot_cost none = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	size_t cost = ap->rows.v[row].cost;

	if (cost == SIZE_MAX || !ap->a->ncols)
		return none;
	return annot_costs(ap->a, cost)[annotate_page_column(ap)];
}

bool annotate_page_noise(const struct annotate_page *ap,
			 const struct annot_cost *c)
{
	size_t col = annotate_page_column(ap);
	struct cell sum = annot_sum(c);

	cell_add(&sum, c->called);
	return interval_hides(annot_event(ap->a, col), sum,
			      annot_all(ap->a, col));
}

/* Returns whether n and N stop at a row: one above noise, or any with cost if
 * `any`. */
static bool is_hot(const struct annotate_page *ap, size_t i, bool any)
{
	struct annot_cost c = annotate_page_cost(ap, i);

	return annot_sum(&c).count && (any || !annotate_page_noise(ap, &c));
}

bool annotate_page_next_hot(struct annotate_page *ap, bool back)
{
	size_t n = ap->rows.n;

	for (int any = 0; any < 2; any++)
		for (size_t k = 1; k <= n; k++) {
			size_t i = (ap->pg.cursor + (back ? n - k : k)) % n;

			if (!is_hot(ap, i, any))
				continue;
			page_go(&ap->pg, i);
			return true;
		}
	return false;
}

static uint64_t weight_at(const struct annotate_page *ap, size_t i)
{
	struct annot_cost c = annotate_page_cost(ap, i);

	return annot_sum(&c).weight ? annot_sum(&c).weight
				    : annot_sum(&c).count;
}

/* Returns whether row i comes before row k in order of cost, highest first. */
static bool dearer(const struct annotate_page *ap, size_t i, size_t k)
{
	uint64_t a = weight_at(ap, i), b = weight_at(ap, k);

	return a != b ? a > b : i < k;
}

void annotate_page_next_by_cost(struct annotate_page *ap, bool back)
{
	size_t best = SIZE_MAX, dearest = SIZE_MAX, now = ap->pg.cursor;

	for (size_t i = 0; i < ap->rows.n; i++) {
		if (!weight_at(ap, i))
			continue;
		if (dearest == SIZE_MAX || dearer(ap, i, dearest))
			dearest = i;
		if (now >= ap->rows.n || i == now ||
		    dearer(ap, i, now) != back)
			continue;
		if (best == SIZE_MAX || dearer(ap, i, best) != back)
			best = i;
	}
	if (best == SIZE_MAX || now >= ap->rows.n || !weight_at(ap, now))
		best = dearest;
	if (best != SIZE_MAX)
		page_go(&ap->pg, best);
}
