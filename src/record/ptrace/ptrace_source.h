/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_SOURCE_H
#define TALLY_RECORD_PTRACE_PTRACE_SOURCE_H
/*
 * Samples by ptrace(2), where no kernel source may be used: threads that run are
 * interrupted at the wanted rate, their registers and stacks read, and let go.
 *
 * A process of ours traces; it and the recorder share a ring.  When either dies,
 * the kernel lets all go unharmed.  What runs in the kernel stops when it leaves
 * it: samples of system calls are known as such (record_sample.in_kernel), those
 * of faults and interrupts lie where they broke in.
 */
#include "record/source/source_type.h"

extern const struct source_type ptrace_source_type;

#endif
