// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes OpenTelemetry profiles: ProfilesData of opentelemetry/proto/profiles/
 * v1development/profiles.proto, as in versions 1.9 to 1.11 of the protocol.
 *
 * An ExportProfilesServiceRequest has the same bytes, so you can post a file as
 * it is.
 *
 * There is one profile per event, and one sample per thread and stack.  Its
 * value is what its samples represent.  Tables refer to each other by index.
 * Entry 0 of each is empty, all entries differ, and all are used.  Addresses
 * are those of the ELF file, so mappings begin at 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "export/formats.h"
#include "export/paths.h"
#include "export/pieces.h"
#include "export/proto.h"
#include "views/query/framekey.h"

enum {				/* fields of ProfilesDictionary */
	MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS
};

/* Distinct messages, by index. */
struct table {
	struct buf bytes;
	VEC(size_t) end;		/* end of each message in `bytes` */
	struct idtab tab;
};

struct message {
	const uint8_t *p;
	size_t n;
};

struct otlp {
	struct export *x;
	struct table mappings, locations, functions, attributes, stacks;
	struct strtab str;
	uint32_t *loc_of;		/* by place; 0: not yet added */
	uint32_t *mapping_of;		/* by image; 0: not yet added */
	uint64_t *limit;		/* by image: end of its last address */
	struct pieces threads;		/* by lane: indexes of attributes */
	struct export_paths paths;
	VEC(uint32_t) stack_of;		/* by path: index; 0: not yet added */
	struct buf profiles, scope, msg, sub, value;
	uint32_t node, stack;		/* node and stack of the last cell */
	uint32_t col;
};

static bool message_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct table *t = ctx;
	const struct message *m = key;
	size_t from = id ? t->end.v[id - 1] : 0, n = t->end.v[id] - from;

	return n == m->n && (!n || !memcmp(t->bytes.p + from, m->p, n));
}

/* Returns the index of a message, which is added if new; empties `msg`. */
static uint32_t table_add(struct otlp *w, struct table *t, struct buf *msg)
{
	struct message m = { msg->p, msg->n };
	uint64_t h = hash_bytes(m.n ? (const void *)m.p : "", m.n);
	uint32_t id = idtab_find(&t->tab, h, message_eq, t, &m);

	w->x->out.failed |= msg->failed;
	buf_again(msg);
	if (id != IDTAB_NONE)
		return id;
	id = (uint32_t)t->end.n;
	buf_bytes(&t->bytes, m.p, m.n);
	if (t->bytes.failed || vec_push(&t->end, t->bytes.n) < 0 ||
	    idtab_add(&t->tab, h, id) < 0) {
		w->x->out.failed = true;
		return 0;
	}
	return id;
}

static void table_fini(struct table *t)
{
	buf_fini(&t->bytes);
	vec_fini(&t->end);
	idtab_fini(&t->tab);
}

static uint64_t intern(struct otlp *w, const char *s)
{
	uint32_t id = strtab_add(&w->str, s);

	w->x->out.failed |= id == UINT32_MAX;
	return id;
}

/* Writes an AnyValue: text, or a number if `text` is NULL. */
static void put_value(struct buf *out, const char *text, uint64_t number)
{
	if (text) {
		proto_str(out, 1, text);
		return;
	}
	proto_tag(out, 3, 0);	/* member of a oneof: 0 is written, too */
	buf_uleb(out, number);
}

static uint32_t attribute(struct otlp *w, const char *key, const char *text,
			  uint64_t number)
{
	proto_uint(&w->sub, 1, intern(w, key));
	put_value(&w->value, text, number);
	proto_part(&w->sub, 2, &w->value);
	return table_add(w, &w->attributes, &w->sub);
}

static uint32_t mapping(struct otlp *w, uint32_t image)
{
	const struct prof_image *im = &w->x->p->images.v[image];
	struct buf hex = { 0 };

	if (w->mapping_of[image])
		return w->mapping_of[image];
	proto_uint(&w->msg, 2, w->limit[image]);
	proto_uint(&w->msg, 4, intern(w, export_str(w->x, im->path)));
	buf_hex(&hex, im->build_id.bytes, im->build_id.len);
	if (im->build_id.len) {
		buf_uleb(&w->value,
			 attribute(w, "process.executable.build_id.gnu",
				   buf_cstr(&hex), 0));
		proto_part(&w->msg, 5, &w->value);
	}
	buf_close(&hex, &w->x->out);
	return w->mapping_of[image] = table_add(w, &w->mappings, &w->msg);
}

