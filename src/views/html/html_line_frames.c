// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames, files and lines of what a page holds: see html_lines.c. */
#include <stdlib.h>

#include "views/html/html_lines.h"

uint32_t html_page_file(struct html_data *d, uint32_t source, uint32_t str,
			uint32_t image)
{
	struct html_lines *l = &d->lines;
	const char *path = profile_cstr(d->src[source].in.rep->p, str);
	struct html_file f = { source, str, image };
	uint32_t id, *slot;

	if (!str || !*path)
		return PROF_NONE;
	id = strtab_add(&l->paths, path);
	slot = id == UINT32_MAX ? NULL
		: u64map_slot(&l->file_tab,
			      (uint64_t)id * 2 + d->src[source].in.side);
	if (slot && *slot == U64MAP_NONE && !vec_push(&l->files, f))
		*slot = (uint32_t)l->files.n - 1;
	l->failed |= !slot || *slot == U64MAP_NONE;
	return slot ? *slot : PROF_NONE;
}

static bool frame_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct html_lines *l = ctx;
	const struct html_frame *a = &l->frames.v[id], *b = key;

	return a->func == b->func && a->file == b->file && a->line == b->line &&
	       a->outer == b->outer;
}

static uint32_t intern_frame(struct html_lines *l, const struct html_frame *f)
{
	uint64_t h = hash_mix((uint64_t)f->func << 32 | f->file,
			      (uint64_t)f->line << 32 | f->outer);
	uint32_t id = idtab_find(&l->frame_tab, h, frame_eq, l, f);

	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)l->frames.n;
	if (vec_push(&l->frames, *f) == 0 && !idtab_add(&l->frame_tab, h, id))
		return id;
	l->failed = true;
	return PROF_NONE;
}

static uint32_t page_frame(struct html_data *d, uint32_t source, uint32_t step)
{
	struct html_source *s = &d->src[source];
	const struct frame_keys *k = &s->in.rep->keys;
	const struct profile *p = s->in.rep->p;
	uint32_t chain[INLINE_MAX + 1], outer = PROF_NONE;
	size_t n = 0;

	for (; step != PROF_NONE && n <= INLINE_MAX;
	     step = k->steps[step].outer)
		chain[n++] = step;
	while (n--) {
		struct html_frame f = { html_step_func(s, chain[n]), PROF_NONE,
					0, outer };

		if (s->frame_of[chain[n]] == PROF_NONE) {
			if (chain[n] < k->nframes) {
				const struct prof_frame *x =
					&p->frames.v[chain[n]];

				f.line = x->line;
				f.file = html_page_file(d, source, x->file,
					x->func < p->funcs.n
					? p->funcs.v[x->func].image : 0);
			}
			s->frame_of[chain[n]] = intern_frame(&d->lines, &f);
		}
		outer = s->frame_of[chain[n]];
	}
	return outer;
}

static uint32_t insn_step(const struct html_source *s, uint32_t frame)
{
	const struct frame_keys *k = &s->in.rep->keys;

	while (frame != PROF_NONE && s->in.rep->spec.no_inline &&
	       k->steps[frame].outer != PROF_NONE)
		frame = k->steps[frame].outer;
	return frame;
}

int html_make_frames(struct html_data *d)
{
	struct html_lines *l = &d->lines;

	for (size_t i = 0; i < l->locs.n; i++) {
		struct html_loc *x = &l->locs.v[i];

		x->frame = page_frame(d, x->source, d->src[x->source].in.rep->
						    keys.head[x->loc]);
		if (x->frame == PROF_NONE)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < l->codes.n; i++) {
		const struct html_code *c = &l->codes.v[i];
		struct html_source *s = &d->src[c->source];
		const struct annotation *a = s->in.lines;

		for (size_t n = 0; n < c->insns; n++) {
			uint32_t step = insn_step(s, a->insns.v[
				a->codes.v[c->at].insn + n].frame);
			uint32_t f = step == PROF_NONE ? PROF_NONE
				: page_frame(d, c->source, step);

			if (vec_push(&l->insn_frames, f) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

static int want(struct html_data *d, uint32_t source, uint32_t file,
		uint32_t line, uint32_t image)
{
	struct page_source_line w = {
		html_page_file(d, source, file, image), line
	};

	return w.file == PROF_NONE || !line ||
	       d->lines.wants.n >= 4 * HTML_LINE_TEXTS
		       ? 0 : vec_push(&d->lines.wants, w);
}

static int by_line(const void *x, const void *y)
{
	const struct page_source_line *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* All lines that functions taken have code of, and where they begin. */
int html_want_lines(struct html_chooser *k, uint32_t source)
{
	struct html_source *s = &k->d->src[source];
	const struct profile *p = s->in.rep->p;
	struct html_lines *l = &k->d->lines;
	size_t kept = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		uint32_t func = html_step_func(s, i);
		const struct prof_func *x;

		if (func == PROF_NONE || !k->taken[func] ||
		    f->func >= p->funcs.n)
			continue;
		x = &p->funcs.v[f->func];
		rc = want(k->d, source, f->file, f->line, x->image);
		if (!rc && (s->frame_of[i] != PROF_NONE ||
			    (s->call_of && s->call_of[i] != PROF_NONE)))
			rc = want(k->d, source, x->file, x->line, x->image);
	}
	if (l->wants.n)
		qsort(l->wants.v, l->wants.n, sizeof(*l->wants.v), by_line);
	for (size_t i = 0; i < l->wants.n; i++)
		if (!kept || by_line(&l->wants.v[kept - 1], &l->wants.v[i]))
			l->wants.v[kept++] = l->wants.v[i];
	l->wants.n = kept;
	return rc;
}
