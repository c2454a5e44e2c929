// SPDX-License-Identifier: GPL-2.0-or-later
/* Types, parameters and template arguments in the style of binutils: see
 * dwarf_spell.h. */
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "symbolize/dwarf/dwarf_spell.h"

/* What a modifier of a type adds to the front of its declarator. */
static void with_front(struct spell *s, uint64_t inner, const char *front,
		       const char *declarator, struct buf *out)
{
	struct buf text = { 0 };

	buf_str(&text, front);
	buf_str(&text, declarator);
	spell_type(s, inner, buf_cstr(&text), out);
	s->bad |= text.failed;
	buf_fini(&text);
}

static uint64_t type_of(const struct spell_die *v)
{
	return dwarf_reference(v->u, &v->v, SLOT_TYPE);
}

/* Past names and top-level const, which are no part of a parameter's type. */
static uint64_t without_quals(struct spell *s, uint64_t die)
{
	struct spell_die v;
	int hop;

	for (hop = 0; die != NO_DIE && hop < SPELL_DEPTH; hop++) {
		if (!spell_read(s, die, &v) ||
		    (v.v.tag != DW_TAG_const_type &&
		     v.v.tag != DW_TAG_volatile_type &&
		     v.v.tag != DW_TAG_typedef))
			break;
		die = type_of(&v);
	}
	return die;
}

void spell_parameters(struct spell *s, const struct spell_die *f,
		      struct buf *out)
{
	struct spell_die v;
	bool more, any = false;

	buf_u8(out, '(');
	for (more = spell_child(s, f, &v); more && !s->bad;
	     more = spell_sibling(s, &v)) {
		struct spell_die part;

		if (v.v.tag == DW_TAG_GNU_formal_parameter_pack) {
			bool in = spell_child(s, &v, &part);

			for (; in && !s->bad; in = spell_sibling(s, &part)) {
				buf_str(out, any ? ", " : "");
				any = true;
				spell_type(s, without_quals(s, type_of(&part)),
					   "", out);
			}
			continue;
		}
		if ((v.v.tag != DW_TAG_formal_parameter &&
		     v.v.tag != DW_TAG_unspecified_parameters) ||
		    dwarf_has(&v.v, SLOT_ARTIFICIAL))
			continue;
		buf_str(out, any ? ", " : "");
		any = true;
		if (v.v.tag == DW_TAG_unspecified_parameters)
			buf_str(out, "...");
		else
			spell_type(s, without_quals(s, type_of(&v)), "", out);
	}
	buf_u8(out, ')');
}

/* int (*)(char), and what points to it. */
static void spell_function_type(struct spell *s, const struct spell_die *v,
				const char *declarator, struct buf *out)
{
	struct buf text = { 0 };

	buf_u8(&text, ' ');
	if (*declarator) {
		buf_u8(&text, '(');
		buf_str(&text, declarator + (*declarator == ' '));
		buf_u8(&text, ')');
	}
	spell_parameters(s, v, &text);
	spell_type(s, type_of(v), buf_cstr(&text), out);
	s->bad |= text.failed;
	buf_fini(&text);
}

static void spell_array(struct spell *s, const struct spell_die *v,
			const char *declarator, struct buf *out)
{
	struct buf text = { 0 };
	struct spell_die dim;
	bool more;

	if (*declarator) {
		buf_str(&text, " (");
		buf_str(&text, declarator + (*declarator == ' '));
		buf_u8(&text, ')');
	}
	buf_u8(&text, ' ');
	for (more = spell_child(s, v, &dim); more && !s->bad;
	     more = spell_sibling(s, &dim)) {
		uint64_t n = dwarf_number(&dim.v, SLOT_BOUND, UINT64_MAX);

		buf_u8(&text, '[');
		if (n != UINT64_MAX)
			buf_printf(&text, "%" PRIu64, n + 1);
		buf_u8(&text, ']');
	}
	spell_type(s, type_of(v), buf_cstr(&text), out);
	s->bad |= text.failed;
	buf_fini(&text);
}

/* int A::*, void (A::*)(int) */
static void spell_member(struct spell *s, const struct spell_die *v,
			 const char *declarator, struct buf *out)
{
	struct buf text = { 0 };
	uint64_t of = dwarf_reference(v->u, &v->v, SLOT_CLASS);

	buf_u8(&text, ' ');
	spell_type(s, of, "::*", &text);
	buf_str(&text, declarator);
	spell_type(s, type_of(v), buf_cstr(&text), out);
	s->bad |= text.failed;
	buf_fini(&text);
}

