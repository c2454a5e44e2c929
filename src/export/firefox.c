// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the processed format of the Firefox Profiler, version 46, which
 * profiler.firefox.com upgrades to its own.  Tables are stored by column.  Each
 * thread has its own tables with the rows that its samples need.  A thread is
 * written once per event.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "export/formats.h"
#include "export/tree.h"

enum { GECKO_VERSION = 24, PROCESSED_VERSION = 46 };
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

struct frame_key_of {
	/* `which`: inline depth, or fk of a special function */
	uint32_t loc, which;
	int category;
};

struct firefox {
	struct export *x;
	struct json j;
	struct export_tree t;
	uint32_t col;
	uint32_t *stack_of;		/* by node of the tree; PROF_NONE: unused */
	uint32_t *func_of;		/* by fk; PROF_NONE: unused */
	uint32_t *lib_of;		/* by image: resource; PROF_NONE: unused */
	/* Nodes with the same location and inline depth share a frame. */
	uint32_t *frame_id;		/* by node of the tree */
	VEC(struct frame_key_of) frame_keys;	/* by frame_id */
	struct idtab frame_tab;
	uint32_t *frame_of;		/* by frame_id; PROF_NONE: unused */
	/* Tables of this thread.  A frame or function is given as a tree node
	 * that has it. */
	VEC(uint32_t) stacks, frames, funcs, libs;
	struct strtab str;
	uint64_t from_ns;
	bool is_time;			/* the event's weights are times */
	bool more;			/* the array has elements */
	uint64_t rows;		/* samples of the current thread */
};

static uint32_t intern(struct firefox *w, const char *s)
{
	uint32_t id = strtab_add(&w->str, s);

	w->x->out.failed |= id == UINT32_MAX;
	return id;
}

static uint32_t image_of(const struct firefox *w, const struct export_frame *f)
{
	return f->loc < w->x->p->locs.n ? w->x->p->locs.v[f->loc].image
					: PROF_NONE;
}

static int category(const struct firefox *w, const struct export_frame *f)
{
	const struct prof_image *im = export_image(w->x, f);

	if (!im || im->kind == PROF_IMAGE_UNKNOWN)
		return CATEGORY_OTHER;
	return prof_is_kernel(im) ? CATEGORY_KERNEL : CATEGORY_USER;
}

static bool same_frame(const void *ctx, uint32_t id, const void *key)
{
	const struct firefox *w = ctx;
	const struct frame_key_of *a = &w->frame_keys.v[id], *b = key;

	return a->loc == b->loc && a->which == b->which;
}

/* Separates elements of an array without the cost of the JSON writer. */
static void next(struct firefox *w)
{
	if (w->more)
		buf_u8(&w->x->out, ',');
	w->more = true;
}

static void put_digits(struct firefox *w, uint64_t v)
{
	if (v < 10)
		buf_u8(&w->x->out, (uint8_t)('0' + v));
	else
		buf_decimal(&w->x->out, v);
}

/* Returns how many functions the frame is inlined through. */
static uint32_t inline_depth(const struct firefox *w, uint32_t node)
{
	const struct export_tree_node *t = w->t.nodes.v;
	uint32_t depth = 0;

	for (; t[node].frame.inlined && t[node].parent != PROF_NONE;
	     node = t[node].parent)
		depth++;
	return depth;
}

static int number_frames(struct firefox *w, struct error *err)
{
	w->frame_id = malloc((w->t.nodes.n + 1) * sizeof(*w->frame_id));
	if (!w->frame_id)
		return error_nomem(err);
	for (uint32_t i = 0; i < w->t.nodes.n; i++) {
		const struct export_frame *f = &w->t.nodes.v[i].frame;
		bool special = f->loc == PROF_NONE;
		struct frame_key_of key = { f->loc, special
						    ? f->fk : inline_depth(w, i),
					    category(w, f) };

		w->frame_id[i] = idtab_row(&w->frame_tab, &w->frame_keys,
					   hash_mix(key.loc, key.which), same_frame,
					   w, &key);
		if (w->frame_id[i] == IDTAB_NONE)
			return error_nomem(err);
	}
	return 0;
}

static const struct export_frame *frame_at(const struct firefox *w, size_t i)
{
	return &w->t.nodes.v[w->stacks.v[i]].frame;
}

