// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nodes: made while a name is read, with the operators and numbers in it; and while it is
 * written, the values of template parameters, and room for text.
 */
#include "base/search.h"
#include "base/vec.h"
#include "symbolize/demangle/demangle_cxx.h"

/*
 * Operators sorted by code.  Shapes of their expressions:
 *	1 before its operand	2 between two	3 conditional	k ++ and --
 *	c call	i [index]	m member of	n new	a const_cast<type>(x)
 *	t before a type	v conversion	0 alone	f pack size	s its contents
 */
static const struct cxx_operator operators[] = {
	{ "aN", '2', "&=" }, { "aS", '2', "=" }, { "aa", '2', "&&" },
	{ "ad", '1', "&" }, { "an", '2', "&" }, { "at", 't', "alignof " },
	{ "aw", '1', "co_await " }, { "az", '1', "alignof " },
	{ "cc", 'a', "const_cast" }, { "cl", 'c', "()" }, { "cm", '2', "," },
	{ "co", '1', "~" }, { "cp", 'c', "()" }, { "cv", 'v', "" },
	{ "dV", '2', "/=" }, { "da", '1', "delete[] " },
	{ "dc", 'a', "dynamic_cast" }, { "de", '1', "*" },
	{ "dl", '1', "delete " }, { "ds", '2', ".*" }, { "dt", 'm', "." },
	{ "dv", '2', "/" }, { "eO", '2', "^=" }, { "eo", '2', "^" },
	{ "eq", '2', "==" }, { "ge", '2', ">=" }, { "gt", '2', ">" },
	{ "ix", 'i', "[]" }, { "lS", '2', "<<=" }, { "le", '2', "<=" },
	{ "ls", '2', "<<" }, { "lt", '2', "<" }, { "mI", '2', "-=" },
	{ "mL", '2', "*=" }, { "mi", '2', "-" }, { "ml", '2', "*" },
	{ "mm", 'k', "--" }, { "na", 'n', "new[]" }, { "ne", '2', "!=" },
	{ "ng", '1', "-" }, { "nt", '1', "!" }, { "nw", 'n', "new" },
	{ "nx", '1', "noexcept" }, { "oR", '2', "|=" }, { "oo", '2', "||" },
	{ "or", '2', "|" }, { "pL", '2', "+=" }, { "pl", '2', "+" },
	{ "pm", '2', "->*" }, { "pp", 'k', "++" }, { "ps", '1', "+" },
	{ "pt", 'm', "->" }, { "qu", '3', "?" }, { "rM", '2', "%=" },
	{ "rS", '2', ">>=" }, { "rc", 'a', "reinterpret_cast" },
	{ "rm", '2', "%" }, { "rs", '2', ">>" }, { "sP", 's', "sizeof..." },
	{ "sZ", 'f', "sizeof..." }, { "sc", 'a', "static_cast" },
	{ "ss", '2', "<=>" }, { "st", 't', "sizeof " }, { "sz", '1', "sizeof " },
	{ "te", '1', "typeid " }, { "ti", 't', "typeid " },
	{ "tr", '0', "throw" }, { "tw", '1', "throw " },
};

enum { OPERATORS = COUNT(operators) };

static int code_of(const struct cxx_operator *op)
{
	return op->code[0] << 8 | op->code[1];
}

const struct cxx_operator *cxx_operator_find(char c, char d)
{
	int want = (uint8_t)c << 8 | (uint8_t)d;
	size_t at;

	lower_bound(at, 0, OPERATORS, code_of(&operators[at]) < want);
	return at < OPERATORS && code_of(&operators[at]) == want
		       ? &operators[at] : NULL;
}

const struct cxx_operator *cxx_operator_at(uint32_t i)
{
	return &operators[i < OPERATORS ? i : 0];
}

uint32_t cxx_operator_index(const struct cxx_operator *op)
{
	return (uint32_t)(op - operators);
}

uint32_t cxx_node(struct cxx *p, enum cxx_kind kind, uint32_t a, uint32_t b)
{
	return cxx_add(p, kind, a, b, 0,
		       cxx_flags(p, a, b) & CXX_F_PARAM);
}

uint32_t cxx_word(struct cxx *p, enum cxx_kind kind, const char *s, uint32_t c)
{
	uint32_t i = cxx_add(p, kind, 0, 0, c, 0);

	if (i) {
		p->v[i].s = s;
		p->v[i].n = (uint16_t)strlen(s);
	}
	return i;
}

uint32_t cxx_special(struct cxx *p, const char *s, uint32_t of)
{
	uint32_t i = cxx_word(p, CXX_SPECIAL, s, of);

	p->v[i].flags = p->v[of].flags & CXX_F_PARAM;
	return i;
}

uint32_t cxx_text(struct cxx *p, const char *s, const char *end)
{
	return cxx_add(p, CXX_TEXT, (uint32_t)(s - p->s), (uint32_t)(end - s),
		       0, 0);
}

void cxx_sub_add(struct cxx *p, uint32_t node)
{
	if (p->nsubs == p->max || !node)
		p->bad = true;
	else
		p->subs[p->nsubs++] = node;
}

