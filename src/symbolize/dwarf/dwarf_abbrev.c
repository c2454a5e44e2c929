// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiles abbreviations (DWARF 5 §7.5.3) into two small programs each.  One
 * skips a DIE: runs of fixed-size attributes are one add, and DW_AT_sibling is
 * a jump.  The other reads the attributes that tally uses.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "symbolize/dwarf/dwarf.h"

/* Skipping attributes: sizes of forms (DWARF 5 §7.5.6) and the skip programs
 * made from them. */

/* Returns the operation that skips a form of varying size; OP_END for an
 * unknown form. */
static enum abbrev_code variable_op(uint64_t form)
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

static const uint8_t *skip_leb(const uint8_t *p, const uint8_t *end)
{
	while (p < end)
		if (!(*p++ & 0x80))
			return p;
	return NULL;
}

/* Skips a value of varying size; NULL if it is damaged or of another operation (also
 * indirect, which may not lead to indirect). */
static inline const uint8_t *skip_variable(enum abbrev_code op, const uint8_t *p,
					   const uint8_t *end)
{
	switch (op) {
	case OP_LEB: return skip_leb(p, end);
	case OP_CSTR: return skip_cstr(p, end);
	case OP_BLOCK1: return skip_block(p, end, 1);
	case OP_BLOCK2: return skip_block(p, end, 2);
	case OP_BLOCK4: return skip_block(p, end, 4);
	case OP_BLOCK:		/* exprloc: nearly always short */
		if (p < end && *p < 0x80 && *p < end - p)
			return p + 1 + *p;
		return skip_leb_block(p, end);
	default: return NULL;
	}
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
	return skip_variable(variable_op(form), p, end);
}

/* Returns the target of DW_AT_sibling at p: forward only, so that walks end. */
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
		case OP_INDIRECT:
			p = skip_indirect(t, p, end);
			break;
		case OP_JUMP:
			*jump = may;
			if (may)
				return jump_target(p, unit, end);
			p = end - p < 4 ? NULL : p + 4;
			break;
		default:
			p = skip_variable(op->code, p, end);
		}
	}
	return NULL;
}

static enum dwarf_slot slot_of(uint64_t at)
{
	static const uint8_t standard[] = {
		[DW_AT_low_pc] = SLOT_LOW,
		[DW_AT_high_pc] = SLOT_HIGH,
		[DW_AT_ranges] = SLOT_RANGES,
		[DW_AT_abstract_origin] = SLOT_ORIGIN,
		[DW_AT_specification] = SLOT_SPEC,
		[DW_AT_linkage_name] = SLOT_LINKAGE,
		[DW_AT_name] = SLOT_NAME,
		[DW_AT_decl_file] = SLOT_DECL_FILE,
		[DW_AT_decl_line] = SLOT_DECL_LINE,
		[DW_AT_call_file] = SLOT_CALL_FILE,
		[DW_AT_call_line] = SLOT_CALL_LINE,
		[DW_AT_call_column] = SLOT_CALL_COLUMN,
		[DW_AT_sibling] = SLOT_SIBLING,
		[DW_AT_stmt_list] = SLOT_STMT_LIST,
		[DW_AT_comp_dir] = SLOT_COMP_DIR,
		[DW_AT_producer] = SLOT_PRODUCER,
		[DW_AT_language] = SLOT_LANGUAGE,
		[DW_AT_str_offsets_base] = SLOT_STR_BASE,
		[DW_AT_addr_base] = SLOT_ADDR_BASE,
		[DW_AT_rnglists_base] = SLOT_RNG_BASE,
		[DW_AT_dwo_name] = SLOT_DWO_NAME,
	};

	if (at < sizeof(standard))
		return standard[at];
	switch (at) {
	case DW_AT_MIPS_linkage_name: return SLOT_LINKAGE;
	case DW_AT_GNU_addr_base: return SLOT_ADDR_BASE;
	case DW_AT_GNU_dwo_name: return SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_id: return SLOT_DWO_ID;
	case DW_AT_GNU_ranges_base: return SLOT_GNU_RANGES;
	default: return SLOT_SKIP;
	}
}

