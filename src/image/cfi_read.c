// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads CIEs and FDEs: see cfi.h. */
#include "image/cfi.h"

#include <string.h>

enum {
	PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SIGNED = 0x08,
	PE_SLEB128 = 0x09, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORM = 0x0f, PE_BASE = 0x70, PE_OMIT = 0xff,
	PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40, PE_ALIGNED = 0x50,
};

static uint64_t read_form(const struct cfi_section *s, struct cursor *c,
			  uint8_t form)
{
	switch (form) {
	case PE_ABSPTR:
	case PE_SIGNED:
		return s->is64 ? cursor_u64(c) : cursor_u32(c);
	case PE_ULEB128:
		return cursor_uleb(c);
	case PE_SLEB128:
		return (uint64_t)cursor_sleb(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_SDATA2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SDATA4:
		return (uint64_t)(int32_t)cursor_u32(c);
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

/* The cursor must be one over all of the section: pc-relative pointers need to
 * know where they are. */
bool cfi_pointer(const struct cfi_section *s, struct cursor *c,
		 uint8_t encoding, uint64_t func, uint64_t *out)
{
	uint64_t here = s->vaddr + (uint64_t)(c->p - s->data.p), base = 0;

	*out = 0;
	if (encoding == PE_OMIT)
		return false;
	switch (encoding & PE_BASE) {
	case 0: break;
	case PE_PCREL: base = here; break;
	case PE_TEXTREL: base = s->text; break;
	case PE_DATAREL: base = s->got; break;
	case PE_FUNCREL: base = func; break;
	case PE_ALIGNED:
		cursor_skip(c, -here & (s->is64 ? 7 : 3));
		encoding = PE_ABSPTR;
		break;
	default:
		return false;
	}
	*out = read_form(s, c, encoding & PE_FORM);
	if (*out)		/* a null pointer stays one */
		*out += base;
	if (!s->is64)
		*out &= 0xffffffff;
	return !c->bad;
}

struct entry {
	struct cursor c;	/* over the section, at the entry's contents */
	const uint8_t *end;
	uint64_t id, id_at;	/* the CIE pointer and where it stands */
	bool wide;		/* 64-bit DWARF */
};

/* The length and CIE pointer at `at`.  False at the end. */
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

/* The augmentation data that the letters after 'z' promise. */
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
		case 'B':
			cie->b_key = true;
			break;
		case 'G':	/* AArch64: tagged stack; no data */
			break;
		default:	/* the length leads past what we don't know */
			return !c->bad;
		}
	}
	return !c->bad;
}

/* The letters that say what follows: few, or the file is hostile. */
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
	if (!strcmp(aug, "eh")) {	/* gcc 2: a pointer that nobody needs */
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
	cie->lsda_encoding = PE_OMIT;
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

	/* .program.p is set in a CIE that was read well */
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
		if (len && cie->lsda_encoding != PE_OMIT)
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
