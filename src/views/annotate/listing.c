// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the rows of annotated code, aligns two sides, and folds rows. */
#include "views/annotate/listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "symbolize/demangle/clones.h"
#include "views/code/line_match.h"

enum {
	AROUND = 100,		/* lines around a unit that help alignment */
	LINES_MAX = 1 << 20,	/* lines of one file */
};

void listing_init(struct listing *l, const struct listing_spec *spec)
{
	*l = (struct listing){ .spec = *spec };
}

void listing_fini(struct listing *l)
{
	for (size_t i = 0; i < l->groups.n; i++)
		free(l->groups.v[i].arrows);
	vec_fini(&l->groups);
	vec_fini(&l->rows);
	vec_fini(&l->shown);
	buf_fini(&l->notes);
}

bool listing_has_cost(const struct listing *l, const struct listing_row *r)
{
	for (int s = 0; s < LISTING_SIDES; s++) {
		const struct annot_cost *c = listing_cost(l, r, s);
		const uint32_t *col = l->spec.col[s];
		size_t n = !c ? 0 : col ? l->spec.ncols : l->spec.a[s]->ncols;

		for (size_t i = 0; i < n; i++) {
			const struct annot_cost *x = &c[col ? col[i] : i];

			if (annot_sum(x).count ||
			    (!listing_is_pair(l) && x->called.count))
				return true;
		}
	}
	return false;
}

/* Adds a row to the group that was begun, if any. */
static int add_row(struct listing *l, struct listing_row row)
{
	row.id = (uint32_t)l->rows.n;
	if (l->groups.n && l->groups.v[l->groups.n - 1].nrows == SIZE_MAX)
		row.group = (uint32_t)l->groups.n - 1;
	return vec_push(&l->rows, row);
}

int listing_note(struct listing *l, const char *fmt, ...)
{
	struct listing_row row = listing_new_row(LISTING_NOTE);
	char text[2048];
	va_list ap;

	row.note = (uint32_t)l->notes.n;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_safe(&l->notes, text);
	buf_u8(&l->notes, 0);
	return l->notes.failed ? -ERR_NOMEM : add_row(l, row);
}

/* Returns "old: " or "new: " in a listing of two sides. */
static const char *side_name(const struct listing *l, int side)
{
	return !listing_is_pair(l) ? "" : side == LISTING_OLD ? "old: " : "new: ";
}

/* Begins a group.  Rows that are added belong to it until end_group. */
static int begin_group(struct listing *l, bool is_code)
{
	struct listing_group g = {
		.is_code = is_code, .code = { SIZE_MAX, SIZE_MAX },
		.row = l->rows.n, .nrows = SIZE_MAX,
	};

	return vec_push(&l->groups, g);
}

static struct listing_group *group(struct listing *l)
{
	return &l->groups.v[l->groups.n - 1];
}

static void end_group(struct listing *l)
{
	group(l)->nrows = l->rows.n - group(l)->row;
}

/* --- instructions by the source line that they are shown below */

struct place {
	uint64_t key;		/* file and line */
	uint32_t code, insn;	/* index in annotation.codes; instruction of it */
};

struct places {
	struct place *v;	/* by key, code and instruction */
	size_t n, cap;
};

static uint64_t place_key(uint32_t file, uint32_t line)
{
	return (uint64_t)file << 32 | line;
}

static int by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return ascending(a->key, b->key) ?:
	       ascending(a->code, b->code) ?:
	       ascending(a->insn, b->insn);
}

static size_t codes_shown(const struct listing *l, int side)
{
	const struct annot_unit *u = l->spec.u[side];

	return !u ? 0 : u->ncodes < l->spec.codes ? u->ncodes : l->spec.codes;
}

static int find_places(const struct listing *l, struct places *p)
{
	const struct annotation *a = l->spec.a[0];
	const struct annot_unit *u = l->spec.u[0];

	for (size_t c = u->code; c < u->code + codes_shown(l, 0); c++)
		for (uint32_t i = 0; i < a->codes.v[c].ninsns; i++) {
			uint32_t f = annot_unit_frame(
				a, u, a->insns.v[a->codes.v[c].insn + i].frame);
			struct place x = { 0, (uint32_t)c, i };

			if (f == PROF_NONE)
				continue;
			x.key = place_key(a->p->frames.v[f].file,
					  a->p->frames.v[f].line);
			if (vec_push(p, x) < 0)
				return -ERR_NOMEM;
		}
	vec_sort(p, by_place);
	return 0;
}

