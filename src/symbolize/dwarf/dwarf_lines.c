// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Line programs (DWARF 5 §6.2.5) decoded into rows.  A row is 12 bytes, and only
 * its 4-byte address is touched by a search.
 */
#include <dwarf.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

struct machine {
	const struct dwarf *d;
	struct dwarf_lines *l;
	struct dwarf_work *w;
	struct line_header h;
	uint64_t addr, last;	/* last: the highest address so far */
	uint64_t row_addr;	/* of the newest row that was kept */
	size_t next;		/* wanted: the first not below row_addr */
	uint64_t line, file, column;
	uint32_t op_index;
	bool open;		/* a sequence has begun */
};

static void reset(struct machine *m)
{
	m->addr = m->op_index = m->column = 0;
	m->file = m->line = 1;
}

/* Ends the sequence at hi; one in dead code is taken back. */
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
	struct line_seq s = { m->addr, m->l->rows.n, 0 };

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

/* Whether the newest row, which ends here, covers a wanted address. */
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

/* Of rows at one address the last one counts; a row that says the same as the
 * one before it says nothing. */
static inline void add_row(struct machine *m)
{
	struct dwarf_lines *l = m->l;
	struct line_row row = { (uint32_t)m->line, (uint16_t)m->file,
				(uint16_t)m->column };
	struct line_seq *s;
	size_t n = l->rows.n;

	if (m->file > UINT16_MAX)	/* no such file: unknown */
		row.file = l->version < 5 ? 0 : UINT16_MAX;
	if (m->column > UINT16_MAX)
		row.column = 0;
	/* Addresses must not go back, nor too far for an offset. */
	if (m->open && (m->addr < m->last || m->addr -
			l->seqs.v[l->seqs.n - 1].lo > UINT32_MAX))
		close_seq(m, m->last);
	if (!m->open) {
		open_seq(m);
		if (!m->open)
			return;
		n = l->rows.n;
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
			m->row_addr = m->addr;	/* nobody wants that row */
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
	default:	/* discriminators and whatever is new */
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
	close_seq(m, m->last);	/* only where end_sequence is missing */
}

/* Code that the linker folded: of equal ranges, which are sorted by number, the
 * first of those who wrote it stays. */
static bool drop_folded(struct range_index *x)
{
	size_t i, n = 0;

	for (i = 0; i < x->n; i++)
		if (!n || x->v[n - 1].lo != x->v[i].lo ||
		    x->v[n - 1].hi != x->v[i].hi)
			x->v[n++] = x->v[i];
	if (n == x->n)
		return true;
	x->n = n;
	return range_index_sort(x) == 0;
}

void dwarf_read_lines(const struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	struct machine m = { .d = d, .l = &u->lines, .w = w };
	struct cursor c;
	uint64_t n, rows;

	if (u->stmt_list == UINT64_MAX || !dwarf_read_files(u, &m.h, w))
		return;
	n = (uint64_t)(m.h.end - m.h.program);
	if (!dwarf_spend(w, n)) {
		dwarf_work_damage(w, ".debug_line: used too often",
				  u->stmt_list);
		return;
	}
	/* Typical programs need 2 to 4 bytes a row. */
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
	    !drop_folded(&u->lines.index))
		w->nomem = true;
	dwarf_touched(u->set, n, w);
}

const struct line_row *dwarf_find_row(const struct dwarf_unit *u,
				      uint64_t addr)
{
	const struct dwarf_lines *l = &u->lines;
	ptrdiff_t i = range_index_find(&l->index, addr);
	const struct line_seq *s;
	const uint32_t *off;
	uint64_t want;
	size_t n;

	if (i == RANGE_NONE)
		return NULL;
	s = &l->seqs.v[l->index.v[i].id];
	off = l->offsets.v + s->first;
	want = addr - s->lo;
	for (n = s->n; n > 1;) {	/* off[0] is 0: always <= want */
		size_t half = n / 2;

		off = off[half] <= want ? off + half : off;
		n -= half;
	}
	return s->n ? &l->rows.v[off - l->offsets.v] : NULL;
}
