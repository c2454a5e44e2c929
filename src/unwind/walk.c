// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks from frame to frame.  Most frames need only rip, rsp and rbp and a rule
 * that fits a slot of the cache.  A walk that needs another register starts
 * again and tracks all of them.
 *
 * The cache has two parts.  The first is by address and address space.  The second
 * is by image and address in it: programs that are started again and again have
 * new address spaces, but the same images.
 */
#include "unwind/unwind_internal.h"

#include <string.h>

#include "base/pages.h"

enum { SLOT_BITS = 12, SLOTS = 1 << SLOT_BITS };
enum { IMAGE_SLOTS_FIRST = 1 << 12, IMAGE_SLOTS_MAX = 1 << 16 };

struct slot {
	uint64_t pc;
	uint32_t generation;
	uint32_t fast;		/* FAST_NONE: empty */
};

/* A caller's rule.  The frame was called and is not the first on its stack. */
struct image_slot {
	uint64_t vaddr;
	uint32_t image;
	uint32_t fast;		/* FAST_RSP, FAST_RBP or FAST_NONE: empty */
};

/* Most walks use few slots by image.  All of them are a huge page, which takes longer to
 * clear than some seconds of sampling save by it. */
struct unwind_cache {
	struct slot slots[SLOTS];
	struct image_slot *by_image;	/* no slot straddles a cache line */
	size_t nimage, used;		/* slots by image, a power of two; used ones */
};

static struct image_slot *image_slot_of(const struct unwind_cache *c, uint64_t vaddr,
					uint32_t image)
{
	uint64_t h = (vaddr ^ (uint64_t)image << 40) * 0x9e3779b97f4a7c15ull;

	return &c->by_image[(h >> 48) & (c->nimage - 1)];
}

static void image_slot_set(struct unwind_cache *c, const struct image_slot *slot)
{
	struct image_slot *at = image_slot_of(c, slot->vaddr, slot->image);

	c->used += at->fast == FAST_NONE;
	*at = *slot;
}

/* Moves the slots by image to n of them.  Returns false, with all as it was, if out of
 * memory. */
static bool images_resize(struct unwind_cache *c, size_t n)
{
	struct image_slot *old = c->by_image;
	struct image_slot *more = pages_calloc(n, sizeof(*more));
	size_t nold = c->nimage;

	if (!more)
		return false;
	c->by_image = more;
	c->nimage = n;
	c->used = 0;
	for (size_t i = 0; i < nold; i++)
		if (old[i].fast != FAST_NONE)
			image_slot_set(c, &old[i]);
	pages_free(old, nold, sizeof(*old));
	return true;
}

int unwind_cache_new(struct unwind_cache **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out && !images_resize(*out, IMAGE_SLOTS_FIRST)) {
		free(*out);
		*out = NULL;
	}
	return *out ? 0 : -ERR_NOMEM;
}

void unwind_cache_free(struct unwind_cache *c)
{
	if (c)
		pages_free(c->by_image, c->nimage, sizeof(*c->by_image));
	free(c);
}

void unwind_cache_clear(struct unwind_cache *c)
{
	memset(c->slots, 0, sizeof(c->slots));
	memset(c->by_image, 0, c->nimage * sizeof(*c->by_image));
	c->used = 0;
}

static size_t slot_number(uint64_t pc, uint32_t generation)
{
	uint64_t h = (pc ^ (uint64_t)generation << 40) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> (64 - SLOT_BITS));
}

static struct slot *slot_of(struct unwind_cache *c, uint64_t pc,
			    uint32_t generation)
{
	return &c->slots[slot_number(pc, generation)];
}

uint32_t cache_get(const struct unwind_cache *c, uint64_t pc, uint32_t generation)
{
	const struct slot *s = &c->slots[slot_number(pc, generation)];

	return s->pc == pc && s->generation == generation ? s->fast : FAST_NONE;
}

/* Returns the rule of a caller at this address in the image, or FAST_NONE. */
static uint32_t image_slot_get(const struct walk *w, uint64_t at)
{
	uint64_t vaddr = at + w->code.delta;
	const struct image_slot *s = image_slot_of(w->cache, vaddr, w->code.image);

	return s->vaddr == vaddr && s->image == w->code.image ? s->fast : FAST_NONE;
}

static void image_slot_put(const struct walk *w, uint64_t at, uint32_t fast)
{
	const struct image_slot slot = { at + w->code.delta, w->code.image, fast };

	if ((fast & 7) == FAST_RSP || (fast & 7) == FAST_RBP)
		image_slot_set(w->cache, &slot);
}

