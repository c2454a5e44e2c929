// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes pprof's format (github.com/google/pprof, proto/profile.proto),
 * compressed by gzip.
 *
 * Each event has two values: the number of samples and what they represent.
 * The first event's types are samples/count and, if it measures time,
 * cpu/nanoseconds, which readers know.  Ids count from 1 in the order of the
 * tables; mapping 1 is the program.  Addresses are those of the ELF file, so
 * mappings begin at 0.
 */
#include <stdlib.h>

#include "export/formats.h"
#include "export/paths.h"
#include "export/pieces.h"
#include "export/proto.h"
#include "views/query/framekey.h"

enum {				/* fields of Profile */
	SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE,
	TIME_NANOS = 9, DURATION_NANOS, PERIOD_TYPE, PERIOD,
	DEFAULT_SAMPLE_TYPE = 14
};

struct func_key {
	uint32_t fk, file;
};

struct pprof {
	struct export *x;
	bool go;			/* default.pgo: program code only */
	struct strtab str;
	uint32_t *loc_id;		/* by place: id, or 0 */
	VEC(uint32_t) locs;		/* places, by id - 1 */
	VEC(struct func_key) funcs;	/* by id - 1 */
	struct idtab func_tab;
	uint32_t *mapping_id;		/* id by image */
	uint64_t *limit;		/* by image: end of its last address */
	struct pieces labels;		/* by lane */
	struct export_paths paths;
	uint32_t node;			/* node whose locations are in `stack` */
	struct buf stack, msg, sub;
};

static uint64_t intern(struct pprof *w, const char *s)
{
	uint32_t id = strtab_add(&w->str, s);

	w->x->out.failed |= id == UINT32_MAX;
	return id;
}

static void put_type(struct pprof *w, unsigned int field, const char *type,
		     const char *unit)
{
	proto_uint(&w->msg, 1, intern(w, type));
	proto_uint(&w->msg, 2, intern(w, unit));
	proto_part(&w->x->out, field, &w->msg);
}

/* Writes the types of an event's values.  Pyroscope rejects "-" in their
 * names. */
static void put_event_types(struct pprof *w, size_t col)
{
	struct export *x = w->x;
	const char *name = export_event_name(x, col);
	bool time = export_is_time(x, col);
	struct buf type = { 0 };

	for (const char *s = name; *s; s++)
		buf_u8(&type, *s == '-' ? '_' : (uint8_t)*s);
	if (time && !col)
		buf_reset(&type);
	if (time && !col)
		buf_str(&type, "cpu");
	if (col == export_first_col(x)) {
		put_type(w, SAMPLE_TYPE, "samples", "count");
		put_type(w, SAMPLE_TYPE, buf_cstr(&type),
			 time ? "nanoseconds" : "count");
		if (!w->go)
			proto_uint(&x->out, DEFAULT_SAMPLE_TYPE,
				   intern(w, buf_cstr(&type)));
		put_type(w, PERIOD_TYPE, buf_cstr(&type),
			 time ? "nanoseconds" : "count");
		proto_uint(&x->out, PERIOD,
			   prof_event_period(export_event(x, col)));
	} else {
		put_type(w, SAMPLE_TYPE, buf_cstr(&type),
			 time ? "nanoseconds" : "count");
		buf_str(&type, "_samples");
		put_type(w, SAMPLE_TYPE, buf_cstr(&type), "count");
	}
	buf_close(&type, &x->out);
}

static uint32_t location(struct pprof *w, uint32_t place)
{
	uint32_t *id = &w->loc_id[place];

	if (!*id) {
		if (vec_push(&w->locs, place) < 0)
			w->x->out.failed = true;
		*id = (uint32_t)w->locs.n;
	}
	return *id;
}

static void put_label(struct pprof *w, struct buf *out, const char *key,
		      const char *text, uint64_t num)
{
	proto_uint(&w->sub, 1, intern(w, key));
	proto_uint(&w->sub, 2, text ? intern(w, text) : 0);
	proto_uint(&w->sub, 3, num);
	proto_part(out, 3, &w->sub);
}

static void make_labels(struct pprof *w, uint32_t lane)
{
	const struct lane *l = &w->x->a.lanes.v[lane];
	struct buf *out = &w->labels.text;

	put_label(w, out, "comm", export_str(w->x, l->comm), 0);
	if (!w->x->part) {
		put_label(w, out, "pid", NULL, l->pid);
		put_label(w, out, "tid", NULL, l->tid);
	}
	if (!w->x->part && w->x->p->runs.n > 1)
		put_label(w, out, "run", NULL, l->run + 1ull);
	pieces_keep(&w->labels, lane);
}

