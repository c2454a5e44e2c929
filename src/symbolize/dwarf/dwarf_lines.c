// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes line programs (DWARF 5 §6.2.5) into rows.  A row has 12 bytes, and a
 * search touches only its 4-byte address.
 */
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/search.h"
#include "symbolize/dwarf/dwarf.h"

struct machine {
	const struct dwarf *d;
	struct dwarf_lines *l;
	struct dwarf_work *w;
	struct line_header h;
	uint64_t addr, last;	/* last: highest address so far */
	uint64_t row_addr;	/* address of the last row that was kept */
	size_t next;		/* index of the first wanted address >= row_addr */
	uint64_t line, file, column;
	uint32_t op_index;
	bool open;		/* inside a sequence */
};

static void reset(struct machine *m)
{
	m->addr = m->op_index = m->column = 0;
	m->file = m->line = 1;
}

/* Ends the sequence at hi; a sequence in discarded code is removed. */
static void close_seq(struct machine *m, uint64_t hi)
{
	struct dwarf_lines *l = m->l;
	struct line_seq *s;

	if (!m->open)
		return;
	m->open = false;
	s = &l->seqs.v[l->seqs.n - 1];
	s->n = l->rows.n - s->first;
	if (!dwarf_is_code(m->d, s->lo, hi) || !dwarf_wants(m->w, s->lo, hi)) {
		l->rows.n = l->offsets.n = s->first;
		l->seqs.n--;
		return;
	}
	if (range_index_add(&l->index, s->lo, hi, l->seqs.n - 1) < 0)
		m->w->nomem = true;
}

static void open_seq(struct machine *m)
{
	struct line_seq s = { .lo = m->addr, .first = m->l->rows.n };

	if (m->w->want)
		m->next = dwarf_at_least(m->w->want, m->w->nwant, m->addr);
	m->open = vec_push(&m->l->seqs, s) == 0;
	m->w->nomem |= !m->open;
}

static bool grow(struct dwarf_lines *l)
{
	size_t want = l->rows.n + l->rows.n / 2 + 256;

	return vec_reserve(&l->rows, want) == 0 &&
	       vec_reserve(&l->offsets, want) == 0;
}

/* Returns whether the last row, which ends here, covers a wanted address. */
static inline bool passes_wanted(struct machine *m)
{
	const struct dwarf_work *w = m->w;

	if (m->next >= w->nwant || w->want[m->next] >= m->addr)
		return false;
	do
		m->next++;
	while (m->next < w->nwant && w->want[m->next] < m->addr);
	return true;
}

/* Adds a row.  Among rows at one address the last one wins; a row equal to the
 * previous one is dropped. */
static inline void add_row(struct machine *m)
{
	struct dwarf_lines *l = m->l;
	struct line_row row = { (uint32_t)m->line, (uint16_t)m->file,
				(uint16_t)m->column };
	struct line_seq *s;
	size_t n = l->rows.n;

	if (m->file > UINT16_MAX)	/* nonexistent file: unknown */
		row.file = l->version < 5 ? 0 : UINT16_MAX;
	if (m->column > UINT16_MAX)
		row.column = 0;
	/* Addresses must not decrease or exceed the range of an offset. */
	if (m->open && (m->addr < m->last || m->addr -
			l->seqs.v[l->seqs.n - 1].lo > UINT32_MAX))
		close_seq(m, m->last);
	if (!m->open) {
		open_seq(m);
		if (!m->open)
			return;
		n = l->rows.n;
		l->seqs.v[l->seqs.n - 1].entry = row;
	}
	s = &l->seqs.v[l->seqs.n - 1];
	if (n > s->first) {
		m->last = m->addr;
		if (m->addr == m->row_addr) {
			l->rows.v[n - 1] = row;
			return;
		}
		if (l->rows.v[n - 1].line == row.line &&
		    l->rows.v[n - 1].file == row.file &&
		    l->rows.v[n - 1].column == row.column)
			return;
		if (m->w->want && !passes_wanted(m)) {
			m->row_addr = m->addr;	/* covers no wanted address */
			l->rows.v[n - 1] = row;
			l->offsets.v[n - 1] = (uint32_t)(m->addr - s->lo);
			return;
		}
	}
	m->last = m->row_addr = m->addr;
	if ((n == l->rows.cap || n == l->offsets.cap) && !grow(l)) {
		m->w->nomem = true;
		return;
	}
	l->rows.v[n] = row;
	l->offsets.v[n] = (uint32_t)(m->addr - s->lo);
	l->rows.n = l->offsets.n = n + 1;
}

