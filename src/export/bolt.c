// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes BOLT's .fdata without branch records.
 *
 * The first line is "no_lbr EVENT".  Each further line is an address of the
 * program: 1 (it has a symbol), symbol, offset, samples.  Only the first event,
 * only the program, and only addresses with a symbol are written.  BOLT calls a local
 * function NAME/1.  A recording does not say which functions are local, so each address
 * is written by both names; BOLT ignores the unknown one.  Stubs of the linker are
 * NAME@PLT.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/formats.h"
#include "profile/symbol_order.h"

struct bolt {
	struct export *x;
	uint64_t *count;		/* samples by location */
};

static bool of_program(const struct profile *p, uint32_t image)
{
	const struct prof_image *im = &p->images.v[image];

	return im->kind == PROF_IMAGE_ELF &&
	       path_is_program(p, path_base(profile_cstr(p, im->path)));
}

/* Writes a name.  A blank would end it and is escaped by a backslash. */
static void put_name(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ' ' || s[i] == '\\')
			buf_u8(out, '\\');
		buf_u8(out, (uint8_t)s[i]);
	}
}

static void put_address(struct buf *out, const char *name, uint64_t offset, uint64_t count)
{
	static const char plt[] = "@plt";
	size_t n = strlen(name), stem = n < strlen(plt) ? n : n - strlen(plt);
	bool stub = !strcmp(name + stem, plt);

	for (int local = 0; local < 2 - stub; local++) {
		buf_str(out, "1 ");
		put_name(out, name, stub ? stem : n);
		buf_printf(out, "%s %" PRIx64 " %" PRIu64 "\n",
			   stub ? "@PLT" : local ? "/1" : "", offset, count);
	}
}

static int put_all(struct bolt *w, const struct prof_symbol *symbols,
		   struct error *err)
{
	struct export *x = w->x;
	const struct profile *p = x->p;
	const char *event = x->a.ncols ? export_event_name(x, 0) : "cycles";
	int rc = 0;

	buf_str(&x->out, "no_lbr ");
	put_name(&x->out, event, strlen(event));
	buf_u8(&x->out, '\n');
	for (uint32_t i = 0; !rc && i < p->locs.n; i++) {
		const struct prof_loc *l = &p->locs.v[i];
		const struct prof_symbol *s;

		if (!w->count[i] || !of_program(p, l->image))
			continue;
		s = symbols_find(symbols, p->symbols.n, l->image, l->vaddr);
		if (!s || s->name == PROF_STR_EMPTY)
			continue;
		put_address(&x->out, export_str(x, s->name), l->vaddr - s->vaddr,
			    w->count[i]);
		rc = export_flush(x, false, err);
	}
	return rc;
}

int export_bolt(struct export *x, struct error *err)
{
	struct bolt w = { .x = x };
	struct prof_symbol *symbols = NULL;
	int rc;

	rc = export_loc_counts(x, &w.count, err);
	if (!rc && symbols_copy(x->p, &symbols) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = put_all(&w, symbols, err);
	free(w.count);
	free(symbols);
	return rc;
}
