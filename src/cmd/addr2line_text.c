// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores answers and writes their text: see addr2line.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cmd/addr2line.h"
#include "symbolize/demangle/demangle.h"

/*
 * Readable names of a batch.  Some take longer to make than everything else about an
 * address, and are ten times as long as linkage names.  Names shown more than once
 * are made once, by two threads, up to a limit.  Other names are made when they are
 * shown.
 */

enum { TEXT_LIMIT = 12 << 20 };
#define NOT_MADE UINT32_MAX

/* Runs fn(one) and fn(two), in parallel if possible. */
static void run_both(void *(*fn)(void *), void *one, void *two)
{
	pthread_t t;
	bool started = !pthread_create(&t, NULL, fn, two);

	fn(one);
	if (started)
		pthread_join(t, NULL);
	else
		fn(two);
}

static void readable_names_fini(struct readable_names *r)
{
	vec_fini(&r->v);
	u64map_fini(&r->index);
	buf_fini(&r->text[0]);
	buf_fini(&r->text[1]);
}

/* The same linkage name may be Ada's in one unit and C's in another. */
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

/* Makes every second name. */
static void *make_half(void *arg)
{
	struct maker *m = arg;
	struct buf *text = &m->r->text[m->worker];
	size_t i;

	for (i = m->worker; i < m->r->v.n && text->n < TEXT_LIMIT / 2; i += 2) {
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

/* Makes the readable names of all frames that are shown more than once.  Returns 0
 * or -ERR_NOMEM. */
static int readable_names_make(struct readable_names *r,
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

/* Appends the readable form of a name.  Safe to call from any thread. */
static void readable_name_put(const struct readable_names *r,
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

enum {
	STEP = 256,		/* addresses that a thread formats at a time */
	THREADS_FROM = 512,	/* fewer addresses do not justify a thread */
};

void answers_fini(struct answers *a)
{
	vec_fini(&a->by_addr);
	vec_fini(&a->frames);
	readable_names_fini(&a->names);
	buf_fini(&a->out[0]);
	buf_fini(&a->out[1]);
}

int answers_reset(struct answers *a, size_t n)
{
	if (vec_reserve(&a->by_addr, n) < 0)
		return -ERR_NOMEM;
	if (n)
		memset(a->by_addr.v, 0, n * sizeof(*a->by_addr.v));
	a->by_addr.n = n;
	a->frames.n = 0;
	return 0;
}

int answers_set(struct answers *a, size_t at, const struct sym_result *r,
		size_t n)
{
	if (a->frames.n > UINT32_MAX - n ||
	    vec_reserve(&a->frames, a->frames.n + n) < 0)
		return -ERR_NOMEM;
	a->by_addr.v[at] = (struct answer){ (uint32_t)a->frames.n,
					    (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		const struct sym_frame *f = &r->frames[i];

		a->frames.v[a->frames.n++] = (struct answer_frame){
			f->name, f->file, f->line, f->column,
			f->lang };
	}
	/* a function without DWARF: show the file at least */
	if (n && n == r->nframes && !*r->frames[n - 1].file)
		a->frames.v[a->frames.n - 1].file = r->sym_file;
	return 0;
}

/* The text that one thread makes of some answers. */
struct printer {
	const struct answers *a;
	const struct answer_style *st;
	const uint64_t *addrs;
	size_t from, to;
	struct buf *out, scratch;
};

static void put_text(struct printer *p, const char *s)
{
	if (p->st->safe)
		text_safe(p->out, s);
	else
		buf_str(p->out, s);
}

/* Returns the displayed name, stored in p->scratch. */
static const char *shown_name(struct printer *p, const struct answer_frame *f)
{
	buf_reset(&p->scratch);
	if (p->st->demangle)
		readable_name_put(&p->a->names, f, p->st->short_names,
				  &p->scratch);
	else
		buf_str(&p->scratch, f->name);
	p->out->failed |= p->scratch.failed;
	return buf_cstr(&p->scratch);
}

static void put_name(struct printer *p, const struct answer_frame *f)
{
	if (!*f->name)
		buf_str(p->out, "??");
	else if (p->st->safe)
		text_safe(p->out, shown_name(p, f));
	else if (p->st->demangle)
		readable_name_put(&p->a->names, f, p->st->short_names,
				  p->out);
	else
		buf_str(p->out, f->name);
}

static void put_decimal(struct buf *out, uint32_t v)
{
	char text[10];
	size_t n = 0;

	do {
		text[sizeof(text) - ++n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_bytes(out, text + sizeof(text) - n, n);
}

static void put_hex(struct buf *out, uint64_t v, int digits)
{
	char text[18] = "0x";

	for (int i = 0; i < digits; i++)
		text[2 + i] = "0123456789abcdef"[v >> 4 * (digits - 1 - i) &
						 15];
	buf_bytes(out, text, 2 + (size_t)digits);
}

static const char *shown_file(const struct answer_style *st, const char *file)
{
	const char *slash = st->basenames ? strrchr(file, '/') : NULL;

	if (!*file)
		return "??";
	return slash ? slash + 1 : file;
}

static void put_frame(struct printer *p, const struct answer_frame *f)
{
	if (p->st->functions) {
		put_name(p, f);
		buf_str(p->out, p->st->pretty ? " at " : "\n");
	}
	put_text(p, shown_file(p->st, f->file));
	buf_u8(p->out, ':');
	if (f->line)
		put_decimal(p->out, f->line);
	else
		buf_u8(p->out, '?');
	buf_u8(p->out, '\n');
}

static void put_answer(struct printer *p, uint64_t addr,
		       const struct answer *an)
{
	const struct answer_style *st = p->st;

	if (st->addresses) {
		put_hex(p->out, addr, st->digits);
		buf_str(p->out, st->pretty ? ": " : "\n");
	}
	if (!an->n) {
		if (st->functions)
			buf_str(p->out, st->pretty ? "?? " : "??\n");
		buf_str(p->out, "??:0\n");
	}
	for (uint32_t i = 0; i < an->n; i++) {
		if (i && st->pretty)
			buf_str(p->out, " (inlined by) ");
		put_frame(p, &p->a->frames.v[an->first + i]);
	}
}

static void put_json(struct printer *p, uint64_t addr, const struct answer *an)
{
	struct json j = json_on(p->out);

	json_object(&j, NULL);
	json_hex(&j, "address", addr);
	json_array(&j, "frames");
	for (uint32_t i = 0; i < an->n; i++) {
		const struct answer_frame *f = &p->a->frames.v[an->first + i];

		json_object(&j, NULL);
		json_str(&j, "function", shown_name(p, f));
		json_str(&j, "linkage_name", f->name);
		json_str(&j, "file",
			 *f->file ? shown_file(p->st, f->file) : "");
		json_uint(&j, "line", f->line);
		json_uint(&j, "column", f->column);
		json_bool(&j, "inlined", i + 1 < an->n);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(p->out, '\n');
}

static void *put_answers(void *arg)
{
	struct printer *p = arg;

	for (size_t i = p->from; i < p->to; i++) {
		const struct answer *an = &p->a->by_addr.v[i];

		if (p->st->json)
			put_json(p, p->addrs[i], an);
		else
			put_answer(p, p->addrs[i], an);
	}
	buf_fini(&p->scratch);
	return NULL;
}

static int write_out(struct buf *out, FILE *to, struct error *err)
{
	if (out->failed)
		return error_nomem(err);
	errno = 0;
	if (out->n && fwrite(out->p, 1, out->n, to) != out->n && errno != EPIPE)
		return error_errno(err, errno, "cannot write the output");
	buf_reset(out);
	return 0;
}

/* Prints the answers from `from` on, by one thread or two.  Returns the next one
 * to print. */
static size_t print_some(struct answers *a, const struct answer_style *st,
			 const uint64_t *addrs, size_t from, size_t n)
{
	size_t mid = n - from < STEP ? n : from + STEP;
	size_t end = n - mid < STEP ? n : mid + STEP;
	struct printer one = { a, st, addrs, from, mid, &a->out[0], { 0 } };
	struct printer two = { a, st, addrs, mid, end, &a->out[1], { 0 } };

	if (st->demangle && n >= THREADS_FROM && mid < end) {
		run_both(put_answers, &one, &two);
		return end;
	}
	put_answers(&one);
	return mid;
}

int answers_print(struct answers *a, const struct answer_style *st,
		  const uint64_t *addrs, size_t n, FILE *to, struct error *err)
{
	size_t i = 0;
	int rc = 0;

	if (st->demangle && n >= THREADS_FROM)
		rc = readable_names_make(&a->names, a->frames.v, a->frames.n,
					 st->short_names);
	if (rc)
		return error_nomem(err);
	while (i < n && !rc) {
		i = print_some(a, st, addrs, i, n);
		rc = write_out(&a->out[0], to, err);
		if (!rc)
			rc = write_out(&a->out[1], to, err);
	}
	errno = 0;
	if (!rc && fflush(to) && errno != EPIPE)
		rc = error_errno(err, errno, "cannot write the output");
	return rc;
}
