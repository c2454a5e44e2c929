// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes and decodes strings: see format.h. */
#include <stdio.h>
#include <string.h>

#include "profile/format.h"

enum {
	STRING_ROW = 44,	/* bytes of a string in addition to its text: pointer
				 * and hash entry, in tables that have grown */
	RESERVE_MAX = 1 << 16,	/* strings for which room is made at once */
};

void section_put_strings(struct buf *out, const struct profile *p, size_t first,
			 size_t end)
{
	struct buf body = { 0 };

	if (first >= end)
		return;
	buf_uleb(&body, first);
	buf_uleb(&body, end - first);
	for (size_t i = first; i < end; i++)
		buf_uleb(&body, strlen(p->str.str.v[i]));
	for (size_t i = first; i < end; i++)
		buf_str(&body, p->str.str.v[i]);
	section_put(out, SECTION_STRINGS, &body);
	buf_fini(&body);
}

/* Adds a string as row `id`, even if an equal one exists, because ids in the
 * file count rows. */
static bool add_string(struct profile *p, const char *s, size_t n, size_t id)
{
	char gap_name[32];

	if (!profile_charge(p, STRING_ROW + (n < sizeof(gap_name)
					     ? sizeof(gap_name) : n)))
		return false;
	if (n > p->memory.longest)
		p->memory.longest = n;
	if (strtab_add_n(&p->str, s, n) == id)
		return true;
	/* A duplicate, or a NUL inside: no writer creates these.  Add a
	 * placeholder to keep ids in step. */
	snprintf(gap_name, sizeof(gap_name), "[damaged #%zu]", id);
	return strtab_add(&p->str, gap_name) == id;
}

/* Adds placeholders for strings lost with damaged chunks. */
static bool fill_gap(struct profile *p, uint64_t first)
{
	while (p->str.str.n < first)
		if (!add_string(p, "", 0, p->str.str.n))
			return false;
	return true;
}

bool section_get_strings(struct profile *p, struct cursor *c, size_t gap)
{
	uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
	struct cursor text;

	if (c->bad || count > cursor_left(c) ||
	    !section_placed(first, count, p->str.str.n, false, gap))
		return false;
	/* The lengths come first; the text follows them. */
	text = *c;
	for (uint64_t i = 0; i < count; i++)
		(void)cursor_uleb(&text);
	if (!fill_gap(p, first) ||
	    (count < RESERVE_MAX &&
	     strtab_reserve(&p->str, p->str.str.n + (size_t)count) < 0))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = cursor_uleb(c);
		const uint8_t *s = cursor_take(&text, n);

		if (!s || c->bad || !add_string(p, (const char *)s, (size_t)n,
						p->str.str.n))
			return false;
	}
	return true;
}
