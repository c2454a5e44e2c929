// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the profile model's tables and interning: see model.h. */
#include "profile/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/format.h"

int profile_init_in(struct profile *p, struct strpool *pool)
{
	struct prof_node root = { .parent = 0, .loc = PROF_NONE };

	memset(p, 0, sizeof(*p));
	if (strtab_init_in(&p->str, pool) < 0 ||
	    strtab_add(&p->str, "[damaged]") != PROF_STR_DAMAGED ||
	    vec_push(&p->nodes, root) < 0) {
		profile_fini(p);
		return -ERR_NOMEM;
	}
	return 0;
}

int profile_init(struct profile *p)
{
	return profile_init_in(p, NULL);
}

void profile_drop_symbols(struct profile *p)
{
	for (size_t i = 0; i < format_ntables; i++)
		if (format_tables[i].symbols)
			table_clear(p, &format_tables[i]);
	table_clear(p, &code_table);
	table_clear(p, &text_table);
	buf_fini(&p->code_bytes);
	buf_fini(&p->text_bytes);
	idtab_fini(&p->func_tab);
	idtab_fini(&p->frame_tab);
	p->symbolized = false;
}

void profile_move_symbols(struct profile *from, struct profile *to)
{
	for (size_t i = 0; i < format_ntables; i++)
		if (format_tables[i].symbols)
			table_move(from, to, &format_tables[i]);
	table_move(from, to, &code_table);
	table_move(from, to, &text_table);
	to->code_bytes = from->code_bytes;
	to->text_bytes = from->text_bytes;
	from->code_bytes = from->text_bytes = (struct buf){ 0 };
}

void profile_fini(struct profile *p)
{
	profile_drop_symbols(p);
	for (size_t i = 0; i < format_ntables; i++)
		table_clear(p, &format_tables[i]);
	strtab_fini(&p->str);
	vec_fini(&p->code_from);
	u64map_fini(&p->end_tab);
	profile_end_lookup(p);
}

bool profile_charge(struct profile *p, uint64_t bytes)
{
	struct prof_memory *m = &p->memory;

	if (m->limit && (bytes > m->limit || m->used > m->limit - bytes)) {
		m->exceeded = true;
		return false;
	}
	m->used += bytes;
	return true;
}

void profile_uncharge(struct profile *p, uint64_t bytes)
{
	p->memory.used -= bytes;
}

int profile_reserve_raw(struct profile *p, void *vec_ptr, size_t *cap,
			size_t want, size_t size)
{
	size_t room = vec_capacity(*cap, want);

	if (room > SIZE_MAX / size ||
	    !profile_charge(p, (uint64_t)(room - *cap) * size))
		return -ERR_NOMEM;
	return vec_reserve_raw(vec_ptr, cap, want, size);
}

int profile_begin_symbols(struct profile *p)
{
	if (p->symbolized && strtab_truncate(&p->str, p->str_base) < 0)
		return -ERR_NOMEM;
	profile_drop_symbols(p);
	p->str_base = p->str.str.n;
	p->symbolized = true;
	for (size_t i = 0; i < p->images.n; i++) {
		p->images.v[i].debug_file = 0;
		p->images.v[i].note = 0;
	}
	return 0;
}

uint32_t profile_str(struct profile *p, const char *s)
{
	return strtab_add(&p->str, s);
}

const struct image_debug_info *profile_source(const struct profile *p,
					      uint32_t image)
{
	for (size_t i = p->sources.n; i-- > 0;)
		if (p->sources.v[i].image == image)
			return &p->sources.v[i];
	return NULL;
}

static uint64_t loc_hash(const struct prof_loc *l)
{
	return hash_mix(l->vaddr, l->image);
}

static bool loc_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct profile *p = ctx;
	const struct prof_loc *k = key;

	return p->locs.v[id].vaddr == k->vaddr &&
	       p->locs.v[id].image == k->image;
}

uint32_t profile_loc(struct profile *p, uint32_t image, uint64_t vaddr)
{
	struct prof_loc l = { image, vaddr };
	uint64_t h = loc_hash(&l);

	return p->locs.n < PROF_MARK
		? idtab_row(&p->loc_tab, &p->locs, h, loc_eq, p, &l)
		: idtab_find(&p->loc_tab, h, loc_eq, p, &l);
}

void profile_keep_nodes(struct profile *p, size_t n)
{
	enum { NEXT_PER_KEPT = 4 };

	p->nodes_kept = n;
	free(p->next_loc);
	p->next_kept = n * NEXT_PER_KEPT;
	p->next_loc = n ? calloc(p->next_kept, sizeof(*p->next_loc)) : NULL;
}

void profile_nodes_written(struct profile *p)
{
	if (!p->nodes_kept)
		return;
	for (size_t i = 0; p->next_loc && i < p->nodes.n; i++) {
		size_t id = p->nodes_gone + i;
		const struct prof_node *node = &p->nodes.v[i];

		p->next_loc[id % p->next_kept] =
			node->parent + 1 == id ? node->loc : PROF_NONE;
	}
	p->nodes_gone += p->nodes.n;
	p->nodes_repeat |= !p->next_loc || p->nodes_gone > p->next_kept;
	p->nodes.n = 0;
}

