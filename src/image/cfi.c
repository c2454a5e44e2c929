// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the FDE of an address. .eh_frame_hdr contains a sorted table, which is
 * searched in place.  Without it, the section is read once and sorted.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/cfi.h"
#include "base/search.h"
#include "image/image_internal.h"

enum { PE_FORM = 0x0f, PE_BASE = 0x70 };

static uint64_t read_form(const struct cfi_section *s, struct cursor *c,
			  uint8_t form)
{
	switch (form) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_signed:
		return s->is64 ? cursor_u64(c) : cursor_u32(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

/* The cursor must cover the whole section, because pc-relative pointers depend
 * on their position. */
bool cfi_pointer(const struct cfi_section *s, struct cursor *c,
		 uint8_t encoding, uint64_t func, uint64_t *out)
{
	uint64_t here = s->vaddr + (uint64_t)(c->p - s->data.p), base = 0;

	*out = 0;
	if (encoding == DW_EH_PE_omit)
		return false;
	switch (encoding & PE_BASE) {
	case 0: break;
	case DW_EH_PE_pcrel: base = here; break;
	case DW_EH_PE_textrel: base = s->text; break;
	case DW_EH_PE_datarel: base = s->got; break;
	case DW_EH_PE_funcrel: base = func; break;
	case DW_EH_PE_aligned:
		cursor_skip(c, -here & (s->is64 ? 7 : 3));
		encoding = DW_EH_PE_absptr;
		break;
	default:
		return false;
	}
	*out = read_form(s, c, encoding & PE_FORM);
	if (*out)		/* a null pointer remains null */
		*out += base;
	if (!s->is64)
		*out &= 0xffffffff;
	return !c->bad;
}

struct entry {
	struct cursor c;	/* covers the section; at the entry's contents */
	const uint8_t *end;
	uint64_t id, id_at;	/* CIE pointer and its offset */
	bool wide;		/* 64-bit DWARF */
};

/* Reads the length and CIE pointer at `at`.  Returns false at the end. */
static bool entry_open(const struct cfi_section *s, uint64_t at,
		       struct entry *e)
{
	uint64_t len;

	if (at >= s->data.n)
		return false;
	e->c = cursor_of(s->data.p, s->data.n);
	e->c.p += at;
	len = cursor_u32(&e->c);
	e->wide = len == 0xffffffff;
	if (e->wide)
		len = cursor_u64(&e->c);
	/* The zero length ends .eh_frame. */
	if (e->c.bad || !len || len > cursor_left(&e->c))
		return false;
	e->c.end = e->end = e->c.p + len;
	e->id_at = (uint64_t)(e->c.p - s->data.p);
	/* .eh_frame's CIE pointer has 4 bytes in both formats. */
	e->id = e->wide && s->kind == CFI_DEBUG_FRAME ? cursor_u64(&e->c)
						      : cursor_u32(&e->c);
	return true;
}

static bool entry_is_cie(const struct cfi_section *s, const struct entry *e)
{
	if (s->kind == CFI_EH_FRAME)
		return e->id == 0;
	return e->id == (e->wide ? UINT64_MAX : UINT32_MAX);
}

/* Reads the augmentation data announced by the letters after 'z'. */
static bool read_augmentation(const struct cfi_section *s, struct cursor *c,
			      const char *letters, struct cfi_cie *cie)
{
	uint8_t enc;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->fde_encoding = cursor_u8(c);
			break;
		case 'L':
			cie->lsda_encoding = cursor_u8(c);
			break;
		case 'P':
			enc = cursor_u8(c);
			if (!cfi_pointer(s, c, enc, 0, &cie->personality))
				return false;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* AArch64: signed with key B, tagged stack; no */
		case 'G':	/* data */
			break;
		default:	/* the length allows skipping unknown data */
			return !c->bad;
		}
	}
	return !c->bad;
}

/* Reads the augmentation letters.  Rejects long strings, which only hostile
 * files have. */
static const char *read_letters(struct cursor *c)
{
	enum { MAX_LETTERS = 16 };
	size_t n = cursor_left(c);
	const uint8_t *p = c->p;

	if (!memchr(p, 0, n < MAX_LETTERS ? n : MAX_LETTERS))
		return NULL;
	return cursor_cstr(c);
}

static bool read_cie_body(const struct cfi_section *s, struct entry *e,
			  struct cfi_cie *cie)
{
	struct cursor *c = &e->c;
	const char *aug;
	uint64_t len;

