// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names kernel code from the ELF file of the kernel or of a module.
 *
 * Addresses in the file and in the image differ.  The kernel is moved as a
 * whole, so one of its symbols gives the distance.  The sections of a module
 * (ET_REL) have no addresses in the file and are placed by the running kernel.
 * So each of its functions is found by name, or relative to one that was found.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/symbolize_kernel.h"

/* A symbol by name with its addresses.  `file` is UINT64_MAX if it is not in
 * the file, AMBIGUOUS if it is there several times. */
struct anchor {
	const char *name;
	uint64_t here, file;
};
#define AMBIGUOUS (UINT64_MAX - 1)

struct target {
	uint64_t vaddr;		/* address in the file */
	uint64_t delta;		/* vaddr in the image + delta = address in the file */
	size_t i;		/* index of the location in the part */
};

struct lookup {
	struct kernel_part *k;
	VEC(struct anchor) anchors;
	VEC(struct target) targets;
	uint64_t text, stext;	/* addresses in the file; UINT64_MAX: missing */
	int rc;
};

static int by_name(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return strcmp(x->name, y->name) ?: ascending(x->here, y->here);
}

static int by_place(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return ascending(x->here, y->here);
}

static int by_vaddr(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr);
}

/* Handles a symbol of the file: sets its address if it is an anchor. */
static bool on_symbol(void *ctx, const struct image_symbol *s)
{
	struct lookup *l = ctx;
	size_t at;

	if (!strcmp(s->name, "_text"))
		l->text = s->vaddr;
	else if (!strcmp(s->name, "_stext"))
		l->stext = s->vaddr;
	lower_bound(at, 0, l->anchors.n,
		    strcmp(l->anchors.v[at].name, s->name) < 0);
	for (; at < l->anchors.n && !strcmp(l->anchors.v[at].name, s->name);
	     at++) {
		struct anchor *a = &l->anchors.v[at];

		a->file = a->file == UINT64_MAX || a->file == s->vaddr
			  ? s->vaddr : AMBIGUOUS;
	}
	return true;
}

/* Looks up all anchors in the file.  Keeps those found once, sorted by
 * address. */
static void match_anchors(struct lookup *l, struct image *img)
{
	struct anchor *v = l->anchors.v;
	size_t i, kept = 0;

	sort_rows(v, l->anchors.n, by_name);
	image_each_symbol(img, IMAGE_SYMTAB, on_symbol, l);
	for (i = 0; i < l->anchors.n; i++) {
		bool twin = (i && !strcmp(v[i].name, v[i - 1].name)) ||
			    (i + 1 < l->anchors.n &&
			     !strcmp(v[i].name, v[i + 1].name));

		if (twin && v[i].file != UINT64_MAX)
			v[i].file = AMBIGUOUS;
	}
	for (i = 0; i < l->anchors.n; i++)
		if (v[i].file < AMBIGUOUS)
			v[kept++] = v[i];
	l->anchors.n = kept;
	sort_rows(v, kept, by_place);
}

