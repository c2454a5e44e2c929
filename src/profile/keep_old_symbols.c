// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps old symbols.  Symbolizing again must not lose names: the binaries that
 * provided them may be gone, or the file may have been moved to another
 * machine.  The old symbol part is set aside.  Images without any new name, or
 * whose old names came from better sources than are available now, keep their
 * old ones.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/symbol_order.h"
#include "profile/symbolize_internal.h"

struct keep_old {
	struct profile was;	/* owns only its symbol part */
	const char **str;	/* strings of the symbol part, from str_base on */
	size_t nstr;
	uint32_t *frame;	/* old frame -> new frame, or PROF_NONE */
	uint8_t *restored;	/* by image: whether all its names are old */
	struct prof_symbol *sorted;	/* set by keep_old_symbol */
};

int keep_old_take(struct profile *p, struct keep_old **out)
{
	struct keep_old *o;

	*out = NULL;
	if (!p->symbolized || !p->frames.n)
		return 0;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ERR_NOMEM;
	o->nstr = p->str.str.n - p->str_base;
	o->str = malloc((o->nstr + 1) * sizeof(*o->str));
	o->frame = malloc(p->frames.n * sizeof(*o->frame));
	o->restored = calloc(p->images.n + 1, 1);
	o->was.images.v = malloc((p->images.n + 1) *
				 sizeof(*o->was.images.v));
	if (!o->str || !o->frame || !o->restored || !o->was.images.v) {
		keep_old_free(o);
		return -ERR_NOMEM;
	}
	/* The bytes of removed strings live as long as the profile. */
	memcpy(o->str, p->str.str.v + p->str_base, o->nstr * sizeof(*o->str));
	memset(o->frame, 0xff, p->frames.n * sizeof(*o->frame));
	memcpy(o->was.images.v, p->images.v,
	       p->images.n * sizeof(*p->images.v));
	o->was.str_base = p->str_base;
	profile_move_symbols(p, &o->was);
	*out = o;
	return 0;
}

void keep_old_free(struct keep_old *o)
{
	if (!o)
		return;
	profile_drop_symbols(&o->was);
	vec_fini(&o->was.images);
	free(o->str);
	free(o->frame);
	free(o->restored);
	free(o->sorted);
	free(o);
}

/* Returns the quality of a source of names: lines, then all functions, then
 * some functions. */
static unsigned int names_rank(uint32_t names)
{
	if (names & PROF_NAMES_DWARF)
		return 4;
	if (names & (PROF_NAMES_SYMTAB | PROF_NAMES_KALLSYMS |
		     PROF_NAMES_GOPCLNTAB))
		return 3;
	if (names & PROF_NAMES_DEBUGDATA)
		return 2;
	return names != 0;
}

bool keep_old_is_better(const struct symbolize_run *f, uint32_t image, uint32_t names)
{
	const struct image_debug_info *s =
		f->old ? profile_source(&f->old->was, image) : NULL;

	return s && names_rank(s->names) > names_rank(names);
}

static uint32_t new_str(struct profile *p, const struct keep_old *o, uint32_t id)
{
	if (id < o->was.str_base)
		return id;
	id -= (uint32_t)o->was.str_base;
	return profile_str(p, id < o->nstr ? o->str[id] : "");
}

bool keep_old_symbol(struct keep_old *o, uint32_t image, uint64_t vaddr,
		     const char **name, uint64_t *start, uint64_t *size)
{
	const struct prof_symbol *s;

	if (!o->sorted && symbols_copy(&o->was, &o->sorted) < 0)
		return false;
	s = symbols_find(o->sorted, o->was.symbols.n, image, vaddr);
	if (!s || s->name < o->was.str_base ||
	    s->name - o->was.str_base >= o->nstr)
		return false;
	*name = o->str[s->name - o->was.str_base];
	*start = s->vaddr;
	*size = s->size;
	return true;
}

/* Adds a frame and its outer frames.  The reader bounds the depth of chains. */
static uint32_t new_frame(struct profile *p, struct keep_old *o, uint32_t id)
{
	struct prof_frame f = o->was.frames.v[id];
	struct prof_func func = o->was.funcs.v[f.func];

	if (o->frame[id] != PROF_NONE)
		return o->frame[id];
	if (f.outer != PROF_NONE) {
		f.outer = new_frame(p, o, f.outer);
		if (f.outer == PROF_NONE)
			return PROF_NONE;
	}
	func.name = new_str(p, o, func.name);
	func.file = new_str(p, o, func.file);
	f.file = new_str(p, o, f.file);
	if (func.name == PROF_NONE || func.file == PROF_NONE ||
	    f.file == PROF_NONE)
		return PROF_NONE;
	f.func = profile_func(p, &func);
	if (f.func != PROF_NONE)
		o->frame[id] = profile_frame(p, &f);
	return o->frame[id];
}

