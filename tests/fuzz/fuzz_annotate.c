// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile recordings through every form of an annotation: no crash, no escape, and
 * lines and instructions that add up. */
#include <stdlib.h>
#include <string.h>

#include "mend.h"
#include "views/annotate/annotate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sums(const struct annotation *a)
{
	for (size_t i = 0; i < a->units.n && a->ncols; i++) {
		const struct annot_unit *u = &a->units.v[i];
		uint64_t want = annot_sum(annot_costs(a, u->total)).count;
		uint64_t got = 0;

		if (u->kind == UNIT_CODE)
			continue;
		for (size_t k = u->line; k < u->line + u->nlines; k++)
			got += annot_sum(annot_costs(
				a, a->lines.v[k].cost)).count;
		if (got != want)
			abort();
	}
}

static void check_text(const struct buf *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->p[i] < ' ' && b->p[i] != '\n')
			abort();
}

static void show(struct reader *r, const char *what)
{
	static const struct source_map map = { "", "/nonexistent/" };
	struct annotate_spec spec = { .what = what, .code = true,
				      .where = { .maps = &map, .nmaps = 1 } };
	struct annotate_style style = { .source = true, .code = true,
					.columns = 100, .context = 2 };
	struct annotation *a;
	struct buf out = { 0 };

	if (annotate_build(r, &spec, &a, NULL) < 0)
		return;
	check_sums(a);
	annotate_text(a, &style, &out);
	check_text(&out);
	buf_reset(&out);
	style.source = false;
	style.all = true;
	annotate_text(a, &style, &out);
	check_text(&out);
	buf_reset(&out);
	style.source = true;
	annotate_json(a, &style, &out);
	check_text(&out);
	buf_fini(&out);
	annotate_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader *r;
	uint8_t *copy;

	if (size > 1 << 20)
		return 0;
	copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	mend_checksums(copy, size);
	if (reader_open_bytes(copy, size, "fuzz", &r, NULL) == 0) {
		unsigned int views = fuzz_views(size, 2);

		if (views & 1)
			show(r, NULL);
		reader_rewind(r);
		if (views & 2)
			show(r, "a*");
		reader_close(r);
	}
	free(copy);
	return 0;
}
