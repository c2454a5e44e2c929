// SPDX-License-Identifier: GPL-2.0-or-later
/* Nodes into text: the text itself, parameters and packs, lists. */
#include "symbolize/demangle/demangle_cxx.h"

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

bool cxx_begin(struct cxx *p)
{
	if (p->bad || p->depth >= CXX_DEPTH_MAX ||
	    ++p->steps > CXX_STEPS_MAX) {
		p->bad = true;
		return false;
	}
	p->depth++;
	return true;
}

/* Item i of a pack, 0 if none; the parameter remembers where it was. */
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

/* Argument i of the template that is being written, 0 if it has none. */
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

/* What a parameter stands for here; 0 and bad where for nothing. */
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

/* Which parts of a node are nodes: a, b, c. */
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

/* The first pack inside that is to be expanded, 0 if none. */
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

/* One more of a list whose text starts at `start`. */
void cxx_print_item(struct cxx *p, uint32_t id, uint32_t start)
{
	uint32_t before = p->at, mid;

	if (before != start)
		CXX_PUTS(p, ", ");
	mid = p->at;
	cxx_print(p, id);
	if (p->at == mid && mid != before)	/* an empty pack */
		p->at = p->cut = before;
}

void cxx_print_list(struct cxx *p, uint32_t list)
{
	uint32_t start = p->at;

	for (; list && !p->bad; list = p->v[list].b)
		cxx_print_item(p, p->v[list].a, start);
}

void cxx_print_around(struct cxx *p, const char *before, uint32_t id,
		      const char *after)
{
	cxx_put(p, before, (uint32_t)strlen(before));
	cxx_print(p, id);
	cxx_put(p, after, (uint32_t)strlen(after));
}

void cxx_print_args(struct cxx *p, uint32_t list)
{
	if (cxx_last_char(p) == '<')
		CXX_PUTS(p, " ");
	CXX_PUTS(p, "<");
	cxx_print_list(p, list);
	if (cxx_last_char(p) == '>')
		CXX_PUTS(p, " ");
	CXX_PUTS(p, ">");
}

static void print_whole(struct cxx *p, uint32_t id, const struct cxx_node *v)
{
	if (v->kind == CXX_TEXT)
		cxx_put(p, p->s + v->a, v->b);
	else if (v->kind == CXX_WORD || v->kind == CXX_BUILTIN)
		cxx_put(p, v->s, v->n);
	else if (cxx_is_declarator(v)) {
		cxx_print_declarator(p, v);
	} else if (v->kind == CXX_PARAM && !p->in_lambda)
		cxx_print(p, cxx_resolve(p, id));
	else if (!cxx_print_name(p, v) && !cxx_print_type(p, v) &&
		 !cxx_print_expression(p, v) && id)
		p->bad = true;
}

/* A node that was written already is copied from there. */
void cxx_print(struct cxx *p, uint32_t id)
{
	struct cxx_node *v = &p->v[id];
	uint32_t start = p->at;

	if (v->len && !p->bad) {
		if (v->len > p->room - p->at && !cxx_grow(p, v->len))
			return;
		memcpy(p->text + p->at, p->text + v->text, v->len);
		p->at += v->len;
		return;
	}
	if (!id || !cxx_begin(p))
		return;
	print_whole(p, id, v);
	p->depth--;
	if (!(v->flags & CXX_F_PARAM)) {
		v->text = start;
		v->len = p->at - start;
	}
}
