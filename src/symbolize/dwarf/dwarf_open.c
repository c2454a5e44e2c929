// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the sections of files and closes everything. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

/* Returns a string section, truncated so that it ends with NUL. */
static struct span string_section(struct image *img, const char *name)
{
	struct span s = image_section(img, name);

	while (s.n && s.p[s.n - 1])
		s.n--;
	return s;
}

static void open_sections(struct dwarf_set *s, struct image *img)
{
	static const char *const wanted[] = {	/* largest first */
		".debug_info", ".debug_line", ".debug_str", ".debug_rnglists",
		".debug_ranges", ".debug_abbrev", ".debug_line_str",
		".debug_str_offsets", ".debug_addr",
	};

	image_prefetch(img, wanted, COUNT(wanted));
	s->info = image_section(img, ".debug_info");
	s->types = image_section(img, ".debug_types");
	s->abbrev = image_section(img, ".debug_abbrev");
	s->line = image_section(img, ".debug_line");
	s->line_str = string_section(img, ".debug_line_str");
	s->str = string_section(img, ".debug_str");
	s->str_offsets = image_section(img, ".debug_str_offsets");
	s->addr = image_section(img, ".debug_addr");
	s->ranges = image_section(img, ".debug_ranges");
	s->rnglists = image_section(img, ".debug_rnglists");
}

/* Finds the section with the code.  A .dwo file has one .debug_info.dwo for
 * each of its types, in any order, and one for its code.  The latter has the
 * unit type DW_UT_split_compile; before DWARF 5 it is the only one. */
static struct span split_info(struct image *img)
{
	struct span first = { NULL, 0 }, s;
	size_t at = 0;

	for (;;) {
		struct cursor c;
		uint8_t off_size;

		s = image_section_next(img, ".debug_info.dwo", &at);
		if (!s.n)
			return first;
		if (!first.n)
			first = s;
		c = cursor_of(s.p, s.n);
		dwarf_read_length(&c, &off_size);
		if (cursor_u16(&c) < 5 || cursor_u8(&c) == DW_UT_split_compile)
			return s;
	}
}

/* Opens the sections of a split file.  Addresses, and in DWARF 4 ranges, are in
 * the main file. */
static void open_split_sections(struct dwarf_set *s, struct image *img,
				const struct dwarf_set *main)
{
	s->info = split_info(img);
	s->types = image_section(img, ".debug_types.dwo");
	s->abbrev = image_section(img, ".debug_abbrev.dwo");
	s->line = image_section(img, ".debug_line.dwo");
	s->str = string_section(img, ".debug_str.dwo");
	s->str_offsets = image_section(img, ".debug_str_offsets.dwo");
	s->rnglists = image_section(img, ".debug_rnglists.dwo");
	s->addr = main->addr;
	s->ranges = main->ranges;
}

/* Creates a set with a number and opens its sections. */
static struct dwarf_set *set_new(struct dwarf *d, struct image *img,
				 bool is_split)
{
	struct dwarf_set *s;

	if (d->sets.n >= MAX_SETS)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s || vec_push(&d->sets, s) < 0) {
		free(s);
		return NULL;
	}
	s->id = (uint64_t)(d->sets.n - 1) << DIE_SET_SHIFT;
	s->is_split = is_split;
	s->img = img;
	if (is_split)
		open_split_sections(s, img, d->main);
	else
		open_sections(s, img);
	atomic_init(&s->abbrev_budget, DWARF_WORK_FREE + 4 * (uint64_t)s->abbrev.n);
	d->bytes += s->info.n + s->types.n + s->line.n + s->rnglists.n;
	if (!is_split)
		d->bytes += s->ranges.n;
	return s;
}

struct dwarf_set *dwarf_set_add_split(struct dwarf *d, struct image *img)
{
	struct dwarf_set *s = set_new(d, img, true);

	if (s)
		s->owned = true;
	else
		image_close(img);
	return s;
}

/* Opens the alternate file, which holds data common to several files (dwz). */
static int open_alt(struct dwarf *d, struct image *img)
{
	struct image *alt;
	char *path;
	int rc = debug_alt_open(img, &d->search, &alt, &path);

	if (rc < 0)
		return rc;
	if (!alt) {
		d->missing_alt = path;
		return 0;
	}
	free(path);
	d->main->alt = set_new(d, alt, false);
	if (!d->main->alt) {
		image_close(alt);
		return -ERR_NOMEM;
	}
	d->main->alt->owned = true;
	return 0;
}

int dwarf_open(struct dwarf *d, struct image *img,
	       const struct debug_search *search)
{
	d->search = *search;
	if (!image_code_range(img, &d->code_lo, &d->code_hi))
		d->code_lo = d->code_hi = 0;
	d->main = set_new(d, img, false);
	if (!d->main || strtab_init(&d->strings) < 0)
		return -ERR_NOMEM;
	return open_alt(d, img) ?: dwarf_cover_units(d, img);
}

void dwarf_unit_unload(struct dwarf_unit *u)
{
	range_index_fini(&u->funcs);
	vec_fini(&u->lines.dirs);
	vec_fini(&u->lines.files);
	vec_fini(&u->lines.seqs);
	range_index_fini(&u->lines.index);
	range_index_fini(&u->lines.folded);
	vec_fini(&u->lines.offsets);
	vec_fini(&u->lines.rows);
	dwarf_scopes_free(u);
	u->lines.files_read = false;
	u->loaded = u->partial = false;
}

static void set_free(struct dwarf_set *s)
{
	size_t i;

	for (i = 0; i < s->units.n; i++)
		dwarf_unit_unload(&s->units.v[i]);
	for (i = 0; i < s->abbrevs.n; i++)
		abbrev_table_free(s->abbrevs.v[i]);
	vec_fini(&s->units);
	vec_fini(&s->abbrevs);
	u64map_fini(&s->abbrev_tab);
	u64map_fini(&s->signatures);
	if (s->owned)
		image_close(s->img);
	free(s);
}

void dwarf_set_drop(struct dwarf *d, struct dwarf_set *s)
{
	if (s == d->sets.v[d->sets.n - 1]) {
		d->sets.n--;
		set_free(s);
	}
}

void dwarf_fini(struct dwarf *d)
{
	size_t i;

	for (i = 0; i < d->sets.n; i++)
		set_free(d->sets.v[i]);
	vec_fini(&d->sets);
	vec_fini(&d->names);
	vec_fini(&d->loaded);
	range_index_fini(&d->cover);
	u64map_fini(&d->name_tab);
	u64map_fini(&d->type_tab);
	u64map_fini(&d->dwo_tab);
	strtab_fini(&d->strings);
	free(d->missing_dwo);
	free(d->missing_alt);
}
