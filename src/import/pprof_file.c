// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Imports pprof (github.com/google/pprof, proto/profile.proto), compressed or not.
 *
 * Each type of value becomes an event.  A sample whose "samples/count" is n becomes
 * n samples that share its other values, because these are sums.  Counts and weights
 * thus equal those of the file.  The format has no sample times, so all samples are
 * at the start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proto_in.h"
#include "import/foreign.h"

enum {				/* fields of Profile */
	SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRINGS,
	TIME_NANOS = 9, DURATION_NANOS, PERIOD = 12,
};

enum {
	LINES_MAX = 256,	/* most functions of a location */
	TYPES_MAX = 64,
	/* Rows that counts of samples may produce.  Beyond that, each sample
	 * becomes one row. */
	ROWS_MAX = 1 << 24,
	SLOT_BYTES = 24,	/* memory of an id in a map */
};

struct text {
	const uint8_t *p;
	size_t n;
};

struct function {
	uint64_t name, system, file, start;
};

struct location {
	uint64_t mapping, address;
	const uint8_t *p;	/* encoded message */
	size_t n;
	uint32_t place;		/* PROF_NONE: not created yet */
};

struct type {
	uint64_t name, unit;
	uint32_t event;		/* PROF_NONE: the type only counts another type's
				 * samples */
	uint32_t count;		/* type that counts its samples, or PROF_NONE */
};

struct numbers {		/* usable as VEC(uint64_t) */
	uint64_t *v;
	size_t n, cap;
};

struct pprof_file {
	struct foreign *f;
	const char *name;
	const uint8_t *p;	/* unpacked file */
	size_t n;
	VEC(struct text) strings;
	VEC(struct function) functions;
	VEC(struct location) locations;
	VEC(uint64_t) mappings;		/* index of the file name, by row */
	struct u64map function_of, location_of, mapping_of;
	VEC(struct type) types;
	struct numbers values, ids;	/* of the current sample */
	struct buf text, more[LINES_MAX];
	uint64_t rows;		/* rows that counts of samples would produce */
	uint64_t time_ns, duration_ns, period;
	bool one_each;		/* too many rows: one for each sample */
};

static int damaged(const struct pprof_file *x, const char *what,
		   struct error *err)
{
	return error_set(err, ERR_FORMAT, "%s: damaged pprof: %s", x->name,
			 what);
}

/* Returns a text of the string table, cut at a NUL. */
static const char *string(struct pprof_file *x, uint64_t i, struct buf *room)
{
	buf_again(room);
	if (i < x->strings.n)
		buf_bytes(room, x->strings.v[i].p, x->strings.v[i].n);
	return buf_cstr(room);
}

/* Adds numbers, packed or single, up to one more than a stack may have. */
static int add_numbers(struct numbers *to, const struct proto_field *f)
{
	struct cursor c = f->part;

	if (f->wire == 0)
		return vec_push(to, f->v);
	while (cursor_left(&c) && to->n <= FOREIGN_DEPTH)
		if (vec_push(to, cursor_uleb(&c)) < 0)
			return -ERR_NOMEM;
	return 0;
}

static int set_row(struct pprof_file *x, struct u64map *map, uint64_t id, size_t row)
{
	size_t before = map->n;
	uint32_t *slot = row < UINT32_MAX ? u64map_slot(map, id) : NULL;

	if (map->n > before && foreign_charge(x->f, SLOT_BYTES) < 0)
		return -ERR_NOMEM;

	if (slot)
		*slot = (uint32_t)row;
	return slot ? 0 : -ERR_NOMEM;
}

/* Sets v[i] to the number in field i of a message, for fields 1 to n - 1; the others
 * stay. */
static void get_numbers(struct cursor c, uint64_t *v, size_t n)
{
	struct proto_field f;

	while (proto_next(&c, &f))
		if (f.number && f.number < n)
			v[f.number] = f.v;
}

static int take_type(struct pprof_file *x, struct cursor c)
{
	uint64_t v[3] = { 0 };

	get_numbers(c, v, COUNT(v));
	return foreign_push(x->f, &x->types,
			    (struct type){ v[1], v[2], PROF_NONE, PROF_NONE });
}

