// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces the disassembler in builds without one: see disasm.h. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "disasm/disasm.h"

#include <string.h>

#ifndef HAVE_ZYDIS

bool disasm_knows(uint16_t machine)
{
	(void)machine;
	return false;
}

int disasm_open(uint16_t machine, enum disasm_syntax syntax,
		struct disasm **out, struct error *err)
{
	(void)machine;
	(void)syntax;
	*out = NULL;
	return error_set(err, ERR_UNSUPPORTED,
			 "this tally was built without Zydis: install "
			 "libzydis-dev and build it again");
}

void disasm_close(struct disasm *d)
{
	(void)d;
}

void disasm_next(struct disasm *d, const uint8_t *p, size_t n, uint64_t vaddr,
		 struct disasm_insn *out, char *text)
{
	(void)d;
	(void)p;
	(void)n;
	*out = (struct disasm_insn){ .vaddr = vaddr, .size = 1, .bad = true };
	if (text)
		strcpy(text, "(bad)");
}

#endif
