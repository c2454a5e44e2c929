// SPDX-License-Identifier: GPL-2.0-or-later
/* Full names of functions that have no linkage name: see dwarf_spell.h. */
#include "symbolize/dwarf/dwarf_spell.h"

#include <dwarf.h>
#include <string.h>

#include "symbolize/demangle/manglings.h"

enum { STEP_COST = 16 };	/* bytes that reading a DIE counts as */

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

bool spell_read(struct spell *s, uint64_t die, struct spell_die *out)
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

uint64_t spell_number(const struct spell_die *v)
{
	return dwarf_unit_die(v->u, v->at);
}

bool spell_child(struct spell *s, const struct spell_die *parent,
		 struct spell_die *out)
{
	return (parent->v.flags & ABBREV_CHILDREN) &&
	       read_at(s, parent->u, parent->next, out);
}

/* Where the children of a DIE end; 0 when that is not to be known. */
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

bool spell_sibling(struct spell *s, struct spell_die *v)
{
	uint64_t off = behind(s, v);

	return off && read_at(s, v->u, off, v);
}

/* Where a type without a name is: its number among such types cannot be known. */
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

/* The call operator of a closure, which is what tells a closure. */
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

void spell_nameless(struct spell *s, const struct spell_die *v, struct buf *out)
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

void spell_scopes(struct spell *s, const struct spell_die *v, struct buf *out)
{
	uint64_t path[SPELL_DEPTH];
	const struct scope_index *x;
	size_t n = 0;
	uint32_t i;

	if (++s->depth > SPELL_DEPTH)
		s->bad = true;
	i = dwarf_scope_of(s->d, v->u, v->at, &x);
	s->bad |= !x;
	/* x may go when a name in it is made */
	for (; !s->bad && i != NO_SCOPE; i = x->v.v[i].parent) {
		uint64_t off = v->u->off + x->v.v[i].start;
		struct spell_die scope;

		if (n == SPELL_DEPTH) {
			s->bad = true;
			break;
		}
		path[n++] = dwarf_unit_die(v->u, off);
		/* a function's name has the scopes that the function is in */
		if (read_at(s, v->u, off, &scope) &&
		    scope.v.tag == DW_TAG_subprogram)
			break;
	}
	while (n-- > 0 && !s->bad)
		spell_scope(s, path[n], out);
	s->depth--;
}

/* What the chain of a function's DIEs says; `decl` is its end, in its scope. */
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

/* The length of a name without a template's arguments. */
static size_t stem(const char *name)
{
	size_t n = strcspn(name, "<"), all = strlen(name);
	const char *p = name + 8;

	if (strncmp(name, "operator", 8) || (*p && strchr("_ ", *p)) || n < 8)
		return n;
	if (n > 8)
		return n;
	/* operator<, operator<<, operator<<=, operator<=, operator<=> */
	p += strspn(p, "<");
	if (p - name > 10)		/* operator<< <int> */
		p = name + 10;
	else if (p - name == 10 && all > 11 && name[all - 1] == '>' &&
		 p[0] != '=' && p[0] != ' ')
		p = name + 9;		/* operator<<int> */
	p += *p == '=';
	p += *p == '>' && p[-1] == '=';
	return (size_t)(p - name);
}

static bool is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) &&
	       strncmp(name + 9, "new", 3) && strncmp(name + 9, "delete", 6) &&
	       strncmp(name + 9, "co_await", 8);
}

/* const, & and && of a member function. */
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
		       v.v.tag == DW_TAG_const_type)	/* this itself */
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

/* Whether the text before a function's name ends in its class' name. */
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

static void put_function(struct spell *s, const struct function *f, bool nested,
			 struct buf *out)
{
	struct buf scopes = { 0 }, args = { 0 };
	size_t n = stem(f->name), nargs;

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

/* nested: as a scope of other names, where no return type is shown. */
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
		   /* what runs a file's constructors: no name of C++ */
		   !strncmp(f.name, "_GLOBAL__", 9)) {
		s->bad |= !nested;
		buf_str(out, f.name);
	} else {
		put_function(s, &f, nested, out);
	}
	s->depth--;
	s->bad |= out->n > SPELL_LENGTH;
}

bool dwarf_spell_function(struct dwarf *d, uint64_t die, struct buf *out)
{
	struct spell s = { .d = d };

	spell_any(&s, die, false, out);
	return !s.bad && !out->failed;
}
