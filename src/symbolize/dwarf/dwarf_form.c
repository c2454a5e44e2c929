// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads attribute values (DWARF 5 §7.5.5): see dwarf.h. */
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

/* Reads forms of varying size.  Forms with unused values (blocks) are skipped
 * and leave the slot empty. */
static const uint8_t *read_variable(const struct abbrev_table *t,
				    const struct abbrev_read *r,
				    const uint8_t *start, const uint8_t *p,
				    const uint8_t *end, struct dwarf_die *out)
{
	struct cursor c = cursor_of(p, (size_t)(end - p));
	uint64_t v;

	switch (r->form) {
	case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx:
	case DW_FORM_addrx: case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index: case DW_FORM_GNU_str_index:
		v = cursor_uleb(&c);
		break;
	case DW_FORM_sdata:
		v = (uint64_t)cursor_sleb(&c);
		break;
	case DW_FORM_flag_present:
		v = 1;
		break;
	case DW_FORM_string:
		v = (uint64_t)(p - start);
		cursor_cstr(&c);
		break;
	default:
		return dwarf_skip_form(r->form, t->addr_size, t->off_size,
				       t->v2, p, end);
	}
	if (c.bad)
		return NULL;
	out->have |= 1u << r->slot;
	out->form[r->slot] = r->form;
	out->value[r->slot] = v;
	return c.p;
}

/* Runs a read program. */
static const uint8_t *run_reads(const struct abbrev_table *t,
				const struct abbrev_read *r,
				const uint8_t *p, const uint8_t *start,
				const uint8_t *end, struct dwarf_die *out)
{
	out->have = 0;
	for (; p; r++) {
		struct abbrev_read real;
		const struct abbrev_read *q = r;
		int size;

		if (r->form == DW_FORM_implicit_const) {
			out->have |= 1u << r->slot;
			out->form[r->slot] = r->form;
			out->value[r->slot] = (uint64_t)t->constants.v[r->add];
			continue;
		}
		if ((size_t)(end - p) < r->add)
			return NULL;
		p += r->add;
		if (!r->form)
			return p;
		if (r->form == DW_FORM_indirect) {
			struct cursor c = cursor_of(p, (size_t)(end - p));

			real = *r;
			real.form = (uint16_t)cursor_uleb(&c);
			if (c.bad || real.form == DW_FORM_indirect ||
			    real.form == DW_FORM_implicit_const)
				return NULL;
			p = c.p;
			q = &real;
		}
		size = abbrev_form_size(t, q->form);
		if (size < 1 || size > 8) {
			p = read_variable(t, q, start, p, end, out);
			continue;
		}
		if (end - p < size)
			return NULL;
		out->have |= 1u << q->slot;
		out->form[q->slot] = q->form;
		out->value[q->slot] = dwarf_fixed(p, (unsigned)size);
		p += size;
	}
	return NULL;
}

const uint8_t *dwarf_read_die(const struct abbrev_table *t,
			      const struct abbrev *a, const uint8_t *p,
			      const uint8_t *start, const uint8_t *end,
			      struct dwarf_die *out)
{
	out->tag = a->tag;
	out->flags = a->flags;
	return run_reads(t, t->reads.v + a->reads, p, start, end, out);
}

bool dwarf_die_at(const struct dwarf_unit *u, uint64_t off,
		  struct dwarf_die *out)
{
	const struct span *s = dwarf_unit_section(u);
	const struct abbrev *a;
	struct cursor c;
	uint64_t code;

	if (off < u->root || off >= u->end || u->end > s->n || !u->abbrevs)
		return false;
	c = cursor_of(s->p + off, (size_t)(u->end - off));
	code = cursor_uleb(&c);
	a = c.bad || !code ? NULL
	    : off == u->root ? abbrev_find_root(u->abbrevs, code)
			     : abbrev_find(u->abbrevs, code);
	return a && dwarf_read_die(u->abbrevs, a, c.p, s->p, s->p + u->end,
				   out);
}

