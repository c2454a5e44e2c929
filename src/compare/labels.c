// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes labels that distinguish equal names of functions and images. */
#include "compare/labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/strtab.h"

enum {
	/* path components; a path that needs more is shown whole */
	PARTS_MAX = 8,
	TAG_BYTES = 4,		/* bytes of a build ID */
};

/* Ends the label that begins at `at` with a NUL and returns its offset. */
static uint32_t close_word(struct labels *l, size_t at)
{
	buf_u8(&l->text, 0);
	return l->text.n > UINT32_MAX ? 0 : (uint32_t)at;
}

/* Returns the offset of a new label.  Offset 0 is "no label". */
static size_t open_word(struct labels *l)
{
	if (!l->text.n)
		buf_u8(&l->text, 0);
	return l->text.n;
}

/* Counts a key.  Returns 0 or -ERR_NOMEM. */
static int count_key(struct u64map *count, uint64_t key)
{
	uint32_t *n = u64map_slot(count, key);

	if (n)
		*n = *n == U64MAP_NONE ? 1 : *n + 1;
	return n ? 0 : -ERR_NOMEM;
}

/*
 * Computes how many of the last components of each path distinguish it from the
 * others.  Different paths that no number of components distinguishes are shown
 * whole.  The paths are sorted, and equal ones count once.  Equal ends are found by their
 * hashes.
 */
static int distinct_ends(const char *const *path, uint32_t *parts, size_t n)
{
	uint64_t *hash = malloc((n + 1) * sizeof(*hash));
	size_t left = n;
	int rc = hash ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < n; i++)
		parts[i] = 0;
	for (uint32_t k = 1; !rc && left && k <= PARTS_MAX; k++) {
		struct u64map count = { 0 };

		for (size_t i = 0; !rc && i < n; i++) {
			const char *end = path_end(path[i], k);

			hash[i] = hash_bytes(end, strlen(end));
			if (!i || strcmp(path[i], path[i - 1]) != 0)
				rc = count_key(&count, hash[i]);
		}
		for (size_t i = 0; !rc && i < n; i++) {
			if (parts[i] || u64map_get(&count, hash[i]) != 1)
				continue;
			parts[i] = k;
			left--;
		}
		u64map_fini(&count);
	}
	for (size_t i = 0; i < n; i++)
		if (!parts[i])
			parts[i] = UINT32_MAX;
	free(hash);
	return rc;
}

/* Sorts images by path. */
static int by_path(const void *x, const void *y)
{
	const struct label_image *const *a = x, *const *b = y;

	return strcmp((*a)->path, (*b)->path) ?: ascending((*a)->id, (*b)->id);
}

static void put_tag(struct labels *l, const struct label_image *im, size_t at)
{
	size_t n = im->build_id_len < TAG_BYTES ? im->build_id_len : TAG_BYTES;

	buf_str(&l->text, " [");
	buf_hex(&l->text, im->build_id, n);
	if (!n)		/* number, if there is no build ID */
		buf_printf(&l->text, "#%zu", at + 1);
	buf_str(&l->text, "]");
}

/* Labels images [0, n), which share one path, by its last `parts`
 * components. */
static void label_path(struct labels *l, const struct label_image *const *v,
		       size_t n, uint32_t parts)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = open_word(l);

		if (parts > 1 || n > 1) {
			const char *end = *v[i]->path == '['
				? v[i]->path : path_end(v[i]->path, parts);

			buf_str(&l->text, end);
			if (n > 1)
				put_tag(l, v[i], i);
			l->image[v[i]->id] = close_word(l, at);
		}
		at = open_word(l);
		if (n > 1) {
			put_tag(l, v[i], i);
			l->tag[v[i]->id] = close_word(l, at);
		}
	}
}

static int label_paths(struct labels *l, const struct label_image **v, size_t n)
{
	struct arrays a = { 0 };
	const char **path = arrays_new(&a, n, sizeof(*path));
	uint32_t *parts = arrays_new(&a, n, sizeof(*parts));
	int rc = a.failed ? -ERR_NOMEM : 0;

	for (size_t i = 0; !rc && i < n; i++)
		path[i] = v[i]->path;
	if (!rc)
		rc = distinct_ends(path, parts, n);
	for (size_t i = 0; !rc && i < n;) {
		size_t first = i;

		while (i < n && !strcmp(v[i]->path, v[first]->path))
			i++;
		label_path(l, v + first, i - first, parts[first]);
	}
	arrays_fini(&a);
	return rc;
}

