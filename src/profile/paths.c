// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/range.h"

enum {
	GROUP_SECTIONS = 16,	/* that damage can cost */
	ROWS_LEAST = 32,	/* to begin a group with */
	ROWS_A_BYTE = 8,	/* of a section at most, and … */
	ROWS_MORE = 1024,
	LEVELS = 255,		/* that a path is followed up */
	RECENT = 8,		/* callees that are remembered */
	MARKS = 15,
	PLACES = 16,		/* images whose last address is remembered */
};

/* Where a node's parent is, that is not the node before it, … */
enum { ABOVE, ROOT, BACK };
/* … and what its location is. */
enum { NEW, MARK, OLD, KNOWN };

/* Where a caller's last callees were, the latest first. */
struct callees {
	uint32_t loc[RECENT];	/* PROF_NONE: fewer */
};

struct models {
	struct range_bit next[2][3];
	struct range_number parent, levels, back;
	struct range_number kind[2][4];
	struct range_number mark, old;
	struct range_bit same[2];
	struct range_number image, near, far;
};

struct paths {
	struct range r;
	struct prof_node *nodes;	/* of the profile at hand */
	struct prof_loc *locs;
	/* the group: */
	uint32_t sections;
	uint32_t first_node, first_loc;
	uint32_t node, loc;		/* that come next */
	uint32_t end_loc;		/* of the section */
	uint32_t image;			/* of the last new location */
	uint64_t vaddr[PLACES];
	bool run;			/* the last node's parent was the one
					 * before */
	struct u64map index;		/* caller to callees */
	VEC(struct callees) callees;
	struct profile *p;		/* that is read, or NULL */
	size_t charged;			/* callees */
	struct models m;
};

struct paths *paths_new(void)
{
	return calloc(1, sizeof(struct paths));
}

void paths_free(struct paths *s)
{
	if (!s)
		return;
	u64map_fini(&s->index);
	vec_fini(&s->callees);
	free(s);
}

static void begin_group(struct paths *s, uint32_t loc, uint32_t node)
{
	u64map_clear(&s->index);
	s->callees.n = 0;
	s->sections = 0;
	s->first_loc = s->loc = loc;
	s->first_node = s->node = node;
	s->image = 0;
	s->run = false;
	memset(s->vaddr, 0, sizeof(s->vaddr));
	memset(&s->m, 0, sizeof(s->m));
}

static bool writing(const struct paths *s)
{
	return s->r.out;
}

/* How many levels above node i - 1 the parent is, 0: not above, or far, or not
 * of the group. */
static uint32_t levels_up(const struct paths *s, uint32_t i, uint32_t parent)
{
	uint32_t at = i - 1, n = 0;

	while (at >= s->first_node && at > parent && n <= LEVELS) {
		at = s->nodes[at].parent;
		n++;
	}
	return at == parent && at >= s->first_node && n <= LEVELS ? n : 0;
}

static bool go_up(const struct paths *s, uint32_t i, uint64_t levels,
		  uint32_t *parent)
{
	uint32_t at = i - 1;

	for (uint64_t n = 0; n < levels && at >= s->first_node; n++)
		at = s->nodes[at].parent;
	*parent = at;
	return levels <= LEVELS && at >= s->first_node;
}

/* The next location, called from where the callees are (or NULL). */
static bool code_place(struct paths *s, const struct callees *k)
{
	struct prof_loc *l = &s->locs[s->loc];
	uint32_t last = k ? k->loc[0] : PROF_NONE;
	bool known = last != PROF_NONE && last >= s->first_loc, near;
	uint32_t image = known ? s->locs[last].image : s->image;
	uint64_t v = l->image, base;

	if (range_bit(&s->r, &s->m.same[known], v == image))
		v = image;
	else
		v = range_number(&s->r, &s->m.image, v);
	if (v > UINT32_MAX)
		return false;
	image = (uint32_t)v;
	near = known && s->locs[last].image == image;
	base = near ? s->locs[last].vaddr : s->vaddr[image % PLACES];
	v = range_number(&s->r, near ? &s->m.near : &s->m.far,
			 range_zigzag(l->vaddr - base));
	*l = (struct prof_loc){ image, base + range_unzigzag(v) };
	s->image = image;
	s->vaddr[image % PLACES] = l->vaddr;
	s->loc++;
	return true;
}

/* What the file said before the group may be damaged. */
static uint64_t caller_key(const struct paths *s, uint32_t node)
{
	return node >= s->first_node ? s->nodes[node].loc : 1ull << 32 | node;
}

/* Their room is kept from group to group. */
static bool charge_callees(struct paths *s)
{
	/* tables that have grown, and the index */
	uint64_t each = 2 * sizeof(struct callees) + 24;

	if (!s->p || s->callees.n < s->charged)
		return true;
	s->charged++;
	return profile_charge(s->p, each);
}

