// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the tables of a file into the model: see reader_internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns the bytes of the name that a reference leads to beyond PROF_NAME_VIEWS;
 * `more` has them by string. */
static uint64_t name_more(const struct profile *p, const uint32_t *more,
			  enum ref ref, uint64_t v)
{
	switch (ref) {
	case REF_STR:
		return more[v];
	case REF_IMAGE:
		return more[p->images.v[v].path];
	case REF_FUNC:
		return v == PROF_NONE ? 0 : more[p->funcs.v[v].name];
	default:
		return 0;
	}
}

static uint64_t names_of_column(const struct profile *p, const uint32_t *more,
				const struct table *t, const struct column *c)
{
	size_t n = table_rows(p, t);
	const char *row = table_row(p, t, 0);
	uint64_t sum = 0;

	if (c->ref != REF_STR && c->ref != REF_IMAGE && c->ref != REF_FUNC)
		return 0;
	for (size_t i = 0; i < n; i++, row += t->row)
		sum += name_more(p, more, c->ref, column_get(row, c));
	return sum;
}

/* Returns the number of references that name_more counts, or more. */
static uint64_t count_names(const struct profile *p)
{
	uint64_t n = p->texts.n + 2 * p->images.n;

	for (size_t i = 0; i < format_ntables; i++)
		n += table_rows(p, &format_tables[i]) * format_tables[i].ncolumns;
	return n;
}

/* Charges the long names of all rows: a view copies a name for each row that has
 * it, while the table of strings has it once. */
static int charge_names(struct reader *r)
{
	struct profile *p = &r->profile;
	uint64_t sum = 0, longest = p->memory.longest;
	uint32_t *more;

	/* mostly so few that counting them is not worth the time */
	longest = longest > PROF_NAME_VIEWS ? longest - PROF_NAME_VIEWS : 0;
	if (!r->max_memory || longest * count_names(p) < r->max_memory / 8)
		return 0;
	more = calloc(p->str.str.n, sizeof(*more));
	if (!more)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->str.str.n; i++) {
		size_t n = strlen(p->str.str.v[i]);

		more[i] = n > PROF_NAME_VIEWS ? (uint32_t)n - PROF_NAME_VIEWS : 0;
	}
	for (size_t i = 0; i < format_ntables; i++)
		for (size_t k = 0; k < format_tables[i].ncolumns; k++)
			sum += names_of_column(p, more, &format_tables[i],
					       &format_tables[i].columns[k]);
	sum += names_of_column(p, more, &text_table, &text_table.columns[0]);
	for (size_t i = 0; i < p->images.n; i++)
		sum += more[p->images.v[i].debug_file] +
		       more[p->images.v[i].note];
	free(more);
	p->memory.limit = r->max_memory;
	if (!profile_charge(p, sum)) {
		r->refused = r->n;
		return -ERR_NOMEM;
	}
	p->memory.limit = 0;
	return 0;
}

int reader_load_tables(struct reader *r, struct strpool *pool)
{
	size_t bad_refs = 0;

	if (profile_init_in(&r->profile, pool) < 0)
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
	return charge_names(r) < 0 ? -ERR_NOMEM : join_nodes(r);
}
