// SPDX-License-Identifier: GPL-2.0-or-later
/* Closes files that no process maps any more, and drops images without samples. */
#include "record/collect/image_closer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/symbolize_profile.h"
#include "profile/merge.h"

enum {
	UNUSED_MAX = 48,	/* maximum number of unmapped open files */
	UNUSED_KEPT = 16,	/* number of these that remain open */
	PIECE = UNUSED_MAX - UNUSED_KEPT,	/* number named in one step */
	NEW_IMAGES = 256,	/* number after which unused ones are dropped */
};
#define LOOK_NS 500000000u	/* interval between checks of all mappings */

void image_closer_forget(struct image_closer *l)
{
	for (size_t i = 0; i < l->parts.n; i++) {
		profile_fini(&l->parts.v[i].names);
		free(l->parts.v[i].images);
		free(l->parts.v[i].locs);
	}
	vec_fini(&l->parts);
}

void image_closer_fini(struct image_closer *l)
{
	image_closer_forget(l);
	memset(l, 0, sizeof(*l));
}

static bool is_file(const struct recorded_image *r)
{
	return r->kind == PROF_IMAGE_ELF && r->fd >= 0;
}

/* Records which images are mapped now. */
static void look(struct image_closer *l, const struct image_closer_input *w)
{
	struct images *im = w->images;

	l->round++;
	for (size_t i = 0; i < w->processes->procs.n; i++) {
		const struct mapset *s = w->processes->procs.v[i].maps;

		for (size_t k = 0; s && k < s->maps.n; k++)
			im->v.v[s->maps.v[k].image].mapped = l->round;
	}
	l->mapped = 0;
	for (size_t i = 0; i < im->v.n; i++)
		l->mapped += is_file(&im->v.v[i]) &&
			     im->v.v[i].mapped == l->round;
}

struct unused {
	uint64_t mapped;	/* last round that saw it mapped */
	uint32_t image;
};

static int longest_first(const void *x, const void *y)
{
	const struct unused *a = x, *b = y;

	if (a->mapped != b->mapped)
		return a->mapped < b->mapped ? -1 : 1;
	return a->image < b->image ? -1 : a->image > b->image;
}

/* Lists the unmapped open files, the longest unused first.  Returns their number. */
static size_t find_unused(const struct image_closer *l, const struct images *im,
			  struct unused *out)
{
	size_t n = 0;

	for (size_t i = 0; i < im->v.n; i++) {
		const struct recorded_image *r = &im->v.v[i];

		if (is_file(r) && r->mapped != l->round)
			out[n++] = (struct unused){ r->mapped, (uint32_t)i };
	}
	qsort(out, n, sizeof(*out), longest_first);
	return n;
}

/* Context of profile_symbolize while a part is named. */
struct naming {
	const struct images *images;
	uint32_t image[PIECE];		/* by row of the part */
};

static int open_image(void *ctx, uint32_t row)
{
	const struct naming *n = ctx;

	return images_open_fd(n->images, n->image[row]);
}

/* Adds rows to the part for the sampled images of `v`. */
static int add_images(struct closed_names *part, struct naming *naming,
		      const struct profile *p, const struct unused *v, size_t n,
		      uint32_t *row_of)
{
	for (size_t i = 0; i < n; i++) {
		const struct recorded_image *r =
			&naming->images->v.v[v[i].image];
		struct prof_image row = { .kind = r->kind, .flags = r->flags,
					  .build_id = r->build_id,
					  .base = r->base };
		size_t at = part->names.images.n;

		if (r->row == PROF_NONE)
			continue;
		row.path = profile_str(&part->names,
				       profile_cstr(p, p->images.v[r->row].path));
		if (row.path == PROF_NONE ||
		    vec_push(&part->names.images, row) < 0)
			return -ERR_NOMEM;
		naming->image[at] = v[i].image;
		part->images[at] = r->row;
		row_of[r->row] = (uint32_t)at;
	}
	return 0;
}

/* Adds rows to the part for locations without a name. */
static int add_locs(struct closed_names *part, const struct naming *naming,
		    const struct profile *p, const uint32_t *row_of)
{
	for (uint32_t i = 0; i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];
		uint32_t row = l->image < p->images.n ? row_of[l->image]
						      : PROF_NONE;
		uint32_t loc;

		if (row == PROF_NONE ||
		    i < naming->images->v.v[naming->image[row]].named_locs)
			continue;
		loc = profile_loc(&part->names, row, l->vaddr);
		if (loc == PROF_NONE)
			return -ERR_NOMEM;
		part->locs[loc] = i;
	}
	return 0;
}

static int name_part(struct closed_names *part, struct naming *naming,
		     const struct image_closer_input *w, struct error *err)
{
	struct profile *p = &part->names;
	uint64_t *self_samples = calloc(p->locs.n + 1, sizeof(*self_samples));
	uint64_t own = 0;
	struct symbolize_options o = { .open_image = open_image, .ctx = naming,
				  .debug_dirs = w->unwinder->debug_dirs,
				  .self_samples = self_samples };
	int rc;

	if (!self_samples)
		return error_set(err, ERR_NOMEM, "out of memory for symbols");
	for (size_t i = 0; i < p->locs.n; i++) {
		if (part->locs[i] < w->n_self_samples)
			self_samples[i] = w->self_samples[part->locs[i]];
		own += self_samples[i];
	}
	o.code_budget = symbolize_code_budget(own);
	o.self_samples_elsewhere = w->samples > own ? w->samples - own : 0;
	rc = profile_symbolize(p, &o, err);
	free(self_samples);
	/* Nothing is added from here on. */
	idtab_fini(&p->loc_tab);
	idtab_fini(&p->func_tab);
	idtab_fini(&p->frame_tab);
	return rc;
}