/* Returns whether the Go compiler, which reads default.pgo, does not know this
 * code. */
static bool is_no_go_code(void *ctx, uint32_t place)
{
	struct export *x = ((struct pprof *)ctx)->x;
	const struct prof_image *im;

	if (export_place(x, place) < 0 || !x->frames.n)
		return true;
	im = export_image(x, &x->frames.v[0]);
	return !im || prof_is_kernel(im) ||
	       !export_func(x, x->frames.v[0].fk);
}

static int make_stack(struct pprof *w, uint32_t node, struct error *err)
{
	uint32_t path = export_path(&w->paths, node);

	if (path == PROF_NONE)
		return error_nomem(err);
	buf_again(&w->stack);
	for (; path; path = w->paths.v.v[path].up)
		buf_uleb(&w->stack, location(w, w->paths.v.v[path].what));
	w->node = node;
	return 0;
}

static int put_sample(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		      struct cell c, struct error *err)
{
	struct pprof *w = ctx;
	struct export *x = w->x;
	size_t first = export_first_col(x);
	size_t end = w->go ? first + 1 : export_end_col(x);
	int rc = node == w->node ? 0 : make_stack(w, node, err);

	if (rc || (w->go && (col || !w->stack.n)))
		return rc;
	proto_bytes(&w->msg, 1, w->stack.p, w->stack.n);
	for (size_t i = first; i < end; i++) {
		bool other = i > first;

		buf_uleb(&w->sub, i != col ? 0 : other ? c.weight : c.count);
		buf_uleb(&w->sub, i != col ? 0 : other ? c.count : c.weight);
	}
	proto_part(&w->msg, 2, &w->sub);
	if (!w->go) {
		if (!pieces_has(&w->labels, lane))
			make_labels(w, lane);
		pieces_put(&w->labels, lane, &w->msg);
	}
	proto_part(&x->out, SAMPLE, &w->msg);
	return export_flush(x, false, err);
}

static bool func_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct pprof *w = ctx;
	const struct func_key *a = &w->funcs.v[id], *b = key;

	return a->fk == b->fk && a->file == b->file;
}

/* Returns the id of a function in a file.  The code of one function may come
 * from several files (#include). */
static uint32_t function(struct pprof *w, const struct export_frame *f)
{
	const struct prof_func *pf = export_func(w->x, f->fk);
	struct func_key key = { f->fk, f->file };
	uint32_t id;

	if (key.file == PROF_STR_EMPTY && pf)
		key.file = pf->file;
	id = idtab_row(&w->func_tab, &w->funcs, hash_mix(key.fk, key.file), func_eq,
		       w, &key);
	w->x->out.failed |= id == IDTAB_NONE;
	return id + 1;
}

static void put_line(struct pprof *w, const struct export_frame *f)
{
	proto_uint(&w->sub, 1, function(w, f));
	proto_uint(&w->sub, 2, f->line);
	proto_uint(&w->sub, 3, f->column);
	proto_part(&w->msg, 4, &w->sub);
}

static int put_locations(struct pprof *w, struct error *err)
{
	struct export *x = w->x;
	const struct profile *p = x->p;
	int rc = 0;

	for (size_t i = 0; !rc && i < w->locs.n; i++) {
		uint32_t loc = w->locs.v[i];

		proto_uint(&w->msg, 1, i + 1);
		if (loc < p->locs.n) {
			proto_uint(&w->msg, 2,
				   w->mapping_id[p->locs.v[loc].image]);
			proto_uint(&w->msg, 3, p->locs.v[loc].vaddr);
		}
		if (export_place(x, loc) < 0)
			return error_nomem(err);
		if (loc < p->locs.n && export_leaves(x, p->locs.v[loc].image))
			x->frames.n = 0;
		for (size_t k = 0; k < x->frames.n; k++)
			put_line(w, &x->frames.v[k]);
		proto_part(&x->out, LOCATION, &w->msg);
		rc = export_flush(x, false, err);
	}
	return rc;
}

static bool is_program(const struct profile *p, uint32_t image)
{
	const char *path = profile_cstr(p, p->images.v[image].path);

	return !prof_is_kernel(&p->images.v[image]) &&
	       path_is_program(p, path_base(path));
}

static void put_mapping(struct pprof *w, uint32_t image)
{
	const struct prof_image *im = &w->x->p->images.v[image];
	struct buf hex = { 0 };

	proto_uint(&w->msg, 1, w->mapping_id[image]);
	proto_uint(&w->msg, 3, w->limit[image]);
	proto_uint(&w->msg, 5, intern(w, export_str(w->x, im->path)));
	buf_hex(&hex, im->build_id.bytes, im->build_id.len);
	proto_uint(&w->msg, 6, intern(w, buf_cstr(&hex)));
	for (unsigned int field = 7; field <= 10; field++)
		/* has functions, files, lines and inlined frames */
		proto_uint(&w->msg, field, !export_leaves(w->x, image));
	proto_part(&w->x->out, MAPPING, &w->msg);
	buf_close(&hex, &w->x->out);
}

