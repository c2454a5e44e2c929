/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_RECORD_CONTINUOUS_H
#define TALLY_CMD_RECORD_CONTINUOUS_H
/* The options of `tally record` for continuous recording, and its start. */
#include "cmd/command.h"
#include "cmd/push.h"
#include "record/record.h"

#define CONTINUOUS_DIR "/var/lib/tally"

enum { CONTINUOUS_RATE = 49 };	/* default sampling rate, Hz */

struct continuous_opts {
	bool on;
	const char *push, *config;
	double keep_age, renew;
	uint64_t keep_size, keep_free, keep_symbols, switch_memory;
	struct cmd_push_opts send;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * continuous_opts called `name`. */
#define CONTINUOUS_OPTION_ROWS(type, name) \
	OPT_TITLE("Recording without end"), \
	{ OPT_FLAG, 0, "continuous", NULL, offsetof(type, name.on), \
	  "Record until a signal arrives, at 49 Hz with call stacks, into " \
	  "files of ten minutes each (with --push: one minute) in the folder " \
	  "that -o names (default: " CONTINUOUS_DIR "). For -a, -p, -t and " \
	  "--cgroup." }, \
	{ OPT_UINT, 0, "switch-memory", "BYTES", \
	  offsetof(type, name.switch_memory), \
	  "Also begin a new file when the stacks, addresses and programs of " \
	  "the current one take this much memory. Default: 6M; 0: no " \
	  "limit." }, \
	{ OPT_UNIT, 0, "keep-age", "TIME", offsetof(type, name.keep_age), \
	  "Remove finished files that are older than this. Default: 24h." }, \
	{ OPT_UINT, 0, "keep-size", "BYTES", offsetof(type, name.keep_size), \
	  "Remove the oldest finished files when the size of all of them " \
	  "exceeds this. Default: 1G." }, \
	{ OPT_UINT, 0, "keep-free", "BYTES", offsetof(type, name.keep_free), \
	  "Remove the oldest finished files when the disk has less free " \
	  "space than this; pause sampling when none is left. Default: 1G." }, \
	{ OPT_UINT, 0, "keep-symbols", "BYTES", \
	  offsetof(type, name.keep_symbols), \
	  "Keep up to this size of functions and lines of programs in the " \
	  "folder \"symbols\", so that they are read once, not for each " \
	  "file. Default: 128M; 0: none." }, \
	{ OPT_UNIT, 0, "renew", "TIME", offsetof(type, name.renew), \
	  "Start a new recording process after this time, so that memory " \
	  "stays bounded. Default: 1h." }, \
	{ OPT_STR, 0, "config", "FILE", offsetof(type, name.config), \
	  "Read options from FILE, one per line: \"freq = 19\", " \
	  "\"all-cpus\". Must be the first option; later ones override the " \
	  "file." }, \
	{ OPT_STR, 0, "push", "URL", offsetof(type, name.push), \
	  "Send finished files to URL, as \"tally push\" does. Implies " \
	  "--continuous." }, \
	CMD_PUSH_WINDOW_ROW(type, name.send), \
	CMD_PUSH_SYMBOLS_ROW(type, name.send), \
	CMD_PUSH_SEND_ROWS(type, name.send)

#define CONTINUOUS_DEFAULTS { \
	.send = CMD_PUSH_DEFAULTS, .keep_age = 24 * 3600, \
	.keep_size = 1ull << 30, .keep_free = 1ull << 30, \
	.keep_symbols = 128 << 20, .switch_memory = 6 << 20, .renew = 3600 }

static inline bool continuous_asked(const struct continuous_opts *o)
{
	return o->on || o->push;
}

/* Refuses options that another recording would ignore. */
int continuous_check_unused(const struct continuous_opts *o, struct error *err);
/* Runs a continuous recording.  `dir` is the value of -o, or NULL. ro->rotate
 * holds the limits of --switch-output. */
int continuous_record(struct cmd_io *io, const struct continuous_opts *o,
		      const struct record_options *ro, const char *dir,
		      struct error *err);

#endif
