// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the kinds of stacks, and decides which waits are polled for theirs. */
#include "record/collect/stack_kinds.h"

#include "record/collect/collect_waits.h"

enum {
	/* Polls of a thread after a wait without a kind, and at most, if its waits are
	 * too short for them. */
	KIND_POLLS = 25,
	KIND_POLLS_MAX = 200,
	KINDS_MAX = 1 << 17,	/* maximum number of rows for kinds in a file */
	/* The same stack may read from different files.  This many of its
	 * waits are polled, then one of every this many. */
	KIND_OBJECTS = 16,
};

bool stack_kinds_needed(struct collector *c, uint32_t stack)
{
	struct wait_samples *ws = &c->wait_samples;
	uint32_t n = u64map_get(&ws->kinds, (uint64_t)stack << 16);

	if (n == U64MAP_NONE)
		return c->profile->wait_kinds.n < KINDS_MAX;
	return n < KIND_OBJECTS ||
	       (n == KIND_OBJECTS && !(collect_random(&ws->random) % KIND_OBJECTS));
}

/* Adds a kind to those of a stack. */
static int add_kind(struct collector *c, uint32_t stack, wait_kind kind,
		    struct error *err)
{
	struct u64map *kinds = &c->wait_samples.kinds;
	struct prof_wait_kind row = { .node = stack };
	uint32_t *n = u64map_slot(kinds, (uint64_t)stack << 16), *slot;
	char text[32];

	/* A stack is always in the same call. */
	if (n && (*n == U64MAP_NONE || !(kind >> 8)))
		*n = kind >> 8 ? 1 : KIND_OBJECTS + 1;
	else if (n && *n < KIND_OBJECTS)
		++*n;
	slot = u64map_slot(kinds, (uint64_t)stack << 16 | kind);
	if (slot && *slot != U64MAP_NONE)
		return 0;
	if (slot)
		*slot = 1;
	wait_kind_text(kind, text, sizeof(text));
	row.kind = profile_str(c->profile, text);
	return !slot || row.kind == PROF_NONE ||
	       vec_push(&c->profile->wait_kinds, row) < 0
	       ? error_set(err, ERR_NOMEM, "out of memory for waits") : 0;
}

int stack_kinds_take(struct collector *c, const struct wait *w, uint32_t stack,
		     struct error *err)
{
	struct wait_samples *ws = &c->wait_samples;
	size_t n = c->profile->wait_kinds.n;
	struct waiter *t;
	int rc;

	if (w->runnable || w->found > WAIT_POLLED)
		return 0;
	t = ws->polled ? NULL : waits_find(&c->waits, w->tid);
	if (w->kind) {
		rc = n >= KINDS_MAX ? 0 : add_kind(c, stack, w->kind, err);
		if (t && c->profile->wait_kinds.n > n)
			t->kind_polls = 0;
		return rc;
	}
	if (!t || t->kind_polls >= KIND_POLLS_MAX || !stack_kinds_needed(c, stack))
		return 0;
	t->kind_left = KIND_POLLS;
	ws->kinds_wanted_ns = w->end_ns;
	return 0;
}
