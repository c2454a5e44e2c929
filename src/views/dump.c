// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the chunks and records of a file as text, for `tally dump`. */
#include "views/dump.h"

#include <inttypes.h>

#include "base/text.h"
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

static bool put_event(struct dump *d, size_t i)
{
	const struct prof_event *e = &d->p->events.v[i];

	buf_printf(&d->out, "event %zu", i);
	str(d, "name", e->name);
	str(d, "actual", e->actual);
	str(d, "note", e->note);
	buf_printf(&d->out, " unit=%s",
		   e->unit == PROF_UNIT_NS ? "ns" : "count");
	num(d, "precise", e->precise);
	num(d, "exclude_user", e->exclude_user);
	num(d, "exclude_kernel", e->exclude_kernel);
	num(d, "type", e->type);
	hex(d, "config", e->config);
	hex(d, "config1", e->config1);
	hex(d, "config2", e->config2);
	num(d, "freq", e->freq);
	num(d, "period", e->period);
	return line_end(d);
}

static bool put_run(struct dump *d, size_t i)
{
	const struct prof_run *r = &d->p->runs.v[i];

	buf_printf(&d->out, "run %zu", i);
	str(d, "command", r->command);
	buf_printf(&d->out, " wait_status=%" PRId32, r->exit_status);
	num(d, "start_ns", r->start_ns);
	num(d, "end_ns", r->end_ns);
	num(d, "start_wall_ns", r->start_wall_ns);
	num(d, "user_ns", r->user_ns);
	num(d, "sys_ns", r->sys_ns);
	return line_end(d);
}

static bool put_thread(struct dump *d, size_t i)
{
	const struct prof_thread *t = &d->p->threads.v[i];

	buf_printf(&d->out, "thread %zu", i);
	id(d, "run", t->run);
	num(d, "pid", t->pid);
	num(d, "tid", t->tid);
	str(d, "comm", t->comm);
	num(d, "parent", t->parent);
	num(d, "start_ns", t->start_ns);
	if (t->cgroup)
		str(d, "cgroup", t->cgroup);
	if (t->task)
		str(d, "task", t->task);
	return line_end(d);
}

static bool put_image(struct dump *d, size_t i)
{
	const struct prof_image *im = &d->p->images.v[i];
	size_t n = im->build_id.len <= BUILD_ID_MAX ? im->build_id.len : 0;

	buf_printf(&d->out, "image %zu", i);
	str(d, "path", im->path);
	buf_printf(&d->out, " kind=%s", image_kind_name(im->kind));
	num(d, "flags", im->flags);
	buf_str(&d->out, " build_id=");
	buf_hex(&d->out, im->build_id.bytes, n);
	hex(d, "base", im->base);
	str(d, "reason", im->reason);
	str(d, "debug_file", im->debug_file);
	str(d, "note", im->note);
	return line_end(d);
}

static bool put_loss(struct dump *d, size_t i)
{
	const struct prof_loss *l = &d->p->losses.v[i];

	buf_printf(&d->out, "%s",
		   l->kind == PROF_LOST ? "lost" : "throttled");
	id(d, "run", l->run);
	id(d, "event", l->event);
	id(d, "cpu", l->cpu);
	num(d, "time_ns", l->time_ns);
	num(d, "count", l->count);
	return line_end(d);
}

static bool put_stat(struct dump *d, size_t i)
{
	const struct prof_stat *s = &d->p->stats.v[i];

	buf_str(&d->out, "stat");
	id(d, "run", s->run);
	id(d, "event", s->event);
	num(d, "value", s->value);
	num(d, "enabled_ns", s->enabled_ns);
	num(d, "running_ns", s->running_ns);
	num(d, "wanted", s->wanted);
	return line_end(d);
}

static bool put_env(struct dump *d, size_t i)
{
	const struct prof_env *e = &d->p->envs.v[i];

	buf_str(&d->out, "env");
	id(d, "run", e->run);
	str(d, "key", e->key);
	str(d, "value", e->value);
	return line_end(d);
}

static bool put_loc(struct dump *d, size_t i)
{
	buf_printf(&d->out, "loc %zu", i);
	num(d, "image", d->p->locs.v[i].image);
	hex(d, "vaddr", d->p->locs.v[i].vaddr);
	id(d, "frame", profile_loc_frame(d->p, (uint32_t)i));
	return line_end(d);
}

static bool put_node(struct dump *d, size_t i)
{
	const struct prof_node *n = &d->p->nodes.v[i];

	static const char *const marks[] = { "cut", "broken", "damaged",
					     "later", "guessed" };
	uint32_t mark = n->loc - PROF_MARK;

	buf_printf(&d->out, "node %zu", i);
	num(d, "parent", n->parent);
	if (prof_is_mark(n->loc))
		buf_printf(&d->out, " mark=%s",
			   mark < COUNT(marks)
			   ? marks[mark] : "other");
	else
		id(d, "loc", n->loc);
	return line_end(d);
}

