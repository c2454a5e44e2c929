// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the lines of a growing perf map by address and time: see perfmap_times.h. */
#include "symbolize/perfmap_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "symbolize/code_pages.h"
#include "symbolize/perfmap.h"

enum {
	LINES_MAX = 1 << 18, PARTS_MAX = 1 << 16,
	PAGES_MAX = 1 << 19,
	CODE_MAX = 16 << 20,	/* bytes of one line */
};

struct line {
	uint64_t start, size, offset;
	uint64_t name;		/* hash of name, file and line number */
	uint32_t part;
};

struct part {
	uint64_t since_ns, until_ns;
	bool replaces;		/* has lines in pages with older ones */
	uint32_t epoch;		/* number of such parts, up to this one */
};

struct perfmap_times {
	VEC(struct line) lines;
	VEC(struct part) parts;
	VEC(uint64_t) ends;		/* by part */
	struct code_pages pages;	/* by number of the line */
};

int perfmap_times_new(struct perfmap_times **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ERR_NOMEM;
}

void perfmap_times_close(struct perfmap_times *t)
{
	vec_fini(&t->lines);
	vec_fini(&t->parts);
	code_pages_fini(&t->pages);
}

void perfmap_times_free(struct perfmap_times *t)
{
	if (!t)
		return;
	perfmap_times_close(t);
	vec_fini(&t->ends);
	free(t);
}

static uint64_t name_hash(const struct perfmap_name *n)
{
	return hash_mix(hash_mix(hash_bytes(n->name, strlen(n->name)),
				 hash_bytes(n->file, strlen(n->file))), n->line);
}

/* Returns the part of lines written between two times, made if necessary; NULL if out of
 * memory. */
static struct part *part_of(struct perfmap_times *t, uint64_t since_ns, uint64_t until_ns)
{
	struct part *last = t->parts.n ? &t->parts.v[t->parts.n - 1] : NULL;
	struct part new = { since_ns, until_ns, false, last ? last->epoch : 0 };

	if (last && (last->until_ns == until_ns || t->parts.n >= PARTS_MAX)) {
		last->until_ns = until_ns;
		return last;
	}
	if (vec_push(&t->ends, 0) < 0)
		return NULL;
	if (vec_push(&t->parts, new) < 0) {
		t->ends.n--;
		return NULL;
	}
	return &t->parts.v[t->parts.n - 1];
}

static int add_line(struct perfmap_times *t, uint64_t offset, const struct perfmap_name *n)
{
	struct line l = { n->start, n->size, offset, name_hash(n),
			  (uint32_t)t->parts.n - 1 };

	if (t->lines.n >= LINES_MAX || t->pages.v.n >= PAGES_MAX || n->size > CODE_MAX ||
	    !code_pages_fits(&t->pages, n->start, n->size))
		return 0;
	if (vec_push(&t->lines, l) < 0)
		return -ERR_NOMEM;
	return code_pages_add(&t->pages, n->start, n->size, t->lines.n - 1,
			      (uint32_t)t->lines.n - 1);
}

/* Returns whether a page of the line's code has lines of earlier parts. */
static bool is_in_old_page(struct perfmap_times *t, const struct line *l, size_t first)
{
	uint64_t end = l->start + l->size;

	for (uint64_t at = l->start; first && at < end; at = code_page_end(at)) {
		size_t after = code_pages_after(&t->pages, at, first - 1);

		if (after && code_pages_at(&t->pages, at, after - 1))
			return true;
	}
	return false;
}

int perfmap_times_add(struct perfmap_times *t, uint64_t offset, char *text, size_t n,
		      uint64_t since_ns, uint64_t until_ns)
{
	struct part *part = part_of(t, since_ns, until_ns);
	size_t first = t->lines.n;
	char *end = text + n;

	if (!part)
		return -ERR_NOMEM;
	while (first && t->lines.v[first - 1].part == t->parts.n - 1)
		first--;
	for (char *p = text, *newline; (newline = memchr(p, '\n', (size_t)(end - p)));
	     p = newline + 1) {
		struct perfmap_name name;

		if (perfmap_parse(p, newline, &name) &&
		    add_line(t, offset + (uint64_t)(p - text), &name) < 0)
			return -ERR_NOMEM;
	}
	t->ends.v[t->ends.n - 1] = offset + n;
	for (size_t i = first; i < t->lines.n && !part->replaces; i++) {
		if (!is_in_old_page(t, &t->lines.v[i], first))
			continue;
		part->replaces = true;
		part->epoch++;
	}
	return 0;
}

/* Lines that cover an address. */
struct cover {
	const struct line *first;	/* of the lowest part seen so far */
	const struct line *sure;	/* the last one that existed at the time */
	const struct line *maybe;	/* the last one that may have existed */
	bool several;			/* several that may have existed have other names */
};

static void cover_add(struct cover *c, const struct line *l, const struct part *p,
		      uint64_t time_ns)
{
	c->first = l;
	if (p->until_ns <= time_ns) {
		c->sure = c->sure ? c->sure : l;
	} else if (p->since_ns < time_ns) {
		c->several |= c->maybe && c->maybe->name != l->name;
		c->maybe = c->maybe ? c->maybe : l;
	}
}

enum perfmap_found perfmap_times_find(struct perfmap_times *t, uint64_t addr,
				      uint64_t time_ns, struct perfmap_line *line)
{
	size_t at = code_pages_after(&t->pages, addr, UINT64_MAX);
	struct cover c = { .first = NULL };
	const struct code_page *e;
	const struct line *l;
	bool either;

	for (size_t n = 0; at && n < CODE_PAGES_LOOK; n++) {
		e = code_pages_at(&t->pages, addr, --at);
		if (!e)
			break;
		l = &t->lines.v[e->code];
		/* the last line of a part counts */
		if (addr - l->start < l->size && !(c.first && c.first->part == l->part))
			cover_add(&c, l, &t->parts.v[l->part], time_ns);
	}
	either = c.several || (c.maybe && c.sure && c.maybe->name != c.sure->name);
	l = either ? c.maybe : c.sure;
	if (!l || (!either && l->name == c.first->name))
		return PERFMAP_FIRST;
	*line = (struct perfmap_line){ l->offset, l->start, l->size };
	return either ? PERFMAP_EITHER : PERFMAP_LATER;
}

/* Returns the epoch of the last part that ended, or began, before a time. */
static uint32_t epoch_before(const struct perfmap_times *t, uint64_t time_ns, bool ended)
{
	for (size_t i = t->parts.n; i; i--) {
		const struct part *p = &t->parts.v[i - 1];

		if (ended ? p->until_ns <= time_ns : p->since_ns < time_ns)
			return p->epoch;
	}
	return 0;
}

uint32_t perfmap_times_epoch(const struct perfmap_times *t, uint64_t time_ns)
{
	/* both only grow with the time, so equal sums have equal parts */
	return epoch_before(t, time_ns, true) + epoch_before(t, time_ns, false);
}

const uint64_t *perfmap_times_ends(const struct perfmap_times *t, size_t *n)
{
	*n = t->ends.n;
	return t->ends.v;
}
