// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Extracts some samples of a profile: see divide.h.
 *
 * Rules for each kind of message state which of its fields refer to rows of which
 * table, and which contain messages with rules.  The message is walked three times:
 * to count rows, to mark those that are referred to, and to write it with new row
 * numbers.  Row 0 means "none" in all tables.
 */
#include "push/divide.h"

#include <stdlib.h>

#include "base/proto_in.h"
#include "base/sha256.h"
#include "export/proto.h"

enum table {
	STRING, FUNCTION, MAPPING, LOCATION, STACK, ATTRIBUTE, LINK, TABLES
};

enum what {
	REF,		/* references to rows */
	PART,		/* a message with rules */
	ROWS,		/* a row of a table, with rules (NULL: none) */
	SAMPLES,	/* samples, of which some are kept */
	PROFILE,	/* a PART that is left out if it keeps no sample */
	ID,		/* ID of a profile, which differs for each part */
};

struct rule {
	uint8_t field, what, table;
	const struct rule *rules;	/* ends with field 0 */
};

static const struct rule type_rules[] = {
	{ 1, REF, STRING, NULL }, { 2, REF, STRING, NULL }, { 0 } };

/* messages of profile.proto */
static const struct rule p_label[] = {
	{ 1, REF, STRING, NULL }, { 2, REF, STRING, NULL },
	{ 4, REF, STRING, NULL }, { 0 } };
static const struct rule p_sample[] = {
	{ 1, REF, LOCATION, NULL }, { 3, PART, 0, p_label }, { 0 } };
static const struct rule p_mapping[] = {
	{ 1, REF, MAPPING, NULL }, { 5, REF, STRING, NULL },
	{ 6, REF, STRING, NULL }, { 0 } };
static const struct rule p_line[] = { { 1, REF, FUNCTION, NULL }, { 0 } };
static const struct rule p_location[] = {
	{ 1, REF, LOCATION, NULL }, { 2, REF, MAPPING, NULL },
	{ 4, PART, 0, p_line }, { 0 } };
static const struct rule p_function[] = {
	{ 1, REF, FUNCTION, NULL }, { 2, REF, STRING, NULL },
	{ 3, REF, STRING, NULL }, { 4, REF, STRING, NULL }, { 0 } };
static const struct rule pprof_rules[] = {
	{ 1, PART, 0, type_rules }, { 2, SAMPLES, 0, p_sample },
	{ 3, ROWS, MAPPING, p_mapping }, { 4, ROWS, LOCATION, p_location },
	{ 5, ROWS, FUNCTION, p_function }, { 6, ROWS, STRING, NULL },
	{ 7, REF, STRING, NULL }, { 8, REF, STRING, NULL },
	{ 11, PART, 0, type_rules }, { 13, REF, STRING, NULL },
	{ 14, REF, STRING, NULL }, { 0 } };

/* messages of profiles.proto, v1development */
static const struct rule o_sample[] = {
	{ 1, REF, STACK, NULL }, { 2, REF, ATTRIBUTE, NULL },
	{ 3, REF, LINK, NULL }, { 0 } };
static const struct rule o_profile[] = {
	{ 1, PART, 0, type_rules }, { 2, SAMPLES, 0, o_sample },
	{ 5, PART, 0, type_rules }, { 7, ID, 0, NULL },
	{ 11, REF, ATTRIBUTE, NULL }, { 0 } };
static const struct rule o_scope[] = { { 2, PROFILE, 0, o_profile }, { 0 } };
static const struct rule o_resource[] = { { 2, PART, 0, o_scope }, { 0 } };
static const struct rule o_mapping[] = {
	{ 4, REF, STRING, NULL }, { 5, REF, ATTRIBUTE, NULL }, { 0 } };
static const struct rule o_line[] = { { 1, REF, FUNCTION, NULL }, { 0 } };
static const struct rule o_location[] = {
	{ 1, REF, MAPPING, NULL }, { 3, PART, 0, o_line },
	{ 4, REF, ATTRIBUTE, NULL }, { 0 } };
static const struct rule o_function[] = {
	{ 1, REF, STRING, NULL }, { 2, REF, STRING, NULL },
	{ 3, REF, STRING, NULL }, { 0 } };
static const struct rule o_attribute[] = {
	{ 1, REF, STRING, NULL }, { 3, REF, STRING, NULL }, { 0 } };