/* Writes the mappings, the program first. */
static int put_mappings(struct pprof *w, struct error *err)
{
	const struct profile *p = w->x->p;
	uint32_t ids = 0;
	int rc = 0;

	for (size_t i = 0; i < w->locs.n; i++) {
		const struct prof_loc *l;

		if (w->locs.v[i] >= p->locs.n)
			continue;
		l = &p->locs.v[w->locs.v[i]];
		if (l->vaddr >= w->limit[l->image])
			w->limit[l->image] = l->vaddr == UINT64_MAX
						     ? l->vaddr : l->vaddr + 1;
	}
	for (int others = 0; others < 2; others++)
		for (uint32_t i = 0; !rc && i < p->images.n; i++)
			if (w->limit[i] && is_program(p, i) == !others) {
				w->mapping_id[i] = ++ids;
				put_mapping(w, i);
				rc = export_flush(w->x, false, err);
			}
	return rc;
}

static int put_functions(struct pprof *w, struct error *err)
{
	struct export *x = w->x;
	int rc = 0;

	for (size_t i = 0; !rc && i < w->funcs.n; i++) {
		struct func_key k = w->funcs.v[i];
		const struct prof_func *pf = export_func(x, k.fk);

		proto_uint(&w->msg, 1, i + 1);
		proto_uint(&w->msg, 2, intern(w, export_name(x, k.fk)));
		proto_uint(&w->msg, 3, intern(w, export_linkage(x, k.fk)));
		proto_uint(&w->msg, 4, intern(w, export_str(x, k.file)));
		if (pf && pf->file == k.file)
			proto_uint(&w->msg, 5, pf->line);
		proto_part(&x->out, FUNCTION, &w->msg);
		rc = export_flush(x, false, err);
	}
	return rc;
}

static int put_strings(struct pprof *w, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->str.str.n; i++) {
		proto_str(&w->x->out, STRING_TABLE, strtab_get(&w->str, i));
		rc = export_flush(w->x, false, err);
	}
	return rc;
}

static int put_all(struct pprof *w, struct error *err)
{
	struct export *x = w->x;
	size_t end = w->go && x->a.ncols ? 1 : export_end_col(x);
	int rc;

	for (size_t c = export_first_col(x); c < end; c++)
		put_event_types(w, c);
	proto_uint(&x->out, TIME_NANOS, export_wall_ns(x));
	proto_uint(&x->out, DURATION_NANOS, export_duration_ns(x));
	rc = export_cells(x, put_sample, w, err) ?:
	     put_mappings(w, err) ?:
	     put_locations(w, err) ?:
	     put_functions(w, err);
	x->out.failed |= w->msg.failed || w->sub.failed || w->stack.failed;
	return rc ? rc : put_strings(w, err);
}

static int export_profile(struct export *x, bool go, struct error *err)
{
	struct pprof w = { .x = x, .go = go, .node = PROF_NONE };
	int rc = -ERR_NOMEM;

	w.loc_id = calloc(export_nplaces(x), sizeof(*w.loc_id));
	w.mapping_id = calloc(x->p->images.n + 1, sizeof(*w.mapping_id));
	w.limit = calloc(x->p->images.n + 1, sizeof(*w.limit));
	if (strtab_init(&w.str) < 0 || !w.loc_id || !w.mapping_id || !w.limit)
		error_nomem(err);
	else
		rc = pieces_init(&w.labels, x->a.lanes.n, err);
	if (!rc)
		rc = export_paths_init(&w.paths, x, EXPORT_PATH_PLACES, err);
	w.paths.skip = go ? is_no_go_code : NULL;
	w.paths.ctx = &w;
	if (!rc)
		rc = put_all(&w, err);
	pieces_fini(&w.labels);
	export_paths_fini(&w.paths);
	strtab_fini(&w.str);
	free(w.loc_id);
	free(w.mapping_id);
	free(w.limit);
	vec_fini(&w.locs);
	vec_fini(&w.funcs);
	idtab_fini(&w.func_tab);
	buf_fini(&w.stack);
	buf_fini(&w.msg);
	buf_fini(&w.sub);
	return rc;
}

int export_pprof(struct export *x, struct error *err)
{
	return export_profile(x, false, err);
}

int export_go_pgo(struct export *x, struct error *err)
{
	return export_profile(x, true, err);
}
