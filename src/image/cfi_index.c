// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the FDE of an address: .eh_frame_hdr holds a table sorted for that, which
 * is searched in place.  Without it the section is walked once and sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "image/cfi.h"
#include "image/image_internal.h"

enum {
	HDR_VERSION = 1,
	HDR_OMIT = 0xff,
	HDR_TABLE = 0x3b,	/* datarel | sdata4: what linkers write */
};

struct cfi_row {
	uint64_t start, size;
	uint64_t at;
	enum cfi_kind kind;
};

struct cfi_index {
	struct cfi_section sect[CFI_KINDS];
	bool has[CFI_KINDS];
	struct span table;	/* of .eh_frame_hdr: pairs of int32 */
	uint64_t hdr;		/* they are relative to it */
	VEC(struct cfi_row) rows;	/* what the table does not say */
	bool indexed;
};

void cfi_index_free(struct cfi_index *x)
{
	if (!x)
		return;
	vec_fini(&x->rows);
	free(x);
}

static uint64_t section_start(const struct image *img, const char *name)
{
	const struct image_sect *s = image_find_sect(img, name);

	return s ? s->addr : 0;
}

/* .eh_frame without section headers: from where the header says to the end of
 * its segment; a zero length ends it. */
static bool open_by_header(struct image *img, struct cfi_section *s)
{
	uint64_t vaddr = img->eh_hdr.vaddr, at;
	struct cfi_section hdr = *s;
	struct cursor c;
	uint8_t enc;

	if (!img->eh_hdr.size)
		return false;
	hdr.data = image_bytes(img, vaddr, (size_t)img->eh_hdr.size);
	hdr.vaddr = hdr.got = vaddr;
	c = cursor_of(hdr.data.p, hdr.data.n);
	if (cursor_u8(&c) != HDR_VERSION)
		return false;
	enc = cursor_u8(&c);
	cursor_skip(&c, 2);
	if (c.bad || !cfi_pointer(&hdr, &c, enc, 0, &at))
		return false;
	s->vaddr = at;
	s->data = image_bytes(img, at, SIZE_MAX);
	return s->data.n != 0;
}

bool cfi_open(struct image *img, enum cfi_kind kind, struct cfi_section *out)
{
	const char *name = kind == CFI_EH_FRAME ? ".eh_frame" : ".debug_frame";
	struct image_sect *s = image_find_debug_sect(img, name);

	*out = (struct cfi_section){ .kind = kind, .is64 = image_is_64(img) };
	out->text = section_start(img, ".text");
	out->got = section_start(img, ".got");
	if (s) {
		out->data = image_sect_data(img, s);
		out->vaddr = s->addr;
		return out->data.n != 0;
	}
	return kind == CFI_EH_FRAME && !img->sects.n &&
	       open_by_header(img, out);
}

void image_each_fde(struct image *img, enum cfi_kind kind, cfi_fde_cb *cb,
		    void *ctx)
{
	struct cfi_cie cie = { 0 };
	struct cfi_section s;
	enum cfi_entry e;
	struct cfi_fde fde;
	uint64_t at = 0;

	if (!cfi_open(img, kind, &s))
		return;
	while ((e = cfi_next(&s, &at, &cie, &fde)) != CFI_END)
		if (e == CFI_FDE && !cb(ctx, &cie, &fde))
			return;
}

/* The sorted table of .eh_frame_hdr, if it is of the usual form. */
static void find_table(struct image *img, struct cfi_index *x)
{
	struct cfi_section hdr = { .is64 = image_is_64(img) };
	struct image_sect *s = image_find_sect(img, ".eh_frame_hdr");
	uint8_t ptr_enc, count_enc, table_enc;
	uint64_t eh_frame, count;
	struct cursor c;

	if (s) {
		hdr.data = image_sect_data(img, s);
		hdr.vaddr = s->addr;
	} else if (!img->sects.n && img->eh_hdr.size) {
		hdr.vaddr = img->eh_hdr.vaddr;
		hdr.data = image_bytes(img, hdr.vaddr,
				       (size_t)img->eh_hdr.size);
	}
	hdr.got = hdr.vaddr;
	c = cursor_of(hdr.data.p, hdr.data.n);
	if (!hdr.data.n || cursor_u8(&c) != HDR_VERSION)
		return;
	ptr_enc = cursor_u8(&c);
	count_enc = cursor_u8(&c);
	table_enc = cursor_u8(&c);
	if (c.bad || table_enc != HDR_TABLE ||
	    !cfi_pointer(&hdr, &c, ptr_enc, 0, &eh_frame) ||
	    !cfi_pointer(&hdr, &c, count_enc, 0, &count) ||
	    !count || count > cursor_left(&c) / 8)
		return;
	x->table = (struct span){ c.p, (size_t)count * 8 };
	x->hdr = hdr.vaddr;
}

static struct cfi_index *get_index(struct image *img)
{
	struct cfi_index *x = img->cfi;

	if (x)
		return x;
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	for (int k = 0; k < CFI_KINDS; k++)
		x->has[k] = cfi_open(img, (enum cfi_kind)k, &x->sect[k]);
	if (x->has[CFI_EH_FRAME])
		find_table(img, x);
	img->cfi = x;
	return x;
}

static uint64_t table_address(const struct image *img,
			      const struct cfi_index *x, size_t i, int field)
{
	int32_t v;
	uint64_t a;

	memcpy(&v, x->table.p + 8 * i + 4 * field, 4);
	a = x->hdr + (uint64_t)(int64_t)v;
	return image_is_64(img) ? a : a & 0xffffffff;
}

static bool covers(const struct cfi_fde *fde, uint64_t vaddr)
{
	return vaddr >= fde->start && vaddr - fde->start < fde->size;
}

