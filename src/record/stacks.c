// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "record/image_special.h"

enum {
	LOC_SLOTS = 1 << 14,
	CALLER_SLOTS = 1 << 15,
	CHAIN_MAX = 1 << 12,	/* frames of one stack that are looked at */
};

struct loc_slot {
	uint64_t addr;
	uint32_t space;		/* generation, of process or kernel */
	uint32_t loc;
};

struct caller_slot {
	uint64_t hash;		/* 0: empty */
	uint32_t node;
};

int stacks_init(struct stacks *s, struct profile *p, struct images *im,
		struct kernel_maps *k)
{
	s->profile = p;
	s->images = im;
	s->kernel = k;
	s->locs = calloc(LOC_SLOTS, sizeof(*s->locs));
	s->callers = calloc(CALLER_SLOTS, sizeof(*s->callers));
	if (!s->locs || !s->callers) {
		stacks_fini(s);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < LOC_SLOTS; i++)
		s->locs[i].loc = PROF_NONE;
	return 0;
}

void stacks_fini(struct stacks *s)
{
	free(s->locs);
	free(s->callers);
	s->locs = NULL;
	s->callers = NULL;
}

static uint32_t loc_intern(struct stacks *s, uint32_t image, uint64_t vaddr)
{
	uint32_t row = images_row(s->images, image);

	return row == PROF_NONE ? row : profile_loc(s->profile, row, vaddr);
}

/* The page of x86-64 that stands above all processes and is told of as nobody's
 * mapping. */
static bool is_vsyscall(uint64_t addr)
{
	return (addr & ~0xfffull) == 0xffffffffff600000ull;
}

/* The location of an address.  A caller in no mapping is not one, but the end
 * of what is known: *unmapped.  (So is the user side while exec replaces
 * it.) */
