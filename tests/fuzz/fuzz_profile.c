// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arbitrary bytes as a .tally file: tables, samples, chunk list.  The checksums
 * that would reject almost every mutation are made right first, so that the
 * fuzzer reaches what is behind them.
 */
#include <stdlib.h>
#include <string.h>

#include "mend.h"
#include "profile/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool see_chunk(void *ctx, const struct reader_chunk *c)
{
	*(uint64_t *)ctx += c->offset + c->good;
	return true;
}

/* Walks everything that a view would walk: a wrong id would crash here. */
static uint64_t walk(struct reader *r)
{
	const struct profile *p = reader_profile(r);
	struct sample_batch b;
	uint64_t sum = 0;

	reader_columns(r, COLUMN_EVENT | COLUMN_STACK | COLUMN_MORE);
	reader_rewind_sums(r);
	while (reader_next(r, &b))
		for (size_t i = 0; i < b.n; i++)
			sum += p->events.v[b.event[i]].name + b.more[i] +
			       p->nodes.v[b.stack[i]].loc;
	reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (reader_next(r, &b)) {
		for (size_t i = 0; i < b.n; i++) {
			uint32_t node = b.stack[i];

			sum += p->threads.v[b.thread[i]].run +
			       p->events.v[b.event[i]].name + b.time_ns[i];
			if (p->nodes.v[node].loc < p->locs.n)
				sum += p->locs.v[p->nodes.v[node].loc].image;
		}
	}
	for (size_t i = 0; i < p->locs.n; i++) {
		uint32_t f = profile_loc_frame(p, (uint32_t)i);

		sum += p->images.v[p->locs.v[i].image].path;
		for (; f != PROF_NONE; f = p->frames.v[f].outer)
			sum += p->funcs.v[p->frames.v[f].func].image;
	}
	for (size_t i = 1; i < p->nodes.n; i++)
		sum += p->nodes.v[p->nodes.v[i].parent].loc;
	for (size_t i = 0; i < p->codes.n; i++)
		sum += p->code_bytes.p[p->codes.v[i].offset +
				       p->codes.v[i].size - 1];
	reader_each_chunk(r, see_chunk, &sum);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct reader *r;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size > 10 && !data[10])
		mend_checksums(copy, size);
	if (!reader_open_bytes(copy, size, "fuzz", &r, NULL)) {
		/* the sum counts as used: nothing of the walk is left out */
		__asm__ volatile("" : : "r"(walk(r)));
		reader_close(r);
	}
	free(copy);
	return 0;
}
