// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables and walks: the input is an ELF file; registers and stack are made from
 * its bytes, so that return addresses are often in its code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNWINDER = 24, STACK = 2048, FRAMES = 64 };

#define STACK_AT 0x7ffc00000000ull

struct space {
	struct unwind_table *t;
	uint64_t lo, hi;
	uint64_t seed;
};

static uint64_t draw(struct space *s)
{
	return s->seed = hash_u64(s->seed + 0x9e3779b97f4a7c15ull);
}

static bool find(void *ctx, uint64_t pc, struct unwind_code *out)
{
	struct space *s = ctx;

	if (pc < s->lo || pc >= s->hi)
		return false;
	*out = (struct unwind_code){ .start = s->lo, .end = s->hi,
				     .table = s->t };
	return true;
}

static bool read_far(void *ctx, uint64_t addr, void *to, size_t n)
{
	(void)ctx;
	memset(to, 0x11, n);
	return addr & 1;
}

/* Code, stack, or anything. */
static uint64_t pick(struct space *s)
{
	uint64_t x = draw(s);

	switch (x & 3) {
	case 0: return x >> 8;
	case 1: return STACK_AT + ((x >> 8) % STACK & ~7ull);
	default: return s->lo + (x >> 8) % (s->hi - s->lo);
	}
}

static size_t walk(struct space *s, struct unwind_cache *cache, bool is32)
{
	struct unwind_space space = { find, NULL, s, 1 + (uint32_t)(s->seed & 1),
				      is32 };
	struct unwind_memory m = { .start = is32 ? (uint32_t)STACK_AT : STACK_AT,
				   .size = STACK, .all = s->seed & 2 };
	uint64_t stack[STACK / 8], pc[FRAMES];
	uint8_t marks[FRAMES];
	struct unwind_stack out = { .pc = pc, .marks = marks, .max = FRAMES };
	struct unwind_regs regs;

	for (size_t i = 0; i < STACK / 8; i++)
		stack[i] = pick(s);
	for (size_t i = 0; i < UNWIND_REGS; i++)
		regs.r[i] = pick(s);
	regs.known = (uint32_t)draw(s) | 1u << UNWIND_RIP | 1u << UNWIND_RSP;
	regs.r[UNWIND_RSP] = m.start;
	if (draw(s) & 1)
		regs.r[UNWIND_RBP] = m.start + (draw(s) % STACK & ~7ull);
	m.bytes = (const uint8_t *)stack;
	if (draw(s) & 1)
		m.read = read_far;
	unwind_walk(cache, &space, &regs, &m, &out);
	if (out.n > FRAMES || out.n < 1 || !unwind_reason_text(out.reason))
		__builtin_trap();
	return out.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct space s = { .seed = hash_bytes(data, size) };
	struct unwind_cache *cache;
	struct image *img;
	size_t sum = 0;
	bool is32;

	if (image_open_bytes(data, size, "fuzz", &img, NULL) < 0)
		return 0;
	is32 = !image_is_64(img);
	if (!image_code_range(img, &s.lo, &s.hi) || s.hi <= s.lo) {
		image_close(img);
		return 0;
	}
	if (unwind_table_open(img, &s.t) < 0)
		return 0;
	if (!unwind_cache_new(&cache)) {
		for (int i = 0; i < UNWINDER; i++)
			sum += walk(&s, cache, is32);
		unwind_cache_free(cache);
	}
	/* all of it, where that is not more than a real file would be */
	if (s.hi - s.lo < 1 << 20)
		unwind_table_compile(s.t);
	sum += unwind_table_stats(s.t).rows;
	unwind_table_close(s.t);
	return sum == SIZE_MAX;
}
