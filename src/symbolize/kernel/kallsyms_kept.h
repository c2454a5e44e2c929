/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KALLSYMS_KEPT_H
#define TALLY_SYMBOLIZE_KERNEL_KALLSYMS_KEPT_H
/*
 * Keeps the text of /proc/kallsyms for processes that need it again and again,
 * because the kernel takes long to generate it.  It is in memory with a descriptor
 * but no path (memfd_create(2)), which only forked processes have, so no other process can
 * change it.  Several of them may use it at once.
 *
 * The text is used while the modules and their addresses are the same
 * (/proc/modules).  Code that the kernel generates comes and goes without a trace
 * there: the caller must learn of it in another way (RECORD_KSYMBOL).
 */
#include "symbolize/kernel/kallsyms.h"

/* Returns a descriptor above 2, or -1. */
int kallsyms_keep(void);
/* Like kallsyms_open_some for `path` (offsets NULL: kallsyms_open for all symbols), with
 * the text in `kept` if `modules` (the file /proc/modules) is as it was; otherwise reads
 * the text and keeps it. */
int kallsyms_open_kept(int kept, const char *path, const char *modules,
		       const uint64_t *offsets, size_t n, struct kallsyms **out,
		       struct error *err);

#endif
