/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_LATE_VIEW_H
#define TALLY_CMD_LATE_VIEW_H
/*
 * Names that come while the interactive view is shown (late_names.h).  One process
 * requests files; others look up and store the names of what has come, so that the view
 * always answers keys.  The first file is stored at once, because it is that of the image
 * with the most samples; later ones wait until storing takes a tenth of the time.
 */
#include "cmd/late_names.h"
#include "tui/tui.h"

struct late_view {
	struct late_names *late;	/* borrowed; late->r is shown at first */
	uint64_t max_memory;		/* as for reader_open */
	struct tui_news news;		/* for tui_options */
	struct reader *shown, *newer;	/* `newer` is not shown yet, or NULL */
	struct old_names old;		/* names in `shown` */
	int events;			/* epoll descriptor of the processes */
	struct side storer;		/* pid 0: nothing is being stored */
	size_t storing, stored;		/* of late->here, how many are */
	uint64_t begun_ns, next_ns;	/* of storing: its start, the next one */
	struct error failed;		/* why nothing is stored any more */
};

/* Set the borrowed fields before.  Call late_view_fini in any case. */
int late_view_init(struct late_view *v, struct error *err);
/* After the view: ends the requests, and stores what came.  Errors are those of
 * storing. */
int late_view_finish(struct late_view *v, struct error *err);
void late_view_fini(struct late_view *v);

#endif
