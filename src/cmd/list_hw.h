/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_LIST_HW_H
#define TALLY_CMD_LIST_HW_H
/* `tally list` of the processors in events/hw.h: all events of one, or one event
 * with everything that is known about it. */
#include "cmd/command.h"

/* Shows what argv asks for; 0 when it asks for nothing of these processors, 1
 * when it was shown. */
int list_hw(struct cmd_io *io, int argc, char **argv, bool json,
	    struct error *err);

#endif