static uint32_t function(struct otlp *w, const struct export_frame *f)
{
	const struct prof_func *pf = export_func(w->x, f->fk);
	uint32_t file = f->file;

	if (file == PROF_STR_EMPTY && pf)
		file = pf->file;
	proto_uint(&w->sub, 1, intern(w, export_name(w->x, f->fk)));
	proto_uint(&w->sub, 2, intern(w, export_linkage(w->x, f->fk)));
	proto_uint(&w->sub, 3, intern(w, export_str(w->x, file)));
	if (pf && pf->file == file)
		proto_uint(&w->sub, 4, pf->line);
	return table_add(w, &w->functions, &w->sub);
}

static uint32_t location(struct otlp *w, uint32_t place)
{
	struct export *x = w->x;
	const struct profile *p = x->p;
	const struct prof_image *im = NULL;
	uint32_t map = 0, kind = 0;

	if (w->loc_of[place])
		return w->loc_of[place];
	if (export_place(x, place) < 0) {
		x->out.failed = true;
		return 0;
	}
	if (place < p->locs.n) {
		im = &p->images.v[p->locs.v[place].image];
		map = mapping(w, p->locs.v[place].image);
		kind = attribute(w, "profile.frame.type",
				 prof_is_kernel(im) ? "kernel" : "native", 0);
		proto_uint(&w->msg, 1, map);
		proto_uint(&w->msg, 2, p->locs.v[place].vaddr);
		if (export_leaves(x, p->locs.v[place].image))
			x->frames.n = 0;
	}
	for (size_t i = 0; i < x->frames.n; i++) {
		const struct export_frame *f = &x->frames.v[i];

		proto_uint(&w->value, 1, function(w, f));
		proto_uint(&w->value, 2, f->line);
		proto_uint(&w->value, 3, f->column);
		proto_part(&w->msg, 3, &w->value);
	}
	if (kind) {
		buf_uleb(&w->value, kind);
		proto_part(&w->msg, 4, &w->value);
	}
	return w->loc_of[place] = table_add(w, &w->locations, &w->msg);
}

/* Returns whether the message, which is written at its end, gets too long. */
static bool too_long(const struct otlp *w)
{
	uint64_t most = w->x->spec->max_output;

	return most && w->stacks.bytes.n + w->scope.n + w->profiles.n > most;
}

static int make_stack(struct otlp *w, uint32_t node, struct error *err)
{
	uint32_t path = export_path(&w->paths, node);
	struct buf ids = { 0 };

	if (path == PROF_NONE)
		return error_nomem(err);
	while (w->stack_of.n <= path)
		if (vec_push(&w->stack_of, 0) < 0)
			return error_nomem(err);
	w->node = node;
	w->stack = w->stack_of.v[path];
	if (w->stack)
		return 0;
	for (uint32_t k = path; k; k = w->paths.v.v[k].up)
		buf_uleb(&ids, location(w, w->paths.v.v[k].what));
	proto_part(&w->msg, 1, &ids);
	w->stack = w->stack_of.v[path] = table_add(w, &w->stacks, &w->msg);
	buf_fini(&ids);
	return too_long(w) ? export_too_long(w->x, err) : 0;
}

static void make_thread(struct otlp *w, uint32_t lane)
{
	const struct lane *l = &w->x->a.lanes.v[lane];
	struct buf *out = &w->threads.text;

	if (!w->x->part) {
		buf_uleb(out, attribute(w, "process.pid", NULL, l->pid));
		buf_uleb(out, attribute(w, "thread.id", NULL, l->tid));
	}
	buf_uleb(out, attribute(w, "thread.name", export_str(w->x, l->comm),
				0));
	if (!w->x->part && w->x->p->runs.n > 1)
		buf_uleb(out, attribute(w, "tally.run", NULL, l->run + 1ull));
	pieces_keep(&w->threads, lane);
}

static int put_sample(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		      struct cell c, struct error *err)
{
	struct otlp *w = ctx;
	struct export *x = w->x;
	int rc = 0;

	if (col != w->col)
		return 0;
	if (node != w->node)
		rc = make_stack(w, node, err);
	if (!pieces_has(&w->threads, lane))
		make_thread(w, lane);
	proto_uint(&w->msg, 1, w->stack);
	if (pieces_has(&w->threads, lane))
		proto_bytes(&w->msg, 2, piece_text(&w->threads, lane),
			    w->threads.len[lane]);
	buf_uleb(&w->value, c.weight);
	proto_part(&w->msg, 4, &w->value);
	proto_part(&w->scope, 2, &w->msg);
	return rc || !too_long(w) ? rc : export_too_long(x, err);
}