const char *unwind_reason_text(enum unwind_reason r)
{
	static const char *const text[UNWIND_REASONS] = {
		[UNWIND_OK] = "nothing is wrong",
		[UNWIND_NO_DATA] = "no unwind data",
		[UNWIND_BAD_MEMORY] = "bad memory",
		[UNWIND_BAD_RULE] = "unwind data that makes no sense",
		[UNWIND_NO_CODE] = "a return address that is not in code",
		[UNWIND_NO_PROGRESS] = "a frame below the one it called",
		[UNWIND_LOST_REGISTER] = "a register that was not saved",
		[UNWIND_TOO_DEEP] = "too many frames",
		[UNWIND_NO_MEMORY] = "out of memory",
	};

	return (unsigned)r < UNWIND_REASONS ? text[r] : "?";
}

/* Adds a frame to the result. */
static enum step add_frame(struct walk *w, uint64_t pc, unsigned marks)
{
	struct unwind_stack *out = w->out;

	if (out->n == out->max &&
	    (!out->full || !out->full(out->ctx, out) || out->n >= out->max))
		return walk_stop(w, UNWIND_BROKEN, UNWIND_TOO_DEEP, 0);
	if (out->marks)
		out->marks[out->n] =
			(uint8_t)(marks | (w->exact ? UNWIND_EXACT : 0) |
				  w->marks);
	if (out->sp)
		out->sp[out->n] = w->regs.r[UNWIND_RSP];
	out->pc[out->n++] = pc;
	return STEP_ON;
}

static enum step step_fast(struct walk *w, uint32_t fast)
{
	uint64_t *r = w->regs.r, cfa, ra, rbp = r[UNWIND_RBP];
	unsigned word = w->word;
	int64_t at = fast_rbp_words(fast);

	if ((fast & 7) == FAST_RSP)
		cfa = r[UNWIND_RSP];
	else if (w->regs.known >> UNWIND_RBP & 1)
		cfa = rbp;
	else
		return walk_stop(w, UNWIND_BROKEN, UNWIND_LOST_REGISTER,
				 UNWIND_RBP);
	cfa += fast_cfa_words(fast) * word;
	if (!walk_read(w, cfa - word, word, &ra))
		return STEP_END;
	if (at && !walk_popped(w, cfa + (uint64_t)at * word) &&
	    !walk_read(w, cfa + (uint64_t)at * word, word, &rbp))
		return STEP_END;
	if (!ra)
		return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	if (cfa <= r[UNWIND_RSP])
		return walk_stop(w, UNWIND_BROKEN, UNWIND_NO_PROGRESS, cfa);
	r[UNWIND_RIP] = ra;
	r[UNWIND_RSP] = cfa;
	r[UNWIND_RBP] = rbp;
	w->regs.known = (w->regs.known & FAST_REGS) |
			(uint32_t)!!at << UNWIND_RBP;
	w->exact = false;
	w->marks = 0;
	return STEP_ON;
}

/* Unwinds after a call through an invalid pointer, or at the start of a function:
 * the stack is as the caller left it. */
static enum step step_wild(struct walk *w)
{
	uint64_t *r = w->regs.r, wild = r[UNWIND_RIP], ra;

	if (add_frame(w, wild, UNWIND_EXACT) != STEP_ON ||
	    !walk_read(w, r[UNWIND_RSP], w->word, &ra))
		return STEP_END;
	if (!walk_code(w, ra - 1))
		return walk_stop(w, UNWIND_BROKEN, UNWIND_NO_CODE, wild);
	r[UNWIND_RIP] = ra;
	r[UNWIND_RSP] += w->word;
	w->exact = false;
	return STEP_ON;
}

static enum step step_known(struct walk *w, uint32_t fast)
{
	switch (fast & 7) {
	case FAST_RSP:
	case FAST_RBP: return step_fast(w, fast);
	case FAST_END: return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
	default: return step_guess(w, UNWIND_NO_DATA);
	}
}

/* Returns whether the frame is the first function on a stack that the Go
 * runtime gives a thread (mstart, rt0_go).  It was not called: the word above
 * it is not a return address.  Go's call frame information does not say so. */
static bool is_go_bottom(struct walk *w)
{
	size_t n = w->out->n;

	return n && !w->exact && walk_code(w, w->out->pc[n - 1]) &&
	       w->code.table &&
	       image_section(w->code.table->img, ".go.buildinfo").n;
}

/* Ends the walk at the stack's first frame, unless that returns at once.  The slot
 * stores no frame that was not called, because it would need a flag for that. */
static enum step step_begin(struct walk *w, struct slot *slot,
			    enum begin begin)
{
	uint64_t ra = w->regs.r[UNWIND_RIP];
	bool put = begin == BEGIN_PUT;

	*slot = (struct slot){ ra - 1, w->space->generation,
			       begin == BEGIN_CALLED ? FAST_END : FAST_NONE };
	if (begin == BEGIN_NOT_YET)
		return step_wild(w);
	/* a guess that led here is confirmed */
	w->confirmed = w->marks & UNWIND_GUESSED ? 1 : 0;
	if (add_frame(w, ra - !put, UNWIND_BEGIN | (put ? UNWIND_EXACT : 0)) !=
	    STEP_ON)
		return STEP_END;
	return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
}

