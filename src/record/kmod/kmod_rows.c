// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends the kernel module the rows to unwind stacks that it has copied. */
#include "record/kmod/kmod_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "record/source/mapset.h"
#include "unwind/rows.h"

enum {
	TRIED = 1 << 14,
	FORESEEN_MAX = KMOD_SPACES / 2,
	COPIES_FEW = 2,		/* in a round */
	RESETS_MAX = 8,		/* afterwards the tables stay as they are, and no more
				 * are sent */
};

/* A word of the rows found by walks. */
struct learned {
	uint32_t page, word;
	uint16_t low;
};

struct kmod_table {
	uint32_t image;
	struct tally_table head;
	uint8_t *brought;		/* by page: parts already sent (rows.h) */
	VEC(struct learned) learned;
};

struct space_map {
	uint64_t start, end, delta;
	uint32_t image;
};

struct kmod_space {
	uint32_t generation;		/* 0: empty */
	uint32_t maps_generation;	/* of mapset.h */
	VEC(struct space_map) maps;
};

/* The last data sent for a process.  If another process has replaced it here, the
 * data is only sent again. */
struct kmod_process {
	uint32_t pid;
	uint32_t maps_generation;
	size_t tables;
	uint64_t sent_ns;
};

static struct kmod_rows *of(struct source_rows *r)
{
	return (struct kmod_rows *)r;
}

static int call(struct kmod_rows *r, unsigned long cmd, void *arg)
{
	r->sent++;
	return r->send(r->ctx, cmd, arg);
}

static bool no_room(int e)
{
	return e == ENOMEM || e == ENOSPC;
}

static void space_end(struct kmod_rows *r, struct kmod_space *s)
{
	struct tally_space u = { .size = sizeof(u),
				 .generation = s->generation };

	if (s->generation)
		call(r, TALLY_IOC_SPACE, &u);
	s->generation = 0;
	s->maps.n = 0;
}

static void table_end(struct kmod_rows *r, uint32_t id)
{
	struct tally_table u = { .size = sizeof(u), .id = id };

	call(r, TALLY_IOC_TABLE, &u);
	free(r->tables.v[id].brought);
	vec_fini(&r->tables.v[id].learned);
}

/* Starts over with what is needed now, because the module has no room left. */
static void reset(struct kmod_rows *r)
{
	if (r->resets >= RESETS_MAX)
		return;
	r->resets++;
	for (size_t i = 0; i < KMOD_SPACES; i++)
		space_end(r, &r->spaces[i]);
	for (size_t i = 0; i < r->tables.n; i++)
		table_end(r, (uint32_t)i);
	r->tables.n = r->table_of.n = 0;
	memset(r->tried, 0, TRIED * sizeof(*r->tried));
	memset(r->processes, 0, KMOD_SPACES * sizeof(*r->processes));
}

static uint32_t known_table(const struct kmod_rows *r, uint32_t image)
{
	return image < r->table_of.n ? r->table_of.v[image] : 0;
}

static int note_table(struct kmod_rows *r, uint32_t image, uint32_t number)
{
	while (r->table_of.n <= image)
		if (vec_push(&r->table_of, 0) < 0)
			return -1;
	r->table_of.v[image] = number + 1;
	return 0;
}

/* Returns the module's table of an image, sent now if necessary; NULL: none. */
static struct kmod_table *table_of(struct kmod_rows *r, uint32_t image,
				   const struct unwind_table *t)
{
	uint32_t known = known_table(r, image);
	struct kmod_table k = { .image = image };

	if (known)
		return &r->tables.v[known - 1];
	if (!unwind_rows_table(t, &k.head) || r->tables.n >= TALLY_TABLES_MAX)
		return NULL;
	k.head.id = (uint32_t)r->tables.n;
	k.brought = calloc(k.head.pages, 1);
	if (!k.brought || vec_push(&r->tables, k) < 0) {
		free(k.brought);
		return NULL;
	}
	if (note_table(r, image, k.head.id) < 0 ||
	    call(r, TALLY_IOC_TABLE, &k.head) < 0) {
		if (image < r->table_of.n)
			r->table_of.v[image] = 0;
		free(k.brought);
		r->tables.n--;
		return NULL;
	}
	return &r->tables.v[k.head.id];
}