static inline void advance(struct machine *m, uint64_t ops)
{
	uint64_t at;

	if (m->h.max_ops == 1) {
		m->addr += ops * m->h.min_inst;
		return;
	}
	at = m->op_index + ops;		/* VLIW: §6.2.5.1 */
	m->addr += m->h.min_inst * (at / m->h.max_ops);
	m->op_index = (uint32_t)(at % m->h.max_ops);
}

static void define_file(struct machine *m, struct cursor *c)
{
	struct dwarf_file f = { cursor_cstr(c), cursor_uleb(c), NULL };

	if (f.name && vec_push(&m->l->files, f) < 0)
		m->w->nomem = true;
}

static void extended(struct machine *m, struct cursor *c)
{
	uint64_t n = cursor_uleb(c);
	struct cursor x = cursor_sub(c, n);

	switch (cursor_u8(&x)) {
	case DW_LNE_end_sequence:
		close_seq(m, m->addr);
		reset(m);
		break;
	case DW_LNE_set_address:
		m->addr = cursor_left(&x) == 8 ? cursor_u64(&x)
					       : cursor_u32(&x);
		m->op_index = 0;
		break;
	case DW_LNE_define_file:
		define_file(m, &x);
		break;
	default:	/* discriminators and unknown opcodes */
		break;
	}
}

