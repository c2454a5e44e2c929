// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs --verify of `tally symbolize` and `tally addr2line`: see verify.h. */
#include "cmd/verify.h"

#include "cmd/open.h"

static int finish(struct cmd_io *io, const struct verify_counts *counts,
		  struct buf *out, int rc, struct error *err)
{
	if (rc >= 0) {
		verify_summary(counts, out);
		rc = cmd_output(io, NULL, out, err);
	}
	buf_fini(out);
	if (rc < 0)
		return rc;
	return counts->different > 0;
}

int cmd_verify_profile(struct cmd_io *io, const struct profile *p,
		       const char *debug_dirs, struct error *err)
{
	struct verify_counts counts = { 0 };
	struct buf out = { 0 };
	int rc = verify_profile(p, debug_dirs, cmd_show_image, io, &counts,
				&out, err);

	cmd_show_step(io, NULL);
	return finish(io, &counts, &out, rc, err);
}

int cmd_verify_add(struct verify_cases *c, const struct sym_result *r)
{
	struct verify_case v = { r->vaddr, (uint32_t)c->frames.n, 0 };

	for (size_t i = 0; i < r->nframes; i++, v.n++)
		if (vec_push(&c->frames, (struct verify_frame){
				r->frames[i].name, r->frames[i].file,
				r->frames[i].line }) < 0)
			return -ERR_NOMEM;
	return vec_push(&c->v, v) < 0 ? -ERR_NOMEM : 0;
}

int cmd_verify_image(struct cmd_io *io, struct image *img,
		     const struct symbolizer *s, const char *debug_dirs,
		     struct verify_cases *c, struct error *err)
{
	struct opinion_request q = {
		.path = image_name(img),
		.debug_file = symbolizer_sources(s).debug_file,
		.debug_dirs = debug_dirs,
	};
	struct build_id id = image_build_id(img);
	struct verify_counts counts = { 0 };
	struct buf out = { 0 };
	int rc = verify_image(&q, symbolizer_sources(s).go, &id, c, &counts, &out,
			      err);

	return finish(io, &counts, &out, rc, err);
}
