// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes and decodes tables as sections: see format.h and tables.c. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/format.h"

/* Appends a section: kind, length, body.  The length is known only after encoding the
 * body. */
static void section_put(struct buf *out, enum section_kind kind,
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

/* Begins a section of rows with bytes: the values of their columns, row by row. */
static void put_values_of_rows(struct buf *body, const struct profile *p,
			       const struct table *t, size_t first, size_t end)
{
	buf_uleb(body, end - first);
	for (size_t i = first; i < end; i++)
		for (size_t c = 0; c < t->ncolumns; c++)
			buf_uleb(body, column_get(table_row(p, t, i),
						  &t->columns[c]));
}

void section_put_codes(struct buf *out, const struct profile *p, size_t first,
		       size_t end)
{
	struct buf body = { 0 };

	put_values_of_rows(&body, p, &code_table, first, end);
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

	put_values_of_rows(&body, p, &text_table, first, end);
	for (size_t i = first; i < end; i++)
		if (p->texts.v[i].size)	/* else text_bytes may be empty */
			buf_bytes(&body, p->text_bytes.p + p->texts.v[i].offset,
				  p->texts.v[i].size);
	section_put(out, SECTION_TEXTS, &body);
	buf_fini(&body);
}

/* Decoding.  The bytes are hostile. */

/* Makes a placeholder for a row lost with a damaged chunk: no strings, no
 * parents; a lost node is a mark below the root. */
static void fill_gap_row(const struct table *t, void *row)
{
	memset(row, 0, t->row);
	if (t->section == SECTION_NODES)
		((struct prof_node *)row)->loc = PROF_MARK_DAMAGED;
	if (t->section == SECTION_LOC_FRAMES)
		*(uint32_t *)row = PROF_NONE;
	if (t->section == SECTION_FRAMES)
		((struct prof_frame *)row)->outer = PROF_NONE;
	if (t->section == SECTION_ENVS)
		((struct prof_env *)row)->run = PROF_NONE;
}

/* Appends the last n bytes of a section. */
static bool get_bytes(struct profile *p, struct cursor *c, uint64_t n,
		      struct buf *out)
{
	const uint8_t *bytes = cursor_take(c, n);

	/* buffers grow by doubling */
	if (!bytes || !profile_charge(p, 2 * n))
		return false;
	buf_bytes(out, bytes, (size_t)n);
	return !out->failed;
}

static uint64_t row_views(const struct table *t)
{
	return t->section == SECTION_NODES || t->section == SECTION_LOCS
		       ? PROF_STACK_VIEWS : PROF_ROW_VIEWS;
}

/* Makes the table n rows long.  New rows are placeholders below `first` and zero
 * from there on. */
static int table_resize(struct profile *p, const struct table *t, size_t first,
			size_t n)
{
	struct any_vec v;
	size_t old;

	memcpy(&v, (char *)p + t->vec, sizeof(v));
	if (n > v.n && !profile_charge(p, (n - v.n) * row_views(t)))
		return -ERR_NOMEM;
	if (n > v.cap &&
	    profile_reserve_raw(p, &v.v, &v.cap, n, t->row) < 0)
		return -ERR_NOMEM;
	old = v.n;
	v.n = n;
	memcpy((char *)p + t->vec, &v, sizeof(v));
	if (old < n)
		memset(table_row(p, t, old), 0, (n - old) * t->row);
	for (size_t i = old; i < first; i++)
		fill_gap_row(t, table_row(p, t, i));
	return 0;
}

static bool get_build_id(struct cursor *c, struct build_id *id)
{
	uint8_t len = cursor_u8(c);
	const uint8_t *p;

	if (len > BUILD_ID_MAX)
		return false;
	p = cursor_take(c, len);
	if (!p)
		return false;
	memset(id, 0, sizeof(*id));
	id->len = len;
	memcpy(id->bytes, p, len);
	return true;
}

/* State for decoding a column's next value; all-zero at its first row. */
struct column_state {
	uint64_t prev;
	uint32_t max;
};

/* Decodes the column's next n values, of rows from `id` on.  Returns false if one
 * refers to no row. */
static bool get_values(struct cursor *c, const struct column *col, size_t id,
		       struct column_state *st, uint64_t *v, size_t n)
{
	if (col->code == COL_DELTA)
		cursor_slebs(c, (int64_t *)v, n);
	else
		cursor_ulebs(c, v, n);
	switch (col->code) {
	case COL_PLUS1:
		for (size_t i = 0; i < n; i++) {
			if (v[i] > UINT32_MAX)
				return false;
			v[i] = (uint32_t)(v[i] - 1);
		}
		break;
	case COL_DELTA:
		for (size_t i = 0; i < n; i++)
			v[i] = st->prev += v[i];
		break;
	case COL_OPT:
		for (size_t i = 0; i < n; i++) {
			uint64_t x = v[i] - 1;

			if (v[i])
				st->prev += x & 1 ? -(x / 2 + 1) : x / 2;
			v[i] = v[i] ? st->prev : PROF_NONE;
		}
		break;
	case COL_RECENT:
		for (size_t i = 0; i < n; i++)
			v[i] = recent_value(v[i], &st->max);
		break;
	case COL_BACK:
		for (size_t i = 0; i < n; i++) {
			if (v[i] > id + i)
				return false;
			v[i] = v[i] ? id + i - v[i] : PROF_NONE;
		}
		break;
	default:
		break;
	}
	return !c->bad;
}

/* Stores values in a column.  Returns false if they do not fit. */
static bool put_values(const struct column *col, char *row, size_t size,
		       const uint64_t *v, size_t n)
{
	const struct column c = *col;	/* known not to change below */
	uint64_t all = 0;

	if (c.width == 4)	/* most are: one loop without a choice in it */
		for (size_t i = 0; i < n; i++, row += size) {
			all |= v[i];
			memcpy(row + c.offset, &(uint32_t){ (uint32_t)v[i] }, 4);
		}
	else
		for (size_t i = 0; i < n; i++, row += size) {
			all |= v[i];
			column_set(row, &c, v[i]);
		}
	return !(c.width == 1 && all > UINT8_MAX) &&
	       !(c.width == 4 && all > UINT32_MAX);
}

/* Sets a column to zero. */
static void zero_column(struct profile *p, const struct table *t,
			const struct column *col, size_t first, size_t count)
{
	char *row = table_row(p, t, first);

	for (size_t i = 0; i < count; i++, row += t->row)
		column_set(row, col, 0);
}

/* Returns whether all values of a column are 0, as those of many are. */
static bool is_zero(const struct column *col, const struct cursor *c, size_t count)
{
	return (col->code == COL_ULEB || col->code == COL_DELTA) && count &&
	       cursor_left(c) == count && !c->p[0] &&
	       !memcmp(c->p, c->p + 1, count - 1);
}

/* Decodes one column and checks that all its bytes were used.  `fresh` rows are zero
 * before. */
static bool get_column(struct profile *p, const struct table *t,
		       const struct column *col, size_t first, size_t count,
		       bool fresh, struct cursor *c)
{
	enum { BLOCK = 64 };
	struct column_state st = { 0 };
	char *row = table_row(p, t, first);
	uint64_t v[BLOCK];

	if (is_zero(col, c, count)) {
		if (!fresh)
			zero_column(p, t, col, first, count);
		return true;
	}
	for (size_t i = 0; col->code == COL_BUILD_ID && i < count;
	     i++, row += t->row)
		if (!get_build_id(c, (struct build_id *)(row + col->offset)))
			return false;
	for (size_t i = 0, n; col->code != COL_BUILD_ID && i < count; i += n) {
		n = count - i < BLOCK ? count - i : BLOCK;
		if (!get_values(c, col, first + i, &st, v, n) ||
		    !put_values(col, row, t->row, v, n))
			return false;
		row += n * t->row;
	}
	return !cursor_left(c);
}

/* Returns whether the rows of a section have a valid position: after existing
 * rows, after a gap (damage), or, if the table allows it, over old rows. */
static bool section_placed(uint64_t first, uint64_t count, size_t have, bool replace,
			   size_t gap)
{
	if (count > UINT32_MAX || first > UINT32_MAX)
		return false;
	if (first < have)
		return replace && first + count <= have + count;
	return first - have <= gap;
}

enum {
	STRING_ROW = 44,	/* bytes of a string in addition to its text: pointer
				 * and hash entry, in tables that have grown */
	RESERVE_MAX = 1 << 16,	/* strings for which room is made at once */
};

void section_put_strings(struct buf *out, const struct profile *p, size_t first,
			 size_t end)
{
	struct buf body = { 0 };

	if (first >= end)
		return;
	buf_uleb(&body, first);
	buf_uleb(&body, end - first);
	for (size_t i = first; i < end; i++)
		buf_uleb(&body, strlen(p->str.str.v[i]));
	for (size_t i = first; i < end; i++)
		buf_str(&body, p->str.str.v[i]);
	section_put(out, SECTION_STRINGS, &body);
	buf_fini(&body);
}

/* Adds a string as row `id`, even if an equal one exists, because ids in the
 * file count rows. */
static bool add_string(struct profile *p, const char *s, size_t n, size_t id)
{
	char gap_name[32];

	if (!profile_charge(p, STRING_ROW + (n < sizeof(gap_name)
					     ? sizeof(gap_name) : n)))
		return false;
	if (n > p->memory.longest)
		p->memory.longest = n;
	if (strtab_add_n(&p->str, s, n) == id)
		return true;
	/* A duplicate, or a NUL inside: no writer creates these.  Add a
	 * placeholder to keep ids in step. */
	snprintf(gap_name, sizeof(gap_name), "[damaged #%zu]", id);
	return strtab_add(&p->str, gap_name) == id;
}

/* Adds placeholders for strings lost with damaged chunks. */
static bool fill_gap(struct profile *p, uint64_t first)
{
	while (p->str.str.n < first)
		if (!add_string(p, "", 0, p->str.str.n))
			return false;
	return true;
}

/* Decodes the strings section, for section_get. */
static bool section_get_strings(struct profile *p, struct cursor *c, size_t gap)
{
	uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
	struct cursor text;

	if (c->bad || count > cursor_left(c) ||
	    !section_placed(first, count, p->str.str.n, false, gap))
		return false;
	/* The lengths come first; the text follows them. */
	text = *c;
	for (uint64_t i = 0; i < count; i++)
		(void)cursor_uleb(&text);
	if (!fill_gap(p, first) ||
	    (count < RESERVE_MAX &&
	     strtab_reserve(&p->str, p->str.str.n + (size_t)count) < 0))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = cursor_uleb(c);
		const uint8_t *s = cursor_take(&text, n);

		if (!s || c->bad || !add_string(p, (const char *)s, (size_t)n,
						p->str.str.n))
			return false;
	}
	return true;
}

