/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_DISASM_DISASM_H
#define TALLY_DISASM_DISASM_H
/*
 * Disassembles x86-64 and i386 code with the library Zydis, if tally was built
 * with it. scripts/bench/run disasm compares the results with objdump;
 * doc/disassembly.md explains the choice of library.
 *
 * The bytes are hostile.  Nothing past their end is read.  A byte that does not
 * start a valid instruction is returned as an invalid instruction of one byte,
 * so that every byte is covered exactly once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum disasm_flow {
	FLOW_NEXT,		/* continues with the next instruction */
	FLOW_JUMP,
	FLOW_BRANCH,		/* conditional jump, loop, xbegin */
	FLOW_CALL,
	FLOW_RETURN,		/* ret, iret, sysret: leaves the function */
	FLOW_TRAP,		/* ud2, int3, hlt: does not continue */
};

enum disasm_syntax { SYNTAX_ATT, SYNTAX_INTEL };

/* Limits of one instruction: text with its NUL, and bytes. */
enum { DISASM_TEXT_MAX = 192, DISASM_INSN_MAX = 15 };

struct disasm_insn {
	uint64_t vaddr;
	uint8_t size;		/* at least 1 */
	uint8_t flow;		/* enum disasm_flow */
	bool bad;		/* not a valid instruction */
	bool has_target;	/* target is where it jumps or calls */
	bool has_data;		/* target is data it reads, writes or points to */
	uint64_t target;	/* address encoded in the instruction */
};

struct disasm;

/* Returns whether this build can disassemble code for a machine (ELF's
 * EM_*). */
bool disasm_knows(uint16_t machine);
/* Opens a disassembler, which the caller closes.  Returns ERR_UNSUPPORTED, with
 * the reason, if this build does not support the machine. */
int disasm_open(uint16_t machine, enum disasm_syntax syntax,
		struct disasm **out, struct error *err);
void disasm_close(struct disasm *d);

/* Decodes the instruction at vaddr, of which n > 0 bytes are available.  Writes
 * mnemonic and operands to `text`, which has room for DISASM_TEXT_MAX bytes or
 * is NULL.  A target in the text is a plain 0x… address. */
void disasm_next(struct disasm *d, const uint8_t *p, size_t n, uint64_t vaddr,
		 struct disasm_insn *out, char *text);

#endif