static struct callees *callees_of(struct paths *s, uint32_t parent)
{
	uint32_t *slot = u64map_slot(&s->index, caller_key(s, parent));
	struct callees none;

	if (!slot)
		return NULL;
	if (*slot == U64MAP_NONE) {
		memset(&none, 0xff, sizeof(none));
		if (!charge_callees(s) ||
		    vec_push(&s->callees, none) < 0) {
			*slot = 0;
			return NULL;
		}
		*slot = (uint32_t)s->callees.n - 1;
	}
	return &s->callees.v[*slot];
}

static unsigned int count_callees(const struct callees *k)
{
	unsigned int n = 0;

	while (n < 3 && k->loc[n] != PROF_NONE)
		n++;
	return n;
}

/* Node i - 1 is the parent more often when nothing was called from its place
 * so far. */
static struct range_bit *next_model(struct paths *s, uint32_t i)
{
	uint32_t at = u64map_get(&s->index, caller_key(s, i - 1));
	unsigned int n = at == U64MAP_NONE
		? 0 : count_callees(&s->callees.v[at]);

	return &s->m.next[s->run][n < 2 ? n : 2];
}

static bool code_parent(struct paths *s, uint32_t i, uint32_t *parent)
{
	uint64_t n = 0, v = BACK;

	s->run = range_bit(&s->r, next_model(s, i), *parent == i - 1);
	if (s->run) {
		*parent = i - 1;
		return true;
	}
	if (writing(s)) {
		n = levels_up(s, i, *parent);
		v = n ? ABOVE : *parent ? BACK : ROOT;
	}
	v = range_number(&s->r, &s->m.parent, v);
	if (v == ABOVE) {
		n = range_number(&s->r, &s->m.levels, n - 1);
		return writing(s) || go_up(s, i, n + 1, parent);
	}
	if (v == ROOT) {
		*parent = 0;
		return true;
	}
	n = range_number(&s->r, &s->m.back, i - 1 - *parent);
	if (v != BACK || n > i - 1)
		return false;
	*parent = (uint32_t)(i - 1 - n);
	return true;
}

static unsigned int rank_of(const struct callees *k, uint32_t loc)
{
	unsigned int i = 0;

	while (i < RECENT && k->loc[i] != loc)
		i++;
	return i;
}

static uint64_t kind_of(const struct paths *s, const struct callees *k,
			uint32_t loc)
{
	unsigned int rank = rank_of(k, loc);

	if (rank < RECENT)
		return KNOWN + rank;
	return loc >= PROF_MARK ? MARK : loc == s->loc ? NEW : OLD;
}

static void make_latest(struct callees *k, unsigned int rank, uint32_t loc)
{
	if (rank >= RECENT)
		rank = RECENT - 1;
	memmove(&k->loc[1], &k->loc[0], rank * sizeof(k->loc[0]));
	k->loc[0] = loc;
}

static bool code_known(struct callees *k, uint64_t rank, uint32_t *loc)
{
	if (rank >= RECENT || k->loc[rank] == PROF_NONE)
		return false;
	*loc = k->loc[rank];
	make_latest(k, (unsigned int)rank, *loc);
	return true;
}

static bool code_loc(struct paths *s, uint32_t parent, uint32_t *loc)
{
	struct callees *k = callees_of(s, parent);
	unsigned int n;
	uint64_t v = 0;

	if (!k)
		return false;
	n = count_callees(k);
	if (writing(s))
		v = kind_of(s, k, *loc);
	v = range_number(&s->r, &s->m.kind[s->run][n], v);
	switch (v) {
	case NEW:
		if (s->loc >= s->end_loc || !code_place(s, k))
			return false;
		*loc = s->loc - 1;
		break;
	case MARK:
		v = range_number(&s->r, &s->m.mark, *loc - PROF_MARK);
		*loc = PROF_MARK + (uint32_t)v;
		return v < MARKS;
	case OLD:
		v = range_number(&s->r, &s->m.old, s->loc - 1ull - *loc);
		if (v >= s->loc)
			return false;
		*loc = (uint32_t)(s->loc - 1 - v);
		break;
	default:
		return code_known(k, v - KNOWN, loc);
	}
	make_latest(k, RECENT, *loc);
	return true;
}

static bool code_rows(struct paths *s, uint32_t end_node)
{
	for (; s->node < end_node; s->node++) {
		struct prof_node n = s->nodes[s->node];

		if (s->r.missing > 4 || !code_parent(s, s->node, &n.parent) ||
		    !code_loc(s, n.parent, &n.loc))
			return false;
		s->nodes[s->node] = n;
	}
	while (s->loc < s->end_loc)
		if (s->r.missing > 4 || !code_place(s, NULL))
			return false;
	return range_end(&s->r);
}

