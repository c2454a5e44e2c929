// SPDX-License-Identifier: GPL-2.0-or-later
/* Exit statuses of recorded commands, and notices to the user. */
#include "cmd/status.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"

/*
 * A command that a signal ended ends us by the same signal, so that a shell's
 * loop stops at Ctrl-C; one that left a core file would get a second one, so
 * those become 128 + signal, which is what a shell shows for them anyway.
 */
int cmd_pass_status(struct cmd_io *io, int status)
{
	int signo;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return 0;
	signo = WTERMSIG(status);
	/* As a shell does: not of signals that end programs in the usual way. */
	if (signo != SIGINT && signo != SIGTERM && signo != SIGHUP &&
	    signo != SIGPIPE)
		fprintf(io->err, "tally: the command was ended by signal %d "
			"(%s)\n", signo, strsignal(signo));
	fflush(io->err);
	fflush(io->out);
	if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	return 128 + signo;
}

void cmd_notice(struct cmd_io *io, const char *text)
{
	struct buf b = { 0 };

	text_safe(&b, text);
	fprintf(io->err, "tally: %s\n", buf_cstr(&b));
	fflush(io->err);
	buf_fini(&b);
}
