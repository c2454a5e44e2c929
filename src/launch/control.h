/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_CONTROL_H
#define TALLY_LAUNCH_CONTROL_H
/*
 * Commands to a running recorder, by the protocol of perf-record(1)'s --control:
 * a line for each, from a FIFO or a descriptor; what was done is answered by
 * "ack\n" where there is a second one.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum control_command {
	CONTROL_NONE,		/* no whole line is there */
	CONTROL_UNKNOWN,	/* `line` says what it was */
	CONTROL_ENABLE,		/* sampling on; `name`: of this event only */
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,	/* the next file */
	CONTROL_EVLIST,		/* the events' names */
	CONTROL_PING,		/* nothing but the answer */
	CONTROL_STOP,		/* end the recording */
};

struct control {
	int fd, ack_fd;		/* -1: none */
	bool ours;		/* to be closed by us */
	char bytes[512];	/* read, and not yet a whole line */
	size_t n;
	char line[512];		/* the last command, as it came */
	const char *name;	/* of the event it names, or "" */
};

/* spec: "fifo:PATH[,ACK-PATH]" or "fd:N[,ACK-N]". */
int control_open(struct control *c, const char *spec, struct error *err);
void control_close(struct control *c);
/* The next command that is there; never waits. */
enum control_command control_next(struct control *c);
/* Answers "ack\n", behind `text` if there is one. */
void control_ack(struct control *c, const char *text);

#endif
