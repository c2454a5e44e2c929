/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_CFI_H
#define TALLY_IMAGE_CFI_H
/*
 * Call frame information: where functions begin and end, and the programs that
 * say how to unwind them.  .eh_frame and .eh_frame_hdr (LSB Core 5.0, "Exception
 * Frames"), .debug_frame (DWARF 5 §6.4.1).  The programs are given as bytes.
 *
 * Everything is hostile: an entry that makes no sense is not there.
 */
#include "base/cursor.h"
#include "image/image.h"

enum cfi_kind { CFI_EH_FRAME, CFI_DEBUG_FRAME, CFI_KINDS };

/* One section and what its pointers are relative to. */
struct cfi_section {
	struct span data;
	uint64_t vaddr;		/* of data.p[0] */
	uint64_t text, got;	/* DW_EH_PE_textrel, DW_EH_PE_datarel */
	enum cfi_kind kind;
	bool is64;
};

/* What a family of functions shares. */
struct cfi_cie {
	uint64_t at;		/* offset in the section */
	uint64_t code_align, ra_reg;
	int64_t data_align;
	uint64_t personality;	/* 0: none */
	struct span program;	/* initial instructions */
	uint8_t version, addr_size;
	uint8_t fde_encoding, lsda_encoding;	/* DW_EH_PE_* */
	bool sized;		/* FDEs say how long their augmentation is */
	bool signal;		/* a frame the kernel made: no call before it */
	bool b_key;		/* AArch64: return addresses signed with key B */
};

/* One function, or a part of one. */
struct cfi_fde {
	uint64_t at;		/* offset in the section */
	uint64_t start, size;
	uint64_t lsda;		/* 0: none */
	struct span program;
};

/* False when the image has no such section. */
bool cfi_open(struct image *img, enum cfi_kind kind, struct cfi_section *out);

/* Reads the entry at *at and moves there behind it.  CFI_END: no further one;
 * CFI_CIE, CFI_FDE: that kind was read, the FDE with its CIE.  `cie` must be the
 * same variable, all zero at first, throughout a walk: it saves reading a CIE
 * again. */
enum cfi_entry { CFI_END, CFI_CIE, CFI_FDE, CFI_SKIPPED };
enum cfi_entry cfi_next(const struct cfi_section *s, uint64_t *at,
			struct cfi_cie *cie, struct cfi_fde *fde);

/* A pointer in an encoding (DW_EH_PE_*); `func` is what funcrel is relative to.
 * Indirect ones give the address where the pointer is.  False when the encoding
 * is not known, says "omitted", or the bytes end. */
bool cfi_pointer(const struct cfi_section *s, struct cursor *c,
		 uint8_t encoding, uint64_t func, uint64_t *out);

/* Calls back for every function of a section, in its order, until told false. */
typedef bool cfi_fde_cb(void *ctx, const struct cfi_cie *cie,
			const struct cfi_fde *fde);
void image_each_fde(struct image *img, enum cfi_kind kind, cfi_fde_cb *cb,
		    void *ctx);

/* Calls back for functions that hold an address of [lo, hi), and for some beside
 * it (in a hostile file, for many: count them), until told false: by start, first
 * those of .debug_frame.  False when out of memory. */
typedef bool cfi_in_cb(void *ctx, const struct cfi_section *s,
		       const struct cfi_cie *cie, const struct cfi_fde *fde);
bool image_fdes_in(struct image *img, uint64_t lo, uint64_t hi, cfi_in_cb *cb,
		   void *ctx);

/* The function that covers vaddr, by .eh_frame_hdr where there is one, else by an
 * index that is made once; .debug_frame when .eh_frame has none.  `s` is where its
 * CIE and FDE were read.  False when there is none; -ERR_NOMEM is false too. */
bool image_find_fde(struct image *img, uint64_t vaddr, struct cfi_section *s,
		    struct cfi_cie *cie, struct cfi_fde *fde);

#endif
