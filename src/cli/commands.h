/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_COMMANDS_H
#define TALLY_CLI_COMMANDS_H
/* The table of commands.  To add one, add a file in src/cmd and a row here. */
#include "base/buf.h"
#include "cmd/command.h"

/* Finds a command by name.  Returns NULL and a message with the nearest name if
 * there is none. */
const struct command *command_find(const char *name, struct error *err);
/* Returns the i-th command, NULL after the last. */
const struct command *command_at(size_t i);
/* Appends the text of `tally --help`. */
void commands_help(struct buf *out);

#endif