/*
 * Returns whether children of DIEs with this tag may be skipped, because they have no
 * code or the reader of functions looks at them itself.  GCC puts the code of member
 * functions outside their class, except for classes in functions (lambdas), which the
 * reader handles.  Other producers are not trusted in this (Rust and Ada nest), and
 * clang writes no DW_AT_sibling anyway.
 */
static bool may_jump(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_array_type:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
	case DW_TAG_GNU_formal_parameter_pack:
	case DW_TAG_GNU_template_parameter_pack:
		return true;
	default:
		return false;
	}
}

/* State of compiling one abbreviation. */
struct compile {
	struct abbrev_table *t;
	struct abbrev a;
	uint32_t run, read_run;	/* fixed-size bytes not yet in a program */
	bool declaration;
};

static bool emit_op(struct compile *c, enum abbrev_code code)
{
	for (; c->run > UINT16_MAX; c->run -= UINT16_MAX)
		if (vec_push(&c->t->ops, (struct abbrev_op){ OP_ADD, UINT16_MAX
							   }) < 0)
			return false;
	if (vec_push(&c->t->ops, (struct abbrev_op){ (uint8_t)code,
						     (uint16_t)c->run }) < 0)
		return false;
	c->run = 0;
	return true;
}

static bool compile_skip(struct compile *c, uint64_t form, bool sibling)
{
	int size = abbrev_form_size(c->t, form);

	if (sibling && form == DW_FORM_ref4) {
		c->a.flags |= ABBREV_VARIABLE;
		return emit_op(c, OP_JUMP);
	}
	if (size >= 0) {
		c->run += (uint32_t)size;
		return c->run < 1u << 24;
	}
	if (variable_op(form) == OP_END)
		return false;
	c->a.flags |= ABBREV_VARIABLE;
	return emit_op(c, variable_op(form));
}

static bool compile_read(struct compile *c, enum dwarf_slot slot, uint64_t form,
			 int64_t constant)
{
	int size = abbrev_form_size(c->t, form);
	struct abbrev_table *t = c->t;
	struct abbrev_read r = { (uint16_t)form, (uint8_t)slot, c->read_run };

	if (slot == SLOT_SKIP && size >= 0) {
		c->read_run += (uint32_t)size;
		return c->read_run < 1u << 24;
	}
	if (form == DW_FORM_implicit_const) {
		/* It takes no bytes in the DIE: the preceding bytes belong to
		 * the next step. */
		r.add = (uint32_t)t->constants.n;
		return t->constants.n < UINT32_MAX &&
		       vec_push(&t->constants, constant) == 0 &&
		       vec_push(&t->reads, r) == 0;
	}
	c->read_run = 0;
	return vec_push(&t->reads, r) == 0;
}

static bool attr_read(struct cursor *c, uint64_t *at, uint64_t *form,
		      int64_t *constant)
{
	*at = cursor_uleb(c);
	*form = cursor_uleb(c);
	*constant = *form == DW_FORM_implicit_const ? cursor_sleb(c) : 0;
	return !c->bad && (*at || *form);
}

/* Returns whether attributes of this tag are read: code, names of code, and
 * units. */
static bool is_read(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_entry_point:
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
		return true;
	default:
		return false;
	}
}

static bool compile_attrs(struct compile *c, struct cursor *cur)
{
	bool reads = is_read(c->a.tag), jump = may_jump(c->a.tag);
	uint64_t at, form;
	int64_t constant;

	if (reads)
		c->a.reads = (uint32_t)c->t->reads.n;
	while (attr_read(cur, &at, &form, &constant)) {
		if (form > UINT16_MAX || form == 0)
			return false;
		c->declaration |= at == DW_AT_declaration;
		if (!compile_skip(c, form, jump && at == DW_AT_sibling))
			return false;
		if (reads && !compile_read(c, slot_of(at), form, constant))
			return false;
	}
	if (cur->bad)
		return false;
	c->a.size = c->run;
	if ((c->a.flags & ABBREV_VARIABLE) && !emit_op(c, OP_END))
		return false;
	return !reads || compile_read(c, SLOT_LOW, 0, 0);
}

