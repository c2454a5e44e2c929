// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encodes lines and instructions in the block of data of a page.
 *
 * In the JSON, "lines": {"funcs","uncalled","files":[{"name","side","found",
 * "newer","origin","why","text":[[first line, text…]…]}],"codes":[{"symbol",
 * "image","vaddr","size","side","missing","text":[…],"jumps":[from,to,lane…]}],
 * the pairs of a comparison (html_pairs.c), "frames","locs","entries","insns",
 * "calls","call_entries"}.
 *
 * Columns of the frames:
 *	- function + 1 (0: none), file + 1, line
 *	- how many frames before it its outer frame is (0: none)
 * Columns of the locations:
 *	- frame, code + 1 (0: none), instruction + 1
 *	- their entries, in the format of the nodes' entries
 * Columns of all shown instructions, code by code:
 *	- size, kind of flow
 *	- twice (distance to the target within the code + 1), + 1 if backward
 *	  (0: none)
 *	- frame + 1
 * Columns of the calls made at lines:
 *	- function, file + 1, line
 *	- their entries
 */
#include <string.h>

#include "views/html/html_data.h"

enum {
	LINE_BYTES = 400,	/* maximum bytes of a line's text */
	TARGET_BYTES = 120,
};

/* Writes a number that may be PROF_NONE. */
static void put_optional(struct html_encoder *e, uint32_t n)
{
	buf_uleb(e->out, n == PROF_NONE ? 0 : n + 1ull);
}

static void put_source(struct html_encoder *e, struct json *j,
		       struct annotation *a, const struct source_file *f,
		       uint32_t line)
{
	buf_again(&e->tmp);
	source_text(&a->sources, f, line, LINE_BYTES, &e->tmp);
	json_str(j, NULL, buf_cstr(&e->tmp));
}

/* Writes the wanted lines of one file, with some lines around each. */
static void put_texts(struct html_encoder *e, struct json *j,
		      struct annotation *a, const struct source_file *f,
		      uint32_t file, size_t *budget)
{
	struct html_text_range r = { .file = file };
	struct span s;

	while (*budget && html_next_lines(&e->d->lines, &r)) {
		json_array(j, NULL);
		json_uint(j, NULL, r.from);
		for (uint32_t l = r.from; l <= r.end && *budget;
		     l++, (*budget)--) {
			if (!source_line(&a->sources, f, l, &s) && l > r.to)
				break;
			put_source(e, j, a, f, l);
		}
		json_end(j);
	}
}

static void put_file(struct html_encoder *e, struct json *j, uint32_t file,
		     size_t *budget)
{
	const struct html_data *d = e->d;
	const struct html_file *f = &d->lines.files.v[file];
	const struct profile *p = html_rep(d, f->source)->p;
	struct annotation *a = d->src[f->source].in.lines;
	struct html_text_range any = { .file = file };
	bool wanted = html_next_lines(&d->lines, &any);
	const struct source_file *s;

	json_object(j, NULL);
	json_str(j, "name", html_safe_text(e, profile_cstr(p, f->str)));
	json_uint(j, "side", d->src[f->source].in.side);
	s = wanted ? sources_get(&a->sources, f->str, f->image) : NULL;
	e->failed |= wanted && !s;
	if (s) {
		json_str(j, "found", source_place_word(s));
		if (s->newer)
			json_bool(j, "newer", true);
		buf_again(&e->tmp);
		source_origin(&a->sources, s, &e->tmp);
		if (e->tmp.n)
			json_str(j, "origin", html_safe_text(e,
							     buf_cstr(&e->tmp)));
		if (s->why && *s->why)
			json_str(j, "why", html_safe_text(e, s->why));
	}
	if (s && s->place != SOURCE_NONE) {
		json_array(j, "text");
		put_texts(e, j, a, s, file, budget);
		json_end(j);
	}
	json_end(j);
}

static void put_insn(struct html_encoder *e, struct json *j,
		     struct annotation *a, const struct annot_code *c,
		     size_t i)
{
	const struct annot_insn *in = &a->insns.v[c->insn + i];
	const struct prof_symbol *s = &a->p->symbols.v[c->symbol];
	struct buf name = { 0 };

	buf_again(&e->tmp);
	buf_str(&e->tmp, (const char *)a->text.p + in->text);
	if ((in->has_target || in->has_data) &&
	    in->target - s->vaddr >= s->size &&
	    annot_address_name(a, s->image, in->target, &name)) {
		buf_u8(&e->tmp, '\t');
		buf_bytes(&e->tmp, buf_cstr(&name),
			  strlen(buf_cstr(&name)) < TARGET_BYTES
				  ? strlen(buf_cstr(&name)) : TARGET_BYTES);
	}
	json_str(j, NULL, buf_cstr(&e->tmp));
	e->failed |= name.failed;
	buf_fini(&name);
}