static int add_below(struct listing *l, const struct places *p, uint32_t file,
		     uint32_t line)
{
	const struct annotation *a = l->spec.a[0];
	uint64_t key = place_key(file, line);
	struct listing_row row;
	size_t at, first;
	int rc = 0;

	lower_bound(at, 0, p->n, p->v[at].key < key);
	for (first = at; !rc && at < p->n && p->v[at].key == key; at++) {
		const struct place *x = &p->v[at];

		if (at > first && x->code == x[-1].code &&
		    x->insn != x[-1].insn + 1) {
			row = listing_new_row(LISTING_FOLD);
			row.below = true;
			rc = add_row(l, row);
		}
		row = listing_new_row(LISTING_INSN);
		row.below = true;
		row.at[0] = x->insn;
		row.code[0] = x->code;
		row.cost[0] = a->insns.v[a->codes.v[x->code].insn +
					   x->insn].cost;
		if (!rc)
			rc = add_row(l, row);
	}
	return rc;
}

/* --- source lines */

/* A file of one side's unit.  Its lines with code are [first, end) of the
 * annotation's. */
struct piece {
	uint32_t file, as;	/* str of the profile; number on both sides */
	size_t first, end;
	bool taken;
};

struct pieces {
	struct piece *v;
	size_t n, cap;
};

struct side_lines {
	const struct source_file *f;
	size_t next;		/* index in the annotation's lines */
	const struct piece *piece;
	uint32_t head;		/* line of the function's declaration, or 0 */
};

struct liner {
	struct listing *l;
	const struct places *places;
	struct line_pair lines;
	struct side_lines side[LISTING_SIDES];
};

