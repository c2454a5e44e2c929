// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads names, lines and bytes of generated code from the program's jitdump
 * file (symbolize/jitdump.h).
 *
 * If functions share addresses, only those with the most samples get symbols
 * and code bytes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/search.h"
#include "profile/symbolize_internal.h"
#include "symbolize/jitdump.h"
#include "symbolize/perfmap.h"

/* A sampled function. */
struct hit {
	const struct jitdump_code *code;
	uint64_t self_samples;
	char *text;		/* its name; names by V8 are split into … */
	const char *name, *file;	/* … these */
	uint32_t line;
	bool javascript;
	bool principal;		/* no hotter function shares an address with it */
	bool has_lines;
	struct jitdump_lines lines;
};

struct jit_namer {
	struct symbolize_run *f;
	const struct symbolize_item *part;
	int fd;
	struct jitdump *dump;
	VEC(struct hit) hits;
	struct u64map by_code;	/* file offset of the code -> index of the hit */
	uint32_t *hit;		/* hit of each location; U64MAP_NONE: none */
	struct symbolize_jitdump_use use;
	enum perfmap_runtime runtime;	/* what wrote the last name, if that is known */
};

static size_t read_file(void *ctx, uint64_t at, void *to, size_t n)
{
	return io_read_at(((const struct jit_namer *)ctx)->fd, at, to, n);
}

/* Reads the name of a function and splits it. */
static void take_name(struct jit_namer *j, struct hit *h)
{
	struct buf b = { 0 };
	struct perfmap_name split;

	h->file = "";
	if (!jitdump_name(j->dump, h->code, &b) || !b.n) {
		buf_fini(&b);
		return;
	}
	h->text = strdup(buf_cstr(&b));
	buf_fini(&b);
	if (!h->text)
		return;
	perfmap_split(&split, h->text);
	h->name = split.name;
	h->file = split.file;
	h->line = split.line;
	h->javascript = split.runtime == PERFMAP_V8;
	j->runtime = split.runtime ? split.runtime : j->runtime;
}

/* Returns the hit of a function, which is created if needed; U64MAP_NONE if out
 * of memory. */
static uint32_t hit_of(struct jit_namer *j, const struct jitdump_code *c)
{
	uint32_t *slot = u64map_slot(&j->by_code, hash_mix(c->bytes_at, c->addr));
	struct hit h = { .code = c };

	if (!slot)
		return U64MAP_NONE;
	if (*slot != U64MAP_NONE)
		return *slot;
	take_name(j, &h);
	if (!h.text || vec_push(&j->hits, h) < 0) {
		free(h.text);
		return U64MAP_NONE;
	}
	return *slot = (uint32_t)j->hits.n - 1;
}

static uint64_t self_of(const struct jit_namer *j, size_t i)
{
	const struct symbolize_run *f = j->f;

	return f->o->self_samples ? f->o->self_samples[f->locs[j->part->at + i].loc] : 0;
}

static const struct jitdump_code *code_at(struct jit_namer *j, uint64_t vaddr)
{
	return j->use.by_offset ? jitdump_at(j->dump, vaddr)
	       : jitdump_find(j->dump, vaddr, j->use.first ? 0 : UINT64_MAX);
}

/* Returns the start of the code in the image. */
static uint64_t start_of(const struct jit_namer *j, const struct hit *h)
{
	return j->use.by_offset ? h->code->bytes_at : h->code->addr;
}

/* Finds the function of each location. */
static int find_hits(struct jit_namer *j)
{
	for (size_t i = 0; i < j->part->n; i++) {
		const struct jitdump_code *c =
			code_at(j, j->f->vaddrs[j->part->at + i]);

		j->hit[i] = c ? hit_of(j, c) : U64MAP_NONE;
		if (c && j->hit[i] == U64MAP_NONE)
			return -ERR_NOMEM;
		if (c)
			j->hits.v[j->hit[i]].self_samples += self_of(j, i);
	}
	return 0;
}

struct by_address {
	uint64_t addr;
	uint32_t hit;
};

static int lower_address(const void *a, const void *b)
{
	const struct by_address *x = a, *y = b;

	return ascending(x->addr, y->addr) ?: ascending(x->hit, y->hit);
}

