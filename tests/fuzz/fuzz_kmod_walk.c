// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel module's walk of user stacks.  An ELF file: with rows made of its call
 * frame information; a walk that comes to its end must be tally's own of the same
 * registers and memory.  Other bytes are rows, words and rules as a hostile program
 * could bring them: refused, or harmless.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/image.h"
#include "../unwind/kernel_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WALKS = 24, STACK = 2048, FRAMES = 64, REGS = TALLY_COPY_REGS };

#define STACK_AT 0x7ffc00000000ull

struct space {
	struct unwind_table *t;
	struct image *img;
	uint64_t lo, hi;
	uint64_t seed;
	uint64_t stack[STACK / 8];
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

/* Code is what the file has of it. */
static bool read_memory(void *ctx, uint64_t addr, void *to, unsigned int n)
{
	struct space *s = ctx;
	uint64_t off = addr - STACK_AT;
	struct span code;

	if (off < STACK && STACK - off >= n) {
		memcpy(to, (const uint8_t *)s->stack + off, n);
		return true;
	}
	code = s->img ? image_bytes(s->img, addr, n)
		      : (struct span){ NULL, 0 };
	if (code.n < n)
		return false;
	memcpy(to, code.p, n);
	return true;
}

/* Code, stack, or anything; now and then the stack's end. */
static uint64_t pick(struct space *s)
{
	uint64_t x = draw(s);

	switch (x & 7) {
	case 0: return x >> 8;
	case 1: return 0;
	case 2:
	case 3: return STACK_AT + ((x >> 8) % STACK & ~7ull);
	default: return s->lo + (x >> 8) % (s->hi - s->lo);
	}
}

static struct unwind_regs draw_all(struct space *s)
{
	struct unwind_regs regs = { .known = (1u << REGS) - 1 };

	for (size_t i = 0; i < STACK / 8; i++)
		s->stack[i] = pick(s);
	for (int i = 0; i < REGS; i++)
		regs.r[i] = pick(s);
	regs.r[UNWIND_RSP] = STACK_AT;
	return regs;
}

static bool read_far(void *ctx, uint64_t addr, void *to, size_t n)
{
	return addr >= STACK_AT && read_memory(ctx, addr, to, (unsigned)n);
}

static void compare(struct space *s, struct unwind_cache *cache,
		    struct kernel_side *k)
{
	struct unwind_regs regs = draw_all(s);
	struct unwind_space space = { find, NULL, s, 1, false };
	struct unwind_memory m = { .bytes = (const uint8_t *)s->stack,
				   .start = STACK_AT, .size = STACK,
				   .read = read_far, .ctx = s };
	const struct walk_memory mem = { read_memory, s };
	uint64_t ours[FRAMES], theirs[FRAMES];
	uint8_t marks[FRAMES];
	struct unwind_stack out = { .pc = ours, .marks = marks, .max = FRAMES };
	uint32_t n;

	unwind_walk(cache, &space, &regs, &m, &out);
	kernel_side_teach(k, cache, 1, &out);
	if (walk_user(k->maps.v, (uint32_t)k->maps.n, regs.r, &mem, theirs,
		      FRAMES, &n) != TALLY_WALK_COMPLETE)
		return;
	if (out.end != UNWIND_COMPLETE || n != out.n ||
	    memcmp(ours, theirs, n * sizeof(*ours)))
		__builtin_trap();
}

static void of_image(struct space *s, struct unwind_cache *cache)
{
	struct unwind_code code = { .start = s->lo, .end = s->hi,
				    .table = s->t };
	struct kernel_side k;

	kernel_side_open(&k, &code, 1);
	if (!walk_maps_check(k.maps.v, (uint32_t)k.maps.n, UINT64_MAX))
		__builtin_trap();
	for (int i = 0; i < WALKS; i++)
		compare(s, cache, &k);
	if (k.refused)
		__builtin_trap();
	kernel_side_close(&k);
}

/* Rows, words and rules, each in memory of its own. */
static void *part(const uint8_t **p, size_t *left, size_t size, uint32_t *n)
{
	size_t fit = *left / size;
	void *to;

	if (*n > fit)
		*n = (uint32_t)fit;
	to = malloc(*n * size + !*n);
	if (!to)
		abort();
	memcpy(to, *p, *n * size);
	*p += *n * size;
	*left -= *n * size;
	return to;
}

static void of_bytes(const uint8_t *p, size_t size)
{
	struct space s = { .seed = hash_bytes(p, size), .lo = 1 << 16,
			   .hi = 2 << 16 };
	uint16_t counts[3] = { 0 };
	struct walk_page page = { 0 };
	uint32_t nword;

	if (size < sizeof(counts))
		return;
	memcpy(counts, p, sizeof(counts));
	p += sizeof(counts);
	size -= sizeof(counts);
	page.nrows = nword = counts[0] % 64;
	page.nwords = counts[1] % 64;
	page.nrules = counts[2] % 16;
	page.starts = part(&p, &size, sizeof(uint16_t), &page.nrows);
	page.word = part(&p, &size, sizeof(uint16_t), &nword);
	page.words = part(&p, &size, sizeof(uint32_t), &page.nwords);
	page.rules = part(&p, &size, sizeof(struct tally_rule), &page.nrules);
	if (nword == page.nrows && walk_page_check(&page)) {
		const struct walk_page *pages[2] = { &page, NULL };
		struct walk_table t = { s.lo, 2, TALLY_TABLE_GO, pages };
		const struct walk_map maps[] = {
			{ s.lo, s.hi, 0, &t }, { s.hi, s.hi + 9, 0, NULL },
		};
		const struct walk_memory mem = { read_memory, &s };
		uint64_t pc[FRAMES];
		uint32_t n;

		for (int i = 0; i < WALKS; i++) {
			struct unwind_regs regs = draw_all(&s);

			walk_user(maps, 2, regs.r, &mem, pc, FRAMES, &n);
			if (n > FRAMES)
				__builtin_trap();
		}
	}
	free((void *)page.starts);
	free((void *)page.word);
	free((void *)page.words);
	free((void *)page.rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct space s = { .seed = hash_bytes(data, size) };
	struct unwind_cache *cache;

	if (image_open_bytes(data, size, "fuzz", &s.img, NULL) < 0) {
		of_bytes(data, size);
		return 0;
	}
	if (!image_code_range(s.img, &s.lo, &s.hi) || s.hi <= s.lo) {
		image_close(s.img);
		return 0;
	}
	if (unwind_table_open(s.img, &s.t) < 0)
		return 0;
	if (!unwind_cache_new(&cache)) {
		of_image(&s, cache);
		unwind_cache_free(cache);
	}
	unwind_table_close(s.t);
	return 0;
}
