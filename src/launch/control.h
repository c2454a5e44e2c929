/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_CONTROL_H
#define TALLY_LAUNCH_CONTROL_H
/*
 * Commands to a running recorder, in the protocol of perf-record(1)'s --control.
 * Each is a line from a FIFO or a descriptor.  Each executed command is answered with
 * "ack\n" if there is a second FIFO or descriptor.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum control_command {
	CONTROL_NONE,		/* no complete line available */
	CONTROL_UNKNOWN,	/* unknown command, in `line` */
	CONTROL_ENABLE,		/* sampling on; `name`: only this event */
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,	/* switch to the next file */
	CONTROL_EVLIST,		/* list the events' names */
	CONTROL_PING,		/* only answer */
	CONTROL_STOP,		/* end the recording */
	/* For a recorder that takes over from another one (continuous.h); `name` is
	 * a time of CLOCK_MONOTONIC, ns: */
	CONTROL_FROM,		/* leave out earlier samples */
	CONTROL_UNTIL,		/* leave out later samples, and end then */
};

struct control {
	int fd, ack_fd;		/* -1: none */
	bool ours;		/* the descriptors must be closed by control_close */
	char bytes[512];	/* bytes of an incomplete line */
	size_t n;
	char line[512];		/* last command, unchanged */
	const char *name;	/* name of the command's event, or "" */
};

/* Opens the control channel.  spec: "fifo:PATH[,ACK-PATH]" or "fd:N[,ACK-N]". */
int control_open(struct control *c, const char *spec, struct error *err);
void control_close(struct control *c);
/* Returns the next available command without waiting. */
enum control_command control_next(struct control *c);
/* Answers "ack\n", after `text` if there is any. */
void control_ack(struct control *c, const char *text);

#endif