/* Ends the walk after the function at which the process begins.  Its call frame information
 * does not say that it has no caller. */
static enum step stop_at_entry(struct walk *w)
{
	uint8_t *marks = w->out->marks ? &w->out->marks[w->out->n - 1] : NULL;

	w->confirmed = marks && *marks & UNWIND_GUESSED ? 1 : 0;
	if (marks)
		*marks |= UNWIND_BEGIN;
	return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
}

/* Unwinds a frame whose rule is not in the cache or does not fit in it. */
static enum step step_slow(struct walk *w, struct slot *slot, uint64_t at)
{
	const struct rule *rule = NULL;
	uint32_t fast = FAST_NO_DATA;
	struct unwind_table *t;
	struct rule own;
	enum begin begin;
	uint64_t pc = at;
	int id = RULE_NONE;

	if (!walk_code(w, at)) {
		if (w->exact && !w->out->n)
			return step_wild(w);
		if (is_go_bottom(w))
			return walk_stop(w, UNWIND_COMPLETE, UNWIND_OK, 0);
		if (walk_left_entry(w))
			return stop_at_entry(w);
		return walk_stop(w, UNWIND_BROKEN, UNWIND_NO_CODE,
				 w->regs.r[UNWIND_RIP]);
	}
	t = w->code.table;
	if (t && !w->exact && !w->all)
		fast = image_slot_get(w, at);
	if (fast != FAST_NONE && fast != FAST_NO_DATA) {
		*slot = (struct slot){ at, w->space->generation, fast };
		return add_frame(w, at, 0) == STEP_ON ? step_known(w, fast)
						      : STEP_END;
	}
	fast = FAST_NO_DATA;
	if (t)
		id = table_find(t, at + w->code.delta, &fast, &own, &rule);
	if (id < 0)
		return walk_stop(w, UNWIND_BROKEN, UNWIND_NO_MEMORY, 0);
	if (fast != FAST_NONE)
		*slot = (struct slot){ at, w->space->generation, fast };
	if (id >= RULE_ASK && rule->signal)
		pc = w->regs.r[UNWIND_RIP];	/* it was not called */
	else if (t && (begin = walk_begins(w)) != BEGIN_NO)
		return step_begin(w, slot, begin);
	else if (t && !w->exact)
		image_slot_put(w, at, fast);
	if (add_frame(w, pc, pc != at ? UNWIND_SIGNAL | UNWIND_EXACT : 0) !=
	    STEP_ON)
		return STEP_END;
	if (id == RULE_BAD)
		return step_guess(w, UNWIND_BAD_RULE);
	if (fast != FAST_NONE && !w->all)
		return step_known(w, fast);
	return id >= RULE_ASK ? step_rule(w, t, rule)
			      : step_guess(w, UNWIND_NO_DATA);
}

static void follow(struct walk *w)
{
	enum step s = STEP_ON;

	while (s == STEP_ON) {
		uint64_t at = w->regs.r[UNWIND_RIP] - !w->exact;
		struct slot *slot = slot_of(w->cache, at,
					    w->space->generation);

		if (slot->pc != at || slot->generation !=
		    w->space->generation || slot->fast == FAST_NONE || w->all)
			s = step_slow(w, slot, at);
		else if ((s = add_frame(w, at, 0)) == STEP_ON)
			s = step_known(w, slot->fast);
		if (w->learned) {
			if (slot->pc == at)
				slot->fast = w->learned;
			w->learned = FAST_NONE;
		}
	}
}

static void start(struct walk *w, const struct unwind_regs *regs)
{
	w->regs = *regs;
	w->exact = true;
	w->elsewhere = false;
	w->marks = 0;
	w->learned = FAST_NONE;
	w->confirmed = 0;
	w->out->n = 0;
	w->out->by_pointer = 0;
	w->out->guessed = 0;
	if (w->word == 4)
		for (int i = 0; i < UNWIND_REGS; i++)
			w->regs.r[i] = (uint32_t)w->regs.r[i];
	follow(w);
}

void unwind_walk(struct unwind_cache *c, const struct unwind_space *space,
		 const struct unwind_regs *regs, const struct unwind_memory *mem,
		 struct unwind_stack *out)
{
	struct walk w;

	/* Without memory for more, the slots stay as they are. */
	if (c->used > c->nimage / 2 && c->nimage < IMAGE_SLOTS_MAX)
		(void)images_resize(c, c->nimage * 4);
	w.cache = c;
	w.space = space;
	w.mem = mem;
	w.out = out;
	w.word = space->is32 ? 4 : 8;
	w.all = false;
	w.want_all = false;
	w.code = (struct unwind_code){ 0 };
	start(&w, regs);
	if (w.want_all) {
		w.all = true;
		start(&w, regs);
	}
}
