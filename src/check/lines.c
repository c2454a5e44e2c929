// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps the lines of all recordings to the line numbers of the newest recording of
 * the new side (views/line_match.h).  Lines inserted above others then change none
 * of them.  Recordings of one build share the result.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"
#include "check/runs_internal.h"

struct finder {
	struct check_runs *c;
	const struct source_where *where;
	const uint8_t *wanted;	/* by str; NULL: all files */
	size_t nwanted;
	uint32_t **file_of;	/* str of the base name, or 0; by file and its str */
	uint64_t *build;	/* by file */
};

/* Returns a hash of the build IDs of all code in a recording. */
static uint64_t build_of(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->images.n; i++) {
		uint64_t id = compare_build_of(&p->images.v[i]);

		/* the order does not matter; without an ID, builds are assumed to
		 * differ */
		sum += id ? hash_mix(id, 1) : hash_mix((uintptr_t)p, i);
	}
	return sum;
}

static bool is_wanted(const struct finder *x, uint32_t base)
{
	return !x->wanted || (base < x->nwanted && x->wanted[base]);
}

/* Maps files to their base names.  If two files share one, neither is matched. */
static int name_files(struct finder *x, size_t i)
{
	const struct profile *p = x->c->files.v[i].p;
	uint32_t *of = calloc(p->str.str.n + 1, sizeof(*of));
	struct u64map paths = { 0 };
	int rc = of ? 0 : -ERR_NOMEM;

	x->file_of[i] = of;
	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; !rc && k < p->frames.n; k++) {
			uint32_t file = p->frames.v[k].file, base, *slot;

			if (!file || file >= p->str.str.n)
				continue;
			base = strtab_add(&x->c->str, path_base(
						profile_cstr(p, file)));
			slot = base == UINT32_MAX ? NULL
						  : u64map_slot(&paths, base);
			if (!slot)
				rc = -ERR_NOMEM;
			else if (*slot == U64MAP_NONE)
				*slot = file;
			else if (*slot != file)
				*slot = 0;
			if (!rc && pass && *slot && is_wanted(x, base))
				of[file] = base;
		}
	u64map_fini(&paths);
	return rc;
}

static int match_file(struct finder *x, size_t i, size_t newest)
{
	struct check_runs *c = x->c;
	struct line_side side[LINE_SIDES] = {
		{ c->files.v[i].p, x->where, x->file_of[i] },
		{ c->files.v[newest].p, x->where, x->file_of[newest] },
	};
	struct line_map map;
	int rc;

	if (x->build[i] == x->build[newest])
		return 0;
	for (size_t k = 0; k < i; k++)
		if (x->build[k] == x->build[i]) {
			c->files.v[i].lines = c->files.v[k].lines;
			return 0;
		}
	rc = line_map_init(&map, side);
	if (!rc && vec_push(&c->line_maps, map) < 0)
		rc = -ERR_NOMEM;
	if (rc)
		line_map_fini(&map);
	else
		c->files.v[i].lines = (uint32_t)c->line_maps.n;
	return rc;
}

static int match_all(struct finder *x)
{
	struct check_runs *c = x->c;
	size_t newest = c->files.n;
	int rc = 0;

	for (size_t i = 0; i < c->files.n; i++)
		if (c->files.v[i].side == CHECK_NEW)
			newest = i;
	for (size_t i = 0; !rc && i < c->files.n; i++) {
		x->build[i] = build_of(c->files.v[i].p);
		rc = name_files(x, i);
	}
	for (size_t i = 0; !rc && newest < c->files.n && i < c->files.n; i++)
		rc = i == newest ? 0 : match_file(x, i, newest);
	return rc;
}

int runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted)
{
	struct finder x = { .c = c, .where = where, .wanted = wanted,
			    .nwanted = nwanted };
	int rc = -ERR_NOMEM;

	x.file_of = calloc(c->files.n + 1, sizeof(*x.file_of));
	x.build = calloc(c->files.n + 1, sizeof(*x.build));
	if (x.file_of && x.build)
		rc = match_all(&x);
	for (size_t i = 0; x.file_of && i < c->files.n; i++)
		free(x.file_of[i]);
	free(x.file_of);
	free(x.build);
	return rc;
}

uint32_t check_line(const struct check_runs *c, const struct check_file *f,
		    uint32_t base, uint32_t line)
{
	if (!f->lines || !line || line >= LINE_REMOVED)
		return line;
	return line_map_get(&c->line_maps.v[f->lines - 1], base, line);
}
