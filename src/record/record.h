/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_RECORD_H
#define TALLY_RECORD_RECORD_H
/*
 * The recorder: runs or attaches to programs, and writes a profile.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events/events.h"

enum record_source {
	RECORD_SOURCE_AUTO,
	RECORD_SOURCE_PERF,
	RECORD_SOURCE_KMOD,
	RECORD_SOURCE_TIMER,
	RECORD_SOURCE_PTRACE,
};

/* What copy_bytes may be: the kernel's limit. */
enum { RECORD_COPY_MIN = 1024, RECORD_COPY_MAX = 65528 };

struct record_options {
	const char *output;
	char *const *command;		/* NULL-terminated, or NULL */
	const char *pids, *tids, *cpus;	/* "1,2" and "0-3,8", or NULL */
	const char *cgroup;		/* path, or NULL */
	const char *vmlinux;		/* the kernel's file, or NULL */
	bool embed_source;		/* source lines go into the file */
	const char *debug_dirs;		/* as in sym_options */
	bool all_cpus, inherit, callchain;
	bool user_only, kernel_only, symbols;
	const struct event_list *events;	/* empty: the default event */
	enum record_source source;
	/* With callchain: not by frame pointers, but by unwind tables from
	 * copies of the stack, of so many bytes or as we think fit (0). */
	bool copy_stacks;
	uint32_t copy_bytes;
	uint64_t freq, period;		/* period 0: freq */
	uint64_t repeat;
	double duration, delay;		/* seconds; 0: none */
	const char *version;		/* of tally */
	const char *arguments;		/* tally's own command line */
	/* One line that the user should know; may be NULL. */
	void (*notice)(void *ctx, const char *text);
	/* What is being done now, for a terminal; NULL text: nothing; may be
	 * NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
};

struct record_result {
	int wait_status;	/* of the command's last run; 0 without */
	int exec_status;	/* 127, 126: it could not be run; else 0 */
	int stop_signal;	/* signal that ended the recording, or 0 */
	uint64_t samples, lost, throttled, late, damaged;
	uint64_t bytes;		/* of the file */
	uint64_t runs;
};

/* 0 or an error.  After an error the file, if it was begun, is whole up to what
 * was written. */
int record(const struct record_options *o, struct record_result *out,
	   struct error *err);

/* Appends argv as a shell would need it. */
struct buf;
void shell_quote(struct buf *out, char *const argv[]);

#endif
