// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Imports the processed profile of the Firefox Profiler (profiler.firefox.com),
 * which samply and others also write; its format is in src/types/profile.ts there.
 *
 * Tables are columns of each thread or, in newer versions, of the profile
 * ("shared").  A stack consists of a frame and the stack of its caller, which
 * precedes it.  The text is read twice: first to find the parts, then thread by
 * thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "import/foreign.h"

enum {
	INLINED_MAX = 256,
	THREADS_MAX = 1 << 16,
	WEIGHT_ROWS = 1 << 12,	/* most rows for one sample; beyond that, its
				 * weight is increased */
	HEAD_MAX = 4096,
};

#define ROWS_MAX (1ull << 26)
#define NS_PER_MS 1e6
#define TIME_MAX_MS 1e13	/* three centuries */

struct numbers {
	double *v;
	size_t n, cap;
};

/* Columns of the tables.  A value of -1 is null. */
enum column {
	STACK_PREFIX, STACK_PREFIX_OFFSET, STACK_FRAME,
	FRAME_ADDRESS, FRAME_DEPTH, FRAME_FUNC, FRAME_LINE, FRAME_COLUMN,
	FRAME_LIB,
	FUNC_NAME, FUNC_FILE, FUNC_LINE, FUNC_RESOURCE, FUNC_SOURCE,
	RESOURCE_LIB, SOURCE_FILE,
	COLUMNS
};

static const struct {
	const char *table, *name;
} columns[COLUMNS] = {
	[STACK_PREFIX] = { "stackTable", "prefix" },
	[STACK_PREFIX_OFFSET] = { "stackTable", "prefixOffset" },
	[STACK_FRAME] = { "stackTable", "frame" },
	[FRAME_ADDRESS] = { "frameTable", "address" },
	[FRAME_DEPTH] = { "frameTable", "inlineDepth" },
	[FRAME_FUNC] = { "frameTable", "func" },
	[FRAME_LINE] = { "frameTable", "line" },
	[FRAME_COLUMN] = { "frameTable", "column" },
	[FRAME_LIB] = { "frameTable", "lib" },
	[FUNC_NAME] = { "funcTable", "name" },
	[FUNC_FILE] = { "funcTable", "fileName" },
	[FUNC_LINE] = { "funcTable", "lineNumber" },
	[FUNC_RESOURCE] = { "funcTable", "resource" },
	[FUNC_SOURCE] = { "funcTable", "source" },
	[RESOURCE_LIB] = { "resourceTable", "lib" },
	[SOURCE_FILE] = { "sources", "filename" },
};

struct tables {
	struct numbers v[COLUMNS];
	VEC(size_t) strings;	/* offsets in `text` */
	struct buf text;
};

/* The used columns of a thread's samples. */
struct samples {
	struct numbers stack, time, deltas, weight;
	bool ms, bytes;		/* unit of the weights; neither: samples */
};

struct pending {
	uint32_t stack, place;
};

struct firefox_file {
	struct foreign *f;
	const char *name;
	struct buf key, tmp;
	double interval_ms, start_ms;
	struct tables shared, own;	/* own: of the current thread */
	VEC(size_t) libs;		/* offsets of paths in libs_text */
	struct buf libs_text;
	struct json_in threads;
	bool has_threads;
	/* of the current thread, by stack */
	VEC(uint32_t) node_of, depth_of;
	VEC(struct pending) pending;
	uint32_t events[3];		/* by kind of weight; PROF_NONE: none yet */
	uint64_t rows;
	struct json_in *at;		/* position for messages */
};

static int damaged(const struct firefox_file *x, const struct json_in *j,
		   const char *what, struct error *err)
{
	return error_set(err, ERR_FORMAT, "%s: damaged profile at offset %zu: "
			 "%s", x->name, (size_t)(j->p - j->start), what);
}

static int load_numbers(struct firefox_file *x, struct json_in *j,
			struct numbers *v)
{
	v->n = 0;
	if (!json_in_array(j)) {
		json_in_skip(j);	/* null: the column is absent */
		return 0;
	}
	while (json_in_item(j))
		if (foreign_push(x->f, v, json_in_number(j)) < 0)
			return -ERR_NOMEM;
	return 0;
}

