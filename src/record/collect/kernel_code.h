/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_KERNEL_CODE_H
#define TALLY_RECORD_COLLECT_KERNEL_CODE_H
/*
 * Code that the kernel generates while it runs: BPF programs, trampolines of
 * ftrace, slots of kprobes.  It comes and goes, and its addresses are used
 * again: each piece is an image of its own, which knows its only symbol.
 */
#include "record/collect/kernel_maps.h"
#include "record/source/source.h"

/* A record of such code.  0 or -ERR_NOMEM. */
int kernel_code_record(struct kernel_maps *k, struct images *im,
		       const struct record_ksymbol *s, uint32_t *generation);
/* The BPF programs that are loaded already, as far as we may see them.  0 or
 * -ERR_NOMEM. */
int kernel_code_scan(struct kernel_maps *k, struct images *im,
		     uint32_t *generation);
/* fill_options.generated; ctx is struct images.  The name of the code of an
 * image and its size, or NULL. */
const char *kernel_code_name(const struct images *im, uint32_t row,
			     uint64_t *size);

#endif