static int send_page(struct kmod_rows *r, const struct kmod_table *k,
		     uint32_t page, struct unwind_rows *rows)
{
	size_t n = rows->starts.n;
	struct tally_page u = {
		.size = sizeof(u), .table = k->head.id, .page = page,
		.nrows = (uint32_t)n, .nwords = (uint32_t)rows->words.n,
		.nrules = (uint32_t)rows->rules.n,
		.words = (uintptr_t)rows->words.v,
		.rules = (uintptr_t)rows->rules.v,
	};

	if (vec_reserve(&rows->starts, 2 * n) < 0)
		return -1;
	memcpy(rows->starts.v + n, rows->word.v, n * sizeof(*rows->word.v));
	u.rows = (uintptr_t)rows->starts.v;
	return call(r, TALLY_IOC_PAGE, &u);
}

/* Makes the rows of parts of a page, including all that was learned about them. */
static int make_page(const struct kmod_table *k, struct unwind_table *t,
		     uint32_t page, uint8_t *parts, struct unwind_rows *rows)
{
	int rc = unwind_rows_make(t, page, parts, rows);

	for (size_t i = 0; i < k->learned.n && !rc; i++)
		if (k->learned.v[i].page == page)
			rc = unwind_rows_set(rows, k->learned.v[i].low,
					     k->learned.v[i].word);
	return rc;
}

/* Sends a page with the parts that were sent before and the one at `low`. */
static int bring_page(struct kmod_rows *r, struct kmod_table *k,
		      struct unwind_table *t, uint32_t page, uint16_t low)
{
	uint8_t parts = k->brought[page] | (uint8_t)unwind_rows_part(low);
	struct unwind_rows rows = { 0 };
	int rc = make_page(k, t, page, &parts, &rows) ?:
		 send_page(r, k, page, &rows);

	unwind_rows_free(&rows);
	if (rc >= 0)
		k->brought[page] = parts;
	return rc;
}

/* The location of code: its image's table and page, both in the module. */
struct place {
	struct unwind_table *t;
	struct kmod_table *k;
	uint32_t page;
	uint16_t low;
};

static bool place_of(struct kmod_rows *r, const struct walked_stack *w,
		     uint64_t pc, struct place *p)
{
	const struct map *m = mapset_find(w->maps, pc);
	uint64_t at;

	if (!m)
		return false;
	p->t = w->table(w->ctx, m->image);
	p->k = p->t ? table_of(r, m->image, p->t) : NULL;
	if (!p->k)
		return false;
	at = pc + m->delta;
	p->low = (uint16_t)at;
	at = (at - p->k->head.base) >> TALLY_PAGE_BITS;
	p->page = (uint32_t)at;
	return at < p->k->head.pages;
}

static bool is_brought(const struct place *p)
{
	return p->k->brought[p->page] & unwind_rows_part(p->low);
}

/* Returns whether this address of an image appears for the first time, as far as is
 * known. */
static bool is_new(struct kmod_rows *r, const struct place *p)
{
	uint64_t key = hash_u64((uint64_t)p->k->head.id << 40 ^
				(uint64_t)p->page << 16 ^ p->low) | 1;
	uint64_t *slot = &r->tried[key >> 1 & (TRIED - 1)];

	if (*slot == key)
		return false;
	*slot = key;
	return true;
}

/* Returns the word that the rows of a place have, or would have. */
static uint32_t word_of(const struct place *p)
{
	const struct kmod_table *k = p->k;

	for (size_t i = k->learned.n; i-- > 0;)
		if (k->learned.v[i].page == p->page && k->learned.v[i].low == p->low)
			return k->learned.v[i].word;
	return unwind_rows_word(p->t, k->head.base +
				((uint64_t)p->page << TALLY_PAGE_BITS) + p->low);
}

/* Learns from the walk about a frame for which the rows have no word. */
static int learn(struct kmod_rows *r, const struct walked_stack *w, size_t i)
{
	struct learned l = { 0, 0, 0 };
	struct place p;
	uint64_t at;
	uint32_t now;

	if (!place_of(r, w, w->frames->pc[i], &p) || !is_new(r, &p))
		return 0;
	l.word = unwind_rows_learned(w->cache, w->maps->generation, w->frames,
				     i, &at);
	if (l.word == TALLY_ROW_NONE || !place_of(r, w, at, &p))
		return 0;
	now = word_of(&p);
	if (now == TALLY_ROW_END || now == l.word ||
	    ((l.word & 7) != TALLY_ROW_BEGIN && now != TALLY_ROW_NONE))
		return 0;
	l.page = p.page;
	l.low = p.low;
	if (vec_push(&p.k->learned, l) < 0)
		return 0;
	return bring_page(r, p.k, p.t, p.page, p.low);
}

