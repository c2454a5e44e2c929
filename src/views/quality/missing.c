// SPDX-License-Identifier: GPL-2.0-or-later
/* What is missing, ranked: see missing.h; how it is written: missing_text.c. */
#include "views/quality/missing.h"

#include <stdlib.h>
#include <string.h>

#include "views/query/lines.h"

enum {
	ROWS_TOLD = 3,
	NAMES_MATTER = 5,	/* tenths of a percent of samples */
	LINES_MATTER = 50,
};

/* Names that come from every function of a file, not only from some. */
enum { WHOLE = PROF_NAMES_SYMTAB | PROF_NAMES_DWARF | PROF_NAMES_KALLSYMS };

static uint64_t nameless(const struct missing_row *r)
{
	return r->unnamed + r->exported;
}

/* Rows that matter to everybody come first: names count more than lines. */
static int tier(const struct missing_row *r)
{
	if (!r->matters)
		return 2;
	return nameless(r) ? 0 : 1;
}

static int by_cost(const void *x, const void *y)
{
	const struct missing_row *a = x, *b = y;

	if (tier(a) != tier(b))
		return tier(a) - tier(b);
	if (nameless(a) != nameless(b))
		return nameless(a) > nameless(b) ? -1 : 1;
	if (a->lineless != b->lineless)
		return a->lineless > b->lineless ? -1 : 1;
	return a->image < b->image ? -1 : a->image > b->image;
}

static bool matters(const struct missing *m, const struct missing_row *r)
{
	return 10 * line_share(nameless(r), m->shown) >= NAMES_MATTER ||
	       10 * line_share(r->lineless, m->shown) >= LINES_MATTER;
}

/* The vdso has no debug file that a user could get; memory without a file and
 * code that the kernel generated none at all. */
static bool can_be_helped(const struct prof_image *im)
{
	return im->kind == PROF_IMAGE_ELF || im->kind == PROF_IMAGE_KERNEL ||
	       im->kind == PROF_IMAGE_MODULE;
}

static int add_row(struct missing *m, const struct quality_image *ti,
		   const struct image_debug_info *s)
{
	const struct prof_image *im = &m->p->images.v[ti->image];
	struct missing_row row = {
		.image = ti->image, .unnamed = ti->unresolved, .source = s,
		.package = "", .command = "", .note = "", .fetch = "",
	};
	uint64_t named = ti->samples - ti->unresolved;

	if (s && named && can_be_helped(im) && !(s->names & WHOLE))
		row.exported = named;
	row.lineless = ti->unresolved + ti->lineless;
	if (!row.unnamed && !row.exported && (!s || !can_be_helped(im)))
		return 0;
	/* Assembly has no lines even where nothing is missing. */
	if (!row.unnamed && s && !s->missing && (s->names & PROF_NAMES_DWARF))
		return 0;
	row.matters = matters(m, &row);
	return row.lineless || row.exported ? vec_push(&m->rows, row) : 0;
}

int missing_build(struct missing *m, const struct quality *t, struct error *err)
{
	const struct profile *p = t->p;
	const struct image_debug_info **of = calloc(p->images.n + 1, sizeof(*of));
	int rc = of ? 0 : -1;

	*m = (struct missing){ .p = p, .shown = t->shown };
	for (size_t i = 0; i < p->sources.n && !rc; i++)
		of[p->sources.v[i].image] = &p->sources.v[i];
	for (size_t i = 0; i < t->images.n && !rc; i++)
		rc = add_row(m, &t->images.v[i], of[t->images.v[i].image]);
	free(of);
	if (rc) {
		missing_fini(m);
		return error_set(err, ERR_NOMEM, "out of memory");
	}
	if (m->rows.n)
		qsort(m->rows.v, m->rows.n, sizeof(*m->rows.v), by_cost);
	return 0;
}

void missing_fini(struct missing *m)
{
	vec_fini(&m->rows);
}

size_t missing_major(const struct missing *m)
{
	size_t n = 0;

	while (n < m->rows.n && n < ROWS_TOLD && m->rows.v[n].matters)
		n++;
	return n;
}

static void add_reason(struct buf *out, size_t start, const char *text)
{
	if (out->n > start)
		buf_str(out, ", ");
	buf_str(out, text);
}

void missing_reason(const struct missing *m, const struct missing_row *row,
		    struct buf *out)
{
	const struct prof_image *im = &m->p->images.v[row->image];
	uint32_t why = row->source ? row->source->missing : 0;
	size_t start = out->n;

	if (!row->source || (why & (PROF_MISSING_FILE | PROF_MISSING_CHANGED |
				    PROF_MISSING_KERNEL))) {
		buf_str(out, profile_cstr(m->p, im->note));
		if (out->n == start && im->kind == PROF_IMAGE_ANON)
			buf_str(out, "generated code, and its program wrote no "
				"/tmp/perf-PID.map (node --perf-basic-prof, "
				"java -XX:+DumpPerfMapAtExit and python3 -X "
				"perf write one)");
		else if (out->n == start && im->kind == PROF_IMAGE_UNKNOWN)
			buf_str(out, "no file is mapped there");
		return;
	}
	if (why & PROF_MISSING_SYMTAB)
		add_reason(out, start, "stripped");
	if (im->kind == PROF_IMAGE_KERNEL &&
	    !(row->source->names & PROF_NAMES_DWARF))
		add_reason(out, start, "no vmlinux");
	else if (why & PROF_MISSING_DWARF)
		add_reason(out, start, why & PROF_MISSING_SYMTAB
					       ? "no debug file"
					       : "no debug information");
	if (why & PROF_MISSING_ALT)
		add_reason(out, start, "no alternate debug file");
	if (why & PROF_MISSING_DWO) {
		add_reason(out, start, "");
		buf_printf(out, "%u split debug files missing",
			   row->source->units);
	}
	if (why & PROF_MISSING_DAMAGED)
		add_reason(out, start, "damaged debug information");
	if (out->n == start && row->unnamed)
		buf_str(out, "no symbol covers these addresses");
}