static bool read_at(const struct cfi_section *s, uint64_t at,
		    struct cfi_cie *cie, struct cfi_fde *fde)
{
	*cie = (struct cfi_cie){ 0 };
	return cfi_next(s, &at, cie, fde) == CFI_FDE;
}

/* The last entry that begins at or below vaddr, or the first. */
static size_t table_lower(const struct image *img, const struct cfi_index *x,
			  uint64_t vaddr)
{
	size_t lo = 0, n = x->table.n / 8;

	while (n > 1) {
		size_t half = n / 2;

		if (table_address(img, x, lo + half, 0) <= vaddr)
			lo += half;
		n -= half;
	}
	return lo;
}

static bool find_in_table(const struct image *img, const struct cfi_index *x,
			  uint64_t vaddr, struct cfi_cie *cie,
			  struct cfi_fde *fde)
{
	const struct cfi_section *s = &x->sect[CFI_EH_FRAME];
	size_t lo;

	if (!x->table.n || table_address(img, x, 0, 0) > vaddr)
		return false;
	lo = table_lower(img, x, vaddr);
	return read_at(s, table_address(img, x, lo, 1) - s->vaddr, cie, fde) &&
	       covers(fde, vaddr);
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind > y->kind ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at;
}

/* .eh_frame too unless its table knows all of it. */
static bool make_rows(struct cfi_index *x)
{
	int first = x->table.n ? CFI_DEBUG_FRAME : CFI_EH_FRAME;

	x->indexed = true;
	for (int k = first; k < CFI_KINDS; k++) {
		struct cfi_cie cie = { 0 };
		enum cfi_entry e;
		struct cfi_fde fde;
		uint64_t at = 0;

		if (!x->has[k])
			continue;
		while ((e = cfi_next(&x->sect[k], &at, &cie, &fde)) != CFI_END) {
			struct cfi_row r = { fde.start, fde.size, fde.at,
					     (enum cfi_kind)k };

			if (e == CFI_FDE && vec_push(&x->rows, r) < 0)
				return false;
		}
	}
	if (x->rows.n)
		qsort(x->rows.v, x->rows.n, sizeof(*x->rows.v), by_start);
	return true;
}

/* The last row that begins at or below vaddr, or the first. */
static size_t rows_lower(const struct cfi_index *x, uint64_t vaddr)
{
	size_t lo = 0, n = x->rows.n;

	while (n > 1) {
		size_t half = n / 2;

		if (x->rows.v[lo + half].start <= vaddr)
			lo += half;
		n -= half;
	}
	return lo;
}

/* Functions do not overlap: the last that begins at or before vaddr, .eh_frame's
 * where both sections know it. */
static const struct cfi_row *find_row(const struct cfi_index *x, uint64_t vaddr)
{
	const struct cfi_row *r;

	if (!x->rows.n)
		return NULL;
	r = &x->rows.v[rows_lower(x, vaddr)];
	return vaddr >= r->start && vaddr - r->start < r->size ? r : NULL;
}

bool image_find_fde(struct image *img, uint64_t vaddr, struct cfi_section *s,
		    struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_index *x = get_index(img);
	const struct cfi_row *r;

	if (!x)
		return false;
	if (x->table.n && find_in_table(img, x, vaddr, cie, fde)) {
		*s = x->sect[CFI_EH_FRAME];
		return true;
	}
	if (!x->indexed && !make_rows(x))
		return false;
	r = find_row(x, vaddr);
	if (!r)
		return false;
	*s = x->sect[r->kind];
	return read_at(s, r->at, cie, fde);
}

/* Functions that begin below `lo` and reach into it: the last ones, where files
 * are well made; a few more in case some overlap. */
enum { BEFORE = 4 };

static size_t step_back(size_t i)
{
	return i > BEFORE ? i - BEFORE : 0;
}

/* False when told to stop. */
static bool rows_in(const struct cfi_index *x, uint64_t lo, uint64_t hi,
		    cfi_in_cb *cb, void *ctx)
{
	struct cfi_cie cie[CFI_KINDS] = { { 0 } };
	struct cfi_fde fde;
	size_t i = x->rows.n ? step_back(rows_lower(x, lo)) : 0;

	for (; i < x->rows.n && x->rows.v[i].start < hi; i++) {
		const struct cfi_row *r = &x->rows.v[i];
		const struct cfi_section *s = &x->sect[r->kind];
		uint64_t at = r->at;

		if (cfi_next(s, &at, &cie[r->kind], &fde) == CFI_FDE &&
		    !cb(ctx, s, &cie[r->kind], &fde))
			return false;
	}
	return true;
}

static void table_in(const struct image *img, const struct cfi_index *x,
		     uint64_t lo, uint64_t hi, cfi_in_cb *cb, void *ctx)
{
	const struct cfi_section *s = &x->sect[CFI_EH_FRAME];
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	size_t i = step_back(table_lower(img, x, lo));

	for (; i < x->table.n / 8 && table_address(img, x, i, 0) < hi; i++) {
		uint64_t at = table_address(img, x, i, 1) - s->vaddr;

		if (cfi_next(s, &at, &cie, &fde) == CFI_FDE &&
		    !cb(ctx, s, &cie, &fde))
			return;
	}
}

bool image_fdes_in(struct image *img, uint64_t lo, uint64_t hi, cfi_in_cb *cb,
		   void *ctx)
{
	struct cfi_index *x = get_index(img);

	if (!x || (!x->indexed && !make_rows(x)))
		return false;
	if (rows_in(x, lo, hi, cb, ctx))
		table_in(img, x, lo, hi, cb, ctx);
	return true;
}