static uint32_t loc_find(struct stacks *s, struct mapset *maps, bool kernel,
			 uint64_t addr, bool caller, bool *unmapped)
{
	uint32_t space = kernel ? s->kernel->space : maps->generation;
	struct loc_slot *slot = &s->locs[hash_mix(addr, space) &
					 (LOC_SLOTS - 1)];
	uint32_t image = s->images->unknown;
	const struct map *m;
	uint64_t vaddr = addr;

	if (slot->addr == addr && slot->space == space &&
	    slot->loc != PROF_NONE)
		return slot->loc;
	if (kernel) {
		image = kernel_maps_find(s->kernel, addr, &vaddr);
	} else {
		m = mapset_find(maps, addr);
		if (!m && is_vsyscall(addr)) {
			image = image_special(s->images, "[vsyscall]",
					      PROF_IMAGE_ANON, 0);
			if (image == UINT32_MAX)
				return PROF_NONE;
		} else if (!m && caller) {
			*unmapped = true;
			return PROF_NONE;
		}
		if (m) {
			image = m->image;
			vaddr = addr + m->delta;
		}
	}
	slot->loc = loc_intern(s, image, vaddr);
	slot->addr = addr;
	slot->space = space;
	/* An address without mapping may belong to one later. */
	if (image == s->images->unknown) {
		uint32_t loc = slot->loc;

		slot->loc = PROF_NONE;
		return loc;
	}
	return slot->loc;
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

/* A stack's frames apart from the innermost. */
struct callers {
	const uint64_t *kernel, *user;
	uint32_t nkernel, nuser;
	bool user_called;	/* user[0] is a return address, too */
	bool exact;		/* none of `user` is: they are as they should */
	uint32_t end;		/* node of the mark at the outer end, or 0 */
};

static uint64_t callers_hash(const struct callers *c, uint32_t space,
			     uint32_t kernel)
{
	uint64_t h = 0x8ebc6af09c88c6e3ull ^ space ^ (uint64_t)kernel << 32;

	h = part_hash(h, c->kernel, c->nkernel);
	h = part_hash(h ^ c->user_called ^ (uint64_t)c->exact << 1, c->user,
		      c->nuser);
	return mul_fold(h ^ c->end, 0x589965cc75374cc3ull) | 1;
}

/* The user part's locations, innermost first, up to the first that is no code;
 * their number, or -1 when out of memory. */
static int user_locs(struct stacks *s, struct mapset *maps,
		     const struct callers *c, uint32_t *locs, bool *broken)
{
	int n = 0;

	for (uint32_t i = 0; i < c->nuser && n < CHAIN_MAX; i++) {
		bool called = !c->exact && (i || c->user_called);
		uint32_t loc = loc_find(s, maps, false, c->user[i] - called,
					true, broken);

		if (*broken)
			break;
		if (loc == PROF_NONE)
			return -1;
		locs[n++] = loc;
	}
	return n;
}

static uint32_t callers_build(struct stacks *s, struct mapset *maps,
			      const struct callers *c)
{
	uint32_t locs[CHAIN_MAX], node = c->end;
	bool broken = false;
	int n = user_locs(s, maps, c, locs, &broken);

	if (n < 0)
		return PROF_NONE;
	if (broken && !c->exact)
		node = profile_end(s->profile, PROF_MARK_BROKEN,
				   PROF_END_NO_CODE, PROF_NONE);
	while (n-- > 0 && node != PROF_NONE)
		node = profile_node(s->profile, node, locs[n]);
	for (uint32_t i = c->nkernel; i-- > 0 && node != PROF_NONE;) {
		uint32_t loc = loc_find(s, maps, true, c->kernel[i] - 1, true,
					&broken);

		if (loc == PROF_NONE)
			return PROF_NONE;
		node = profile_node(s->profile, node, loc);
	}
	return node;
}

static uint32_t callers_node(struct stacks *s, struct mapset *maps,
			     const struct callers *c)
{
	struct caller_slot *slot;
	uint64_t hash;

	if (!c->nkernel && !c->nuser)
		return c->end;
	hash = callers_hash(c, maps->generation,
			    c->nkernel ? s->kernel->space : 0);
	slot = &s->callers[(hash >> 32) & (CALLER_SLOTS - 1)];
	if (slot->hash == hash)
		return slot->node;
	slot->node = callers_build(s, maps, c);
	slot->hash = slot->node == PROF_NONE ? 0 : hash;
	return slot->node;
}

/* The node of the mark at a stack's outer end, 0 when it has none. */
static uint32_t end_node(struct stacks *s, const struct record_sample *in)
{
	uint32_t image = PROF_NONE;

	if (!in->walked)
		return in->cut ? profile_end(s->profile, PROF_MARK_CUT,
					     PROF_END_UNKNOWN, PROF_NONE) : 0;
	if (!in->end.mark)
		return 0;
	if (in->end.image < s->images->v.n) {
		image = images_row(s->images, in->end.image);
		if (image == PROF_NONE)
			return PROF_NONE;
	}
	return profile_end(s->profile, in->end.mark, in->end.reason, image);
}

static uint32_t guest_loc(struct stacks *s, const struct record_sample *in)
{
	return loc_intern(s, s->images->guest,
			  in->nuser ? in->user[0]
				    : in->nkernel ? in->kernel[0] : 0);
}

/* Somewhere in the kernel: one image, with its name for all that is in it. */
static uint32_t somewhere_loc(struct stacks *s)
{
	uint32_t image = image_special(s->images, "[kernel]",
				       PROF_IMAGE_GENERATED, 0);
	struct recorded_image *r;

	if (image == UINT32_MAX)
		return PROF_NONE;
	r = &s->images->v.v[image];
	if (!r->symbol)
		r->symbol = strdup("[kernel]");
	return r->symbol ? loc_intern(s, image, 0) : PROF_NONE;
}

uint32_t stacks_add(struct stacks *s, struct mapset *maps,
		    const struct record_sample *in, uint32_t *loc)
{
	struct callers c = { in->kernel, in->user, in->nkernel, in->nuser,
			     false, in->walked, 0 };
	bool unmapped = false;
	uint32_t node;

	if (in->guest) {
		*loc = guest_loc(s, in);
		return *loc == PROF_NONE ? PROF_NONE
					 : profile_node(s->profile, 0, *loc);
	}
	if (c.nkernel) {
		*loc = loc_find(s, maps, true, *c.kernel++, false, &unmapped);
		c.nkernel--;
	} else if (in->in_kernel) {
		*loc = somewhere_loc(s);
	} else if (c.nuser) {
		*loc = loc_find(s, maps, false, *c.user++, false, &unmapped);
		c.nuser--;
		c.user_called = true;
	} else {
		*loc = loc_intern(s, s->images->unknown, 0);
	}
	if (c.nkernel > CHAIN_MAX)
		c.nkernel = CHAIN_MAX;
	c.end = end_node(s, in);
	if (c.end == PROF_NONE)
		return PROF_NONE;
	node = callers_node(s, maps, &c);
	if (*loc == PROF_NONE || node == PROF_NONE)
		return PROF_NONE;
	return profile_node(s->profile, node, *loc);
}
