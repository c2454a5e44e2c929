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
#include "record/source/options.h"

/* When to continue the recording in another file. */
struct record_switch {
	bool on;
	bool by_signal;		/* on SIGUSR2; control's "snapshot" always works */
	uint64_t bytes;		/* size of a file; 0: any */
	uint64_t every_ns;	/* interval; 0: none */
	uint64_t table_bytes;	/* memory of a file's tables, as in
				 * collector_table_bytes; 0: any */
	uint64_t max_files;	/* number of files kept, older ones are removed; 0:
				 * keep all */
};

struct source_type;

struct record_label {
	const char *name, *value;
};

/* The maximum sampling rate that the kernel allows. */
#define RECORD_RATE_MAX UINT64_MAX

struct record_options {
	const char *output;
	bool force;		/* also replace a file that is not a recording */
	char *const *command;		/* NULL-terminated, or NULL */
	/* "NAME=VALUE" added to the command's environment, or NULL.  If it makes
	 * programs name their code in /tmp/perf-PID.map, the command's files of that
	 * kind are removed afterwards. */
	const char *setting;
	const char *pids, *tids, *cpus;	/* "1,2" and "0-3,8", or NULL */
	const char *cgroup;		/* path, or NULL */
	const char *vmlinux;		/* path of the kernel's file, or NULL */
	/* Files whose source lines are stored in the recording; NULL: none. */
	const struct source_access *embed_source;
	const char *debug_dirs;		/* as in sym_options */
	bool all_cpus, inherit, callchain;
	bool descendants;	/* as in target_options */
	bool user_only, kernel_only, symbols;
	bool identified_later;	/* as in symbolize_options */
	const struct symbol_cache *symbol_cache;	/* as in sym_options */
	const struct event_list *events;	/* empty: the default event */
	const struct source_type *source;	/* row of choose/sources.h; NULL:
						 * auto */
	bool waits;		/* also record where threads wait */
	bool each_wait;		/* with waits: sample all of them, at any cost */
	bool latency;		/* with waits: also record wall-clock time */
	bool python;		/* the command or processes are Python programs, and
				 * only their time is requested */
	const char *language;	/* language of which that is true: "Python" …;
				 * NULL: none */
	/* With callchain: unwind by tables from stack copies, instead of frame
	 * pointers.  copy_bytes is the size of a copy (SOURCE_COPY_*), or 0 to let tally
	 * choose. */
	bool copy_stacks;
	uint32_t copy_bytes;
	bool verify_stacks;
	uint64_t freq, period;		/* rate in Hz; period, 0: use freq */
	bool default_rate;		/* the user named no rate */
	/* Wake rarely, for recordings without end.  Programs that are deleted within a
	 * second or two may have no symbols, and outer frames of stacks deeper than
	 * their copies are more often missing. */
	bool calm;
	bool hold;	/* leave samples out until control says "from" */
	uint64_t repeat;
	double duration, delay;		/* seconds; 0: none; negative delay: until
					 * control switches sampling on */
	const char *control;	/* see control.h; or NULL */
	struct record_switch rotate;
	uint64_t max_bytes;	/* size of the file, without names, that ends the
				 * recording; 0: any */
	const char *version;		/* tally's version */
	const char *arguments;		/* tally's own command line */
	const struct record_label *labels;	/* stored in the recording */
	size_t nlabels;
	/* Shows a line that the user should know; may be NULL. */
	void (*notice)(void *ctx, const char *text);
	/* Shows the current activity on a terminal.  NULL text: none; may be NULL. */
	void (*progress)(void *ctx, const char *text);
	void *ctx;
};

struct record_result {
	int wait_status;	/* status of the command's last run; 0 without a
				 * command */
	int exec_status;	/* 127 or 126 if the command could not be run; else 0 */
	int stop_signal;	/* signal that ended the recording, or 0 */
	uint64_t samples, lost, throttled, late, damaged;
	uint64_t interpreted;	/* samples with frames of an interpreter */
	uint64_t bytes;		/* size of the last file */
	uint64_t files;		/* number of files if the recording was switched,
				 * or 0 */
	char last[4096];	/* name of the last file in that case */
	uint64_t runs;
};

/* Records.  Returns 0 or an error.  After an error the file, if it was begun, is
 * complete up to what was written. */
int record(const struct record_options *o, struct record_result *out,
	   struct error *err);

#endif
