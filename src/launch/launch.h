/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_LAUNCH_H
#define TALLY_LAUNCH_LAUNCH_H
/*
 * The command to record: forked first, so that its events can be opened, and
 * let go when they are.  It keeps our input, output, terminal and process
 * group, and gets the limits, signal mask and actions that tally was started
 * with.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/* What tally changes for itself and the command shall have as it was. */
struct launch_state {
	sigset_t mask;
	struct sigaction xfsz, chld;
	struct rlimit files;
	int nice_value;
};

struct launch {
	pid_t pid;		/* 0: none */
	int go;			/* closing it unasked ends the child */
	int status_fd;
	int wait_status;	/* once ended */
	bool ended;
	struct rusage usage;
	/* NAME=VALUE…, NULL at the end, that it gets besides; or NULL. */
	const char *const *env;
};

int launch_prepare(struct launch *l, char *const argv[],
		   const struct launch_state *before, struct error *err);
/* Lets it run, and waits until it is executed.  0, or an error when it could not
 * be: ERR_NOTFOUND when there is no such command (127 for shells), else 126's
 * reasons. */
int launch_go(struct launch *l, const char *name, struct error *err);
/* The same in two steps: between them nothing of ours disturbs the command. */
void launch_start(struct launch *l);
int launch_started(struct launch *l, const char *name, struct error *err);
/* True when it has ended; does not wait. */
bool launch_poll(struct launch *l);
/* Waits for its end.  Kills it when it was never let go. */
void launch_end(struct launch *l);

#endif
