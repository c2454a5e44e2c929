/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_DURATION_H
#define TALLY_BASE_DURATION_H
/* Parses times and sizes as users write them: "500ms", "0.5s", "1.5", "2m",
 * "1h"; "4096B", "64K", "10M", "1G". */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses the first n bytes of text: a decimal number (no sign, no exponent)
 * with an optional unit ns, us, ms, s, m, min or h.  Without a unit, sets *bare
 * and returns the number unchanged.  Returns false for anything else.
 */
bool duration_parse(const char *text, size_t n, double *seconds, bool *bare);

/* Parses a whole number above 0 with a unit B, K, M or G (powers of 1024).  The
 * unit is required, because a bare number could be a time.  Returns false for
 * anything else. */
bool size_parse(const char *text, uint64_t *bytes);

#endif
