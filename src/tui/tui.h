/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_TUI_H
#define TALLY_TUI_TUI_H
/*
 * Interactive view of a recording: the table of functions, their callers and
 * callees, and the cost of their lines and instructions.  The views compute
 * what is shown when it is shown.  Opening costs as much as a report, and a key
 * costs as much as its screen.
 */
#include "tui/screen.h"
#include "views/annotate/annotate.h"
#include "views/report.h"

/*
 * What happens outside of the view while it is shown: a newer recording, which differs
 * from the one that is shown only in its symbols.  It replaces that one while the table
 * is in front, because other pages show details of the older one.
 */
struct tui_news {
	int fd;			/* readable when there is something to take */
	/* The first screen is drawn.  Returns false if nothing will happen. */
	bool (*start)(void *ctx);
	/* Takes what there is.  `line` becomes what goes on ("" if nothing does),
	 * and `message` what the user should read, as safe text.  Returns false after
	 * the end. */
	bool (*take)(void *ctx, struct buf *line, struct buf *message);
	/* Returns whether there is a newer recording than the one that is shown. */
	bool (*has_newer)(void *ctx);
	/* Returns it, and appends to `message` what is new in it. */
	struct reader *(*newer)(void *ctx, struct buf *message);
	/* That recording is shown now, and the one before is not used any more. */
	void (*shown)(void *ctx, struct reader *r);
	void *ctx;
};

struct tui_options {
	const char *file;	/* name of the open file, for the title */
	/* keys, samples and functions; limits and `top` are not used */
	struct report_spec report;
	struct annotate_spec annotate;	/* source paths and syntax */
	bool full_names;
	const struct tui_news *news;	/* NULL: none */
	const char *notice;	/* safe text to show at first, or NULL */
};

/* Runs the interactive view.  Returns when the user leaves. */
int tui_run(struct reader *r, const struct tui_options *o,
	    const struct screen *screen, struct error *err);

#endif