	cie->version = cursor_u8(c);
	aug = read_letters(c);
	if (!aug || (cie->version != 1 && cie->version != 3 &&
		     cie->version != 4))
		return false;
	if (!strcmp(aug, "eh")) {	/* gcc 2: an unused pointer */
		cursor_skip(c, s->is64 ? 8 : 4);
		aug = "";
	}
	cie->addr_size = s->is64 ? 8 : 4;
	if (cie->version == 4) {
		cie->addr_size = cursor_u8(c);
		if (cursor_u8(c))
			return false;	/* segments */
	}
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	cie->ra_reg = cie->version == 1 ? cursor_u8(c) : cursor_uleb(c);
	cie->lsda_encoding = DW_EH_PE_omit;
	if (*aug == 'z') {
		const uint8_t *data;

		cie->sized = true;
		len = cursor_uleb(c);
		if (c->bad || len > cursor_left(c))
			return false;
		data = c->p;
		if (!read_augmentation(s, c, aug + 1, cie) ||
		    (size_t)(c->p - data) > len)
			return false;
		c->p = data + len;
	} else if (*aug) {
		return false;
	}
	cie->program = (struct span){ c->p, cursor_left(c) };
	return !c->bad && cie->addr_size == (s->is64 ? 8 : 4);
}

static bool read_cie(const struct cfi_section *s, uint64_t at,
		     struct cfi_cie *cie)
{
	struct entry e;

	*cie = (struct cfi_cie){ .at = at };
	return entry_open(s, at, &e) && entry_is_cie(s, &e) &&
	       read_cie_body(s, &e, cie);
}

static bool read_fde(const struct cfi_section *s, uint64_t at, struct entry *e,
		     struct cfi_cie *cie, struct cfi_fde *fde)
{
	uint64_t cie_at = s->kind == CFI_EH_FRAME ? e->id_at - e->id : e->id;
	struct cursor *c = &e->c;
	uint64_t len;

	/* .program.p is set in a CIE that was read successfully */
	if ((cie->at != cie_at || !cie->program.p) &&
	    !read_cie(s, cie_at, cie)) {
		*cie = (struct cfi_cie){ 0 };
		return false;
	}
	*fde = (struct cfi_fde){ .at = at };
	if (!cfi_pointer(s, c, cie->fde_encoding, 0, &fde->start))
		return false;
	fde->size = read_form(s, c, cie->fde_encoding & PE_FORM);
	if (!s->is64)
		fde->size &= 0xffffffff;
	if (cie->sized) {
		const uint8_t *data;

		len = cursor_uleb(c);
		if (c->bad || len > cursor_left(c))
			return false;
		data = c->p;
		if (len && cie->lsda_encoding != DW_EH_PE_omit)
			cfi_pointer(s, c, cie->lsda_encoding, fde->start,
				    &fde->lsda);
		if (c->bad)
			return false;
		c->p = data + len;
	}
	fde->program = (struct span){ c->p, cursor_left(c) };
	return !c->bad && fde->size && fde->start + fde->size > fde->start;
}

enum cfi_entry cfi_next(const struct cfi_section *s, uint64_t *at,
			struct cfi_cie *cie, struct cfi_fde *fde)
{
	uint64_t start = *at;
	struct entry e;

	if (!entry_open(s, start, &e))
		return CFI_END;
	*at = (uint64_t)(e.end - s->data.p);
	if (e.c.bad)
		return CFI_SKIPPED;
	if (entry_is_cie(s, &e))
		return CFI_CIE;
	return read_fde(s, start, &e, cie, fde) ? CFI_FDE : CFI_SKIPPED;
}

enum {
	HDR_VERSION = 1,
	HDR_OMIT = 0xff,
	HDR_TABLE = 0x3b,	/* datarel | sdata4, as written by linkers */
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
	uint64_t hdr;		/* base of these numbers */
	VEC(struct cfi_row) rows;	/* functions that are missing from the table */
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

/* Opens .eh_frame without section headers: from the address in .eh_frame_hdr to
 * the end of its segment.  A zero length ends it. */
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

/* Finds the sorted table of .eh_frame_hdr, if it has the usual form. */
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

/* Returns the last entry that starts at or below vaddr, or the first entry. */
static size_t table_lower(const struct image *img, const struct cfi_index *x,
			  uint64_t vaddr)
{
	size_t at;

	last_where(at, x->table.n / 8, table_address(img, x, at, 0) <= vaddr);
	return at;
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

	return ascending(x->start, y->start) ?:
	       descending(x->kind, y->kind) ?:
	       descending(x->at, y->at);
}

/* Builds the rows; includes .eh_frame unless its table is complete. */
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
	vec_sort(&x->rows, by_start);
	return true;
}

/* Returns the last row that starts at or below vaddr, or the first row. */
static size_t rows_lower(const struct cfi_index *x, uint64_t vaddr)
{
	size_t at;

	last_where(at, x->rows.n, x->rows.v[at].start <= vaddr);
	return at;
}

/* Returns the last row that starts at or before vaddr; that of .eh_frame if
 * both sections have one.  Functions do not overlap. */
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

/* Number of functions checked that start below `lo` and may extend into the
 * range.  One suffices in valid files; a few more cover overlaps. */
enum { BEFORE = 4 };

static size_t step_back(size_t i)
{
	return i > BEFORE ? i - BEFORE : 0;
}

/* Returns false if the callback stopped. */
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
