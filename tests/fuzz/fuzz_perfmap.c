// SPDX-License-Identifier: GPL-2.0-or-later
/* The file in which a program names the code that it made: the last line that
 * covers an address names it; names and files lie in the text, but for the name
 * of a function without one.  By time, an address's line covers it, and times of one
 * epoch have the same lines. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/perfmap.h"
#include "symbolize/perfmap_times.h"

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
	bool anonymous = n->runtime == PERFMAP_V8 && !strcmp(n->name, "<anonymous>");

	return (anonymous || is_within(n->name, text, size)) && *n->name &&
	       strlen(n->name) <= PERFMAP_NAME_MAX &&
	       (!*n->file || is_within(n->file, text, size)) &&
	       addr - n->start < n->size;
}

/* Adds the input's lines in pieces, one for each 64 bytes, at times that its bytes choose. */
static void add_pieces(struct perfmap_times *t, const uint8_t *data, size_t size)
{
	enum { PIECE = 64 };
	uint64_t since = 0, until = 1;

	for (size_t at = 0; at < size;) {
		size_t n = size - at < PIECE ? size - at : PIECE;
		const uint8_t *end = memrchr(data + at, '\n', n);
		char *text;

		n = end ? (size_t)(end + 1 - (data + at)) : n;
		text = malloc(n);
		if (!text)
			return;
		memcpy(text, data + at, n);
		if (end && perfmap_times_add(t, at, text, n, since, until) < 0)
			abort();
		free(text);
		since += data[at] % 3;
		until += data[at] % 4;
		since = since < until ? since : until;
		at += n;
	}
}

static void check_times(const uint8_t *data, size_t size, const uint64_t *addrs)
{
	struct perfmap_times *t;

	if (perfmap_times_new(&t) < 0)
		return;
	add_pieces(t, data, size);
	for (size_t i = 0; i < ADDRS; i += 8)
		for (uint64_t time = 0; time < 12; time++) {
			struct perfmap_line line = { 0, 0, 0 }, next = { 0, 0, 0 };
			enum perfmap_found x = perfmap_times_find(t, addrs[i], time, &line);
			enum perfmap_found y = perfmap_times_find(t, addrs[i], time + 1,
								  &next);

			if (x != PERFMAP_FIRST && (addrs[i] - line.start >= line.size ||
						   line.offset >= size))
				abort();
			if (perfmap_times_epoch(t, time) == perfmap_times_epoch(t, time + 1) &&
			    (x != y || line.offset != next.offset))
				abort();
		}
	perfmap_times_free(t);
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
	if (!perfmap_resolve(text, size, NULL, addrs, ADDRS, out))
		for (size_t i = 0; i < ADDRS; i++)
			if (out[i].name &&
			    !is_sound(&out[i], addrs[i], text, size))
				abort();
	free(text);
	check_times(data, size, addrs);
	return 0;
}
