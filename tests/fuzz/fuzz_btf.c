// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's type information: no crash, and offsets that a structure can have. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/perf/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf_name n[] = {
		{ BTF_STRUCTURE, "outer", 0 }, { BTF_STRUCTURE, "inner", 0 },
		{ BTF_TYPEDEF, "btf_trace_made", 0 }, { BTF_VARIABLE, "queues", 0 },
	};
	uint8_t *copy = malloc(size ? size : 1);
	struct btf b;
	uint32_t at;

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	btf_open(&b, copy, size, n, COUNT(n));
	for (size_t i = 0; i < COUNT(n); i++) {
		if (n[i].number > b.at.n)
			abort();
		if (btf_member(&b, n[i].number, "high", &at) && at > INT32_MAX)
			abort();
		btf_member(&b, n[i].number, "flag", &at);
		btf_in_section(&b, "cpu", n[i].number, &at);
	}
	btf_close(&b);
	free(copy);
	return 0;
}
