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

struct tui_options {
	const char *file;	/* name of the open file, for the title */
	/* keys, samples and functions; limits and `top` are not used */
	struct report_spec report;
	struct annotate_spec annotate;	/* source paths and syntax */
	bool full_names;
};

/* Runs the interactive view.  Returns when the user leaves. */
int tui_run(struct reader *r, const struct tui_options *o,
	    const struct screen *screen, struct error *err);

#endif
