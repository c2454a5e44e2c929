// SPDX-License-Identifier: GPL-2.0-or-later
/* Aligns the source lines of a function on both sides. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views/diff/diff_annotate.h"
#include "views/diff/diff_internal.h"
#include "views/code/line_match.h"

enum {
	AROUND = 100,		/* lines around a function that help alignment */
	LINES_MAX = 1 << 20,	/* lines of one file */
	LINE_BYTES = 4000,
};

/* A file of one side's unit.  Its lines with code are [first, end) of the
 * annotation's. */
struct piece {
	uint32_t file, as;	/* str of the profile, and of diff.names */
	size_t first, end;
	bool taken;
};

struct pieces {
	struct piece *v;
	size_t n, cap;
};

struct side_lines {
	const struct source_file *f;
	VEC(uint32_t) line, token;
	size_t next;		/* index in the annotation's lines */
	const struct piece *piece;
};

struct liner {
	struct diff_annotation *x;
	struct strtab words;
	struct side_lines side[DIFF_SIDES];
};

static int find_pieces(struct diff_annotation *x, int side,
		       const struct diff_unit *u, struct pieces *out)
{
	const struct annotation *a = x->a[side];
	const struct annot_unit *au;
	size_t end;

	if (u->unit[side] == SIZE_MAX)
		return 0;
	au = &a->units.v[u->unit[side]];
	for (size_t i = au->line; i < au->line + au->nlines; i = end) {
		struct piece p = { a->lines.v[i].file, 0, i, 0, false };

		for (end = i + 1; end < au->line + au->nlines &&
		     a->lines.v[end].file == p.file; end++)
			;
		p.end = end;
		p.as = p.file ? x->d->side[side].file_of[p.file] : 0;
		if (vec_push(out, p) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int add_line(struct liner *l, int side, uint32_t line)
{
	struct side_lines *s = &l->side[side];
	uint32_t token = line_key_text(&l->words, &l->x->a[side]->sources,
					 s->f, line);

	return token == UINT32_MAX || vec_push(&s->line, line) < 0 ||
	       vec_push(&s->token, token) < 0 ? -ERR_NOMEM : 0;
}

/* Collects the lines of the piece, and source lines around them. */
static int collect(struct liner *l, int side, const struct piece *p)
{
	struct side_lines *s = &l->side[side];
	struct annotation *a = l->x->a[side];
	const struct annot_line *v = a->lines.v;
	size_t i = p->first, row = 0;
	uint64_t from, to;
	int rc = 0;

	s->piece = p;
	s->next = p->first;
	s->f = sources_get(&a->sources, p->file, v[p->first].image);
	if (!s->f)
		return -ERR_NOMEM;
	if (v[i].line == 0)
		i++;
	if (i == p->end)
		return 0;
	from = v[i].line > AROUND ? v[i].line - AROUND : 1;
	to = (uint64_t)v[p->end - 1].line + AROUND;
	while (row < s->f->rows.n && s->f->rows.v[row].line < from)
		row++;
	while (!rc && s->line.n < LINES_MAX) {
		uint64_t known = row < s->f->rows.n ? s->f->rows.v[row].line
						    : UINT64_MAX;
		uint64_t code = i < p->end ? v[i].line : UINT64_MAX;
		uint64_t next = known < code ? known : code;

		if (next > to || next == UINT64_MAX)
			break;
		rc = add_line(l, side, (uint32_t)next);
		while (row < s->f->rows.n && s->f->rows.v[row].line == next)
			row++;
		i += code == next;
	}
	return rc;
}

/* Returns the row of costs of a line.  Call it with ascending lines. */
static size_t cost_row(struct liner *l, int side, uint32_t line)
{
	struct side_lines *s = &l->side[side];
	const struct annotation *a = l->x->a[side];

	if (!s->piece)
		return SIZE_MAX;
	while (s->next < s->piece->end && a->lines.v[s->next].line < line)
		s->next++;
	return s->next < s->piece->end && a->lines.v[s->next].line == line
		       ? a->line_cost.v[s->next] : SIZE_MAX;
}

static int put_part(struct liner *l, const uint32_t *at, uint8_t how)
{
	struct diff_part part = { .how = how };

	for (int s = 0; s < DIFF_SIDES; s++) {
		part.at[s] = at[s];
		part.cost[s] = at[s] == PROF_NONE ? SIZE_MAX
						  : cost_row(l, s, at[s]);
	}
	return vec_push(&l->x->parts, part);
}

/* Adds the code without a line, if there is any. */
static int put_lineless(struct liner *l)
{
	uint32_t at[DIFF_SIDES] = { PROF_NONE, PROF_NONE };
	bool any = false;

	for (int s = 0; s < DIFF_SIDES; s++)
		if (l->side[s].piece &&
		    l->x->a[s]->lines.v[l->side[s].piece->first].line == 0) {
			at[s] = 0;
			any = true;
		}
	return any ? put_part(l, at, at[0] == PROF_NONE ? ALIGN_NEW
			      : at[1] == PROF_NONE ? ALIGN_OLD
			      : ALIGN_SAME) : 0;
}

static int align_lines(struct liner *l)
{
	const struct align_side side[2] = {
		{ l->side[0].token.v, NULL, l->side[0].token.n },
		{ l->side[1].token.v, NULL, l->side[1].token.n },
	};
	struct align_rows rows = { 0 };
	int rc = align(side, l->words.str.n, &rows);

	if (!rc)
		rc = put_lineless(l);
	for (size_t i = 0; !rc && i < rows.n; i++) {
		uint32_t at[DIFF_SIDES];

		for (int s = 0; s < DIFF_SIDES; s++)
			at[s] = rows.v[i].at[s] == UINT32_MAX ? PROF_NONE
				: l->side[s].line.v[rows.v[i].at[s]];
		rc = put_part(l, at, rows.v[i].how);
	}
	vec_fini(&rows);
	return rc;
}

/* Adds one file that is on the old side, the new side, or both. */
static int add_file(struct diff_annotation *x, struct diff_unit *u,
		    struct piece *old, struct piece *now)
{
	struct piece *p[DIFF_SIDES] = { old, now };
	struct liner l = { .x = x };
	struct diff_file f = { .part = x->parts.n };
	int rc = strtab_init(&l.words);

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		if (!p[s])
			continue;
		p[s]->taken = true;
		f.file[s] = p[s]->file;
		rc = collect(&l, s, p[s]);
		f.source[s] = l.side[s].f;
	}
	if (!rc)
		rc = align_lines(&l);
	f.nparts = x->parts.n - f.part;
	if (!rc)
		rc = vec_push(&x->files, f);
	u->nfiles++;
	for (int s = 0; s < DIFF_SIDES; s++) {
		vec_fini(&l.side[s].line);
		vec_fini(&l.side[s].token);
	}
	strtab_fini(&l.words);
	return rc ? -ERR_NOMEM : 0;
}

int diff_lines(struct diff_annotation *x, struct diff_unit *u)
{
	struct pieces v[DIFF_SIDES] = { { 0 }, { 0 } };
	int rc = 0;

	u->file = x->files.n;
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = find_pieces(x, s, u, &v[s]);
	for (size_t i = 0; !rc && i < v[1].n; i++) {
		struct piece *old = NULL;

		for (size_t k = 0; !old && k < v[0].n; k++)
			if (!v[0].v[k].taken && v[0].v[k].as == v[1].v[i].as)
				old = &v[0].v[k];
		rc = add_file(x, u, old, &v[1].v[i]);
	}
	for (size_t k = 0; !rc && k < v[0].n; k++)
		if (!v[0].v[k].taken)
			rc = add_file(x, u, &v[0].v[k], NULL);
	vec_fini(&v[0]);
	vec_fini(&v[1]);
	return rc;
}

bool diff_line_text(const struct diff_annotation *x, const struct diff_file *f,
		    int side, uint32_t line, struct buf *out)
{
	struct span s;

	if (!f->source[side] || !line || line == PROF_NONE ||
	    !source_line(&x->a[side]->sources, f->source[side], line, &s))
		return false;
	for (size_t i = 0; i < s.n && i < LINE_BYTES && s.p[i]; i++) {
		if (s.p[i] == '\r' && i + 1 == s.n)
			break;
		buf_u8(out, s.p[i]);
	}
	return true;
}
