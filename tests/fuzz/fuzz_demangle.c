// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as a mangled name; then as a demangled one. */
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 }, brief = { 0 };
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	/* by its form alone; or from a unit in Ada 95 */
	demangle_as(size % 4 ? 0 : 0x0d, name, &text);
	if (text.n > 4 * strlen(name) + 65536)
		__builtin_trap();
	demangle_short(buf_cstr(&text), &brief);
	buf_reset(&brief);
	demangle_short(name, &brief);
	buf_fini(&text);
	buf_fini(&brief);
	free(name);
	return 0;
}
