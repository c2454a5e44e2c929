/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_PAGE_H
#define TALLY_CMD_PAGE_H
/* Writes pages and pictures, which do not belong on a terminal. */
#include "cmd/command.h"
#include "views/html/html.h"

/* Writes to `path`, or to io->out if it is NULL. If io->out is a terminal, writes
 * to a file called `name` instead and tells the user. */
int cmd_output_or_name(struct cmd_io *io, const char *path, const char *name,
		       const struct buf *text, struct error *err);
/* Parses a --width in pixels; UINT64_MAX: it is not given. */
int cmd_picture_width(uint64_t asked, unsigned int *out, struct error *err);
/* Writes the HTML page of a report, with hints for images without symbols.  Sets
 * style->missing. */
int cmd_page(struct cmd_io *io, const char *path, const char *name,
	     struct reader *r, struct report *rep,
	     const struct annotate_spec *like, struct html_style *style,
	     struct error *err);
/* diff.c: writes the page of `tally diff --html -o OUTPUT` about the recordings of two
 * sides, the old one first. */
int cmd_diff_page(struct cmd_io *io, const struct opt_strs side[2],
		  const char *output, struct error *err);

#endif
