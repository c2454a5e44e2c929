/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_TUI_H
#define TALLY_TUI_TUI_H
/*
 * A recording to look around in: the table of functions, their callers and
 * callees, and what their lines and instructions cost.  What is shown is made by
 * the views, where and when somebody looks: opening costs what a report costs,
 * and a key what is on the screen.
 */
#include "tui/screen.h"
#include "views/annotate/annotate.h"
#include "views/report.h"

struct tui_options {
	const char *file;	/* what is open, for the title */
	/* keys, samples, functions; limits and `top` are not used */
	struct report_spec report;
	struct annotate_spec annotate;	/* sources and syntax */
	bool full_names;
};

/* Returns when the user leaves. */
int tui_run(struct reader *r, const struct tui_options *o,
	    const struct screen *screen, struct error *err);

#endif
