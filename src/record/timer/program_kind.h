/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_PROGRAM_KIND_H
#define TALLY_RECORD_TIMER_PROGRAM_KIND_H
/* Finds out what kind of program a command is. */
#include <stddef.h>

#include <stdbool.h>

#include "base/error.h"

/* Returns 0, or an error that says why the dynamic linker of tally's own kind does
 * not start `name`, as execvp(3) finds it: it is static, for another machine or C
 * library, or has privileges of its own. */
int program_is_dynamic(const char *name, struct error *err);

/* Returns whether a command runs in a Python interpreter whose frames tally can read.
 * Its file, or the one that its "#!" line or env(1) names, must export the
 * interpreter or need the library that does.  The name "python3" is enough, too,
 * because version managers use scripts of that name.  The answer only helps to choose
 * a source. */
bool program_is_python(char *const *command);
/* Returns whether all of these processes ("1,2") run Python, by their programs' names
 * and files. */
bool processes_are_python(const char *pids);

/* Returns whether a command runs in PHP: its file, or the one that its "#!" line or
 * env(1) names, exports the variables of a PHP without threads. */
bool program_is_php(char *const *command);

/* Returns whether a command runs in Ruby: its file, or the one that its "#!" line or
 * env(1) names, runs programs by the interpreter's function for that. */
bool program_is_ruby(char *const *command);

/* Returns whether a command runs in a node that takes PROGRAM_NODE_OPTIONS from
 * NODE_OPTIONS (https://nodejs.org/api/cli.html), or starts one.  The file, or the one
 * that its "#!" line or env(1) names, must be called node and know these options, as
 * node 12 and later do.
 *
 * A command starts node if it is a shell, or one of the programs that run another
 * (timeout, nice ...), and the text or script that it runs names node or a script for
 * it (npx), also by way of other shell scripts.  The answer is no if any node named
 * there refuses these options, since it would not start, and if a script changes PATH
 * or uses nvm: which node it runs is then unknown. */
#define PROGRAM_NODE_OPTIONS "--perf-basic-prof --interpreted-frames-native-stack"
bool program_runs_node(char *const *command);

/* Returns whether a command runs in an Erlang that takes PROGRAM_ERLANG_FLAGS from
 * ERL_FLAGS (erl(1)).  Its program, or the one that its "#!" line or env(1) names,
 * must be one of Erlang's or Elixir's.  All emulators of the erl in PATH must know
 * these flags, as OTP 24 and later do where they compile code. */
#define PROGRAM_ERLANG_FLAGS "+JPperf true"
bool program_is_erlang(char *const *command);

/* Returns whether a command runs in .NET: its program, or the one that its "#!" line or
 * env(1) names, loads the library that finds the runtime, as "dotnet" and programs made
 * by "dotnet build" do. */
bool program_is_dotnet(char *const *command);

#endif