static bool table_store(struct abbrev_table *t, uint64_t code, struct abbrev a)
{
	uint32_t *slot;

	if (code < 4096 || code <= t->dense.n + 64) {
		if (vec_reserve(&t->dense, code + 1) < 0)
			return false;
		while (t->dense.n <= code)
			t->dense.v[t->dense.n++] = (struct abbrev){ 0 };
		if (!t->dense.v[code].tag)	/* the first one wins */
			t->dense.v[code] = a;
		return true;
	}
	slot = u64map_slot(&t->sparse_tab, code);
	if (!slot || t->sparse.n >= U64MAP_NONE)
		return false;
	if (*slot != U64MAP_NONE)
		return true;
	*slot = (uint32_t)t->sparse.n;
	return vec_push(&t->sparse, a) == 0;
}

/* Takes n bytes from the budget that all tables of the file share.  Each time,
 * a table reserves as much as it took before.  So thousands of small tables do
 * not reserve bytes that they never parse and other tables need. */
static bool table_spend(struct abbrev_table *t, uint64_t n)
{
	uint64_t want = n > t->taken ? n : t->taken;

	if (t->allowance < n) {
		uint64_t left = atomic_load(t->budget);

		do {
			want = want < left ? want : left;
			if (t->allowance + want < n)
				return false;
		} while (!atomic_compare_exchange_weak(t->budget, &left,
						       left - want));
		t->allowance += want;
		t->taken += want;
	}
	t->allowance -= n;
	return true;
}

/* Returns whether a unit with such DIEs describes types, itself or in units that it
 * shares with others (dwz). */
static bool is_of_types(uint16_t tag)
{
	return tag == DW_TAG_base_type || tag == DW_TAG_formal_parameter ||
	       tag == DW_TAG_pointer_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_partial_unit ||
	       tag == DW_TAG_imported_unit;
}

/* Parses the next declaration.  Returns its code; 0 at the end or if it is damaged. */
static uint64_t table_parse(struct abbrev_table *t, struct abbrev *out)
{
	struct cursor cur = cursor_of(t->p, (size_t)(t->end - t->p));
	struct compile c = { .t = t };
	uint64_t code = cursor_uleb(&cur), tag;

	if (!code)
		goto end;
	tag = cursor_uleb(&cur);
	c.a.tag = tag && tag < UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
	c.a.flags = cursor_u8(&cur) ? ABBREV_CHILDREN : 0;
	c.a.attrs = (uint32_t)(cur.p - t->start);
	c.a.ops = (uint32_t)t->ops.n;
	if (t->ops.n > UINT32_MAX - 65536 || cur.p - t->start > UINT32_MAX ||
	    !compile_attrs(&c, &cur) ||
	    !table_spend(t, cursor_offset(&cur))) {
		t->bad = true;
		goto end;
	}
	if (c.a.tag == DW_TAG_subprogram)
		c.a.flags |= ABBREV_SUBPROGRAM |
			     (c.declaration ? 0 : ABBREV_FUNC);
	if (c.a.tag == DW_TAG_structure_type ||
	    c.a.tag == DW_TAG_class_type || c.a.tag == DW_TAG_union_type ||
	    c.a.tag == DW_TAG_interface_type)
		c.a.flags |= ABBREV_CLASS;
	if (c.a.tag == DW_TAG_inlined_subroutine)
		c.a.flags |= ABBREV_INLINED;
	t->types |= is_of_types(c.a.tag);
	t->p = cur.p;
	*out = c.a;
	return code;
end:
	t->bad |= cur.bad;
	t->p = t->end;
	return 0;
}

/* Parses and stores the next declaration. */
static uint64_t table_next(struct abbrev_table *t)
{
	struct abbrev a;
	uint64_t code = table_parse(t, &a);

	if (!code || table_store(t, code, a))
		return code;
	t->bad = true;
	t->p = t->end;
	return 0;
}

const struct abbrev *abbrev_of_sparse(const struct abbrev_table *t,
				      uint64_t code)
{
	uint32_t i = t->sparse.n ? u64map_get(&t->sparse_tab, code)
				 : U64MAP_NONE;

	return i == U64MAP_NONE ? NULL : &t->sparse.v[i];
}

