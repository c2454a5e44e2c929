// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What symbolizing the images of a profile shares: turns of the two threads, and the rows,
 * notes and strings that results become.  See symbolize_internal.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "profile/symbolize_internal.h"
#include "symbolize/demangle/demangle.h"

void symbolize_lock(struct symbolize_run *f)
{
	pthread_mutex_lock(&f->lock);
}

void symbolize_unlock(struct symbolize_run *f)
{
	pthread_mutex_unlock(&f->lock);
}

void symbolize_wait_turn(struct symbolize_run *f, const struct symbolize_item *part)
{
	pthread_mutex_lock(&f->lock);
	while (f->turn != part->turn)
		pthread_cond_wait(&f->moved, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

int symbolize_nomem(struct symbolize_run *f)
{
	return error_set(f->err, ERR_NOMEM, "out of memory for symbols");
}

void symbolize_note(struct symbolize_run *f, uint32_t image, const char *fmt, ...)
{
	char text[1024];
	uint32_t id;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	id = profile_str(f->p, text);
	if (id != PROF_NONE)
		f->p->images.v[image].note = id;
}

int symbolize_set_source(struct symbolize_run *f, const struct image_debug_info *s,
			 const char *file)
{
	struct image_debug_info row = *s;

	row.file = profile_str(f->p, file);
	if (row.file == PROF_NONE || vec_push(&f->p->sources, row) < 0)
		return symbolize_nomem(f);
	return 0;
}

void symbolize_next_image(struct symbolize_run *f)
{
	u64map_clear(&f->strings);
	u64map_clear(&f->symbols);
}

/* Returns the id of a string.  Names and paths repeat with equal pointers, so
 * each string is hashed only once. */
static uint32_t string_id(struct symbolize_run *f, const char *s)
{
	uint32_t *slot;

	if (!*s)
		return PROF_STR_EMPTY;
	slot = u64map_slot(&f->strings, (uintptr_t)s);
	if (!slot)
		return PROF_NONE;
	if (*slot == U64MAP_NONE) {
		*slot = profile_str(f->p, s);
		if (*slot == PROF_NONE)
			u64map_clear(&f->strings);
		else
			return *slot;
		return PROF_NONE;
	}
	return *slot;
}

int symbolize_push_symbol(struct symbolize_run *f, const struct prof_symbol *s)
{
	if (vec_push(&f->self_samples, 0) < 0)
		return -1;
	if (vec_push(&f->p->symbols, *s) == 0)
		return 0;
	f->self_samples.n--;
	return -1;
}

int symbolize_add_symbol(struct symbolize_run *f, uint32_t image,
			 const struct sym_result *r, uint64_t self_samples)
{
	struct prof_symbol s = { image, 0, r->sym_start, r->sym_size };
	uint32_t *slot;

	if (!r->sym_size)
		return 0;
	slot = u64map_slot(&f->symbols, r->sym_start);
	if (!slot)
		return -1;
	if (*slot == U64MAP_NONE) {
		/* DWARF may name functions that have no symbol */
		s.name = string_id(f, *r->symbol || !r->nframes
				   ? r->symbol : r->frames[r->nframes - 1].name);
		if (s.name == PROF_NONE || symbolize_push_symbol(f, &s) < 0)
			return -1;
		*slot = (uint32_t)f->p->symbols.n - 1;
	}
	f->self_samples.v[*slot] += self_samples;
	return 0;
}

/* Returns the function's name.  Names of Ada are stored demangled, because the
 * name alone does not identify the language later.  Memory of such a text is
 * used again for the next one, so string_id cannot know it by its address. */
static uint32_t name_id(struct symbolize_run *f, const struct sym_frame *s)
{
	struct buf name = { 0 };
	uint32_t id;

	if (!lang_is_ada(s->lang))
		return string_id(f, s->name);
	demangle_as(s->lang, s->name, &name);
	id = name.failed ? PROF_NONE : profile_str(f->p, buf_cstr(&name));
	buf_fini(&name);
	return id;
}

/* Returns the source file that distinguishes functions with equal names: the
 * file of the declaration, else (line tables alone) of the code, or the symbol
 * table's. */
static const char *own_file(const struct sym_result *r,
			    const struct sym_frame *s)
{
	if (*s->decl_file)
		return s->decl_file;
	return s->inlined ? s->file : r->sym_file ? r->sym_file : "";
}

/* Adds one frame of a chain whose outer frames exist already. */
static uint32_t add_frame(struct symbolize_run *f, uint32_t image,
			  const struct sym_result *r, const struct sym_frame *s,
			  uint32_t outer)
{
	struct prof_func func = { .image = image, .line = s->decl_line };
	struct prof_frame frame = { .line = s->line, .column = s->column,
				    .outer = outer };

	func.name = name_id(f, s);
	func.file = string_id(f, own_file(r, s));
	frame.file = string_id(f, s->file);
	if (func.name == PROF_NONE || func.file == PROF_NONE ||
	    frame.file == PROF_NONE)
		return PROF_NONE;
	/* Equal names of local symbols are different functions. */
	if (!s->inlined && s->name == r->symbol)
		func.vaddr = r->sym_start;
	frame.func = profile_func(f->p, &func);
	if (frame.func == PROF_NONE)
		return PROF_NONE;
	return profile_frame(f->p, &frame);
}

int symbolize_add_frames(struct symbolize_run *f, uint32_t image,
			 const struct sym_result *r, uint32_t *frame)
{
	*frame = PROF_NONE;
	for (size_t k = r->nframes; k-- > 0;) {
		*frame = add_frame(f, image, r, &r->frames[k], *frame);
		if (*frame == PROF_NONE)
			return symbolize_nomem(f);
	}
	return 0;
}

int symbolize_add_result(struct symbolize_run *f,
			 const struct symbolize_item *part, size_t i,
			 const struct sym_result *r, uint32_t frame)
{
	uint32_t loc = f->locs[part->at + i].loc;

	if (symbolize_add_symbol(f, part->image, r, f->o->self_samples
				? f->o->self_samples[loc] : 0) < 0)
		return symbolize_nomem(f);
	f->p->loc_frame.v[loc] = frame;
	return 0;
}

int symbolize_add_location(struct symbolize_run *f,
			   const struct symbolize_item *part, size_t i,
			   const struct sym_result *r)
{
	uint32_t frame;
	int rc = symbolize_add_frames(f, part->image, r, &frame);

	return rc ? rc : symbolize_add_result(f, part, i, r, frame);
}
