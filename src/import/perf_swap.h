/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_SWAP_H
#define TALLY_IMPORT_PERF_SWAP_H
/*
 * Converts data of the other byte order to this machine's, in place: the kernel's
 * records by their types, samples by their event's description.  Data that tally
 * does not read stays unchanged (raw data, copies of stacks, unused records).  Never
 * reads or writes outside of [p, p + n).
 */
#include "import/perf_file.h"

/* Converts an event's description of n bytes. */
void perf_swap_attr(uint8_t *p, size_t n);
/* Converts a record with its header. f's events must be known. */
void perf_swap_record(const struct perf_file *f, uint8_t *p, size_t n);

#endif