void profile_threads_written(struct profile *p)
{
	p->threads_gone += p->threads.n;
	p->threads.n = 0;
}

/* Returns the id of the next node; PROF_NONE if there are too many. */
static uint32_t next_node(const struct profile *p)
{
	size_t id = p->nodes_gone + p->nodes.n;

	return id < PROF_MARK ? (uint32_t)id : PROF_NONE;
}

void profile_forget_nodes(struct profile *p)
{
	p->nodes_repeat |= next_node(p) > 1;
	p->nodes_from = next_node(p);
	u64map_clear(&p->node_tab);
	u64map_clear(&p->node_before);
}

void profile_end_lookup(struct profile *p)
{
	idtab_fini(&p->loc_tab);
	u64map_fini(&p->node_tab);
	u64map_fini(&p->node_before);
	free(p->next_loc);
	p->next_loc = NULL;
}

uint64_t profile_table_bytes(const struct profile *p)
{
	enum {
		LOC_MORE = 2 * sizeof(struct idtab_slot) + 28,	/* found by address, sorted
							 * with its samples, named */
		STR_MORE = 64,
	};

	return p->str.str.n * (sizeof(*p->str.str.v) + STR_MORE) +
	       (p->threads_gone + p->threads.n) * sizeof(*p->threads.v) +
	       p->images.n * sizeof(*p->images.v) +
	       p->locs.n * (sizeof(*p->locs.v) + LOC_MORE) +
	       (p->nodes_gone + p->nodes.n) * sizeof(*p->nodes.v) +
	       p->funcs.n * sizeof(*p->funcs.v) +
	       p->frames.n * sizeof(*p->frames.v) +
	       p->symbols.n * sizeof(*p->symbols.v) +
	       p->lines.n * sizeof(*p->lines.v) + p->code_bytes.n;
}

/* Keeps the recently used half of the nodes and forgets the rest. */
static void forget_nodes(struct profile *p)
{
	struct u64map before = p->node_before;

	p->nodes_repeat |= before.n > 0;
	p->node_before = p->node_tab;
	p->before_end = next_node(p);
	p->node_tab = before;
	u64map_clear(&p->node_tab);
}

/*
 * Whether the node after `parent` is its child at `loc`.  The nodes of a new stack are made
 * from the outermost one inwards, so most nodes have the number after their parent's.  They
 * are found without node_tab, and next to each other in memory.  The root is left out: its
 * marks are children, too.
 */
static bool is_next(const struct profile *p, uint32_t parent, uint32_t loc)
{
	size_t id = (size_t)parent + 1, row = id - p->nodes_gone;

	if (!parent || parent < p->nodes_from)
		return false;
	if (id >= p->nodes_gone)
		return row < p->nodes.n && p->nodes.v[row].parent == parent &&
		       p->nodes.v[row].loc == loc;
	return p->next_loc && id + p->next_kept >= p->nodes_gone &&
	       p->next_loc[id % p->next_kept] == loc;
}

uint32_t profile_node(struct profile *p, uint32_t parent, uint32_t loc)
{
	struct prof_node node = { parent, loc };
	uint64_t key = (uint64_t)parent << 32 | loc;
	uint32_t id = next_node(p), *slot;

	if (is_next(p, parent, loc))
		return parent + 1;
	if (parent && parent + 1 == id)		/* it has no child yet */
		return vec_push(&p->nodes, node) < 0 ? PROF_NONE : id;
	if (p->nodes_kept && p->node_tab.n >= p->nodes_kept / 2)
		forget_nodes(p);
	slot = u64map_slot(&p->node_tab, key);
	if (!slot)
		return PROF_NONE;
	/* Nodes that are newer than `before` have no children there. */
	if (*slot == U64MAP_NONE && p->node_before.n && parent < p->before_end)
		*slot = u64map_get(&p->node_before, key);
	if (*slot != U64MAP_NONE)
		return *slot;
	if (id == PROF_NONE || vec_push(&p->nodes, node) < 0)
		return PROF_NONE;
	return *slot = id;
}

uint32_t profile_end(struct profile *p, uint32_t mark, uint32_t reason,
		     uint32_t image)
{
	struct prof_node node = { 0, mark };
	struct prof_stack_end end = { next_node(p), reason, image };
	uint32_t *slot;

	slot = u64map_slot(&p->end_tab,
			   (uint64_t)image << 32 | (mark & 15) << 16 |
			   (reason & 0xffff));
	if (!slot)
		return PROF_NONE;
	if (*slot != U64MAP_NONE)
		return *slot;
	if (end.node == PROF_NONE || vec_reserve(&p->ends, p->ends.n + 1) < 0 ||
	    vec_push(&p->nodes, node) < 0)
		return PROF_NONE;
	if (reason != PROF_END_UNKNOWN || image != PROF_NONE)
		p->ends.v[p->ends.n++] = end;
	return *slot = end.node;
}

