// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbolizes a profile: locations are sorted by image and address, each image
 * is opened once, and the symbolizer's results become rows.  See
 * symbolize_profile.h.
 */
#include "profile/symbolize_profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/search.h"
#include "profile/symbolize_internal.h"
#include "symbolize/demangle/demangle.h"

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

static int loc_compare(const void *a, const void *b)
{
	const struct symbolize_loc *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr);
}

enum { LOC_BITS = 16 };	/* two passes for most images */

/* Sorts one image's locations by vaddr; spare has room for n. */
static void sort_part(struct symbolize_loc *v, size_t n, struct symbolize_loc *spare,
		      uint32_t *count)
{
	struct radix r = { v, spare, n, sizeof(*v), LOC_BITS, count };

	if (n < 20000)
		sort_rows(v, n, loc_compare);
	else
		radix_sort(&r, offsetof(struct symbolize_loc, vaddr),
			   sizeof(v->vaddr));
}

/* Sorts all locations and sets parts[i] to the range of image i. */
static int sort_locs(struct symbolize_run *f, struct symbolize_item *parts)
{
	const struct profile *p = f->p;
	struct symbolize_loc *spare = malloc((p->locs.n + 1) * sizeof(*spare));
	uint32_t *count = malloc(sizeof(*count) << LOC_BITS);
	size_t i, at = 0;

	for (i = 0; i < p->locs.n; i++)
		if (p->locs.v[i].image < p->images.n)
			parts[p->locs.v[i].image].n++;
	for (i = 0; i < p->images.n; i++) {
		parts[i].image = (uint32_t)i;
		parts[i].at = at;
		at += parts[i].n;
		parts[i].n = 0;
	}
	for (i = 0; i < p->locs.n; i++) {
		uint32_t image = p->locs.v[i].image;

		if (image < p->images.n)
			f->locs[parts[image].at + parts[image].n++] =
				(struct symbolize_loc){ p->locs.v[i].vaddr,
						   (uint32_t)i };
	}
	for (i = 0; spare && count && i < p->images.n; i++)
		sort_part(f->locs + parts[i].at, parts[i].n, spare, count);
	for (i = 0; i < at; i++)
		f->vaddrs[i] = f->locs[i].vaddr;
	i = spare && count;
	free(spare);
	free(count);
	return i ? 0 : symbolize_nomem(f);
}

static int fill_run(struct symbolize_run *f)
{
	struct profile *p = f->p;
	struct symbolize_item *parts = calloc(p->images.n + 1, sizeof(*parts));
	size_t i;
	int rc;

	f->locs = malloc((p->locs.n + 1) * sizeof(*f->locs));
	f->vaddrs = malloc((p->locs.n + 1) * sizeof(*f->vaddrs));
	f->order = malloc((p->images.n + 1) * sizeof(*f->order));
	if (!parts || !f->locs || !f->vaddrs || !f->order ||
	    vec_reserve(&p->loc_frame, p->locs.n) < 0) {
		free(parts);
		return symbolize_nomem(f);
	}
	for (i = 0; i < p->locs.n; i++)
		p->loc_frame.v[i] = PROF_NONE;
	p->loc_frame.n = p->locs.n;
	f->all_self_samples = f->o->self_samples_elsewhere;
	for (i = 0; f->o->self_samples && i < p->locs.n; i++)
		f->all_self_samples += f->o->self_samples[i];
	rc = sort_locs(f, parts) ?: symbolize_images(f, parts);
	if (!rc && f->old)
		rc = keep_old_restore(f, f->old);
	if (!rc)
		rc = symbolize_choose_code(f);
	if (!rc && f->old)
		rc = keep_old_code(f, f->old);
	if (!rc && f->old)
		rc = keep_old_texts(f, f->old);
	if (!rc && f->o->embed_source && !f->p->texts.n)
		rc = embed_source(f);
	free(parts);
	return rc;
}

/* The budget covers a few dozen functions in addition to hot ones, otherwise
 * half a byte for each sample.  Code must not dominate the size of a file. */
size_t symbolize_code_budget(uint64_t samples)
{
	enum { LEAST = 16 << 10, MOST = 4 << 20 };

	samples /= 2;
	return samples < LEAST ? LEAST : samples > MOST ? MOST : samples;
}

void symbolize_run_end(struct symbolize_run *f)
{
	/* After an error, its thread still reads the addresses. */
	symbolize_kernel_end(f);
	keep_old_free(f->old);
	free(f->locs);
	free(f->vaddrs);
	free(f->order);
	u64map_fini(&f->strings);
	u64map_fini(&f->symbols);
	vec_fini(&f->codes);
	vec_fini(&f->self_samples);
	buf_fini(&f->bytes);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
}

int profile_symbolize(struct profile *p, const struct symbolize_options *o,
		      struct error *err)
{
	struct symbolize_run f = { .p = p, .o = o, .err = err,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .moved = PTHREAD_COND_INITIALIZER };
	int rc;

	if (p->foreign)
		return 0;
	if (keep_old_take(p, &f.old) < 0)
		return symbolize_nomem(&f);
	rc = profile_begin_symbols(p) < 0 ? symbolize_nomem(&f) : fill_run(&f);
	symbolize_run_end(&f);
	return rc;
}
