/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_TID_ROWS_H
#define TALLY_RECORD_WAITS_TID_ROWS_H
/*
 * Finds the row of a thread in the owner's table by thread number, and reuses the rows of
 * threads that ended.  Each row contains its thread's number.  The owner compares it after
 * each lookup, because the row may belong to another thread by then.
 *
 *	i = tid_rows_add(&t->index, tid, t->rows.n);
 *	if (i == U64MAP_NONE || (i == t->rows.n && vec_push(&t->rows, row) < 0))
 *		out of memory
 *	t->rows.v[i] = row;
 */
#include "base/hash.h"
#include "base/vec.h"

struct tid_rows {
	struct u64map by_tid;
	VEC(uint32_t) free;
};

static inline void tid_rows_fini(struct tid_rows *r)
{
	u64map_fini(&r->by_tid);
	vec_fini(&r->free);
}

static inline void tid_rows_clear(struct tid_rows *r)
{
	u64map_clear(&r->by_tid);
	r->free.n = 0;
}

/* Returns the row that a thread may have, or U64MAP_NONE. */
static inline uint32_t tid_rows_get(const struct tid_rows *r, uint32_t tid)
{
	return u64map_get(&r->by_tid, tid);
}

/* Gives a new thread a free row, or else the next one, `used`.  Returns U64MAP_NONE if
 * memory ran out. */
static inline uint32_t tid_rows_add(struct tid_rows *r, uint32_t tid, size_t used)
{
	uint32_t *slot = u64map_slot(&r->by_tid, tid);

	if (!slot)
		return U64MAP_NONE;
	*slot = r->free.n ? r->free.v[--r->free.n] : (uint32_t)used;
	return *slot;
}

/* Frees the row of a thread that ended; the owner clears it.  Returns false if memory ran
 * out: the row then stays. */
static inline bool tid_rows_free(struct tid_rows *r, size_t row)
{
	return vec_push(&r->free, (uint32_t)row) >= 0;
}

#endif
