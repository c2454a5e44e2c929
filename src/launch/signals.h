/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_SIGNALS_H
#define TALLY_LAUNCH_SIGNALS_H
/*
 * Signals and limits of a process that watches a command.  Ctrl-C reaches the command
 * as well as tally, so tally waits for the command's reaction.  A signal that asks to
 * end, sent only to tally, is passed on.  Other signals, such as SIGUSR1, are ignored:
 * programs send them to their whole process group, which tally belongs to.
 */
#include <sys/signalfd.h>

#include "launch/launch.h"

/* Raises the file limit to the hard limit, because each CPU, thread and event takes a
 * file.  Also makes a write beyond the file size limit an error instead of a fatal
 * signal. */
void limits_raise(struct launch_state *before);
/* Adds the signals that would end tally, but have a meaning only for programs that
 * expect them. */
void signals_add_foreign(sigset_t *set);
/* Delivers SIGCHLD and the signals that would end tally through *fd from now on. */
int signals_catch(struct launch_state *before, int *fd, struct error *err);
void signals_release(const struct launch_state *before, int fd);
/* Ends a command that outlives a time limit or an error, by SIGTERM, and waits for
 * it.  If the command ignores SIGTERM, you can end it with Ctrl-C, which is read from
 * fd. */
void signals_end_command(struct launch *l, int fd);
/* Returns whether a signal asks tally to end.  One that the command sent to its process
 * group does not; `command`: process ID, or 0 if there is none. */
bool signal_ends(const struct signalfd_siginfo *si, pid_t command);
/* Returns whether such a signal was sent to tally but not to the command. */
bool signal_is_ours(const struct signalfd_siginfo *si);

#endif
