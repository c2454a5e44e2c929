// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions got names: see new_names.h. */
#include "cmd/new_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/text.h"
#include "symbolize/demangle/demangle.h"

enum { SHOWN = 4 };

static uint32_t func_at(const struct profile *p, uint32_t loc)
{
	uint32_t frame = profile_loc_frame(p, loc);
	uint32_t func = frame < p->frames.n ? p->frames.v[frame].func : PROF_NONE;

	return func < p->funcs.n ? func : PROF_NONE;
}

static uint64_t name_hash(const struct profile *p, uint32_t func)
{
	const char *name = func == PROF_NONE
			   ? "" : profile_cstr(p, p->funcs.v[func].name);

	return *name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

static size_t count_details(const struct profile *p)
{
	return p->frames.n + p->lines.n;
}

int old_names_take(struct old_names *o, const struct profile *p)
{
	*o = (struct old_names){ .n = p->locs.n, .details = count_details(p) };
	o->of = malloc((o->n + 1) * sizeof(*o->of));
	if (!o->of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < o->n; i++)
		o->of[i] = name_hash(p, func_at(p, (uint32_t)i));
	return 0;
}

void old_names_fini(struct old_names *o)
{
	free(o->of);
	*o = (struct old_names){ 0 };
}

struct named {
	uint32_t func;
	uint64_t samples;
};

static int by_samples(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return descending(a->samples, b->samples) ?: ascending(a->func, b->func);
}

/* Lists functions that are new at some address.  Returns their number. */
static size_t list(const struct old_names *o, const struct profile *p,
		   const uint64_t *self, struct named *v)
{
	size_t n = 0;

	for (size_t i = 0; i < p->funcs.n; i++)
		v[i] = (struct named){ .func = PROF_NONE };
	for (size_t i = 0; i < p->locs.n && i < o->n; i++) {
		uint32_t func = func_at(p, (uint32_t)i);
		uint64_t name = name_hash(p, func);

		if (!name || name == o->of[i])
			continue;
		v[func].func = func;
		v[func].samples += self ? self[i] : 0;
	}
	for (size_t i = 0; i < p->funcs.n; i++)
		if (v[i].func != PROF_NONE)
			v[n++] = v[i];
	qsort(v, n, sizeof(*v), by_samples);
	return n;
}

static void put_name(const struct profile *p, uint32_t func, struct buf *out)
{
	struct buf whole = { 0 }, brief = { 0 };

	demangle(profile_cstr(p, p->funcs.v[func].name), &whole);
	demangle_short(buf_cstr(&whole), &brief);
	text_safe(out, buf_cstr(&brief));
	buf_fini(&whole);
	buf_fini(&brief);
}

bool new_names_show(const struct old_names *o, const struct profile *p,
		    const uint64_t *self, struct buf *out)
{
	struct named *v = malloc((p->funcs.n + 1) * sizeof(*v));
	size_t n = v ? list(o, p, self, v) : 0;

	if (!n) {
		free(v);
		if (count_details(p) == o->details)
			return false;
		buf_str(out, "lines and inlined functions are new, names are not");
		return true;
	}
	if (n == 1)
		buf_str(out, "the name of 1 function is new: ");
	else
		buf_printf(out, "the names of %zu functions are new: ", n);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		buf_str(out, i ? ", " : "");
		put_name(p, v[i].func, out);
	}
	buf_str(out, n > SHOWN ? ", …" : "");
	free(v);
	return true;
}
