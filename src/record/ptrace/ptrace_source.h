/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_SOURCE_H
#define TALLY_RECORD_PTRACE_PTRACE_SOURCE_H
/*
 * Samples by ptrace(2), for systems where no kernel source is permitted.  Running
 * threads are interrupted at the sampling rate, their registers and stacks are read,
 * and they are resumed.
 *
 * A process of tally traces; it shares a ring with the recorder.  When either dies,
 * the kernel releases all threads unharmed.  A thread in the kernel stops when it
 * leaves the kernel.  Samples of system calls are therefore marked
 * (record_sample.in_kernel); samples of faults and interrupts appear at the
 * interrupted instruction.
 */
#include "record/source/source_type.h"

extern const struct source_type ptrace_source_type;

#endif