/* Marks a node and its callers as used. */
static int use_stack(struct firefox *w, uint32_t node)
{
	for (; node != PROF_NONE && w->stack_of[node] == PROF_NONE;
	     node = w->t.nodes.v[node].parent) {
		w->stack_of[node] = 0;
		if (vec_push(&w->stacks, node) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return ascending(*x, *y);
}

/* Sorts stacks in the order of the tree.  Callers come first, and neighbours
 * are close in memory. */
static void sort_stacks(struct firefox *w)
{
	size_t n = 0;

	if (!w->stacks.n)
		return;
	if (w->t.nodes.n / 16 > w->stacks.n) {
		vec_sort(&w->stacks, by_number);
		return;
	}
	for (uint32_t i = 0; i < w->t.nodes.n; i++)
		if (w->stack_of[i] != PROF_NONE)
			w->stacks.v[n++] = i;
}

/* Numbers the marked nodes, and their frames, functions and images. */
static int number_stacks(struct firefox *w)
{
	sort_stacks(w);
	for (size_t i = 0; i < w->stacks.n; i++) {
		const struct export_frame *f = frame_at(w, i);
		uint32_t *frame = &w->frame_of[w->frame_id[w->stacks.v[i]]];
		uint32_t image;

		w->stack_of[w->stacks.v[i]] = (uint32_t)i;
		/* a frame has one function and one image, so both are known */
		if (*frame != PROF_NONE)
			continue;
		*frame = (uint32_t)w->frames.n;
		if (vec_push(&w->frames, (uint32_t)i) < 0)
			return -ERR_NOMEM;
		image = image_of(w, f);
		if (image != PROF_NONE && w->lib_of[image] == PROF_NONE) {
			w->lib_of[image] = (uint32_t)w->libs.n;
			if (vec_push(&w->libs, image) < 0)
				return -ERR_NOMEM;
		}
		if (w->func_of[f->fk] == PROF_NONE) {
			w->func_of[f->fk] = (uint32_t)w->funcs.n;
			if (vec_push(&w->funcs, (uint32_t)i) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

static int use_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct firefox *w = ctx;

	if (s->col != w->col)
		return 0;
	return use_stack(w, w->t.node_of[s->stack]) < 0 ? error_nomem(err) : 0;
}

static int put_stack(void *ctx, const struct export_sample *s,
		     struct error *err)
{
	struct firefox *w = ctx;

	if (s->col == w->col) {
		next(w);
		put_digits(w, w->stack_of[w->t.node_of[s->stack]]);
	}
	return export_flush(w->x, false, err);
}

static int put_time(void *ctx, const struct export_sample *s, struct error *err)
{
	struct firefox *w = ctx;

	if (s->col == w->col) {
		next(w);
		w->rows++;
		buf_scaled(&w->x->out, s->time_ns > w->from_ns
				? s->time_ns - w->from_ns : 0, 6);
	}
	return export_flush(w->x, false, err);
}

static int put_weight(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct firefox *w = ctx;

	if (s->col != w->col)
		return 0;
	next(w);
	if (w->is_time)
		buf_scaled(&w->x->out, s->weight, 6);
	else
		put_digits(w, s->weight);
	return export_flush(w->x, false, err);
}

static int put_samples(struct firefox *w, uint32_t lane, struct error *err)
{
	struct export *x = w->x;
	int rc;

	w->is_time = export_is_time(x, w->col);
	json_object(&w->j, "samples");
	json_array(&w->j, "stack");
	w->more = false;
	rc = export_thread_samples(x, lane, put_stack, w, err);
	json_end(&w->j);
	json_array(&w->j, "time");
	w->more = false;
	w->rows = 0;
	if (!rc)
		rc = export_thread_samples(x, lane, put_time, w, err);
	json_end(&w->j);
	json_array(&w->j, "weight");
	w->more = false;
	if (!rc)
		rc = export_thread_samples(x, lane, put_weight, w, err);
	json_end(&w->j);
	json_str(&w->j, "weightType",
		 w->is_time ? "tracing-ms" : "samples");
	/* merged samples are fewer than their count */
	json_uint(&w->j, "length", w->rows);
	json_end(&w->j);
	return rc;
}

static void put_null(struct firefox *w, const char *key)
{
	json_fixed(&w->j, key, 0.0 / 0.0, 0);
}

enum column { NOTHING, ZERO, PREFIX, FRAME, CATEGORY, ADDRESS, DEPTH, FUNC, LINE,
	      COLUMN, FUNC_NAME, FUNC_FILE, FUNC_LINE, RESOURCE, NO, LIB,
	      LIB_NAME, LIB_TYPE };

/* What a cell holds, if not a number. */
#define CELL_NONE (-1ll)
#define CELL_NULL (-2ll)
#define CELL_FALSE (-3ll)

static int64_t known(uint32_t v)
{
	return v ? v : CELL_NULL;
}

static int64_t stack_cell(struct firefox *w, enum column c, size_t i)
{
	uint32_t node = w->stacks.v[i];
	const struct export_tree_node *n = &w->t.nodes.v[node];
	const struct export_frame *f = &n->frame;

	switch (c) {
	case PREFIX:
		return n->parent == PROF_NONE ? CELL_NULL : w->stack_of[n->parent];
	case FRAME:
		return w->frame_of[w->frame_id[node]];
	case CATEGORY:
		return w->frame_keys.v[w->frame_id[node]].category;
	case ADDRESS:
		/* JavaScript numbers are inexact beyond 2^53 */
		return f->loc < w->x->p->locs.n && w->x->p->locs.v[f->loc].vaddr >> 53 == 0
			? (int64_t)w->x->p->locs.v[f->loc].vaddr : CELL_NONE;
	case DEPTH:
		return inline_depth(w, node);
	case FUNC:
		return w->func_of[f->fk];
	case ZERO:
		return 0;
	case LINE:
		return known(f->line);
	case COLUMN:
		return known(f->column);
	default:
		return CELL_NULL;
	}
}

static int64_t frame_cell(struct firefox *w, enum column c, size_t i)
{
	return stack_cell(w, c, w->frames.v[i]);
}

static int64_t func_cell(struct firefox *w, enum column c, size_t i)
{
	const struct export_frame *f = frame_at(w, w->funcs.v[i]);
	const struct prof_func *pf = export_func(w->x, f->fk);
	uint32_t image = image_of(w, f);

	switch (c) {
	case FUNC_NAME:
		return intern(w, export_name(w->x, f->fk));
	case FUNC_FILE:
		return pf && pf->file != PROF_STR_EMPTY
			? intern(w, export_str(w->x, pf->file)) : CELL_NULL;
	case FUNC_LINE:
		return known(pf ? pf->line : 0);
	case RESOURCE:
		return image == PROF_NONE ? CELL_NONE : w->lib_of[image];
	case NO:
		return CELL_FALSE;
	default:
		return CELL_NULL;
	}
}

static int64_t lib_cell(struct firefox *w, enum column c, size_t i)
{
	uint32_t image = w->libs.v[i];

	switch (c) {
	case LIB:
		return image;
	case LIB_NAME:
		return intern(w, path_base(export_str(w->x,
						      w->x->p->images.v[image].path)));
	case LIB_TYPE:
		return 1;
	default:
		return CELL_NULL;
	}
}

static void put_cell(struct firefox *w, int64_t v)
{
	if (v >= 0)
		put_digits(w, (uint64_t)v);
	else
		buf_str(&w->x->out, v == CELL_NULL ? "null"
				    : v == CELL_NONE ? "-1" : "false");
}

struct column_def {
	const char *name;
	enum column kind;
};

static int put_table(struct firefox *w, const char *name,
		     const struct column_def *cols, size_t ncols, size_t n,
		     int64_t (*cell)(struct firefox *, enum column, size_t),
		     struct error *err)
{
	int rc = 0;

	json_object(&w->j, name);
	json_uint(&w->j, "length", n);
	for (size_t c = 0; c < ncols; c++) {
		json_array(&w->j, cols[c].name);
		for (size_t i = 0; !rc && i < n; i++) {
			if (i)
				buf_u8(&w->x->out, ',');
			put_cell(w, cell(w, cols[c].kind, i));
			if (i % 256 == 0)
				rc = export_flush(w->x, false, err);
		}
		json_end(&w->j);
	}
	json_end(&w->j);
	return rc;
}

static int put_tables(struct firefox *w, struct error *err)
{
	static const struct column_def stack[] = {
		{ "prefix", PREFIX }, { "frame", FRAME },
		{ "category", CATEGORY }, { "subcategory", ZERO } };
	static const struct column_def frame[] = {
		{ "address", ADDRESS }, { "inlineDepth", DEPTH },
		{ "category", CATEGORY }, { "subcategory", NOTHING },
		{ "func", FUNC }, { "nativeSymbol", NOTHING },
		{ "innerWindowID", NOTHING }, { "implementation", NOTHING },
		{ "line", LINE }, { "column", COLUMN } };
	static const struct column_def func[] = {
		{ "name", FUNC_NAME }, { "isJS", NO }, { "relevantForJS", NO },
		{ "resource", RESOURCE }, { "fileName", FUNC_FILE },
		{ "lineNumber", FUNC_LINE }, { "columnNumber", NOTHING } };
	static const struct column_def resource[] = {
		{ "lib", LIB }, { "name", LIB_NAME }, { "host", NOTHING },
		{ "type", LIB_TYPE } };
	static const struct column_def symbols[] = {
		{ "libIndex", NOTHING }, { "address", NOTHING },
		{ "name", NOTHING }, { "functionSize", NOTHING } };
	static const struct column_def markers[] = {
		{ "data", NOTHING }, { "name", NOTHING },
		{ "startTime", NOTHING }, { "endTime", NOTHING },
		{ "phase", NOTHING }, { "category", NOTHING } };
	int rc = put_table(w, "stackTable", stack, COUNT(stack), w->stacks.n,
			   stack_cell, err) ?:
		 put_table(w, "frameTable", frame, COUNT(frame), w->frames.n,
			   frame_cell, err) ?:
		 put_table(w, "funcTable", func, COUNT(func), w->funcs.n, func_cell,
			   err) ?:
		 put_table(w, "resourceTable", resource, COUNT(resource), w->libs.n,
			   lib_cell, err) ?:
		 put_table(w, "nativeSymbols", symbols, COUNT(symbols), 0, lib_cell,
			   err) ?:
		 put_table(w, "markers", markers, COUNT(markers), 0, lib_cell, err);

	json_array(&w->j, "stringArray");
	for (uint32_t i = 0; !rc && i < w->str.str.n; i++) {
		json_str(&w->j, NULL, strtab_get(&w->str, i));
		rc = export_flush(w->x, false, err);
	}
	json_end(&w->j);
	return rc;
}

static void put_thread_head(struct firefox *w, uint32_t lane)
{
	struct export *x = w->x;
	const struct lane *l = &x->a.lanes.v[lane];
	struct buf name = { 0 };

	json_str(&w->j, "processType", "default");
	json_uint(&w->j, "processStartupTime", 0);
	put_null(w, "processShutdownTime");
	json_uint(&w->j, "registerTime", 0);
	put_null(w, "unregisterTime");
	json_array(&w->j, "pausedRanges");
	json_end(&w->j);
	buf_str(&name, export_str(x, l->comm));
	if (x->a.ncols > 1)
		buf_printf(&name, " (%s)", export_event_name(x, w->col));
	json_str(&w->j, "name", buf_cstr(&name));
	json_bool(&w->j, "isMainThread", l->pid == l->tid);
	buf_again(&name);
	buf_printf(&name, "%s (%u)", export_str(x, l->comm), l->pid);
	json_str(&w->j, "processName", buf_cstr(&name));
	buf_again(&name);
	buf_printf(&name, "%u", l->pid);
	json_str(&w->j, "pid", buf_cstr(&name));
	json_uint(&w->j, "tid", l->tid);
	buf_close(&name, &x->out);
}

static int put_thread(struct firefox *w, uint32_t lane, struct error *err)
{
	struct export *x = w->x;
	int rc;

	if (!x->totals[lane * x->a.ncols + w->col].count)
		return 0;
	for (size_t i = 0; i < w->stacks.n; i++)
		w->stack_of[w->stacks.v[i]] = PROF_NONE;
	memset(w->frame_of, 0xff, w->frame_keys.n * sizeof(*w->frame_of));
	memset(w->func_of, 0xff, export_nfuncs(x) * sizeof(*w->func_of));
	memset(w->lib_of, 0xff, x->p->images.n * sizeof(*w->lib_of));
	w->stacks.n = w->frames.n = w->funcs.n = w->libs.n = 0;
	strtab_fini(&w->str);
	if (strtab_init(&w->str) < 0)
		return error_nomem(err);
	rc = export_thread_samples(x, lane, use_sample, w, err);
	if (!rc && number_stacks(w) < 0)
		rc = error_nomem(err);
	json_object(&w->j, NULL);
	put_thread_head(w, lane);
	if (!rc)
		rc = put_samples(w, lane, err) ?: put_tables(w, err);
	json_end(&w->j);
	return rc;
}

static void put_category(struct firefox *w, const char *name, const char *color)
{
	json_object(&w->j, NULL);
	json_str(&w->j, "name", name);
	json_str(&w->j, "color", color);
	json_array(&w->j, "subcategories");
	json_str(&w->j, NULL, "Other");
	json_end(&w->j);
	json_end(&w->j);
}

static void put_meta(struct firefox *w)
{
	struct export *x = w->x;
	uint64_t period = x->a.ncols && export_is_time(x, 0)
		? prof_event_period(export_event(x, 0)) : 0;

	json_object(&w->j, "meta");
	json_fixed(&w->j, "interval", period ? (double)period / 1e6 : 1, 6);
	json_fixed(&w->j, "startTime", (double)export_wall_ns(x) / 1e6, 3);
	json_uints(&w->j, { "processType", 0 }, { "stackwalk", 1 }, { "debug", 0 },
		   { "version", GECKO_VERSION },
		   { "preprocessedProfileVersion", PROCESSED_VERSION });
	json_bool(&w->j, "symbolicated", true);
	json_str(&w->j, "product",
		 x->p->runs.n ? export_str(x, x->p->runs.v[0].command) : "tally");
	json_str(&w->j, "importedFrom", "tally");
	json_bool(&w->j, "usesOnlyOneStackType", true);
	json_bool(&w->j, "doesNotUseFrameImplementation", true);
	json_bool(&w->j, "sourceCodeIsNotOnSearchfox", true);
	json_array(&w->j, "categories");
	put_category(w, "Other", "grey");
	put_category(w, "User", "yellow");
	put_category(w, "Kernel", "orange");
	json_end(&w->j);
	json_array(&w->j, "markerSchema");
	json_end(&w->j);
	json_end(&w->j);
}

/* Writes the libraries.  A breakpadId is the first 16 bytes of the build ID as
 * a GUID, and an age of 0. */
static void put_libs(struct firefox *w)
{
	static const uint8_t guid[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11,
					  12, 13, 14, 15 };
	struct export *x = w->x;
	struct buf id = { 0 };

	json_array_lines(&w->j, "libs");
	for (size_t i = 0; i < x->p->images.n; i++) {
		const struct prof_image *im = &x->p->images.v[i];
		const char *path = export_str(x, im->path);

		json_object(&w->j, NULL);
		json_str(&w->j, "arch", "");
		json_str(&w->j, "name", path_base(path));
		json_str(&w->j, "path", path);
		json_str(&w->j, "debugName", path_base(path));
		json_str(&w->j, "debugPath", path);
		buf_again(&id);
		for (size_t k = 0; k < 16; k++)
			buf_printf(&id, "%02X", guid[k] < im->build_id.len
				   ? im->build_id.bytes[guid[k]] : 0);
		buf_u8(&id, '0');
		json_str(&w->j, "breakpadId", buf_cstr(&id));
		buf_again(&id);
		buf_hex(&id, im->build_id.bytes, im->build_id.len);
		if (im->build_id.len)
			json_str(&w->j, "codeId", buf_cstr(&id));
		else
			put_null(w, "codeId");
		json_end(&w->j);
	}
	json_end(&w->j);
	buf_close(&id, &x->out);
}

static int put_all(struct firefox *w, struct error *err)
{
	struct export *x = w->x;
	int rc = 0;

	json_object(&w->j, NULL);
	put_meta(w);
	put_libs(w);
	json_array(&w->j, "pages");
	json_end(&w->j);
	json_array_lines(&w->j, "threads");
	for (uint32_t l = 0; !rc && l < x->a.lanes.n; l++)
		for (w->col = 0; !rc && w->col < x->a.ncols; w->col++)
			rc = put_thread(w, l, err);
	json_end(&w->j);
	json_end(&w->j);
	buf_u8(&x->out, '\n');
	return rc;
}

int export_firefox(struct export *x, struct error *err)
{
	struct firefox w = { .x = x, .j = json_on(&x->out),
			     .from_ns = export_start_ns(x) };
	int rc = export_tree_build(x, &w.t, err) ?: number_frames(&w, err);

	if (!rc) {
		w.frame_of = malloc((w.frame_keys.n + 1) * sizeof(*w.frame_of));
		w.stack_of = malloc((w.t.nodes.n + 1) * sizeof(*w.stack_of));
		w.func_of = malloc((export_nfuncs(x) + 1) * sizeof(*w.func_of));
		w.lib_of = malloc((x->p->images.n + 1) * sizeof(*w.lib_of));
		rc = w.stack_of && w.func_of && w.lib_of && w.frame_of
			     ? 0 : error_nomem(err);
	}
	if (!rc) {
		memset(w.stack_of, 0xff, w.t.nodes.n * sizeof(*w.stack_of));
		rc = put_all(&w, err);
	}
	export_tree_fini(&w.t);
	free(w.stack_of);
	free(w.frame_id);
	free(w.frame_of);
	vec_fini(&w.frame_keys);
	idtab_fini(&w.frame_tab);
	vec_fini(&w.frames);
	free(w.func_of);
	free(w.lib_of);
	vec_fini(&w.stacks);
	vec_fini(&w.funcs);
	vec_fini(&w.libs);
	strtab_fini(&w.str);
	return rc;
}
