// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps the lines of all recordings to the line numbers of the newest recording of
 * the new side (views/line_match.h).  Lines inserted above others then change none
 * of them.
 */
#include <stdlib.h>

#include "check/runs_internal.h"
#include "compare/paths.h"

/* Matches only lines of the wanted files. */
static void leave_out(struct check_file *f, const struct strtab *str,
		      const uint8_t *wanted, size_t nwanted)
{
	for (uint32_t i = 1; i < f->p->str.str.n; i++) {
		uint32_t base = f->file_of[i]
			? strtab_find(str, path_base(profile_cstr(f->p, i))) : 0;

		if (base >= nwanted || !wanted[base])
			f->file_of[i] = 0;
	}
}

int runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted)
{
	const struct check_file *newest = NULL;
	int rc = 0;

	for (size_t i = 0; i < c->files.n; i++)
		if (c->files.v[i].side == CHECK_NEW)
			newest = &c->files.v[i];
	for (size_t i = 0; !rc && newest && i < c->files.n; i++) {
		struct check_file *f = &c->files.v[i];
		const struct profile *const p[] = { f->p, newest->p };
		uint32_t *file_of[LINE_SIDES];

		if (f == newest)
			continue;
		rc = files_pair(&c->str, p, file_of);
		f->file_of = file_of[LINE_OLD];
		if (!rc && wanted)
			leave_out(f, &c->str, wanted, nwanted);
		if (!rc)
			rc = line_map_init(&f->lines, (struct line_side[]){
				{ f->p, where, file_of[LINE_OLD] },
				{ newest->p, where, file_of[LINE_NEW] } });
		free(file_of[LINE_NEW]);
	}
	return rc;
}

uint32_t check_line(const struct check_file *f, uint32_t file, uint32_t line)
{
	if (!f->file_of || !line || line >= LINE_REMOVED)
		return line;
	return line_map_get(&f->lines, f->file_of[file], line);
}
