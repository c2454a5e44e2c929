// SPDX-License-Identifier: GPL-2.0-or-later
/* The file in which a program names the code that it made: the last line that
 * covers an address names it; names and files lie in the text, but for the name
 * of a function without one. */
#include <stdbool.h>
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

/* Lies in the text and ends there. */
static bool is_within(const char *s, const char *text, size_t size)
{
	return s >= text && s < text + size &&
	       memchr(s, 0, (size_t)(text + size - s));
}

static bool is_sound(const struct perfmap_name *n, uint64_t addr,
		     const char *text, size_t size)
{
	bool anonymous = n->javascript && !strcmp(n->name, "<anonymous>");

	return (anonymous || is_within(n->name, text, size)) && *n->name &&
	       strlen(n->name) <= PERFMAP_NAME_MAX &&
	       (!*n->file || is_within(n->file, text, size)) &&
	       addr - n->start < n->size;
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
		for (size_t i = 0; i < ADDRS; i++)
			if (out[i].name &&
			    !is_sound(&out[i], addrs[i], text, size))
				abort();
	free(text);
	return 0;
}
