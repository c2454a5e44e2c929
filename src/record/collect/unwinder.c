// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds user stacks of samples while the recording runs. */
#include "record/collect/unwinder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/cfi.h"
#include "record/collect/go_callers.h"
#include "record/collect/lost_rbp.h"
#include "symbolize/dwarf/debug_file.h"

enum {
	TABLES_MAX = 512,	/* maximum number of open tables */
	LIVE_CHECK = 64,	/* bytes to compare, or */
	LIVE_FRAMES = 4,	/* return addresses to compare, which must be
				 * unchanged */
};
#define TABLE_BYTES_MAX (256ull << 20)
#define TABLE_BYTES_KEPT (32ull << 20)
#define UNUSED_WALKS 40000	/* 20 s of two busy CPUs at 999 Hz */
enum { CHECKS = 128 };	/* of all tables' sizes in this time */
#define COPY_LIMIT 65536ull	/* maximum size of a copy */
#define HOLE_REACH (64ull << 20)	/* maximum size of a hole, that of a frame */
#define REACH (1ull << 63)	/* range of a stack above its pointer */

enum table_state { TABLE_UNKNOWN, TABLE_OPEN, TABLE_NONE };

struct walk_table {
	struct unwind_table *table;
	enum table_state state;
	uint64_t used;		/* last walk that used it */
};

/* State of one walk. */
struct walk {
	struct unwinder *w;
	struct mapset *maps;
	uint32_t pid, tid;
	const struct record_copy *copy;
	const struct unwind_stack *out;
	struct deep_stack *deep;	/* outer frames kept from the thread's earlier
					 * samples, or NULL */
	ssize_t joined;			/* index in `deep` of the walk's last frame,
					 * or -1 */
	uint64_t code_at, code_end;	/* range of the leaf's code in w->code */
	enum { LIVE_UNTRIED, LIVE_GOOD, LIVE_BAD } live;
	enum prof_end_reason cut;	/* reason why the rest could not be read */
	size_t copied;			/* number of frames found in the copy */
	bool unsure;			/* read live memory although it has changed */
	bool no_live;			/* do not read live memory */
};

static bool resize(void *array, size_t n, size_t size)
{
	void **at = array, *p = realloc(*at, n * size);

	if (p)
		*at = p;
	return p;
}

static bool make_room(struct unwinder *w, size_t n)
{
	if (n <= w->room)
		return true;
	if (!resize(&w->pcs, n, sizeof(*w->pcs)) ||
	    !resize(&w->sps, n, sizeof(*w->sps)) ||
	    !resize(&w->marks, n, sizeof(*w->marks)))
		return false;
	w->room = n;
	return true;
}

/* Gives back what one very deep stack needed. */
static void less_room(struct unwinder *w)
{
	enum { KEPT = 32 * DEEP_INNER };

	if (w->room <= KEPT)
		return;
	w->room = KEPT;
	resize(&w->pcs, KEPT, sizeof(*w->pcs));
	resize(&w->sps, KEPT, sizeof(*w->sps));
	resize(&w->marks, KEPT, sizeof(*w->marks));
}

int unwinder_init(struct unwinder *w, struct images *im)
{
	memset(w, 0, sizeof(*w));
	w->images = im;
	w->kept_bytes = TABLE_BYTES_KEPT;
	w->unused_walks = UNUSED_WALKS;
	w->deep.most = DEEP_MAX;
	if (!make_room(w, DEEP_INNER) || unwind_cache_new(&w->cache) < 0 ||
	    live_memory_init(&w->live) < 0 || python_init(&w->python, im) < 0) {
		unwinder_fini(w);
		return -ERR_NOMEM;
	}
	java_init(&w->java, im, &w->live);
	return 0;
}

void unwinder_fini(struct unwinder *w)
{
	for (size_t i = 0; i < w->tables.n; i++)
		if (w->tables.v[i].table)
			unwind_table_close(w->tables.v[i].table);
	vec_fini(&w->tables);
	if (w->cache)
		unwind_cache_free(w->cache);
	java_fini(&w->java);
	python_fini(&w->python);
	live_memory_fini(&w->live);
	free(w->pcs);
	free(w->sps);
	free(w->marks);
	deep_fini(&w->deep);
	memset(w, 0, sizeof(*w));
}

