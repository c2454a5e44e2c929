// SPDX-License-Identifier: GPL-2.0-or-later
/* The file in which a program names the code that it made: the last line that
 * covers an address names it; names lie in the text. */
#include <stdlib.h>
#include <string.h>

#include "symbolize/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRS = 64, SIZE_MAX_HERE = 1 << 16 };

/* Addresses of the input's first bytes, and their neighbours, sorted. */
static void make_addrs(const uint8_t *data, size_t size, uint64_t *addrs)
{
	for (size_t i = 0; i < ADDRS; i++)
		addrs[i] = 0x1000 + 8 * i + (size ? data[i % size] % 8 : 0);
	addrs[ADDRS - 1] = UINT64_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_name out[ADDRS];
	uint64_t addrs[ADDRS];
	char *text;

	if (size > SIZE_MAX_HERE)
		return 0;
	text = malloc(size ? size : 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	make_addrs(data, size, addrs);
	if (!perfmap_resolve(text, size, addrs, ADDRS, out))
		for (size_t i = 0; i < ADDRS; i++) {
			if (!out[i].name)
				continue;
			/* A name is a text within the text. */
			if (out[i].name < text || out[i].name >= text + size ||
			    !memchr(out[i].name, 0,
				    (size_t)(text + size - out[i].name)) ||
			    !*out[i].name ||
			    strlen(out[i].name) > PERFMAP_NAME_MAX ||
			    addrs[i] - out[i].start >= out[i].size)
				abort();
		}
	free(text);
	return 0;
}
