/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_LIST_METRICS_H
#define TALLY_CMD_LIST_METRICS_H
#include "cmd/command.h"

/* Shows metrics when `argv` asks for them: "metrics" with words that choose, or
 * their names; 0 when it does not. */
int list_metrics(struct cmd_io *io, int argc, char **argv, bool json);

#endif
