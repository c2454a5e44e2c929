// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Split DWARF (DWARF 5 §7.3.2, and GNU's form of it in DWARF 4): the linked file
 * has skeleton units, whose DIEs are in .dwo files beside the objects or in one
 * .dwp file.  A file of other code is known by its DWO id.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbolize/dwarf/dwarf.h"

enum { MAX_STRANGERS = 1000 };

/* In DWARF 4 the id is an attribute of the first DIE. */
static int add_ids(struct dwarf_set *s)
{
	size_t i;

	for (i = 0; i < s->ninfo; i++) {
		struct dwarf_unit *u = &s->units.v[i];
		struct dwarf_die die;
		uint32_t *slot;

		if (u->version >= 5 || u->root >= u->end)
			continue;
		u->abbrevs = abbrev_table_get(u);
		if (!u->abbrevs || !dwarf_die_at(u, u->root, &die) ||
		    !dwarf_has(&die, SLOT_DWO_ID))
			continue;
		slot = u64map_slot(&s->signatures,
				   dwarf_number(&die, SLOT_DWO_ID, 0));
		if (!slot)
			return -ERR_NOMEM;
		if (*slot == U64MAP_NONE)
			*slot = (uint32_t)i;
	}
	return 0;
}

/* The unit with the DWO id that no skeleton has taken yet. */
static struct dwarf_unit *find_id(struct dwarf_set *s, uint64_t id)
{
	uint32_t i = u64map_get(&s->signatures, id);
	struct dwarf_unit *u = i == U64MAP_NONE ? NULL : &s->units.v[i];

	return u && !u->skeleton && u->type != DW_UT_type &&
	       u->type != DW_UT_split_type ? u : NULL;
}

/* Opens one file and looks for the id in it. */
static struct dwarf_unit *try_dwo(struct dwarf *d, const char *path,
				  uint64_t id, struct dwarf_work *w)
{
	uint32_t *slot = u64map_slot(&d->dwo_tab,
				     hash_bytes(path, strlen(path)));
	struct dwarf_unit *u = NULL;
	struct dwarf_set *s;
	struct image *img;

	if (!slot)
		return NULL;
	if (*slot != U64MAP_NONE)	/* 0: not usable */
		return *slot ? find_id(d->sets.v[*slot], id) : NULL;
	*slot = 0;
	/* Whoever rebuilt everything else, or wrote a thousand paths to one
	 * file, gets no more time. */
	if (d->other_users >= MAX_STRANGERS)
		return NULL;
	img = debug_open(&d->search, path);
	s = img ? dwarf_set_add_split(d, img) : NULL;
	if (!s)
		return NULL;
	if (dwarf_set_index(d, s, NULL, w) == 0 && add_ids(s) == 0)
		u = find_id(s, id);
	if (u) {
		*slot = (uint32_t)DIE_SET(s->id);
	} else {
		d->other_users++;
		dwarf_set_drop(d, s);
	}
	return u;
}

static void open_dwp(struct dwarf *d, struct dwarf_work *w)
{
	struct buf path = { 0 };
	struct image *img = NULL;
	unsigned i;

	d->dwp_tried = true;
	for (i = 0; !img && debug_dwp_path(&d->search, i, &path); i++)
		img = debug_open(&d->search, buf_cstr(&path));
	buf_fini(&path);
	d->dwp = img ? dwarf_set_add_split(d, img) : NULL;
	if (d->dwp && (dwarf_set_index(d, d->dwp, NULL, w) < 0 ||
		       dwarf_read_index(d, d->dwp, img, false) < 0 ||
		       dwarf_read_index(d, d->dwp, img, true) < 0)) {
		dwarf_set_drop(d, d->dwp);
		d->dwp = NULL;
	}
}

void dwarf_close_splits(struct dwarf *d)
{
	struct dwarf_set *s;
	size_t i;

	for (i = 0; i < d->main->ninfo; i++) {
		struct dwarf_unit *u = &d->main->units.v[i];

		if (!u->split || u->split->set == d->dwp)
			continue;
		u->split = NULL;
		u->split_tried = false;
	}
	/* The others were opened before any of these. */
	for (i = d->sets.n; i-- > 0;) {
		s = d->sets.v[i];
		if (!s->is_split || s == d->dwp)
			break;
		dwarf_set_drop(d, s);
	}
	/* Numbers will be given again. */
	u64map_clear(&d->dwo_tab);
	u64map_clear(&d->name_tab);
	d->names.n = 0;
}

static struct dwarf_unit *find_unit(struct dwarf *d, const struct dwarf_unit *u,
				    struct dwarf_work *w)
{
	const char *dir = u->comp_dir ? u->comp_dir : "";
	struct dwarf_unit *found = NULL;
	struct buf path = { 0 };
	unsigned i;

	if (!d->dwp_tried)
		open_dwp(d, w);
	if (d->dwp)
		found = find_id(d->dwp, u->signature);
	for (i = 0; !found && debug_dwo_path(&d->search, i, dir, u->dwo_name,
					     &path); i++)
		found = try_dwo(d, buf_cstr(&path), u->signature, w);
	if (!found) {
		d->missing_dwo_units++;
		debug_dwo_path(&d->search, 0, dir, u->dwo_name, &path);
		if (!d->missing_dwo)
			d->missing_dwo = strdup(buf_cstr(&path));
	}
	buf_fini(&path);
	return found;
}

void dwarf_find_split(struct dwarf *d, struct dwarf_unit *u,
		      struct dwarf_work *w)
{
	struct dwarf_unit *found;

	if (u->split_tried || !u->dwo_name)
		return;
	u->split_tried = true;
	if (!d->search.dirs)
		return;
	found = find_unit(d, u, w);
	if (!found)
		return;
	found->skeleton = u;
	dwarf_unit_root(d, found, w);
	if (found->abbrevs)
		u->split = found;
}
