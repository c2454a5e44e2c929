// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands: see commands.h. */
#include "cli/commands.h"

#include <string.h>

#include "base/nearest.h"
#include "base/vec.h"
#include "cli/perf_options.h"

/* In the order of use: record and view, compare, count, then commands that support
 * these, and tools for single questions. */
static const struct command *const commands[] = {
	&cmd_record,	&cmd_report,	&cmd_annotate,	&cmd_flamegraph, &cmd_export,
	&cmd_push,	&cmd_status,
	&cmd_diff,	&cmd_merge,	&cmd_check,	&cmd_history,	&cmd_stat,
	&cmd_doctor,	&cmd_list,	&cmd_info,	&cmd_symbolize,
	&cmd_import,	&cmd_dump,	&cmd_addr2line,	&cmd_encode,
};
enum { COMMANDS = COUNT(commands) };

const struct command *command_at(size_t i)
{
	return i < COMMANDS ? commands[i] : NULL;
}

const struct command *command_find(const char *name, struct error *err)
{
	struct nearest near = nearest_to(name);
	const char *best;

	for (int i = 0; i < COMMANDS; i++) {
		if (!strcmp(name, commands[i]->name))
			return commands[i];
		nearest_try(&near, commands[i]->name);
	}
	best = perf_command_hint(name);
	if (best) {
		error_set(err, ERR_USAGE,
			  "no command '%s'; tally equivalent: %s",
			  name, best);
		return NULL;
	}
	nearest_try(&near, "help");
	best = nearest_best(&near);
	if (best)
		error_set(err, ERR_USAGE,
			  "no command '%s'; did you mean '%s'?", name, best);
	else
		error_set(err, ERR_USAGE,
			  "no command '%s'; 'tally --help' lists them", name);
	return NULL;
}

void commands_help(struct buf *out)
{
	buf_str(out,
		"Usage: tally COMMAND [options] …\n"
		"\n"
		"A statistical sampling profiler: shows where programs spend "
		"their time.\n"
		"\n"
		"  tally record -g -- PROGRAM…   run a program and record it\n"
		"  tally report                  see where its time went\n"
		"\n"
		"Commands:\n");
	for (int i = 0; i < COMMANDS; i++)
		buf_printf(out, "  %-11s %s\n", commands[i]->name,
			   commands[i]->summary);
	buf_str(out, "  help        show the options of a command: tally help "
		     "COMMAND\n"
		     "\n"
		     "  -h, --help  Show this text.\n"
		     "  --version   Show the version.\n");
}