int labels_images(struct labels *l, const struct label_image *v, size_t n,
		  size_t nimages)
{
	const struct label_image **order = malloc((n + 1) * sizeof(*order));
	int rc = -ERR_NOMEM;

	l->image = arrays_new(&l->arrays, nimages, sizeof(*l->image));
	l->tag = arrays_new(&l->arrays, nimages, sizeof(*l->tag));
	l->nimages = nimages;
	if (order && !l->arrays.failed) {
		for (size_t i = 0; i < n; i++)
			order[i] = &v[i];
		sort_rows(order, n, by_path);
		rc = label_paths(l, order, n);
	}
	free(order);
	return rc || l->text.failed ? -ERR_NOMEM : 0;
}

/* Sorts functions of one name, so that those of one file are adjacent. */
static int by_file(const void *x, const void *y)
{
	const struct label_func *a = x, *b = y;

	return strcmp(a->file, b->file) ?: ascending(a->image, b->image) ?:
	       ascending(a->line, b->line) ?: ascending(a->vaddr, b->vaddr) ?:
	       ascending(a->id, b->id);
}

static int by_name(const void *x, const void *y)
{
	const struct label_func *a = x, *b = y;

	return ascending(a->name, b->name) ?: ascending(a->kernel, b->kernel) ?:
	       by_file(x, y);
}

static int by_image(const void *x, const void *y)
{
	const struct label_func *a = x, *b = y;

	return ascending(a->image, b->image) ?: by_file(x, y);
}

/* Appends an image to a function's label. */
static void put_image(struct labels *l, uint32_t image,
		      const char *const *bases)
{
	uint32_t at = image < l->nimages ? l->image[image] : 0;
	size_t n = at ? strlen((const char *)l->text.p + at) : 0;

	if (n && buf_room(&l->text, n))	/* the text no longer moves */
		buf_bytes(&l->text, l->text.p + at, n);
	else if (!at && image < l->nimages && bases[image])
		buf_str(&l->text, bases[image]);
}

struct group {
	struct labels *l;
	const char *const *bases;	/* by image */
	uint32_t *to;			/* labels->within or ->among */
	const struct label_func *v;
	size_t n;
	bool images;			/* the functions are in several images */
};

/* Finds out whether each function of [at, end) is in a different image. */
static int own_images(const struct label_func *v, size_t n, bool *own,
		      bool *several)
{
	struct u64map seen = { 0 };
	int rc = 0;

	*own = true;
	*several = false;
	for (size_t i = 0; !rc && i < n; i++) {
		rc = count_key(&seen, v[i].image);
		*own &= v[i].image != PROF_NONE && u64map_get(&seen, v[i].image) == 1;
		*several |= v[i].image != v[0].image;
	}
	u64map_fini(&seen);
	return rc;
}

/* Appends the label of a function without source file. */
static void put_address(struct group *g, const struct label_func *f, bool own)
{
	struct buf *text = &g->l->text;

	bool image = g->images && f->image != PROF_NONE;

	if (image)
		put_image(g->l, f->image, g->bases);
	if (image && own)
		return;
	if (image)
		buf_u8(text, '+');
	if (f->vaddr)
		buf_printf(text, "0x%" PRIx64, f->vaddr);
}

/* Labels functions of one file, or of none, by the last `parts` components of
 * its path. */
