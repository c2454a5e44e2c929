// SPDX-License-Identifier: GPL-2.0-or-later
/* Closes files that no process maps any more, and drops images without samples. */
#include "record/collect/image_closer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"
#include "profile/symbolize_profile.h"
#include "profile/merge.h"

/*
 * A program that is started again soon needs its file, its unwind table and the names
 * of its code again, which takes far longer than to keep the file open.  Compilations
 * start the same hundred programs over and over.  A deleted file, however, is not
 * mapped again, and its space on the disk is not free as long as it is open.
 */
enum {
	UNUSED_MAX = 256,	/* maximum number of unmapped open files */
	FD_SHARE = 4,		/* they may use this part of the descriptors */
	GONE_MAX = 48,		/* maximum number of those that are deleted */
	GONE_KEPT = 16,		/* number of these that remain open */
	PIECE = 32,		/* number named in one step */
	NEW_IMAGES = 256,	/* number after which unused ones are dropped */
};
#define GONE_BYTES (512ull << 20)	/* maximum size of deleted files */
#define LOOK_NS 500000000u	/* interval between checks of all mappings */
#define LOOK_GONE_NS 1500000000u	/* ... while only deleted files may be too many */
#define CALM_LOOKS 4ull		/* both are longer with `calm`: each looks at all files */

static void part_free(struct closed_names *part)
{
	profile_fini(&part->names);
	free(part->images);
	free(part->locs);
}

void image_closer_forget(struct image_closer *l)
{
	for (size_t i = 0; i < l->parts.n; i++)
		part_free(&l->parts.v[i]);
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

static bool is_deleted(const struct recorded_image *r)
{
	struct stat st;

	return !fstat(r->fd, &st) && !st.st_nlink;
}

/* Records which images are mapped now, and counts deleted files. */
static void mark_mapped(struct image_closer *l, const struct image_closer_input *w)
{
	struct images *im = w->images;

	l->round++;
	for (size_t i = 0; i < w->processes->procs.n; i++) {
		const struct mapset *s = w->processes->procs.v[i].maps;

		for (size_t k = 0; s && k < s->maps.n; k++)
			im->v.v[s->maps.v[k].image].mapped = l->round;
	}
	l->mapped = l->gone = 0;
	l->gone_bytes = 0;
	for (size_t i = 0; i < im->v.n; i++) {
		const struct recorded_image *r = &im->v.v[i];

		if (!is_file(r))
			continue;
		if (r->mapped == l->round) {
			l->mapped++;
		} else if (is_deleted(r)) {
			l->gone++;
			l->gone_bytes += r->stamp.size;
		}
	}
}

/* Returns the maximum number of unmapped open files. */
static size_t unused_max(const struct images *im)
{
	size_t most = im->max_fds / FD_SHARE;

	return most > UNUSED_MAX ? UNUSED_MAX : most < GONE_MAX ? GONE_MAX : most;
}

struct unused {
	uint64_t mapped;	/* last round that saw it mapped */
	uint32_t image;
	bool gone;		/* the file was deleted */
};

/* Deleted files come first, then those unused for longest. */
static int by_use(const void *x, const void *y)
{
	const struct unused *a = x, *b = y;

	return descending(a->gone, b->gone) ?: ascending(a->mapped, b->mapped) ?:
	       ascending(a->image, b->image);
}

/* Lists the unmapped open files.  Returns their number. */
static size_t find_unused(const struct image_closer *l, const struct images *im,
			  struct unused *out)
{
	size_t n = 0;

	for (size_t i = 0; i < im->v.n; i++) {
		const struct recorded_image *r = &im->v.v[i];

		if (is_file(r) && r->mapped != l->round)
			out[n++] = (struct unused){ r->mapped, (uint32_t)i,
						    is_deleted(r) };
	}
	sort_rows(out, n, by_use);
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
				  .debug_dirs = w->unwinder->tables.debug_dirs,
				  .self_samples = self_samples,
				  .one_thread = w->calm };
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
	rc = add_images(&part, &naming, p, v, n, row_of) ?:
	     add_locs(&part, &naming, p, row_of);
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

static bool too_many_gone(const struct image_closer *l)
{
	return l->gone > GONE_MAX || l->gone_bytes > GONE_BYTES;
}

/* Returns how many of n unmapped files to close.  They are more than necessary, to
 * make this rare. */
static size_t count_surplus(const struct image_closer *l, const struct images *im,
			    const struct unused *v, size_t n)
{
	size_t most = unused_max(im), kept = n > most ? most / 4 * 3 : n;
	size_t gone = 0, surplus = 0;
	uint64_t bytes = l->gone_bytes, size;

	while (gone < n && v[gone].gone)
		gone++;
	while (too_many_gone(l) && surplus < gone &&
	       (gone - surplus > GONE_KEPT || bytes > GONE_BYTES / 2)) {
		size = im->v.v[v[surplus++].image].stamp.size;
		bytes -= size < bytes ? size : bytes;
	}
	return n - surplus > kept ? n - kept : surplus;
}

static int close_unused(struct image_closer *l, const struct image_closer_input *w,
			struct error *err)
{
	struct images *im = w->images;
	struct unused *v = malloc((im->v.n + 1) * sizeof(*v));
	size_t n;
	int rc = 0;

	if (!v)
		return error_nomem(err);
	n = count_surplus(l, im, v, find_unused(l, im, v));
	for (size_t i = 0; !rc && i < n; i += PIECE) {
		size_t some = n - i < PIECE ? n - i : PIECE;

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
	size_t most = unused_max(im);
	int rc = 0;

	if (im->fds <= l->mapped && !many)
		return 0;
	if (now_ns - l->checked_ns <
	    (many || im->fds > l->mapped + most ? LOOK_NS : LOOK_GONE_NS) *
	    (w->calm ? CALM_LOOKS : 1))
		return 0;
	l->checked_ns = now_ns;
	mark_mapped(l, w);
	if (im->fds > l->mapped + most || too_many_gone(l))
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
