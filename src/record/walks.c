// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/walks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/symbolize.h"

enum {
	WALK_MAX = 1 << 12,	/* frames */
	TABLES_MAX = 512,	/* open at a time */
	LIVE_CHECK = 64,	/* bytes, or … */
	LIVE_FRAMES = 4,	/* … return addresses that must be as they were */
};
#define TABLE_BYTES_MAX (256ull << 20)
#define REACH (1ull << 63)	/* of a stack above its pointer */

enum table_state { TABLE_UNKNOWN, TABLE_OPEN, TABLE_NONE };

struct walk_table {
	struct unwind_table *table;
	enum table_state state;
	uint64_t used;		/* the last walk that asked for it */
};

/* One sample while it is walked. */
struct walk {
	struct walks *w;
	struct mapset *maps;
	uint32_t pid, tid;
	const struct record_copy *copy;
	const struct unwind_stack *out;
	enum { LIVE_UNTRIED, LIVE_GOOD, LIVE_BAD } live;
};

int walks_init(struct walks *w, struct images *im)
{
	memset(w, 0, sizeof(*w));
	w->images = im;
	w->pcs = malloc(WALK_MAX * sizeof(*w->pcs));
	w->sps = malloc(WALK_MAX * sizeof(*w->sps));
	if (!w->pcs || !w->sps || unwind_cache_new(&w->cache) < 0 ||
	    live_memory_init(&w->live) < 0) {
		walks_fini(w);
		return -ERR_NOMEM;
	}
	return 0;
}

void walks_fini(struct walks *w)
{
	for (size_t i = 0; i < w->tables.n; i++)
		if (w->tables.v[i].table)
			unwind_table_close(w->tables.v[i].table);
	vec_fini(&w->tables);
	if (w->cache)
		unwind_cache_free(w->cache);
	live_memory_fini(&w->live);
	free(w->pcs);
	free(w->sps);
	memset(w, 0, sizeof(*w));
}

static void table_drop(struct walks *w, struct walk_table *t)
{
	unwind_table_close(t->table);
	t->table = NULL;
	t->state = TABLE_UNKNOWN;
	w->open--;
}

/* Closes what was not used for longest.  The cache knows tables by their
 * place. */
static void tables_close(struct walks *w, size_t max)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < w->tables.n; i++)
		if (w->tables.v[i].table)
			bytes += unwind_table_stats(w->tables.v[i].table).bytes;
	if (w->open <= max && bytes <= TABLE_BYTES_MAX)
		return;
	unwind_cache_clear(w->cache);
	while (w->open && (w->open > max || bytes > TABLE_BYTES_MAX)) {
		struct walk_table *oldest = NULL;

		for (size_t i = 0; i < w->tables.n; i++) {
			struct walk_table *t = &w->tables.v[i];

			if (t->table && (!oldest || t->used < oldest->used))
				oldest = t;
		}
		bytes -= unwind_table_stats(oldest->table).bytes;
		table_drop(w, oldest);
	}
}

/* The call frame information of code that its image tells nothing of. */
static void add_debug(struct walks *w, struct unwind_table *t)
{
	struct image *debug = NULL;

	if (unwind_table_wants_debug(t))
		debug = symbolize_debug_file(unwind_table_image(t),
					     w->debug_dirs);
	if (debug)
		unwind_table_add_debug(t, debug);
}

static void table_open(struct walks *w, uint32_t image, struct walk_table *t)
{
	const struct recorded_image *r = &w->images->v.v[image];
	struct image *img;
	int fd = images_open_fd(w->images, image);

	t->state = TABLE_NONE;
	if (fd < 0)
		return;
	if (!image_open_fd(fd, r->path, &img, NULL) &&
	    !unwind_table_open(img, &t->table, NULL)) {
		t->state = TABLE_OPEN;
		w->open++;
		add_debug(w, t->table);
	}
	close(fd);
}

/* The image's table, or NULL when it has none. */
static struct unwind_table *table_of(struct walks *w, uint32_t image)
{
	struct walk_table *t;

	if (image >= w->tables.n) {
		size_t n = w->images->v.n;

		if (vec_reserve(&w->tables, n) < 0)
			return NULL;
		memset(w->tables.v + w->tables.n, 0,
		       (n - w->tables.n) * sizeof(*w->tables.v));
		w->tables.n = n;
	}
	t = &w->tables.v[image];
	if (t->state == TABLE_UNKNOWN)
		table_open(w, image, t);
	t->used = w->clock;
	return t->table;
}

static bool find_code(void *ctx, uint64_t pc, struct unwind_code *out)
{
	struct walk *k = ctx;
	const struct map *m = mapset_find(k->maps, pc);

	if (!m)
		return false;
	out->start = m->start;
	out->end = m->end;
	out->delta = m->delta;
	out->image = m->image;
	out->table = table_of(k->w, m->image);
	return true;
}

static bool in_copy(const struct walk *k, uint64_t addr, size_t n)
{
	uint64_t at = addr - k->copy->regs.r[UNWIND_RSP];

	return at < k->copy->size && n <= k->copy->size - at;
}

