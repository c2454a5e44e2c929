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
#include "profile/source_access.h"

/* When the recording goes on in another file. */
struct record_switch {
	bool on;
	bool by_signal;		/* SIGUSR2; and always: control's "snapshot" */
	uint64_t bytes;		/* of a file; 0: any */
	uint64_t every_ns;	/* 0: never */
	uint64_t max_files;	/* older ones are removed; 0: none */
};

struct source_type;

/* As many samples a second as the kernel allows. */
#define RECORD_RATE_MAX UINT64_MAX

/* What copy_bytes may be: the kernel's limit. */
enum { RECORD_COPY_MIN = 1024, RECORD_COPY_MAX = 65528 };

struct record_options {
	const char *output;
	bool force;		/* also where a file is that is no recording */
	char *const *command;		/* NULL-terminated, or NULL */
	/* "NAME=VALUE", which the command gets besides; or NULL: nothing.  One that has
	 * programs name their code in /tmp/perf-PID.map: those files of ours are
	 * removed again. */
	const char *setting;
	const char *pids, *tids, *cpus;	/* "1,2" and "0-3,8", or NULL */
	const char *cgroup;		/* path, or NULL */
	const char *vmlinux;		/* the kernel's file, or NULL */
	/* Files whose lines go into the recording; NULL: none. */
	const struct source_access *embed_source;
	const char *debug_dirs;		/* as in sym_options */
	bool all_cpus, inherit, callchain;
	bool user_only, kernel_only, symbols;
	const struct event_list *events;	/* empty: the default event */
	const struct source_type *source;	/* of choose/sources.h; NULL: auto */
	bool waits;		/* where threads wait, too */
	bool latency;		/* with waits: wall-clock time, too */
	bool python;		/* the command or the processes are Python
				 * programs, and nothing but their time is
				 * asked for */
	const char *language;	/* "Python": of which that is true; or "PHP"; NULL: none */
	/* With callchain: not by frame pointers, but by unwind tables from
	 * copies of the stack, of so many bytes or as we think fit (0). */
	bool copy_stacks;
	uint32_t copy_bytes;
	bool verify_stacks;
	uint64_t freq, period;		/* period 0: freq */
	bool default_rate;		/* the user named none */
	uint64_t repeat;
	double duration, delay;		/* seconds; 0: none; delay below 0: until
					 * control switches sampling on */
	const char *control;	/* see control.h; or NULL */
	struct record_switch rotate;
	uint64_t max_bytes;	/* of the file, without names: then it ends; 0:
				 * any */
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
	uint64_t bytes;		/* of the last file */
	uint64_t files;		/* of a recording that was switched, or 0 */
	char last[4096];	/* the last file's name then */
	uint64_t runs;
};

/* 0 or an error.  After an error the file, if it was begun, is whole up to what
 * was written. */
int record(const struct record_options *o, struct record_result *out,
	   struct error *err);

#endif
