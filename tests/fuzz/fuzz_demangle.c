// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as a mangled name; then as a demangled one; then each line as a
 * demangled name of a table. */
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *name_at(void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

/* Different names without marks of shortened names stay different. */
static void lines_apart(char *text)
{
	enum { MOST = 16 };
	const char *name[MOST], *brief[MOST];
	struct short_names *names = short_names_new(MOST);
	bool plain = !strstr(text, "…");
	size_t n = 0;

	if (!names)
		return;
	for (char *s = strtok(text, "\n"); s && n < MOST; s = strtok(NULL, "\n"))
		short_names_add(names, name[n++] = s);
	short_names_apart(names, name_at, name);
	for (size_t i = 0; i < n; i++) {
		brief[i] = short_names_get(names, i);
		if (!*brief[i])
			brief[i] = name[i];
		if (strlen(brief[i]) > 2 * strlen(name[i]) + 16)
			__builtin_trap();
		for (size_t k = 0; k < i && plain; k++)
			if (strcmp(name[i], name[k]) && *brief[i] &&
			    !strcmp(brief[i], brief[k]) &&
			    strpbrk(name[i], "<(") && !strpbrk(name[i], "[h"))
				__builtin_trap();
	}
	short_names_free(names);
}

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
	lines_apart(name);
	buf_fini(&text);
	buf_fini(&brief);
	free(name);
	return 0;
}
