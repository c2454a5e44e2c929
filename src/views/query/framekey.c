// SPDX-License-Identifier: GPL-2.0-or-later
/* Assigns frame keys to frames and locations. */
#include "views/query/framekey.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/symbol_order.h"

void frame_address_name(const char *image, uint64_t vaddr, struct buf *out)
{
	const char *base = *image == '/' ? path_base(image) : image;

	buf_str(out, *base ? base : "[anon]");
	buf_printf(out, "+0x%" PRIx64, vaddr);
}

static bool key_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct frame_keys *k = ctx;
	const struct frame_key *a = &k->keys.v[id], *b = key;

	return a->kind == b->kind && a->kernel == b->kernel &&
	       a->image == b->image && a->name == b->name &&
	       a->file == b->file && a->line == b->line &&
	       a->vaddr == b->vaddr && a->func == b->func && a->im == b->im;
}

uint32_t frame_keys_add(struct frame_keys *k, const struct frame_key *key)
{
	uint64_t h = hash_mix((uint64_t)key->image << 32 | key->name,
			      (uint64_t)key->file << 32 | key->line);

	h = hash_mix(h, key->vaddr + key->kind + ((uint64_t)key->kernel << 8));
	h = hash_mix(h, (uint64_t)key->func << 32 | key->im);
	return idtab_row(&k->tab, &k->keys, h, key_eq, k, key);
}

/* State of frame_keys_init. */
struct keyer {
	struct frame_keys *k;
	const struct profile *p;
	const struct selection *sel;	/* may be NULL */
};

static struct frame_key image_key(const struct keyer *w, uint32_t image)
{
	const struct frame_keys *k = w->k;
	const struct prof_image *im = &w->p->images.v[image];
	struct frame_key key = { 0 };

	if (k->mask & KEY_BIT(KEY_IMAGE)) {
		key.image = im->path;
		key.im = k->same.image[image] + 1;
	}
	if (k->mask & (KEY_BIT(KEY_SYMBOL) | KEY_BIT(KEY_IMAGE)))
		key.kernel = prof_is_kernel(im);
	return key;
}

/* Makes the key of each function.  Without file and line, a frame's key is that
 * of its function, and functions are far fewer than frames. */
