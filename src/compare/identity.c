// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which rows of a profile are the same function or image. */
#include "compare/identity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Properties that rows of one function have in common. */
struct same_key {
	uint32_t image, name;	/* image: its representative row; name: str */
	uint32_t file, line;	/* file: index in finder.files; 0: unknown */
	uint64_t vaddr;
	bool weak;		/* name and perhaps file only: not sufficient */
};

struct finder {
	struct identity *x;
	const struct profile *p;
	struct strtab files;	/* normalised paths */
	uint32_t *file_of;	/* by str of p: 1 + its id in `files` */
	struct same_key *key;	/* by func */
	struct idtab tab;
	struct u64map last;	/* by image and name: last representative row */
	/* by func: previous representative row with that image and name */
	uint32_t *next;
};

/* Images without a build ID have a row for each mapped file. */
static bool same_image(const struct prof_image *a, const struct prof_image *b)
{
	if (a->path != b->path || a->kind != b->kind)
		return false;
	if (a->kind != PROF_IMAGE_ELF && a->kind != PROF_IMAGE_KERNEL &&
	    a->kind != PROF_IMAGE_MODULE)
		return true;
	if (!a->build_id.len && !b->build_id.len)
		return a->kind != PROF_IMAGE_ELF ||
		       ((a->flags | b->flags) & PROF_IMAGE_UNREADABLE);
	return build_id_equal(&a->build_id, &b->build_id);
}

static bool image_eq(const void *ctx, uint32_t id, const void *key)
{
	return same_image(&((const struct profile *)ctx)->images.v[id], key);
}

static int find_images(struct finder *f)
{
	struct idtab tab = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->p->images.n; i++) {
		const struct prof_image *im = &f->p->images.v[i];
		uint64_t h = hash_mix(im->path, im->kind);
		uint32_t id;

		h = hash_mix(h, hash_bytes(im->build_id.bytes,
					   im->build_id.len));
		id = idtab_find(&tab, h, image_eq, f->p, im);
		f->x->image[i] = id == IDTAB_NONE ? i : id;
		if (id == IDTAB_NONE)
			rc = idtab_add(&tab, h, i);
	}
	idtab_fini(&tab);
	return rc;
}

/* "L" before a length and the unnamed name space mark names that only their own
 * source file sees.  A wrong false is harmless. */
bool identity_global(const char *name)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' &&
			       !(name[1] == 'D' && isdigit((uint8_t)name[2]))))
		return false;
	if (strstr(name, "_GLOBAL__N_"))
		return false;
	for (const char *s = strchr(name, 'L'); s; s = strchr(s + 1, 'L'))
		if (isdigit((uint8_t)s[1]))
			return false;
	return true;
}

/* Returns whether a name is a stub that jumps to another image, or does not
 * name a function. */
static bool is_stub(const char *name)
{
	size_t n = strlen(name);

	return *name == '.' || (n > 4 && !strcmp(name + n - 4, "@plt"));
}

static uint32_t file_number(struct finder *f, uint32_t str)
{
	const char *path = profile_cstr(f->p, str);
	struct buf normal = { 0 };

	if (!*path || str >= f->p->str.str.n)
		return 0;
	if (!f->file_of[str]) {
		path_normal(path, &normal);
		f->file_of[str] = 1 + strtab_add(&f->files, buf_cstr(&normal));
		buf_fini(&normal);
	}
	return f->file_of[str] - 1;	/* UINT32_MAX: out of memory */
}

/* Returns false if out of memory. */
static bool make_key(struct finder *f, uint32_t i, struct same_key *k)
{
	const struct prof_func *fn = &f->p->funcs.v[i];
	const struct prof_image *im = &f->p->images.v[fn->image];
	const char *name = profile_cstr(f->p, fn->name);

	*k = (struct same_key){ .image = f->x->image[fn->image],
				.name = fn->name };
	if ((im->kind == PROF_IMAGE_ANON && !fn->line) ||
	    im->kind == PROF_IMAGE_UNKNOWN ||
	    im->kind == PROF_IMAGE_GENERATED || is_stub(name))
		return true;
	if (identity_global(name))
		return true;
	k->file = file_number(f, fn->file);
	k->line = fn->line;
	if (k->file && k->line)
		return k->file != UINT32_MAX;
	if (fn->vaddr) {
		k->vaddr = fn->vaddr;
		k->file = k->line = 0;
	}
	k->weak = !fn->vaddr;
	return k->file != UINT32_MAX;
}

static bool key_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct same_key *a = &((const struct finder *)ctx)->key[id];
	const struct same_key *b = key;

	return a->image == b->image && a->name == b->name &&
	       a->file == b->file && a->line == b->line &&
	       a->vaddr == b->vaddr && a->weak == b->weak;
}

static int find_rows(struct finder *f)
{
	for (uint32_t i = 0; i < f->p->funcs.n; i++) {
		struct same_key *k = &f->key[i];
		uint32_t id, *last;
		uint64_t h;

		if (!make_key(f, i, k))
			return -ERR_NOMEM;
		h = hash_mix(hash_mix((uint64_t)k->image << 32 | k->name,
				      (uint64_t)k->file << 32 | k->line),
			     k->vaddr + k->weak);
		id = idtab_find(&f->tab, h, key_eq, f, k);
		f->x->func[i] = id == IDTAB_NONE ? i : id;
		if (id != IDTAB_NONE)
			continue;
		last = u64map_slot(&f->last,
				   (uint64_t)k->image << 32 | k->name);
		if (!last || idtab_add(&f->tab, h, i) < 0)
			return -ERR_NOMEM;
		f->next[i] = *last;
		*last = i;
	}
	return 0;
}

