// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the tables of a file into the model: see reader_internal.h. */
#include <errno.h>
#include <stdlib.h>

#include "profile/reader_internal.h"

/* Maximum number of rows that may be missing before a table section once damage
 * was found. */
enum { MAX_GAP = 1 << 20 };

/* Loads a list of sections into the model.  Returns false if any of them is
 * invalid. */
static bool load_sections(struct reader *r, const uint8_t *p, size_t n)
{
	struct cursor c = cursor_of(p, n);
	size_t gap = r->damage.bad_chunks ? MAX_GAP : 0;
	bool good = true;

	while (cursor_left(&c)) {
		uint64_t kind = cursor_uleb(&c), length = cursor_uleb(&c);
		struct cursor body = cursor_sub(&c, length);

		if (c.bad)
			return false;
		good &= section_get(&r->profile, kind, &body, gap);
	}
	return good;
}

static bool load_chunk(struct reader *r, const struct chunk *c)
{
	const uint8_t *p;
	uint8_t *room;
	bool good;

	if (c->codec == CODEC_ZLIB) {
		/* Many equal chunks may decompress to little data: that costs
		 * time. */
		r->unpacked += c->raw;
		if (r->max_memory && r->unpacked > r->max_memory) {
			r->profile.memory.exceeded = true;
			return false;
		}
		if (!profile_charge(&r->profile, c->raw))
			return false;
	}
	p = reader_payload(r, c, &room);
	good = p && load_sections(r, p, room ? c->raw : c->stored);
	free(room);
	if (c->codec == CODEC_ZLIB)
		profile_uncharge(&r->profile, c->raw);
	return good;
}

static void load_kind(struct reader *r, enum chunk_kind kind)
{
	const struct prof_memory *m = &r->profile.memory;

	for (size_t i = 0; i < r->chunks.n && !m->exceeded; i++) {
		const struct chunk *c = &r->chunks.v[i];
		bool good;

		if (c->kind != kind)
			continue;
		good = load_chunk(r, c);
		if (m->exceeded) {
			r->refused = c->offset;
		} else if (!good) {
			reader_note_damage(r, c->offset, CHUNK_HEADER + c->stored);
			r->counted[i] = 1;
		} else if (kind == CHUNK_SYMBOLS) {
			r->profile.symbolized = true;
		}
	}
}

/* Returns the first node equal to node i: an earlier one or itself.  The hash
 * table holds only ids, because there may be tens of millions; 0 is a free
 * slot. */
static uint32_t first_equal(const struct profile *p, uint32_t *slots, size_t mask,
			    uint32_t i)
{
	const struct prof_node *v = p->nodes.v;
	size_t at = hash_mix(v[i].parent, v[i].loc) & mask;

	for (; slots[at]; at = (at + 1) & mask)
		if (v[slots[at]].parent == v[i].parent &&
		    v[slots[at]].loc == v[i].loc)
			return slots[at];
	return slots[at] = i;
}

/* Makes parents refer to the first of equal nodes. */
static void find_repeated(struct reader *r, uint32_t *slots, size_t mask)
{
	struct profile *p = &r->profile;

	r->same[0] = 0;
	for (uint32_t i = 1; i < p->nodes.n; i++) {
		struct prof_node *n = &p->nodes.v[i];

		n->parent = r->same[n->parent];
		/* two stack ends with the same mark may have different
		 * reasons */
		r->same[i] = prof_is_mark(n->loc)
			     ? i : first_equal(p, slots, mask, i);
	}
}

/* Merges equal stacks with different nodes. */
static int join_nodes(struct reader *r)
{
	struct profile *p = &r->profile;
	size_t n = p->nodes.n, room = 16;
	uint32_t *slots;

	if (!profile_env(p, PROF_NONE, PROF_ENV_REPEATED))
		return 0;
	while (room / 4 * 3 < n)
		room *= 2;
	p->memory.limit = r->max_memory;
	if (!profile_charge(p, (room + n) * sizeof(*slots))) {
		r->refused = r->n;
		return -ERR_NOMEM;
	}
	p->memory.limit = 0;
	slots = calloc(room, sizeof(*slots));
	r->same = malloc(n * sizeof(*r->same));
	if (slots && r->same)
		find_repeated(r, slots, room - 1);
	free(slots);
	profile_uncharge(p, room * sizeof(*slots));
	return slots && r->same ? 0 : -ERR_NOMEM;
}

int reader_load_tables(struct reader *r)
{
	size_t bad_refs = 0;

	if (profile_init(&r->profile) < 0)
		return -ERR_NOMEM;
	r->profile.memory.limit = r->max_memory;
	/* Section readers only report failure; lack of memory is not damage of
	 * the file. */
	errno = 0;
	load_kind(r, CHUNK_TABLES);
	r->profile.str_base = r->profile.str.str.n;
	load_kind(r, CHUNK_SYMBOLS);
	load_kind(r, CHUNK_CODE);
	if (r->profile.memory.exceeded)
		return -ERR_NOMEM;
	/* from here on, tally's own use of the profile is not limited */
	r->profile.memory.limit = 0;
	if (profile_validate(&r->profile, &bad_refs) < 0 || errno == ENOMEM)
		return -ERR_NOMEM;
	if (bad_refs && !r->damage.bad_chunks)
		reader_note_damage(r, FORMAT_HEADER, 0);
	return join_nodes(r);
}
