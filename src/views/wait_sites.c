// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums waits by the function of the program that waits. */
#include "views/wait_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"
#include "views/query/names.h"

struct sites {
	const struct report *rep;
	struct wait_sites *out;
	struct u64map rows;	/* by row_key */
	/* by fk: 1 if it belongs to the system, -1 if not, 0 if not yet
	 * known */
	int8_t *system;
	bool failed;
};

/* Returns whether a path is a library whose functions wait on behalf of their
 * callers. */
static bool is_system(const char *path)
{
	static const char *const names[] = {
		"libc.so", "libc-2", "ld-linux", "ld-musl", "libpthread",
		"libstdc++.so", "libc++.so", "libgcc_s.so", "librt.so",
		"libm.so", "[vdso]",
	};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_system_key(struct sites *s, uint32_t fk)
{
	const struct frame_key *k = &s->rep->keys.keys.v[fk];

	if (!s->system[fk])
		s->system[fk] = is_system(profile_cstr(s->rep->p, k->image))
				? 1 : -1;
	return s->system[fk] > 0;
}

/* Returns whether a function belongs to the system.  It may be one of a system
 * header, such as std::mutex::lock, that was compiled into the program, or one
 * of Python's own library.  Installed packages do not count. */
static bool is_system_header(const struct sites *s, uint32_t step)
{
	const struct profile *p = s->rep->p;
	const char *file;

	if (step >= s->rep->keys.nframes)
		return false;
	file = profile_cstr(p, p->funcs.v[p->frames.v[step].func].file);
	if (strstr(file, "-packages/"))
		return false;
	return !strncmp(file, "/usr/include/", 13) ||
	       !strncmp(file, "/usr/lib/", 9) ||
	       !strncmp(file, "<frozen ", 8) || strstr(file, "/lib/python3.");
}

/* Returns whether a location is code of a language that runs in the program. */
static bool is_runtime(const struct sites *s, uint32_t loc)
{
	const struct frame_keys *keys = &s->rep->keys;
	const char *image;

	if (prof_is_mark(loc) || keys->head[loc] == PROF_NONE ||
	    keys->steps[keys->head[loc]].fk == PROF_NONE)
		return false;
	image = profile_cstr(s->rep->p,
			     keys->keys.v[keys->steps[keys->head[loc]].fk].image);
	return !strcmp(image, PROF_IMAGE_PYTHON) ||
	       !strcmp(image, PROF_IMAGE_PHP) ||
	       !strcmp(image, PROF_IMAGE_JAVA) ||
	       !strcmp(image, PROF_IMAGE_JAVASCRIPT);
}

/* Returns whether a stack has such code.  The other frames then implement the
 * language. */
static bool has_runtime(const struct sites *s, uint32_t stack)
{
	const struct prof_node *nodes = s->rep->p->nodes.v;
	uint32_t node = stack;

	while (node && !is_runtime(s, nodes[node].loc))
		node = nodes[node].parent;
	return node;
}

/* Finds the program's function and its call in one stack.  If the whole stack
 * belongs to the system, it is the innermost function. */
static void find_site(struct sites *s, uint32_t stack, uint32_t *func,
		      uint32_t *call)
{
	const struct profile *p = s->rep->p;
	const struct frame_keys *keys = &s->rep->keys;
	uint32_t innermost = PROF_NONE;
	bool runtime = has_runtime(s, stack);

	*call = PROF_NONE;
	for (uint32_t node = stack; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc, step;

		if (prof_is_mark(loc))
			break;
		if (runtime && !is_runtime(s, loc))
			continue;
		for (step = keys->head[loc]; step != PROF_NONE;
		     step = keys->steps[step].outer) {
			uint32_t fk = keys->steps[step].fk;

			if (fk == PROF_NONE)
				continue;
			if (innermost == PROF_NONE)
				innermost = fk;
			if (keys->keys.v[fk].kernel)
				continue;
			if (!is_system_key(s, fk) && !is_system_header(s, step)) {
				*func = fk;
				return;
			}
			*call = fk;
		}
	}
	*func = innermost;
	*call = PROF_NONE;
}

/* Packs the key.  There are three events, and fewer than 2^30 functions. */
static uint64_t row_key(const struct profile *p, const struct wait_site *row)
{
	uint64_t ordinal = 0;

	for (uint32_t e = 0; e < row->event; e++)
		ordinal += prof_tells_of_waits(&p->events.v[e]);
	return (uint64_t)row->func << 34 |
	       (uint64_t)(uint32_t)(row->call + 1) << 2 | (ordinal & 3);
}

static void add_stack(void *ctx, uint32_t stack, uint32_t event, struct cell c)
{
	struct sites *s = ctx;
	struct wait_site row = { .event = event };
	uint32_t *slot;

	if (!c.count || !prof_tells_of_waits(&s->rep->p->events.v[event]))
		return;
	find_site(s, stack, &row.func, &row.call);
	if (row.func == PROF_NONE)
		row.func = s->rep->keys.unknown;
	if (row.func == PROF_NONE)
		return;
	slot = u64map_slot(&s->rows, row_key(s->rep->p, &row));
	if (!slot || (*slot == U64MAP_NONE &&
		      vec_push(&s->out->rows, row) < 0)) {
		s->failed = true;
		return;
	}
	if (*slot == U64MAP_NONE)
		*slot = (uint32_t)s->out->rows.n - 1;
	cell_add(&s->out->rows.v[*slot].sum, c);
}

static int longer_first(const void *a, const void *b)
{
	const struct wait_site *x = a, *y = b;

	if (x->sum.weight != y->sum.weight)
		return x->sum.weight < y->sum.weight ? 1 : -1;
	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

int wait_sites_build(const struct report *rep, struct wait_sites *out)
{
	struct sites s = { .rep = rep, .out = out };

	memset(out, 0, sizeof(*out));
	s.system = calloc(rep->keys.keys.n + 1, 1);
	if (!s.system)
		return -ERR_NOMEM;
	aggregate_each(&rep->agg, add_stack, &s);
	free(s.system);
	u64map_fini(&s.rows);
	if (s.failed) {
		wait_sites_fini(out);
		return -ERR_NOMEM;
	}
	if (out->rows.n)
		qsort(out->rows.v, out->rows.n, sizeof(*out->rows.v),
		      longer_first);
	return 0;
}

void wait_sites_fini(struct wait_sites *s)
{
	vec_fini(&s->rows);
}

enum { EVENT_WIDTH = 9 };

static void put_name(const struct report *rep, uint32_t fk, bool full,
		     struct buf *out)
{
	struct buf name = { 0 };
	const struct frame_key *k = &rep->keys.keys.v[fk];

	name_symbol(rep->p, &rep->keys, k, full ? 0 : NAME_SHORT, &name);
	text_safe(out, buf_cstr(&name));
	out->failed |= name.failed;
	buf_fini(&name);
}

static void put_row(const struct report *rep, const struct wait_site *w,
		    uint64_t total, const struct text_style *style,
		    struct buf *out)
{
	const struct profile *p = rep->p;
	struct buf line = { 0 }, name = { 0 };

	text_safe(&name, profile_cstr(p, p->events.v[w->event].name));
	buf_printf(&line, "%-*.*s", EVENT_WIDTH, EVENT_WIDTH, buf_cstr(&name));
	buf_reset(&name);
	text_count(&name, w->sum.count);
	buf_printf(&line, " %6.2f%% %9.3f s %11s  ", line_share(w->sum.weight,
								total),
		   (double)w->sum.weight / 1e9, buf_cstr(&name));
	put_name(rep, w->func, style->full_names, &line);
	if (w->call != PROF_NONE) {
		buf_str(&line, " in ");
		put_name(rep, w->call, style->full_names, &line);
	}
	if (style->columns)
		text_cut(out, buf_cstr(&line), (size_t)style->columns);
	else
		buf_str(out, buf_cstr(&line));
	buf_u8(out, '\n');
	out->failed |= line.failed | name.failed;
	buf_fini(&line);
	buf_fini(&name);
}

static void put_table(const struct report *rep, const struct wait_sites *s,
		      bool waking, const struct text_style *style, size_t most,
		      struct buf *out)
{
	const struct prof_event *events = rep->p->events.v;
	uint64_t total = 0;
	size_t n = 0, shown = 0;

	for (size_t i = 0; i < s->rows.n; i++) {
		if (prof_is_waking(&events[s->rows.v[i].event]) != waking)
			continue;
		total += s->rows.v[i].sum.weight;
		n++;
	}
	if (!n)
		return;
	buf_printf(out, "\n%s    SHARE        TIME      NUMBER  FUNCTION\n",
		   waking ? "ENDED BY" : "WAITS   ");
	for (size_t i = 0; i < s->rows.n && shown < most; i++) {
		if (prof_is_waking(&events[s->rows.v[i].event]) != waking)
			continue;
		put_row(rep, &s->rows.v[i], total, style, out);
		shown++;
	}
	if (n > shown)
		buf_printf(out, "# %zu more\n", n - shown);
}

void wait_sites_text(const struct report *rep, const struct wait_sites *s,
		     const struct text_style *style, size_t most,
		     struct buf *out)
{
	put_table(rep, s, false, style, most, out);
	put_table(rep, s, true, style, most, out);
}