const struct abbrev *abbrev_find(struct abbrev_table *t, uint64_t code)
{
	const struct abbrev *a = abbrev_of(t, code);

	while (!a && table_next(t))
		a = abbrev_of(t, code);
	return a;
}

/* Returns the end of a declaration's attributes, which begin at p; NULL if it is
 * damaged. */
static const uint8_t *skip_attrs(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 2) {
		if ((p[0] | p[1]) < 0x80 && p[1] != DW_FORM_implicit_const) {
			p += 2;
			if (!(p[-2] | p[-1]))
				return p;
		} else {
			struct cursor c = cursor_of(p, (size_t)(end - p));
			uint64_t at, form;
			int64_t constant;

			if (!attr_read(&c, &at, &form, &constant))
				return NULL;
			p = c.p;
		}
	}
	return NULL;
}

/* Finds a declaration behind those that were parsed. */
static const uint8_t *declaration_of(const struct abbrev_table *t, uint64_t code)
{
	const uint8_t *p = t->p;

	while (p && p < t->end) {
		struct cursor c = cursor_of(p, (size_t)(t->end - p));
		uint64_t found = cursor_uleb(&c);

		if (c.bad || !found)
			return NULL;
		if (found == code)
			return p;
		cursor_uleb(&c);
		cursor_skip(&c, 1);
		p = c.bad ? NULL : skip_attrs(c.p, t->end);
	}
	return NULL;
}

const struct abbrev *abbrev_find_root(struct abbrev_table *t, uint64_t code)
{
	const struct abbrev *a = abbrev_of(t, code);
	const uint8_t *begin = t->p, *p;

	if (a)
		return a;
	if (code == t->root_code)
		return code ? &t->root : NULL;
	p = declaration_of(t, code);
	if (!p || !table_spend(t, (uint64_t)(p - begin)))
		return abbrev_find(t, code);
	t->p = p;
	if (t->root_code) {
		if (!table_next(t))
			return NULL;
		a = abbrev_of(t, code);
	} else {
		t->root_code = table_parse(t, &t->root);
		if (!t->root_code)
			return NULL;
		a = &t->root;
	}
	t->p = begin;
	return a;
}

void abbrev_finish(struct abbrev_table *t)
{
	while (table_next(t))
		;
}

struct abbrev_table *abbrev_table_get(const struct dwarf_unit *u)
{
	struct dwarf_set *d = u->set;
	uint64_t key = u->abbrev_off << 5 | (uint64_t)(u->addr_size == 8) << 4 |
		       (uint64_t)(u->off_size == 8) << 3 |
		       (uint64_t)(u->version == 2) << 2;
	uint32_t *slot;
	struct abbrev_table *t;

	if (u->abbrev_off >= d->abbrev.n)
		return NULL;
	slot = u64map_slot(&d->abbrev_tab, key);
	if (!slot || *slot != U64MAP_NONE)
		return slot ? d->abbrevs.v[*slot] : NULL;
	t = calloc(1, sizeof(*t));
	if (!t || vec_push(&d->abbrevs, t) < 0) {
		free(t);
		return NULL;	/* the slot stays empty */
	}
	*slot = (uint32_t)d->abbrevs.n - 1;
	t->start = t->p = d->abbrev.p + u->abbrev_off;
	t->end = d->abbrev.p + d->abbrev.n;
	t->budget = &d->abbrev_budget;
	t->addr_size = u->addr_size;
	t->off_size = u->off_size;
	t->v2 = u->version == 2;
	/* The program for all tags that are not read. */
	if (vec_push(&t->reads, (struct abbrev_read){ 0 }) < 0)
		t->p = t->end;
	return t;
}

void abbrev_table_free(struct abbrev_table *t)
{
	if (!t)
		return;
	vec_fini(&t->dense);
	vec_fini(&t->sparse);
	vec_fini(&t->ops);
	vec_fini(&t->reads);
	vec_fini(&t->constants);
	u64map_fini(&t->sparse_tab);
	free(t);
}