static int label_file(struct group *g, const struct label_func *v, size_t n,
		      uint32_t parts)
{
	struct buf *text = &g->l->text;
	bool own, several;

	if (own_images(v, n, &own, &several) < 0)
		return -ERR_NOMEM;
	own |= n == 1;
	for (size_t i = 0; i < n; i++) {
		bool same_line = (i && v[i - 1].line == v[i].line) ||
				 (i + 1 < n && v[i + 1].line == v[i].line);
		size_t at = open_word(g->l);

		if (!*v[i].file) {
			put_address(g, &v[i], own);
		} else {
			if (several && v[i].image != PROF_NONE) {
				put_image(g->l, v[i].image, g->bases);
				buf_str(text, ", ");
			}
			buf_str(text, path_end(v[i].file, parts));
			if (!own && v[i].line && !same_line)
				buf_printf(text, ":%u", v[i].line);
			else if (!own && v[i].vaddr)
				buf_printf(text, "+0x%" PRIx64, v[i].vaddr);
		}
		if (text->n > at)
			g->to[v[i].id] = close_word(g->l, at);
	}
	return 0;
}

static int label_by_files(struct group *g)
{
	struct arrays a = { 0 };
	const char **path = arrays_new(&a, g->n, sizeof(*path));
	uint32_t *parts = arrays_new(&a, g->n, sizeof(*parts));
	int rc = a.failed ? -ERR_NOMEM : 0;

	for (size_t i = 0; !rc && i < g->n; i++)
		path[i] = g->v[i].file;
	if (!rc)
		rc = distinct_ends(path, parts, g->n);
	for (size_t i = 0; !rc && i < g->n;) {
		size_t first = i;

		while (i < g->n && !strcmp(g->v[i].file, g->v[first].file))
			i++;
		rc = label_file(g, g->v + first, i - first, parts[first]);
	}
	arrays_fini(&a);
	return rc;
}

/* Labels functions v[0, n) of one name, which are sorted by file. */
static int label_group(struct group *g)
{
	bool own;
	int rc;

	if (g->n < 2)
		return 0;
	rc = own_images(g->v, g->n, &own, &g->images);
	if (rc || !own)
		return rc ? rc : label_by_files(g);
	for (size_t i = 0; i < g->n; i++) {
		size_t at = open_word(g->l);

		put_image(g->l, g->v[i].image, g->bases);
		g->to[g->v[i].id] = close_word(g->l, at);
	}
	return 0;
}

/* Labels functions v[0, n), which share one name. */
static int label_name(struct group *g, struct label_func *v, size_t n)
{
	int rc;

	*g = (struct group){ .l = g->l, .bases = g->bases, .v = v, .n = n,
			     .to = g->l->among };
	rc = label_group(g);
	if (n < 2 || rc)
		return rc;
	sort_rows(v, n, by_image);
	g->to = g->l->within;
	for (size_t i = 0; !rc && i < n;) {
		size_t first = i;

		while (i < n && v[i].image == v[first].image)
			i++;
		g->v = v + first;
		g->n = i - first;
		g->images = false;
		rc = label_group(g);
	}
	return rc;
}

/* Normalises the paths of files. */
static int normal_files(struct label_func *v, size_t n, struct strtab *t)
{
	struct buf path = { 0 };
	int rc = strtab_init(t);

	for (size_t i = 0; !rc && i < n; i++) {
		uint32_t id;

		buf_reset(&path);
		path_normal(v[i].file, &path);
		id = strtab_add(t, buf_cstr(&path));
		rc = id == UINT32_MAX || path.failed ? -ERR_NOMEM : 0;
		if (!rc)
			v[i].file = strtab_get(t, id);
	}
	buf_fini(&path);
	return rc;
}

/* Moves functions with ambiguous names to the front; *n becomes their
 * number. */
static int keep_ambiguous(struct label_func *v, size_t *n)
{
	struct u64map count = { 0 };
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < *n; i++)
		rc = count_key(&count, (uint64_t)v[i].name << 1 | v[i].kernel);
	for (size_t i = 0; !rc && i < *n; i++)
		if (u64map_get(&count, (uint64_t)v[i].name << 1 |
				       v[i].kernel) > 1)
			v[kept++] = v[i];
	u64map_fini(&count);
	*n = kept;
	return rc;
}

