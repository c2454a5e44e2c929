/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_HUGEPAGE_TEXT_H
#define TALLY_RECORD_COLLECT_HUGEPAGE_TEXT_H
/*
 * Programs that copy their own code onto huge pages: the kernel then tells of
 * memory without a file where the code was.  As long as that memory holds what
 * the file holds, it is still that file's code; what differs is somebody else's
 * (unmapping is never told, so an old mapping alone proves nothing).
 */
#include "record/collect/images.h"

enum { HUGEPAGE_TEXT_PIECES = 8 };

/* Which parts of `m`, a new mapping that shows no known file, are code that was
 * mapped there before.  Their number. */
int hugepage_text_find(const struct images *im, const struct map_owner *who,
		       const struct map *m,
		       struct map pieces[HUGEPAGE_TEXT_PIECES]);
/* The same for a process that is seen for the first time: what lies between
 * parts of a file may be the part that is missing there. */
int hugepage_text_find_between(const struct images *im,
			       const struct map_owner *who, size_t at,
			       struct map pieces[HUGEPAGE_TEXT_PIECES]);

#endif
