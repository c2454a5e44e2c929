/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_SWAP_H
#define TALLY_IMPORT_PERF_SWAP_H
/*
 * Brings what a machine of the other byte order wrote into this one's, in place:
 * the kernel's records by their kinds, samples by what their event asked for.
 * What tally does not read (the bytes of raw data, copies of stacks, records of
 * kinds without use) stays as it is.  Never reads or writes outside of [p, p + n).
 */
#include "import/perf_file.h"

/* An event's description of n bytes. */
void perf_swap_attr(uint8_t *p, size_t n);
/* A record with its header; f's events are known. */
void perf_swap_record(const struct perf_file *f, uint8_t *p, size_t n);

#endif
