// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readable names of a batch.  Some take longer to make than all else about an
 * address, and are ten times as long as the linker's: those shown more than once
 * are made once, by two threads, up to a limit; the others when they are shown.
 */
#include <pthread.h>
#include <string.h>

#include "cmd/addr2line.h"
#include "symbolize/demangle/demangle.h"

enum { TEXT_MOST = 12 << 20 };
#define NOT_MADE UINT32_MAX

void run_both(void *(*fn)(void *), void *one, void *two)
{
	pthread_t t;
	bool started = !pthread_create(&t, NULL, fn, two);

	fn(one);
	if (started)
		pthread_join(t, NULL);
	else
		fn(two);
}

void readable_names_fini(struct readable_names *r)
{
	vec_fini(&r->v);
	u64map_fini(&r->index);
	buf_fini(&r->text[0]);
	buf_fini(&r->text[1]);
}

/* One name of the linker may be Ada's in one unit and C's in another. */
static uint64_t key_of(const char *name, uint16_t lang)
{
	return (uint64_t)(uintptr_t)name | (uint64_t)lang_is_ada(lang) << 63;
}

static void make_name(const char *name, uint16_t lang, bool short_names,
		      struct buf *out)
{
	struct buf full = { 0 };

	if (!short_names) {
		demangle_as(lang, name, out);
		return;
	}
	demangle_as(lang, name, &full);
	demangle_short(buf_cstr(&full), out);
	out->failed |= full.failed;
	buf_fini(&full);
}

static int count_name(struct readable_names *r, const struct answer_frame *f)
{
	uint32_t *slot = u64map_slot(&r->index, key_of(f->name, f->lang));

	if (!slot)
		return -ERR_NOMEM;
	if (*slot == U64MAP_NONE) {
		*slot = (uint32_t)r->v.n;
		if (vec_push(&r->v, (struct readable_name){
				f->name, 0, NOT_MADE, f->lang, 0 }) < 0)
			return -ERR_NOMEM;
	}
	r->v.v[*slot].uses++;
	return 0;
}

struct maker {
	struct readable_names *r;
	uint8_t worker;
	bool short_names;
};

/* Every other name. */
static void *make_half(void *arg)
{
	struct maker *m = arg;
	struct buf *text = &m->r->text[m->worker];
	size_t i;

	for (i = m->worker; i < m->r->v.n && text->n < TEXT_MOST / 2; i += 2) {
		struct readable_name *n = &m->r->v.v[i];

		if (n->uses < 2)
			continue;
		n->worker = m->worker;
		n->at = (uint32_t)text->n;
		make_name(n->name, n->lang, m->short_names, text);
		buf_u8(text, '\0');
	}
	return NULL;
}

int readable_names_make(struct readable_names *r,
			const struct answer_frame *frames, size_t n,
			bool short_names)
{
	struct maker one = { r, 0, short_names }, two = { r, 1, short_names };
	size_t i;

	u64map_clear(&r->index);
	r->v.n = 0;
	buf_reset(&r->text[0]);
	buf_reset(&r->text[1]);
	for (i = 0; i < n; i++)
		if (count_name(r, &frames[i]) < 0)
			return -ERR_NOMEM;
	run_both(make_half, &one, &two);
	return r->text[0].failed || r->text[1].failed ? -ERR_NOMEM : 0;
}

void readable_name_put(const struct readable_names *r,
		       const struct answer_frame *f, bool short_names,
		       struct buf *out)
{
	uint32_t i = u64map_get(&r->index, key_of(f->name, f->lang));

	if (i != U64MAP_NONE && r->v.v[i].at != NOT_MADE)
		buf_str(out, (const char *)r->text[r->v.v[i].worker].p +
				     r->v.v[i].at);
	else
		make_name(f->name, f->lang, short_names, out);
}
