/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_HUGEPAGE_TEXT_H
#define TALLY_RECORD_COLLECT_HUGEPAGE_TEXT_H
/*
 * Programs that copy their own code onto huge pages.  The kernel then reports memory
 * without a file where the code was.  As long as that memory equals the file's
 * contents, it still counts as that file's code; any other memory does not.
 * (Unmapping is never reported, so an old mapping alone proves nothing.)
 */
#include "record/collect/images.h"

enum { HUGEPAGE_TEXT_PIECES = 8 };

/* Finds the parts of `m`, a new mapping without a known file, that hold code mapped
 * there before.  Returns their number. */
int hugepage_text_find(const struct images *im, const struct map_owner *who,
		       const struct map *m,
		       struct map pieces[HUGEPAGE_TEXT_PIECES]);
/* Does the same for a process seen for the first time: the gap between two parts of a
 * file may hold the missing part. */
int hugepage_text_find_between(const struct images *im,
			       const struct map_owner *who, size_t at,
			       struct map pieces[HUGEPAGE_TEXT_PIECES]);

#endif
