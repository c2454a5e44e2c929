// SPDX-License-Identifier: GPL-2.0-or-later
/* Where source files are: see source_options.h. */
#include "cmd/source_options.h"

#include "cmd/source_maps.h"

int cmd_sources(const struct source_opts *o, struct annotate_spec *spec,
		struct error *err)
{
	struct source_map *maps = NULL;
	int rc = cmd_source_maps(&o->maps, &maps, err);

	spec->maps = maps;
	spec->nmaps = o->maps.n;
	spec->repo = o->repo;
	spec->debuginfod = !o->no_debuginfod;
	return rc;
}

void cmd_sources_free(struct annotate_spec *spec)
{
	cmd_source_maps_free((struct source_map *)spec->maps, spec->nmaps);
	spec->maps = NULL;
	spec->nmaps = 0;
}
