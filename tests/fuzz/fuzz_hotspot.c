// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A Java program's memory with damage: the input's triples of bytes are places and
 * what is written there, some before the tables are read, the others between two
 * batches.  The first byte says how many.
 */
#include <stdlib.h>
#include <string.h>

#include "../runtime/made_jvm.h"
#include "runtime/hotspot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x10000000, STEP = 13 };

static bool stack_word(void *ctx, uint64_t addr, uint64_t *out)
{
	const struct made_jvm *m = ctx;

	/* methods, and pointers into the stack */
	*out = addr % 3 ? m->methods[addr / 8 % 2] : addr + 64;
	return addr % 7;
}

static void damage(struct made_jvm *m, const uint8_t *p, size_t n)
{
	for (; n >= 3; p += 3, n -= 3)
		m->mem[(p[0] | (size_t)p[1] << 8) % MADE_SIZE] = p[2];
}

static void ask(struct made_jvm *m, struct hotspot *h, uint64_t pc)
{
	struct hotspot_stack s = { stack_word, m };
	struct unwind_regs r = { .known = UINT32_MAX };
	const struct hotspot_blob *b = hotspot_find(h, pc);
	struct unwind_caller c;
	const char *name;

	if (!b)
		return;
	if (pc < b->code || pc >= b->end)
		abort();
	r.r[UNWIND_RIP] = pc;
	r.r[UNWIND_RSP] = 0x7000;
	r.r[UNWIND_RBP] = 0x7100;
	hotspot_frame(h, b, &r, pc % 2, &s, &c);
	b = hotspot_find(h, pc);
	if (!b)
		return;
	name = hotspot_text(h, hotspot_name(h, b, &r, &s));
	for (; *name; name++)
		if ((uint8_t)*name < ' ')
			abort();
}

static void ask_all(struct made_jvm *m, struct hotspot *h)
{
	uint64_t end = m->heap + (MADE_SEGMENTS << MADE_LOG2);

	for (uint64_t pc = m->heap - STEP; pc < end + STEP; pc += STEP)
		ask(m, h, pc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct made_jvm *m = malloc(sizeof(*m));
	struct hotspot_door door = { made_jvm_read, made_jvm_symbol, m };
	size_t first = size ? data[0] * 3u : 0;
	struct hotspot *h;

	if (!m)
		return 0;
	if (size) {
		data++;
		size--;
	}
	if (first > size)
		first = size;
	made_jvm_make(m, BASE, size % 2);
	damage(m, data, first);
	if (!hotspot_new(&h, &door)) {
		ask_all(m, h);
		damage(m, data + first, size - first);
		hotspot_batch(h);
		ask_all(m, h);
		hotspot_free(h);
	}
	free(m);
	return 0;
}