static int find_pieces(const struct listing *l, int side, struct pieces *out)
{
	const struct annotation *a = l->spec.a[side];
	const struct annot_unit *u = l->spec.u[side];
	size_t end;

	for (size_t i = u ? u->line : 0; u && i < u->line + u->nlines; i = end) {
		struct piece p = { a->lines.v[i].file, 0, i, 0, false };

		for (end = i + 1; end < u->line + u->nlines &&
		     a->lines.v[end].file == p.file; end++)
			;
		p.end = end;
		p.as = !p.file ? 0 : l->spec.file_of[side]
			? l->spec.file_of[side][p.file] : p.file;
		if (vec_push(out, p) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static bool piece_has_cost(const struct listing *l, int side,
			   const struct piece *p)
{
	struct listing_row row = listing_new_row(LISTING_LINE);

	for (size_t i = p ? p->first : 0; p && i < p->end; i++) {
		row.cost[side] = l->spec.a[side]->lines.v[i].cost;
		if (listing_has_cost(l, &row))
			return true;
	}
	return false;
}

/* Returns the line of the function's declaration; 0 if it is not in this
 * file. */
static uint32_t head_line(const struct listing *l, int side, uint32_t file)
{
	const struct annot_unit *u = l->spec.u[side];
	const struct prof_func *f;

	if (u->kind != UNIT_FUNCTION)
		return 0;
	f = &l->spec.a[side]->p->funcs.v[u->func];
	return f->file == file ? f->line : 0;
}

/* Collects the lines of a piece, and source lines around them. */
static int collect_lines(struct liner *k, int side, const struct piece *p)
{
	struct side_lines *s = &k->side[side];
	struct annotation *a = k->l->spec.a[side];
	const struct annot_line *v = a->lines.v;
	uint64_t from, to;
	size_t i = p->first, row, n = 0;
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
	s->head = head_line(k->l, side, p->file);
	if (s->head >= v[i].line)
		s->head = 0;
	from = s->head ? s->head : v[i].line;
	from = k->l->spec.u[side]->kind == UNIT_FILE || from <= AROUND
		       ? 1 : from - AROUND;
	to = k->l->spec.u[side]->kind == UNIT_FILE
		? UINT32_MAX : (uint64_t)v[p->end - 1].line + AROUND;
	lower_bound(row, 0, s->f->rows.n, s->f->rows.v[row].line < from);
	while (!rc && n++ < LINES_MAX) {
		uint64_t known = row < s->f->rows.n ? s->f->rows.v[row].line
						    : UINT64_MAX;
		uint64_t code = i < p->end ? v[i].line : UINT64_MAX;
		uint64_t next = known < code ? known : code;

		if (next > to || next == UINT64_MAX)
			break;
		rc = line_pair_add(&k->lines, side, listing_is_pair(k->l)
				   ? &a->sources : NULL, s->f, (uint32_t)next);
		while (row < s->f->rows.n && s->f->rows.v[row].line == next)
			row++;
		i += code == next;
	}
	return rc;
}

/* Returns the row of costs of a line.  Call it with ascending lines. */
static size_t cost_row(struct liner *k, int side, uint32_t line)
{
	struct side_lines *s = &k->side[side];
	const struct annotation *a = k->l->spec.a[side];

	if (!s->piece)
		return SIZE_MAX;
	while (s->next < s->piece->end && a->lines.v[s->next].line < line)
		s->next++;
	return s->next < s->piece->end && a->lines.v[s->next].line == line
		       ? a->lines.v[s->next].cost : SIZE_MAX;
}

static int add_line(struct liner *k, const uint32_t *at, uint8_t how)
{
	struct listing_row row = listing_new_row(LISTING_LINE);

	row.group = (uint32_t)k->l->groups.n - 1;
	row.how = how;
	for (int s = 0; s < LISTING_SIDES; s++) {
		row.at[s] = at[s];
		if (at[s] == PROF_NONE)
			continue;
		row.cost[s] = cost_row(k, s, at[s]);
		row.head |= at[s] && at[s] == k->side[s].head;
	}
	if (add_row(k->l, row) < 0)
		return -ERR_NOMEM;
	return k->places ? add_below(k->l, k->places, k->side[0].piece->file,
				     at[0]) : 0;
}

/* Adds the code without a line, if there is any. */
static int add_lineless(struct liner *k)
{
	uint32_t at[LISTING_SIDES] = { PROF_NONE, PROF_NONE };
	bool any = false;

	for (int s = 0; s < LISTING_SIDES; s++)
		if (k->side[s].piece &&
		    k->l->spec.a[s]->lines.v[k->side[s].piece->first].line == 0) {
			at[s] = 0;
			any = true;
		}
	if (!any)
		return 0;
	return add_line(k, at, !listing_is_pair(k->l) ? ALIGN_SAME
			: at[0] == PROF_NONE ? ALIGN_NEW
			: at[1] == PROF_NONE ? ALIGN_OLD : ALIGN_SAME);
}

static int add_lines(struct liner *k)
{
	struct align_rows rows = { 0 };
	int rc = add_lineless(k) ?: line_pair_align(&k->lines, &rows);

	for (size_t i = 0; !rc && i < rows.n; i++)	/* UINT32_MAX is PROF_NONE */
		rc = add_line(k, rows.v[i].at, listing_is_pair(k->l)
			      ? rows.v[i].how : ALIGN_SAME);
	vec_fini(&rows);
	return rc;
}

/* Says where a file's text is from, or why it is missing. */
static int note_source(struct listing *l, int side)
{
	const struct listing_group *g = group(l);
	const struct source_file *f = g->source[side];
	struct annotation *a = l->spec.a[side];
	const char *name = side_name(l, side), *path;
	struct buf origin = { 0 };
	int rc = 0;

	if (!f)
		return 0;
	path = profile_cstr(a->p, g->file[side]);
	source_origin(&a->sources, f, &origin);
	if (g->file[side])
		rc = listing_note(l, "%s%s%s%s%s", name, path,
				  origin.n ? " (" : "", buf_cstr(&origin),
				  origin.n ? ")" : "");
	buf_fini(&origin);
	if (!rc && f->place == SOURCE_NONE && f->path && strcmp(f->path, path))
		rc = listing_note(l, "  looked for at %s", f->path);
	if (!rc && g->file[side] && f->place == SOURCE_NONE)
		rc = listing_note(l, "  no source: %s (--source-map FROM=TO, "
				  "--repo DIR, or record with --embed-source)%s",
				  f->why ? f->why : "",
				  l->spec.advice ? l->spec.advice : "");
	if (!rc && f->newer)
		rc = listing_note(l, "  warning: the source is newer than the "
				  "program: lines may differ");
	return rc;
}

/* Adds one file that is on the old side, the new side, or both. */
static int add_file(struct listing *l, const struct places *places,
		    struct piece *old, struct piece *now)
{
	struct piece *p[LISTING_SIDES] = { old, now };
	struct liner k = { .l = l, .places = places };
	int rc = line_pair_init(&k.lines) ?: begin_group(l, false);

	for (int s = 0; !rc && s < LISTING_SIDES; s++) {
		if (!p[s])
			continue;
		p[s]->taken = true;
		rc = collect_lines(&k, s, p[s]);
		group(l)->file[s] = p[s]->file;
		group(l)->source[s] = k.side[s].f;
		if (!rc)
			rc = note_source(l, s);
	}
	if (!rc) {
		rc = add_lines(&k);
		end_group(l);
	}
	line_pair_fini(&k.lines);
	return rc ? -ERR_NOMEM : 0;
}

/* Adds the files of the new side, each with its counterpart, then those of the
 * old side only. */
static int add_files(struct listing *l, const struct places *places,
		     struct pieces v[LISTING_SIDES])
{
	int rc = 0;

	for (size_t i = 0; !rc && i < v[1].n; i++) {
		struct piece *old = NULL;

		for (size_t k = 0; !old && k < v[0].n; k++)
			if (!v[0].v[k].taken && v[0].v[k].as == v[1].v[i].as)
				old = &v[0].v[k];
		if (l->spec.all || piece_has_cost(l, 0, old) ||
		    piece_has_cost(l, 1, &v[1].v[i]))
			rc = add_file(l, places, old, &v[1].v[i]);
	}
	for (size_t k = 0; !rc && k < v[0].n; k++)
		if (!v[0].v[k].taken &&
		    (l->spec.all || piece_has_cost(l, 0, &v[0].v[k])))
			rc = add_file(l, places, &v[0].v[k], NULL);
	return rc;
}

int listing_add_files(struct listing *l)
{
	struct pieces v[LISTING_SIDES] = { { 0 }, { 0 } };
	struct places places = { 0 };
	int rc = 0;

	for (int s = 0; !rc && s < LISTING_SIDES; s++)
		rc = find_pieces(l, s, &v[s]);
	if (!rc && l->spec.below)
		rc = find_places(l, &places);
	if (!rc)
		rc = add_files(l, l->spec.below ? &places : NULL, v);
	vec_fini(&places);
	vec_fini(&v[0]);
	vec_fini(&v[1]);
	return rc;
}

/* --- instructions: equal if their texts are, with addresses replaced by
 * meaning.  All jumps within the function are alike; calls and data are
 * compared by name.  Other instructions are paired by mnemonic. */

static const struct prof_symbol *symbol_of(const struct annotation *a,
					   size_t code)
{
	return &a->p->symbols.v[a->codes.v[code].symbol];
}

/* Appends the text of an instruction with its address replaced by meaning. */
static void put_meaning(const struct annotation *a, size_t code,
			const struct annot_insn *in, struct buf *out)
{
	const char *text = (const char *)a->text.p + in->text;
	const struct prof_symbol *s = symbol_of(a, code);
	struct buf name = { 0 };

	if (!in->has_target && !in->has_data) {
		buf_str(out, text);
		return;
	}
	if (in->target - s->vaddr >= s->size)
		annot_address_name(a, s->image, in->target, &name);
	insn_normalize(text, in->target, buf_cstr(&name), out);
	buf_close(&name, out);
}

static int add_tokens(const struct annotation *a, size_t code,
		      struct strtab *tokens, struct insn_tokens *out)
{
	const struct annot_code *c = &a->codes.v[code];
	struct buf b = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < c->ninsns; i++) {
		uint32_t full, word;

		buf_reset(&b);
		put_meaning(a, code, &a->insns.v[c->insn + i], &b);
		full = strtab_add(tokens, buf_cstr(&b));
		word = strtab_add_n(tokens, buf_cstr(&b),
				    strcspn(buf_cstr(&b), " "));
		if (b.failed || full == UINT32_MAX || word == UINT32_MAX ||
		    vec_push(&out->full, full) < 0 ||
		    vec_push(&out->weak, word) < 0)
			rc = -ERR_NOMEM;
	}
	buf_fini(&b);
	return rc;
}

static int add_insn(struct listing *l, const uint32_t *at, uint8_t how)
{
	struct listing_row row = listing_new_row(LISTING_INSN);
	const struct listing_group *g = group(l);

	row.how = how;
	for (int s = 0; s < LISTING_SIDES; s++) {
		const struct annotation *a = l->spec.a[s];

		if (at[s] == PROF_NONE)
			continue;
		row.at[s] = at[s];
		row.code[s] = (uint32_t)g->code[s];
		row.cost[s] = a->insns.v[a->codes.v[g->code[s]].insn +
					   at[s]].cost;
	}
	return add_row(l, row);
}

int annot_align_codes(const struct annotation *const a[LISTING_SIDES],
		      const size_t code[LISTING_SIDES], struct align_rows *rows)
{
	struct insn_tokens insns[LISTING_SIDES] = { { .offset = { 0 } } };
	struct strtab tokens;
	int rc = strtab_init(&tokens);

	for (int s = 0; !rc && s < LISTING_SIDES; s++)
		if (code[s] != SIZE_MAX)
			rc = add_tokens(a[s], code[s], &tokens, &insns[s]);
	if (!rc)
		rc = align((struct align_side[]){ insn_side(&insns[0]),
						  insn_side(&insns[1]) },
			   tokens.str.n, rows);
	for (int s = 0; s < LISTING_SIDES; s++)
		insn_tokens_fini(&insns[s]);
	strtab_fini(&tokens);
	return rc;
}

/* Adds the instructions of both sides, aligned. */
static int add_pair(struct listing *l, const size_t *code)
{
	struct align_rows rows = { 0 };
	int rc = annot_align_codes((const struct annotation *const *)l->spec.a,
				   code, &rows);

	for (size_t i = 0; !rc && i < rows.n; i++)	/* UINT32_MAX is PROF_NONE */
		rc = add_insn(l, rows.v[i].at, rows.v[i].how);
	vec_fini(&rows);
	return rc;
}

/* Says what a code is, and why its instructions are missing. */
static int note_code(struct listing *l, int side, size_t code)
{
	const struct annotation *a = l->spec.a[side];
	const struct annot_code *c = &a->codes.v[code];
	const struct prof_symbol *s = symbol_of(a, code);
	struct annot_unit u = { .kind = UNIT_CODE, .symbol = c->symbol,
				.image = s->image };
	struct buf name = { 0 };
	int rc;

	annot_unit_name(a, &u, l->spec.full_names, &name);
	rc = listing_note(l, "%scode of %s in %s, 0x%llx, %llu bytes: %.2f%%",
			  side_name(l, side), buf_cstr(&name),
			  path_base(profile_cstr(a->p,
				    a->p->images.v[s->image].path)),
			  (unsigned long long)s->vaddr,
			  (unsigned long long)s->size,
			  annot_percent(a, annot_costs(a, c->total)));
	if (!rc && c->missing)
		rc = listing_note(l, "  %s instructions: %s",
				  c->ninsns ? "not all" : "no", c->missing);
	rc = name.failed ? -ERR_NOMEM : rc;
	buf_fini(&name);
	return rc;
}

static int add_code(struct listing *l, size_t old, size_t now)
{
	const size_t code[LISTING_SIDES] = { old, now };
	int rc = begin_group(l, true);

	for (int s = 0; !rc && s < LISTING_SIDES; s++) {
		group(l)->code[s] = code[s];
		if (code[s] != SIZE_MAX)
			rc = note_code(l, s, code[s]);
	}
	if (rc)
		return rc;
	if (listing_is_pair(l))
		rc = add_pair(l, code);
	else
		for (uint32_t i = 0; !rc && i <
		     l->spec.a[0]->codes.v[old].ninsns; i++)
			rc = add_insn(l, (uint32_t[]){ i, PROF_NONE },
				      ALIGN_SAME);
	end_group(l);
	return rc || listing_is_pair(l) ? rc : listing_draw_jumps(l, group(l));
}

/* Returns the old side's code of the same name that is not paired yet. */
static size_t counterpart(const struct listing *l, const uint8_t *taken,
			  size_t now)
{
	const struct annotation *const *a =
		(const struct annotation *const *)l->spec.a;
	const char *name = profile_cstr(a[1]->p, symbol_of(a[1], now)->name);
	size_t n = clone_base(name);

	for (size_t i = 0; *name && i < codes_shown(l, 0); i++) {
		size_t old = l->spec.u[0]->code + i;
		const char *x = profile_cstr(a[0]->p, symbol_of(a[0], old)->name);

		if (!taken[i] && *x && n == clone_base(x) &&
		    !strncmp(x, name, n))
			return old;
	}
	return SIZE_MAX;
}

int listing_add_codes(struct listing *l)
{
	size_t n[LISTING_SIDES], at[LISTING_SIDES];
	const struct annot_unit *u = l->spec.u[0];
	uint8_t *taken;
	int rc = 0;

	for (int s = 0; s < LISTING_SIDES; s++) {
		n[s] = codes_shown(l, s);
		at[s] = l->spec.u[s] ? l->spec.u[s]->code : 0;
	}
	taken = calloc(n[0] + 1, 1);
	if (!taken)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < n[1]; i++) {
		size_t old = counterpart(l, taken, at[1] + i);

		if (old == SIZE_MAX && n[0] == 1 && n[1] == 1)
			old = at[0];
		if (old != SIZE_MAX)
			taken[old - at[0]] = 1;
		rc = add_code(l, old, at[1] + i);
	}
	for (size_t i = 0; !rc && i < n[0]; i++)
		if (!taken[i])
			rc = add_code(l, at[0] + i, SIZE_MAX);
	if (!rc && !listing_is_pair(l) && u && u->ncodes > n[0])
		rc = listing_note(l, "inlined into %zu more functions: name one "
				  "to see its code", u->ncodes - n[0]);
	free(taken);
	return rc;
}