void unwinder_forked(struct unwinder *w)
{
	unwind_cache_free(w->cache);
	w->cache = NULL;
	live_memory_fini(&w->live);
}

static void table_drop(struct unwinder *w, struct walk_table *t)
{
	unwind_table_close(t->table);
	t->table = NULL;
	t->state = TABLE_UNKNOWN;
	w->open--;
	w->stale = true;
}

static struct walk_table *longest_unused(const struct unwinder *w)
{
	struct walk_table *oldest = NULL;

	for (size_t i = 0; i < w->tables.n; i++) {
		struct walk_table *t = &w->tables.v[i];

		if (t->table && (!oldest || t->used < oldest->used))
			oldest = t;
	}
	return oldest;
}

/* Closes the tables unused for longest while there are more than `max`.  Above
 * w->kept_bytes it also closes those unused lately, whose programs are gone.  To clear the
 * cache rarely, it closes more than necessary. */
static void tables_close(struct unwinder *w, size_t max)
{
	uint64_t bytes = 0, unused = w->unused_walks;

	for (size_t i = 0; i < w->tables.n; i++)
		if (w->tables.v[i].table)
			bytes += unwind_table_stats(w->tables.v[i].table).bytes;
	while (w->open && (w->open > max || bytes > w->kept_bytes)) {
		struct walk_table *t = longest_unused(w);

		if (w->open <= max && bytes <= TABLE_BYTES_MAX &&
		    w->clock - t->used < unused)
			return;
		unused = w->unused_walks / 2;
		bytes -= unwind_table_stats(t->table).bytes;
		table_drop(w, t);
	}
}

void unwinder_forget(struct unwinder *w, uint32_t image)
{
	struct walk_table *t;

	if (image >= w->tables.n)
		return;
	t = &w->tables.v[image];
	w->stale |= t->state != TABLE_UNKNOWN;
	if (t->table)
		table_drop(w, t);
	t->state = TABLE_UNKNOWN;
}

/* Adds the call frame information of a debug file for code without any in its image. */
static void add_debug(struct unwinder *w, struct unwind_table *t)
{
	struct image *debug = NULL;

	if (unwind_table_wants_debug(t))
		debug = symbolize_debug_file(unwind_table_image(t),
					     w->debug_dirs);
	if (debug)
		unwind_table_add_debug(t, debug);
}

static void table_open(struct unwinder *w, uint32_t image, struct walk_table *t)
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

/* Returns the image's table, or NULL if it has none. */
static struct unwind_table *table_of(struct unwinder *w, uint32_t image)
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

/* Returns whether code in the mapping may be Java's. */
static bool has_java(const struct walk *k, const struct map *m)
{
	return !k->w->no_live && !k->copy->is32 &&
	       k->w->images->v.v[m->image].kind == PROF_IMAGE_ANON;
}

/* Describes code generated by other runtimes.  It has frame pointers except where
 * functions begin and end; the instructions around the sample show which applies. */
static void leaf_code(struct walk *k, const struct map *m, uint64_t pc,
		      struct unwind_code *out)
{
	uint64_t rip = k->copy->regs.r[UNWIND_RIP], at = rip & ~(WALK_CODE - 1ull);
	uint64_t end = at + WALK_CODE;

	if (rip < m->start || rip >= m->end)
		return;
	if (!k->code_end) {
		k->code_at = at > m->start ? at : m->start;
		k->code_end = end < m->end ? end : m->end;
		if (!live_read(&k->w->live, k->pid, k->code_at, k->w->code,
			       k->code_end - k->code_at))
			k->code_end = k->code_at;
	}
	if (pc < k->code_at || pc >= k->code_end)
		return;
	out->start = k->code_at;
	out->end = k->code_end;
	out->bytes = k->w->code;
}

