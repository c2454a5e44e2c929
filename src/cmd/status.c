// SPDX-License-Identifier: GPL-2.0-or-later
/* Exit statuses of recorded commands, and notices to the user. */
#include "cmd/status.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"

/*
 * If a signal ended the command, tally ends by the same signal, so that a shell's
 * loop stops at Ctrl-C. A signal that leaves a core file would cause a second one.
 * For these, tally exits with 128 + signal, which is what a shell shows for them
 * anyway.
 */
int cmd_pass_status(struct cmd_io *io, int status)
{
	int signo;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return 0;
	signo = WTERMSIG(status);
	/* Like a shell, does not report signals that usually end programs. */
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

void cmd_notice(const struct cmd_io *io, const char *fmt, ...)
{
	struct buf safe = { 0 };
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;		/* the command ends with a message about that */
	text_safe(&safe, text);
	fprintf(io->err, "tally: %s\n", buf_cstr(&safe));
	fflush(io->err);
	buf_fini(&safe);
	free(text);
}

void cmd_notice_lines(const struct cmd_io *io, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		cmd_notice(io, "%.*s", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

void cmd_message(void *ctx, const char *text)
{
	const struct cmd_messages *m = ctx;

	if (!m->quiet)
		cmd_notice(m->io, "%s", text);
}