static int take_mapping(struct pprof_file *x, struct cursor c)
{
	uint64_t v[6] = { 0 };

	get_numbers(c, v, COUNT(v));
	return foreign_push(x->f, &x->mappings, v[5]) < 0 ? -ERR_NOMEM
		: set_row(x, &x->mapping_of, v[1], x->mappings.n - 1);
}

static int take_function(struct pprof_file *x, struct cursor c)
{
	uint64_t v[6] = { 0 };

	get_numbers(c, v, COUNT(v));
	return foreign_push(x->f, &x->functions,
			    (struct function){ v[2], v[3], v[4], v[5] }) < 0 ? -ERR_NOMEM
		: set_row(x, &x->function_of, v[1], x->functions.n - 1);
}

static int take_location(struct pprof_file *x, struct cursor c)
{
	uint64_t v[4] = { 0 };

	get_numbers(c, v, COUNT(v));
	return foreign_push(x->f, &x->locations, (struct location){
			    v[2], v[3], c.p, cursor_left(&c), PROF_NONE }) < 0
		? -ERR_NOMEM
		: set_row(x, &x->location_of, v[1], x->locations.n - 1);
}

/* Reads everything except the samples. */
static int take_tables(struct pprof_file *x, struct error *err)
{
	struct cursor c = cursor_of(x->p, x->n);
	struct proto_field f;
	int rc = 0;

	while (!rc && proto_next(&c, &f)) {
		struct text s = { f.part.p, cursor_left(&f.part) };

		if (f.wire != 2) {
			if (f.number == TIME_NANOS)
				x->time_ns = f.v;
			if (f.number == DURATION_NANOS)
				x->duration_ns = f.v;
			if (f.number == PERIOD)
				x->period = f.v;
			continue;
		}
		switch (f.number) {
		case SAMPLE_TYPE:
			rc = take_type(x, f.part);
			break;
		case MAPPING:
			rc = take_mapping(x, f.part);
			break;
		case LOCATION:
			rc = take_location(x, f.part);
			break;
		case FUNCTION:
			rc = take_function(x, f.part);
			break;
		case STRINGS:
			rc = foreign_push(x->f, &x->strings, s);
			break;
		default:
			break;
		}
	}
	if (rc)
		return foreign_nomem(x->name, err);
	if (c.bad)
		return damaged(x, "a field ends behind its end", err);
	if (!x->types.n || x->types.n > TYPES_MAX)
		return damaged(x, "no types of values, or too many", err);
	if (!x->strings.n || x->strings.v[0].n)
		return damaged(x, "the first string is not empty", err);
	return 0;
}

static bool is(struct pprof_file *x, uint64_t s, const char *text)
{
	return s < x->strings.n && x->strings.v[s].n == strlen(text) &&
	       !memcmp(x->strings.v[s].p, text, strlen(text));
}

/* Returns the type that counts the samples of another type's values. */
static uint32_t count_of(struct pprof_file *x, size_t i)
{
	char name[128];

	snprintf(name, sizeof(name), "%s_samples",
		 string(x, x->types.v[i].name, &x->text));
	for (size_t k = 0; k < x->types.n; k++)
		if (k != i && is(x, x->types.v[k].unit, "count") &&
		    is(x, x->types.v[k].name, name))
			return (uint32_t)k;
	for (size_t k = 0; k < x->types.n; k++)
		if (k != i && is(x, x->types.v[k].unit, "count") &&
		    is(x, x->types.v[k].name, "samples"))
			return (uint32_t)k;
	return PROF_NONE;
}

static int add_events(struct pprof_file *x, struct error *err)
{
	bool counts[TYPES_MAX] = { false };

	for (size_t i = 0; i < x->types.n; i++) {
		uint32_t k = count_of(x, i);

		x->types.v[i].count = k;
		if (k != PROF_NONE)
			counts[k] = true;
	}
	for (size_t i = 0; i < x->types.n; i++) {
		struct type *t = &x->types.v[i];
		bool time = is(x, t->unit, "nanoseconds");

		if (counts[i])
			continue;
		t->event = foreign_event(x->f, string(x, t->name, &x->text),
					 time, time ? x->period : 0);
		if (t->event == PROF_NONE)
			return foreign_nomem(x->name, err);
	}
	return 0;
}

