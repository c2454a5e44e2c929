// SPDX-License-Identifier: GPL-2.0-or-later
/* Key columns of text tables. */
#include "views/cells.h"

#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"

enum { GAP = 2 };

static const struct report_column *column(const struct key_cells *c, size_t k)
{
	return &report_columns[c->keys->v[k]];
}

void key_cells_init(struct key_cells *c, const struct key_list *keys,
		    bool full_names)
{
	*c = (struct key_cells){ .keys = keys, .full_names = full_names };
}

void key_cells_fini(struct key_cells *c)
{
	buf_fini(&c->text);
	vec_fini(&c->at);
}

void key_cells_next(struct key_cells *c)
{
	buf_u8(&c->text, 0);
	c->text.failed |= vec_push(&c->at, c->text.n) < 0;
}

static const char *cell(const struct key_cells *c, size_t i, size_t k)
{
	size_t n = i * c->keys->n + k;

	return (const char *)c->text.p + (n ? c->at.v[n - 1] : 0);
}

/* Narrows the widest columns until all fit. */
static void shrink(struct key_cells *c, size_t room)
{
	for (;;) {
		size_t sum = 0, widest = c->keys->n;

		for (size_t k = 0; k < c->keys->n; k++) {
			sum += c->width[k] + (k ? GAP : 0);
			if (c->width[k] > column(c, k)->least &&
			    (widest == c->keys->n ||
			     c->width[k] > c->width[widest]))
				widest = k;
		}
		if (sum <= room || widest == c->keys->n)
			return;
		c->width[widest]--;
	}
}

int key_cells_fit(struct key_cells *c, size_t room)
{
	if (c->text.failed)
		return -ERR_NOMEM;
	for (size_t k = 0; k < c->keys->n; k++) {
		size_t most = strlen(column(c, k)->head);

		for (size_t i = 0; i < c->at.n / c->keys->n; i++) {
			size_t w = text_columns(cell(c, i, k));

			most = w > most ? w : most;
		}
		/* a limit, so that a very long name does not make shrink()
		 * slow */
		c->width[k] = room && most > room ? room : most;
	}
	if (room)
		shrink(c, room);
	return 0;
}

static void put_column(struct key_cells *c, size_t k, const char *s,
		       struct buf *out)
{
	size_t width = c->width[k], used = text_columns(s);
	enum column_fit fit = column(c, k)->fit;

	if (k)
		line_pad(out, GAP);
	if (used <= width)
		buf_str(out, s);
	else if (fit == FIT_PATH)
		line_cut_left(out, s, width);
	else if (fit == FIT_NAME && !c->full_names)
		line_cut_symbol(out, s, width);
	else
		text_cut(out, s, width);
	if (k + 1 < c->keys->n && used < width)
		line_pad(out, width - used);
}

void key_cells_row(struct key_cells *c, size_t i, struct buf *out)
{
	for (size_t k = 0; k < c->keys->n; k++)
		put_column(c, k, cell(c, i, k), out);
}

void key_cells_head(struct key_cells *c, struct buf *out)
{
	for (size_t k = 0; k < c->keys->n; k++)
		put_column(c, k, column(c, k)->head, out);
}
