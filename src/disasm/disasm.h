/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_DISASM_DISASM_H
#define TALLY_DISASM_DISASM_H
/*
 * Machine code as instructions: x86-64 and i386, by the library Zydis, where
 * tally was built with it.  scripts/bench/run disasm holds it against objdump;
 * doc/disassembly.md says why this library.
 *
 * The bytes are hostile: nothing behind them is read, and what is no instruction
 * is one byte that says so, so that every byte is passed once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum disasm_flow {
	FLOW_NEXT,		/* goes on with the next instruction */
	FLOW_JUMP,
	FLOW_BRANCH,		/* a jump with a condition, loop, xbegin */
	FLOW_CALL,
	FLOW_RETURN,		/* ret, iret, sysret: leaves the function */
	FLOW_TRAP,		/* ud2, int3, hlt: does not go on */
};

enum disasm_syntax { SYNTAX_ATT, SYNTAX_INTEL };

/* Bounds of one instruction: its text with the NUL, and its bytes. */
enum { DISASM_TEXT_MAX = 192, DISASM_INSN_MAX = 15 };

struct disasm_insn {
	uint64_t vaddr;
	uint8_t size;		/* at least 1 */
	uint8_t flow;		/* enum disasm_flow */
	bool bad;		/* these bytes are no instruction */
	bool has_target;	/* jumps or calls to… */
	bool has_data;		/* … or reads, writes, points to data at… */
	uint64_t target;	/* … this address, which the code tells */
};

struct disasm;

/* Whether this build can disassemble code of a machine (ELF's EM_*). */
bool disasm_knows(uint16_t machine);
/* ERR_UNSUPPORTED, with the reason, for machines it cannot. */
int disasm_open(uint16_t machine, enum disasm_syntax syntax,
		struct disasm **out, struct error *err);
void disasm_close(struct disasm *d);

/* The instruction at vaddr, of which n > 0 bytes are known.  `text` (room for
 * DISASM_TEXT_MAX, or NULL: only the rest is wanted) gets mnemonic and operands;
 * a target in it is a plain 0x… address. */
void disasm_next(struct disasm *d, const uint8_t *p, size_t n, uint64_t vaddr,
		 struct disasm_insn *out, char *text);

#endif
