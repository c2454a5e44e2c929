/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_REFUSED_H
#define TALLY_RECORD_PTRACE_PTRACE_REFUSED_H
/* Explains why a process may not be traced, and names the smallest fix. */
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Returns kernel.yama.ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), or -1 if
 * there is none. */
int ptrace_scope(void);
/* Sets an error for PTRACE_SEIZE of `tid` that failed with errnum.  `ours`: `tid` is
 * a child of the recorder. */
int ptrace_refused(int errnum, pid_t tid, bool ours, struct error *err);

#endif