static bool live_same(struct walk *k, uint64_t addr, size_t n)
{
	uint64_t at = addr - k->copy->regs.r[UNWIND_RSP];

	return live_equal(&k->w->live, k->pid, addr, k->copy->bytes + at, n);
}

/* Are the last frames that were found in the copy still there, by their return
 * addresses?  Then those above were not left since, most likely.  A single
 * frame, larger than the copy: is the copy's top as it was? */
static bool live_frames(struct walk *k)
{
	const struct unwind_stack *out = k->out;
	unsigned int word = k->copy->is32 ? 4 : 8, same = 0;
	uint64_t top = k->copy->regs.r[UNWIND_RSP] + k->copy->size - LIVE_CHECK;

	for (size_t i = out->n; i-- > 1 && same < LIVE_FRAMES;) {
		if (!in_copy(k, out->sp[i] - word, word))
			continue;
		if (!live_same(k, out->sp[i] - word, word))
			return false;
		same++;
	}
	return same || (in_copy(k, top, LIVE_CHECK) &&
			live_same(k, top, LIVE_CHECK));
}

static bool read_live(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct walk *k = ctx;

	/* Below the stack pointer everything may have changed. */
	if (k->w->no_live || addr - k->copy->regs.r[UNWIND_RSP] > REACH)
		return false;
	if (k->live == LIVE_UNTRIED)
		k->live = live_thread(&k->w->live, k->pid, k->tid) &&
			  live_frames(k) ? LIVE_GOOD : LIVE_BAD;
	return k->live == LIVE_GOOD &&
	       live_read(&k->w->live, k->pid, addr, to, n);
}

static enum prof_end_reason reason_of(enum unwind_reason r)
{
	static const uint8_t reasons[UNWIND_REASONS] = {
		[UNWIND_OK] = PROF_END_UNKNOWN,
		[UNWIND_NO_DATA] = PROF_END_NO_DATA,
		[UNWIND_BAD_MEMORY] = PROF_END_BAD_MEMORY,
		[UNWIND_BAD_RULE] = PROF_END_BAD_RULE,
		[UNWIND_NO_CODE] = PROF_END_NO_CODE,
		[UNWIND_NO_PROGRESS] = PROF_END_NO_PROGRESS,
		[UNWIND_LOST_REGISTER] = PROF_END_LOST_REGISTER,
		[UNWIND_TOO_DEEP] = PROF_END_TOO_DEEP,
		[UNWIND_NO_MEMORY] = PROF_END_NO_MEMORY,
	};

	return r < UNWIND_REASONS ? reasons[r] : PROF_END_UNKNOWN;
}

static struct record_end end_of(const struct walk *k,
				const struct unwind_stack *out)
{
	struct record_end end = { 0, PROF_END_UNKNOWN, UINT32_MAX };

	if (out->end == UNWIND_WHOLE) {
		end.mark = k->live == LIVE_GOOD ? PROF_MARK_LATER :
			   out->guessed ? PROF_MARK_GUESSED : 0;
		return end;
	}
	/* What was read later and makes no sense was overwritten meanwhile. */
	if (out->end == UNWIND_CUT || k->live == LIVE_GOOD) {
		end.mark = PROF_MARK_CUT;
		return end;
	}
	/* Nothing could be copied: exec has put the stack away. */
	if (out->reason == UNWIND_BAD_MEMORY && !k->copy->size) {
		end = (struct record_end){ PROF_MARK_BROKEN, PROF_END_NO_STACK,
					   UINT32_MAX };
		return end;
	}
	end.mark = out->reason == UNWIND_TOO_DEEP ? PROF_MARK_CUT
						  : PROF_MARK_BROKEN;
	end.reason = reason_of(out->reason);
	end.image = out->image;
	return end;
}

void walks_sample(struct walks *w, struct mapset *maps, uint32_t pid,
		  uint32_t tid, struct record_sample *s)
{
	const struct record_copy *c = &s->copy;
	struct unwind_stack out = { .pc = w->pcs, .sp = w->sps,
				    .max = WALK_MAX };
	struct walk k = { w, maps, pid, tid, c, &out, LIVE_UNTRIED };
	struct unwind_space space = { find_code, &k, maps->generation,
				      c->is32 };
	struct unwind_memory mem = {
		.bytes = c->bytes, .start = c->regs.r[UNWIND_RSP],
		.size = c->size, .all = c->all, .read = read_live, .ctx = &k,
	};

	s->walked = true;
	if (!c->regs.known) {
		s->end = (struct record_end){ PROF_MARK_BROKEN,
					      PROF_END_NO_REGISTERS,
					      UINT32_MAX };
		return;
	}
	w->clock++;
	unwind_walk(w->cache, &space, &c->regs, &mem, &out);
	s->end = end_of(&k, &out);
	w->cut += out.end == UNWIND_CUT || k.live != LIVE_UNTRIED;
	w->pointer_steps += out.by_pointer;
	/* An address without code stays what it is. */
	if (!out.n)
		w->pcs[out.n++] = c->regs.r[UNWIND_RIP];
	s->user = w->pcs;
	s->nuser = (uint32_t)out.n;
}

void walks_rest(struct walks *w)
{
	live_memory_forget(&w->live);
	if (w->open)
		tables_close(w, TABLES_MAX);
}