/* Returns the slot of an attribute of a DIE that is not the root of a unit. */
static enum dwarf_slot spell_slot(uint64_t at)
{
	switch (at) {
	case DW_AT_name: return SLOT_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name: return SLOT_LINKAGE;
	case DW_AT_type: return SLOT_TYPE;
	case DW_AT_abstract_origin: return SLOT_ORIGIN;
	case DW_AT_specification: return SLOT_SPEC;
	case DW_AT_sibling: return SLOT_SIBLING;
	case DW_AT_external: return SLOT_EXTERNAL;
	case DW_AT_artificial: return SLOT_ARTIFICIAL;
	case DW_AT_const_value: return SLOT_CONST_VALUE;
	case DW_AT_decl_file: return SLOT_DECL_FILE;
	case DW_AT_decl_line: return SLOT_DECL_LINE;
	case DW_AT_decl_column: return SLOT_DECL_COLUMN;
	case DW_AT_containing_type: return SLOT_CLASS;
	case DW_AT_reference: return SLOT_REFERENCE;
	case DW_AT_rvalue_reference: return SLOT_RVALUE;
	case DW_AT_upper_bound:
	case DW_AT_count: return SLOT_BOUND;
	case DW_AT_GNU_template_name: return SLOT_TEMPLATE;
	default: return SLOT_SKIP;
	}
}

bool dwarf_read_all(const struct dwarf_unit *u, uint64_t off,
		    struct dwarf_die *out, uint64_t *next)
{
	const struct span *s = dwarf_unit_section(u);
	struct abbrev_read one[2] = { { 0 }, { 0 } };
	struct abbrev_table *t = u->abbrevs;
	const struct abbrev *a;
	struct cursor c, names;
	const uint8_t *p;
	uint64_t code;

	if (off < u->root || off >= u->end || u->end > s->n || !t)
		return false;
	c = cursor_of(s->p + off, (size_t)(u->end - off));
	code = cursor_uleb(&c);
	a = c.bad || !code ? NULL : abbrev_find(t, code);
	if (!a)
		return false;
	out->tag = a->tag;
	out->flags = a->flags;
	out->have = 0;
	names = cursor_of(t->start + a->attrs, (size_t)(t->end - t->start) - a->attrs);
	for (p = c.p; p;) {
		uint64_t at = cursor_uleb(&names), form = cursor_uleb(&names);
		enum dwarf_slot slot = spell_slot(at);
		int64_t constant = form == DW_FORM_implicit_const
					   ? cursor_sleb(&names) : 0;
		uint32_t have = out->have;

		if (names.bad || form > UINT16_MAX)
			return false;
		if (!at && !form)
			break;
		if (form == DW_FORM_implicit_const) {
			out->have |= 1u << slot;
			out->form[slot] = (uint16_t)form;
			out->value[slot] = (uint64_t)constant;
			continue;
		}
		one[0].form = (uint16_t)form;
		one[0].slot = (uint8_t)slot;
		p = run_reads(t, one, p, s->p, s->p + u->end, out);
		out->have |= have;
	}
	*next = p ? (uint64_t)(p - s->p) : u->end;
	return p != NULL;
}

static const char *section_string(struct span s, uint64_t off)
{
	return off < s.n ? (const char *)s.p + off : NULL;
}

static const char *indexed_string(const struct dwarf_unit *u, uint64_t index)
{
	const struct dwarf_set *d = u->set;
	uint64_t left;

	if (u->str_base >= d->str_offsets.n)
		return NULL;
	left = d->str_offsets.n - u->str_base;
	if (index >= left / u->off_size)
		return NULL;
	return section_string(d->str,
		dwarf_fixed(d->str_offsets.p + u->str_base +
			    index * u->off_size, u->off_size));
}

const char *dwarf_string(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot)
{
	const struct dwarf_set *d = u->set;
	uint64_t v = die->value[slot];

	if (!dwarf_has(die, slot))
		return NULL;
	switch (die->form[slot]) {
	case DW_FORM_strp:
		return section_string(d->str, v);
	case DW_FORM_line_strp:
		return section_string(d->line_str, v);
	case DW_FORM_string:	/* its NUL was checked when the DIE was read */
		return (const char *)dwarf_unit_section(u)->p + v;
	case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2:
	case DW_FORM_strx3: case DW_FORM_strx4: case DW_FORM_GNU_str_index:
		return indexed_string(u, v);
	case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
		return d->alt ? section_string(d->alt->str, v) : NULL;
	default:
		return NULL;
	}
}

