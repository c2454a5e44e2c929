// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns addresses into stacks of the profile, with caches. */
#include "record/collect/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "record/collect/deep_stacks.h"
#include "record/collect/frame_names.h"

enum {
	FIRST_SLOTS = 1 << 12,
	LOC_SLOTS = 1 << 15,
	CALLER_SLOTS = 1 << 16,
	CHAIN_MAX = 1 << 12,	/* maximum number of frames considered in one stack */
};

/* Slots are by image, not by process: programs that are started again and again have
 * the same images. */
struct loc_slot {
	uint64_t vaddr;
	uint32_t image;
	uint32_t not_loc;	/* ~loc; 0: empty */
};

struct caller_slot {
	uint64_t hash;		/* 0: empty */
	uint32_t node;
};

/* Slots are a power of two.  They are few at first, because the first use of each page of
 * them enters the kernel twice (for reading and for writing), which clears it, and twice as
 * many when half of them are used.  Not in huge pages: clearing one takes longer than the
 * first seconds of sampling save by it. */
struct stack_cache {
	struct loc_slot *locs;
	struct caller_slot *callers;
	size_t nlocs, ncallers;
	size_t used_locs, used_callers;
};

static struct loc_slot *slot_of(const struct stack_cache *c, uint64_t vaddr,
				uint32_t image)
{
	return &c->locs[hash_mix(vaddr, image) & (c->nlocs - 1)];
}

static struct caller_slot *slot_of_callers(const struct stack_cache *c, uint64_t hash)
{
	return &c->callers[(hash >> 32) & (c->ncallers - 1)];
}

static void loc_set(struct stack_cache *c, uint64_t vaddr, uint32_t image, uint32_t loc)
{
	struct loc_slot *slot = slot_of(c, vaddr, image);

	c->used_locs += !slot->not_loc;
	*slot = (struct loc_slot){ vaddr, image, ~loc };
}

static void callers_set(struct stack_cache *c, uint64_t hash, uint32_t node)
{
	struct caller_slot *slot = slot_of_callers(c, hash);

	c->used_callers += !slot->hash;
	*slot = (struct caller_slot){ hash, node };
}

/* Moves the locations to n slots.  Returns false, with the slots as they were, if out of
 * memory. */
static bool locs_resize(struct stack_cache *c, size_t n)
{
	struct stack_cache old = *c;
	struct loc_slot *locs = calloc(n, sizeof(*locs));

	if (!locs)
		return false;
	c->locs = locs;
	c->nlocs = n;
	c->used_locs = 0;
	for (size_t i = 0; i < old.nlocs; i++)
		if (old.locs[i].not_loc)
			loc_set(c, old.locs[i].vaddr, old.locs[i].image,
				~old.locs[i].not_loc);
	free(old.locs);
	return true;
}

/* Does the same with the callers. */
static bool callers_resize(struct stack_cache *c, size_t n)
{
	struct stack_cache old = *c;
	struct caller_slot *callers = calloc(n, sizeof(*callers));

	if (!callers)
		return false;
	c->callers = callers;
	c->ncallers = n;
	c->used_callers = 0;
	for (size_t i = 0; i < old.ncallers; i++)
		if (old.callers[i].hash)
			callers_set(c, old.callers[i].hash, old.callers[i].node);
	free(old.callers);
	return true;
}

/* Without memory for more, the slots stay as they are. */
static void cache_grow(struct stack_cache *c)
{
	if (c->used_locs > c->nlocs / 2 && c->nlocs < LOC_SLOTS)
		(void)locs_resize(c, c->nlocs * 2);
	if (c->used_callers > c->ncallers / 2 && c->ncallers < CALLER_SLOTS)
		(void)callers_resize(c, c->ncallers * 2);
}

int stacks_init(struct stacks *s, struct profile *p, struct images *im,
		struct kernel_maps *k)
{
	s->profile = p;
	s->images = im;
	s->kernel = k;
	s->cache = calloc(1, sizeof(*s->cache));
	if (s->cache && (!locs_resize(s->cache, FIRST_SLOTS) ||
			 !callers_resize(s->cache, FIRST_SLOTS)))
		stacks_fini(s);
	return s->cache ? 0 : -ERR_NOMEM;
}

void stacks_fini(struct stacks *s)
{
	if (s->cache) {
		free(s->cache->locs);
		free(s->cache->callers);
	}
	free(s->cache);
	s->cache = NULL;
}

void stacks_forget(struct stacks *s)
{
	struct stack_cache *c = s->cache;

	memset(c->locs, 0, c->nlocs * sizeof(*c->locs));
	memset(c->callers, 0, c->ncallers * sizeof(*c->callers));
	c->used_locs = c->used_callers = 0;
}

