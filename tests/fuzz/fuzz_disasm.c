// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile bytes as code: each byte is passed once, texts end. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/disasm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sweep(struct disasm *d, const uint8_t *p, size_t n)
{
	char text[DISASM_TEXT_MAX];
	struct disasm_insn in;

	for (size_t at = 0; at < n; at += in.size) {
		memset(text, 'x', sizeof(text));
		disasm_next(d, p + at, n - at, 0x1000 + at, &in, text);
		if (!in.size || in.size > n - at || in.size > DISASM_INSN_MAX ||
		    !memchr(text, 0, sizeof(text)) || !text[0])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386 };

	if (size > 65536)
		return 0;
	for (int i = 0; i < 4; i++) {
		struct disasm *d;
		uint8_t *copy;

		if (disasm_open(machines[i & 1],
				i & 2 ? SYNTAX_ATT : SYNTAX_INTEL, &d, NULL) < 0)
			continue;
		copy = malloc(size ? size : 1);	/* its end is guarded */
		if (copy) {
			if (size)
				memcpy(copy, data, size);
			sweep(d, copy, size);
		}
		free(copy);
		disasm_close(d);
	}
	return 0;
}
