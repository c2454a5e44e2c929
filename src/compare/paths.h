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

#include "profile/model.h"

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

/* Numbers the source files that the frames of an old and a new profile are in.  A
 * number is the file's path in `str`; an old file that is paired has the path of its
 * counterpart.  file_of[side], by string of the profile, is 0 for other strings; the
 * caller frees both in any case.  Returns 0 or -ERR_NOMEM. */
int files_pair(struct strtab *str, const struct profile *const p[2],
	       uint32_t *file_of[2]);

#endif
