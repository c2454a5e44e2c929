// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as /proc/kallsyms. */
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name, *module;
	uint64_t start, len, addr;
	struct kallsyms *k;

	if (kallsyms_parse((const char *)data, size, &k, NULL) < 0)
		return 0;
	for (addr = 1; addr; addr *= 3) {
		if (addr > UINT64_MAX / 3)
			break;
		if (kallsyms_find(k, addr, &name, &module, &start, &len) &&
		    (addr < start || addr - start >= len || !*name))
			__builtin_trap();
	}
	kallsyms_address(k, "_text");
	kallsyms_close(k);
	return 0;
}