static bool address_index(const struct dwarf_unit *u, uint64_t index,
			  uint64_t *out)
{
	const struct dwarf_set *d = u->set;

	if (u->addr_base >= d->addr.n ||
	    index >= (d->addr.n - u->addr_base) / u->addr_size)
		return false;
	*out = dwarf_fixed(d->addr.p + u->addr_base + index * u->addr_size,
			   u->addr_size);
	return true;
}

bool dwarf_address(const struct dwarf_unit *u, const struct dwarf_die *die,
		   enum dwarf_slot slot, uint64_t *out)
{
	if (!dwarf_has(die, slot))
		return false;
	switch (die->form[slot]) {
	case DW_FORM_addr:
		*out = die->value[slot];
		return true;
	case DW_FORM_addrx: case DW_FORM_addrx1: case DW_FORM_addrx2:
	case DW_FORM_addrx3: case DW_FORM_addrx4: case DW_FORM_GNU_addr_index:
		return address_index(u, die->value[slot], out);
	default:
		return false;
	}
}

uint64_t dwarf_number(const struct dwarf_die *die, enum dwarf_slot slot,
		      uint64_t absent)
{
	if (!dwarf_has(die, slot))
		return absent;
	switch (die->form[slot]) {
	case DW_FORM_data1: case DW_FORM_data2: case DW_FORM_data4:
	case DW_FORM_data8: case DW_FORM_udata: case DW_FORM_sdata:
	case DW_FORM_implicit_const: case DW_FORM_sec_offset:
	case DW_FORM_flag: case DW_FORM_flag_present: case DW_FORM_rnglistx:
		return die->value[slot];
	default:
		return absent;
	}
}

/* Reads DW_AT_high_pc: an address, or since DWARF 4 an offset from low_pc. */
static bool high_pc(const struct dwarf_unit *u,
		    const struct dwarf_die *die, uint64_t low,
		    uint64_t *out)
{
	uint64_t v;

	if (dwarf_address(u, die, SLOT_HIGH, out))
		return true;
	v = dwarf_number(die, SLOT_HIGH, 0);
	*out = low + v;
	return v && *out > low;
}

static uint64_t find_signature(const struct dwarf_set *s, uint64_t signature)
{
	uint32_t i = u64map_get(&s->signatures, signature);

	return i == U64MAP_NONE ? NO_DIE
				: dwarf_unit_die(&s->units.v[i],
						 s->units.v[i].type_die);
}

static uint64_t in_info(const struct dwarf_set *s, uint64_t off)
{
	return s && off < s->info.n ? s->id | off : NO_DIE;
}

uint64_t dwarf_reference(const struct dwarf_unit *u,
			 const struct dwarf_die *die, enum dwarf_slot slot)
{
	uint64_t v = die->value[slot];

	if (!dwarf_has(die, slot))
		return NO_DIE;
	switch (die->form[slot]) {
	case DW_FORM_ref1: case DW_FORM_ref2: case DW_FORM_ref4:
	case DW_FORM_ref8: case DW_FORM_ref_udata:
		return v < u->end - u->off ? dwarf_unit_die(u, u->off + v)
					   : NO_DIE;
	case DW_FORM_ref_addr:
		return in_info(u->set, v);
	case DW_FORM_ref_sig8:
		return find_signature(u->set, v);
	case DW_FORM_ref_sup4: case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return in_info(u->set->alt, v);
	default:
		return NO_DIE;
	}
}

/* DW_AT_ranges: .debug_ranges (DWARF 4 §2.17.3), .debug_rnglists (DWARF 5
 * §2.17.3), or low and high pc.  Code that the linker discarded is omitted. */

static void pair_add(const struct dwarf *d, struct dwarf_work *w, uint64_t lo,
		     uint64_t hi)
{
	struct dwarf_pair pair = { lo, hi };

	if (dwarf_is_code(d, lo, hi) && vec_push(&w->pairs, pair) < 0)
		w->nomem = true;
}