/* Adds each sampled function once. */
static int add_hit_anchors(struct lookup *l)
{
	const struct kernel_part *k = l->k;
	struct kernel_name last = { "", 0, 0 };

	for (size_t i = 0; i < k->part->n; i++) {
		uint64_t vaddr = k->f->vaddrs[k->part->at + i];
		struct anchor a;

		if (vaddr - last.start < last.size ||
		    !kernel_name_at(k, vaddr, &last))
			continue;
		a = (struct anchor){ last.name, last.start, UINT64_MAX };
		if (vec_push(&l->anchors, a) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static bool on_kallsym(void *ctx, const char *name, uint64_t addr)
{
	struct lookup *l = ctx;
	struct anchor a = { name, addr - l->k->base, UINT64_MAX };

	if (vec_push(&l->anchors, a) < 0)
		l->rc = -ERR_NOMEM;
	return !l->rc;
}

static int add_target(struct lookup *l, size_t i, uint64_t delta)
{
	struct target t = { .delta = delta, .i = i };

	t.vaddr = l->k->f->vaddrs[l->k->part->at + i] + delta;
	return vec_push(&l->targets, t) < 0 ? -ERR_NOMEM : 0;
}

static size_t count_votes(const struct lookup *l, uint64_t delta)
{
	size_t n = 0;

	for (size_t i = 0; i < l->anchors.n; i++)
		n += l->anchors.v[i].file - l->anchors.v[i].here == delta;
	return n;
}

/* Computes how far the kernel was moved.  An image starts at _text, or at
 * _stext if kallsyms has no _text; one whose base was hidden starts at 0. */
static bool kernel_delta(const struct lookup *l, uint64_t *delta)
{
	const struct prof_image *im =
		&l->k->f->p->images.v[l->k->part->image];
	uint64_t guess[3] = { l->text, l->stext, UINT64_MAX };
	size_t i, best = 0, votes;

	if (!im->base)
		guess[0] = guess[1] = UINT64_MAX;
	if (l->anchors.n)
		guess[2] = l->anchors.v[0].file - l->anchors.v[0].here;
	*delta = UINT64_MAX;
	for (i = 0; i < 3; i++) {
		votes = guess[i] == UINT64_MAX ? 0 : count_votes(l, guess[i]);
		if (guess[i] != UINT64_MAX &&
		    (*delta == UINT64_MAX || votes > best)) {
			*delta = guess[i];
			best = votes;
		}
	}
	return *delta != UINT64_MAX;
}

static int kernel_targets(struct lookup *l, struct image *img)
{
	struct kernel_part *k = l->k;
	uint64_t lo, hi, delta;
	int rc = add_hit_anchors(l);

	match_anchors(l, img);
	if (!image_code_range(img, &lo, &hi) || !kernel_delta(l, &delta))
		return rc;
	k->has_delta = true;
	k->delta = delta;
	for (size_t i = 0; i < k->part->n && !rc; i++) {
		uint64_t vaddr = k->f->vaddrs[k->part->at + i] + delta;

		if (vaddr >= lo && vaddr < hi)
			rc = add_target(l, i, delta);
	}
	return rc;
}

/* Returns the anchor at or below an address, else the first one above. */
static const struct anchor *nearest(const struct lookup *l, uint64_t here)
{
	size_t at;

	last_where(at, l->anchors.n, l->anchors.v[at].here <= here);
	return l->anchors.n ? &l->anchors.v[at] : NULL;
}

static int module_targets(struct lookup *l, struct image *img)
{
	const struct kernel_part *k = l->k;
	int rc = 0;

	if (k->live)
		kallsyms_each(k->f->kallsyms, k->module, on_kallsym, l);
	else
		rc = add_hit_anchors(l);
	rc = rc ? rc : l->rc;
	match_anchors(l, img);
	for (size_t i = 0; i < k->part->n && !rc; i++) {
		const struct anchor *a =
			nearest(l, k->f->vaddrs[k->part->at + i]);

		if (a)
			rc = add_target(l, i, a->file - a->here);
	}
	vec_sort(&l->targets, by_vaddr);
	return rc;
}

static bool on_result(void *ctx, size_t at, const struct sym_result *r)
{
	struct lookup *l = ctx;
	struct kernel_part *k = l->k;
	const struct target *t = &l->targets.v[at];
	struct sym_result here = *r;
	struct sym_frame only;
	struct kernel_name name;

	here.vaddr -= t->delta;
	here.sym_start -= t->delta;
	if (!r->nframes)
		return true;
	/* The code next to an anchor may belong to another section, which is
	 * placed elsewhere. */
	if (*k->module && *r->symbol &&
	    kernel_name_at(k, here.vaddr, &name) &&
	    name.start != here.sym_start)
		return true;
	/* Code after the end of a function that the compiler considered
	 * noreturn: it has a line, and kallsyms has a name for it. */
	if (r->nframes == 1 && !*r->frames->name &&
	    kernel_name_at(k, here.vaddr, &name)) {
		only = *r->frames;
		only.name = here.symbol = name.name;
		here.sym_start = name.start;
		here.sym_size = name.size;
		here.frames = &only;
	}
	k->done[t->i] = 1;
	k->in_file++;
	l->rc = symbolize_add_location(k->f, k->part, t->i, &here);
	return !l->rc;
}

static int resolve(struct lookup *l, struct image *img)
{
	struct symbolize_run *f = l->k->f;
	struct sym_options so = { .debug_dirs = f->o->debug_dirs };
	uint64_t *vaddrs = malloc((l->targets.n + 1) * sizeof(*vaddrs));
	struct symbolizer *s;
	int rc;

	if (!vaddrs)
		return symbolize_nomem(f);
	for (size_t i = 0; i < l->targets.n; i++)
		vaddrs[i] = l->targets.v[i].vaddr;
	rc = symbolizer_open(img, &so, &s, f->err);
	if (!rc) {
		rc = symbolizer_resolve(s, vaddrs, l->targets.n, on_result, l,
					f->err);
		/* Strings are identified by their pointers, which are only
		 * valid for a short time. */
		symbolize_next_image(f);
		symbolizer_close(s);
	}
	free(vaddrs);
	return l->rc ? symbolize_nomem(f) : rc;
}

int symbolize_kernel_file(struct kernel_part *k, struct image *img)
{
	struct lookup l = { .k = k, .text = UINT64_MAX, .stext = UINT64_MAX };
	int rc = *k->module ? module_targets(&l, img)
			    : kernel_targets(&l, img);

	if (rc < 0)
		rc = symbolize_nomem(k->f);
	else if (l.targets.n)
		rc = resolve(&l, img);
	vec_fini(&l.anchors);
	vec_fini(&l.targets);
	return rc;
}
