// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches source lines of two recordings by their text. */
#include "views/code/line_match.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "compare/align.h"

enum {
	LINES_MAX = 1 << 20,	/* lines of one file */
	LINE_BYTES = 4000,
};

/* A file of both sides. */
struct file_pair {
	uint32_t file[LINE_SIDES];	/* str of the side's profile; 0: none */
	uint32_t image[LINE_SIDES];	/* image with its code */
	size_t first, end;		/* range in `used` */
};

/* An old line that has code. */
struct used_line {
	uint32_t file, line;		/* file: index in `files` */
};

struct line_matcher {
	const struct line_side *side;
	struct line_map *out;
	struct sources sources[LINE_SIDES];
	VEC(struct file_pair) files;
	struct u64map tab;		/* file_of to index in `files` */
	VEC(struct used_line) used;	/* by file and line, without duplicates */
};

static uint64_t line_key(uint32_t file, uint32_t line)
{
	return (uint64_t)file << 32 | line;
}

uint32_t line_map_get(const struct line_map *m, uint32_t file, uint32_t line)
{
	uint32_t to = u64map_get(&m->line_of, line_key(file, line));

	return to == U64MAP_NONE ? line : to;
}

static int add_files(struct line_matcher *m, int side)
{
	const struct line_side *s = &m->side[side];
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		struct file_pair none = { { 0, 0 }, { 0, 0 }, 0, 0 }, *pair;
		uint32_t id;

		if (!f->file || f->file >= p->str.str.n ||
		    !s->file_of[f->file] || f->func >= p->funcs.n)
			continue;
		id = u64map_row(&m->tab, &m->files, s->file_of[f->file], &none);
		if (id == U64MAP_NONE)
			return -ERR_NOMEM;
		pair = &m->files.v[id];
		if (!pair->file[side]) {
			pair->file[side] = f->file;
			pair->image[side] = p->funcs.v[f->func].image;
		}
		if (side == LINE_OLD && f->line && f->line < LINE_REMOVED &&
		    vec_push(&m->used, (struct used_line){ id, f->line }) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int by_file(const void *x, const void *y)
{
	const struct used_line *a = x, *b = y;

	return ascending(a->file, b->file) ?: ascending(a->line, b->line);
}

static void index_used(struct line_matcher *m)
{
	struct used_line *v = m->used.v;
	size_t n = 0;

	sort_rows(v, m->used.n, by_file);
	for (size_t i = 0; i < m->used.n; i++) {
		struct file_pair *f = &m->files.v[v[i].file];

		if (n && !by_file(&v[n - 1], &v[i]))
			continue;
		if (f->end == f->first)
			f->first = n;
		v[n++] = v[i];
		f->end = n;
	}
	m->used.n = n;
}

static bool same_build(const struct line_matcher *m, const struct file_pair *f)
{
	const struct build_id *id[LINE_SIDES];

	for (int s = 0; s < LINE_SIDES; s++) {
		const struct profile *p = m->side[s].p;

		if (f->image[s] >= p->images.n)
			return false;
		id[s] = &p->images.v[f->image[s]].build_id;
	}
	return id[0]->len && id[0]->len == id[1]->len &&
	       !memcmp(id[0]->bytes, id[1]->bytes, id[0]->len);
}

/* Returns the id of a line's text without layout; UINT32_MAX if out of memory. */
static uint32_t text_token(struct strtab *tokens, const struct sources *sources,
			   const struct source_file *f, uint32_t line)
{
	char text[LINE_BYTES + 2] = { 1 };
	struct span s;
	size_t n = 1;

	/* a line without known text is identified by its number */
	if (!source_line(sources, f, line, &s)) {
		snprintf(text, sizeof(text), "\2%u", line);
		return strtab_add(tokens, text);
	}
	for (size_t i = 0; i < s.n && n < LINE_BYTES; i++) {
		bool space = isspace(s.p[i]) || !s.p[i];

		if (!space)
			text[n++] = (char)s.p[i];
		else if (n > 1 && text[n - 1] != ' ')
			text[n++] = ' ';
	}
	if (text[n - 1] == ' ')
		n--;
	return strtab_add_n(tokens, text, n);
}

int line_pair_init(struct line_pair *x)
{
	*x = (struct line_pair){ .side = { { .line = { 0 } } } };
	return strtab_init(&x->tokens);
}

void line_pair_fini(struct line_pair *x)
{
	for (int s = 0; s < LINE_SIDES; s++) {
		vec_fini(&x->side[s].line);
		vec_fini(&x->side[s].token);
	}
	strtab_fini(&x->tokens);
}

int line_pair_add(struct line_pair *x, int side, const struct sources *sources,
		  const struct source_file *f, uint32_t line)
{
	struct line_list *l = &x->side[side];
	uint32_t token = sources ? text_token(&x->tokens, sources, f, line) : 0;

	return token == UINT32_MAX || vec_push(&l->line, line) < 0 ||
	       vec_push(&l->token, token) < 0 ? -ERR_NOMEM : 0;
}

int line_pair_align(const struct line_pair *x, struct align_rows *rows)
{
	const struct line_list *v = x->side;
	const struct align_side side[LINE_SIDES] = {
		{ v[0].token.v, NULL, v[0].token.n },
		{ v[1].token.v, NULL, v[1].token.n },
	};
	size_t first = rows->n;
	int rc = align(side, x->tokens.str.n, rows);

	for (size_t i = first; !rc && i < rows->n; i++)
		for (int s = 0; s < LINE_SIDES; s++)
			if (rows->v[i].at[s] != UINT32_MAX)
				rows->v[i].at[s] = v[s].line.v[rows->v[i].at[s]];
	return rc;
}

static int collect(struct line_matcher *m, int side,
		   const struct source_file *f, struct line_pair *x)
{
	uint32_t last = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < f->rows.n && i < LINES_MAX; i++) {
		uint32_t line = f->rows.v[i].line;

		if (line != last)	/* excerpts in a recording may overlap */
			rc = line_pair_add(x, side, &m->sources[side], f, line);
		last = line;
	}
	return rc;
}

static int map_line(struct line_matcher *m, const struct file_pair *f,
		    uint32_t line, uint32_t to)
{
	uint32_t file = m->side[LINE_OLD].file_of[f->file[LINE_OLD]];

	return line == to ? 0
	     : u64map_put(&m->out->line_of, line_key(file, line), to);
}

/* Maps an old line without counterpart.  A recording holds only the lines of
 * hot functions.  So if the new side lacks the text of the expected line, the
 * line is mapped to it; otherwise it is marked as gone. */
static int map_lone(struct line_matcher *m, const struct file_pair *f,
		    const struct source_file *now, uint32_t line, int64_t shift)
{
	int64_t to = (int64_t)line + shift;
	struct span text;

	if (to > 0 && to < LINE_REMOVED &&
	    !source_line(&m->sources[LINE_NEW], now, (uint32_t)to, &text))
		return map_line(m, f, line, (uint32_t)to);
	return map_line(m, f, line, line | LINE_REMOVED);
}

/* Maps lines of code by the aligned rows.  Both are in the order of the old
 * side. */
static int map_rows(struct line_matcher *m, const struct file_pair *f,
		    const struct source_file *now,
		    const struct align_rows *rows)
{
	int64_t shift = 0;
	size_t k = f->first;
	int rc = 0;

	for (size_t i = 0; !rc && i < rows->n; i++) {
		const uint32_t *at = rows->v[i].at;
		uint32_t line = at[LINE_OLD];

		if (line == UINT32_MAX)
			continue;
		/* lines between excerpts of a recording shift like the line
		 * before */
		for (; !rc && k < f->end && m->used.v[k].line < line; k++)
			rc = map_lone(m, f, now, m->used.v[k].line, shift);
		if (at[LINE_NEW] != UINT32_MAX)
			shift = (int64_t)at[LINE_NEW] - line;
		if (rc || k == f->end || m->used.v[k].line != line)
			continue;
		k++;
		rc = at[LINE_NEW] == UINT32_MAX
			? map_lone(m, f, now, line, shift)
			: map_line(m, f, line, at[LINE_NEW]);
	}
	for (; !rc && k < f->end; k++)
		rc = map_lone(m, f, now, m->used.v[k].line, shift);
	return rc;
}

static int match_texts(struct line_matcher *m, const struct file_pair *f,
		       const struct source_file *const file[LINE_SIDES])
{
	struct align_rows rows = { 0 };
	struct line_pair x;
	int rc = line_pair_init(&x);

	for (int s = 0; !rc && s < LINE_SIDES; s++)
		rc = collect(m, s, file[s], &x);
	if (!rc)
		rc = line_pair_align(&x, &rows) ?:
		     map_rows(m, f, file[LINE_NEW], &rows);
	vec_fini(&rows);
	line_pair_fini(&x);
	return rc;
}

static int match_file(struct line_matcher *m, const struct file_pair *f)
{
	const struct source_file *side[LINE_SIDES];

	if (!f->file[LINE_NEW] || f->first == f->end || same_build(m, f))
		return 0;
	for (int s = 0; s < LINE_SIDES; s++) {
		side[s] = sources_get(&m->sources[s], f->file[s], f->image[s]);
		if (!side[s])
			return -ERR_NOMEM;
	}
	if (side[0]->place == SOURCE_NONE || side[1]->place == SOURCE_NONE)
		m->out->by_number++;
	else if (side[0]->place != SOURCE_FILE ||
		 side[1]->place != SOURCE_FILE ||
		 strcmp(side[0]->path, side[1]->path))
		return match_texts(m, f, side);
	return 0;
}

int line_map_init(struct line_map *out, const struct line_side side[LINE_SIDES])
{
	struct line_matcher m = { .side = side, .out = out };
	int rc = 0;

	*out = (struct line_map){ .by_number = 0 };
	for (int s = 0; s < LINE_SIDES; s++)
		sources_init(&m.sources[s], side[s].p, side[s].where);
	for (int s = 0; !rc && s < LINE_SIDES; s++)
		rc = add_files(&m, s);
	index_used(&m);
	for (size_t i = 0; !rc && i < m.files.n; i++)
		rc = match_file(&m, &m.files.v[i]);
	for (int s = 0; s < LINE_SIDES; s++)
		sources_fini(&m.sources[s]);
	vec_fini(&m.files);
	vec_fini(&m.used);
	u64map_fini(&m.tab);
	return rc;
}

void line_map_fini(struct line_map *m)
{
	u64map_fini(&m->line_of);
}