/* Restores the sources of images that kept their names; they replace those of
 * this run. */
static int restore_sources(struct symbolize_run *f, const struct keep_old *o)
{
	struct profile *p = f->p;
	size_t kept = 0;

	for (size_t i = 0; i < p->sources.n; i++)
		if (!o->restored[p->sources.v[i].image])
			p->sources.v[kept++] = p->sources.v[i];
	p->sources.n = kept;
	for (size_t i = 0; i < o->was.sources.n; i++) {
		struct image_debug_info s = o->was.sources.v[i];

		if (!o->restored[s.image])
			continue;
		s.file = new_str(p, o, s.file);
		if (s.file == PROF_NONE || vec_push(&p->sources, s) < 0)
			return symbolize_nomem(f);
	}
	return 0;
}

static int restore_images(struct symbolize_run *f, struct keep_old *o)
{
	struct profile *p = f->p;

	for (size_t i = 0; i < o->was.symbols.n; i++) {
		struct prof_symbol s = o->was.symbols.v[i];

		if (!o->restored[s.image])
			continue;
		s.name = new_str(p, o, s.name);
		if (s.name == PROF_NONE || symbolize_push_symbol(f, &s) < 0)
			return symbolize_nomem(f);
	}
	for (size_t i = 0; i < o->was.lines.n; i++) {
		struct prof_line l = o->was.lines.v[i];

		if (!o->restored[l.image])
			continue;
		if (l.frame != PROF_NONE)
			l.frame = new_frame(p, o, l.frame);
		if (vec_push(&p->lines, l) < 0)
			return symbolize_nomem(f);
	}
	for (size_t i = 0; i < p->images.n; i++) {
		struct prof_image *im = &p->images.v[i];

		if (!o->restored[i])
			continue;
		im->debug_file = new_str(p, o, o->was.images.v[i].debug_file);
		im->note = new_str(p, o, o->was.images.v[i].note);
		if (im->debug_file == PROF_NONE || im->note == PROF_NONE)
			return symbolize_nomem(f);
	}
	return restore_sources(f, o);
}

int keep_old_restore(struct symbolize_run *f, struct keep_old *o)
{
	struct profile *p = f->p;
	uint8_t *named = calloc(p->images.n + 1, 1);
	int rc = named ? 0 : symbolize_nomem(f);

	for (size_t i = 0; i < p->locs.n && !rc; i++)
		named[p->locs.v[i].image] |= p->loc_frame.v[i] != PROF_NONE;
	for (size_t i = 0; i < p->locs.n && !rc; i++) {
		uint32_t old = i < o->was.loc_frame.n ? o->was.loc_frame.v[i]
						      : PROF_NONE;

		/* The current names of an image that could be read take
		 * precedence. */
		if (named[p->locs.v[i].image] || old == PROF_NONE)
			continue;
		p->loc_frame.v[i] = new_frame(p, o, old);
		if (p->loc_frame.v[i] == PROF_NONE)
			rc = symbolize_nomem(f);
		o->restored[p->locs.v[i].image] = 1;
	}
	if (!rc)
		rc = restore_images(f, o);
	free(named);
	return rc;
}

int keep_old_code(struct symbolize_run *f, const struct keep_old *o)
{
	struct profile *p = f->p;

	for (size_t i = 0; i < o->was.codes.n; i++) {
		struct prof_code c = o->was.codes.v[i];
		const uint8_t *bytes = o->was.code_bytes.p + c.offset;

		if (!o->restored[c.image])
			continue;
		c.offset = (uint32_t)p->code_bytes.n;
		buf_bytes(&p->code_bytes, bytes, c.size);
		if (p->code_bytes.failed || vec_push(&p->codes, c) < 0)
			return symbolize_nomem(f);
	}
	return 0;
}

int keep_old_texts(struct symbolize_run *f, const struct keep_old *o)
{
	struct profile *p = f->p;

	for (size_t i = 0; i < o->was.texts.n; i++) {
		struct source_excerpt t = o->was.texts.v[i];
		const uint8_t *bytes = o->was.text_bytes.p + t.offset;

		t.file = new_str(p, o, t.file);
		t.offset = (uint32_t)p->text_bytes.n;
		buf_bytes(&p->text_bytes, bytes, t.size);
		if (t.file == PROF_NONE || p->text_bytes.failed ||
		    vec_push(&p->texts, t) < 0)
			return symbolize_nomem(f);
	}
	return 0;
}
