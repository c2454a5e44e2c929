// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of known changes, and names against them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/allow.h"
#include "symbolize/demangle/clones.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct allow_list l;
	struct error err;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (clone_base(text) > strlen(text))
		abort();
	if (allow_parse(text, size, "fuzz", &l, &err) == 0) {
		for (size_t i = 0; i < l.v.n; i++)
			if (!*l.v.v[i].pattern || !*l.v.v[i].reason)
				abort();
		allow_find(&l, "ns::f<int>(char)", "parse", 1.1);
		allow_fini(&l);
	}
	free(text);
	return 0;
}
