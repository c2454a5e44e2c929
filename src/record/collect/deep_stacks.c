// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the outer frames of very deep stacks from sample to sample. */
#include "record/collect/deep_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/search.h"
#include "unwind/unwind.h"

enum {
	SAME = 16,	/* frames of the walk that must equal the kept ones */
	NEAR = 512,	/* nearest return addresses, all compared */
	SPREAD = 16,	/* number of groups spread over all others */
	PLACE = 16,	/* return addresses compared in each group */
};

void deep_drop(struct deep_stack *k)
{
	vec_fini(&k->pc);
	vec_fini(&k->sp);
	vec_fini(&k->marks);
	vec_fini(&k->node);
	memset(k, 0, sizeof(*k));
}

void deep_fini(struct deep_stacks *d)
{
	for (size_t i = 0; i < DEEP_THREADS; i++)
		deep_drop(&d->stacks[i]);
}

void deep_forget_nodes(struct deep_stacks *d)
{
	for (size_t i = 0; i < DEEP_THREADS; i++)
		d->stacks[i].node.n = 0;
}

void deep_drop_ended(struct deep_stacks *d)
{
	for (size_t i = 0; i < DEEP_THREADS; i++) {
		struct deep_stack *k = &d->stacks[i];

		if (k->pc.n && (!k->pid || (syscall(SYS_tgkill, (int)k->pid,
						    (int)k->tid, 0) < 0 &&
					    errno == ESRCH)))
			deep_drop(k);
	}
}

struct deep_stack *deep_find(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			     uint32_t space)
{
	for (size_t i = 0; i < DEEP_THREADS; i++) {
		struct deep_stack *k = &d->stacks[i];

		if (!k->pc.n || k->pid != pid || k->tid != tid)
			continue;
		if (k->space != space) {
			deep_drop(k);
			return NULL;
		}
		k->used = ++d->clock;
		return k;
	}
	return NULL;
}

/* Returns an empty stack, or the one unused for longest. */
static struct deep_stack *oldest(struct deep_stacks *d)
{
	struct deep_stack *k = &d->stacks[0];

	for (size_t i = 1; i < DEEP_THREADS; i++)
		if (d->stacks[i].used < k->used)
			k = &d->stacks[i];
	return k;
}

struct deep_stack *deep_new(struct deep_stacks *d, uint32_t pid, uint32_t tid,
			    uint32_t space)
{
	struct deep_stack *k = deep_find(d, pid, tid, space);
	size_t kept = 0;

	if (k)
		deep_drop(k);
	k = oldest(d);
	deep_drop(k);
	for (size_t i = 0; i < DEEP_THREADS; i++)
		kept += d->stacks[i].pc.n;
	for (size_t i = 0; kept > (DEEP_KEPT - 1) * d->most && i < DEEP_THREADS;
	     i++) {
		kept -= d->stacks[i].pc.n;
		deep_drop(&d->stacks[i]);
	}
	k->pid = pid;
	k->tid = tid;
	k->space = space;
	k->used = ++d->clock;
	return k;
}

struct deep_stack *deep_new_unshared(struct deep_stacks *d)
{
	return deep_new(d, 0, 0, 0);	/* no sample has a stack of pid 0 */
}

/* Returns the frame with this stack pointer, or -1.  Stacks grow down. */
static ssize_t find_sp(const struct deep_stack *k, uint64_t sp)
{
	size_t at;

	lower_bound(at, 0, k->sp.n, k->sp.v[at] > sp);
	return at < k->sp.n && k->sp.v[at] == sp ? (ssize_t)at : -1;
}

/* Returns whether the return address from frame i of k to frame i + 1 is still in
 * place.  It is just below the frame's own stack pointer. */
static bool still_there(const struct deep_stack *k, struct live_memory *live,
			size_t i, unsigned int word)
{
	uint64_t ra = 0;

	if (k->marks.v[i] & UNWIND_EXACT)	/* it called nothing */
		return true;
	return live_read(live, k->pid, k->sp.v[i] - word, &ra, word) &&
	       ra == k->pc.v[i] + 1;
}

static bool all_there(const struct deep_stack *k, struct live_memory *live,
		      size_t from, size_t to, unsigned int word)
{
	for (size_t i = from; i < to; i++)
		if (!still_there(k, live, i, word))
			return false;
	return true;
}

static bool outer_same(const struct deep_stack *k, struct live_memory *live,
		       size_t at, unsigned int word)
{
	size_t near = at > NEAR ? at - NEAR : 0, step = near / SPREAD + 1;

	if (!all_there(k, live, near, at, word))
		return false;
	/* compare different ones each time, so that all are checked in time */
	for (size_t i = live->batch * 7919ull % step; i < near; i += step) {
		size_t to = i + PLACE < near ? i + PLACE : near;

		if (!all_there(k, live, i, to, word))
			return false;
	}
	return true;
}

ssize_t deep_join(const struct deep_stack *k, struct live_memory *live,
		  const struct unwind_stack *out, unsigned int word)
{
	ssize_t at = out->n > SAME ? find_sp(k, out->sp[out->n - 1]) : -1;

	if (at < 0)
		return -1;
	for (size_t i = 0; i < SAME && (size_t)at + i < k->pc.n; i++) {
		size_t of = out->n - 1 - i;

		if (out->pc[of] != k->pc.v[(size_t)at + i] ||
		    out->sp[of] != k->sp.v[(size_t)at + i])
			return -1;
	}
	if ((size_t)at + SAME > k->pc.n)
		return -1;
	return outer_same(k, live, (size_t)at, word) ? at : -1;
}

bool deep_keep(const struct deep_stacks *d, struct deep_stack *k, size_t at,
	       const struct unwind_stack *out, size_t inner)
{
	size_t n = at + (out->n - inner);

	k->pc.n = k->sp.n = k->marks.n = at;
	if (k->node.n > at)
		k->node.n = at;
	if (n > d->most - DEEP_INNER || vec_reserve(&k->pc, n) < 0 ||
	    vec_reserve(&k->sp, n) < 0 || vec_reserve(&k->marks, n) < 0) {
		deep_drop(k);
		return false;
	}
	for (size_t i = out->n; i-- > inner;) {
		k->pc.v[k->pc.n++] = out->pc[i];
		k->sp.v[k->sp.n++] = out->sp[i];
		k->marks.v[k->marks.n++] = out->marks[i];
	}
	return true;
}
