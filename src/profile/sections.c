// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes tables as sections: see format.h and tables.c. */
#include <string.h>

#include "profile/format.h"

/* The length of the body is known only after encoding it. */
void section_put(struct buf *out, enum section_kind kind,
		 const struct buf *body)
{
	buf_uleb(out, kind);
	buf_uleb(out, body->n);
	buf_bytes(out, body->p, body->n);
	out->failed |= body->failed;
}

static void put_column(struct buf *b, const struct profile *p,
		       const struct table *t, const struct column *c,
		       size_t first, size_t end)
{
	uint64_t prev = 0;
	uint32_t max = 0;

	for (size_t i = first; i < end && !b->failed; i++) {
		const void *row = table_row(p, t, i);
		uint64_t v;

		if (c->code == COL_BUILD_ID) {
			const struct build_id *id = (const struct build_id *)(
				(const char *)row + c->offset);

			buf_u8(b, id->len);
			buf_bytes(b, id->bytes, id->len);
			continue;
		}
		v = column_get(row, c);
		switch (c->code) {
		case COL_PLUS1:
			buf_uleb(b, (uint32_t)(v + 1));
			break;
		case COL_DELTA:
			buf_sleb(b, (int64_t)(v - prev));
			prev = v;
			break;
		case COL_OPT:
			if (v == PROF_NONE) {
				buf_uleb(b, 0);
				break;
			}
			buf_uleb(b, 1 + (v < prev ? (prev - v) * 2 - 1
						  : (v - prev) * 2));
			prev = v;
			break;
		case COL_RECENT:
			buf_uleb(b, recent_code((uint32_t)v, &max));
			break;
		case COL_BACK:
			buf_uleb(b, v == PROF_NONE ? 0 : i - v);
			break;
		default:
			buf_uleb(b, v);
		}
	}
}

/* Returns the number of columns to write for these rows. */
static size_t columns_used(const struct profile *p, const struct table *t,
			   size_t first, size_t end)
{
	size_t n = t->ncolumns;

	for (; n > t->ncolumns - t->optional; n--)
		for (size_t i = first; i < end; i++)
			if (column_get(table_row(p, t, i), &t->columns[n - 1]))
				return n;
	return n;
}

void section_put_table(struct buf *out, const struct profile *p,
		       const struct table *t, size_t first, size_t end)
{
	struct buf body = { 0 }, column = { 0 };
	size_t columns;

	if (first >= end)
		return;
	columns = columns_used(p, t, first, end);
	buf_uleb(&body, first);
	buf_uleb(&body, end - first);
	buf_uleb(&body, columns);
	for (size_t c = 0; c < columns; c++) {
		buf_reset(&column);
		put_column(&column, p, t, &t->columns[c], first, end);
		buf_uleb(&body, column.n);
		buf_bytes(&body, column.p, column.n);
		body.failed |= column.failed;
	}
	section_put(out, t->section, &body);
	buf_fini(&body);
	buf_fini(&column);
}

void section_put_notes(struct buf *out, const struct profile *p)
{
	struct buf body = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < p->images.n; i++)
		n += p->images.v[i].debug_file || p->images.v[i].note;
	buf_uleb(&body, n);
	for (size_t i = 0; i < p->images.n; i++) {
		const struct prof_image *im = &p->images.v[i];

		if (!im->debug_file && !im->note)
			continue;
		buf_uleb(&body, i);
		buf_uleb(&body, im->debug_file);
		buf_uleb(&body, im->note);
	}
	section_put(out, SECTION_IMAGE_NOTES, &body);
	buf_fini(&body);
}

void section_put_codes(struct buf *out, const struct profile *p, size_t first,
		       size_t end)
{
	struct buf body = { 0 };

	buf_uleb(&body, end - first);
	for (size_t i = first; i < end; i++) {
		const struct prof_code *c = &p->codes.v[i];

		buf_uleb(&body, c->image);
		buf_uleb(&body, c->vaddr);
		buf_uleb(&body, c->size);
	}
	for (size_t i = first; i < end; i++)
		buf_bytes(&body, p->code_bytes.p + p->codes.v[i].offset,
			  p->codes.v[i].size);
	section_put(out, SECTION_CODES, &body);
	buf_fini(&body);
}

void section_put_texts(struct buf *out, const struct profile *p, size_t first,
		       size_t end)
{
	struct buf body = { 0 };

	buf_uleb(&body, end - first);
	for (size_t i = first; i < end; i++) {
		const struct source_excerpt *t = &p->texts.v[i];

		buf_uleb(&body, t->file);
		buf_uleb(&body, t->line);
		buf_uleb(&body, t->flags);
		buf_uleb(&body, t->size);
	}
	for (size_t i = first; i < end; i++)
		if (p->texts.v[i].size)	/* else text_bytes may be empty */
			buf_bytes(&body, p->text_bytes.p + p->texts.v[i].offset,
				  p->texts.v[i].size);
	section_put(out, SECTION_TEXTS, &body);
	buf_fini(&body);
}
