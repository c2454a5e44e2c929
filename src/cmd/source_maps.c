// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of --source-map as pairs of folders. */
#include "cmd/source_maps.h"

#include <stdlib.h>
#include <string.h>

int cmd_source_maps(const struct opt_strs *words, struct source_map **out,
		    struct error *err)
{
	struct source_map *v = calloc(words->n + 1, sizeof(*v));

	*out = v;
	if (!v)
		return error_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i], *eq = strchr(word, '=');

		if (!eq)
			return error_set(err, ERR_USAGE,
					 "--source-map '%s': use FROM=TO",
					 word);
		v[i].from = strndup(word, (size_t)(eq - word));
		v[i].to = eq + 1;
		if (!v[i].from)
			return error_set(err, ERR_NOMEM, "out of memory");
	}
	return 0;
}

void cmd_source_maps_free(struct source_map *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		free((char *)v[i].from);
	free(v);
}
