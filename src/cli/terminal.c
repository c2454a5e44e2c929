// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects the terminal's abilities and runs the pager: see terminal.h. */
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/screen.h"

enum { PROGRESS_STEP_NS = 100000000, COLUMNS_MIN = 40 };

static int terminal_columns(int fd)
{
	struct winsize ws;
	const char *env = getenv("COLUMNS");
	int n = 0;

	if (ioctl(fd, TIOCGWINSZ, &ws) == 0)
		n = ws.ws_col;
	if (n <= 0 && env)
		n = atoi(env);
	if (n <= 0)
		n = 80;
	return n < COLUMNS_MIN ? COLUMNS_MIN : n;
}

/* https://no-color.org; some terminals can only print. */
static bool wants_color(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

static void show_progress(struct cmd_io *io, const char *text)
{
	struct terminal *t = (struct terminal *)io;
	uint64_t now;

	if (!io->err_tty || (!text && !t->line))
		return;
	now = clock_now();
	if (text && t->line && now - t->shown_ns < PROGRESS_STEP_NS)
		return;
	fprintf(io->err, "\r\033[K%.*s", terminal_columns(STDERR_FILENO) - 1,
		text ? text : "");
	fflush(io->err);
	t->shown_ns = now;
	t->line = text != NULL;
}

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name);
		if (access(file, X_OK) == 0)
			return true;
		path += n;
		path += *path == ':';
	}
	return false;
}

/* Returns whether a shell would find the command, or true if only a shell can
 * tell. */
static bool can_run(const char *cmd)
{
	size_t n = strcspn(cmd, " \t");
	char name[4096];

	if (n >= sizeof(name) || strcspn(cmd, "=$~()'\"`\\;|&<>{") < n)
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)n, cmd);
	return strchr(name, '/') ? access(name, X_OK) == 0 : in_path(name);
}

/* Returns the user's pager, or NULL if none is wanted or found, or the terminal
 * cannot show one: less would ask for a key first.  A report is then shown without a
 * pager. */
static const char *pager_command(void)
{
	const char *cmd = getenv("TALLY_PAGER");

	if (!cmd && screen_only_prints())
		return NULL;
	if (!cmd)
		cmd = getenv("PAGER");
	if (!cmd)
		return in_path("less") ? "less" : NULL;
	cmd += strspn(cmd, " \t");
	return *cmd && strcmp(cmd, "cat") != 0 && can_run(cmd) ? cmd : NULL;
}

static void run_pager(const char *cmd, const int fds[2])
{
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	close(fds[1]);
	setenv("LESS", "FRXd", 0);
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	_exit(127);
}

static void start_pager(struct cmd_io *io)
{
	struct terminal *t = (struct terminal *)io;
	const char *cmd = pager_command();
	int fds[2];
	FILE *out;

	if (!io->out_tty || t->pager || !cmd || pipe2(fds, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	t->pager = fork();
	if (t->pager == 0)
		run_pager(cmd, fds);
	close(fds[0]);
	out = t->pager > 0 ? fdopen(fds[1], "w") : NULL;
	if (!out) {
		close(fds[1]);
		if (t->pager > 0)
			waitpid(t->pager, NULL, 0);
		t->pager = 0;
		return;
	}
	io->out = out;
	/* Ctrl-C is for the pager.  If tally exited now, the pager would lose its
	 * parent on the terminal. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static int open_screen(struct cmd_io *io, struct screen *out,
		       struct error *err)
{
	show_progress(io, NULL);
	fflush(io->out);
	return screen_open(io->color, out, err);
}

static void close_screen(struct cmd_io *io)
{
	(void)io;
	screen_close();
}

void terminal_init(struct terminal *t)
{
	*t = (struct terminal){ .pager = 0 };
	t->io.out = stdout;
	t->io.err = stderr;
	t->io.out_tty = isatty(STDOUT_FILENO);
	t->io.err_tty = isatty(STDERR_FILENO);
	t->io.color = t->io.out_tty && wants_color();
	t->io.columns = t->io.out_tty ? terminal_columns(STDOUT_FILENO) : 0;
	t->io.progress = show_progress;
	t->io.start_pager = start_pager;
	t->io.no_screen = screen_lacks();
	t->io.open_screen = open_screen;
	t->io.close_screen = close_screen;
}

/* Determines after a failed write whether a pipe lost its reader or a disk is
 * full. */
static bool reader_gone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

int terminal_fini(struct terminal *t)
{
	int error = 0;

	show_progress(&t->io, NULL);
	errno = 0;
	if (fflush(t->io.out) != 0)
		error = errno;
	else if (ferror(t->io.out) && !reader_gone(fileno(t->io.out)))
		error = EIO;
	if (t->pager) {
		fclose(t->io.out);
		while (waitpid(t->pager, NULL, 0) < 0 && errno == EINTR)
			;
		t->pager = 0;
	}
	return error == EPIPE ? 0 : error;
}
