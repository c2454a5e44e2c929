/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_LAUNCH_H
#define TALLY_LAUNCH_LAUNCH_H
/*
 * The command to record.  It is forked first, so that its events can be opened, and
 * released when they are.  It keeps tally's input, output, terminal and process
 * group.  It gets the limits, signal mask and signal actions that tally was started
 * with.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/* State that tally changes for itself and restores for the command. */
struct launch_state {
	sigset_t mask;
	struct sigaction xfsz, chld;
	struct rlimit files;
	int nice_value;
};

struct launch {
	pid_t pid;		/* 0: none */
	int go;			/* descriptor whose closing, without a release, ends
				 * the child */
	int status_fd;
	int wait_status;	/* valid once it has ended */
	bool ended;
	struct rusage usage;
	uint64_t written;	/* bytes that it and its children passed to write
				 * calls, to any file; valid once it has ended */
	bool written_known;
	/* NAME=VALUE strings added to its environment, ended by NULL; or NULL. */
	const char *const *env;
};

/* Forks the command's process, which waits until it is released, and then gets the state
 * `before`. */
int launch_prepare(struct launch *l, char *const argv[],
		   const struct launch_state *before, struct error *err);
/* Releases the child and waits until it has executed the command.  Returns 0, or an
 * error if that failed: ERR_NOTFOUND if there is no such command (127 in shells),
 * otherwise the reasons for 126. */
int launch_go(struct launch *l, const char *name, struct error *err);
/* Do the same in two steps.  Between them, tally does not disturb the command. */
void launch_start(struct launch *l);
int launch_started(struct launch *l, const char *name, struct error *err);
/* Returns whether it has ended, without waiting. */
bool launch_poll(struct launch *l);
/* Waits for its end.  Kills it if it was never released. */
void launch_end(struct launch *l);

#endif