const char *prof_end_text(uint32_t reason)
{
	static const char *const text[PROF_END_REASONS] = {
		[PROF_END_UNKNOWN] = "callers missing",
		[PROF_END_NO_DATA] = "no unwind data",
		[PROF_END_BAD_MEMORY] = "bad memory",
		[PROF_END_BAD_RULE] = "bad unwind data",
		[PROF_END_NO_CODE] = "return address is not code",
		[PROF_END_NO_PROGRESS] = "no caller above",
		[PROF_END_LOST_REGISTER] = "register not saved",
		[PROF_END_TOO_DEEP] = "too deep",
		[PROF_END_NO_MEMORY] = "out of memory",
		[PROF_END_NO_REGISTERS] = "no registers",
		[PROF_END_NO_STACK] = "stack gone (exec) or not in memory",
		[PROF_END_CHANGED] = "changed before all was read",
		[PROF_END_GONE] = "the thread ended before all was read",
		[PROF_END_REFUSED] = "the program's memory may not be read",
		[PROF_END_UNREADABLE] = "no memory where callers should be",
		[PROF_END_INTERPRETER] = "the interpreter's frames are not known",
		[PROF_END_SENSELESS] = "read a moment later, led nowhere",
	};

	return text[reason < PROF_END_REASONS ? reason : PROF_END_UNKNOWN];
}

static uint64_t func_hash(const struct prof_func *f)
{
	return hash_mix(hash_mix((uint64_t)f->image << 32 | f->name, f->vaddr),
			(uint64_t)f->file << 32 | f->line);
}

static bool func_eq(const void *ctx, uint32_t id, const void *key)
{
	return prof_same_func(&((const struct profile *)ctx)->funcs.v[id], key);
}

uint32_t profile_func(struct profile *p, const struct prof_func *f)
{
	return idtab_row(&p->func_tab, &p->funcs, func_hash(f), func_eq, p, f);
}

static uint64_t frame_hash(const struct prof_frame *f)
{
	return hash_mix(hash_mix((uint64_t)f->func << 32 | f->outer, f->file),
			(uint64_t)f->line << 32 | f->column);
}

static bool frame_eq(const void *ctx, uint32_t id, const void *key)
{
	return prof_same_frame(&((const struct profile *)ctx)->frames.v[id],
			       key);
}

uint32_t profile_frame(struct profile *p, const struct prof_frame *f)
{
	return idtab_row(&p->frame_tab, &p->frames, frame_hash(f), frame_eq, p, f);
}

int profile_index_symbols(struct profile *p)
{
	int rc = 0;

	/* Of equal rows, which only a hostile file has, the first is
	 * registered. */
	for (size_t i = p->func_tab.n ? p->funcs.n : 0; !rc && i < p->funcs.n;
	     i++) {
		const struct prof_func *f = &p->funcs.v[i];
		uint64_t h = func_hash(f);

		if (idtab_find(&p->func_tab, h, func_eq, p, f) == IDTAB_NONE)
			rc = idtab_add(&p->func_tab, h, (uint32_t)i);
	}
	for (size_t i = p->frame_tab.n ? p->frames.n : 0;
	     !rc && i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		uint64_t h = frame_hash(f);

		if (idtab_find(&p->frame_tab, h, frame_eq, p, f) == IDTAB_NONE)
			rc = idtab_add(&p->frame_tab, h, (uint32_t)i);
	}
	return rc;
}

int profile_set_env(struct profile *p, uint32_t run, const char *key,
		    const char *value)
{
	struct prof_env e = { run, profile_str(p, key), profile_str(p, value) };

	if (e.key == UINT32_MAX || e.value == UINT32_MAX)
		return -ERR_NOMEM;
	return vec_push(&p->envs, e) < 0 ? -ERR_NOMEM : 0;
}

int profile_set_number(struct profile *p, uint32_t run, const char *key, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	return profile_set_env(p, run, key, text);
}

const char *profile_env(const struct profile *p, uint32_t run, const char *key)
{
	uint32_t k = strtab_find(&p->str, key);

	if (k == UINT32_MAX)
		return NULL;
	for (size_t i = p->envs.n; i-- > 0;)
		if (p->envs.v[i].run == run && p->envs.v[i].key == k)
			return profile_cstr(p, p->envs.v[i].value);
	return NULL;
}

const char *profile_fact(const struct profile *p, const char *key)
{
	const char *v = profile_env(p, PROF_NONE, key);

	return v ? v : "";
}

bool prof_same_event(const struct profile *p, const struct prof_event *a,
		     const struct profile *q, const struct prof_event *b)
{
	return !strcmp(prof_event_actual(p, a), prof_event_actual(q, b)) &&
	       a->unit == b->unit && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel;
}