/* Returns the functions of a location as a place. */
static uint32_t place_of(struct pprof_file *x, struct location *l)
{
	struct foreign_func funcs[LINES_MAX];
	struct cursor c = cursor_of(l->p, l->n);
	struct proto_field f;
	uint32_t map = u64map_get(&x->mapping_of, l->mapping), image;
	size_t n = 0;
	static const char nothing[] = "";

	while (proto_next(&c, &f)) {
		struct foreign_func fn = { .name = nothing, .declared = true };
		uint64_t v[4] = { 0, UINT64_MAX };	/* function, line, column */
		const struct function *row;
		const char *name, *file;
		uint32_t i;
		size_t at;

		if (f.number != 4 || f.wire != 2 || n == LINES_MAX)
			continue;
		get_numbers(f.part, v, COUNT(v));
		i = u64map_get(&x->function_of, v[1]);
		fn.line = v[2] < UINT32_MAX ? (uint32_t)v[2] : 0;
		fn.column = v[3] < UINT32_MAX ? (uint32_t)v[3] : 0;
		if (i >= x->functions.n)
			continue;
		row = &x->functions.v[i];
		/* linkage names are demangled when they are shown */
		name = string(x, row->system ? row->system : row->name,
			      &x->text);
		buf_again(&x->more[n]);
		buf_bytes(&x->more[n], name, strlen(name) + 1);
		at = x->more[n].n;
		file = string(x, row->file, &x->text);
		buf_bytes(&x->more[n], file, strlen(file) + 1);
		if (x->more[n].failed)
			return PROF_NONE;
		fn.name = (const char *)x->more[n].p;
		fn.file = fn.name + at;
		fn.start = row->start < UINT32_MAX ? (uint32_t)row->start : 0;
		if (*fn.name)
			funcs[n++] = fn;
	}
	image = foreign_image(x->f, map < x->mappings.n
		? string(x, x->mappings.v[map], &x->text) : "[unknown]");
	return image == PROF_NONE ? PROF_NONE
		: foreign_place(x->f, image, l->address, funcs, n);
}

static int find_stack(struct pprof_file *x, uint32_t *node, struct error *err)
{
	*node = 0;
	for (size_t i = x->ids.n; i--;) {
		uint32_t row = u64map_get(&x->location_of, x->ids.v[i]);
		struct location *l;

		if (row >= x->locations.n)
			return damaged(x, "a sample names a location that is "
				       "not there", err);
		l = &x->locations.v[row];
		if (l->place == PROF_NONE)
			l->place = place_of(x, l);
		if (l->place == PROF_NONE)
			return foreign_nomem(x->name, err);
		*node = foreign_node(x->f, *node, l->place);
		if (*node == PROF_NONE)
			return foreign_nomem(x->name, err);
	}
	return 0;
}

/* Reads a label. tally writes "comm", "pid" and "tid", others "thread". */
static void take_label(struct pprof_file *x, struct cursor c, uint64_t *pid,
		       uint64_t *tid, uint64_t *comm)
{
	uint64_t v[4] = { 0 };	/* key, str, num */

	get_numbers(c, v, COUNT(v));
	if (is(x, v[1], "pid") || is(x, v[1], "process_id"))
		*pid = v[3];
	else if (is(x, v[1], "tid") || is(x, v[1], "thread_id"))
		*tid = v[3];
	else if (is(x, v[1], "comm") || is(x, v[1], "thread") ||
		 is(x, v[1], "thread_name"))
		*comm = v[2];
}

static int put_rows(struct pprof_file *x, struct prof_sample *s,
		    const struct type *t, uint64_t weight, struct error *err)
{
	uint64_t n = 1;
	int rc = 0;

	if (t->count != PROF_NONE && t->count < x->values.n && !x->one_each)
		n = x->values.v[t->count];
	if (!n || n > weight)
		n = 1;
	s->event = t->event;
	for (uint64_t i = 0; !rc && i < n; i++) {
		s->weight = weight / n + (i < weight % n);
		rc = foreign_sample(x->f, s, err);
	}
	return rc;
}

static int take_sample(struct pprof_file *x, struct cursor c, bool count,
		       struct error *err)
{
	struct prof_sample s = { .time_ns = 1 };
	uint64_t pid = 0, tid = 0, comm = 0;
	struct proto_field f;
	int rc = 0;

