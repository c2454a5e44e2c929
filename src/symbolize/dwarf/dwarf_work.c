// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all files of this folder use: notes of damage, the budget of work and of kept
 * strings, and released pages.
 */
#include <stdio.h>
#include <string.h>

#include "symbolize/dwarf/dwarf.h"

/* Valid DWARF is walked a few times at most.  Hostile DWARF may share lists and
 * tables so that the work multiplies. */
enum { WORK_FACTOR = 32 };

void dwarf_work_damage(struct dwarf_work *w, const char *what, uint64_t at)
{
	if (w->damage)
		return;
	w->damage = what;
	w->damage_at = at;
}

void dwarf_damage(struct dwarf *d, const char *what, uint64_t at)
{
	if (!d->damage[0])
		snprintf(d->damage, sizeof(d->damage),
			 "%s at offset 0x%llx", what, (unsigned long long)at);
}

void dwarf_work_grant(const struct dwarf *d, struct dwarf_work *w)
{
	w->budget += WORK_FACTOR * (d->bytes - w->granted);
	w->granted = d->bytes;
}

void dwarf_work_init(const struct dwarf *d, struct dwarf_work *w)
{
	memset(w, 0, sizeof(*w));
	w->budget = DWARF_WORK_FREE;
	dwarf_work_grant(d, w);
}

void dwarf_work_fini(struct dwarf_work *w)
{
	vec_fini(&w->pairs);
	vec_fini(&w->open);
	vec_fini(&w->calls);
}

enum {
	FAULT_BYTES = 64 << 10,
	/* Bytes between releases of pages; those of names are read by one thread, while
	 * results take memory. */
	RELEASE_BYTES = 8 << 20, RELEASE_NAMES = 4 << 20,
};

void dwarf_touched(const struct dwarf_set *s, uint64_t n, struct dwarf_work *w)
{
	w->touched += FAULT_BYTES + n;
	if (w->touched < RELEASE_BYTES)
		return;
	image_release(s->img);
	w->touched = 0;
}

void dwarf_release(const struct dwarf *d)
{
	size_t i;

	for (i = 0; i < d->sets.n; i++)
		image_release(d->sets.v[i]->img);
}

void dwarf_release_names(struct dwarf *d)
{
	if (d->name_bytes)
		dwarf_release(d);
	d->name_bytes = 0;
}

void dwarf_name_reads(struct dwarf *d, uint64_t n)
{
	if (d->name_bytes + FAULT_BYTES + n > RELEASE_NAMES)
		dwarf_release_names(d);
	d->name_bytes += FAULT_BYTES + n;
}

enum {
	/* Hostile names may share bytes, but their copies do not. */
	TEXT_LIMIT = 64 << 10,
	MAX_KEPT = 64 << 20,
};

const char *dwarf_keep(struct dwarf *d, const char *text)
{
	return dwarf_keep_n(d, text, SIZE_MAX);
}

const char *dwarf_keep_n(struct dwarf *d, const char *text, size_t n)
{
	size_t before = d->strings.str.n;
	uint32_t id;

	n = strnlen(text, n < TEXT_LIMIT ? n : TEXT_LIMIT);

	if (n == TEXT_LIMIT || n > MAX_KEPT + 4 * d->bytes - d->kept) {
		dwarf_damage(d, ".debug_str: names out of proportion", 0);
		return "";
	}
	id = strtab_add_n(&d->strings, text, n);
	if (d->strings.str.n > before)
		d->kept += n;
	return strtab_get(&d->strings, id);
}