int labels_funcs(struct labels *l, struct label_func *v, size_t n,
		 size_t nfuncs, const char *const *bases)
{
	struct group g = { .l = l, .bases = bases };
	struct strtab files = { 0 };
	int rc;

	l->within = arrays_new(&l->arrays, nfuncs, sizeof(*l->within));
	l->among = arrays_new(&l->arrays, nfuncs, sizeof(*l->among));
	l->nfuncs = nfuncs;
	if (l->arrays.failed)
		return -ERR_NOMEM;
	rc = keep_ambiguous(v, &n);
	if (!rc && n)
		rc = normal_files(v, n, &files);
	if (!rc)
		sort_rows(v, n, by_name);
	for (size_t i = 0; !rc && i < n;) {
		size_t first = i;

		while (i < n && v[i].name == v[first].name &&
		       v[i].kernel == v[first].kernel)
			i++;
		rc = label_name(&g, v + first, i - first);
	}
	strtab_fini(&files);
	return rc || l->text.failed ? -ERR_NOMEM : 0;
}

/* Collects each function that occurs in a stack, by its representative row.
 * `seen` is zero for functions that do not occur. */
static int find_seen(const struct profile *p, const struct identity *same,
		     struct label_func *seen, uint8_t *image)
{
	uint8_t *done = calloc(p->frames.n + 1, 1);

	if (!done)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->locs.n; i++) {
		uint32_t f = profile_loc_frame(p, (uint32_t)i);

		image[same->image[p->locs.v[i].image]] = 1;
		for (; f != PROF_NONE && !done[f]; f = p->frames.v[f].outer) {
			uint32_t func = p->frames.v[f].func;

			done[f] = 1;
			if (func < p->funcs.n)
				seen[same->func[func]].id = 1;
		}
	}
	free(done);
	for (size_t i = 0; i < p->funcs.n; i++) {
		const struct prof_func *f = &p->funcs.v[i];
		struct label_func *s = &seen[same->func[i]];
		uint32_t im = same->image[f->image] + 1;

		s->image = s->image && s->image != im ? PROF_NONE : im;
		s->kernel = prof_is_kernel(&p->images.v[f->image]);
		s->name = f->name;
		if (f->file && !(s->file && s->line)) {
			s->file = profile_cstr(p, f->file);
			s->line = f->line;
		}
		if (!s->vaddr)
			s->vaddr = f->vaddr;
	}
	return 0;
}

static int profile_images(struct labels *l, const struct profile *p,
			  const uint8_t *seen)
{
	struct label_image *v = calloc(p->images.n + 1, sizeof(*v));
	size_t n = 0;
	int rc;

	if (!v)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < p->images.n; i++) {
		const struct prof_image *im = &p->images.v[i];

		if (seen[i])
			v[n++] = (struct label_image){
				i + 1, profile_cstr(p, im->path),
				im->build_id.bytes, im->build_id.len };
	}
	rc = labels_images(l, v, n, p->images.n + 1);
	free(v);
	return rc;
}

static int profile_funcs(struct labels *l, const struct profile *p,
			 const struct identity *same, struct label_func *seen)
{
	const char **bases = calloc(p->images.n + 2, sizeof(*bases));
	size_t n = 0;
	int rc;

	if (!bases)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->images.n; i++)
		bases[i + 1] = path_base(profile_cstr(p, p->images.v[i].path));
	for (uint32_t i = 0; i < p->funcs.n; i++) {
		if (!seen[i].id || same->func[i] != i)
			continue;
		if (!seen[i].file)
			seen[i].file = "";
		seen[n] = seen[i];
		seen[n++].id = i + 1;
	}
	rc = labels_funcs(l, seen, n, p->funcs.n + 1, bases);
	free(bases);
	return rc;
}

int labels_of_profile(struct labels *l, const struct profile *p,
		      const struct identity *same)
{
	struct arrays a = { 0 };
	struct label_func *seen = arrays_new(&a, p->funcs.n + 1, sizeof(*seen));
	uint8_t *image = arrays_new(&a, p->images.n + 1, 1);
	int rc = a.failed ? -ERR_NOMEM : find_seen(p, same, seen, image) ?:
		 profile_images(l, p, image) ?: profile_funcs(l, p, same, seen);

	arrays_fini(&a);
	return rc;
}

void labels_fini(struct labels *l)
{
	buf_fini(&l->text);
	arrays_fini(&l->arrays);
	*l = (struct labels){ 0 };
}
