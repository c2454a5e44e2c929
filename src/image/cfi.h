/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_CFI_H
#define TALLY_IMAGE_CFI_H
/*
 * Call frame information: start and end of functions, and the programs that
 * describe how to unwind them.  Implements .eh_frame and .eh_frame_hdr (LSB
 * Core 5.0, "Exception Frames") and .debug_frame (DWARF 5 §6.4.1).  The
 * programs are returned as bytes.
 *
 * All input is untrusted: invalid entries are treated as missing.
 */
#include "base/cursor.h"
#include "image/image.h"

enum cfi_kind { CFI_EH_FRAME, CFI_DEBUG_FRAME, CFI_KINDS };

/* A section, and the bases of its pointers. */
struct cfi_section {
	struct span data;
	uint64_t vaddr;		/* address of data.p[0] */
	uint64_t text, got;	/* DW_EH_PE_textrel, DW_EH_PE_datarel */
	enum cfi_kind kind;
	bool is64;
};

/* Properties shared by several functions (CIE). */
struct cfi_cie {
	uint64_t at;		/* offset in the section */
	uint64_t code_align, ra_reg;
	int64_t data_align;
	uint64_t personality;	/* 0: none */
	struct span program;	/* initial instructions */
	uint8_t version, addr_size;
	uint8_t fde_encoding, lsda_encoding;	/* DW_EH_PE_* */
	bool sized;		/* FDEs contain the length of their augmentation */
	bool signal;		/* signal frame made by the kernel, not by a call */
};

/* A function, or a part of one (FDE). */
struct cfi_fde {
	uint64_t at;		/* offset in the section */
	uint64_t start, size;
	uint64_t lsda;		/* 0: none */
	struct span program;
};

/* Opens a section of call frame information.  Returns false if the image has no
 * such section. */
bool cfi_open(struct image *img, enum cfi_kind kind, struct cfi_section *out);

/* Reads the entry at *at and moves *at after it.  Returns CFI_END after the
 * last entry; CFI_CIE or CFI_FDE is the kind that was read, an FDE with its
 * CIE.  `cie` must be the same variable, initially zero, throughout a walk, so
 * that a CIE is read only once. */
enum cfi_entry { CFI_END, CFI_CIE, CFI_FDE, CFI_SKIPPED };
enum cfi_entry cfi_next(const struct cfi_section *s, uint64_t *at,
			struct cfi_cie *cie, struct cfi_fde *fde);

/* Reads a pointer in a DW_EH_PE_* encoding; `func` is the base of funcrel.  For
 * indirect pointers the result is the address of the pointer.  Returns false if
 * the encoding is unknown or "omitted", or if the bytes end. */
bool cfi_pointer(const struct cfi_section *s, struct cursor *c,
		 uint8_t encoding, uint64_t func, uint64_t *out);

typedef bool cfi_fde_cb(void *ctx, const struct cfi_cie *cie,
			const struct cfi_fde *fde);
/* Calls cb for functions that contain an address in [lo, hi) until cb returns
 * false: those of .debug_frame first, each section sorted by start.  May
 * include functions outside the range (many in a hostile file: count them).
 * Returns false if out of memory. */
typedef bool cfi_in_cb(void *ctx, const struct cfi_section *s,
		       const struct cfi_cie *cie, const struct cfi_fde *fde);
bool image_fdes_in(struct image *img, uint64_t lo, uint64_t hi, cfi_in_cb *cb,
		   void *ctx);

/* Finds the function that covers vaddr.  Uses .eh_frame_hdr if present,
 * otherwise an index built once, and .debug_frame if .eh_frame has no such
 * function.  `s` receives the section of the CIE and FDE.  Returns false if
 * there is none or if out of memory. */
bool image_find_fde(struct image *img, uint64_t vaddr, struct cfi_section *s,
		    struct cfi_cie *cie, struct cfi_fde *fde);

#endif