static uint32_t loc_intern(struct stacks *s, uint32_t image, uint64_t vaddr)
{
	uint32_t row = images_row(s->images, image);

	return row == PROF_NONE ? row : profile_loc(s->profile, row, vaddr);
}

/* Returns whether an address is in x86-64's vsyscall page, which lies above all
 * processes and is never reported as a mapping. */
static bool is_vsyscall(uint64_t addr)
{
	return (addr & ~0xfffull) == 0xffffffffff600000ull;
}

/* Returns whether a caller is mapped.  An unmapped caller marks the end of the known
 * stack.  (So does the user side while exec replaces it.) */
static bool is_mapped(const struct stacks *s, struct mapset *maps,
		      uint64_t addr)
{
	return mapset_find(maps, addr) || is_vsyscall(addr) ||
	       frame_is_name(s->images, addr);
}

/* Returns the location of an address in an image. */
static uint32_t loc_in(struct stacks *s, const struct mapset *maps, uint32_t image,
		       uint64_t vaddr)
{
	const struct loc_slot *slot = slot_of(s->cache, vaddr, image);
	uint32_t loc;

	if (slot->vaddr == vaddr && slot->image == image && slot->not_loc)
		return ~slot->not_loc;
	if (images_name_code(s->images, image, maps) < 0)
		return PROF_NONE;
	loc = loc_intern(s, image, vaddr);
	loc_set(s->cache, vaddr, image, loc);
	return loc;
}

void stacks_at(struct stacks *s, struct jit_lines *lines, uint64_t time_ns)
{
	s->epoch = lines ? jit_lines_epoch(lines, time_ns) : 0;
	s->lines = s->epoch ? lines : NULL;
	s->time_ns = time_ns;
}

static uint32_t mapped_loc(struct stacks *s, const struct mapset *maps,
			   const struct map *m, uint64_t addr)
{
	uint32_t image = m->image;

	addr += m->delta;
	if (s->lines && s->lines->image == image)
		image = jit_lines_image(s->lines, s->images, s->time_ns, &addr);
	return image == UINT32_MAX ? PROF_NONE : loc_in(s, maps, image, addr);
}

static uint32_t user_loc(struct stacks *s, struct mapset *maps, uint64_t addr)
{
	uint32_t image = s->images->unknown;
	const struct map *m = mapset_find(maps, addr);

	if (m)
		return mapped_loc(s, maps, m, addr);
	if (frame_is_name(s->images, addr))
		return loc_intern(s, frame_name_image(addr),
				  frame_name_vaddr(addr));
	if (is_vsyscall(addr)) {
		image = image_special(s->images, "[vsyscall]", PROF_IMAGE_ANON, 0);
		if (image == UINT32_MAX)
			return PROF_NONE;
	}
	return loc_intern(s, image, addr);
}

/* The kernel's addresses keep their meaning while its mappings are the same. */
static uint32_t kernel_loc(struct stacks *s, uint64_t addr)
{
	uint32_t space = ~s->kernel->space, image;	/* not the number of an image */
	const struct loc_slot *slot = slot_of(s->cache, addr, space);
	uint64_t vaddr = addr;
	uint32_t loc;

	if (slot->vaddr == addr && slot->image == space && slot->not_loc)
		return ~slot->not_loc;
	image = kernel_maps_find(s->kernel, addr, &vaddr);
	/* An unknown address may become known. */
	if (image == s->images->unknown)
		return loc_intern(s, image, vaddr);
	loc = loc_intern(s, image, vaddr);
	loc_set(s->cache, addr, space, loc);
	return loc;
}

/* Returns the location of an address. */
static uint32_t loc_find(struct stacks *s, struct mapset *maps, bool kernel,
			 uint64_t addr)
{
	return kernel ? kernel_loc(s, addr) : user_loc(s, maps, addr);
}

static uint64_t mul_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t part_hash(uint64_t h, const uint64_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		h = mul_fold(h ^ p[i], 0xa0761d6478bd642full);
	return mul_fold(h ^ n, 0xe7037ed1a0b428dbull);
}

/* A stack's frames except the innermost. */
struct callers {
	const uint64_t *kernel, *user;
	uint32_t nkernel, nuser;
	bool user_called;	/* user[0] is a return address as well */
	bool exact;		/* `user` holds exact addresses instead of return
				 * addresses */
	uint32_t end;		/* node of the mark at the outer end, or 0 */
};

/* Returns a number for the address space with the code that it has at the time. */
static uint64_t space_of(const struct stacks *s, const struct mapset *maps)
{
	return s->epoch ? hash_mix(maps->generation, s->epoch) : maps->generation;
}

