// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbolizes the images of a profile.
 *
 * With at least two processors, two images are opened and read at a time, unless the
 * caller wants less memory.  Rows
 * are added in the order of the images, so that the result does not depend on
 * timing.  An image is closed before the next one is opened: at most
 * SYMBOLIZE_THREADS of them are in memory at any time.
 */
#include <sched.h>

#include "base/pages.h"
#include "profile/symbolize_internal.h"

/* Names code that the kernel generated.  The kernel reports the names to the
 * recorder when the code is created; later they are unavailable, so old names
 * remain. */
static int symbolize_generated(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct image_debug_info row = { .image = part->image,
				   .names = PROF_NAMES_KALLSYMS };
	const char *name = NULL;
	uint64_t size = 0;
	int rc = 0;

	symbolize_wait_turn(f, part);
	if (f->o->generated) {
		symbolize_lock(f);
		name = f->o->generated(f->o->ctx, part->image, &size);
		symbolize_unlock(f);
	}
	if (!name)
		return 0;
	for (size_t i = 0; i < part->n && !rc; i++) {
		struct sym_frame frame = { name, "", 0, 0, "", 0, false, 0, "" };
		struct sym_result r = {
			.vaddr = f->vaddrs[part->at + i], .frames = &frame,
			.nframes = 1, .symbol = name, .sym_size = size,
		};

		rc = symbolize_add_location(f, part, i, &r);
	}
	return rc ? rc : symbolize_set_source(f, &row, "");
}

enum { SYMBOLIZE_THREADS = 2 };

static void end_turn(struct symbolize_run *f, int rc)
{
	symbolize_next_image(f);
	if (f->o->one_thread)
		pages_trim();	/* what is freed in between would add up */
	pthread_mutex_lock(&f->lock);
	if (!f->rc)
		f->rc = rc;
	f->turn++;
	pthread_cond_broadcast(&f->moved);
	pthread_mutex_unlock(&f->lock);
}

/* Returns the next image to read, or NULL. */
static const struct symbolize_item *take_part(struct symbolize_run *f)
{
	const struct symbolize_item *part = NULL;

	pthread_mutex_lock(&f->lock);
	if (f->next < f->end && !f->rc) {
		part = &f->order[f->next++];
		if (f->o->progress)
			f->o->progress(f->o->ctx, part->path, f->done,
				       f->p->locs.n);
		f->done += part->n;
	}
	pthread_mutex_unlock(&f->lock);
	return part;
}

static int symbolize_image(struct symbolize_run *f, const struct symbolize_item *part)
{
	switch (f->p->images.v[part->image].kind) {
	case PROF_IMAGE_ELF:
		return symbolize_elf(f, part);
	case PROF_IMAGE_VDSO:
		return symbolize_vdso(f, part);
	case PROF_IMAGE_KERNEL:
	case PROF_IMAGE_MODULE:
		return symbolize_kernel(f, part);
	case PROF_IMAGE_GENERATED:
	case PROF_IMAGE_UNKNOWN:	/* code outside all mappings has no name */
		return symbolize_generated(f, part);
	case PROF_IMAGE_ANON:
		return symbolize_jit(f, part);
	default:		/* no mapping: no names */
		return 0;
	}
}

static void *work(void *ctx)
{
	struct symbolize_run *f = ctx;
	const struct symbolize_item *part;

	while ((part = take_part(f)) != NULL) {
		int rc = symbolize_image(f, part);

		symbolize_wait_turn(f, part);
		end_turn(f, rc);
	}
	return NULL;
}

static bool has_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ||
	       CPU_COUNT(&set) > 1;
}

/* Reads the images of f->order up to `end`. */
static void work_until(struct symbolize_run *f, size_t end, unsigned int threads)
{
	pthread_t t[SYMBOLIZE_THREADS];
	unsigned int n = 0;

	f->end = end;
	while (n + 1 < threads && f->next + n + 1 < end &&
	       !pthread_create(&t[n], NULL, work, f))
		n++;
	work(f);
	while (n)
		pthread_join(t[--n], NULL);
}

/* Reads the kernel's images last, because its symbol table takes long to
 * generate and is read once. */
int symbolize_images(struct symbolize_run *f, struct symbolize_item *parts)
{
	struct profile *p = f->p;
	size_t i, n = 0, files = 0;

	for (int kernel = 0; kernel < 2; kernel++) {
		for (i = 0; i < p->images.n; i++) {
			struct symbolize_item part = parts[i];

			if (!part.n ||
			    prof_is_kernel(&p->images.v[i]) != kernel)
				continue;
			if (f->o->identified_later &&
			    prof_is_identified(&p->images.v[i])) {
				symbolize_note(f, (uint32_t)i, "left to the "
					       "server (--symbols=server): "
					       "tally symbolize");
				continue;
			}
			part.path = profile_cstr(p, p->images.v[i].path);
			part.reason = profile_cstr(p, p->images.v[i].reason);
			part.turn = n;
			f->order[n++] = part;
		}
		if (!kernel)
			files = n;
	}
	/* Its table takes as much memory as a large image. */
	if (n > files && !f->o->one_thread)
		symbolize_kernel_begin(f, f->order + files, n - files);
	work_until(f, files, !f->o->one_thread && has_processors()
				     ? SYMBOLIZE_THREADS : 1);
	if (n > files && f->o->one_thread && !f->rc)
		symbolize_kernel_begin(f, f->order + files, n - files);
	work_until(f, n, 1);
	return f->rc;
}
