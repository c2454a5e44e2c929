/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_INSN_H
#define TALLY_UNWIND_INSN_H
/* Decodes x86-64 instructions, in the detail needed to simulate a function's
 * return. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { INSN_MAX = 15 };

struct insn {
	size_t size;
	size_t operand, imm_at;	/* offsets of ModRM and the immediate */
	uint8_t rex, map, op, modrm, sib;	/* map 1: 0f …, 2: 0f 38, 3 */
	bool vector;		/* VEX or EVEX */
};

/* Returns false if the bytes end early or are not an instruction. */
bool insn_read(const uint8_t *p, size_t n, struct insn *out);

#endif
