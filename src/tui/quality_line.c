// SPDX-License-Identifier: GPL-2.0-or-later
/* What is not to be trusted, in a few words. */
#include <string.h>

#include "base/text.h"
#include "tui/tree_base.h"
#include "views/query/lines.h"

enum { FEW = 200 };

static void begin(struct buf *out)
{
	if (out->n)
		buf_str(out, ", ");
}

static void put_share(struct buf *out, uint64_t part, uint64_t whole,
		      double least, const char *what)
{
	double share = line_share(part, whole);

	if (!part || share < least)
		return;
	begin(out);
	if (share < 0.1)
		buf_printf(out, "<0.1%% %s", what);
	else
		buf_printf(out, "%.1f%% %s", share, what);
}

static void put_events(const struct quality *t, struct buf *out)
{
	const struct profile *p = t->p;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct prof_event *e = &p->events.v[i];
		const char *actual = profile_cstr(p, e->actual);
		const char *name = profile_cstr(p, e->name);

		if (!*actual || !strcmp(actual, name))
			continue;
		begin(out);
		text_safe(out, actual);
		buf_str(out, " for ");
		text_safe(out, name);
	}
}

void quality_line(const struct quality *t, struct buf *out)
{
	if (t->damage && t->damage->message[0]) {
		begin(out);
		buf_str(out, t->damage->bad_chunks ? "file damaged"
						   : "file incomplete");
	}
	if (t->lost) {
		begin(out);
		text_count(out, t->lost);
		buf_str(out, " samples lost");
	}
	if (t->throttled) {
		begin(out);
		buf_str(out, "throttled");
	}
	if (t->shown < FEW) {
		begin(out);
		buf_printf(out, "only %llu samples",
			   (unsigned long long)t->shown);
	}
	put_share(out, t->broken, t->shown, 0.05, "stacks broken");
	put_share(out, t->cut, t->shown, 0.05, "stacks truncated");
	put_share(out, t->guessed, t->shown, 0.5,
		  "callers found by heuristics");
	put_share(out, t->unresolved, t->shown, 0.5, "unresolved");
	put_events(t, out);
}
