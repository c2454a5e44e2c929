// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers and their text: see addr2line.h. */
#include "cmd/addr2line.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* OUT_STEP: write when there is so much.  NAMES_MOST: readable names are made
 * again rather than kept without end. */
enum { OUT_STEP = 32 * 1024, NAMES_MOST = 8 << 20 };

void answers_fini(struct answers *a)
{
	vec_fini(&a->by_addr);
	vec_fini(&a->frames);
	u64map_fini(&a->names);
	buf_fini(&a->text);
	buf_fini(&a->out);
	buf_fini(&a->scratch);
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
			f->name, f->file, f->line, f->column };
	}
	/* a function without DWARF: the file at least */
	if (n && n == r->nframes && !*r->frames[n - 1].file)
		a->frames.v[a->frames.n - 1].file = r->sym_file;
	return 0;
}

/* Makes a readable name at the end of a->text. */
static void make_name(struct answers *a, const char *name, bool shorten)
{
	if (!shorten) {
		demangle(name, &a->text);
	} else {
		buf_reset(&a->scratch);
		demangle(name, &a->scratch);
		demangle_short(buf_cstr(&a->scratch), &a->text);
	}
	buf_u8(&a->text, '\0');
}

/* The readable form of a name; valid until the next call. */
static const char *readable(struct answers *a, const struct answer_style *st,
			    const char *name)
{
	uint32_t *at;

	if (!st->demangle || name[0] != '_')
		return name;
	if (a->text.n > NAMES_MOST) {
		u64map_clear(&a->names);
		buf_reset(&a->text);
	}
	at = u64map_slot(&a->names, (uint64_t)(uintptr_t)name);
	if (!at) {
		a->text.failed = true;
		return name;
	}
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)a->text.n;
		make_name(a, name, st->short_names);
	}
	return a->text.failed ? name : (const char *)a->text.p + *at;
}

static void put_text(struct answers *a, const struct answer_style *st,
		     const char *s)
{
	if (st->safe)
		text_safe(&a->out, s);
	else
		buf_str(&a->out, s);
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

static void put_frame(struct answers *a, const struct answer_style *st,
		      const struct answer_frame *f)
{
	if (st->functions) {
		put_text(a, st, *f->name ? readable(a, st, f->name) : "??");
		buf_str(&a->out, st->pretty ? " at " : "\n");
	}
	put_text(a, st, shown_file(st, f->file));
	buf_u8(&a->out, ':');
	if (f->line)
		put_decimal(&a->out, f->line);
	else
		buf_u8(&a->out, '?');
	buf_u8(&a->out, '\n');
}

static void put_answer(struct answers *a, const struct answer_style *st,
		       uint64_t addr, const struct answer *an)
{
	if (st->addresses) {
		put_hex(&a->out, addr, st->digits);
		buf_str(&a->out, st->pretty ? ": " : "\n");
	}
	if (!an->n) {
		if (st->functions)
			buf_str(&a->out, st->pretty ? "?? " : "??\n");
		buf_str(&a->out, "??:0\n");
	}
	for (uint32_t i = 0; i < an->n; i++) {
		if (i && st->pretty)
			buf_str(&a->out, " (inlined by) ");
		put_frame(a, st, &a->frames.v[an->first + i]);
	}
}

static void put_json(struct answers *a, const struct answer_style *st,
		     uint64_t addr, const struct answer *an)
{
	struct json j = json_on(&a->out);

	json_object(&j, NULL);
	json_hex(&j, "address", addr);
	json_array(&j, "frames");
	for (uint32_t i = 0; i < an->n; i++) {
		const struct answer_frame *f = &a->frames.v[an->first + i];

		json_object(&j, NULL);
		json_str(&j, "function", readable(a, st, f->name));
		json_str(&j, "linkage_name", f->name);
		json_str(&j, "file", *f->file ? shown_file(st, f->file) : "");
		json_uint(&j, "line", f->line);
		json_uint(&j, "column", f->column);
		json_bool(&j, "inlined", i + 1 < an->n);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(&a->out, '\n');
}

static int write_out(struct answers *a, FILE *to, struct error *err)
{
	if (a->out.failed || a->text.failed)
		return error_set(err, ERR_NOMEM, "out of memory");
	errno = 0;
	if (fwrite(a->out.p, 1, a->out.n, to) != a->out.n && errno != EPIPE)
		return error_errno(err, errno, "cannot write the output");
	buf_reset(&a->out);
	return 0;
}

int answers_print(struct answers *a, const struct answer_style *st,
		  const uint64_t *addrs, size_t n, FILE *to, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		(st->json ? put_json : put_answer)(a, st, addrs[i],
						   &a->by_addr.v[i]);
		if (a->out.n >= OUT_STEP || i + 1 == n)
			rc = write_out(a, to, err);
	}
	errno = 0;
	if (!rc && fflush(to) && errno != EPIPE)
		rc = error_errno(err, errno, "cannot write the output");
	return rc;
}