static void part_free(struct closed_names *part)
{
	profile_fini(&part->names);
	free(part->images);
	free(part->locs);
}

/* Keeps the names of the sampled locations in n images. */
static int keep_names(struct image_closer *l, const struct image_closer_input *w,
		      const struct unused *v, size_t n, struct error *err)
{
	const struct profile *p = w->images->profile;
	struct naming naming = { .images = w->images };
	struct closed_names part = { .images = calloc(PIECE, sizeof(uint32_t)) };
	uint32_t *row_of = malloc((p->images.n + 1) * sizeof(*row_of)), *less;
	int rc = -ERR_NOMEM;

	part.locs = malloc((p->locs.n + 1) * sizeof(*part.locs));
	if (profile_init(&part.names) < 0 || !part.images || !part.locs ||
	    !row_of)
		goto out;
	memset(row_of, 0xff, (p->images.n + 1) * sizeof(*row_of));
	rc = add_images(&part, &naming, p, v, n, row_of);
	if (!rc)
		rc = add_locs(&part, &naming, p, row_of);
	if (!rc && part.names.locs.n) {
		rc = name_part(&part, &naming, w, err);
		less = realloc(part.locs,
			       (part.names.locs.n + 1) * sizeof(*less));
		part.locs = less ? less : part.locs;
		if (!rc && vec_push(&l->parts, part) < 0)
			rc = -ERR_NOMEM;
		else if (!rc)
			part = (struct closed_names){ .images = NULL };
	}
out:
	if (rc == -ERR_NOMEM)
		rc = error_set(err, ERR_NOMEM, "out of memory for symbols");
	part_free(&part);
	free(row_of);
	return rc;
}

/* Closes the files of n images. */
static void close_files(const struct image_closer_input *w, const struct unused *v,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct recorded_image *r = &w->images->v.v[v[i].image];

		unwinder_forget(w->unwinder, v[i].image);
		close(r->fd);
		r->fd = -1;
		r->closer = true;
		w->images->fds--;
		if (r->row != PROF_NONE)
			r->named_locs =
				(uint32_t)w->images->profile->locs.n;
	}
}

static int close_unused(struct image_closer *l, const struct image_closer_input *w,
			struct error *err)
{
	struct images *im = w->images;
	struct unused *v = malloc((im->v.n + 1) * sizeof(*v));
	size_t n;
	int rc = 0;

	if (!v)
		return error_set(err, ERR_NOMEM, "out of memory");
	n = find_unused(l, im, v);
	for (size_t i = 0; !rc && i + UNUSED_KEPT < n; i += PIECE) {
		size_t some = n - UNUSED_KEPT - i;

		some = some < PIECE ? some : PIECE;
		if (!l->no_names)
			rc = keep_names(l, w, v + i, some, err);
		if (!rc)
			close_files(w, v + i, some);
	}
	free(v);
	return rc;
}

static size_t count_images(const struct images *im)
{
	return im->v.n - im->dropped.n;
}

/* Returns whether nothing refers to an image's number. */
static bool is_unused(const struct image_closer *l, const struct recorded_image *r)
{
	return r->path && r->kind == PROF_IMAGE_ELF && r->fd < 0 &&
	       r->row == PROF_NONE && r->mapped != l->round;
}

static int drop_unused(struct image_closer *l, const struct image_closer_input *w)
{
	struct images *im = w->images;
	uint32_t *unused = malloc((im->v.n + 1) * sizeof(*unused));
	size_t n = 0;
	int rc;

	if (!unused)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < im->v.n; i++) {
		if (!is_unused(l, &im->v.v[i]))
			continue;
		unwinder_forget(w->unwinder, i);
		python_live_forget(w->python, i);
		unused[n++] = i;
	}
	rc = images_drop(im, unused, n);
	free(unused);
	l->images = count_images(im);
	return rc;
}

int image_closer_idle(struct image_closer *l,
		      const struct image_closer_input *w, uint64_t now_ns,
		      struct error *err)
{
	struct images *im = w->images;
	bool many = !l->keep_numbers && count_images(im) > l->images + NEW_IMAGES;
	int rc = 0;

	if ((im->fds <= l->mapped + UNUSED_MAX && !many) ||
	    now_ns - l->checked_ns < LOOK_NS)
		return 0;
	l->checked_ns = now_ns;
	look(l, w);
	if (im->fds > l->mapped + UNUSED_MAX)
		rc = close_unused(l, w, err);
	if (!rc && many && drop_unused(l, w) < 0)
		rc = error_set(err, ERR_NOMEM, "out of memory while recording");
	return rc;
}

int image_closer_restore(const struct image_closer *l, struct profile *p)
{
	if (!l->parts.n)
		return 0;
	if (profile_begin_symbols(p) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < l->parts.n; i++) {
		const struct closed_names *part = &l->parts.v[i];

		if (symbols_merge(p, &part->names, part->images,
				  part->locs) < 0)
			return -ERR_NOMEM;
	}
	return symbols_merged(p);
}
