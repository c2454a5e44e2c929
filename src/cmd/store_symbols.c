// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up the symbols of a recording and stores them: see fetch_debug.h. */
#include "cmd/fetch_debug.h"

#include <stdlib.h>

#include "cmd/open.h"
#include "cmd/source_options.h"
#include "profile/symbolize_profile.h"
#include "profile/writer.h"

uint64_t *cmd_count_self(struct reader *r)
{
	const struct profile *p = reader_profile(r);
	uint64_t *self_samples = calloc(p->locs.n + 1, sizeof(*self_samples));
	struct sample_batch b;

	if (!self_samples)
		return NULL;
	reader_columns(r, COLUMN_STACK);
	reader_rewind(r);
	while (reader_next(r, &b)) {
		for (size_t i = 0; i < b.n; i++) {
			uint32_t loc = p->nodes.v[b.stack[i]].loc;

			if (loc < p->locs.n)
				self_samples[loc]++;
		}
	}
	reader_columns(r, COLUMN_ALL);
	return self_samples;
}

static int look_up(struct cmd_io *io, const struct store_options *o,
		   const char *dirs, struct reader *r, struct error *err)
{
	uint64_t *self_samples = cmd_count_self(r);
	struct source_access sources;
	struct symbolize_options f = { .debug_dirs = dirs,
				  .files = o->files,
				  .kallsyms = o->kallsyms,
				  .vmlinux = o->vmlinux,
				  .self_samples = self_samples,
				  .embed_source = o->embed_source ? &sources
								  : NULL,
				  .code_budget = symbolize_code_budget(
					  reader_sample_count(r)),
				  .progress = cmd_show_image, .ctx = io };
	int rc;

	if (!self_samples)
		return error_nomem(err);
	rc = cmd_embed(o->embed_source, &sources, err) ?:
	     profile_symbolize(reader_profile(r), &f, err);
	source_access_fini(&sources);
	free(self_samples);
	cmd_show_step(io, NULL);
	return rc;
}

int cmd_store_symbols(struct cmd_io *io, const struct store_options *o,
		      const char *path, struct reader *r, struct error *err)
{
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(o->debug_dirs, &dirs, err) ?:
		 look_up(io, o, buf_cstr(&dirs), r, err);

	buf_fini(&dirs);
	if (rc < 0)
		return rc;
	if (io->no_memory && io->no_memory())
		return error_set(err, ERR_NOMEM, "out of memory for symbols: "
				 "%s is unchanged", path);
	return writer_replace_symbols(path, o->output ? o->output : path,
				      reader_profile(r), err);
}
