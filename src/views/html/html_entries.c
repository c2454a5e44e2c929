// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts entries, merges equal ones, and makes time slices wider. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/html/html_data.h"

static int by_key(const void *x, const void *y)
{
	uint64_t a = html_entry_key(x), b = html_entry_key(y);

	return ascending(a, b);
}

/* Sorts one node's entries and merges equal ones.  Returns their number. */
static size_t merge_node(struct html_entry *v, size_t n)
{
	size_t k = 0;

	sort_rows(v, n, by_key);
	for (size_t i = 0; i < n; i++) {
		if (k && by_key(&v[k - 1], &v[i]) == 0)
			cell_add(&v[k - 1].c, v[i].c);
		else
			v[k++] = v[i];
	}
	return k;
}

/* Sorts by node first, by counting, because there are as many nodes as
 * entries. */
int html_entries_merge(struct html_entries *e)
{
	size_t n = e->v.n, nodes = e->nodes, k = 0;
	struct html_entry *to = malloc((n + 1) * sizeof(*to));
	size_t *end = calloc(nodes + 1, sizeof(*end));

	if (!to || !end) {
		free(to);
		free(end);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++)
		end[e->v.v[i].node + 1]++;
	for (size_t i = 0; i < nodes; i++)
		end[i + 1] += end[i];
	for (size_t i = 0; i < n; i++)
		to[end[e->v.v[i].node]++] = e->v.v[i];
	for (size_t i = 0; i < nodes; i++) {
		size_t from = i ? end[i - 1] : 0;
		size_t left = merge_node(&to[from], end[i] - from);

		memmove(&to[k], &to[from], left * sizeof(*to));
		k += left;
	}
	free(end);
	free(e->v.v);
	e->v.v = to;
	e->v.cap = n + 1;
	e->v.n = k;
	return 0;
}

static int halve(struct html_entries *e)
{
	for (size_t i = 0; i < e->v.n; i++)
		e->v.v[i].bucket /= 2;
	return html_entries_merge(e);
}

int html_coarsen(struct html_data *d)
{
	d->buckets /= 2;
	d->width_ns *= 2;
	if (halve(&d->entries) < 0 || halve(&d->lines.entries) < 0)
		return -ERR_NOMEM;
	return halve(&d->lines.call_entries);
}
