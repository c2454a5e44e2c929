/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_STATUS_H
#define TALLY_CMD_STATUS_H
#include "cmd/command.h"

/* Returns tally's exit status after a command that ended with this wait status. */
int cmd_pass_status(struct cmd_io *io, int wait_status);
/* Prints a line for the user, "tally: TEXT", as safe text. */
void cmd_notice(const struct cmd_io *io, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for each line of a text. */
void cmd_notice_lines(const struct cmd_io *io, const char *lines);
/* The same as a callback, unless messages are off; ctx is a struct cmd_messages. */
struct cmd_messages {
	struct cmd_io *io;
	bool quiet;
};
void cmd_message(void *ctx, const char *text);

#endif