static const struct rule o_stack[] = { { 1, REF, LOCATION, NULL }, { 0 } };
static const struct rule o_dictionary[] = {
	{ 1, ROWS, MAPPING, o_mapping }, { 2, ROWS, LOCATION, o_location },
	{ 3, ROWS, FUNCTION, o_function }, { 4, ROWS, LINK, NULL },
	{ 5, ROWS, STRING, NULL }, { 6, ROWS, ATTRIBUTE, o_attribute },
	{ 7, ROWS, STACK, o_stack }, { 0 } };
static const struct rule otlp_rules[] = {
	{ 1, PART, 0, o_resource }, { 2, PART, 0, o_dictionary }, { 0 } };

enum walk { COUNT, MARK, WRITE };

struct divide {
	bool otlp;
	enum walk walk;
	size_t rows[TABLES];		/* number of rows in the message */
	size_t seen[TABLES];		/* number of rows that were walked so far */
	uint32_t *new_of[TABLES];	/* new number of each row; 0: unused */
	unsigned int marking;		/* bit set of the tables whose rows are
					 * being marked */
	size_t samples, first, end, kept;
};

static const struct rule *rule_for(const struct rule *rules, unsigned int field)
{
	for (; rules && rules->field; rules++)
		if (rules->field == field)
			return rules;
	return NULL;
}

static bool refer(struct divide *d, unsigned int table, uint64_t v,
		  struct buf *out)
{
	if (v >= d->rows[table] && v)
		return false;
	if (d->walk == MARK && v)
		d->new_of[table][v] = 1;
	else if (d->walk == WRITE)
		buf_uleb(out, v ? d->new_of[table][v] : 0);
	return true;
}

static bool refer_all(struct divide *d, const struct rule *r,
		      const struct proto_field *f, struct buf *out)
{
	struct cursor c = f->part;
	struct buf list = { 0 };
	bool good = true;

	if (f->wire == PROTO_VARINT) {
		if (d->walk == WRITE)
			proto_tag(out, f->number, PROTO_VARINT);
		return refer(d, r->table, f->v, out);
	}
	if (f->wire != PROTO_BYTES)
		return false;
	while (good && cursor_left(&c)) {
		uint64_t v = cursor_uleb(&c);

		good = !c.bad && refer(d, r->table, v, &list);
	}
	if (d->walk == WRITE)
		proto_part(out, f->number, &list);
	buf_fini(&list);
	return good;
}

static bool walk(struct divide *d, struct cursor c, const struct rule *rules,
		 struct buf *out);

static bool walk_part(struct divide *d, const struct rule *r,
		      const struct proto_field *f, bool drop_empty,
		      struct buf *out)
{
	struct buf inner = { 0 };
	size_t before = d->kept;
	bool good = f->wire == PROTO_BYTES && walk(d, f->part, r->rules, &inner);

	if (d->walk == WRITE && !(drop_empty && d->kept == before))
		proto_part(out, f->number, &inner);
	buf_close(&inner, out);
	return good;
}

static void copy(const struct proto_field *f, struct buf *out)
{
	buf_bytes(out, f->start, (size_t)(f->end - f->start));
}

static bool walk_row(struct divide *d, const struct rule *r,
		     const struct proto_field *f, struct buf *out)
{
	/* pprof numbers all rows except strings from 1 */
	bool from_one = !d->otlp && r->table != STRING;
	size_t number = d->seen[r->table]++ + from_one;
	bool used;

	if (f->wire != PROTO_BYTES)
		return false;
	if (d->walk == COUNT) {
		d->rows[r->table] = number + 1;
		return true;
	}
	used = number == 0 || d->new_of[r->table][number];
	if (!used || (d->walk == MARK && !(d->marking & 1u << r->table)))
		return true;
	if (r->rules)
		return walk_part(d, r, f, false, out);
	if (d->walk == WRITE)
		copy(f, out);
	return true;
}

static bool walk_sample(struct divide *d, const struct rule *r,
			const struct proto_field *f, struct buf *out)
{
	size_t i = d->samples++;

	if (d->walk == COUNT || i < d->first || i >= d->end)
		return f->wire == PROTO_BYTES;
	d->kept++;
	if (d->walk == MARK && d->marking)
		return true;
	return walk_part(d, r, f, false, out);
}