static int key_functions(struct keyer *w, uint32_t *func_fk)
{
	struct frame_keys *k = w->k;

	for (size_t i = 0; i < w->p->funcs.n; i++) {
		const struct prof_func *f = &w->p->funcs.v[i];
		struct frame_key key = image_key(w, f->image);

		func_fk[i] = PROF_NONE;
		if (w->sel && w->sel->func_ok && !w->sel->func_ok[i])
			continue;
		if (k->mask & KEY_BIT(KEY_SYMBOL)) {
			key.name = f->name;
			key.func = k->same.func[i] + 1;
		}
		func_fk[i] = frame_keys_add(k, &key);
		if (func_fk[i] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

static int key_frames(struct keyer *w, const uint32_t *func_fk)
{
	struct frame_keys *k = w->k;
	const struct profile *p = w->p;
	bool file = k->mask & (KEY_BIT(KEY_FILE) | KEY_BIT(KEY_LINE));
	bool line = k->mask & KEY_BIT(KEY_LINE);
	uint16_t *depth = calloc(p->frames.n + 1, sizeof(*depth));
	int rc = depth ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < p->frames.n; i++) {
		const struct prof_frame *f = &p->frames.v[i];
		struct frame_step *s = &k->steps[i];

		*s = (struct frame_step){ PROF_NONE, f->outer };
		if (f->func < p->funcs.n)
			s->fk = func_fk[f->func];
		if (f->outer != PROF_NONE &&
		    depth[f->outer] + 1 >= INLINE_MAX)
			s->outer = PROF_NONE;
		if (s->outer != PROF_NONE)
			depth[i] = depth[s->outer] + 1;
		if (file && s->fk != PROF_NONE) {
			struct frame_key key = k->keys.v[s->fk];

			key.file = f->file;
			key.line = line ? f->line : 0;
			s->fk = frame_keys_add(k, &key);
			rc = s->fk == PROF_NONE ? -ERR_NOMEM : 0;
		}
	}
	free(depth);
	return rc;
}

/* Functions without a name, by image and address. */
struct nameless {
	struct prof_symbol *v;
	size_t n, cap;
};

static int find_nameless(const struct profile *p, struct nameless *out)
{
	for (size_t i = 0; i < p->symbols.n; i++)
		if (p->symbols.v[i].name == PROF_STR_EMPTY &&
		    vec_push(out, p->symbols.v[i]) < 0)
			return -ERR_NOMEM;
	symbols_sort(out->v, out->n);
	return 0;
}

/* Returns the start of the function that contains an unresolved address, or the
 * address itself if that is unknown. */
static uint64_t nameless_start(const struct nameless *x,
			       const struct prof_loc *l)
{
	const struct prof_symbol *s = symbols_find(x->v, x->n, l->image,
						   l->vaddr);

	return s ? s->vaddr : l->vaddr;
}

static int key_address(struct keyer *w, const struct prof_loc *l,
		       uint64_t vaddr, struct buf *name, uint32_t *fk)
{
	struct frame_keys *k = w->k;
	const struct prof_image *im = &w->p->images.v[l->image];
	bool unknown = im->kind == PROF_IMAGE_UNKNOWN;
	struct frame_key key = image_key(w, l->image);

	*fk = PROF_NONE;
	if (w->sel && selection_filters_frames(w->sel)) {
		buf_reset(name);
		if (unknown)
			buf_str(name, "[unknown]");
		else
			frame_address_name(profile_cstr(w->p, im->path), vaddr,
					   name);
		if (!selection_has_address(w->sel, l->image, buf_cstr(name)))
			return 0;
	}
	if (k->mask & KEY_BIT(KEY_SYMBOL)) {
		key.kind = unknown ? FRAME_UNKNOWN : FRAME_ADDR;
		/* the name is image+0x…, so the image is part of it */
		key.image = unknown && !(k->mask & KEY_BIT(KEY_IMAGE))
				    ? 0 : im->path;
		key.im = key.image ? k->same.image[l->image] + 1 : 0;
		key.vaddr = unknown ? 0 : vaddr;
	}
	*fk = frame_keys_add(k, &key);
	return *fk == PROF_NONE ? -ERR_NOMEM : 0;
}

static int key_locations(struct keyer *w, bool inlined)
{
	struct frame_keys *k = w->k;
	const struct profile *p = w->p;
	struct nameless nameless = { 0 };
	struct buf name = { 0 };
	int rc = find_nameless(p, &nameless);

	for (size_t i = 0; !rc && i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];
		uint32_t f = profile_loc_frame(p, (uint32_t)i);
		struct frame_step *own = &k->steps[k->nframes + i];

		*own = (struct frame_step){ PROF_NONE, PROF_NONE };
		k->head[i] = (uint32_t)(k->nframes + i);
		if (f == PROF_NONE) {
			rc = key_address(w, l, nameless_start(&nameless, l),
					 &name, &own->fk);
			continue;
		}
		while (!inlined && k->steps[f].outer != PROF_NONE)
			f = k->steps[f].outer;
		k->head[i] = f;
	}
	buf_fini(&name);
	vec_fini(&nameless);
	return rc;
}

/* Adds the key [unknown] for samples without frames, unless frames are
 * filtered. */
static int key_unknown(struct keyer *w)
{
	struct frame_keys *k = w->k;
	struct frame_key key = { 0 };

	k->unknown = PROF_NONE;
	if (w->sel && selection_filters_frames(w->sel) &&
	    !selection_has_address(w->sel, PROF_NONE, "[unknown]"))
		return 0;
	if (k->mask & KEY_BIT(KEY_SYMBOL))
		key.kind = FRAME_UNKNOWN;
	k->unknown = frame_keys_add(k, &key);
	return k->unknown == PROF_NONE ? -ERR_NOMEM : 0;
}

int frame_keys_init(struct frame_keys *k, const struct profile *p,
		    uint32_t mask, bool inlined, const struct selection *sel,
		    struct error *err)
{
	struct keyer w = { .k = k, .p = p, .sel = sel };
	uint32_t *func_fk = malloc((p->funcs.n + 1) * sizeof(*func_fk));
	int rc = -ERR_NOMEM;

	*k = (struct frame_keys){ .mask = mask & KEYS_OF_FRAME,
				  .nframes = p->frames.n };
	k->steps = malloc((p->frames.n + p->locs.n + 1) * sizeof(*k->steps));
	k->head = malloc((p->locs.n + 1) * sizeof(*k->head));
	if (func_fk && k->steps && k->head)
		rc = identity_init(&k->same, p, !(mask & KEY_BIT(KEY_IMAGE)));
	if (!rc)
		rc = labels_of_profile(&k->labels, p, &k->same) ?:
		     key_functions(&w, func_fk) ?:
		     key_frames(&w, func_fk) ?:
		     key_locations(&w, inlined) ?:
		     key_unknown(&w);
	free(func_fk);
	if (!rc)
		return 0;
	frame_keys_fini(k);
	return error_nomem(err);
}

void frame_keys_fini(struct frame_keys *k)
{
	vec_fini(&k->keys);
	free(k->steps);
	free(k->head);
	idtab_fini(&k->tab);
	labels_fini(&k->labels);
	identity_fini(&k->same);
	*k = (struct frame_keys){ 0 };
}
