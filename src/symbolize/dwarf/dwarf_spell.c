// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds full C++ names from DIEs, for functions whose linkage name is not in
 * DWARF.  The text is that of binutils for the linkage name, with these
 * differences:
 *
 *	closures are {lambda(int) at file.cpp:3:9}, generic ones {lambda at
 *	file.cpp:3:9}, other types without a name
 *	{unnamed type at file.cpp:3:9}: their numbers count types that DWARF may
 *	omit, and could be wrong unnoticed;
 *	a deduced return type is the type, not `auto`;
 *	types appear where the source has a template parameter;
 *	where a unit describes no types (-g1), the name is DWARF's alone:
 *	parameters and scopes are unknown.
 *
 * DIEs may be hostile: depth, steps and length are bounded, and a name that
 * exceeds a bound is not built.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "symbolize/demangle/demangle.h"
#include "symbolize/demangle/manglings.h"
#include "symbolize/dwarf/dwarf.h"

struct spell {
	struct dwarf *d;
	unsigned depth, steps;
	bool bad;		/* the name cannot be determined */
};

struct spell_die {
	struct dwarf_unit *u;
	struct dwarf_die v;
	uint64_t at, next;	/* offsets in the section: of the DIE, and of the end
				 * of its attributes */
};

enum { STEP_COST = 16 };	/* bytes charged for reading a DIE */
enum { SPELL_DEPTH = 24, SPELL_STEPS = 1 << 15, SPELL_LENGTH = 16 << 10 };

static bool step(struct spell *s)
{
	if (++s->steps > SPELL_STEPS || s->d->spell_left < STEP_COST)
		s->bad = true;
	else
		s->d->spell_left -= STEP_COST;
	return !s->bad;
}

static bool read_at(struct spell *s, struct dwarf_unit *u, uint64_t off,
		    struct spell_die *out)
{
	out->u = u;
	out->at = off;
	return step(s) && dwarf_read_all(u, off, &out->v, &out->next);
}

/* Reads a DIE by number.  Returns false and sets bad if there is none. */
static bool spell_read(struct spell *s, uint64_t die, struct spell_die *out)
{
	struct dwarf_unit *u = die == NO_DIE ? NULL : dwarf_unit_at(s->d, die);
	struct dwarf_work w;

	if (u) {
		dwarf_work_init(s->d, &w);
		dwarf_unit_root(s->d, u, &w);
		dwarf_work_fini(&w);
	}
	if (!u || !read_at(s, u, DIE_OFFSET(die), out))
		s->bad = true;
	return !s->bad;
}

static uint64_t spell_number(const struct spell_die *v)
{
	return dwarf_unit_die(v->u, v->at);
}

static bool spell_child(struct spell *s, const struct spell_die *parent,
			struct spell_die *out)
{
	return (parent->v.flags & ABBREV_CHILDREN) &&
	       read_at(s, parent->u, parent->next, out);
}

/* Returns the end of a DIE's children; 0 if it cannot be determined. */
static uint64_t behind(struct spell *s, const struct spell_die *v)
{
	const struct span *sec = dwarf_unit_section(v->u);
	struct spell_die in = *v;
	uint64_t off = v->next, to, depth = 0;

	do {
		if ((in.v.flags & ABBREV_CHILDREN)) {
			to = DIE_OFFSET(dwarf_reference(v->u, &in.v,
							SLOT_SIBLING));
			if (to > off && to < v->u->end)
				off = to;
			else
				depth++;
		}
		while (depth && off < v->u->end && !sec->p[off]) {
			depth--;
			off++;
		}
		if (!depth)
			return off;
		if (!read_at(s, v->u, off, &in))
			return 0;
		off = in.next;
	} while (true);
}

static bool spell_sibling(struct spell *s, struct spell_die *v)
{
	uint64_t off = behind(s, v);

	return off && read_at(s, v->u, off, v);
}

static void spell_type(struct spell *s, uint64_t die, const char *declarator,
		       struct buf *out);
static void spell_nameless(struct spell *s, const struct spell_die *v,
			   struct buf *out);
static size_t spell_arguments(struct spell *s, const struct spell_die *v,
			      const char *name, struct buf *out);
static void spell_scopes(struct spell *s, const struct spell_die *v,
			 struct buf *out);

/* Writes a type with a modifier added to the front of its declarator. */
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

/* Skips typedefs and top-level const and volatile, which are not part of a
 * parameter's type. */
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