static const char *base_name(const char *name)
{
	static const char *const names[][2] = {
		{ "long int", "long" },
		{ "long unsigned int", "unsigned long" },
		{ "short int", "short" },
		{ "short unsigned int", "unsigned short" },
		{ "long long int", "long long" },
		{ "long long unsigned int", "unsigned long long" },
		{ "__int128 unsigned", "unsigned __int128" },
		{ "_Bool", "bool" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

void spell_class(struct spell *s, const struct spell_die *v, struct buf *out)
{
	const char *name = dwarf_string(v->u, &v->v, SLOT_NAME);
	const char *linkage = dwarf_string(v->u, &v->v, SLOT_LINKAGE);
	struct buf args = { 0 };

	if (!name && linkage) {		/* that of a typedef: 5thing */
		name = linkage + strspn(linkage, "0123456789");
		buf_bytes(out, name, strnlen(name, SPELL_LENGTH));
		return;
	}
	if (!name) {
		spell_nameless(s, v, out);
		return;
	}
	if (spell_arguments(s, v, name, &args)) {
		buf_bytes(out, name, strcspn(name, "<"));
		buf_str(out, buf_cstr(&args));
	} else {
		buf_bytes(out, name, strnlen(name, SPELL_LENGTH));
	}
	s->bad |= args.failed;
	buf_fini(&args);
}

/* A class with its scopes, which many names have in them. */
static void spell_scoped(struct spell *s, const struct spell_die *v,
			 struct buf *out)
{
	uint32_t *slot = u64map_slot(&s->d->type_tab, spell_number(v));
	struct buf text = { 0 };

	if (!slot) {
		s->bad = true;
		return;
	}
	if (*slot != U64MAP_NONE) {
		buf_str(out, strtab_get(&s->d->strings, *slot));
		return;
	}
	spell_scopes(s, v, &text);
	spell_class(s, v, &text);
	s->bad |= text.failed;
	buf_str(out, buf_cstr(&text));
	slot = s->bad ? NULL : u64map_slot(&s->d->type_tab, spell_number(v));
	if (slot) {
		const char *kept = dwarf_keep(s->d, buf_cstr(&text));

		*slot = strtab_add_n(&s->d->strings, kept, strlen(kept));
	}
	buf_fini(&text);
}

static void spell_known(struct spell *s, const struct spell_die *v,
			const char *declarator, struct buf *out)
{
	const char *name;

	switch (v->v.tag) {
	case DW_TAG_const_type:
		with_front(s, type_of(v), " const", declarator, out);
		return;
	case DW_TAG_volatile_type:
		with_front(s, type_of(v), " volatile", declarator, out);
		return;
	case DW_TAG_restrict_type:
	case DW_TAG_typedef:
	case DW_TAG_atomic_type:
		spell_type(s, type_of(v), declarator, out);
		return;
	case DW_TAG_pointer_type:
		with_front(s, type_of(v), "*", declarator, out);
		return;
	case DW_TAG_reference_type:
		with_front(s, type_of(v), "&", declarator, out);
		return;
	case DW_TAG_rvalue_reference_type:
		with_front(s, type_of(v), "&&", declarator, out);
		return;
	case DW_TAG_subroutine_type:
		spell_function_type(s, v, declarator, out);
		return;
	case DW_TAG_array_type:
		spell_array(s, v, declarator, out);
		return;
	case DW_TAG_ptr_to_member_type:
		spell_member(s, v, declarator, out);
		return;
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
		name = dwarf_string(v->u, &v->v, SLOT_NAME);
		s->bad |= !name;
		buf_str(out, name ? base_name(name) : "");
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		spell_scoped(s, v, out);
		break;
	default:
		s->bad = true;
	}
	buf_str(out, declarator);
}

void spell_type(struct spell *s, uint64_t die, const char *declarator,
		struct buf *out)
{
	struct spell_die v;

	if (die == NO_DIE) {
		buf_str(out, "void");
		buf_str(out, declarator);
		return;
	}
	if (++s->depth > SPELL_DEPTH || out->n > SPELL_LENGTH ||
	    !spell_read(s, die, &v))
		s->bad = true;
	else
		spell_known(s, &v, declarator, out);
	s->depth--;
}

/* A constant of a template, as binutils writes it: 3, 3u, true, (char)97. */
static void spell_value(struct spell *s, const struct spell_die *v,
			struct buf *out)
{
	static const char *const suffixes[][2] = {
		{ "int", "" }, { "unsigned int", "u" }, { "long", "l" },
		{ "unsigned long", "ul" }, { "long long", "ll" },
		{ "unsigned long long", "ull" },
	};
	bool is_signed = v->v.form[SLOT_CONST_VALUE] == DW_FORM_sdata ||
			 v->v.form[SLOT_CONST_VALUE] == DW_FORM_implicit_const;
	uint64_t n = dwarf_number(&v->v, SLOT_CONST_VALUE, 0);
	struct buf type = { 0 };
	const char *t;
	size_t i;

	if (!dwarf_has(&v->v, SLOT_CONST_VALUE)) {
		s->bad = true;
		return;
	}
	spell_type(s, without_quals(s, type_of(v)), "", &type);
	t = buf_cstr(&type);
	s->bad |= type.failed;
	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcmp(t, suffixes[i][0]))
			break;
	if (!strcmp(t, "bool"))
		buf_str(out, n ? "true" : "false");
	else if (i == sizeof(suffixes) / sizeof(*suffixes))
		buf_printf(out, "(%s)", t);
	if (strcmp(t, "bool"))
		buf_printf(out, is_signed ? "%" PRId64 : "%" PRIu64, n);
	if (i < sizeof(suffixes) / sizeof(*suffixes))
		buf_str(out, suffixes[i][1]);
	buf_fini(&type);
}

/* One argument, of which at most `left` are written.  A pack has many. */
static bool spell_argument(struct spell *s, const struct spell_die *v,
			   size_t *left, bool *any, struct buf *out)
{
	struct spell_die part;
	const char *name;
	bool more;

	if (v->v.tag == DW_TAG_GNU_template_parameter_pack) {
		more = spell_child(s, v, &part);
		for (; more && !s->bad; more = spell_sibling(s, &part))
			if (!spell_argument(s, &part, left, any, out))
				break;
		return true;
	}
	if (v->v.tag != DW_TAG_template_type_parameter &&
	    v->v.tag != DW_TAG_template_value_parameter &&
	    v->v.tag != DW_TAG_GNU_template_template_param)
		return false;
	if (!*left)
		return true;
	--*left;
	buf_str(out, *any ? ", " : "");
	*any = true;
	if (v->v.tag == DW_TAG_template_type_parameter) {
		spell_type(s, type_of(v), "", out);
	} else if (v->v.tag == DW_TAG_template_value_parameter) {
		spell_value(s, v, out);
	} else {
		name = dwarf_string(v->u, &v->v, SLOT_TEMPLATE);
		s->bad |= !name;
		buf_str(out, name ? name : "");
	}
	return true;
}

/* How many arguments the name in DWARF has. */
static size_t count_arguments(const char *name)
{
	size_t n = 1, len = strlen(name);
	unsigned open = 0;
	const char *p;

	if (!len || name[len - 1] != '>')
		return 0;
	for (p = name + len - 1; p >= name; p--) {
		open += *p == '>' || *p == ')' || *p == '}';
		open -= *p == '<' || *p == '(' || *p == '{';
		if (!open)
			return n;
		n += open == 1 && *p == ',';
	}
	return 0;
}

size_t spell_arguments(struct spell *s, const struct spell_die *v,
		       const char *name, struct buf *out)
{
	struct spell_die part;
	bool more, any = false;
	size_t count = count_arguments(name), left = SIZE_MAX;
	size_t n = 0, start = out->n;

	if (++s->depth > SPELL_DEPTH) {
		s->bad = true;
		return 0;
	}
	/* g++ writes the DIEs of those of generic lambdas twice */
	if (!strncmp(name, "operator()<", 11))
		left = count;
	buf_u8(out, '<');
	for (more = spell_child(s, v, &part); more && !s->bad;
	     more = spell_sibling(s, &part))
		n += spell_argument(s, &part, &left, &any, out);
	s->depth--;
	/* and leaves out those of some packs */
	if (!n || (count && out->n == start + 1)) {
		out->n = start;
		return 0;
	}
	if (out->n && out->p[out->n - 1] == '>')
		buf_u8(out, ' ');
	buf_u8(out, '>');
	return n;
}
