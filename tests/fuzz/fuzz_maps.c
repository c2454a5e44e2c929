// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/PID/maps, /proc/modules, /proc/PID/status and /proc/stat, and maps that change; the
 * first byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "record/source/maps_watch.h"
#include "record/source/mapset.h"
#include "launch/proc_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct maps {
	struct mapset *set;
	uint32_t generation;
	size_t told;
};

static bool add_map(void *ctx, const struct mapping *r)
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

static int add_record(void *ctx, const struct record *r, struct error *err)
{
	struct maps *m = ctx;

	(void)err;
	if (r->kind != RECORD_MMAP || !add_map(m, &r->mmap))
		abort();
	m->told++;
	return 0;
}

/* Two readings of one process; a third, like the second, tells nothing. */
static void watch(struct maps *m, const char *text, size_t n)
{
	const char *half = memchr(text, '%', n);
	size_t first = half ? (size_t)(half - text) : n;
	struct watch_place at = { 1, 1, 0 };
	struct maps_watch w;

	maps_watch_init(&w, "/nonexistent");
	for (int i = 0; i < 3; i++) {
		size_t from = i ? first : 0;

		m->told = 0;
		if (maps_watch_text(&w, &at, text + from, i ? n - from : first,
				    add_record, m, NULL) < 0)
			abort();
	}
	if (m->told)
		abort();
	maps_watch_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps m = { NULL, 0, 0 };
	const char *text = (const char *)data + 1;
	uint64_t v;

	m.set = size ? mapset_new(&m.generation) : NULL;
	if (!m.set)
		return 0;
	if (data[0] % 4 == 0)
		proc_maps_parse(text, size - 1, add_map, &m);
	else if (data[0] % 4 == 1)
		proc_modules_parse(text, size - 1, add_module, &m);
	else if (data[0] % 4 == 3)
		watch(&m, text, size - 1);
	else if (data[0] % 8 == 2)
		proc_status_number(text, size - 1, "PPid", &v);
	else
		proc_stat_stolen(text, size - 1);
	for (size_t i = 0; i < m.set->maps.n; i++)
		if (m.set->maps.v[i].start >= m.set->maps.v[i].end ||
		    (i && m.set->maps.v[i - 1].end > m.set->maps.v[i].start))
			abort();
	mapset_put(m.set);
	return 0;
}
