// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as /proc/kallsyms. */
#include "symbolize/kernel/kallsyms.h"

struct walk {
	struct kallsyms *k;
	uint64_t last;
};

/* Symbols come by address, and each is found or no name of a function. */
static bool on_symbol(void *ctx, const char *name, uint64_t addr)
{
	struct walk *w = ctx;
	const char *best, *module;
	uint64_t start, len;

	if (addr < w->last || !*name)
		__builtin_trap();
	w->last = addr;
	if (kallsyms_find(w->k, addr, &best, &module, &start, &len) &&
	    (start != addr || !len || !*best))
		__builtin_trap();
	return true;
}

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
	for (int i = 0; i < 3; i++) {
		static const char *const modules[] = { "", "bpf", "m" };
		struct walk w = { k, 0 };

		kallsyms_each(k, modules[i], on_symbol, &w);
	}
	kallsyms_close(k);
	return 0;
}
