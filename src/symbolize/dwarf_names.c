// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and declarations of functions: the linkage name anywhere along the chain
 * of DW_AT_abstract_origin and DW_AT_specification, else the plain name (DWARF 5
 * §2.15, §3.3.8).  Each DIE is asked for once.
 */
#include <dwarf.h>

#include "symbolize/dwarf.h"

enum { MAX_HOPS = 16 };

static const struct func_name no_name = { "", "", 0 };

/* Adds what one DIE of the chain says. */
static void merge(struct dwarf *d, struct dwarf_unit *u,
		  const struct dwarf_die *die, struct func_name *out,
		  const char **plain)
{
	uint64_t file = dwarf_number(die, SLOT_DECL_FILE, UINT64_MAX);

	if (!out->name)
		out->name = dwarf_string(u, die, SLOT_LINKAGE);
	if (!*plain)
		*plain = dwarf_string(u, die, SLOT_NAME);
	if (!out->file && file != UINT64_MAX)
		out->file = dwarf_file_path(d, dwarf_files_unit(u), file);
	if (!out->line)
		out->line = (uint32_t)dwarf_number(die, SLOT_DECL_LINE, 0);
}

static struct func_name resolve_name(struct dwarf *d, uint64_t at)
{
	struct func_name out = { NULL, NULL, 0 };
	const char *plain = NULL;
	struct dwarf_work w;
	int hop;

	dwarf_work_init(d, &w);
	for (hop = 0; at != NO_DIE && hop < MAX_HOPS; hop++) {
		struct dwarf_unit *u = dwarf_unit_at(d, at);
		struct dwarf_die die;

		if (!u)
			break;
		dwarf_unit_root(d, u, &w);
		if (!dwarf_die_at(u, DIE_OFFSET(at), &die))
			break;
		merge(d, u, &die, &out, &plain);
		at = dwarf_reference(u, &die, SLOT_ORIGIN);
		if (at == NO_DIE)
			at = dwarf_reference(u, &die, SLOT_SPEC);
	}
	dwarf_work_fini(&w);
	if (!out.name || !*out.name)
		out.name = plain ? plain : "";
	if (!out.file)
		out.file = "";
	return out;
}

const struct func_name *dwarf_name(struct dwarf *d, uint64_t die)
{
	uint32_t *slot;

	if (die == NO_DIE)
		return &no_name;
	slot = u64map_slot(&d->name_tab, die);
	if (!slot)
		return NULL;
	if (*slot == U64MAP_NONE) {
		*slot = (uint32_t)d->names.n;
		if (vec_push(&d->names, resolve_name(d, die)) < 0) {
			u64map_clear(&d->name_tab);
			return NULL;
		}
	}
	return &d->names.v[*slot];
}