	x->values.n = x->ids.n = 0;
	while (proto_next(&c, &f)) {
		if (f.number == 1 && !count)
			rc = add_numbers(&x->ids, &f);
		if (f.number == 2)
			rc = add_numbers(&x->values, &f);
		if (f.number == 3 && f.wire == 2)
			take_label(x, f.part, &pid, &tid, &comm);
		if (rc)
			return foreign_nomem(x->name, err);
		if (x->ids.n > FOREIGN_DEPTH)
			return damaged(x, "a stack is too deep", err);
	}
	if (c.bad || x->values.n != x->types.n)
		return damaged(x, "a sample has other values than the types "
			       "say", err);
	if (count) {
		for (size_t i = 0; i < x->types.n; i++) {
			uint32_t k = x->types.v[i].count;
			uint64_t n = k == PROF_NONE ? 1 : x->values.v[k];

			x->rows += n < ROWS_MAX ? n : ROWS_MAX;
		}
		return 0;
	}
	rc = find_stack(x, &s.stack, err);
	if (rc)
		return rc;
	s.thread = foreign_thread(x->f, (uint32_t)(pid ? pid : tid),
				  (uint32_t)(tid ? tid : pid),
				  comm ? string(x, comm, &x->text) : "");
	if (s.thread == PROF_NONE)
		return foreign_nomem(x->name, err);
	for (size_t i = 0; !rc && i < x->types.n; i++)
		/* values may be negative in the difference of two profiles */
		if (x->types.v[i].event != PROF_NONE && x->values.v[i] &&
		    x->values.v[i] <= INT64_MAX)
			rc = put_rows(x, &s, &x->types.v[i], x->values.v[i],
				      err);
	return rc;
}

static int take_samples(struct pprof_file *x, bool count, struct error *err)
{
	struct cursor c = cursor_of(x->p, x->n);
	struct proto_field f;
	int rc = 0;

	while (!rc && proto_next(&c, &f))
		if (f.number == SAMPLE && f.wire == 2)
			rc = take_sample(x, f.part, count, err);
	return rc;
}

/* Recognizes fields of Profile, with a type of values among the first ones. */
bool pprof_file_is(const uint8_t *p, size_t n)
{
	struct cursor c = cursor_of(p, n);
	struct proto_field f;

	for (int i = 0; i < 8 && proto_next(&c, &f); i++) {
		if (f.number > 15 || f.wire == 5 || f.wire == 1)
			return false;
		if (f.number == SAMPLE_TYPE)
			return f.wire == 2 && cursor_left(&f.part) >= 2 &&
			       cursor_left(&f.part) <= 22 &&
			       (*f.part.p == 0x08 || *f.part.p == 0x10);
	}
	return false;
}

int pprof_file_read(struct foreign *f, const uint8_t *p, size_t n,
		    const char *name, struct error *err)
{
	struct pprof_file *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return foreign_nomem(name, err);
	x->f = f;
	x->name = name;
	x->p = p;
	x->n = n;
	rc = take_tables(x, err) ?: add_events(x, err) ?: take_samples(x, true, err);
	x->one_each = x->rows > ROWS_MAX;
	if (!rc && x->time_ns)
		f->p.runs.v[0].start_wall_ns = x->time_ns;
	if (!rc && x->mappings.n) {
		const char *path = string(x, x->mappings.v[0], &x->text);
		const char *slash = strrchr(path, '/');

		foreign_command(f, slash ? slash + 1 : path);
	}
	if (!rc)
		rc = take_samples(x, false, err);
	if (!rc && x->duration_ns < INT64_MAX)
		f->p.runs.v[0].end_ns = f->p.runs.v[0].start_ns +
					x->duration_ns + 1;
	buf_fini(&x->text);
	for (size_t i = 0; i < LINES_MAX; i++)
		buf_fini(&x->more[i]);
	vec_fini(&x->strings);
	vec_fini(&x->functions);
	vec_fini(&x->locations);
	vec_fini(&x->mappings);
	vec_fini(&x->types);
	vec_fini(&x->values);
	vec_fini(&x->ids);
	u64map_fini(&x->function_of);
	u64map_fini(&x->location_of);
	u64map_fini(&x->mapping_of);
	free(x);
	return rc;
}