void cxx_list_add(struct cxx *p, struct cxx_list *l, uint32_t item)
{
	uint32_t i = cxx_node(p, CXX_LIST, item, 0);

	if (!l->first)
		l->first = i;
	else
		p->v[l->last].b = i;
	l->last = i;
	/* the head of a list holds the flags of its parts */
	p->v[l->first].flags |= p->v[i].flags;
}

uint32_t cxx_number(struct cxx *p)
{
	uint32_t v = 0;

	if (!text_is_digit(cxx_peek(p)))
		return cxx_fail(p);
	while (text_is_digit(cxx_peek(p))) {
		if (v > 100000000)
			return cxx_fail(p);
		v = v * 10 + (uint32_t)(*p->p++ - '0');
	}
	return v;
}

uint32_t cxx_number_end(struct cxx *p)
{
	uint32_t v = 0;

	if (cxx_peek(p) != '_')
		v = cxx_number(p) + 1;
	cxx_expect(p, '_');
	return v;
}

uint32_t cxx_base36(struct cxx *p)
{
	uint32_t v = 0;

	do {
		char c = cxx_peek(p);

		if (v > 10000000 ||
		    !(text_is_digit(c) || (c >= 'A' && c <= 'Z')))
			return cxx_fail(p);
		v = v * 36 + (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
		p->p++;
	} while (cxx_peek(p) && cxx_peek(p) != '_');
	return v + 1;
}

bool cxx_grow(struct cxx *p, uint32_t n)
{
	struct buf *b = p->out;
	size_t start = b->n, room;

	if (n > CXX_OUT_MAX - p->at) {
		p->bad = true;
		return false;
	}
	room = p->at + n < 256 ? 256 : p->at + n;
	if (!buf_room(b, room)) {
		p->bad = true;
		return false;
	}
	p->text = b->p + start;
	room = b->cap - start;
	p->room = room < CXX_OUT_MAX ? (uint32_t)room : CXX_OUT_MAX;
	return true;
}

void cxx_put_number(struct cxx *p, uint32_t v)
{
	char text[12];
	int i = sizeof(text);

	do
		text[--i] = (char)('0' + v % 10);
	while (v /= 10);
	cxx_put(p, text + i, (uint32_t)sizeof(text) - (uint32_t)i);
}

/* Returns item i of a pack, 0 if none.  The parameter remembers its
 * position. */
static uint32_t pack_item(struct cxx *p, struct cxx_node *param, uint32_t pack,
			  uint32_t i)
{
	if (param->a != pack || !param->b || param->text > i) {
		param->a = pack;
		param->b = p->v[pack].a;
		param->text = 0;
	}
	for (; param->b && param->text < i; param->text++)
		param->b = p->v[param->b].b;
	return p->v[param->b].a;
}

/* Returns argument i of the template that is being written; 0 if it has
 * none. */
static uint32_t argument(struct cxx *p, uint32_t i)
{
	uint32_t at = p->args;

	if (i > p->max) {
		p->bad = true;
		return 0;
	}
	p->steps += i / 8;
	for (; at && i; i--)
		at = p->v[at].b;
	return p->v[at].a;
}

uint32_t cxx_resolve(struct cxx *p, uint32_t id)
{
	int most = 64;

	while (p->v[id].kind == CXX_PARAM && !p->in_lambda) {
		struct cxx_node *v = &p->v[id];

		if (!most--)
			return cxx_fail(p);
		id = argument(p, v->c);
		if (p->v[id].kind == CXX_PACK && p->index >= 0)
			id = pack_item(p, v, id, (uint32_t)p->index);
		if (!id)
			return cxx_fail(p);
	}
	return id;
}

uint32_t cxx_pack_length(const struct cxx *p, uint32_t pack)
{
	uint32_t n = 0, i;

	for (i = p->v[pack].a; i; i = p->v[i].b)
		n++;
	return n;
}

/* Returns a mask of the parts of a node that are nodes: a, b, c. */
static unsigned parts_of(const struct cxx_node *v)
{
	switch (v->kind) {
	case CXX_SPECIAL:
		return 4;
	case CXX_FUNCTION: case CXX_TERNARY: case CXX_DESIGNATED:
	case CXX_SUBOBJECT:
		return 7;
	case CXX_LAMBDA: case CXX_EXPANSION: case CXX_BOUND:
		return 0;
	}
	return 3;
}

uint32_t cxx_pack_of(struct cxx *p, uint32_t id)
{
	const struct cxx_node *v = &p->v[id];
	uint32_t found = 0, i;
	unsigned parts;

	if (!(v->flags & CXX_F_PARAM) || !cxx_begin(p))
		return 0;
	if (v->kind == CXX_PARAM) {
		i = p->in_lambda ? 0 : argument(p, v->c);
		found = p->v[i].kind == CXX_PACK ? i : 0;
	} else if (v->kind == CXX_LIST) {
		for (; id && !found; id = p->v[id].b)
			found = cxx_pack_of(p, p->v[id].a);
	} else {
		parts = parts_of(v);
		if (parts & 1)
			found = cxx_pack_of(p, v->a);
		if (!found && parts & 2)
			found = cxx_pack_of(p, v->b);
		if (!found && parts & 4)
			found = cxx_pack_of(p, v->c);
	}
	p->depth--;
	return found;
}
