// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds names and declarations of functions: the linkage name anywhere in the
 * chain of DW_AT_abstract_origin and DW_AT_specification, else the plain name
 * (DWARF 5 §2.15, §3.3.8).  Each DIE is looked up once.  Full names are built
 * only on request.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/radix.h"
#include "base/search.h"
#include "symbolize/dwarf/dwarf.h"

enum {
	MAX_HOPS = 16,
	/* Bytes between releases of pages if names are read in order. */
	RELEASE_BYTES = 4 << 20,
	/* Bytes of types and strings in other places that a full name reads. */
	FULL_BYTES = 512 << 10,
};

static bool is_cxx(uint16_t lang)
{
	return lang == DW_LANG_C_plus_plus || lang == DW_LANG_C_plus_plus_03 ||
	       lang == DW_LANG_C_plus_plus_11 ||
	       lang == DW_LANG_C_plus_plus_14 ||
	       lang == 0x2b || lang == 0x3a;	/* 17, 20 */
}

static const struct func_name no_name = { "", "", "", NO_DIE, "", 0, 0, false };

/* Adds the properties of one DIE of the chain. */
static void merge(struct dwarf *d, struct dwarf_unit *u,
		  const struct dwarf_die *die, struct func_name *out)
{
	uint64_t file = dwarf_number(die, SLOT_DECL_FILE, UINT64_MAX);

	if (!out->lang)
		out->lang = u->lang;
	if (!out->name)
		out->name = dwarf_string(u, die, SLOT_LINKAGE);
	if (!out->plain)
		out->plain = dwarf_string(u, die, SLOT_NAME);
	if (!out->file && file != UINT64_MAX)
		out->file = dwarf_file_path(d, dwarf_files_unit(u), file);
	if (!out->line)
		out->line = (uint32_t)dwarf_number(die, SLOT_DECL_LINE, 0);
}

static struct func_name resolve_name(struct dwarf *d, uint64_t at)
{
	struct func_name out = { .decl = NO_DIE };
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
		if (!hop)
			out.abstract = !dwarf_has(&die, SLOT_LOW) &&
				       !dwarf_has(&die, SLOT_RANGES);
		merge(d, u, &die, &out);
		out.decl = at;
		at = dwarf_reference(u, &die, SLOT_ORIGIN);
		if (at == NO_DIE)
			at = dwarf_reference(u, &die, SLOT_SPEC);
	}
	dwarf_work_fini(&w);
	if (!out.plain)
		out.plain = "";
	/* the plain name is only needed if it is the name */
	if (!out.name)
		out.name = out.plain;
	else
		out.plain = "";
	if (!out.file)
		out.file = "";
	return out;
}

static void keep_name(struct dwarf *d, struct func_name *f, const char *name)
{
	f->name = dwarf_keep(d, name);
	if (*f->plain)
		f->plain = f->name;
}

/* Returns the slot of a name; *added is whether it is new. */
static uint32_t *name_slot(struct dwarf *d, uint64_t die, bool *added)
{
	uint32_t *slot = u64map_slot(&d->name_tab, die);

	*added = slot && *slot == U64MAP_NONE;
	if (!*added)
		return slot;
	*slot = (uint32_t)d->names.n;
	if (vec_push(&d->names, resolve_name(d, die)) == 0)
		return slot;
	u64map_clear(&d->name_tab);
	return NULL;
}

const struct func_name *dwarf_name(struct dwarf *d, uint64_t die)
{
	struct func_name *f;
	uint32_t *slot;
	bool added;

	if (die == NO_DIE)
		return &no_name;
	slot = name_slot(d, die, &added);
	if (!slot)
		return NULL;
	f = &d->names.v[*slot];
	if (added) {
		keep_name(d, f, f->name);
		dwarf_name_reads(d, 0);
	}
	return f;
}

struct raw_name {
	uint64_t place;		/* address of the name */
	size_t at;
};

/* Copies the names from number `first` on, in the order of their positions in
 * the files. */
static int keep_names(struct dwarf *d, size_t first)
{
	size_t n = d->names.n - first, i;
	uint64_t from = 0;
	struct raw_name *raw = malloc((n ? n : 1) * sizeof(*raw));

	if (!raw)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		raw[i] = (struct raw_name){ (uintptr_t)d->names.v[first + i].name,
					    first + i };
	if (radix_sort_rows(raw, n, sizeof(*raw), offsetof(struct raw_name, place)) < 0) {
		free(raw);
		return -ERR_NOMEM;
	}
	for (i = 0; i < n; i++) {
		struct func_name *f = &d->names.v[raw[i].at];

		if (raw[i].place - from >= RELEASE_BYTES) {
			from = raw[i].place;
			dwarf_release(d);
		}
		keep_name(d, f, f->name);
	}
	dwarf_release(d);
	free(raw);
	return 0;
}

int dwarf_name_many(struct dwarf *d, uint64_t *dies, size_t n)
{
	size_t first = d->names.n, most = first, i;
	uint64_t from = 0;
	const struct func_name *f;
	const uint32_t *slot;
	bool added;

	if (radix_sort_rows(dies, n, sizeof(*dies), 0) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < n; i++)
		most += !i || dies[i] != dies[i - 1];
	if (u64map_reserve(&d->name_tab, most) < 0 || vec_reserve(&d->names, most) < 0 ||
	    strtab_reserve(&d->strings, d->strings.str.n + most - first) < 0)
		return -ERR_NOMEM;
	for (i = 0; i < n && dies[i] != NO_DIE; i++) {
		if (i && dies[i] == dies[i - 1])
			continue;
		slot = name_slot(d, dies[i], &added);
		if (!slot) {
			d->names.n = first;
			return -ERR_NOMEM;
		}
		f = &d->names.v[*slot];
		if (f->abstract && f->name == f->plain && is_cxx(f->lang) &&
		    dwarf_spell_prepare(d, f->decl))
			from = dies[i];
		if (dies[i] - from >= RELEASE_BYTES) {
			from = dies[i];
			dwarf_release(d);
		}
	}
	return keep_names(d, first);
}

const char *dwarf_full_name(struct dwarf *d, uint64_t die)
{
	const struct func_name *f = dwarf_name(d, die);
	const char *full;
	struct buf text = { 0 };
	uint32_t i;

	if (!f || f == &no_name || !*f->plain || !is_cxx(f->lang))
		return f ? f->name : "";
	if (f->full)
		return f->full;
	full = f->name;
	if (dwarf_spell_function(d, die, &text))
		full = dwarf_keep(d, buf_cstr(&text));
	buf_fini(&text);
	dwarf_name_reads(d, FULL_BYTES);
	i = u64map_get(&d->name_tab, die);	/* other names may have been added */
	d->names.v[i].full = full;
	return full;
}

struct placed_die {
	uint64_t decl, die;
};

static int by_decl(const void *a, const void *b)
{
	const struct placed_die *x = a, *y = b;

	return ascending(x->decl, y->decl);
}

int dwarf_full_name_many(struct dwarf *d, const uint64_t *dies, size_t n)
{
	VEC(struct placed_die) todo = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		const struct func_name *f = dwarf_name(d, dies[i]);

		if (!f || (*f->plain && is_cxx(f->lang) && !f->full &&
			   vec_push(&todo, (struct placed_die){ f->decl,
								dies[i] }) < 0))
			rc = -ERR_NOMEM;
	}
	vec_sort(&todo, by_decl);
	for (i = 0; i < todo.n && !rc; i++)
		dwarf_full_name(d, todo.v[i].die);
	if (todo.n)
		dwarf_release_names(d);
	vec_fini(&todo);
	return rc;
}