static void standard(struct machine *m, struct cursor *c, uint8_t op)
{
	unsigned i;

	switch (op) {
	case DW_LNS_copy:
		add_row(m);
		break;
	case DW_LNS_advance_pc:
		advance(m, cursor_uleb(c));
		break;
	case DW_LNS_advance_line:
		m->line += (uint64_t)cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		m->file = cursor_uleb(c);
		break;
	case DW_LNS_set_column:
		m->column = cursor_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		advance(m, (255u - m->h.opcode_base) / m->h.line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += cursor_u16(c);
		m->op_index = 0;
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_set_isa:
	default:
		for (i = 0; i < m->h.lengths[op - 1]; i++)
			cursor_uleb(c);
	}
}

static void run(struct machine *m, struct cursor *c)
{
	uint8_t base = m->h.opcode_base;

	reset(m);
	while (c->p < c->end && !m->w->nomem) {
		uint8_t op = *c->p++;

		if (op >= base) {
			unsigned adj = op - base;

			advance(m, adj / m->h.line_range);
			m->line += (uint64_t)(int64_t)(m->h.line_base +
					(int)(adj % m->h.line_range));
			add_row(m);
		} else if (op) {
			standard(m, c, op);
		} else {
			extended(m, c);
		}
	}
	close_seq(m, m->last);	/* only if end_sequence is missing */
}

/* Separates sequences of code that the linker folded.  Of equal ranges, which are
 * sorted by number, the first one remains, and the others go to `folded`.  Those of
 * code that the linker dropped begin at 0. */
static bool split_folded(struct dwarf_lines *l)
{
	struct range_index *x = &l->index;
	size_t i, n = 0;

	for (i = 0; i < x->n; i++) {
		struct range r = x->v[i];

		if (!n || x->v[n - 1].lo != r.lo || x->v[n - 1].hi != r.hi)
			x->v[n++] = r;
		else if (r.lo && range_index_add(&l->folded, r.lo, r.hi, r.id) < 0)
			return false;
	}
	if (n == x->n)
		return true;
	x->n = n;
	return range_index_sort(x) == 0 && range_index_sort(&l->folded) == 0;
}

void dwarf_read_lines(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	struct machine m = { .d = d, .l = &u->lines, .w = w };
	struct cursor c;
	uint64_t n, rows;

	if (u->stmt_list == UINT64_MAX || !dwarf_read_files(u, &m.h, w) || d->no_lines)
		return;
	n = (uint64_t)(m.h.end - m.h.program);
	if (!dwarf_spend(w, n)) {
		dwarf_work_damage(w, ".debug_line: used too often",
				  u->stmt_list);
		return;
	}
	/* Typical programs need 2 to 4 bytes for each row. */
	rows = w->want ? 64 : n / 4 + 64;
	if (vec_reserve(&u->lines.rows, rows) < 0 ||
	    vec_reserve(&u->lines.offsets, rows) < 0) {
		w->nomem = true;
		return;
	}
	c = cursor_of(m.h.program, n);
	run(&m, &c);
	if (c.bad)
		dwarf_work_damage(w, ".debug_line: bad program", u->stmt_list);
	if (range_index_sort(&u->lines.index) < 0 ||
	    !split_folded(&u->lines))
		w->nomem = true;
	dwarf_touched(u->set, n, w);
}

static const struct line_row *row_of(const struct dwarf_lines *l, uint64_t seq,
				     uint64_t addr)
{
	const struct line_seq *s = &l->seqs.v[seq];
	const uint32_t *off = l->offsets.v + s->first;
	uint64_t want = addr - s->lo;
	size_t at;

	last_where(at, s->n, off[at] <= want);	/* off[0] is 0 */
	return s->n ? &l->rows.v[s->first + at] : NULL;
}

const struct line_row *dwarf_find_row(const struct dwarf_unit *u,
				      uint64_t addr)
{
	const struct dwarf_lines *l = &u->lines;
	ptrdiff_t i = range_index_find(&l->index, addr);

	return i == RANGE_NONE ? NULL : row_of(l, l->index.v[i].id, addr);
}

/* Returns how many lines below its function's declaration a sequence begins;
 * UINT32_MAX if it belongs to another function. */
static uint32_t lines_below(struct dwarf *d, struct dwarf_unit *u, uint64_t seq,
			    const struct func_name *f)
{
	const struct line_row *row = &u->lines.seqs.v[seq].entry;

	return row->line < f->line ||
	       strcmp(dwarf_file_path(d, u, row->file), f->file)
		       ? UINT32_MAX : row->line - f->line;
}

const struct line_row *dwarf_find_row_of(struct dwarf *d, struct dwarf_unit *u,
					 uint64_t func, uint64_t addr)
{
	enum { TRIES = 64 };
	const struct dwarf_lines *l = &u->lines;
	ptrdiff_t i = range_index_find(&l->index, addr);
	ptrdiff_t k = range_index_find(&l->folded, addr);
	const struct func_name *f;
	uint32_t best, below;
	uint64_t seq;

	if (i == RANGE_NONE)
		return NULL;
	seq = l->index.v[i].id;
	if (k == RANGE_NONE || func == NO_DIE)
		return row_of(l, seq, addr);
	f = dwarf_name(d, func);
	if (!f || !f->line)
		return row_of(l, seq, addr);
	best = lines_below(d, u, seq, f);
	for (int n = 0; k != RANGE_NONE && n < TRIES; n++) {
		const struct range *r = &l->folded.v[k];

		below = lines_below(d, u, r->id, f);
		if (below < best && r->lo == l->index.v[i].lo) {
			best = below;
			seq = r->id;
		}
		k = range_index_down(&l->folded, k - 1, addr);
	}
	return row_of(l, seq, addr);
}
