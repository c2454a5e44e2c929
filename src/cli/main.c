// SPDX-License-Identifier: GPL-2.0-or-later
/* The main program: finds the command, parses its options, runs it, and turns the
 * result into an exit status. */
#include "config.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/at_files.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/guard.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/terminal.h"
#include "base/text.h"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_MEMORY = 4 };

/* The message and status of all commands when memory runs out.  `err` names the
 * purpose of the memory, or is NULL. */
static int complain_of_memory(const struct error *err)
{
	const char *what = err && err->code == ERR_NOMEM ? err->msg : "";
	struct buf safe = { 0 };

	text_safe(&safe, what);
	if (!*what || !strcmp(what, "out of memory") || safe.failed)
		fputs("tally: out of memory\n", stderr);
	else if (strstr(what, "out of memory"))
		fprintf(stderr, "tally: %s\n", buf_cstr(&safe));
	else
		fprintf(stderr, "tally: out of memory: %s\n", buf_cstr(&safe));
	buf_fini(&safe);
	return STATUS_NO_MEMORY;
}

static int complain(const struct error *err)
{
	struct buf safe = { 0 };

	if (err->code == ERR_NOMEM || memory_ran_out())
		return complain_of_memory(err);
	text_safe(&safe, err->msg);
	fprintf(stderr, "tally: %s\n", buf_cstr(&safe));
	buf_fini(&safe);
	return err->code == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

static void print(struct terminal *t, struct buf *text)
{
	fwrite(text->p, 1, text->n, t->io.out);
	buf_fini(text);
}

static int print_help(struct terminal *t, const struct command *cmd)
{
	struct buf text = { 0 };

	if (cmd)
		options_help(cmd, &text);
	else
		commands_help(&text);
	print(t, &text);
	return 0;
}

static int run_command(struct terminal *t, const struct command *cmd, int argc,
		       char **argv)
{
	void *opts = calloc(1, cmd->opts_size ? cmd->opts_size : 1);
	struct error err = { 0 };
	struct at_files files = { { 0 }, { 0 } };
	bool help = false;
	int rest, rc = 0;

	if (!opts) {
		error_nomem(&err);
		return complain(&err);
	}
	if (cmd->defaults)
		memcpy(opts, cmd->defaults, cmd->opts_size);
	if (cmd->at_files) {
		rc = at_files_expand(&files, argc, argv, &err);
		argc = (int)files.argv.n;
		argv = files.argv.v;
	}
	if (rc >= 0 && !cmd->at_files) {
		rc = config_expand(&files, cmd, argc, argv, &err);
		if (rc >= 0 && files.argv.n) {
			argc = (int)files.argv.n;
			argv = files.argv.v;
		}
	}
	if (rc >= 0)
		rc = options_parse(cmd, opts, argc, argv, &rest, &help, &err);
	if (rc >= 0 && help)
		rc = print_help(t, cmd);
	else if (rc >= 0)
		rc = cmd->run(&t->io, opts, argc - rest, argv + rest, &err);
	t->io.progress(&t->io, NULL);
	if (rc < 0)
		rc = complain(&err);
	options_release(cmd, opts);
	at_files_fini(&files);
	free(opts);
	return rc;
}

static int help_command(struct terminal *t, const char *name)
{
	struct error err = { 0 };
	const struct command *cmd = NULL;

	if (name) {
		cmd = command_find(name, &err);
		if (!cmd)
			return complain(&err);
	}
	return print_help(t, cmd);
}

/* Returns whether tally was called by a link with the name of a tool that it
 * replaces, for programs that call the tool by path. */
static bool called_as(const char *argv0, const char *tool)
{
	size_t n = argv0 ? strlen(argv0) : 0, m = strlen(tool);

	return n >= m && !strcmp(argv0 + n - m, tool);
}

static int dispatch(struct terminal *t, int argc, char **argv)
{
	struct error err = { 0 };
	const struct command *cmd;

	if (called_as(argv[0], "addr2line"))
		return run_command(t, &cmd_addr2line, argc, argv);
	if (argc < 2) {
		struct buf text = { 0 };

		commands_help(&text);
		fwrite(text.p, 1, text.n, stderr);
		buf_fini(&text);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		fprintf(t->io.out, "tally %s\n", PACKAGE_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help(t, NULL);
	if (!strcmp(argv[1], "help"))
		return help_command(t, argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--complete")) {
		struct buf text = { 0 };

		complete(argv + 2, (size_t)argc - 2, &text);
		print(t, &text);
		return 0;
	}
	if (argv[1][0] == '-') {
		error_set(&err, ERR_USAGE,
			  "options must follow a command: tally COMMAND %s; "
			  "'tally --help' lists commands", argv[1]);
		return complain(&err);
	}
	cmd = command_find(argv[1], &err);
	if (!cmd)
		return complain(&err);
	return run_command(t, cmd, argc - 1, argv + 1);
}

enum { STACK_ROOM = 512 << 10, STACK_LEAST = 2 * STACK_ROOM };

static void __attribute__((noinline)) grow_stack(void)
{
	volatile char room[STACK_ROOM];

	room[0] = 0;
	(void)room[0];
}

/* Threads otherwise get as much as the limit was when tally started. */
static void set_thread_stacks(void)
{
	pthread_attr_t a;

	if (pthread_attr_init(&a))
		return;
	if (!pthread_attr_setstacksize(&a, STACK_LEAST))
		pthread_setattr_default_np(&a);
	pthread_attr_destroy(&a);
}

/* Lets the stack grow while there is room.  If it had to grow when the address space
 * is at its limit (ulimit -v), the kernel would end the process without a message.
 * Where the stack's own limit is small, it is raised only for this, because commands
 * started by tally keep it.  Returns false if it is too small and cannot be raised. */
static bool reserve_stack(void)
{
	struct rlimit before, enough;

	if (getrlimit(RLIMIT_STACK, &before))
		return true;
	if (before.rlim_cur >= STACK_LEAST) {
		grow_stack();
		return true;
	}
	enough = (struct rlimit){ STACK_LEAST, before.rlim_max };
	if (before.rlim_max < STACK_LEAST || setrlimit(RLIMIT_STACK, &enough)) {
		fprintf(stderr, "tally: the limit of the stack is %llu KB, and tally "
			"needs %d KB: ulimit -s %d\n",
			(unsigned long long)before.rlim_max >> 10, STACK_LEAST >> 10,
			STACK_LEAST >> 10);
		return false;
	}
	grow_stack();
	set_thread_stacks();
	setrlimit(RLIMIT_STACK, &before);
	return true;
}

/* Gives large blocks back to the system as soon as they are freed.  By default glibc keeps
 * up to 64 MB once a block of 32 MB was freed, as symbols of large files need them.
 * Smaller blocks, like those that records pass through each second, are kept. */
static void limit_free_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	enum { LARGE = 256 << 10, KEPT = 4 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

int main(int argc, char **argv)
{
	struct terminal t;
	int status, error;

	if (!reserve_stack())
		return STATUS_FAILED;
	limit_free_memory();
	guard_install();
	memory_watch(screen_is_busy, screen_restore, STATUS_NO_MEMORY);
	terminal_init(&t);
	t.io.no_memory = memory_ran_out;
	status = dispatch(&t, argc, argv);
	error = terminal_fini(&t);
	/* a command that continued without memory did not do all its work */
	if (memory_ran_out() && status != STATUS_NO_MEMORY)
		return complain_of_memory(NULL);
	if (error && !status) {
		fprintf(stderr, "tally: cannot write output: %s\n",
			strerror(error));
		return STATUS_FAILED;
	}
	return status;
}