static void put_code(struct html_encoder *e, struct json *j,
		     const struct html_code *code)
{
	const struct html_data *d = e->d;
	struct annotation *a = d->src[code->source].in.lines;
	const struct annot_code *c = &a->codes.v[code->at];
	const struct prof_symbol *s = &a->p->symbols.v[c->symbol];
	struct annot_unit unit = { .kind = UNIT_CODE, .symbol = c->symbol,
				   .image = s->image };

	json_object(j, NULL);
	buf_again(&e->tmp);
	annot_unit_name(a, &unit, true, &e->tmp);
	json_str(j, "symbol", html_safe_text(e, buf_cstr(&e->tmp)));
	json_str(j, "image", html_safe_text(e, profile_cstr(a->p,
				a->p->images.v[s->image].path)));
	json_uint(j, "side", d->src[code->source].in.side);
	json_hex(j, "vaddr", s->vaddr);
	json_uint(j, "size", s->size);
	json_uint(j, "insns", code->insns);
	if (c->missing)
		json_str(j, "missing", c->missing);
	else if (!code->insns && c->ninsns)
		json_str(j, "missing", "left out: the page would be too large; "
				       "tally annotate --html names one "
				       "function");
	json_array(j, "text");
	for (size_t i = 0; i < code->insns; i++)
		put_insn(e, j, a, c, i);
	json_end(j);
	json_array(j, "jumps");
	for (size_t i = 0; code->insns && i < c->njumps; i++) {
		const struct annot_jump *x = &a->jumps.v[c->jump + i];

		json_uint(j, NULL, x->from);
		json_uint(j, NULL, x->to);
		json_uint(j, NULL, x->lane);
	}
	json_end(j);
	json_end(j);
}

void html_put_lines(struct html_encoder *e, struct json *j)
{
	const struct html_lines *l = &e->d->lines;
	size_t budget = HTML_LINE_TEXTS;

	json_object(j, "lines");
	json_array(j, "funcs");
	for (size_t i = 0; i < l->funcs.n; i++)
		json_uint(j, NULL, l->funcs.v[i]);
	json_end(j);
	json_array(j, "uncalled");
	for (size_t i = 0; i < l->uncalled.n; i++)
		json_uint(j, NULL, l->uncalled.v[i]);
	json_end(j);
	json_array_lines(j, "files");
	for (uint32_t i = 0; i < l->files.n; i++)
		put_file(e, j, i, &budget);
	json_end(j);
	json_array_lines(j, "codes");
	for (size_t i = 0; i < l->codes.n; i++)
		put_code(e, j, &l->codes.v[i]);
	json_end(j);
	if (e->d->style->compare)
		html_put_pairs(l, j);
	json_uints(j, { "frames", l->frames.n }, { "locs", l->locs.n },
		   { "entries", l->entries.v.n }, { "insns", l->insn_frames.n },
		   { "calls", l->calls.n },
		   { "call_entries", l->call_entries.v.n });
	json_end(j);
}

static void put_frames(struct html_encoder *e)
{
	const struct html_lines *l = &e->d->lines;

	for (size_t i = 0; i < l->frames.n; i++)
		put_optional(e, l->frames.v[i].func);
	for (size_t i = 0; i < l->frames.n; i++)
		put_optional(e, l->frames.v[i].file);
	for (size_t i = 0; i < l->frames.n; i++)
		buf_uleb(e->out, l->frames.v[i].line);
	for (size_t i = 0; i < l->frames.n; i++)
		buf_uleb(e->out, l->frames.v[i].outer == PROF_NONE
					 ? 0 : i - l->frames.v[i].outer);
}

static void put_locations(struct html_encoder *e)
{
	const struct html_lines *l = &e->d->lines;

	for (size_t i = 0; i < l->locs.n; i++)
		buf_uleb(e->out, l->locs.v[i].frame);
	for (size_t i = 0; i < l->locs.n; i++)
		put_optional(e, l->locs.v[i].code);
	for (size_t i = 0; i < l->locs.n; i++)
		put_optional(e, l->locs.v[i].insn);
}

enum insn_column { COLUMN_SIZE, COLUMN_FLOW, COLUMN_JUMP, INSN_COLUMNS };

static uint64_t insn_value(const struct annot_insn *in, size_t at,
			   enum insn_column column)
{
	if (column == COLUMN_SIZE)
		return in->size;
	if (column == COLUMN_FLOW)
		return in->flow;
	if (in->jump == PROF_NONE)
		return 0;
	/* distance + 1, because a jump may target itself */
	return in->jump > at ? (in->jump - at + 1ull) * 2
			     : (at - in->jump + 1ull) * 2 + 1;
}

static void put_insns(struct html_encoder *e)
{
	const struct html_lines *l = &e->d->lines;

	for (int column = 0; column < INSN_COLUMNS; column++)
		for (size_t i = 0; i < l->codes.n; i++) {
			const struct html_code *c = &l->codes.v[i];
			const struct annotation *a =
				e->d->src[c->source].in.lines;
			size_t first = a->codes.v[c->at].insn;

			for (size_t n = 0; n < c->insns; n++)
				buf_uleb(e->out, insn_value(
					&a->insns.v[first + n], n,
					(enum insn_column)column));
		}
	for (size_t i = 0; i < l->insn_frames.n; i++)
		put_optional(e, l->insn_frames.v[i]);
}

static void put_calls(struct html_encoder *e)
{
	const struct html_lines *l = &e->d->lines;

	for (size_t i = 0; i < l->calls.n; i++)
		buf_uleb(e->out, l->calls.v[i].func);
	for (size_t i = 0; i < l->calls.n; i++)
		put_optional(e, l->calls.v[i].file);
	for (size_t i = 0; i < l->calls.n; i++)
		buf_uleb(e->out, l->calls.v[i].line);
}

void html_put_line_columns(struct html_encoder *e)
{
	put_frames(e);
	put_locations(e);
	html_put_entries(e, &e->d->lines.entries);
	put_insns(e);
	put_calls(e);
	html_put_entries(e, &e->d->lines.call_entries);
}
