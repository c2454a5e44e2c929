// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile recordings on both sides of a diff, in every form it has: no crash, no
 * escape, lines and flame graphs that add up.  The input is the old side's length
 * in two bytes, the old side, and the new side.  libFuzzer sees one view at a time,
 * chosen by the size.
 */
#include <stdlib.h>
#include <string.h>

#include "mend.h"
#include "views/diff/diff_annotate.h"
#include "views/html/html.h"
#include "views/svg/svg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct buf *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->p[i] < ' ' && b->p[i] != '\n' && b->p[i] != '\r')
			abort();
	buf_reset(b);
}

static void show_table(struct reader *const r[DIFF_SIDES], const char *keys,
		       enum diff_order order)
{
	struct diff_spec spec = { .path = { "old", "new" }, .order = order,
				  .at_least = 20, .limit = 1 };
	struct diff_style style = { .columns = 100, .samples = true };
	struct buf out = { 0 };
	struct diff *d;

	if (key_list_parse(keys, &spec.keys, NULL) < 0 ||
	    diff_build(r, &spec, &d, NULL) < 0)
		return;
	diff_text(d, &style, &out);
	check_text(&out);
	diff_json(d, &out);
	check_text(&out);
	diff_csv(d, &out);
	check_text(&out);
	buf_fini(&out);
	diff_free(d);
}

/* Children have at most what their parent has, unless sums ran over. */
static void check_flame(struct diff *d)
{
	struct calltree t;

	if (diff_tree(d, &t, NULL) < 0)
		return;
	for (unsigned int s = 0; s < DIFF_SIDES; s++)
		for (size_t i = 1; i < t.nodes.n; i++) {
			uint32_t up = t.nodes.v[i].parent;

			if (up >= i || calltree_cell(&t, i, s, 0).count >
				       calltree_cell(&t, up, s, 0).count)
				abort();
		}
	calltree_prune(&t, 0.01, NULL, NULL);
	calltree_fini(&t);
}

static void check_sums(const struct diff_annotation *x, int side)
{
	for (size_t i = 0; i < x->units.n; i++) {
		const struct diff_unit *u = &x->units.v[i];
		const struct annotation *a = x->a[side];
		uint64_t got = 0;
		const struct listing *l = &u->list;

		if (u->unit[side] == SIZE_MAX || !l->groups.n ||
		    l->groups.v[0].is_code ||
		    a->units.v[u->unit[side]].kind == UNIT_CODE)
			continue;
		for (size_t k = 0; k < l->rows.n; k++)
			if (l->rows.v[k].kind == LISTING_LINE)
				got += diff_part_cell(x, side,
					l->rows.v[k].cost[side], 0).count;
		if (got != annot_sum(&annot_costs(a, a->units.v[
				u->unit[side]].total)[x->col[side][0]]).count)
			abort();
	}
}

static void show_aligned(struct diff *d, const char *what)
{
	struct diff_annotate_spec spec = { .what = what, .code = true,
					   .top = 5 };
	struct annotate_style style = { .source = true, .code = true,
					     .columns = 120, .context = 2 };
	struct diff_annotation *x;
	struct buf out = { 0 };

	if (diff_annotate(d, &spec, &x, NULL) < 0)
		return;
	check_sums(x, DIFF_OLD);
	check_sums(x, DIFF_NEW);
	diff_annotate_text(x, &style, &out);
	check_text(&out);
	style.columns = 60;
	style.all = true;
	diff_annotate_text(x, &style, &out);
	check_text(&out);
	diff_annotate_json(x, &style, &out);
	check_text(&out);
	buf_fini(&out);
	diff_annotation_free(x);
}

static void show(struct reader *const r[DIFF_SIDES], unsigned int views)
{
	struct diff_spec spec = { .path = { "old", "new" } };
	struct diff_svg_style svg = { 1200, false };
	struct buf out = { 0 };
	struct diff *d;

	if (views & 1)
		show_table(r, "comm,cpu,symbol", DIFF_BY_RATIO);
	if (views & 2)
		show_table(r, "image,file,line", DIFF_BY_CHANGE);
	if (views < 4 || key_list_parse("image,symbol", &spec.keys, NULL) < 0 ||
	    diff_build(r, &spec, &d, NULL) < 0)
		return;
	if (views & 4) {
		check_flame(d);
		if (diff_svg(d, &svg, &out, NULL) == 0)
			check_text(&out);
	}
	if (views & 8)
		show_aligned(d, NULL);
	if (views & 16)
		show_aligned(d, "a*");
	buf_reset(&out);
	if (views & 32)
		html_diff(d, NULL, &out, NULL);
	buf_fini(&out);
	diff_free(d);
}

/* A recording of its own bytes, so that reading beyond them is found. */
static uint8_t *open_copy(const uint8_t *data, size_t size, struct reader **r)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	mend_checksums(copy, size);
	if (reader_open_bytes(copy, size, "fuzz", r, NULL) < 0)
		*r = NULL;
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader *r[DIFF_SIDES];
	uint8_t *copy[DIFF_SIDES];
	size_t n;

	if (size < 2 || size > 1 << 18)
		return 0;
	n = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	n = n < size ? n : size;
	copy[0] = open_copy(data, n, &r[0]);
	copy[1] = open_copy(data + n, size - n, &r[1]);
	if (r[0] && r[1])
		show(r, fuzz_views(size, 6));
	for (int s = 0; s < DIFF_SIDES; s++) {
		reader_close(r[s]);
		free(copy[s]);
	}
	return 0;
}