static void put_type(struct otlp *w, unsigned int field, size_t col)
{
	bool time = export_is_time(w->x, col);

	proto_uint(&w->msg, 1, intern(w, time && !col ? "cpu"
				: export_event_name(w->x, col)));
	proto_uint(&w->msg, 2, intern(w, time ? "nanoseconds" : "count"));
	proto_part(&w->scope, field, &w->msg);
}

/* Writes the profile's id.  The same part of the same recording has the same
 * id, so a receiver can recognize a part that is sent again. */
static void put_profile_id(struct otlp *w)
{
	const struct export_group *g =
		&w->x->division->groups[w->x->slice->group];
	uint8_t hash[SHA256_BYTES];

	for (size_t i = 0; i < g->n; i++) {
		proto_str(&w->sub, 1, g->labels[i].name);
		proto_str(&w->sub, 2, g->labels[i].value);
	}
	buf_bytes(&w->sub, w->scope.p, w->scope.n);
	sha256(w->sub.p, w->sub.n, hash);
	w->x->out.failed |= w->sub.failed;
	buf_again(&w->sub);
	proto_bytes(&w->scope, 7, hash, 16);
}

/* Appends one event's profile to w->profiles. */
static int put_profile(struct otlp *w, struct error *err)
{
	struct export *x = w->x;
	int rc;

	w->node = PROF_NONE;
	put_type(w, 1, w->col);
	rc = export_cells(x, put_sample, w, err);
	proto_fixed64(&w->scope, 3, export_wall_ns(x));
	proto_uint(&w->scope, 4, export_duration_ns(x));
	put_type(w, 5, w->col);
	proto_uint(&w->scope, 6, prof_event_period(export_event(x, w->col)));
	if (x->slice)
		put_profile_id(w);
	proto_part(&w->profiles, 2, &w->scope);
	return rc;
}

/* Writes a KeyValue of a resource, whose key is text. */
static void put_resource(struct otlp *w, struct buf *out, const char *key,
			 const char *text)
{
	if (!*text)
		return;
	proto_str(&w->sub, 1, key);
	put_value(&w->value, text, 0);
	proto_part(&w->sub, 2, &w->value);
	proto_part(out, 1, &w->sub);
}

/* Returns the name of the program as started, without folder and arguments. */
static const char *service_name(struct otlp *w, struct buf *out)
{
	const char *command = w->x->p->runs.n
		? export_str(w->x, w->x->p->runs.v[0].command) : "";
	const char *s = command, *end = command + strcspn(command, " ");

	for (const char *c = command; c < end; c++)
		if (*c == '/')
			s = c + 1;
	buf_bytes(out, s, (size_t)(end - s));
	return buf_cstr(out);
}

static bool has_label(const struct export_group *g, const char *name)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (!strcmp(g->labels[i].name, name))
			return true;
	return false;
}

/* Writes the profiles so far as those of one resource: the recorded target, or
 * the group of the slice. */
static int put_head(struct otlp *w, struct error *err)
{
	struct export *x = w->x;
	struct buf resource = { 0 }, all = { 0 }, name = { 0 };
	const struct export_group *g = x->slice
		? &x->division->groups[x->slice->group] : NULL;

	for (size_t i = 0; g && i < g->n; i++)
		put_resource(w, &resource, g->labels[i].name,
			     g->labels[i].value);
	if (!g)
		put_resource(w, &resource, "service.name",
			     service_name(w, &name));
	if (!has_label(g, "os.type"))
		put_resource(w, &resource, "os.type", "linux");
	proto_part(&all, 1, &resource);
	proto_str(&w->msg, 1, "tally");
	proto_str(&w->msg, 2, x->spec->version);
	proto_part(&w->scope, 1, &w->msg);
	buf_bytes(&w->scope, w->profiles.p, w->profiles.n);
	w->scope.failed |= w->profiles.failed;
	buf_again(&w->profiles);
	proto_part(&all, 2, &w->scope);
	proto_part(&x->out, 1, &all);
	x->out.failed |= name.failed;
	buf_fini(&resource);
	buf_fini(&all);
	buf_fini(&name);
	return export_flush(x, false, err);
}