static void read_old_list(const struct dwarf *d, const struct dwarf_unit *u,
			  uint64_t off, struct dwarf_work *w)
{
	uint64_t top = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t base = u->base, lo, hi;
	const struct span *s = &u->set->ranges;
	struct cursor c;

	if (off >= s->n)
		return;
	c = cursor_of(s->p + off, s->n - (size_t)off);
	while (dwarf_spend(w, 2 * u->addr_size)) {
		lo = cursor_sized(&c, u->addr_size);
		hi = cursor_sized(&c, u->addr_size);
		if (c.bad || (!lo && !hi))
			return;
		if (lo == top)
			base = hi;
		else if (lo < hi)
			pair_add(d, w, base + lo, base + hi);
	}
}

/* Reads one entry of a range list.  Returns false at its end. */
static bool read_entry(const struct dwarf *d, const struct dwarf_unit *u,
		       struct cursor *c, uint64_t *base, struct dwarf_work *w)
{
	uint64_t lo = 0, hi = 0;
	bool ok = true;

	switch (cursor_u8(c)) {
	case DW_RLE_base_addressx:
		return address_index(u, cursor_uleb(c), base) &&
		       !c->bad;
	case DW_RLE_startx_endx:
		ok = address_index(u, cursor_uleb(c), &lo);
		ok &= address_index(u, cursor_uleb(c), &hi);
		break;
	case DW_RLE_startx_length:
		ok = address_index(u, cursor_uleb(c), &lo);
		hi = lo + cursor_uleb(c);
		break;
	case DW_RLE_offset_pair:
		lo = *base + cursor_uleb(c);
		hi = *base + cursor_uleb(c);
		break;
	case DW_RLE_base_address:
		*base = cursor_sized(c, u->addr_size);
		return !c->bad;
	case DW_RLE_start_end:
		lo = cursor_sized(c, u->addr_size);
		hi = cursor_sized(c, u->addr_size);
		break;
	case DW_RLE_start_length:
		lo = cursor_sized(c, u->addr_size);
		hi = lo + cursor_uleb(c);
		break;
	default:	/* DW_RLE_end_of_list, or unknown */
		return false;
	}
	if (c->bad)
		return false;
	if (ok)
		pair_add(d, w, lo, hi);
	return true;
}

static void read_new_list(const struct dwarf *d, const struct dwarf_unit *u,
			  uint64_t off, struct dwarf_work *w)
{
	const struct span *s = &u->set->rnglists;
	uint64_t base = u->base;
	struct cursor c;

	if (off >= s->n)
		return;
	c = cursor_of(s->p + off, s->n - (size_t)off);
	while (dwarf_spend(w, 4) && read_entry(d, u, &c, &base, w))
		;
}

/* Computes the position of the list: an offset, in split units relative to the
 * start of their part; or DW_FORM_rnglistx, an index into the offsets at
 * DW_AT_rnglists_base. */
static bool list_offset(const struct dwarf_unit *u, const struct dwarf_die *die,
			uint64_t *off)
{
	const struct span *s = &u->set->rnglists;
	uint64_t v = dwarf_number(die, SLOT_RANGES, UINT64_MAX);

	if (v == UINT64_MAX)
		return false;
	if (die->form[SLOT_RANGES] == DW_FORM_rnglistx) {
		if (u->rng_base >= s->n ||
		    v >= (s->n - u->rng_base) / u->off_size)
			return false;
		v = u->rng_base + dwarf_fixed(s->p + u->rng_base +
					      v * u->off_size, u->off_size);
	} else if (u->set->is_split) {
		v += u->version >= 5 ? u->rng_part : u->gnu_ranges;
	}
	*off = v;
	return true;
}

void dwarf_die_ranges(const struct dwarf *d, const struct dwarf_unit *u,
		      const struct dwarf_die *die, struct dwarf_work *w)
{
	uint64_t off, lo, hi;

	w->pairs.n = 0;
	if (dwarf_has(die, SLOT_RANGES) && list_offset(u, die, &off)) {
		if (u->version >= 5)
			read_new_list(d, u, off, w);
		else
			read_old_list(d, u, off, w);
		return;
	}
	if (dwarf_address(u, die, SLOT_LOW, &lo) &&
	    high_pc(u, die, lo, &hi))
		pair_add(d, w, lo, hi);
}
