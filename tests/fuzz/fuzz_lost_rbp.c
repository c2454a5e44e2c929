// SPDX-License-Identifier: GPL-2.0-or-later
/* A stack and code of another program, in which a frame pointer is looked for: the
 * answer lies in the stack, behind what reads as a call. */
#include <stdlib.h>
#include <string.h>

#include "record/collect/lost_rbp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x10000, STACK = 0x7ff000, STACK_BYTES = 256 };

struct program {
	const uint8_t *code;
	size_t size;
};

static bool read_code(void *ctx, uint64_t addr, void *to, size_t n)
{
	const struct program *p = ctx;
	uint64_t at = addr - CODE;

	if (at >= p->size || n > p->size - at)
		return false;
	memcpy(to, p->code + at, n);
	return true;
}

static bool is_code(void *ctx, uint64_t addr)
{
	const struct program *p = ctx;

	return addr - CODE < p->size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program p;
	struct rbp_search s = { .function = CODE + 0x20, .sp = STACK,
				.read = read_code, .is_code = is_code,
				.ctx = &p };
	uint64_t rbp = 0;
	bool guessed;

	if (!size)
		return 0;
	s.sp += data[0] & 15;
	s.size = size - 1 < STACK_BYTES ? size - 1 : STACK_BYTES;
	s.stack = data + 1;
	p = (struct program){ s.stack + s.size, size - 1 - s.size };
	if (lost_rbp_find(&s, &rbp, &guessed) &&
	    (rbp < s.sp || rbp + 16 > s.sp + s.size || rbp & 7))
		abort();
	return 0;
}