/* Stores hits by address in order[n].  Among those that overlap, the hottest
 * one is principal. */
static int choose_principals(struct jit_namer *j, uint32_t *order)
{
	struct by_address *by = malloc((j->hits.n + 1) * sizeof(*by));
	struct hit *last = NULL;

	if (!by)
		return -ERR_NOMEM;
	for (size_t i = 0; i < j->hits.n; i++)
		by[i] = (struct by_address){ start_of(j, &j->hits.v[i]), (uint32_t)i };
	sort_rows(by, j->hits.n, lower_address);
	for (size_t i = 0; i < j->hits.n; i++) {
		struct hit *h = &j->hits.v[by[i].hit];

		order[i] = by[i].hit;
		h->principal = true;
		if (last && start_of(j, h) - start_of(j, last) < last->code->size) {
			if (h->self_samples <= last->self_samples) {
				h->principal = false;
				continue;
			}
			last->principal = false;
		}
		last = h;
	}
	free(by);
	return 0;
}

static const struct jitdump_line *line_at(struct jit_namer *j, struct hit *h,
					  uint64_t offset)
{
	if (!h->has_lines && h->code->lines_bytes) {
		h->has_lines = true;
		if (!jitdump_lines(j->dump, h->code, h->javascript ? h->file : "",
				   &h->lines))
			jitdump_lines_fini(&h->lines);
	}
	return h->lines.v.n ? jitdump_line(&h->lines, offset) : NULL;
}

/* Returns the frame of a hit at an offset. */
static struct sym_frame frame_of(struct jit_namer *j, struct hit *h, uint64_t offset)
{
	const struct jitdump_line *line = line_at(j, h, offset);
	struct sym_frame out = { .name = h->name, .file = h->file, .decl_file = h->file,
				 .decl_line = h->line, .plain = "" };

	if (line) {
		out.file = (const char *)h->lines.text.p + line->file;
		out.line = line->line;
		if (!*out.decl_file)
			out.decl_file = (const char *)h->lines.text.p +
					h->lines.v.v[0].file;
	}
	return out;
}

static int add_locations(struct jit_namer *j, bool *named)
{
	struct symbolize_run *f = j->f;
	int rc = 0;

	for (size_t i = 0; i < j->part->n && !rc; i++) {
		uint64_t vaddr = f->vaddrs[j->part->at + i];
		struct hit *h = j->hit[i] == U64MAP_NONE ? NULL : &j->hits.v[j->hit[i]];
		struct sym_frame frame;
		struct sym_result r = { .vaddr = vaddr, .frames = &frame, .nframes = 1 };

		if (!h)
			continue;
		frame = frame_of(j, h, vaddr - start_of(j, h));
		r.symbol = frame.name;
		r.sym_start = start_of(j, h);
		r.sym_size = h->principal ? h->code->size : 0;
		rc = symbolize_add_location(f, j->part, i, &r);
		named[i] = true;
	}
	return rc;
}

/* Adds all lines of a hot function. */
static int add_function_lines(struct jit_namer *j, struct hit *h,
			      struct symbolize_addrs *ask)
{
	uint64_t start = start_of(j, h), end = start + h->code->size;
	struct symbolize_run *f = j->f;
	int rc = 0;

	line_at(j, h, 0);
	for (size_t i = 0; i < h->lines.v.n && !rc; i++) {
		uint64_t from = start + h->lines.v.v[i].offset;
		uint64_t to = i + 1 < h->lines.v.n ? start + h->lines.v.v[i + 1].offset
						   : end;
		struct sym_frame frame = frame_of(j, h, from - start);
		struct sym_result r = { .vaddr = from, .frames = &frame, .nframes = 1,
					.symbol = frame.name, .sym_start = start,
					.sym_size = h->code->size };
		uint32_t row;

		rc = symbolize_add_frames(f, j->part->image, &r, &row) ?:
		     symbolize_add_line(f, j->part, ask, &r, row);
		ask->end = to;
	}
	return rc;
}

