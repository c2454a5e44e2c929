/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_DURATION_H
#define TALLY_BASE_DURATION_H
/* Lengths of time and sizes as users write them: "500ms", "0.5s", "1.5", "2m",
 * "1h"; "4096B", "64K", "10M", "1G". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first n bytes of text: a decimal number (no sign, no exponent) and one of
 * ns, us, ms, s, m, min, h, or no unit: *bare is then set and the number is
 * given as it is.  False when they are anything else.
 */
bool duration_parse(const char *text, size_t n, double *seconds, bool *bare);

/* A whole number above 0 and one of B, K, M, G (of 1024); without its unit a number
 * could be a time, too.  False when it is anything else. */
bool size_parse(const char *text, uint64_t *bytes);

#endif