static uint64_t callers_hash(const struct callers *c, uint64_t space,
			     uint32_t kernel)
{
	uint64_t h = 0x8ebc6af09c88c6e3ull ^ space ^ (uint64_t)kernel << 32;

	h = part_hash(h, c->kernel, c->nkernel);
	h = part_hash(h ^ c->user_called ^ (uint64_t)c->exact << 1, c->user,
		      c->nuser);
	return mul_fold(h ^ c->end, 0x589965cc75374cc3ull) | 1;
}

static uint64_t user_address(const struct callers *c, uint32_t i)
{
	return c->user[i] - (!c->exact && (i || c->user_called));
}

/* Returns the number of the user part's addresses, of at most `most`, before the
 * first one that is not code. */
static uint32_t user_count(const struct stacks *s, struct mapset *maps,
			   const struct callers *c, uint32_t most)
{
	uint32_t n = 0;

	while (n < most && n < CHAIN_MAX &&
	       is_mapped(s, maps, user_address(c, n)))
		n++;
	return n;
}

static uint32_t node_below(struct stacks *s, uint32_t parent, uint32_t loc)
{
	return parent == PROF_NONE || loc == PROF_NONE
		? PROF_NONE : profile_node(s->profile, parent, loc);
}

/*
 * The outer frames of a walked stack, in parts of OUTER_STEP frames from the outside:
 * samples of a thread have most of them in common.  hash[i] is that of i + 1 parts,
 * which are all frames from user[nuser - (i + 1) * OUTER_STEP] on.
 */
enum { OUTER_STEP = 4, OUTER_PARTS = 32 };

struct outer {
	uint64_t hash[OUTER_PARTS];
	uint32_t n;
};

static void outer_hash(struct outer *o, const struct callers *c, uint64_t space)
{
	uint64_t h = 0x2d358dccaa6c78a5ull ^ space;

	h = mul_fold(h ^ c->end, 0x8bb84b93962eacc9ull);
	o->n = 0;
	/* The innermost address may not be a return address. */
	while (o->n < OUTER_PARTS && (o->n + 1) * OUTER_STEP < c->nuser) {
		h = part_hash(h, c->user + c->nuser - (o->n + 1) * OUTER_STEP,
			      OUTER_STEP);
		o->hash[o->n++] = h | 1;
	}
}

/* Returns the number of parts that have a node, and the node. */
static uint32_t outer_known(const struct stacks *s, const struct outer *o,
			    uint32_t *node)
{
	uint32_t n = o->n;

	for (; n; n--) {
		const struct caller_slot *slot =
			slot_of_callers(s->cache, o->hash[n - 1]);

		if (slot->hash == o->hash[n - 1]) {
			*node = slot->node;
			break;
		}
	}
	return n;
}

static uint32_t user_build(struct stacks *s, struct mapset *maps,
			   const struct callers *c)
{
	uint32_t n = user_count(s, maps, c, c->nuser), node = c->end;

	if (n < c->nuser && n < CHAIN_MAX && !c->exact)
		node = profile_end(s->profile, PROF_MARK_BROKEN,
				   PROF_END_NO_CODE, PROF_NONE);
	while (n-- > 0 && node != PROF_NONE)
		node = node_below(s, node, loc_find(s, maps, false,
						    user_address(c, n)));
	return node;
}

/* Does the same for a walked stack, from the outer frames that are known. */
static uint32_t walked_build(struct stacks *s, struct mapset *maps,
			     const struct callers *c)
{
	struct outer o;
	uint32_t node = c->end, known, left = c->nuser;

	outer_hash(&o, c, space_of(s, maps));
	known = outer_known(s, &o, &node);
	left -= known * OUTER_STEP;
	if (user_count(s, maps, c, left) < left)
		return user_build(s, maps, c);
	while (left-- > 0 && node != PROF_NONE) {
		node = node_below(s, node, user_loc(s, maps, user_address(c, left)));
		if (known < o.n && node != PROF_NONE &&
		    left == c->nuser - (known + 1) * OUTER_STEP) {
			callers_set(s->cache, o.hash[known], node);
			known++;
		}
	}
	return node;
}

/* Builds from the outside inwards, so that locations and nodes are numbered in the
 * same order, which takes less space in the file. */
static uint32_t callers_build(struct stacks *s, struct mapset *maps,
			      const struct callers *c)
{
	uint32_t node = c->exact ? walked_build(s, maps, c)
				 : user_build(s, maps, c);

	for (uint32_t i = c->nkernel; i-- > 0 && node != PROF_NONE;)
		node = node_below(s, node, loc_find(s, maps, true,
						    c->kernel[i] - 1));
	return node;
}

