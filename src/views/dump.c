// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the chunks and records of a file as text, for `tally dump`. */
#include "views/dump.h"

#include <inttypes.h>

#include "base/text.h"
#include "profile/format.h"
#include "symbolize/demangle/demangle.h"
#include "views/info.h"

enum { FLUSH_AT = 64 * 1024 };

struct dump {
	struct reader *r;
	const struct profile *p;
	struct buf out, name;
	dump_sink *sink;
	void *ctx;
	bool stopped;
};

/* Ends a line.  Returns false if the sink has stopped. */
static bool line_end(struct dump *d)
{
	buf_u8(&d->out, '\n');
	if (d->out.n >= FLUSH_AT && !d->stopped) {
		d->stopped = d->out.failed || !d->sink(d->ctx, &d->out);
		buf_reset(&d->out);
	}
	return !d->stopped;
}

static void num(struct dump *d, const char *key, uint64_t v)
{
	buf_printf(&d->out, " %s=%" PRIu64, key, v);
}

static void hex(struct dump *d, const char *key, uint64_t v)
{
	buf_printf(&d->out, " %s=0x%" PRIx64, key, v);
}

static void id(struct dump *d, const char *key, uint32_t v)
{
	if (v == PROF_NONE)
		buf_printf(&d->out, " %s=none", key);
	else
		num(d, key, v);
}

static void str(struct dump *d, const char *key, uint32_t s)
{
	buf_printf(&d->out, " %s=", key);
	text_json(&d->out, profile_cstr(d->p, s));
}

static bool put_chunk(void *ctx, const struct reader_chunk *c)
{
	struct dump *d = ctx;

	buf_printf(&d->out, "chunk offset=%" PRIu64 " seq=%" PRIu32
		   " kind=%s stored=%" PRIu32 " raw=%" PRIu32 " %s", c->offset,
		   c->seq, chunk_kind_name(c->kind), c->stored, c->raw,
		   c->good ? "good" : "damaged");
	return line_end(d);
}

static const char *word(const struct table *t, uint64_t v)
{
	switch (t->section) {
	case SECTION_EVENTS:
		return v == PROF_UNIT_NS ? "ns" : "count";
	case SECTION_IMAGES:
		return image_kind_name((uint8_t)v);
	default:
		return prof_end_text((uint32_t)v);
	}
}

static void put_build_id(struct dump *d, const struct build_id *build_id)
{
	buf_str(&d->out, " build_id=");
	buf_hex(&d->out, build_id->bytes,
		build_id->len <= BUILD_ID_MAX ? build_id->len : 0);
}

static void put_mark(struct dump *d, uint32_t mark)
{
	static const char *const marks[] = { "cut", "broken", "damaged",
					     "later", "guessed" };

	buf_printf(&d->out, " mark=%s", mark < COUNT(marks) ? marks[mark] : "other");
}

static void put_column(struct dump *d, const struct table *t, const struct column *c,
		       const void *row)
{
	uint64_t v;

	if (c->code == COL_BUILD_ID) {
		put_build_id(d, &((const struct prof_image *)row)->build_id);
		return;
	}
	v = column_get(row, c);
	if (c->show == SHOW_NOTHING || (c->show == SHOW_OPTIONAL && !v))
		return;
	if (c->ref == REF_STR)
		str(d, c->name, (uint32_t)v);
	else if (c->ref == REF_LOC && prof_is_mark((uint32_t)v))
		put_mark(d, (uint32_t)v - PROF_MARK);
	else if (c->show == SHOW_HEX)
		hex(d, c->name, v);
	else if (c->show == SHOW_SIGNED)
		buf_printf(&d->out, " %s=%" PRId32, c->name, (int32_t)v);
	else if (c->show == SHOW_WORD)
		buf_printf(&d->out, " %s=%s", c->name, word(t, v));
	else if (c->ref != REF_NONE || c->code == COL_PLUS1)
		id(d, c->name, (uint32_t)v);
	else
		num(d, c->name, v);
}

/* Writes what is not in a column of the row. */
static void put_rest(struct dump *d, const struct table *t, size_t i)
{
	const struct profile *p = d->p;
	const struct prof_code *c;

	switch (t->section) {
	case SECTION_IMAGES:
		str(d, "debug_file", p->images.v[i].debug_file);
		str(d, "note", p->images.v[i].note);
		break;
	case SECTION_LOCS:
		id(d, "frame", profile_loc_frame(p, (uint32_t)i));
		break;
	case SECTION_CODES:
		c = &p->codes.v[i];
		buf_str(&d->out, " bytes=");
		if (c->size && c->offset <= p->code_bytes.n &&
		    c->size <= p->code_bytes.n - c->offset)
			buf_hex(&d->out, p->code_bytes.p + c->offset, c->size);
		break;
	default:
		break;
	}
}

