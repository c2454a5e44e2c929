/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SIDE_PROCESS_H
#define TALLY_CMD_SIDE_PROCESS_H
/*
 * A forked process that does a part of a command's work and sends messages about
 * it.  The command goes on, shows them, and may end the process at any time,
 * whatever it waits for.  The process sees the command's data as they were at the
 * start.  It has no terminal: its standard streams are /dev/null.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct side {
	pid_t pid;		/* 0: none, and the rest has no meaning */
	int fd;			/* readable when there is a message, or the end */
};

enum { SIDE_MESSAGE_MAX = 4096 };

/* Does the work and sends messages to `fd`.  SIGINT is blocked.  When it is pending, the
 * process should end: it was asked to, or the command has ended. */
typedef void side_work(void *ctx, int fd);

int side_start(struct side *s, side_work *work, void *ctx, struct error *err);
/* In the process: sends a message of at most SIDE_MESSAGE_MAX bytes, and a
 * descriptor unless `pass` is -1.  With `drop`, it does not wait for room, and the
 * message may be lost.  Returns false if the command is gone. */
bool side_send(int fd, const void *message, size_t n, int pass, bool drop);
/* Waits up to `ms` for a message.  Returns its size, 0 if there is none yet, or -1 if
 * the process has ended.  Sets *pass to the descriptor that came with it, or -1. */
int side_take(struct side *s, void *message, size_t most, int *pass, int ms);
/* Asks the process to end soon. */
void side_ask_end(const struct side *s);
/* Waits up to `ms` for the process, then kills it.  Messages that were not taken are
 * lost.  Returns its wait status, or 0 if there is none. */
int side_end(struct side *s, int ms);

#endif
