/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_ABI_H
#define TALLY_RECORD_PERF_PERF_ABI_H
/* Definitions that older <linux/perf_event.h> lack.  Values: Linux's include/uapi. */
#include <linux/perf_event.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#define PERF_FORMAT_LOST (1U << 4)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 9, 0)
#define PERF_RECORD_KSYMBOL_TYPE_OOL 2
#endif

/* Size up to config2 and the fields that tally sets.  A larger attr with trailing
 * zeros would also work, but old kernels accept this size directly. */
#define PERF_ATTR_SIZE_TALLY PERF_ATTR_SIZE_VER5

#endif
