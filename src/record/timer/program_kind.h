/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_PROGRAM_KIND_H
#define TALLY_RECORD_TIMER_PROGRAM_KIND_H
/* What kind of program a command is. */
#include <stddef.h>

#include <stdbool.h>

#include "base/error.h"

/* 0, or an error that says why the dynamic linker of our own kind does not start
 * `name`, as execvp(3) finds it: static, of another machine or C library, with
 * rights of its own. */
int program_is_dynamic(const char *name, struct error *err);

/* Whether a command runs in a Python interpreter whose frames are known: its file,
 * or the one that its "#!" line or env(1) names, exports the interpreter or needs
 * the library that does; or it is called "python3" (what version managers put
 * there is a script).  The answer is for choosing a source: nothing relies on it. */
bool program_is_python(char *const *command);
/* Whether all of these processes ("1,2") run one, by their programs' names and files. */
bool processes_are_python(const char *pids);

/* Whether a command runs in a PHP: its file, or the one that its "#!" line or env(1)
 * names, exports the variables of one without threads. */
bool program_is_php(char *const *command);

/* Whether a command runs in a node that takes PROGRAM_NODE_OPTIONS from
 * NODE_OPTIONS (https://nodejs.org/api/cli.html): its file, or the one that its "#!"
 * line or env(1) names, is called so and knows them, as from node 12 on. */
#define PROGRAM_NODE_OPTIONS "--perf-basic-prof --interpreted-frames-native-stack"
bool program_is_node(char *const *command);

/* Whether a command runs in an Erlang that takes PROGRAM_ERLANG_FLAGS from ERL_FLAGS
 * (erl(1)): its program, or the one that its "#!" line or env(1) names, is one of
 * Erlang's or Elixir's, and all emulators of the erl in PATH know them, as from
 * OTP 24 on where they compile code. */
#define PROGRAM_ERLANG_FLAGS "+JPperf true"
bool program_is_erlang(char *const *command);

#endif
