// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a PHP, of any contents: the walk of its frames, and what the recorder makes
 * of them.  The first byte chooses the version; the memory begins at BASE with
 * executor_globals.  The list of modules is at BASE + 1024.
 */
#include <stdlib.h>
#include <string.h>

#include "record/collect/python.h"
#include "runtime/php_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x100000ull
enum { READS_MAX = 64 * FRAME_ENTRIES_MAX, MODULES = 1024, SIZE_MAX_HERE = 1 << 16 };

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned int reads;
	struct buf part;
};

static size_t read_memory(void *ctx, const struct frame_span *v, size_t n, void *to)
{
	struct memory *m = ctx;
	size_t done = 0;

	if (++m->reads > READS_MAX)
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

static void put_part(void *ctx, const void *p, size_t n)
{
	struct memory *m = ctx;

	buf_bytes(&m->part, p, n);
}

static void merge(const uint8_t *part, size_t n)
{
	static const uint64_t pc[] = { 0x1000, 0x2000, 0x3000, 0x4000 };
	static const uint64_t sp[] = { BASE, BASE + 0x40, BASE + 0x100, BASE + 0x4000 };
	struct record_sample s = { .frames = part, .frame_bytes = n };
	struct profile p;
	struct images im;
	struct python py;

	if (profile_init(&p) < 0 || images_init(&im, &p, "/nonexistent") < 0 ||
	    python_init(&py, &im) < 0)
		abort();
	python_merge(&py, 1, pc, sp, 4, &s);
	if (!s.nuser || s.nuser > PYTHON_CHAIN_MAX)
		abort();
	python_fini(&py);
	images_fini(&im);
	profile_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_scratch scratch;
	static uint64_t seen[FRAME_SEEN];
	struct memory m = { 0 };
	struct frame_door door = { read_memory, put_part, &m, seen };
	struct php_types t = { .globals = BASE, .modules = BASE + MODULES,
			       .loop = 0x2000, .loop_bytes = 0x1000 };
	struct php_registers regs = { 0 };
	size_t n;

	if (size < 17 || size > SIZE_MAX_HERE)
		return 0;
	t.globals_bytes = data[0] & 1 ? 1984 : 1776;
	memcpy(&regs.frame, data + 1, 8);
	memcpy(&regs.op, data + 9, 8);
	m.bytes = data + 17;
	m.size = size - 17;
	memset(seen, 0, sizeof(seen));
	if (php_layout(&t, &door)) {
		n = php_walk(&t, &regs, &door, &scratch);
		if (n != m.part.n || n > FRAME_PART_MAX)
			abort();
		if (n)
			merge(m.part.p, m.part.n);
	}
	buf_fini(&m.part);
	return 0;
}