/* Decodes the columns of a table; skips columns of newer versions. */
static bool get_columns(struct profile *p, const struct table *t,
			uint64_t columns, size_t first, size_t count,
			bool fresh, struct cursor *c)
{
	for (uint64_t i = 0; i < columns; i++) {
		struct cursor body = cursor_sub(c, cursor_uleb(c));

		if (c->bad)
			return false;
		if (i < t->ncolumns &&
		    !get_column(p, t, &t->columns[i], first, count, fresh, &body))
			return false;
	}
	/* a column that the file's version does not have */
	for (size_t i = (size_t)columns; !fresh && i < t->ncolumns; i++)
		zero_column(p, t, &t->columns[i], first, count);
	return true;
}

static bool get_table(struct profile *p, const struct table *t,
		      struct cursor *c, size_t gap)
{
	uint64_t first = cursor_uleb(c), count = cursor_uleb(c);
	uint64_t columns = cursor_uleb(c);
	size_t have = table_rows(p, t);

	/* Each column needs at least one byte for its length and one for each
	 * row. */
	if (c->bad || !columns || columns > cursor_left(c) ||
	    count > cursor_left(c) / columns ||
	    !section_placed(first, count, have, t->mutable_rows, gap))
		return false;
	if (first + count > have &&
	    table_resize(p, t, (size_t)first, (size_t)(first + count)) < 0)
		return false;
	if (get_columns(p, t, columns, (size_t)first, (size_t)count,
			first >= have, c))
		return true;
	for (size_t i = 0; i < count; i++)
		fill_gap_row(t, table_row(p, t, (size_t)(first + i)));
	return false;
}

