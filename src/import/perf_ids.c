// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the event of a sample, and the identification in other records. */
#include <byteswap.h>
#include <string.h>

#include "import/perf_file.h"

/* Fields at the end of records other than samples, by bits of sample_type. */
#define ID_FIELDS ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	PERF_SAMPLE_IDENTIFIER))

/* Each requested field has eight bytes. */
uint64_t perf_file_words_before(uint64_t sample_type, uint64_t field)
{
	static const uint64_t order[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	};
	uint64_t n = 0;

	for (size_t i = 0; order[i] != field; i++)
		n += !!(sample_type & order[i]);
	return n;
}

/* Events that share a file have IDs at the same place. */
uint32_t perf_file_event(const struct perf_file *f, const uint8_t *body,
			 size_t n, bool swapped)
{
	uint64_t type, at = 0, id;

	if (f->events.n <= 1)
		return f->events.n ? 0 : U64MAP_NONE;
	type = f->events.v[0].attr.sample_type;
	if (!(type & PERF_SAMPLE_IDENTIFIER)) {
		if (!(type & PERF_SAMPLE_ID))
			return U64MAP_NONE;
		at = perf_file_words_before(type, PERF_SAMPLE_ID);
	}
	if (at >= n / 8)
		return U64MAP_NONE;
	memcpy(&id, body + at * 8, 8);
	return u64map_get(&f->ids, swapped ? bswap_64(id) : id);
}

size_t perf_file_trailer(const struct perf_file *f, uint32_t type)
{
	const struct perf_event_attr *a;

	if (!f->events.n || type >= PERF_FILE_USER)
		return 0;
	a = &f->events.v[0].attr;
	return a->sample_id_all ? (size_t)__builtin_popcountll(
					  a->sample_type & ID_FIELDS) * 8
				: 0;
}