/* Every node's parent and location are there before it, and new locations come
 * in the order of their ids. */
static bool can_be_told(const struct profile *p, size_t loc, size_t node)
{
	for (size_t i = node; i < p->nodes.n; i++) {
		const struct prof_node *n = &p->nodes.v[i];

		if (n->parent >= i || n->loc == PROF_NONE ||
		    (n->loc < PROF_MARK && n->loc > loc))
			return false;
		loc += n->loc == loc;
	}
	return true;
}

bool paths_put(struct paths *s, struct buf *out, const struct profile *p,
	       size_t loc, size_t node)
{
	size_t rows = p->nodes.n - node + p->locs.n - loc;
	struct buf body = { 0 };
	size_t from;
	bool good;

	if (s->sections && (s->sections == GROUP_SECTIONS || s->node != node ||
			    s->loc != loc))
		s->sections = 0;
	if ((!s->sections && rows < ROWS_LEAST) || !can_be_told(p, loc, node)) {
		s->sections = 0;
		return false;
	}
	if (!s->sections)
		begin_group(s, (uint32_t)loc, (uint32_t)node);
	s->nodes = p->nodes.v;
	s->locs = p->locs.v;
	s->end_loc = (uint32_t)p->locs.n;
	buf_uleb(&body, s->sections++);
	buf_uleb(&body, loc);
	buf_uleb(&body, p->locs.n - loc);
	buf_uleb(&body, node);
	buf_uleb(&body, p->nodes.n - node);
	from = body.n;
	range_write(&s->r, &body);
	good = code_rows(s, (uint32_t)p->nodes.n) && !body.failed &&
	       rows <= (body.n - from) * ROWS_A_BYTE + ROWS_MORE;
	if (good)
		section_put(out, SECTION_PATHS, &body);
	else
		s->sections = 0;
	buf_fini(&body);
	return good;
}

/* Rows that could not be read, for those that refer to them. */
static void forget_rows(struct profile *p, size_t loc, size_t node)
{
	for (size_t i = loc; i < p->locs.n; i++)
		p->locs.v[i] = (struct prof_loc){ 0 };
	for (size_t i = node; i < p->nodes.n; i++)
		p->nodes.v[i] = (struct prof_node){ 0, PROF_MARK_DAMAGED };
}

static bool get_rows(struct paths *s, struct profile *p, struct cursor *c,
		     uint64_t locs, uint64_t nodes)
{
	uint32_t loc = s->loc, node = s->node;

	/* What the file lost before, then the rows of this section. */
	if (!profile_charge(p, (loc + locs - p->locs.n + node + nodes -
				p->nodes.n) * PROF_STACK_VIEWS) ||
	    profile_reserve(p, &p->locs, (size_t)(loc + locs)) < 0 ||
	    profile_reserve(p, &p->nodes, (size_t)(node + nodes)) < 0)
		return false;
	for (; p->locs.n < loc + locs; p->locs.n++)
		p->locs.v[p->locs.n] = (struct prof_loc){ 0 };
	for (; p->nodes.n < node + nodes; p->nodes.n++)
		p->nodes.v[p->nodes.n] =
			(struct prof_node){ 0, PROF_MARK_DAMAGED };
	s->p = p;
	s->nodes = p->nodes.v;
	s->locs = p->locs.v;
	s->end_loc = (uint32_t)(loc + locs);
	range_read(&s->r, c->p, cursor_left(c));
	if (code_rows(s, (uint32_t)(node + nodes)))
		return true;
	forget_rows(p, loc, node);
	return false;
}

bool paths_get(struct paths *s, struct profile *p, struct cursor *c,
	       size_t gap)
{
	uint64_t section = cursor_uleb(c);
	uint64_t loc = cursor_uleb(c), locs = cursor_uleb(c);
	uint64_t node = cursor_uleb(c), nodes = cursor_uleb(c);
	uint64_t limit = (uint64_t)cursor_left(c) * ROWS_A_BYTE + ROWS_MORE;
	bool good;

	if (c->bad || section >= UINT32_MAX || locs > limit || nodes > limit ||
	    !section_placed(loc, locs, p->locs.n, false, gap) ||
	    !section_placed(node, nodes, p->nodes.n, false, gap) ||
	    loc + locs > PROF_MARK || node + nodes > PROF_MARK)
		return false;
	if (!section)
		begin_group(s, (uint32_t)loc, (uint32_t)node);
	/* A group is read from its first section on, or not at all. */
	good = section == s->sections && s->loc == loc && s->node == node &&
	       (section || !s->sections);
	if (good)
		good = get_rows(s, p, c, locs, nodes);
	s->sections = good ? s->sections + 1 : UINT32_MAX;
	return good;
}