/* Collects the mappings of all images for which the module has tables. */
static int collect_maps(struct kmod_rows *r, const struct mapset *maps,
			struct kmod_space *s)
{
	s->maps.n = 0;
	for (size_t i = 0; i < maps->maps.n; i++) {
		const struct map *m = &maps->maps.v[i];
		struct space_map to = { m->start, m->end, m->delta, m->image };

		if (!known_table(r, m->image) || s->maps.n >= TALLY_MAPS_MAX)
			continue;
		if (vec_push(&s->maps, to) < 0)
			return -1;
	}
	return 0;
}

static int send_space(struct kmod_rows *r, uint32_t tid, struct kmod_space *s)
{
	struct tally_space u = { .size = sizeof(u), .pid = tid,
				 .generation = s->generation,
				 .n = (uint32_t)s->maps.n };
	struct tally_map *maps = calloc(s->maps.n, sizeof(*maps));
	int rc = -1;

	if (!maps)
		return rc;
	for (size_t i = 0; i < s->maps.n; i++) {
		const struct space_map *m = &s->maps.v[i];

		maps[i] = (struct tally_map){
			m->start, m->end, m->delta,
			known_table(r, m->image) - 1, 0,
		};
	}
	u.maps = (uintptr_t)maps;
	rc = call(r, TALLY_IOC_SPACE, &u);
	free(maps);
	return rc;
}

/* Returns whether the module may know less of the process than the recorder.  A
 * sample taken before the last space was sent proves nothing.  Nor does a missing map
 * if the module has everything that the recorder has. */
static bool wants_space(const struct kmod_rows *r, uint32_t why,
			uint64_t taken_ns, const struct walked_stack *w)
{
	const struct kmod_process *p = &r->processes[w->pid % KMOD_SPACES];

	if (p->pid != w->pid)
		return true;
	if (p->sent_ns >= taken_ns)
		return false;
	return why == TALLY_WALK_NO_SPACE || p->tables != r->tables.n ||
	       p->maps_generation != w->maps->generation;
}

static int bring_space(struct kmod_rows *r, uint32_t pid, uint32_t tid,
		       const struct mapset *maps)
{
	struct kmod_space *s;

	r->processes[pid % KMOD_SPACES] = (struct kmod_process){
		pid, maps->generation, r->tables.n, r->now(),
	};
	if (!++r->generation)
		r->generation++;
	s = &r->spaces[r->generation % KMOD_SPACES];
	space_end(r, s);
	s->generation = r->generation;
	s->maps_generation = maps->generation;
	if (collect_maps(r, maps, s) < 0 || !s->maps.n ||
	    send_space(r, tid, s) < 0) {
		s->generation = 0;
		return s->maps.n ? -1 : 0;
	}
	return 0;
}

/* Sends the mappings of a process if its program is known, which is mapped below its
 * libraries.  Without room for more, those of other processes stay. */
static void foresee(struct source_rows *base, uint32_t pid,
		    const struct mapset *maps)
{
	struct kmod_rows *r = of(base);

	if (r->foreseen >= FORESEEN_MAX || r->processes[pid % KMOD_SPACES].pid ||
	    !maps->maps.n || !known_table(r, maps->maps.v[0].image))
		return;
	r->foreseen++;
	if (bring_space(r, pid, pid, maps) < 0 && no_room(errno))
		r->foreseen = FORESEEN_MAX;
}

/* Sends what the module lacks of the code of a stack.  Returns whether that was anything,
 * or -1. */
static int bring_pages(struct kmod_rows *r, const struct walked_stack *w)
{
	int brought = 0;

	for (size_t i = 0; i < w->frames->n; i++) {
		struct place p;

		if (!place_of(r, w, w->frames->pc[i], &p) || is_brought(&p))
			continue;
		if (bring_page(r, p.k, p.t, p.page, p.low) < 0)
			return -1;
		brought = 1;
	}
	return brought;
}

static bool same(struct source_rows *base, uint32_t space, struct mapset *maps,
		 const uint64_t *pc, size_t n);