/* Returns the function that a row without declaration or address belongs to, or
 * the row itself if that is ambiguous. */
static uint32_t owner(const struct finder *f, uint32_t i)
{
	enum { NAMESAKES = 100 };
	const struct same_key *k = &f->key[i];
	const char *file = strtab_get(&f->files, k->file);
	uint32_t only = PROF_NONE, by_file = PROF_NONE, n = 0, fits = 0;
	uint32_t j = u64map_get(&f->last, (uint64_t)k->image << 32 | k->name);

	for (unsigned int tries = 0; j != PROF_NONE && tries < NAMESAKES;
	     j = f->next[j], tries++) {
		const char *its;

		if (f->key[j].weak)
			continue;
		its = profile_cstr(f->p, f->p->funcs.v[j].file);
		only = j;
		n++;
		if (k->file && *its && (path_ends_with(file, its) ||
					path_ends_with(its, file))) {
			by_file = j;
			fits++;
		}
	}
	return n == 1 ? only : fits == 1 ? by_file : i;
}

/* Assigns weak rows in two steps, so that none is assigned to another weak
 * row. */
static void place_weak(struct finder *f)
{
	uint32_t *func = f->x->func;

	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		if (func[i] == i && f->key[i].weak)
			func[i] = owner(f, i);
	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		if (f->key[i].weak)
			func[i] = func[func[i]];
}

static uint32_t top(uint32_t *func, uint32_t i)
{
	while (func[i] != i)
		i = func[i] = func[func[i]];
	return i;
}

static bool place_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct finder *f = ctx;
	const struct prof_func *a = &f->p->funcs.v[id], *b = key;

	return a->name == b->name && a->line == b->line &&
	       f->file_of[a->file] == f->file_of[b->file] &&
	       prof_is_kernel(&f->p->images.v[a->image]) ==
		       prof_is_kernel(&f->p->images.v[b->image]);
}

/* Merges functions that are declared at the same place, across all images. */
static int join_images(struct finder *f)
{
	uint32_t *func = f->x->func;
	struct idtab tab = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->p->funcs.n; i++) {
		const struct prof_func *fn = &f->p->funcs.v[i];
		uint32_t id, a, b;
		uint64_t h;

		if (!fn->line || !file_number(f, fn->file))
			continue;
		h = hash_mix(hash_mix(fn->name, fn->line),
			     f->file_of[fn->file]);
		id = idtab_find(&tab, h, place_eq, f, fn);
		if (id == IDTAB_NONE) {
			rc = idtab_add(&tab, h, i);
			continue;
		}
		a = top(func, id);
		b = top(func, i);
		func[a > b ? a : b] = a > b ? b : a;
	}
	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		func[i] = top(func, i);
	idtab_fini(&tab);
	return rc;
}

/* Chooses, to represent a function, a row with its declaration. */
static void choose_rows(struct finder *f)
{
	uint32_t *func = f->x->func, *best = f->next;

	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		best[i] = func[i];
	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		if (f->p->funcs.v[i].line &&
		    !f->p->funcs.v[best[func[i]]].line)
			best[func[i]] = i;
	for (uint32_t i = 0; i < f->p->funcs.n; i++)
		func[i] = best[func[i]];
}

int identity_init(struct identity *x, const struct profile *p, bool across)
{
	size_t n = p->funcs.n;
	struct finder f = { .x = x, .p = p };
	struct arrays a = { 0 };
	int rc = strtab_init(&f.files);

	*x = (struct identity){ 0 };
	x->func = arrays_new(&x->arrays, n, sizeof(*x->func));
	x->image = arrays_new(&x->arrays, p->images.n, sizeof(*x->image));
	f.file_of = arrays_new(&a, p->str.str.n + 1, sizeof(*f.file_of));
	f.key = arrays_new(&a, n, sizeof(*f.key));
	f.next = arrays_new(&a, n, sizeof(*f.next));
	if (x->arrays.failed || a.failed)
		rc = -ERR_NOMEM;
	/* 0 means no file */
	if (!rc && strtab_add(&f.files, "") == UINT32_MAX)
		rc = -ERR_NOMEM;
	if (!rc)
		rc = find_images(&f) ?: find_rows(&f);
	if (!rc)
		place_weak(&f);
	if (!rc && across)
		rc = join_images(&f);
	if (!rc)
		choose_rows(&f);
	strtab_fini(&f.files);
	idtab_fini(&f.tab);
	u64map_fini(&f.last);
	arrays_fini(&a);
	if (rc < 0)
		identity_fini(x);
	return rc;
}

void identity_fini(struct identity *x)
{
	arrays_fini(&x->arrays);
	*x = (struct identity){ 0 };
}

bool path_is_program(const struct profile *p, const char *base)
{
	const char *command = p->runs.n
		? profile_cstr(p, p->runs.v[0].command) : "";
	size_t n = strcspn(command, " "), at = n;

	while (at && command[at - 1] != '/')
		at--;
	return n > at && strlen(base) == n - at &&
	       !strncmp(base, command + at, n - at);
}
