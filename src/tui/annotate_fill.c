// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the rows of the page of an annotated function. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/annotate_page.h"
#include "views/query/framekey.h"

enum {
	LINES_MAX = 50000,	/* lines of one file */
	CODES = 8,		/* maximum number of codes of the unit */
	/* rows shown around each row with cost, in the short form */
	AROUND = 3,
	BEHIND = 2,		/* lines after a function's last code */
};

struct filler {
	struct annotate_page *ap;
	struct annot_places places;
	bool failed;
};

static void add(struct filler *f, const struct code_row *row)
{
	f->failed |= vec_push(&f->ap->rows, *row) < 0;
}

static void add_note(struct filler *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_note(struct filler *f, const char *fmt, ...)
{
	struct buf *to = &f->ap->notes;
	struct code_row row = { .sort = ROW_NOTE, .cost = SIZE_MAX,
				.note = to->n };
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_safe(to, text);
	buf_u8(to, 0);
	if (to->failed)
		f->failed = true;
	else
		add(f, &row);
}

static uint32_t codes_shown(const struct annotate_page *ap)
{
	return ap->u.ncodes < CODES ? (uint32_t)ap->u.ncodes : CODES;
}

static void add_insn(struct filler *f, uint32_t code, uint32_t insn)
{
	const struct annot_code *c = annotate_page_code(f->ap, code);
	struct code_row row = {
		.sort = ROW_INSN, .code = code, .insn = insn,
		.cost = f->ap->a->insn_cost.v[c->insn + insn],
	};

	add(f, &row);
}

static void add_places(struct filler *f, uint32_t file, uint32_t line)
{
	size_t n;
	const struct annot_place *p = annotate_places_at(&f->places, file, line,
							 &n);

	for (; n--; p++)
		add_insn(f, p->code, p->insn);
}

static void add_line(struct filler *f, uint32_t file, uint32_t line,
		     size_t cost)
{
	struct code_row row = { .sort = ROW_LINE, .file = file, .line = line,
				.cost = cost };

	add(f, &row);
	if (f->ap->mode == SHOW_BOTH)
		add_places(f, file, line);
}

/* Returns the first line to show: the function's declaration if it is a little
 * above its first line with code, otherwise that line. */
static uint32_t first_line(const struct annotate_page *ap, uint32_t file,
			   uint32_t line)
{
	const struct prof_func *fn;

	if (ap->u.kind == UNIT_FILE)
		return 1;
	if (ap->u.kind != UNIT_FUNCTION)
		return line;
	fn = &ap->a->p->funcs.v[ap->u.func];
	return fn->file == file && fn->line && fn->line < line &&
	       line - fn->line < LINES_MAX ? fn->line : line;
}

static uint32_t last_line(const struct annotate_page *ap,
			  const struct source_file *src, uint32_t line)
{
	if (ap->u.kind == UNIT_FILE && src->rows.n)
		return src->rows.v[src->rows.n - 1].line;
	return line < UINT32_MAX - BEHIND ? line + BEHIND : line;
}

/* Adds lines of one file.  Its lines with code are [first, end) of the
 * unit's. */
static void add_lines(struct filler *f, const struct source_file *src,
		      size_t first, size_t end)
{
	const struct annotation *a = f->ap->a;
	uint32_t file = a->lines.v[first].file, from, to;
	struct span text;

	if (!a->lines.v[first].line) {
		if (annotate_has_cost(a, annot_costs(a, a->line_cost.v[first])))
			add_line(f, file, 0, a->line_cost.v[first]);
		first++;
	}
	if (first == end)
		return;
	from = first_line(f->ap, file, a->lines.v[first].line);
	to = last_line(f->ap, src, a->lines.v[end - 1].line);
	/* damaged debug information, or a generated file */
	if (to - from > LINES_MAX) {
		for (; first < end; first++)
			add_line(f, file, a->lines.v[first].line,
				 a->line_cost.v[first]);
		return;
	}
	for (uint32_t l = from; l <= to && l && !f->failed; l++) {
		while (first < end && a->lines.v[first].line < l)
			first++;
		if (first < end && a->lines.v[first].line == l)
			add_line(f, file, l, a->line_cost.v[first]);
		else if (source_line(&a->sources, src, l, &text))
			add_line(f, file, l, SIZE_MAX);
	}
}

static void add_file(struct filler *f, size_t first, size_t end)
{
	struct annotation *a = f->ap->a;
	const struct annot_line *l = &a->lines.v[first];
	const struct source_file *src =
		sources_get(&a->sources, l->file, l->image);
	struct buf from = { 0 };

	if (!src) {
		f->failed = true;
		return;
	}
	source_origin(&a->sources, src, &from);
	if (l->file)
		add_note(f, "%s%s%s%s", profile_cstr(a->p, l->file),
			 from.n ? " (" : "", buf_cstr(&from),
			 from.n ? ")" : "");
	buf_fini(&from);
	if (l->file && src->place == SOURCE_NONE)
		add_note(f, "  no source: %s", src->why);
	if (src->newer)
		add_note(f, "  warning: the source is newer than the program: "
			 "lines may differ");
	add_lines(f, src, first, end);
}

static void add_source(struct filler *f)
{
	const struct annotation *a = f->ap->a;
	size_t first = f->ap->u.line, last = first + f->ap->u.nlines, end;

	if (f->ap->mode == SHOW_BOTH)
		f->failed |= annotate_places_find(&f->places, a, &f->ap->u,
						  codes_shown(f->ap)) < 0;
	for (; first < last && !f->failed; first = end) {
		for (end = first + 1; end < last &&
		     a->lines.v[end].file == a->lines.v[first].file; end++)
			;
		if (annotate_lines_have_cost(a, first, end))
			add_file(f, first, end);
	}
	if (!f->ap->rows.n)
		add_note(f, "none of its lines has samples: s shows "
				"instructions");
}

static void add_code(struct filler *f, uint32_t code)
{
	const struct annotation *a = f->ap->a;
	const struct annot_code *c = annotate_page_code(f->ap, code);
	const struct prof_symbol *s = &a->p->symbols.v[c->symbol];
	struct annot_unit u = { .kind = UNIT_CODE, .symbol = c->symbol,
				.image = s->image };
	struct buf name = { 0 };

	annot_unit_name(a, &u, false, &name);
	add_note(f, "code of %s in %s, 0x%llx, %llu bytes: %.2f%%",
		 buf_cstr(&name),
		 path_base(profile_cstr(a->p, a->p->images.v[s->image].path)),
		 (unsigned long long)s->vaddr, (unsigned long long)s->size,
		 annotate_percent(a, annot_costs(a, c->total)));
	buf_fini(&name);
	if (c->missing)
		add_note(f, "  no instructions: %s", c->missing);
	for (uint32_t i = 0; i < c->ninsns && !f->failed; i++)
		add_insn(f, code, i);
}

/* Removes rows far from those with cost, and adds a row where others are
 * hidden. */
static void keep_near(struct filler *f)
{
	struct annotate_page *ap = f->ap;
	size_t n = ap->rows.n, kept = 0;
	uint8_t *near = calloc(n + 1, 1);
	bool hidden = false;

	for (size_t i = 0; near && i < n; i++) {
		struct annot_cost c = annotate_page_cost(ap, i);
		size_t k = i > AROUND ? i - AROUND : 0;

		if (ap->rows.v[i].sort == ROW_NOTE)
			near[i] = 1;
		if (!annot_sum(&c).count)
			continue;
		for (; k <= i + AROUND && k < n; k++)
			near[k] = 1;
	}
	for (size_t i = 0; near && i < n; i++) {
		struct code_row fold = { .sort = ROW_FOLD, .cost = SIZE_MAX };

		/* a fold row replaces the first hidden row */
		if (!near[i] && !hidden)
			ap->rows.v[kept++] = fold;
		else if (near[i])
			ap->rows.v[kept++] = ap->rows.v[i];
		hidden = !near[i];
	}
	if (near)
		ap->rows.n = kept;
	free(near);
}

static void add_copies(struct filler *f)
{
	const struct annotation *a = f->ap->a;
	const struct annot_unit *u = &f->ap->u;
	struct buf text = { 0 };

	if (u->kind != UNIT_FUNCTION || !u->ncopies ||
	    (u->ncopies == 1 && a->copies.v[u->copy].caller == PROF_NONE))
		return;
	for (size_t i = 0; i < u->ncopies && i < 5; i++) {
		const struct annot_copy *c = &a->copies.v[u->copy + i];
		struct annot_unit caller = { .kind = UNIT_FUNCTION,
					     .func = c->caller };

		buf_printf(&text, "%s%.2f%% ", i ? ", " : "paid by: ",
			   annotate_percent(a, annot_costs(
				   a, a->copy_cost.v[u->copy + i])));
		if (c->caller == PROF_NONE) {
			buf_str(&text, "as a function of its own");
		} else {
			buf_str(&text, "inlined into ");
			annot_unit_name(a, &caller, false, &text);
		}
	}
	if (u->ncopies > 5)
		buf_printf(&text, ", and %zu more", u->ncopies - 5);
	add_note(f, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static void measure(struct annotate_page *ap)
{
	ap->most = 0;
	ap->inlined = ap->calls = false;
	for (size_t i = 0; i < ap->rows.n; i++) {
		struct annot_cost c = annotate_page_cost(ap, i);

		ap->inlined |= c.inlined.count > 0;
		ap->calls |= c.called.count > 0;
		if (annot_sum(&c).weight > ap->most)
			ap->most = annot_sum(&c).weight;
	}
}

void annotate_page_fill(struct annotate_page *ap)
{
	struct filler f = { .ap = ap };

	ap->rows.n = 0;
	ap->back.n = 0;
	buf_reset(&ap->notes);
	add_copies(&f);
	if (ap->mode != SHOW_CODE)
		add_source(&f);
	for (uint32_t i = 0; ap->mode == SHOW_CODE && i < codes_shown(ap); i++)
		add_code(&f, i);
	if (ap->mode == SHOW_CODE && !ap->u.ncodes)
		add_note(&f, "the recording does not contain its code");
	if (ap->near)
		keep_near(&f);
	measure(ap);
	vec_fini(&f.places.v);
	if (f.failed || ap->notes.failed)
		tui_say(ap->pg.t, "out of memory: rows are missing");
}