/* Describes a frame that has a name instead of an address. */
static bool is_named(const struct walk *k, uint64_t pc, struct unwind_code *out)
{
	if (!k->out->n || k->out->pc[k->out->n - 1] != pc ||
	    !frame_is_name(k->w->images, pc))
		return false;
	*out = (struct unwind_code){ .start = pc, .end = pc + 1,
				     .image = frame_name_image(pc) };
	return true;
}

static bool find_code(void *ctx, uint64_t pc, struct unwind_code *out)
{
	struct walk *k = ctx;
	const struct map *m = mapset_find(k->maps, pc);

	if (!m)
		return is_named(k, pc, out);
	out->start = m->start;
	out->end = m->end;
	out->delta = m->delta;
	out->image = m->image;
	out->table = table_of(k->w, m->image);
	out->bytes = NULL;
	if (!out->table && has_java(k, m) &&
	    !java_code(&k->w->java, k->pid, k->maps, pc, out))
		leaf_code(k, m, pc, out);
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

/* Returns whether the last frames in the copy are still there, by their return
 * addresses.  If so, the frames above them most likely never returned.  For a single
 * frame larger than the copy, compares the top of the copy instead. */
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

static enum prof_end_reason why_not_live(struct walk *k)
{
	if (live_refused(&k->w->live, k->pid))
		return PROF_END_REFUSED;
	if (!live_thread(&k->w->live, k->pid, k->tid))
		return PROF_END_GONE;
	if (k->unsure || live_frames(k))
		return PROF_END_UNKNOWN;
	if (live_refused(&k->w->live, k->pid))
		return PROF_END_REFUSED;
	/* checked again: reading also succeeds for a thread that has ended but was
	 * not reaped */
	return live_thread(&k->w->live, k->pid, k->tid) ? PROF_END_CHANGED
							: PROF_END_GONE;
}

/* Reads the pages between the end of a short copy and an address.  The kernel ends a
 * copy before a page that is not present, as large frames contain them where the program
 * never wrote.  Reading such a page makes it present (it becomes the page of zeros), so
 * the thread's next copies continue behind it. */
static void read_hole(struct walk *k, uint64_t addr)
{
	uint64_t sp = k->copy->regs.r[UNWIND_RSP], end = sp + k->copy->size;
	uint8_t byte;

	if (!k->copy->all || !k->copy->size || addr < end)
		return;
	if (addr - sp > COPY_LIMIT)
		addr = sp + COPY_LIMIT;
	for (; end < addr; end += LIVE_PAGE)
		if (!live_read(&k->w->live, k->pid, end, &byte, 1))
			return;
}

static bool read_live(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct walk *k = ctx;

	/* Memory below the stack pointer may have changed in any way. */
	if (k->w->no_live || k->no_live || addr - k->copy->regs.r[UNWIND_RSP] > REACH)
		return false;
	if (k->live == LIVE_UNTRIED)
		read_hole(k, addr);
	if (k->live == LIVE_UNTRIED) {
		k->copied = k->out->n;
		k->cut = why_not_live(k);
		k->live = k->cut == PROF_END_UNKNOWN ? LIVE_GOOD : LIVE_BAD;
	}
	if (k->live != LIVE_GOOD)
		return false;
	if (live_read(&k->w->live, k->pid, addr, to, n))
		return true;
	k->cut = PROF_END_UNREADABLE;
	return false;
}

static bool stack_word(void *ctx, uint64_t addr, uint64_t *out)
{
	struct walk *k = ctx;
	const struct record_copy *c = k->copy;

	if (!in_copy(k, addr, sizeof(*out)))
		return read_live(ctx, addr, out, sizeof(*out));
	memcpy(out, c->bytes + (addr - c->regs.r[UNWIND_RSP]), sizeof(*out));
	return true;
}

/* Gets a frame of Java's code, and gives it the name of its method.  An address would
 * not do: the interpreter's code serves all methods, and new methods replace old
 * ones. */
static bool find_frame(void *ctx, const struct unwind_regs *regs, bool exact,
		       struct unwind_caller *out)
{
	struct walk *k = ctx;
	uint64_t pc = regs->r[UNWIND_RIP] - !exact, name = 0;
	const struct map *m = mapset_find(k->maps, pc);
	struct hotspot_stack stack = { stack_word, k };
	bool found;

	if (!m || !has_java(k, m))
		return false;
	found = java_frame(&k->w->java, k->pid, k->maps, regs, exact, &stack,
			   out, &name);
	if (name)
		k->out->pc[k->out->n - 1] = name;
	return found;
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

/* Returns whether the copy ends in a hole.  A copy shorter than requested ends with
 * the stack, or before a page that was never touched, which a large frame may
 * contain. */
static bool ends_in_hole(const struct walk *k, const struct unwind_stack *out)
{
	uint64_t end = k->copy->regs.r[UNWIND_RSP] + k->copy->size;
	uint8_t byte;

	return out->reason == UNWIND_BAD_MEMORY && k->copy->all &&
	       k->copy->size && !k->w->no_live && out->addr >= end &&
	       out->addr - end < HOLE_REACH &&
	       live_read(&k->w->live, k->pid, out->addr, &byte, 1);
}

static struct record_end end_of(const struct walk *k,
				const struct unwind_stack *out)
{
	struct record_end end = { 0, PROF_END_UNKNOWN, UINT32_MAX };

	if (out->end == UNWIND_COMPLETE) {
		end.mark = k->live == LIVE_GOOD ? PROF_MARK_READ_LATE :
			   out->guessed ? PROF_MARK_HEURISTIC : 0;
		return end;
	}
	if (out->reason == UNWIND_TOO_DEEP) {
		end.mark = PROF_MARK_CUT;
		end.reason = PROF_END_TOO_DEEP;
		return end;
	}
	/* Inconsistent data that was read later has been overwritten in the
	 * meantime. */
	if (out->end == UNWIND_CUT || k->live == LIVE_GOOD ||
	    ends_in_hole(k, out)) {
		end.mark = PROF_MARK_CUT;
		end.reason = out->end != UNWIND_CUT && k->live == LIVE_GOOD &&
			     k->cut == PROF_END_UNKNOWN
			     ? PROF_END_SENSELESS : k->cut;
		return end;
	}
	/* Nothing could be copied, because exec has replaced the stack. */
	if (out->reason == UNWIND_BAD_MEMORY && !k->copy->size) {
		end = (struct record_end){ PROF_MARK_BROKEN, PROF_END_NO_STACK,
					   UINT32_MAX };
		return end;
	}
	end.mark = PROF_MARK_BROKEN;
	end.reason = reason_of(out->reason);
	end.image = out->image;
	return end;
}

/* Handles another DEEP_INNER frames: checks whether the rest is known from before. */
static bool walk_full(void *ctx, struct unwind_stack *out)
{
	struct walk *k = ctx;
	struct unwinder *w = k->w;
	size_t room = w->room;

	/* copied frames are preferred to kept ones */
	if (k->deep && k->live == LIVE_GOOD &&
	    !in_copy(k, out->sp[out->n - 1], 1))
		k->joined = deep_join(k->deep, &w->live, out,
				      k->copy->is32 ? 4 : 8);
	if (k->joined >= 0 || out->n >= w->deep.most)
		return false;
	if (out->n + DEEP_INNER > room && !make_room(w, room * 2))
		return false;
	out->pc = w->pcs;
	out->sp = w->sps;
	out->marks = w->marks;
	out->max = out->n + DEEP_INNER;
	return true;
}

/* Returns whether outer frames are missing that a later sample may supply. */
static bool is_recoverable(struct record_end end)
{
	return end.mark == PROF_MARK_CUT && end.reason != PROF_END_TOO_DEEP;
}

/* Splits a deep stack: the inner part goes to the sample, the rest is kept. */
static void keep_outer(struct walk *k, struct unwind_stack *out,
		       struct record_sample *s)
{
	size_t inner = out->n < DEEP_INNER ? out->n : DEEP_INNER;
	size_t at = 0;

	if (k->joined >= 0) {
		/* its last frame is one of the kept frames, which stay unchanged */
		out->n--;
		at = (size_t)k->joined + 1;
		inner -= inner > out->n;
		s->end = k->deep->end;
	} else {
		k->deep = is_recoverable(s->end)
			  ? deep_new_unshared(&k->w->deep)
			  : deep_new(&k->w->deep, k->pid, k->tid,
				     k->maps->generation);
		k->deep->end = s->end;
	}
	if (deep_keep(&k->w->deep, k->deep, at, out, inner))
		s->deep = k->deep;
	else
		s->end = (struct record_end){ PROF_MARK_CUT, PROF_END_TOO_DEEP,
					      UINT32_MAX };
	out->n = inner;
}

static void walk_copy(struct walk *k, const struct unwind_regs *regs,
		      struct unwind_stack *out)
{
	struct unwinder *w = k->w;
	const struct record_copy *c = k->copy;
	struct unwind_space space = { find_code, find_frame, k,
				      k->maps->generation, c->is32 };
	struct unwind_memory mem = {
		.bytes = c->bytes, .start = c->regs.r[UNWIND_RSP],
		.size = c->size, .all = c->all, .read = read_live, .ctx = k,
	};

	*out = (struct unwind_stack){ .pc = w->pcs, .sp = w->sps,
				      .marks = w->marks, .max = DEEP_INNER,
				      .full = walk_full, .ctx = k };
	k->out = out;
	k->live = LIVE_UNTRIED;
	k->joined = -1;
	k->copied = 0;
	unwind_walk(w->cache, &space, regs, &mem, out);
}

/* Returns the image at an address, and its mapping; NULL if it has no table. */
static struct image *image_at(struct walk *k, uint64_t pc, const struct map **map)
{
	struct unwind_table *t;

	*map = mapset_find(k->maps, pc);
	t = *map ? table_of(k->w, (*map)->image) : NULL;
	return t ? unwind_table_image(t) : NULL;
}

/* Finds the function of an address in an image.  `delta` is that of its mapping. */
static bool function_in(struct image *img, uint64_t delta, uint64_t pc,
			uint64_t *start, uint64_t *size)
{
	struct cfi_section section;
	struct cfi_cie cie;
	struct cfi_fde fde;

	if (!image_find_fde(img, pc + delta, &section, &cie, &fde))
		return false;
	*start = fde.start - delta;
	*size = fde.size;
	return true;
}

/* Finds the mapping of an address, and the start of its function. */
static bool function_at(struct walk *k, uint64_t pc, const struct map **map,
			uint64_t *start)
{
	struct image *img = image_at(k, pc, map);
	uint64_t size;

	return img && function_in(img, (*map)->delta, pc, start, &size);
}

struct outer_walk {
	struct walk *k;
	const struct unwind_stack *out;
};

/* Returns what caller number i of the frame that crosses the end of the copy calls at
 * pc, the end of a call. */
static enum outer_call outer_call(void *ctx, size_t i, uint64_t pc)
{
	enum { CALL = 0xe8, CALL_SIZE = 5 };
	const struct outer_walk *o = ctx;
	struct walk *k = o->k;
	const struct map *map, *m;
	uint8_t code[CALL_SIZE];
	uint64_t target, function, ra = pc + 1;
	int32_t rel;

	if (!function_at(k, o->out->pc[k->copied + i - 1], &map, &function) ||
	    !live_read(&k->w->live, k->pid, ra - CALL_SIZE, code, CALL_SIZE) ||
	    code[0] != CALL)
		return OUTER_CALL_UNKNOWN;
	memcpy(&rel, code + 1, sizeof(rel));
	target = ra + (uint64_t)(int64_t)rel;
	if (target == function)
		return OUTER_CALL_THIS;
	m = mapset_find(k->maps, target);
	return m && m->image == map->image ? OUTER_CALL_OTHER
					   : OUTER_CALL_UNKNOWN;
}

static bool walk_same_function(void *ctx, uint64_t a, uint64_t b)
{
	struct walk *k = ctx;
	const struct map *map;
	uint64_t first, second;

	return function_at(k, a, &map, &first) &&
	       function_at(k, b, &map, &second) && first == second;
}

static bool same_function(void *ctx, uint64_t a, uint64_t b)
{
	const struct outer_walk *o = ctx;

	return walk_same_function(o->k, a, b);
}

/* Describes the callers of the copy's last frame, which must have been left by a
 * call. */
static bool outer_view(struct outer_walk *o, struct outer_view *v)
{
	const struct unwind_stack *out = o->out;
	struct walk *k = o->k;
	size_t at = k->copied;
	const struct map *map;

	if (!at || at >= out->n || out->n > DEEP_INNER || k->joined >= 0 ||
	    k->copy->is32 || (out->marks[at] & UNWIND_EXACT) ||
	    !in_copy(k, out->sp[at - 1], 1))
		return false;
	*v = (struct outer_view){
		.pid = k->pid, .tid = k->tid, .space = k->maps->generation,
		.sp = out->sp[at - 1], .in_place = !k->unsure,
		.pc = out->pc + at, .sps = out->sp + at, .n = out->n - at,
		.call = outer_call, .same_function = same_function, .ctx = o,
	};
	return function_at(k, out->pc[at - 1], &map, &v->function);
}

/* Finds the callers of a frame larger than the copy from their history.  This applies
 * where memory alone is inconclusive, and where it would be wrong because the callers
 * change all the time. */
static void walk_with_outer(struct walk *k, struct unwind_stack *out)
{
	struct record_end end = end_of(k, out);
	uint32_t batch = k->w->live.batch;
	struct outer_walk o = { k, out };
	struct outer_view v;

	if (!(k->copy->regs.known >> UNWIND_RBP & 1))
		return;
	if (out->end == UNWIND_COMPLETE && k->live == LIVE_GOOD) {
		if (!outer_view(&o, &v) ||
		    outer_callers_see(&k->w->outer, &v, batch))
			return;
	} else if (end.mark == PROF_MARK_CUT &&
		   end.reason == PROF_END_CHANGED) {
		k->unsure = true;
		walk_copy(k, &k->copy->regs, out);
		k->unsure = out->end == UNWIND_COMPLETE;
		if (k->unsure && outer_view(&o, &v) &&
		    outer_callers_see(&k->w->outer, &v, batch))
			return;
	} else {
		return;
	}
	k->no_live = true;
	walk_copy(k, &k->copy->regs, out);
	k->cut = PROF_END_CHANGED;
}

static bool search_read(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct walk *k = ctx;

	return !k->w->no_live && live_read(&k->w->live, k->pid, addr, to, n);
}

static bool search_is_code(void *ctx, uint64_t addr)
{
	struct walk *k = ctx;

	return mapset_find(k->maps, addr);
}

/* Searches the frame pointer of the function that cannot be unwound without it. */
static bool search_rbp(struct walk *k, const struct unwind_stack *out,
		       uint64_t *rbp, bool *guessed)
{
	uint64_t sp = out->n ? out->sp[out->n - 1] : 0;
	struct rbp_search q = { .sp = sp, .read = search_read,
				.is_code = search_is_code, .ctx = k };
	const struct map *m;

	if (!in_copy(k, sp, 16) || !function_at(k, out->pc_end, &m, &q.function))
		return false;
	q.stack = k->copy->bytes + (sp - k->copy->regs.r[UNWIND_RSP]);
	q.size = k->copy->size - (sp - k->copy->regs.r[UNWIND_RSP]);
	return lost_rbp_find(&q, rbp, guessed);
}

/* Completes a poll of a sleeping thread, which has only the stack pointer.  The
 * functions between it and the one that needs its frame pointer did not save that
 * register, so rbp holds it. */
static void walk_with_rbp(struct walk *k, struct unwind_stack *out)
{
	struct unwind_regs regs = k->copy->regs;
	bool guessed;

	if (out->end != UNWIND_BROKEN || out->reason != UNWIND_LOST_REGISTER ||
	    out->addr != UNWIND_RBP || regs.known >> UNWIND_RBP & 1 ||
	    k->copy->is32 ||
	    !search_rbp(k, out, &regs.r[UNWIND_RBP], &guessed))
		return;
	regs.known |= 1u << UNWIND_RBP;
	walk_copy(k, &regs, out);
	if (!guessed)
		return;
	if (out->end == UNWIND_COMPLETE)
		out->guessed++;
	else
		walk_copy(k, &k->copy->regs, out);
}

static bool go_image(struct walk *k, uint64_t pc, struct go_code *out)
{
	const struct map *m;

	*out = (struct go_code){ .img = image_at(k, pc, &m) };
	if (out->img)
		out->delta = m->delta;
	return out->img;
}

static bool go_code(void *ctx, uint64_t pc, struct go_code *out)
{
	uint64_t size;

	if (!go_image(ctx, pc, out))
		return false;
	if (function_in(out->img, out->delta, pc, &out->start, &size))
		out->end = out->start + size;
	return true;
}

/* Unwinds one frame of a goroutine's stack as it is now. */
static bool go_fits(void *ctx, uint64_t ra, uint64_t sp, uint64_t rbp,
		    uint64_t caller)
{
	struct walk *k = ctx;
	struct unwind_space space = { .find = find_code, .ctx = k,
				      .generation = k->maps->generation };
	struct unwind_memory mem = { .read = search_read, .ctx = k };
	struct unwind_regs regs = {
		.known = 1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBP
	};
	uint64_t pcs[2], sps[2];
	struct unwind_stack out = { .pc = pcs, .sp = sps, .max = 2 };

	regs.r[UNWIND_RIP] = ra;
	regs.r[UNWIND_RSP] = sp;
	regs.r[UNWIND_RBP] = rbp;
	unwind_walk(k->w->cache, &space, &regs, &mem, &out);
	return out.n == 2 && pcs[1] == caller - 1 && sps[1] == rbp + 16;
}

/* Returns the number of the chain's addresses up to those from the goroutine's stack,
 * or 0. */
static size_t go_chain_start(const struct unwind_stack *out,
			     const struct record_sample *s)
{
	for (size_t i = 1; i < s->nchain; i++)
		if (s->chain[i] - 1 == out->pc[out->n - 1])
			return i + 1;
	return 0;
}

/* Returns the frame pointer in systemstack, or 0.  Go's call frame information does
 * not say where functions save it. */
static uint64_t go_frame_pointer(const struct walk *k, uint64_t at)
{
	uint64_t start = k->copy->regs.r[UNWIND_RSP];
	uint64_t frame[2], fp = k->copy->regs.r[UNWIND_RBP];

	for (unsigned i = 0; i < DEEP_INNER && in_copy(k, fp, sizeof(frame)); i++) {
		memcpy(frame, k->copy->bytes + (fp - start), sizeof(frame));
		if (frame[1] - 1 == at)
			return frame[0];
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return 0;
}

/* Adds the goroutine's functions to a stack that ends in systemstack. */
static void walk_goroutine(struct walk *k, struct unwind_stack *out,
			   struct record_sample *s)
{
	struct unwinder *w = k->w;
	struct go_switch g = { .code = go_code, .read = search_read,
			       .fits = go_fits, .ctx = k };
	enum go_caller how;
	struct go_code code;
	uint64_t caller = 0;
	bool begun = false;
	size_t from;

	if (!s->nchain || out->n < 2 || k->joined >= 0 || k->copy->is32 ||
	    out->n + 1 + s->nchain > DEEP_INNER ||
	    !go_image(k, out->pc[out->n - 1], &code) ||
	    !go_is_switch(&code, out->pc[out->n - 1]))
		return;
	g.at = out->pc[out->n - 1];
	g.callee = out->pc[out->n - 2];
	g.rbp = go_frame_pointer(k, g.at);
	from = go_chain_start(out, s);
	g.chain = s->chain + from;
	g.nchain = from ? s->nchain - from : 0;
	how = go_find_caller(&g, &caller);
	if (how == GO_CALLER_NONE)
		return;
	if (how != GO_CALLER_CHAIN) {
		w->sps[out->n] = out->sp[out->n - 1];
		w->pcs[out->n++] = caller;
	}
	for (size_t i = 0; i < g.nchain && !begun; i++) {
		uint64_t pc = g.chain[i] - 1;

		if (!go_image(k, pc, &code))
			break;
		w->sps[out->n] = out->sp[out->n - 1];
		w->pcs[out->n++] = pc;
		begun = go_is_begin(&code, pc);
	}
	s->end = (struct record_end){ 0, PROF_END_UNKNOWN, UINT32_MAX };
	if (!begun)
		s->end = (struct record_end){
			PROF_MARK_CUT, s->cut ? PROF_END_TOO_DEEP
					      : PROF_END_UNKNOWN, UINT32_MAX };
	else if (how == GO_CALLER_LATE)
		s->end.mark = PROF_MARK_READ_LATE;
	else if (out->guessed)
		s->end.mark = PROF_MARK_HEURISTIC;
}

static struct unwind_table *table_for(void *ctx, uint32_t image)
{
	return table_of(ctx, image);
}

/* Reports the walk to the source. */
static void source_unwound(struct walk *k, const struct unwind_stack *out,
			   const struct record_sample *s, const uint64_t *theirs)
{
	const struct walked_stack walked = {
		.pid = k->pid, .tid = k->tid, .maps = k->maps, .cache = k->w->cache,
		.frames = out, .table = table_for, .ctx = k->w,
		.theirs = theirs, .ntheirs = theirs ? s->nuser : 0,
		.space = s->space,
	};

	s->rows->walked(s->rows, s->why, s->taken_ns, &walked);
}

void unwinder_sample(struct unwinder *w, struct mapset *maps, uint32_t pid,
		     uint32_t tid, struct record_sample *s)
{
	const struct record_copy *c = &s->copy;
	struct walk k = { .w = w, .maps = maps, .pid = pid, .tid = tid,
			  .copy = c };
	const uint64_t *theirs = s->walked ? s->user : NULL;
	struct unwind_stack out;

	s->walked = true;
	s->deep = NULL;
	if (!c->regs.known) {
		s->end = (struct record_end){ PROF_MARK_BROKEN,
					      PROF_END_NO_REGISTERS,
					      UINT32_MAX };
		return;
	}
	if (w->stale)
		unwind_cache_clear(w->cache);
	w->stale = false;
	w->clock++;
	if (!s->frames)
		k.deep = deep_find(&w->deep, pid, tid, maps->generation);
	walk_copy(&k, &c->regs, &out);
	walk_with_rbp(&k, &out);
	if (s->rows && !c->is32)
		source_unwound(&k, &out, s, theirs);
	walk_with_outer(&k, &out);
	s->end = end_of(&k, &out);
	walk_goroutine(&k, &out, s);
	if (s->frames)
		;
	else if (k.joined >= 0 || out.n > DEEP_INNER)
		keep_outer(&k, &out, s);
	else if (k.deep && !is_recoverable(s->end))
		deep_drop(k.deep);
	w->cut += out.end == UNWIND_CUT || k.live != LIVE_UNTRIED;
	/* An address without code is kept unchanged. */
	if (!out.n) {
		w->sps[out.n] = c->regs.r[UNWIND_RSP];
		w->pcs[out.n++] = c->regs.r[UNWIND_RIP];
	}
	if (s->frames) {
		python_merge(&w->python, pid, w->pcs, w->sps, out.n, s,
			     walk_same_function, &k);
		return;
	}
	s->user = w->pcs;
	s->nuser = (uint32_t)out.n;
}

void unwinder_idle(struct unwinder *w)
{
	live_memory_forget(&w->live);
	java_batch(&w->java);
	if (w->open > TABLES_MAX ||
	    (w->open && w->clock - w->checked >= w->unused_walks / CHECKS)) {
		w->checked = w->clock;
		tables_close(w, TABLES_MAX);
	}
}

void unwinder_release(struct unwinder *w)
{
	for (size_t i = 0; i < w->tables.n; i++) {
		const struct walk_table *t = &w->tables.v[i];

		if (t->table && t->used > w->released)
			image_release(unwind_table_image(t->table));
	}
	w->released = w->clock;
	deep_drop_ended(&w->deep);
	java_drop_ended(&w->java);
	less_room(w);
}
