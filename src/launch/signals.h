/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_SIGNALS_H
#define TALLY_LAUNCH_SIGNALS_H
/*
 * Signals and limits of a process that watches a command.  Ctrl-C reaches the
 * command as it reaches us: we wait for what it does with it.  A signal that was
 * sent to us alone is passed on.
 */
#include <sys/signalfd.h>

#include "launch/launch.h"

/* As many files as the hard limit allows: each CPU, thread and event takes one.
 * And a file that may not grow is an error, not our death. */
void limits_raise(struct launch_state *before);
/* Signals that end us, and SIGCHLD, are read from *fd from now on. */
int signals_catch(struct launch_state *before, int *fd, struct error *err);
void signals_release(const struct launch_state *before, int fd);
/* The command outlives the work when a time limit or an error ended that: asks it
 * to end, and waits.  What does not listen to SIGTERM can be ended with Ctrl-C,
 * read from fd. */
void signals_end_command(struct launch *l, int fd);
/* Was it sent to us, but not to the command? */
bool signal_is_ours(const struct signalfd_siginfo *si);

#endif