static int add_lines(struct jit_namer *j, const uint32_t *order)
{
	struct symbolize_addrs ask = { .last = PROF_NONE };
	int rc = 0;

	for (size_t i = 0; i < j->hits.n && !rc; i++) {
		struct hit *h = &j->hits.v[order[i]];

		if (h->principal &&
		    symbolize_is_hot(j->f, h->self_samples, h->code->size))
			rc = add_function_lines(j, h, &ask);
	}
	return rc ? rc : symbolize_end_lines(j->f, j->part, &ask);
}

static size_t read_code(void *ctx, uint64_t vaddr, size_t n, struct buf *out)
{
	const struct jit_namer *j = ctx;

	for (size_t i = 0; i < j->hits.n; i++) {
		const struct hit *h = &j->hits.v[i];

		if (h->principal && start_of(j, h) == vaddr)
			return jitdump_bytes(j->dump, h->code, 0, n, out);
	}
	return 0;
}

static int name_from_jitdump(struct jit_namer *j, bool *named, uint32_t *order)
{
	struct symbolize_run *f = j->f;
	uint32_t first = (uint32_t)f->p->symbols.n;

	return add_locations(j, named) ?:
	       add_lines(j, order) ?:
	       symbolize_keep_code(f, first, read_code, j);
}

static void jit_namer_fini(struct jit_namer *j)
{
	for (size_t i = 0; i < j->hits.n; i++) {
		free(j->hits.v[i].text);
		jitdump_lines_fini(&j->hits.v[i].lines);
	}
	vec_fini(&j->hits);
	u64map_fini(&j->by_code);
	free(j->hit);
	jitdump_close(j->dump);
	if (j->fd >= 0)
		close(j->fd);
	free(j);
}

/* Reads the file and looks up locations, before the turn.  Returns NULL if
 * there is no file, or if out of memory (*rc). */
static struct jit_namer *jit_namer_new(struct symbolize_run *f,
				       const struct symbolize_item *part,
				       int *rc)
{
	struct jit_namer *j;
	struct jitdump_door door;
	struct symbolize_jitdump_use use = { 0 };
	int fd = -1;

	*rc = 0;
	if (f->o->open_jitdump) {
		symbolize_lock(f);
		fd = f->o->open_jitdump(f->o->ctx, part->image, &use);
		symbolize_unlock(f);
	}
	if (fd < 0)
		return NULL;
	j = calloc(1, sizeof(*j));
	if (!j) {
		close(fd);
		*rc = -ERR_NOMEM;
		return NULL;
	}
	*j = (struct jit_namer){ .f = f, .part = part, .fd = fd, .use = use };
	door = (struct jitdump_door){ read_file, j };
	*rc = jitdump_open(&door, &j->dump);
	if (*rc == -ERR_FORMAT) {
		*rc = 0;
		goto none;
	}
	j->hit = malloc((part->n + 1) * sizeof(*j->hit));
	if (!*rc && (!j->hit || jitdump_read(j->dump) < 0 || find_hits(j) < 0))
		*rc = -ERR_NOMEM;
	if (!*rc)
		return j;
none:
	jit_namer_fini(j);
	return NULL;
}

int symbolize_jitdump(struct symbolize_run *f,
		      const struct symbolize_item *part, bool *named,
		      struct jitdump_names *out)
{
	struct jit_namer *j;
	uint32_t *order = NULL;
	uint64_t at;
	int rc;

	*out = (struct jitdump_names){ 0 };
	j = jit_namer_new(f, part, &rc);
	if (j) {
		order = malloc((j->hits.n + 1) * sizeof(*order));
		if (!order || choose_principals(j, order) < 0)
			rc = -ERR_NOMEM;
	}
	symbolize_wait_turn(f, part);
	if (rc)
		rc = symbolize_nomem(f);
	if (j && !rc) {
		out->found = j->hits.n > 0;
		out->machine = jitdump_machine(j->dump);
		out->runtime = j->runtime;
		rc = name_from_jitdump(j, named, order);
		if (jitdump_damage(j->dump, &at))
			symbolize_note(f, part->image, "the program's jitdump file "
				       "is damaged at offset %llu: later code has "
				       "no names",
				       (unsigned long long)at);
	}
	free(order);
	if (j)
		jit_namer_fini(j);
	return rc;
}