static void write_id(const struct divide *d, const struct proto_field *f,
		     struct buf *out)
{
	struct buf text = { 0 };
	uint8_t hash[SHA256_BYTES];

	buf_bytes(&text, f->part.p, cursor_left(&f->part));
	buf_u64(&text, d->first);
	buf_u64(&text, d->end);
	sha256(text.p ? (const void *)text.p : "", text.n, hash);
	buf_close(&text, out);
	proto_bytes(out, f->number, hash, 16);
}

static bool walk(struct divide *d, struct cursor c, const struct rule *rules,
		 struct buf *out)
{
	struct proto_field f;
	bool good = true;

	while (good && proto_next(&c, &f)) {
		const struct rule *r = rule_for(rules, f.number);

		switch (r ? r->what : TABLES) {
		case REF:
			good = d->walk == COUNT || refer_all(d, r, &f, out);
			break;
		case PART:
		case PROFILE:
			good = walk_part(d, r, &f, r->what == PROFILE, out);
			break;
		case ROWS:
			good = walk_row(d, r, &f, out);
			break;
		case SAMPLES:
			good = walk_sample(d, r, &f, out);
			break;
		case ID:
			if (d->walk == WRITE)
				write_id(d, &f, out);
			break;
		default:
			if (d->walk == WRITE)
				copy(&f, out);
		}
	}
	return good && !c.bad;
}

static bool walk_all(struct divide *d, enum walk how, unsigned int marking,
		     const void *p, size_t n, struct buf *out)
{
	d->walk = how;
	d->marking = marking;
	d->samples = d->kept = 0;
	for (int t = 0; t < TABLES; t++)
		d->seen[t] = 0;
	return walk(d, cursor_of(p, n), d->otlp ? otlp_rules : pprof_rules, out);
}

/* Returns whether each row's ID, a field of it in pprof, equals its position. */
static bool ids_are_in_order(const void *p, size_t n)
{
	uint64_t next[TABLES] = { 0 };
	struct cursor c = cursor_of(p, n);
	struct proto_field f, g;

	while (proto_next(&c, &f)) {
		const struct rule *r = rule_for(pprof_rules, f.number);
		uint64_t id = 0;

		if (!r || r->what != ROWS || r->table == STRING)
			continue;
		while (proto_next(&f.part, &g))
			if (g.number == 1 && g.wire == PROTO_VARINT)
				id = g.v;
		if (id != ++next[r->table])
			return false;
	}
	return !c.bad;
}

static bool number_rows(struct divide *d)
{
	for (int t = 0; t < TABLES; t++) {
		uint32_t next = 1;

		for (size_t i = 1; i < d->rows[t]; i++)
			if (d->new_of[t][i])
				d->new_of[t][i] = next++;
	}
	return true;
}

size_t divide_samples(const void *p, size_t n, bool otlp)
{
	struct divide d = { .otlp = otlp };
	struct buf none = { 0 };
	bool good = (otlp || ids_are_in_order(p, n)) &&
		    walk_all(&d, COUNT, 0, p, n, &none);

	buf_fini(&none);
	return good ? d.samples : 0;
}

bool divide_part(const void *p, size_t n, bool otlp, size_t first, size_t end,
		 struct buf *out)
{
	/* In this order, rows refer only to tables of later rounds. */
	static const unsigned int rounds[] = {
		0, 1u << STACK, 1u << LOCATION, 1u << FUNCTION | 1u << MAPPING,
		1u << ATTRIBUTE,
	};
	struct divide d = { .otlp = otlp, .first = first, .end = end };
	struct buf none = { 0 };
	bool good = (otlp || ids_are_in_order(p, n)) &&
		    walk_all(&d, COUNT, 0, p, n, &none);

	for (int t = 0; good && t < TABLES; t++) {
		d.new_of[t] = calloc(d.rows[t] + 1, sizeof(*d.new_of[t]));
		if (!d.new_of[t]) {
			out->failed = true;
			good = false;
		}
	}
	for (size_t i = 0; good && i < sizeof(rounds) / sizeof(*rounds); i++)
		good = walk_all(&d, MARK, rounds[i], p, n, &none);
	good = good && number_rows(&d) && walk_all(&d, WRITE, 0, p, n, out);
	for (int t = 0; t < TABLES; t++)
		free(d.new_of[t]);
	buf_fini(&none);
	return good && !out->failed;
}
