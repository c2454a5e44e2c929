/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_KERNEL_CODE_H
#define TALLY_RECORD_COLLECT_KERNEL_CODE_H
/*
 * Code that the kernel generates at run time: BPF programs, trampolines of ftrace,
 * slots of kprobes.  It comes and goes, and its addresses are reused.  Each piece is
 * therefore an image of its own with a single symbol.
 */
#include "record/collect/kernel_maps.h"
#include "record/source/source.h"

/* Handles a record of such code.  Returns 0 or -ERR_NOMEM. */
int kernel_code_record(struct kernel_maps *k, struct images *im,
		       const struct record_ksymbol *s, uint32_t *generation);
/* Adds the BPF programs that are already loaded and visible to tally.  Returns 0 or
 * -ERR_NOMEM. */
int kernel_code_scan(struct kernel_maps *k, struct images *im,
		     uint32_t *generation);
/* Returns the name of the code of an image and sets its size, or returns NULL.
 * Implements symbolize_options.generated; ctx is struct images. */
const char *kernel_code_name(const struct images *im, uint32_t row,
			     uint64_t *size);

#endif