static void put_table(struct buf *out, unsigned int field,
		      const struct table *t)
{
	for (size_t i = 0; i < t->end.n; i++) {
		size_t from = i ? t->end.v[i - 1] : 0;

		proto_bytes(out, field, t->bytes.p + from, t->end.v[i] - from);
	}
}

static int put_dictionary(struct otlp *w, struct error *err)
{
	struct buf *out = &w->scope;

	put_table(out, MAPPINGS, &w->mappings);
	put_table(out, LOCATIONS, &w->locations);
	put_table(out, FUNCTIONS, &w->functions);
	proto_bytes(out, LINKS, "", 0);
	for (uint32_t i = 0; i < w->str.str.n; i++)
		proto_str(out, STRINGS, strtab_get(&w->str, i));
	put_table(out, ATTRIBUTES, &w->attributes);
	put_table(out, STACKS, &w->stacks);
	if (out->n > INT32_MAX)
		return error_set(err, ERR_NOMEM, "an OTLP message has at most "
				 "2 GB; --comm, --time and the like write less");
	proto_part(&w->x->out, 2, out);
	return export_flush(w->x, false, err);
}

/* Finds the address range of each mapping. */
static void find_limits(struct otlp *w)
{
	const struct profile *p = w->x->p;

	for (size_t i = 0; i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];

		if (l->vaddr >= w->limit[l->image])
			w->limit[l->image] = l->vaddr == UINT64_MAX
						     ? l->vaddr : l->vaddr + 1;
	}
}

/* Writes a part; each of its groups is a resource. */
static int put_slices(struct otlp *w, struct error *err)
{
	struct export *x = w->x;
	int rc = 0;

	for (size_t i = 0; !rc && i < x->nslices; i++) {
		x->slice = &x->slices[i];
		w->col = x->slice->col;
		rc = put_profile(w, err);
		if (!rc && (i + 1 == x->nslices ||
			    x->slices[i + 1].group != x->slice->group))
			rc = put_head(w, err);
	}
	x->slice = NULL;
	return rc;
}

static int put_all(struct otlp *w, struct error *err)
{
	struct export *x = w->x;
	int rc = 0;

	table_add(w, &w->mappings, &w->msg);
	table_add(w, &w->locations, &w->msg);
	table_add(w, &w->functions, &w->msg);
	table_add(w, &w->attributes, &w->msg);
	table_add(w, &w->stacks, &w->msg);
	find_limits(w);
	for (w->col = 0; !x->part && !rc && w->col < x->a.ncols; w->col++)
		rc = put_profile(w, err);
	if (!rc && w->profiles.n > INT32_MAX / 2)
		rc = error_set(err, ERR_NOMEM, "an OTLP message has at most "
			       "2 GB; --comm, --time and the like write less");
	if (!rc && x->part)
		rc = put_slices(w, err);
	else if (!rc)
		rc = put_head(w, err);
	if (!rc)
		rc = put_dictionary(w, err);
	x->out.failed |= w->msg.failed || w->sub.failed || w->value.failed ||
			 w->scope.failed || w->threads.text.failed;
	return rc;
}

int export_otlp(struct export *x, struct error *err)
{
	struct otlp w = { .x = x, .node = PROF_NONE };
	int rc = -ERR_NOMEM;

	w.loc_of = calloc(export_nplaces(x), sizeof(*w.loc_of));
	w.mapping_of = calloc(x->p->images.n + 1, sizeof(*w.mapping_of));
	w.limit = calloc(x->p->images.n + 1, sizeof(*w.limit));
	if (strtab_init(&w.str) < 0 || !w.loc_of || !w.mapping_of || !w.limit)
		error_nomem(err);
	else
		rc = pieces_init(&w.threads, x->a.lanes.n, err);
	if (!rc)
		rc = export_paths_init(&w.paths, x, EXPORT_PATH_PLACES, err) ?:
		     put_all(&w, err);
	table_fini(&w.mappings);
	table_fini(&w.locations);
	table_fini(&w.functions);
	table_fini(&w.attributes);
	table_fini(&w.stacks);
	strtab_fini(&w.str);
	pieces_fini(&w.threads);
	export_paths_fini(&w.paths);
	vec_fini(&w.stack_of);
	free(w.loc_of);
	free(w.mapping_of);
	free(w.limit);
	buf_fini(&w.profiles);
	buf_fini(&w.scope);
	buf_fini(&w.msg);
	buf_fini(&w.sub);
	buf_fini(&w.value);
	return rc;
}
