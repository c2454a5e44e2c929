/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_PAGE_H
#define TALLY_CMD_PAGE_H
/* Writing pages and pictures: nobody wants them on a terminal. */
#include "cmd/command.h"
#include "views/html/html.h"

/* Writes to `path`; where that is NULL to io->out, or, if a person looks at it,
 * to a file called `name`, which is told. */
int cmd_output_or_name(struct cmd_io *io, const char *path, const char *name,
		       const struct buf *text, struct error *err);
/* What lines and instructions of the dearest functions cost, as a page wants
 * it; `like` has syntax and source maps, or is NULL. */
int cmd_page_lines(struct reader *r, const struct report *rep,
		   const struct annotate_spec *like, struct annotation **out,
		   struct error *err);
/* The HTML page of a report, with what would help the images that lack names.
 * style->missing is set here. */
int cmd_page(struct cmd_io *io, const char *path, const char *name,
	     struct reader *r, struct report *rep,
	     const struct annotate_spec *like, struct html_style *style,
	     struct error *err);

#endif