/* Writes parameters: (int, char const*). */
static void spell_parameters(struct spell *s, const struct spell_die *f,
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

/* Writes a function type: int (*)(char), including pointers to it. */
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

/* Writes a member pointer: int A::*, void (A::*)(int). */
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

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

/* Writes the name of a class or enumeration, without its scopes. */
static void spell_class(struct spell *s, const struct spell_die *v,
			struct buf *out)
{
	const char *name = dwarf_string(v->u, &v->v, SLOT_NAME);
	const char *linkage = dwarf_string(v->u, &v->v, SLOT_LINKAGE);
	struct buf args = { 0 };

	if (!name && linkage) {		/* linkage name from a typedef: 5thing */
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

/* Writes a class with its scopes, which many names share. */
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
	static const struct { uint16_t tag; char front[10]; } fronts[] = {
		{ DW_TAG_const_type, " const" },
		{ DW_TAG_volatile_type, " volatile" },
		{ DW_TAG_pointer_type, "*" },
		{ DW_TAG_reference_type, "&" },
		{ DW_TAG_rvalue_reference_type, "&&" },
	};
	const char *name;

	for (size_t i = 0; i < COUNT(fronts); i++)
		if (v->v.tag == fronts[i].tag) {
			with_front(s, type_of(v), fronts[i].front, declarator, out);
			return;
		}
	switch (v->v.tag) {
	case DW_TAG_restrict_type:
	case DW_TAG_typedef:
	case DW_TAG_atomic_type:
		spell_type(s, type_of(v), declarator, out);
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

/* Writes a type (NO_DIE: void) and the declarator after it. */
static void spell_type(struct spell *s, uint64_t die, const char *declarator,
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

/* Writes a constant template argument like binutils: 3, 3u, true, (char)97. */
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
	for (i = 0; i < COUNT(suffixes); i++)
		if (!strcmp(t, suffixes[i][0]))
			break;
	if (!strcmp(t, "bool"))
		buf_str(out, n ? "true" : "false");
	else if (i == COUNT(suffixes))
		buf_printf(out, "(%s)", t);
	if (strcmp(t, "bool"))
		buf_printf(out, is_signed ? "%" PRId64 : "%" PRIu64, n);
	if (i < COUNT(suffixes))
		buf_str(out, suffixes[i][1]);
	buf_fini(&type);
}

/* Writes one argument; a pack has several, of which at most `left` are
 * written. */
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

/* Returns the number of arguments in the DWARF name. */
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

/* Writes the template arguments of a class or function with the given DWARF
 * name: <int, 3>, or nothing.  Returns the number of parameters. */
static size_t spell_arguments(struct spell *s, const struct spell_die *v,
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
	/* g++ writes the DIEs of generic lambdas' arguments twice */
	if (!strncmp(name, "operator()<", 11))
		left = count;
	buf_u8(out, '<');
	for (more = spell_child(s, v, &part); more && !s->bad;
	     more = spell_sibling(s, &part))
		n += spell_argument(s, &part, &left, &any, out);
	s->depth--;
	/* and omits those of some packs */
	if (!n || (count && out->n == start + 1)) {
		out->n = start;
		return 0;
	}
	if (out->n && out->p[out->n - 1] == '>')
		buf_u8(out, ' ');
	buf_u8(out, '>');
	return n;
}

/* Writes the position of an unnamed type, because its number among such types
 * cannot be known. */
static void put_place(struct spell *s, const struct spell_die *v,
		      struct buf *out)
{
	uint64_t file = dwarf_number(&v->v, SLOT_DECL_FILE, UINT64_MAX);
	uint64_t line = dwarf_number(&v->v, SLOT_DECL_LINE, 0);
	uint64_t column = dwarf_number(&v->v, SLOT_DECL_COLUMN, 0);
	const char *path = "", *base;

	if (file != UINT64_MAX)
		path = dwarf_file_path(s->d, dwarf_files_unit(v->u), file);
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (!line || !*base) {
		s->bad = true;
		return;
	}
	buf_printf(out, " at %s:%u", base, (unsigned)line);
	if (column)
		buf_printf(out, ":%u", (unsigned)column);
}

/* Finds the call operator, by which a closure is recognized. */
static bool call_operator(struct spell *s, const struct spell_die *v,
			  struct spell_die *out)
{
	bool more;

	for (more = spell_child(s, v, out); more && !s->bad;
	     more = spell_sibling(s, out)) {
		const char *name = dwarf_string(out->u, &out->v, SLOT_NAME);

		if (out->v.tag == DW_TAG_subprogram && name &&
		    !strncmp(name, "operator()", 10))
			return true;
	}
	return false;
}

/* Writes an unnamed type: {lambda(int) at file.cpp:3:9}. */
static void spell_nameless(struct spell *s, const struct spell_die *v,
			   struct buf *out)
{
	struct spell_die call;
	const char *name;

	if (v->v.tag != DW_TAG_enumeration_type && call_operator(s, v, &call)) {
		name = dwarf_string(call.u, &call.v, SLOT_NAME);
		buf_str(out, "{lambda");
		if (!strchr(name, '<'))
			spell_parameters(s, &call, out);
	} else {
		buf_str(out, "{unnamed type");
	}
	put_place(s, v, out);
	buf_u8(out, '}');
}

static void spell_any(struct spell *s, uint64_t die, bool nested,
		      struct buf *out);

static void spell_scope(struct spell *s, uint64_t die, struct buf *out)
{
	struct spell_die v;
	const char *name;

	if (!spell_read(s, die, &v))
		return;
	switch (v.v.tag) {
	case DW_TAG_namespace:
		name = dwarf_string(v.u, &v.v, SLOT_NAME);
		buf_str(out, name ? name : "(anonymous namespace)");
		break;
	case DW_TAG_subprogram:
		spell_any(s, die, true, out);
		break;
	default:
		spell_class(s, &v, out);
	}
	buf_str(out, "::");
}

/* Writes the scopes that contain a DIE, each followed by ::. */
static void spell_scopes(struct spell *s, const struct spell_die *v,
			 struct buf *out)
{
	uint64_t path[SPELL_DEPTH];
	const struct scope_index *x;
	size_t n = 0;
	uint32_t i;

	if (++s->depth > SPELL_DEPTH)
		s->bad = true;
	i = dwarf_scope_of(s->d, v->u, v->at, &x);
	s->bad |= !x;
	/* building a name may invalidate x */
	for (; !s->bad && i != UNIT_SCOPE; i = x->v.v[i].parent) {
		uint64_t off = v->u->off + x->v.v[i].start;
		struct spell_die scope;

		if (n == SPELL_DEPTH) {
			s->bad = true;
			break;
		}
		path[n++] = dwarf_unit_die(v->u, off);
		/* a function's name includes the function's scopes */
		if (read_at(s, v->u, off, &scope) &&
		    scope.v.tag == DW_TAG_subprogram)
			break;
	}
	while (n-- > 0 && !s->bad)
		spell_scope(s, path[n], out);
	s->depth--;
}

/* Properties of a function from its chain of DIEs; `decl` is the last one,
 * located in the function's scope. */
struct function {
	struct spell_die decl;
	const char *name, *linkage;
	uint64_t type;
	bool external;
};

static bool read_function(struct spell *s, uint64_t die, struct function *f)
{
	int hop;

	*f = (struct function){ .type = NO_DIE };
	for (hop = 0; die != NO_DIE && hop < SPELL_DEPTH; hop++) {
		struct spell_die *v = &f->decl;

		if (!spell_read(s, die, v))
			return false;
		if (!f->linkage)
			f->linkage = dwarf_string(v->u, &v->v, SLOT_LINKAGE);
		if (!f->name)
			f->name = dwarf_string(v->u, &v->v, SLOT_NAME);
		if (f->type == NO_DIE)
			f->type = dwarf_reference(v->u, &v->v, SLOT_TYPE);
		f->external |= dwarf_has(&v->v, SLOT_EXTERNAL);
		die = dwarf_reference(v->u, &v->v, SLOT_ORIGIN);
		if (die == NO_DIE)
			die = dwarf_reference(v->u, &v->v, SLOT_SPEC);
	}
	return f->name || f->linkage;
}

static bool is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) &&
	       strncmp(name + 9, "new", 3) && strncmp(name + 9, "delete", 6) &&
	       strncmp(name + 9, "co_await", 8);
}

/* Writes const, & and && of a member function. */
static void put_qualifiers(struct spell *s, const struct spell_die *f,
			   struct buf *out)
{
	struct spell_die v;
	uint64_t type;
	bool more;

	more = spell_child(s, f, &v);
	while (more && !s->bad && v.v.tag != DW_TAG_formal_parameter)
		more = spell_sibling(s, &v);
	if (more && !s->bad && dwarf_has(&v.v, SLOT_ARTIFICIAL)) {
		type = dwarf_reference(v.u, &v.v, SLOT_TYPE);
		while (type != NO_DIE && spell_read(s, type, &v) &&
		       v.v.tag == DW_TAG_const_type)	/* `this` itself */
			type = dwarf_reference(v.u, &v.v, SLOT_TYPE);
		if (type != NO_DIE && !s->bad &&
		    v.v.tag == DW_TAG_pointer_type) {
			type = dwarf_reference(v.u, &v.v, SLOT_TYPE);
			if (type != NO_DIE && spell_read(s, type, &v) &&
			    v.v.tag == DW_TAG_const_type)
				buf_str(out, " const");
		}
	}
	if (dwarf_has(&f->v, SLOT_REFERENCE))
		buf_str(out, " &");
	if (dwarf_has(&f->v, SLOT_RVALUE))
		buf_str(out, " &&");
}

/* Returns whether the scopes before a function's name end in the name itself,
 * as for a constructor. */
static bool is_constructor(const struct buf *scopes, const char *name, size_t n)
{
	const char *p = (const char *)scopes->p, *end;

	if (*name == '~')
		return true;
	if (scopes->n < n + 2 || scopes->failed)
		return false;
	end = p + scopes->n - 2;		/* before :: */
	if (end[-1] == '>') {
		unsigned open = 0;

		while (end > p) {
			end--;
			open += *end == '>';
			if (*end == '<' && !--open)
				break;
		}
	}
	return (size_t)(end - p) >= n && !memcmp(end - n, name, n) &&
	       ((size_t)(end - p) == n || end[-(ptrdiff_t)n - 1] == ':');
}

/* Returns whether a unit describes types and parameters.  Those of -g1 and
 * -gline-tables-only do not. */
static bool describes_types(const struct dwarf_unit *u)
{
	abbrev_finish(u->abbrevs);
	return u->abbrevs->types;
}

static void put_function(struct spell *s, const struct function *f, bool nested,
			 struct buf *out)
{
	struct buf scopes = { 0 }, args = { 0 };
	size_t n = cxx_name_stem(f->name), nargs;

	if (!describes_types(f->decl.u)) {
		buf_str(out, f->name);
		return;
	}
	spell_scopes(s, &f->decl, &scopes);
	nargs = spell_arguments(s, &f->decl, f->name, &args);
	if (nargs && !nested && !is_conversion(f->name) &&
	    !is_constructor(&scopes, f->name, n)) {
		spell_type(s, f->type, "", out);
		buf_u8(out, ' ');
	}
	buf_str(out, buf_cstr(&scopes));
	if (is_conversion(f->name)) {
		buf_str(out, "operator ");
		spell_type(s, f->type, "", out);
	} else {
		buf_bytes(out, f->name, nargs ? n : strlen(f->name));
	}
	buf_str(out, buf_cstr(&args));
	spell_parameters(s, &f->decl, out);
	put_qualifiers(s, &f->decl, out);
	s->bad |= scopes.failed || args.failed;
	buf_fini(&scopes);
	buf_fini(&args);
}

/*
 * Writes the name of a function at `die`; see the top of the file.
 */
static void spell_any(struct spell *s, uint64_t die, bool nested,
		      struct buf *out)
{
	struct function f;

	if (++s->depth > SPELL_DEPTH || !read_function(s, die, &f)) {
		s->bad = true;
	} else if (f.linkage) {
		if (!demangle_cxx_scope(f.linkage, strlen(f.linkage), out))
			buf_str(out, f.linkage);
	} else if (f.external ||	/* main, extern "C" */
		   /* runs a file's constructors: not a C++ name */
		   !strncmp(f.name, "_GLOBAL__", 9)) {
		s->bad |= !nested;
		buf_str(out, f.name);
	} else {
		put_function(s, &f, nested, out);
	}
	s->depth--;
	s->bad |= out->n > SPELL_LENGTH;
}

bool dwarf_spell_prepare(struct dwarf *d, uint64_t die)
{
	struct dwarf_unit *u = dwarf_unit_at(d, die);

	if (!u || !u->abbrevs || u->scopes || !describes_types(u))
		return false;
	dwarf_scopes_read(d, u);
	return true;
}

bool dwarf_spell_function(struct dwarf *d, uint64_t die, struct buf *out)
{
	struct spell s = { .d = d };

	spell_any(&s, die, false, out);
	return !s.bad && !out->failed;
}