/* Only stacks that the copy allowed to unwind completely are compared. */
static void verify(struct kmod_rows *r, const struct walked_stack *w)
{
	const struct unwind_stack *ours = w->frames;

	if (ours->end != UNWIND_COMPLETE || ours->guessed ||
	    !same(&r->base, w->space, w->maps, w->theirs, w->ntheirs))
		return;
	r->verified++;
	r->differing += ours->n != w->ntheirs ||
			memcmp(ours->pc, w->theirs, ours->n * sizeof(*ours->pc));
}

static void walked(struct source_rows *base, uint32_t why, uint64_t taken_ns,
		   const struct walked_stack *w)
{
	struct kmod_rows *r = of(base);
	int rc = 0;

	if (w->theirs)
		verify(r, w);
	r->copies += why != TALLY_WALK_COMPLETE;
	if (why == TALLY_WALK_COMPLETE || r->resets >= RESETS_MAX)
		return;
	/* Code of a page that is in a part without rows has no words, either. */
	if (why == TALLY_WALK_NO_SPACE || why == TALLY_WALK_NO_MAP ||
	    why == TALLY_WALK_NO_PAGE || why == TALLY_WALK_NO_WORD)
		rc = bring_pages(r, w);
	if (!rc && (why == TALLY_WALK_NO_WORD || why == TALLY_WALK_NO_CALL))
		for (size_t i = 0; i < w->frames->n && !rc; i++)
			rc = learn(r, w, i);
	/* More may be mapped now than the module knows. */
	if (rc >= 0 && (why == TALLY_WALK_NO_SPACE || why == TALLY_WALK_NO_MAP) &&
	    wants_space(r, why, taken_ns, w))
		rc = bring_space(r, w->pid, w->tid, w->maps);
	if (rc < 0 && no_room(errno))
		reset(r);
	base->foresees = r->foreseen_tables != r->tables.n;
	r->foreseen_tables = r->tables.n;
}

bool kmod_rows_round(struct kmod_rows *r)
{
	bool soon = r->sent != r->answered && r->copies > COPIES_FEW;

	r->answered = r->sent;
	r->copies = 0;
	return soon;
}

static const struct space_map *map_at(const struct kmod_space *s, uint64_t pc)
{
	for (size_t i = 0; i < s->maps.n; i++)
		if (pc >= s->maps.v[i].start && pc < s->maps.v[i].end)
			return &s->maps.v[i];
	return NULL;
}

static bool same(struct source_rows *base, uint32_t space, struct mapset *maps,
		 const uint64_t *pc, size_t n)
{
	const struct kmod_space *s = &of(base)->spaces[space % KMOD_SPACES];

	if (!space || s->generation != space)
		return false;
	if (s->maps_generation == maps->generation)
		return true;
	for (size_t i = 0; i < n; i++) {
		const struct map *now = mapset_find(maps, pc[i]);
		const struct space_map *then = map_at(s, pc[i]);

		if (!now || !then || now->image != then->image ||
		    now->delta != then->delta)
			return false;
	}
	return true;
}

int kmod_rows_init(struct kmod_rows *r, kmod_send *send, uint64_t (*now)(void),
		   void *ctx)
{
	*r = (struct kmod_rows){ .base = { .walked = walked, .same = same,
					   .foresee = foresee }, .send = send,
				 .ctx = ctx, .now = now };
	r->processes = calloc(KMOD_SPACES, sizeof(*r->processes));
	r->spaces = calloc(KMOD_SPACES, sizeof(*r->spaces));
	r->tried = calloc(TRIED, sizeof(*r->tried));
	if (r->spaces && r->tried && r->processes)
		return 0;
	kmod_rows_fini(r);
	return -ERR_NOMEM;
}

void kmod_rows_fini(struct kmod_rows *r)
{
	for (size_t i = 0; r->spaces && i < KMOD_SPACES; i++)
		vec_fini(&r->spaces[i].maps);
	for (size_t i = 0; i < r->tables.n; i++) {
		free(r->tables.v[i].brought);
		vec_fini(&r->tables.v[i].learned);
	}
	vec_fini(&r->tables);
	vec_fini(&r->table_of);
	free(r->spaces);
	free(r->tried);
	free(r->processes);
	*r = (struct kmod_rows){ 0 };
}