static bool get_notes(struct profile *p, struct cursor *c)
{
	uint64_t n = cursor_uleb(c);

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint32_t image = cursor_uleb32(c);
		uint32_t debug_file = cursor_uleb32(c);
		uint32_t note = cursor_uleb32(c);

		if (c->bad || image >= p->images.n)
			return false;
		if (debug_file < p->str.str.n)
			p->images.v[image].debug_file = debug_file;
		if (note < p->str.str.n)
			p->images.v[image].note = note;
	}
	return !c->bad;
}

static bool get_codes(struct profile *p, struct cursor *c)
{
	uint64_t n = cursor_uleb(c), total = 0;
	size_t first = p->codes.n;

	if (n > cursor_left(c) / 3)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		struct prof_code code = {
			.image = cursor_uleb32(c),
			.vaddr = cursor_uleb(c),
			.size = cursor_uleb32(c),
		};

		code.offset = (uint32_t)(p->code_bytes.n + total);
		total += code.size;
		if (c->bad || !code.size || total > CHUNK_MAX || code.image >= p->images.n ||
		    p->code_bytes.n + total > UINT32_MAX ||
		    profile_reserve(p, &p->codes, p->codes.n + 1) < 0) {
			p->codes.n = first;
			return false;
		}
		p->codes.v[p->codes.n++] = code;
	}
	if (!get_bytes(p, c, total, &p->code_bytes)) {
		p->codes.n = first;
		return false;
	}
	return true;
}