/* The tables in the order in which they are written. */
static const struct record {
	enum section_kind section;
	enum dump_part part;
	const char *name;
	bool numbered;
} records[] = {
	{ SECTION_ENVS, DUMP_TABLES, "env", false },
	{ SECTION_EVENTS, DUMP_TABLES, "event", true },
	{ SECTION_RUNS, DUMP_TABLES, "run", true },
	{ SECTION_THREADS, DUMP_TABLES, "thread", true },
	{ SECTION_IMAGES, DUMP_TABLES, "image", true },
	{ SECTION_LOSSES, DUMP_TABLES, "lost", false },
	{ SECTION_STATS, DUMP_TABLES, "stat", false },
	{ SECTION_LOCS, DUMP_STACKS, "loc", true },
	{ SECTION_NODES, DUMP_STACKS, "node", true },
	{ SECTION_ENDS, DUMP_STACKS, "end", true },
	{ SECTION_WAIT_KINDS, DUMP_STACKS, "wait_kind", true },
	{ SECTION_FUNCS, DUMP_SYMBOLS, "func", true },
	{ SECTION_FRAMES, DUMP_SYMBOLS, "frame", true },
	{ SECTION_SYMBOLS, DUMP_SYMBOLS, "symbol", true },
	{ SECTION_SOURCES, DUMP_SYMBOLS, "source", true },
	{ SECTION_CODES, DUMP_SYMBOLS, "code", false },
	{ SECTION_LINES, DUMP_SYMBOLS, "line", false },
	{ SECTION_TEXTS, DUMP_SYMBOLS, "text", false },
};

static void put_rows(struct dump *d, const struct record *r)
{
	const struct table *t = format_table(r->section);
	size_t n = table_rows(d->p, t);

	for (size_t i = 0; i < n && !d->stopped; i++) {
		const void *row = table_row(d->p, t, i);

		buf_str(&d->out, t->section == SECTION_LOSSES &&
				 d->p->losses.v[i].kind != PROF_LOST
				 ? "throttled" : r->name);
		if (r->numbered)
			buf_printf(&d->out, " %zu", i);
		for (size_t c = 0; c < t->ncolumns; c++)
			put_column(d, t, &t->columns[c], row);
		put_rest(d, t, i);
		line_end(d);
	}
}

/* Writes one function of a stack: "  0xvaddr name (image) file:line". */
static bool put_step(struct dump *d, const struct prof_loc *l,
		     const struct prof_frame *f)
{
	const struct prof_image *im = &d->p->images.v[l->image];

	buf_printf(&d->out, "  0x%" PRIx64 " ", l->vaddr);
	d->name.n = 0;
	if (f)
		demangle(profile_cstr(d->p, d->p->funcs.v[f->func].name),
			 &d->name);
	text_safe(&d->out, d->name.n ? buf_cstr(&d->name) : "[unknown]");
	buf_str(&d->out, " (");
	text_safe(&d->out, profile_cstr(d->p, im->path));
	buf_u8(&d->out, ')');
	if (f && *profile_cstr(d->p, f->file)) {
		buf_u8(&d->out, ' ');
		text_safe(&d->out, profile_cstr(d->p, f->file));
		buf_printf(&d->out, ":%" PRIu32, f->line);
	}
	return line_end(d);
}

static const char *mark_text(uint32_t mark)
{
	return mark == PROF_MARK_READ_LATE ? "outer callers read later" :
	       mark == PROF_MARK_HEURISTIC ? "a caller was guessed" :
	       mark == PROF_MARK_CUT ? "cut short" : "callers missing";
}

static void put_stack(struct dump *d, uint32_t node)
{
	const struct profile *p = d->p;

	for (; node && !d->stopped; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc, f;

		if (prof_is_mark(loc)) {
			buf_printf(&d->out, "  [%s]", mark_text(loc));
			line_end(d);
			continue;
		}
		f = profile_loc_frame(p, loc);
		do {
			put_step(d, &p->locs.v[loc],
				 f == PROF_NONE ? NULL : &p->frames.v[f]);
			f = f == PROF_NONE ? f : p->frames.v[f].outer;
		} while (f != PROF_NONE && !d->stopped);
	}
}

static void put_samples(struct dump *d, bool frames)
{
	struct sample_batch b;

	reader_rewind(d->r);
	while (!d->stopped && reader_next(d->r, &b)) {
		for (size_t i = 0; i < b.n && !d->stopped; i++) {
			buf_str(&d->out, "sample");
			num(d, "time_ns", b.time_ns[i]);
			num(d, "thread", b.thread[i]);
			id(d, "cpu", b.cpu[i]);
			num(d, "event", b.event[i]);
			num(d, "weight", b.weight[i]);
			num(d, "stack", b.stack[i]);
			if (b.more[i])
				num(d, "more", b.more[i]);
			line_end(d);
			if (frames)
				put_stack(d, b.stack[i]);
		}
	}
}

static void put_parts(struct dump *d, unsigned int parts)
{
	if (parts & DUMP_CHUNKS)
		reader_each_chunk(d->r, put_chunk, d);
	for (size_t i = 0; i < COUNT(records); i++)
		if (parts & records[i].part)
			put_rows(d, &records[i]);
	if (parts & DUMP_SAMPLES)
		put_samples(d, parts & DUMP_FRAMES);
}

int dump_file(struct reader *r, unsigned int parts, dump_sink *sink, void *ctx,
	      struct error *err)
{
	struct dump d = { .r = r, .p = reader_profile(r), .sink = sink,
			  .ctx = ctx };
	const struct reader_damage *dm = reader_damage(r);
	int rc = 0;

	put_parts(&d, parts);
	if (dm->message[0] && !d.stopped) {
		buf_str(&d.out, "damage ");
		text_json(&d.out, dm->message);
		line_end(&d);
	}
	if (d.out.failed)
		rc = error_nomem(err);
	else if (d.stopped || (d.out.n && !sink(ctx, &d.out)))
		rc = -ERR_STOPPED;
	buf_fini(&d.out);
	buf_fini(&d.name);
	return rc;
}
