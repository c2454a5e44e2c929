/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_FUZZ_FRAMES_H
#define TALLY_TESTS_FUZZ_FRAMES_H
/* The memory of an interpreter, of any contents, and what the recorder makes of the
 * frames that were found in it. */
#include <stdlib.h>
#include <string.h>

#include "record/collect/python.h"

#define BASE 0x100000ull	/* where the memory begins */

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned int reads, most;
	struct buf part;
};

static inline size_t read_memory(void *ctx, const struct frame_span *v, size_t n,
				 void *to)
{
	struct memory *m = ctx;
	size_t done = 0;

	if (++m->reads > m->most)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i].at - BASE;

		if (at > m->size || v[i].n > m->size - at)
			return done;
		memcpy((uint8_t *)to + done, m->bytes + at, v[i].n);
		done += v[i].n;
	}
	return done;
}

static inline void put_part(void *ctx, const void *p, size_t n)
{
	struct memory *m = ctx;

	buf_bytes(&m->part, p, n);
}

/* Functions are 4 KB in size. */
static inline bool in_one_function(void *ctx, uint64_t a, uint64_t b)
{
	(void)ctx;
	return a >> 12 == b >> 12;
}

static inline void merge(const uint8_t *part, size_t n)
{
	static const uint64_t pc[] = { 0x1000, 0x2000, 0x3000, 0x4000 };
	static const uint64_t sp[] = { BASE, BASE + 0x40, BASE + 0x100,
				       BASE + 0x4000 };
	struct record_sample s = { .frames = part, .frame_bytes = n };
	struct profile p;
	struct images im;
	struct python py;

	if (profile_init(&p) < 0 || images_init(&im, &p, "/nonexistent") < 0 ||
	    python_init(&py, &im) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		python_merge(&py, 1, pc, sp, 4, &s, in_one_function, NULL);
		if (!s.nuser || s.nuser > PYTHON_CHAIN_MAX)
			abort();
		/* whatever it says, the outermost caller is who it was */
		if (!s.end.mark && s.user[s.nuser - 1] != pc[3] &&
		    !frame_is_name(&im, s.user[s.nuser - 1]))
			abort();
	}
	python_fini(&py);
	images_fini(&im);
	profile_fini(&p);
}

#endif
