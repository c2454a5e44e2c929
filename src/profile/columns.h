/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_COLUMNS_H
#define TALLY_PROFILE_COLUMNS_H
/*
 * The payload of a SAMPLES chunk: the columns one after another, each
 * compressed separately, so that a reader inflates only the columns it needs.
 *
 *	payload = tick_ns.uleb base_ns.uleb column[6], perhaps column[1]
 *	column  = code.u8 codec.u8 raw.uleb stored.uleb bytes[stored]
 *	order   = time thread cpu event weight stack, more
 *
 * The number of rows is in the chunk's header.  Codes:
 *	0 CONST   one uleb: every row has this value
 *	1 DELTA   sleb per row: value - value of the row before (0 at first)
 *	2 PLANES  width.u8, then `width` planes of one byte a row: plane k holds
 *	          bits 8k..8k+7
 *	3 RECENT  base.uleb, then as PLANES recent_code (format.h) of each value;
 *	          max starts as base
 *
 * Times are ticks since base_ns, then DELTA or PLANES like any other value.
 */
#include "base/buf.h"
#include "profile/format.h"
#include "profile/model.h"

enum { COLUMNS = 7 };	/* the last one is left out if all its values are 0 */

/* Rows of one batch; all arrays have room for SAMPLE_BATCH rows. */
struct sample_columns {
	size_t n;
	uint64_t *time_ns, *weight, *more;
	uint32_t *thread, *cpu, *event, *stack;
};

/* Returns 0 or -ERR_NOMEM. */
int columns_init(struct sample_columns *c);
void columns_fini(struct sample_columns *c);

/* Appends the payload. */
void columns_put(struct buf *out, const struct sample_columns *c, struct deflater *d);
/* Decodes the columns in `mask` (COLUMN_*) of `rows` rows; returns false if the
 * bytes are invalid.  `scratch` is reused between calls. */
bool columns_get(const uint8_t *p, size_t n, size_t rows, unsigned int mask,
		 struct sample_columns *out, struct buf *scratch);

#endif