static uint32_t callers_node(struct stacks *s, struct mapset *maps,
			     const struct callers *c)
{
	const struct caller_slot *slot;
	uint64_t hash;
	uint32_t node;

	if (!c->nkernel && !c->nuser)
		return c->end;
	hash = callers_hash(c, space_of(s, maps),
			    c->nkernel ? s->kernel->space : 0);
	slot = slot_of_callers(s->cache, hash);
	if (slot->hash == hash)
		return slot->node;
	node = callers_build(s, maps, c);
	if (node != PROF_NONE)
		callers_set(s->cache, hash, node);
	return node;
}

/* Returns the node of the mark at a stack's outer end; 0: none. */
static uint32_t end_node(struct stacks *s, const struct mapset *maps,
			 const struct record_sample *in)
{
	uint32_t image = PROF_NONE;

	if (!in->walked)
		return in->cut ? profile_end(s->profile, PROF_MARK_CUT,
					     PROF_END_UNKNOWN, PROF_NONE) : 0;
	if (!in->end.mark)
		return 0;
	if (in->end.image < s->images->v.n) {
		image = images_name_code(s->images, in->end.image, maps) < 0
			? PROF_NONE : images_row(s->images, in->end.image);
		if (image == PROF_NONE)
			return PROF_NONE;
	}
	return profile_end(s->profile, in->end.mark, in->end.reason, image);
}

/* Returns the node of a deep stack's frames, on which `user` is built.  Frames shared
 * with the thread's last sample have their nodes already. */
static uint32_t deep_node(struct stacks *s, struct mapset *maps,
			  struct deep_stack *d, uint32_t end)
{
	if (d->end_node != end || d->epoch != s->epoch)
		d->node.n = 0;
	d->end_node = end;
	d->epoch = s->epoch;
	while (d->node.n < d->pc.n) {
		size_t i = d->node.n;
		uint32_t node = node_below(s, i ? d->node.v[i - 1] : end,
					   loc_find(s, maps, false,
						    d->pc.v[i]));

		if (node == PROF_NONE || vec_push(&d->node, node) < 0)
			return PROF_NONE;
	}
	return d->pc.n ? d->node.v[d->pc.n - 1] : end;
}

static uint32_t guest_loc(struct stacks *s, const struct record_sample *in)
{
	return loc_intern(s, s->images->guest,
			  in->nuser ? in->user[0]
				    : in->nkernel ? in->kernel[0] : 0);
}

/* Returns the location for an unknown place, in the kernel or elsewhere: one image
 * with a single name. */
static uint32_t somewhere_loc(struct stacks *s, const char *name, uint8_t kind)
{
	uint32_t image = image_special(s->images, name, kind, 0);
	struct recorded_image *r;

	if (image == UINT32_MAX)
		return PROF_NONE;
	r = &s->images->v.v[image];
	if (!r->symbol)
		r->symbol = strdup(name);
	return r->symbol ? loc_intern(s, image, 0) : PROF_NONE;
}

/* Returns the innermost location. */
static uint32_t leaf_loc(struct stacks *s, struct mapset *maps,
			 const struct record_sample *in)
{
	if (in->place)
		return somewhere_loc(s, in->place, PROF_IMAGE_UNKNOWN);
	if (in->nkernel)
		return loc_find(s, maps, true, in->kernel[0]);
	if (in->in_kernel)
		return somewhere_loc(s, "[kernel]", PROF_IMAGE_GENERATED);
	return in->nuser ? loc_find(s, maps, false, in->user[0])
			 : loc_intern(s, s->images->unknown, 0);
}

uint32_t stacks_add(struct stacks *s, struct mapset *maps,
		    const struct record_sample *in, uint32_t *loc)
{
	struct callers c = { in->kernel, in->user, in->nkernel, in->nuser,
			     false, in->walked, 0 };
	uint32_t node;

	cache_grow(s->cache);
	if (in->guest) {
		*loc = guest_loc(s, in);
		return node_below(s, 0, *loc);
	}
	if (c.nkernel) {
		c.kernel++;
		c.nkernel--;
	} else if (!in->in_kernel && c.nuser) {
		c.user++;
		c.nuser--;
		c.user_called = true;
	}
	if (c.nkernel > CHAIN_MAX)
		c.nkernel = CHAIN_MAX;
	c.end = end_node(s, maps, in);
	if (in->deep && c.end != PROF_NONE)
		c.end = deep_node(s, maps, in->deep, c.end);
	if (c.end == PROF_NONE)
		return PROF_NONE;
	node = callers_node(s, maps, &c);
	*loc = leaf_loc(s, maps, in);
	return node_below(s, node, *loc);
}
