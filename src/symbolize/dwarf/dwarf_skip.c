// SPDX-License-Identifier: GPL-2.0-or-later
/* Stepping over attributes: sizes of forms (DWARF 5 §7.5.6) and the skip programs
 * that dwarf_abbrev.c makes of them. */
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

int abbrev_form_size(const struct abbrev_table *t, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return 0;
	case DW_FORM_data1: case DW_FORM_ref1: case DW_FORM_flag:
	case DW_FORM_strx1: case DW_FORM_addrx1: return 1;
	case DW_FORM_data2: case DW_FORM_ref2:
	case DW_FORM_strx2: case DW_FORM_addrx2: return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3: return 3;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_ref_sup4:
	case DW_FORM_strx4: case DW_FORM_addrx4: return 4;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8: return 8;
	case DW_FORM_data16: return 16;
	case DW_FORM_addr: return t->addr_size;
	case DW_FORM_ref_addr: return t->v2 ? t->addr_size : t->off_size;
	case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_line_strp:
	case DW_FORM_strp_sup: case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return t->off_size;
	default: return -1;
	}
}

enum abbrev_code abbrev_variable_op(uint64_t form)
{
	switch (form) {
	case DW_FORM_string: return OP_CSTR;
	case DW_FORM_block1: return OP_BLOCK1;
	case DW_FORM_block2: return OP_BLOCK2;
	case DW_FORM_block4: return OP_BLOCK4;
	case DW_FORM_block:
	case DW_FORM_exprloc: return OP_BLOCK;
	case DW_FORM_sdata: case DW_FORM_udata: case DW_FORM_ref_udata:
	case DW_FORM_strx: case DW_FORM_addrx: case DW_FORM_loclistx:
	case DW_FORM_rnglistx: case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: return OP_LEB;
	case DW_FORM_indirect: return OP_INDIRECT;
	default: return OP_END;		/* unknown */
	}
}

static const uint8_t *skip_block(const uint8_t *p, const uint8_t *end,
				 unsigned size)
{
	uint64_t n;

	if ((size_t)(end - p) < size)
		return NULL;
	n = dwarf_fixed(p, size);
	p += size;
	return n <= (uint64_t)(end - p) ? p + n : NULL;
}

static const uint8_t *skip_leb_block(const uint8_t *p, const uint8_t *end)
{
	struct cursor c = cursor_of(p, (size_t)(end - p));
	uint64_t n = cursor_uleb(&c);

	cursor_skip(&c, n);
	return c.bad ? NULL : c.p;
}

static const uint8_t *skip_cstr(const uint8_t *p, const uint8_t *end)
{
	p = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
	return p ? p + 1 : NULL;
}

static const uint8_t *skip_indirect(const struct abbrev_table *t,
				    const uint8_t *p, const uint8_t *end)
{
	struct cursor c = cursor_of(p, (size_t)(end - p));
	uint64_t form = cursor_uleb(&c);

	return c.bad ? NULL
		     : dwarf_skip_form(form, t->addr_size, t->off_size, t->v2,
				       c.p, end);
}

const uint8_t *dwarf_skip_leb(const uint8_t *p, const uint8_t *end)
{
	while (p < end)
		if (!(*p++ & 0x80))
			return p;
	return NULL;
}

const uint8_t *dwarf_skip_form(uint64_t form, uint8_t addr_size,
			       uint8_t off_size, bool v2, const uint8_t *p,
			       const uint8_t *end)
{
	struct abbrev_table t = { .addr_size = addr_size, .off_size = off_size,
				  .v2 = v2 };
	int size = abbrev_form_size(&t, form);

	if (size >= 0)
		return end - p < size ? NULL : p + size;
	switch (abbrev_variable_op(form)) {
	case OP_LEB: return dwarf_skip_leb(p, end);
	case OP_CSTR: return skip_cstr(p, end);
	case OP_BLOCK1: return skip_block(p, end, 1);
	case OP_BLOCK2: return skip_block(p, end, 2);
	case OP_BLOCK4: return skip_block(p, end, 4);
	case OP_BLOCK: return skip_leb_block(p, end);
	default: return NULL;	/* indirect to indirect too */
	}
}

/* Where DW_AT_sibling at p leads: forward only, so that walks end. */
static const uint8_t *jump_target(const uint8_t *p, const uint8_t *unit,
				  const uint8_t *end)
{
	uint64_t to;

	if (end - p < 4)
		return NULL;
	to = dwarf_fixed(p, 4);
	if (to > (uint64_t)(end - unit) || unit + to < p + 4)
		return NULL;
	return unit + to;
}

const uint8_t *abbrev_run(const struct abbrev_table *t, const struct abbrev *a,
			  const uint8_t *p, const uint8_t *unit,
			  const uint8_t *end, bool *jump)
{
	const struct abbrev_op *op = t->ops.v + a->ops;
	bool may = *jump;

	*jump = false;
	for (; p; op++) {
		if ((size_t)(end - p) < op->add)
			return NULL;
		p += op->add;
		switch (op->code) {
		case OP_END: return p;
		case OP_ADD: break;
		case OP_LEB:
			p = dwarf_skip_leb(p, end);
			break;
		case OP_CSTR:
			p = skip_cstr(p, end);
			break;
		case OP_BLOCK1:
			p = skip_block(p, end, 1);
			break;
		case OP_BLOCK2:
			p = skip_block(p, end, 2);
			break;
		case OP_BLOCK4:
			p = skip_block(p, end, 4);
			break;
		case OP_BLOCK:		/* exprloc: nearly always short */
			if (p < end && *p < 0x80 && *p < end - p)
				p += 1 + *p;
			else
				p = skip_leb_block(p, end);
			break;
		case OP_INDIRECT:
			p = skip_indirect(t, p, end);
			break;
		case OP_JUMP:
			*jump = may;
			if (may)
				return jump_target(p, unit, end);
			p = end - p < 4 ? NULL : p + 4;
			break;
		}
	}
	return NULL;
}
