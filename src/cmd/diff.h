/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_DIFF_H
#define TALLY_CMD_DIFF_H
#include "cmd/command.h"

/* Writes the page of `tally diff --html -o OUTPUT` about the recordings of two sides,
 * the old one first. */
int cmd_diff_page(struct cmd_io *io, const struct opt_strs side[2],
		  const char *output, struct error *err);

#endif
