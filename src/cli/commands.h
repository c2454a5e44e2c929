/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_COMMANDS_H
#define TALLY_CLI_COMMANDS_H
/* The table of commands.  To add one: a file in src/cmd, a row here. */
#include "base/buf.h"
#include "cmd/command.h"

/* By name, or NULL and a message that offers the nearest. */
const struct command *command_find(const char *name, struct error *err);
/* Each in its turn, then NULL. */
const struct command *command_at(size_t i);
/* The text of `tally --help`. */
void commands_help(struct buf *out);

#endif
