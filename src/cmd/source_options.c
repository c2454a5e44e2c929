// SPDX-License-Identifier: GPL-2.0-or-later
/* Where source files are: see source_options.h. */
#include "cmd/source_options.h"

#include <stdlib.h>

#include "cmd/source_maps.h"

int cmd_sources(const struct source_opts *o, const struct opt_strs *first,
		struct source_where *out, struct error *err)
{
	struct opt_strs words = { 0 };
	struct source_map *maps = NULL;
	size_t n = o->maps.n + (first ? first->n : 0);
	int rc;

	words.v = calloc(n + 1, sizeof(*words.v));
	if (!words.v)
		return error_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; first && i < first->n; i++)
		words.v[words.n++] = first->v[i];
	for (size_t i = 0; i < o->maps.n; i++)
		words.v[words.n++] = o->maps.v[i];
	rc = cmd_source_maps(&words, &maps, err);
	free(words.v);
	*out = (struct source_where){ .maps = maps, .nmaps = n,
				      .repo = o->repo,
				      .debuginfod = !o->no_debuginfod };
	return rc;
}

void cmd_sources_free(struct source_where *where)
{
	cmd_source_maps_free((struct source_map *)where->maps, where->nmaps);
	where->maps = NULL;
	where->nmaps = 0;
}
