// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/PID/maps, /proc/modules and /proc/PID/status; the first byte
 * chooses. */
#include <stdlib.h>
#include <string.h>

#include "record/mapset.h"
#include "record/proc_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct maps {
	struct mapset *set;
	uint32_t generation;
};

static bool add_map(void *ctx, const struct record_mmap *r)
{
	struct maps *m = ctx;
	struct map map = { r->start, r->start + r->len, 0, 1 };

	if (!r->len || map.end < map.start || strlen(r->path) >= 4096)
		abort();
	return mapset_insert(&m->set, &map, &m->generation) == 0;
}

static bool add_module(void *ctx, const struct proc_module *r)
{
	struct maps *m = ctx;
	struct map map = { r->start, r->start + r->size, 0, 2 };

	if (strlen(r->name) >= sizeof(r->name))
		abort();
	return mapset_insert(&m->set, &map, &m->generation) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps m = { NULL, 0 };
	const char *text = (const char *)data + 1;
	uint64_t v;

	m.set = size ? mapset_new(&m.generation) : NULL;
	if (!m.set)
		return 0;
	if (data[0] % 3 == 0)
		proc_maps_parse(text, size - 1, add_map, &m);
	else if (data[0] % 3 == 1)
		proc_modules_parse(text, size - 1, add_module, &m);
	else
		proc_status_number(text, size - 1, "PPid", &v);
	for (size_t i = 0; i < m.set->maps.n; i++)
		if (m.set->maps.v[i].start >= m.set->maps.v[i].end ||
		    (i && m.set->maps.v[i - 1].end > m.set->maps.v[i].start))
			abort();
	mapset_put(m.set);
	return 0;
}
