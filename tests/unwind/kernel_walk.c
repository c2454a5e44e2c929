// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel_walk.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b)
{
	const struct walk_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct kernel_table *table_of(struct kernel_side *k,
				     struct unwind_table *from)
{
	for (size_t i = 0; i < k->tables.n; i++)
		if (k->tables.v[i].from == from)
			return &k->tables.v[i];
	return NULL;
}

static void add_table(struct kernel_side *k, struct unwind_table *from)
{
	struct kernel_table t = { .from = from };
	struct tally_table head;

	if (!from || table_of(k, from) || !unwind_rows_table(from, &head))
		return;
	t.table.base = head.base;
	t.table.pages = head.pages;
	t.table.flags = head.flags;
	t.table.page = calloc(head.pages, sizeof(*t.table.page));
	t.page = calloc(head.pages, sizeof(*t.page));
	t.rows = calloc(head.pages, sizeof(*t.rows));
	if (!t.table.page || !t.page || !t.rows ||
	    vec_push(&k->tables, t) < 0)
		abort();
}

void kernel_side_open(struct kernel_side *k, const struct unwind_code *code,
		      size_t n)
{
	memset(k, 0, sizeof(*k));
	for (size_t i = 0; i < n; i++)
		add_table(k, code[i].table);
	for (size_t i = 0; i < n; i++) {
		struct kernel_table *t = table_of(k, code[i].table);

		if (vec_push(&k->maps, (struct walk_map){
			     code[i].start, code[i].end, code[i].delta,
			     t ? &t->table : NULL }) < 0)
			abort();
	}
	if (k->maps.n)
		qsort(k->maps.v, k->maps.n, sizeof(*k->maps.v), by_address);
}

void kernel_side_close(struct kernel_side *k)
{
	for (size_t i = 0; i < k->tables.n; i++) {
		struct kernel_table *t = &k->tables.v[i];

		for (uint32_t p = 0; p < t->table.pages; p++)
			unwind_rows_free(&t->rows[p]);
		free(t->table.page);
		free(t->page);
		free(t->rows);
	}
	vec_fini(&k->tables);
	vec_fini(&k->maps);
}

static void publish(struct kernel_side *k, struct kernel_table *t, uint32_t n)
{
	struct unwind_rows *r = &t->rows[n];
	struct walk_page *p = &t->page[n];

	*p = (struct walk_page){
		(uint32_t)r->starts.n, (uint32_t)r->words.n,
		(uint32_t)r->rules.n, r->starts.v, r->word.v, r->words.v,
		r->rules.v,
	};
	k->pages++;
	if (walk_page_check(p))
		t->table.page[n] = p;
	else
		k->refused++;
}

/* NULL: there is no page for it. */
static struct kernel_table *find(struct kernel_side *k, uint64_t pc,
				 uint32_t *page, uint16_t *low)
{
	for (size_t i = 0; i < k->maps.n; i++) {
		const struct walk_map *m = &k->maps.v[i];
		uint64_t at = pc + m->delta;

		if (pc < m->start || pc >= m->end || !m->table)
			continue;
		*low = (uint16_t)at;
		at = (at - m->table->base) >> TALLY_PAGE_BITS;
		*page = (uint32_t)at;
		if (at >= m->table->pages)
			return NULL;
		for (size_t t = 0; t < k->tables.n; t++)
			if (&k->tables.v[t].table == m->table)
				return &k->tables.v[t];
	}
	return NULL;
}

static void teach_frame(struct kernel_side *k, const struct unwind_cache *c,
			uint32_t generation, const struct unwind_stack *s,
			size_t i)
{
	uint8_t parts = UINT8_MAX;
	uint32_t page, word;
	uint64_t at;
	uint16_t low;
	struct kernel_table *t = find(k, s->pc[i], &page, &low);

	if (!t)
		return;
	if (!t->page[page].nrows) {
		if (unwind_rows_make(t->from, page, &parts,
				     &t->rows[page]) < 0)
			return;
		publish(k, t, page);
	}
	word = unwind_rows_learned(c, generation, s, i, &at);
	t = find(k, at, &page, &low);
	if (word == TALLY_ROW_NONE || !t || !t->page[page].nrows)
		return;
	if ((word & 7) != TALLY_ROW_BEGIN &&
	    unwind_rows_get(&t->rows[page], low) != TALLY_ROW_NONE)
		return;
	if (unwind_rows_get(&t->rows[page], low) == word ||
	    unwind_rows_get(&t->rows[page], low) == TALLY_ROW_END)
		return;
	if (unwind_rows_set(&t->rows[page], low, word) < 0)
		abort();
	publish(k, t, page);
}

void kernel_side_teach(struct kernel_side *k, const struct unwind_cache *c,
		       uint32_t generation, const struct unwind_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		teach_frame(k, c, generation, s, i);
}
