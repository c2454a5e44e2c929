// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles child processes.  They have the shared memory, but none of the timers.
 * (Children of vfork use no time of their own before they execute another program.) */
#include <pty.h>
#include <unistd.h>

#include "preload/preload.h"

static void *next_fork, *next__Fork, *next_forkpty, *next_daemon;

struct parent parent_now(void)
{
	struct parent p = { 0, 0, 0 };

	if (preload.active && !preload.careful) {
		preload_numbers(&p.pid, &p.tid);
		p.thread = sys_tid();
	}
	return p;
}

static pid_t fork_by(pid_t (*next)(void))
{
	struct parent p = parent_now();
	pid_t r = next();

	if (!r)
		preload_child(p.pid, p.tid, p.thread);
	return r;
}

EXPORT pid_t fork(void)
{
	return fork_by(next_function(&next_fork, "fork"));
}

EXPORT pid_t _Fork(void)
{
	return fork_by(next_function(&next__Fork, "_Fork"));
}

EXPORT int forkpty(int *terminal, char *name, const struct termios *t,
		   const struct winsize *w)
{
	int (*next)(int *, char *, const struct termios *,
		    const struct winsize *) =
		next_function(&next_forkpty, "forkpty");
	struct parent p = parent_now();
	int r = next(terminal, name, t, w);

	if (!r)
		preload_child(p.pid, p.tid, p.thread);
	return r;
}

EXPORT int daemon(int nochdir, int noclose)
{
	int (*next)(int, int) = next_function(&next_daemon, "daemon");
	struct parent p = parent_now();
	int r = next(nochdir, noclose);

	if (p.pid && sys_pid() != preload.pid)
		preload_child(p.pid, p.tid, p.thread);
	return r;
}
