/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_PATHS_H
#define TALLY_COMPARE_PATHS_H
/*
 * Pairs the source files of two builds in different places.  Files with the same
 * path on both sides are the caller's; the others are paired by the longest
 * common end of their paths, which includes at least the last component.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct side_path {
	uint32_t id;		/* the caller's number of the file */
	uint8_t side;		/* 0 or 1 */
	const char *path;
	bool paired;
	uint32_t pair;		/* if paired, the id of the other side's file */
};

/* Pairs paths that are on one side only; sorts `v`.  Returns 0 or
 * -ERR_NOMEM. */
int paths_pair(struct side_path *v, size_t n);

#endif
