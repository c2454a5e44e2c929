// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds what would help a recording with missing data: see missing.h. */
#include "cmd/missing.h"

#include <stdlib.h>

static struct hint_ask ask_of(const struct missing *m,
			      const struct missing_row *r, const char *release)
{
	const struct prof_image *im = &m->p->images.v[r->image];

	return (struct hint_ask){
		.path = profile_cstr(m->p, im->path),
		.id = im->build_id,
		.kernel = prof_is_kernel(im) ? release : NULL,
		.stripped = r->source &&
			    (r->source->missing & PROF_MISSING_SYMTAB),
	};
}

/* Returns whether a package or another build would help.  If the image itself
 * could not be read, it would not, and the row's note gives the reason. */
static bool is_answer(const struct missing *m, const struct missing_row *r)
{
	const struct prof_image *im = &m->p->images.v[r->image];
	uint32_t why = r->source ? r->source->missing : PROF_MISSING_FILE;

	if (prof_is_kernel(im))
		return !(why & PROF_MISSING_KERNEL);
	if ((why & (PROF_MISSING_FILE | PROF_MISSING_CHANGED)) &&
	    !im->build_id.len)
		return false;
	/* A damaged file is present and has the recorded build ID. */
	return im->kind == PROF_IMAGE_ELF && (why & ~PROF_MISSING_DAMAGED);
}

int missing_help_find(struct missing *m, size_t n, bool search,
		      struct missing_help *out, struct error *err)
{
	const char *release = profile_fact(m->p, "kernel");
	struct hint_options o = { .debuginfod = getenv("DEBUGINFOD_URLS"),
				  .no_files = m->p->foreign,
				  .search_lists = search };
	struct hint_ask *ask;

	if (n > m->rows.n)
		n = m->rows.n;
	*out = (struct missing_help){ .n = n };
	if (!n)
		return 0;
	ask = calloc(n, sizeof(*ask));
	out->hints = calloc(n, sizeof(*out->hints));
	for (size_t i = 0; ask && i < n; i++)
		ask[i] = ask_of(m, &m->rows.v[i], release);
	if (!ask || !out->hints || hints_find(&o, ask, n, out->hints) < 0) {
		free(ask);
		missing_help_free(out);
		return error_nomem(err);
	}
	free(ask);
	for (size_t i = 0; i < n; i++) {
		struct missing_row *r = &m->rows.v[i];
		const struct hint *h = &out->hints[i];

		if (!is_answer(m, r))
			continue;
		r->package = h->package;
		r->command = h->command;
		r->note = h->note;
		r->fetch = h->fetch;
	}
	return 0;
}

void missing_help_free(struct missing_help *h)
{
	if (h->hints)
		hints_fini(h->hints, h->n);
	free(h->hints);
	*h = (struct missing_help){ 0 };
}