static bool get_text_rows(struct profile *p, struct cursor *c, uint64_t n,
			  uint64_t *total)
{
	for (uint64_t i = 0; i < n; i++) {
		struct source_excerpt t = {
			.file = cursor_uleb32(c),
			.line = cursor_uleb32(c),
			.flags = cursor_uleb32(c),
			.size = cursor_uleb32(c),
		};

		t.offset = (uint32_t)(p->text_bytes.n + *total);
		*total += t.size;
		if (c->bad || *total > CHUNK_MAX || t.file >= p->str.str.n ||
		    p->text_bytes.n + *total > UINT32_MAX ||
		    profile_reserve(p, &p->texts, p->texts.n + 1) < 0)
			return false;
		p->texts.v[p->texts.n++] = t;
	}
	return true;
}

static bool get_texts(struct profile *p, struct cursor *c)
{
	uint64_t n = cursor_uleb(c), total = 0;
	size_t first = p->texts.n;

	if (n > cursor_left(c) / 4)
		return false;
	if (!get_text_rows(p, c, n, &total) ||
	    !get_bytes(p, c, total, &p->text_bytes)) {
		p->texts.n = first;
		return false;
	}
	return true;
}

bool section_get(struct profile *p, uint64_t kind, struct cursor *c, size_t gap)
{
	const struct table *t = format_table(kind);

	switch (kind) {
	case SECTION_STRINGS:
		return section_get_strings(p, c, gap);
	case SECTION_IMAGE_NOTES:
		return get_notes(p, c);
	case SECTION_CODES:
		return get_codes(p, c);
	case SECTION_TEXTS:
		return get_texts(p, c);
	default:	/* one of a newer version is skipped by its length */
		return !t || get_table(p, t, c, gap);
	}
}
