// SPDX-License-Identifier: GPL-2.0-or-later
/* Diffs that git printed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edits e = { .v = { 0 } };

	if (edits_parse(&e, (const char *)data, size) != 0 ||
	    e.v.n > EDITS_MAX || e.all < e.v.n)
		abort();
	for (size_t i = 0; i < e.v.n; i++)
		if (!*e.v.v[i].path || !e.v.v[i].line ||
		    e.v.v[i].at > e.v.v[i].to ||
		    strlen(e.v.v[i].name) > size)
			abort();
	edits_fini(&e);
	return 0;
}