static void drop_numbers(struct firefox_file *x, struct numbers *v)
{
	x->f->room += v->cap * sizeof(*v->v);
	vec_fini(v);
}

/* Returns row i of a column as a number below `most`, or UINT32_MAX. */
static uint32_t cell(const struct numbers *v, double i, double most)
{
	double d = i >= 0 && i < (double)v->n ? v->v[(size_t)i] : -1;

	return d >= 0 && d < most ? (uint32_t)d : UINT32_MAX;
}

static uint32_t index_of(const struct tables *t, enum column c, uint32_t row)
{
	return cell(&t->v[c], row, UINT32_MAX);
}

static int load_table(struct firefox_file *x, struct json_in *j,
		      const char *table, struct tables *t)
{
	int rc = 0;

	if (!json_in_object(j)) {
		json_in_skip(j);
		return 0;
	}
	while (!rc && json_in_key(j, &x->key)) {
		int c = 0;

		while (c < COLUMNS && (strcmp(columns[c].table, table) ||
				       strcmp(columns[c].name,
					      buf_cstr(&x->key))))
			c++;
		if (c < COLUMNS)
			rc = load_numbers(x, j, &t->v[c]);
		else
			json_in_skip(j);
	}
	return rc;
}

static int load_strings(struct firefox_file *x, struct json_in *j,
			struct tables *t)
{
	t->strings.n = 0;
	buf_reset(&t->text);
	if (!json_in_array(j)) {
		json_in_skip(j);
		return 0;
	}
	while (json_in_item(j)) {
		if (foreign_push(x->f, &t->strings, t->text.n) < 0)
			return -ERR_NOMEM;
		if (json_in_is(j, '"'))
			json_in_string(j, &t->text);
		else
			json_in_skip(j);
		buf_u8(&t->text, 0);
		if (t->text.failed)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Loads a member that is one of the tables.  Returns 1 if it is none and was not
 * read. */
static int load_member(struct firefox_file *x, struct json_in *j,
		       struct tables *t)
{
	const char *key = buf_cstr(&x->key);
	char table[32];

	if (!strcmp(key, "stringArray") || !strcmp(key, "stringTable"))
		return load_strings(x, j, t);
	for (int c = 0; c < COLUMNS; c++) {
		if (strcmp(columns[c].table, key))
			continue;
		snprintf(table, sizeof(table), "%s", key);
		return load_table(x, j, table, t);
	}
	return 1;
}

static const char *string_at(const struct tables *t, uint32_t i)
{
	return i < t->strings.n ? (const char *)t->text.p + t->strings.v[i]
				: NULL;
}

/* Returns the set that has the table; a thread's own has precedence. */
static const struct tables *with(const struct firefox_file *x, enum column c)
{
	return x->own.v[c].n ? &x->own : &x->shared;
}

static const char *string_of(const struct firefox_file *x, uint32_t i)
{
	return string_at(x->own.strings.n ? &x->own : &x->shared, i);
}

static const char *lib_path(const struct firefox_file *x, uint32_t func,
			    uint32_t frame)
{
	const struct tables *t = with(x, FUNC_NAME);
	uint32_t lib = index_of(with(x, FRAME_FUNC), FRAME_LIB, frame);

	if (lib == UINT32_MAX)
		lib = index_of(with(x, RESOURCE_LIB), RESOURCE_LIB,
			       index_of(t, FUNC_RESOURCE, func));
	return lib < x->libs.n ? (const char *)x->libs_text.p + x->libs.v[lib]
			       : "[unknown]";
}

static struct foreign_func func_at(const struct firefox_file *x, uint32_t frame)
{
	const struct tables *t = with(x, FUNC_NAME), *ft = with(x, FRAME_FUNC);
	uint32_t func = index_of(ft, FRAME_FUNC, frame), file, line;
	struct foreign_func out = { 0 };

	out.name = string_of(x, index_of(t, FUNC_NAME, func));
	if (!out.name)
		out.name = "";
	file = index_of(t, FUNC_FILE, func);
	if (file == UINT32_MAX)
		file = index_of(with(x, SOURCE_FILE), SOURCE_FILE,
				index_of(t, FUNC_SOURCE, func));
	out.file = string_of(x, file);
	line = index_of(ft, FRAME_LINE, frame);
	out.line = line == UINT32_MAX ? 0 : line;
	line = index_of(ft, FRAME_COLUMN, frame);
	out.column = line == UINT32_MAX ? 0 : line;
	line = index_of(t, FUNC_LINE, func);
	out.start = line == UINT32_MAX ? 0 : line;
	out.declared = out.file != NULL;
	return out;
}

/* Returns the caller's stack, UINT32_MAX if there is none, or the stack itself if
 * the data is damaged. */
static uint32_t caller_of(const struct firefox_file *x, uint32_t stack)
{
	const struct tables *t = with(x, STACK_FRAME);
	uint32_t up;

	if (t->v[STACK_PREFIX_OFFSET].n) {
		up = index_of(t, STACK_PREFIX_OFFSET, stack);
		return !up || up == UINT32_MAX ? UINT32_MAX
		       : up <= stack ? stack - up : stack;
	}
	up = index_of(t, STACK_PREFIX, stack);
	return up == UINT32_MAX || up < stack ? up : stack;
}

/* Returns the place of a stack's innermost frame and the frames it is inlined
 * into.  *up receives the stack below it. */
static uint32_t place_of(struct firefox_file *x, uint32_t stack, uint32_t *up)
{
	const struct tables *st = with(x, STACK_FRAME),
			    *ft = with(x, FRAME_FUNC);
	struct foreign_func funcs[INLINED_MAX];
	uint32_t frame, depth, image, n = 0, at = stack;
	double address = -1;

	do {
		stack = at;
		frame = index_of(st, STACK_FRAME, stack);
		depth = index_of(ft, FRAME_DEPTH, frame);
		funcs[n++] = func_at(x, frame);
		at = caller_of(x, stack);
	} while (depth && depth != UINT32_MAX && at < stack && n < INLINED_MAX);
	*up = at;
	if (frame < ft->v[FRAME_ADDRESS].n)
		address = ft->v[FRAME_ADDRESS].v[frame];
	image = foreign_image(x->f, lib_path(x, index_of(ft, FRAME_FUNC, frame),
					     frame));
	if (image == PROF_NONE)
		return PROF_NONE;
	if (n == 1 && !*funcs[0].name)
		n = 0;
	return foreign_place(x->f, image, address > 0 && address < 0x1p53
					  ? (uint64_t)address : 0, funcs, n);
}

static int node_of(struct firefox_file *x, uint32_t stack, uint32_t *out,
		   struct error *err)
{
	uint32_t node = 0, depth = 0;

	x->pending.n = 0;
	while (stack != UINT32_MAX && x->node_of.v[stack] == PROF_NONE) {
		struct pending p = { .stack = stack };

		p.place = place_of(x, stack, &stack);
		if (p.place == PROF_NONE || vec_push(&x->pending, p) < 0)
			return foreign_nomem(x->name, err);
		if (stack != UINT32_MAX && stack >= p.stack)
			return damaged(x, x->at, "a stack whose caller does not "
				       "stand before it", err);
	}
	if (stack != UINT32_MAX) {
		node = x->node_of.v[stack];
		depth = x->depth_of.v[stack];
	}
	while (x->pending.n) {
		struct pending p = x->pending.v[--x->pending.n];

		node = foreign_node(x->f, node, p.place);
		if (node == PROF_NONE)
			return foreign_nomem(x->name, err);
		if (++depth > FOREIGN_DEPTH)
			return damaged(x, x->at, "a stack is too deep", err);
		x->node_of.v[p.stack] = node;
		x->depth_of.v[p.stack] = depth;
	}
	*out = node;
	return 0;
}

static int load_samples(struct firefox_file *x, struct json_in *j,
			struct samples *s)
{
	int rc = 0;

	if (!json_in_object(j)) {
		json_in_skip(j);
		return 0;
	}
	while (!rc && json_in_key(j, &x->key)) {
		const char *key = buf_cstr(&x->key);

		if (!strcmp(key, "stack")) {
			rc = load_numbers(x, j, &s->stack);
		} else if (!strcmp(key, "time")) {
			rc = load_numbers(x, j, &s->time);
		} else if (!strcmp(key, "timeDeltas")) {
			rc = load_numbers(x, j, &s->deltas);
		} else if (!strcmp(key, "weight")) {
			rc = load_numbers(x, j, &s->weight);
		} else if (!strcmp(key, "weightType") && json_in_is(j, '"')) {
			buf_reset(&x->tmp);
			json_in_string(j, &x->tmp);
			s->ms = !strcmp(buf_cstr(&x->tmp), "tracing-ms");
			s->bytes = !strcmp(buf_cstr(&x->tmp), "bytes");
		} else {
			json_in_skip(j);
		}
	}
	return rc;
}

/* Returns the event for a kind of weight.  The period of samples is the interval
 * that the profile states, if it does. */
static uint32_t event_of(struct firefox_file *x, const struct samples *s)
{
	uint64_t period = x->interval_ms > 0 && x->interval_ms < 1e6
			  ? (uint64_t)(x->interval_ms * NS_PER_MS + 0.5) : 0;
	int kind = s->ms ? 1 : s->bytes ? 2 : 0;

	if (x->events[kind] == PROF_NONE)
		x->events[kind] = kind == 2
			? foreign_event(x->f, "bytes", false, 0)
			: foreign_event(x->f, kind ? "time" : "samples",
					kind || period, period);
	return x->events[kind];
}

/* Writes the rows of a sample.  A sample that represents n samples becomes n rows. */
static int put_rows(struct firefox_file *x, const struct samples *s,
		    struct prof_sample *row, double weight, struct error *err)
{
	uint64_t period = x->f->p.events.v[row->event].period, n = 1;
	int rc = 0;

	if (!(weight > 0) || weight >= 0x1p53) {
		x->f->result->skipped++;	/* includes negative weights of a
						 * difference */
		return 0;
	}
	if (s->ms) {
		row->weight = (uint64_t)(weight * NS_PER_MS + 0.5);
	} else if (s->bytes) {
		row->weight = (uint64_t)weight;
	} else {
		row->weight = period ? period : 1;
		if (weight <= WEIGHT_ROWS && x->rows < ROWS_MAX)
			n = (uint64_t)weight;
		else
			row->weight *= (uint64_t)weight;
	}
	if (!row->weight)
		row->weight = 1;
	x->rows += n;
	for (; n && !rc; n--)
		rc = foreign_sample(x->f, row, err);
	return rc;
}

static int put_samples(struct firefox_file *x, const struct samples *s,
		       uint32_t thread, struct error *err)
{
	const struct tables *t = with(x, STACK_FRAME);
	size_t nstacks = t->v[STACK_FRAME].n;
	struct prof_sample row = { .thread = thread, .event = event_of(x, s) };
	double ms = 0;
	int rc = 0;

	if (row.event == PROF_NONE ||
	    (nstacks > x->node_of.cap &&
	     foreign_charge(x->f, (nstacks - x->node_of.cap) * 12) < 0) ||
	    vec_reserve(&x->node_of, nstacks) < 0 ||
	    vec_reserve(&x->depth_of, nstacks) < 0)
		return foreign_nomem(x->name, err);
	x->node_of.n = x->depth_of.n = nstacks;
	for (size_t i = 0; i < nstacks; i++)
		x->node_of.v[i] = PROF_NONE;
	for (size_t i = 0; i < s->stack.n && !rc; i++) {
		uint32_t stack = cell(&s->stack, (double)i, UINT32_MAX);

		if (i < s->deltas.n)
			ms += s->deltas.v[i];
		else if (i < s->time.n)
			ms = s->time.v[i];
		if (s->stack.v[i] == -1)
			continue;	/* the thread was idle */
		if (stack >= nstacks)
			return damaged(x, x->at, "a sample of a stack that is "
				       "not there", err);
		if (!(fabs(ms) < TIME_MAX_MS))
			return damaged(x, x->at, "the time of a sample", err);
		row.time_ns = 1 + (ms > 0 ? (uint64_t)(ms * NS_PER_MS + 0.5)
					  : 0);
		rc = node_of(x, stack, &row.stack, err) ?:
		     put_rows(x, s, &row, i < s->weight.n ? s->weight.v[i] : 1, err);
	}
	return rc;
}

/* Parses a process number: "1234", 1234 or "1234.1". */
static uint32_t process_number(struct firefox_file *x, struct json_in *j)
{
	double v;

	if (!json_in_is(j, '"')) {
		v = json_in_number(j);
		return v >= 0 && v < UINT32_MAX ? (uint32_t)v : 0;
	}
	buf_reset(&x->tmp);
	json_in_string(j, &x->tmp);
	v = strtod(buf_cstr(&x->tmp), NULL);
	return v >= 0 && v < UINT32_MAX ? (uint32_t)v : 0;
}

static int read_thread(struct firefox_file *x, struct json_in *j,
		       struct error *err)
{
	struct buf comm = { 0 };
	struct samples s = { 0 };
	uint32_t pid = 0, tid = 0, thread;
	int rc = 0;

	for (int c = 0; c < COLUMNS; c++)
		x->own.v[c].n = 0;
	x->own.strings.n = 0;
	x->at = j;
	if (!json_in_object(j))
		return damaged(x, j, "a thread", err);
	while (!rc && json_in_key(j, &x->key)) {
		const char *key = buf_cstr(&x->key);

		if (!strcmp(key, "samples")) {
			rc = load_samples(x, j, &s);
		} else if (!strcmp(key, "name") && json_in_is(j, '"')) {
			json_in_string(j, &comm);
		} else if (!strcmp(key, "pid")) {
			pid = process_number(x, j);
		} else if (!strcmp(key, "tid")) {
			tid = process_number(x, j);
		} else {
			rc = load_member(x, j, &x->own);
			if (rc == 1) {
				json_in_skip(j);
				rc = 0;
			}
		}
	}
	if (rc < 0)
		rc = foreign_nomem(x->name, err);
	else if (j->bad)
		rc = damaged(x, j, "this is not JSON", err);
	if (!rc && s.stack.n) {
		thread = foreign_thread(x->f, pid, tid, buf_cstr(&comm));
		rc = thread == PROF_NONE ? foreign_nomem(x->name, err)
					 : put_samples(x, &s, thread, err);
	}
	buf_fini(&comm);
	drop_numbers(x, &s.stack);
	drop_numbers(x, &s.time);
	drop_numbers(x, &s.deltas);
	drop_numbers(x, &s.weight);
	return rc;
}

static int read_libs(struct firefox_file *x, struct json_in *j)
{
	if (!json_in_array(j)) {
		json_in_skip(j);
		return 0;
	}
	while (json_in_item(j)) {
		size_t at = x->libs_text.n;

		if (foreign_push(x->f, &x->libs, at) < 0)
			return -ERR_NOMEM;
		if (!json_in_object(j)) {
			json_in_skip(j);
		} else {
			while (json_in_key(j, &x->key)) {
				bool path = !strcmp(buf_cstr(&x->key), "path");

				if (!json_in_is(j, '"') ||
				    (!path && strcmp(buf_cstr(&x->key), "name"))) {
					json_in_skip(j);
					continue;
				}
				/* the path has precedence over the name */
				buf_reset(&x->tmp);
				json_in_string(j, &x->tmp);
				if (x->tmp.n && (path || x->libs_text.n == at)) {
					x->libs_text.n = at;
					buf_str(&x->libs_text, buf_cstr(&x->tmp));
				}
			}
		}
		buf_u8(&x->libs_text, 0);
		if (x->libs_text.failed)
			return -ERR_NOMEM;
	}
	return 0;
}

static void read_meta(struct firefox_file *x, struct json_in *j)
{
	if (!json_in_object(j)) {
		json_in_skip(j);
		return;
	}
	while (json_in_key(j, &x->key)) {
		const char *key = buf_cstr(&x->key);

		if (!strcmp(key, "interval")) {
			x->interval_ms = json_in_number(j);
		} else if (!strcmp(key, "startTime")) {
			x->start_ms = json_in_number(j);
		} else if (!strcmp(key, "product") && json_in_is(j, '"')) {
			buf_reset(&x->tmp);
			json_in_string(j, &x->tmp);
			foreign_command(x->f, buf_cstr(&x->tmp));
		} else {
			json_in_skip(j);
		}
	}
}

static int read_shared(struct firefox_file *x, struct json_in *j)
{
	int rc = 0;

	if (!json_in_object(j)) {
		json_in_skip(j);
		return 0;
	}
	while (rc >= 0 && json_in_key(j, &x->key)) {
		rc = load_member(x, j, &x->shared);
		if (rc == 1)
			json_in_skip(j);
	}
	return rc < 0 ? rc : 0;
}

/* Finds the parts first, because threads need parts that may follow them. */
static int find_parts(struct firefox_file *x, struct json_in *j,
		      struct error *err)
{
	int rc = 0;

	if (!json_in_object(j))
		return damaged(x, j, "this is not an object", err);
	while (!rc && json_in_key(j, &x->key)) {
		const char *key = buf_cstr(&x->key);

		if (!strcmp(key, "meta")) {
			read_meta(x, j);
		} else if (!strcmp(key, "libs")) {
			rc = read_libs(x, j);
		} else if (!strcmp(key, "shared")) {
			rc = read_shared(x, j);
		} else if (!strcmp(key, "threads")) {
			x->threads = *j;
			x->has_threads = true;
			json_in_skip(j);
		} else {
			json_in_skip(j);
		}
	}
	if (rc < 0)
		return foreign_nomem(x->name, err);
	if (j->bad)
		return damaged(x, j, "this is not JSON", err);
	return x->has_threads ? 0 : damaged(x, j, "it has no threads", err);
}

static int read_threads(struct firefox_file *x, struct error *err)
{
	struct json_in j = x->threads;
	size_t n = 0;
	int rc = 0;

	if (!json_in_array(&j))
		return damaged(x, &j, "threads is not an array", err);
	while (!rc && json_in_item(&j)) {
		if (++n > THREADS_MAX)
			return damaged(x, &j, "too many threads", err);
		rc = read_thread(x, &j, err);
	}
	return rc;
}

static void tables_fini(struct tables *t)
{
	for (int c = 0; c < COLUMNS; c++)
		vec_fini(&t->v[c]);
	vec_fini(&t->strings);
	buf_fini(&t->text);
}

/* Recognizes an object whose first members are those of a profile. */
bool firefox_file_is(const uint8_t *p, size_t n)
{
	size_t at = 0;

	if (n > HEAD_MAX)
		n = HEAD_MAX;
	while (at < n && (p[at] == ' ' || p[at] == '\n' || p[at] == '\r' ||
			  p[at] == '\t'))
		at++;
	return at < n && p[at] == '{' &&
	       (memmem(p, n, "\"meta\"", 6) || memmem(p, n, "\"libs\"", 6));
}

int firefox_file_read(struct foreign *f, const uint8_t *p, size_t n,
		      const char *name, struct error *err)
{
	struct firefox_file *x = calloc(1, sizeof(*x));
	struct json_in j = json_in_of(p, n);
	int rc;

	if (!x)
		return foreign_nomem(name, err);
	x->f = f;
	x->name = name;
	x->start_ms = -1;
	x->events[0] = x->events[1] = x->events[2] = PROF_NONE;
	rc = find_parts(x, &j, err) ?: read_threads(x, err);
	if (!rc && x->start_ms > 0 && x->start_ms < TIME_MAX_MS)
		f->p.runs.v[0].start_wall_ns =
			(uint64_t)(x->start_ms * NS_PER_MS) +
			f->p.runs.v[0].start_ns;
	tables_fini(&x->shared);
	tables_fini(&x->own);
	vec_fini(&x->libs);
	buf_fini(&x->libs_text);
	buf_fini(&x->key);
	buf_fini(&x->tmp);
	vec_fini(&x->node_of);
	vec_fini(&x->depth_of);
	vec_fini(&x->pending);
	free(x);
	return rc;
}