static bool put_end(struct dump *d, size_t i)
{
	const struct prof_stack_end *e = &d->p->ends.v[i];

	buf_printf(&d->out, "end %zu", i);
	num(d, "node", e->node);
	buf_printf(&d->out, " reason=%s", prof_end_text(e->reason));
	id(d, "image", e->image);
	return line_end(d);
}

static bool put_wait_kind(struct dump *d, size_t i)
{
	const struct prof_wait_kind *k = &d->p->wait_kinds.v[i];

	buf_printf(&d->out, "wait_kind %zu", i);
	num(d, "node", k->node);
	str(d, "kind", k->kind);
	return line_end(d);
}

static bool put_func(struct dump *d, size_t i)
{
	const struct prof_func *f = &d->p->funcs.v[i];

	buf_printf(&d->out, "func %zu", i);
	num(d, "image", f->image);
	str(d, "name", f->name);
	str(d, "file", f->file);
	num(d, "line", f->line);
	hex(d, "vaddr", f->vaddr);
	return line_end(d);
}

static bool put_frame(struct dump *d, size_t i)
{
	const struct prof_frame *f = &d->p->frames.v[i];

	buf_printf(&d->out, "frame %zu", i);
	num(d, "func", f->func);
	str(d, "file", f->file);
	num(d, "line", f->line);
	num(d, "column", f->column);
	id(d, "outer", f->outer);
	return line_end(d);
}

static bool put_symbol(struct dump *d, size_t i)
{
	const struct prof_symbol *s = &d->p->symbols.v[i];

	buf_printf(&d->out, "symbol %zu", i);
	num(d, "image", s->image);
	str(d, "name", s->name);
	hex(d, "vaddr", s->vaddr);
	hex(d, "size", s->size);
	return line_end(d);
}

static bool put_source(struct dump *d, size_t i)
{
	const struct image_debug_info *s = &d->p->sources.v[i];

	buf_printf(&d->out, "source %zu", i);
	num(d, "image", s->image);
	hex(d, "names", s->names);
	hex(d, "missing", s->missing);
	num(d, "units", s->units);
	str(d, "file", s->file);
	num(d, "machine", s->machine);
	return line_end(d);
}

static bool put_code(struct dump *d, size_t i)
{
	const struct prof_code *c = &d->p->codes.v[i];
	bool fits = c->offset <= d->p->code_bytes.n &&
		    c->size <= d->p->code_bytes.n - c->offset;

	buf_str(&d->out, "code");
	num(d, "image", c->image);
	hex(d, "vaddr", c->vaddr);
	num(d, "size", c->size);
	buf_str(&d->out, " bytes=");
	if (fits && c->size)
		buf_hex(&d->out, d->p->code_bytes.p + c->offset, c->size);
	return line_end(d);
}

static bool put_line(struct dump *d, size_t i)
{
	const struct prof_line *l = &d->p->lines.v[i];

	buf_str(&d->out, "line");
	num(d, "image", l->image);
	hex(d, "vaddr", l->vaddr);
	id(d, "frame", l->frame);
	return line_end(d);
}

static bool put_source_text(struct dump *d, size_t i)
{
	const struct source_excerpt *t = &d->p->texts.v[i];

	buf_str(&d->out, "text");
	str(d, "file", t->file);
	num(d, "line", t->line);
	hex(d, "flags", t->flags);
	num(d, "size", t->size);
	return line_end(d);
}

typedef bool put_row(struct dump *d, size_t i);

static void put_rows(struct dump *d, size_t n, put_row *put)
{
	for (size_t i = 0; i < n && !d->stopped; i++)
		put(d, i);
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
	const struct profile *p = d->p;

	if (parts & DUMP_CHUNKS)
		reader_each_chunk(d->r, put_chunk, d);
	if (parts & DUMP_TABLES) {
		put_rows(d, p->envs.n, put_env);
		put_rows(d, p->events.n, put_event);
		put_rows(d, p->runs.n, put_run);
		put_rows(d, p->threads.n, put_thread);
		put_rows(d, p->images.n, put_image);
		put_rows(d, p->losses.n, put_loss);
		put_rows(d, p->stats.n, put_stat);
	}
	if (parts & DUMP_STACKS) {
		put_rows(d, p->locs.n, put_loc);
		put_rows(d, p->nodes.n, put_node);
		put_rows(d, p->ends.n, put_end);
		put_rows(d, p->wait_kinds.n, put_wait_kind);
	}
	if (parts & DUMP_SYMBOLS) {
		put_rows(d, p->funcs.n, put_func);
		put_rows(d, p->frames.n, put_frame);
		put_rows(d, p->symbols.n, put_symbol);
		put_rows(d, p->sources.n, put_source);
		put_rows(d, p->codes.n, put_code);
		put_rows(d, p->lines.n, put_line);
		put_rows(d, p->texts.n, put_source_text);
	}
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
