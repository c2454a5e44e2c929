// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of counters in samples. */
#include "import/perf_counts.h"

#include <linux/perf_event.h>

#include "base/error.h"

#define FORMAT_LOST (1u << 4)	/* missing in older <linux/perf_event.h> */

void perf_counts_fini(struct perf_counts *s)
{
	vec_fini(&s->rows);
	idtab_fini(&s->tab);
}

static bool count_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct perf_counts *s = ctx;
	const struct perf_count *want = key, *row = &s->rows.v[id];

	return row->id == want->id && row->tid == want->tid;
}

int perf_counts_gain(struct perf_counts *s, uint64_t id, uint32_t tid,
		     uint64_t value, uint64_t *gain)
{
	struct perf_count new = { .id = id, .tid = tid };
	uint64_t h = hash_mix(hash_u64(id), tid);
	uint32_t at = idtab_find(&s->tab, h, count_eq, s, &new);
	struct perf_count *row;

	if (at == IDTAB_NONE) {
		at = (uint32_t)s->rows.n;
		if (vec_push(&s->rows, new) < 0 ||
		    idtab_add(&s->tab, h, at) < 0)
			return -ERR_NOMEM;
	}
	row = &s->rows.v[at];
	*gain = value > row->value ? value - row->value : 0;
	row->value = value;
	return 0;
}

struct perf_counts_reader perf_counts_open(struct cursor *c, uint64_t format)
{
	struct perf_counts_reader r = { .left = 1, .format = format };
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	bool group = format & PERF_FORMAT_GROUP;

	/* The times stand before the values of a group, and behind a single value. */
	if (group) {
		r.left = cursor_u64(c);
		cursor_skip(c, 8 * times);
	}
	if (r.left > cursor_left(c) / 8)
		cursor_fail(c);
	if (c->bad) {
		r.left = 0;
		return r;
	}
	r.c = *c;
	cursor_skip(c, 8 * (r.left * each + (group ? 0 : times)));
	if (!(format & PERF_FORMAT_ID) || c->bad)
		r.left = 0;
	return r;
}

bool perf_counts_next(struct perf_counts_reader *r, uint64_t *id, uint64_t *value)
{
	if (!r->left)
		return false;
	r->left--;
	*value = cursor_u64(&r->c);
	if (!(r->format & PERF_FORMAT_GROUP))
		cursor_skip(&r->c, 8 * (!!(r->format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
					!!(r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)));
	*id = cursor_u64(&r->c);
	if (r->format & FORMAT_LOST)
		cursor_skip(&r->c, 8);
	return !r->c.bad;
}
