/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_HTML_HTML_DIFF_H
#define TALLY_VIEWS_HTML_HTML_DIFF_H
#include "views/annotate/annotate.h"
#include "views/diff/diff.h"

/*
 * Writes a diff as the page of html.h: the functions with their changes, a
 * differential flame graph, and source and instructions of both sides.  The
 * diff's keys must be image and symbol only.  `like` supplies syntax and source
 * maps, and may be NULL.
 */
int html_diff(struct diff *d, const struct annotate_spec *like,
	      struct buf *source_notes, struct buf *out, struct error *err);

#endif
