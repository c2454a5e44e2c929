/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_COLLECTOR_H
#define TALLY_RECORD_COLLECT_COLLECTOR_H
/*
 * Turns a source's records into the profile: which threads ran, where, how often.  It
 * does not depend on how or when the records were made.
 */
#include "base/strtab.h"
#include "profile/symbolize_profile.h"
#include "profile/writer.h"
#include "record/collect/cgroups.h"
#include "record/collect/images.h"
#include "record/collect/held_samples.h"
#include "record/collect/jit_lines.h"
#include "record/collect/kernel_maps.h"
#include "record/waits/latency.h"
#include "record/collect/image_closer.h"
#include "record/waits/polled_waits.h"
#include "record/collect/python_live.h"
#include "record/collect/processes.h"
#include "record/source/source.h"
#include "record/collect/stacks.h"
#include "record/collect/thread_names.h"
#include "record/collect/unwinder.h"
#include "record/waits/waits.h"

/* State for turning waits into samples: collect_waits.h. */
struct wait_samples {
	bool on;
	bool polls;		/* stacks come from polls, not from samples */
	bool python;		/* stacks come from both, because some processes run
				 * Python */
	bool queues;		/* records of wakeups are missing: read how long
				 * threads waited for a CPU */
	bool paces;		/* the source pauses them if there are too many waits */
	bool ends;		/* the source reports run times, and that threads left
				 * their CPU for good */
	uint64_t begun_ns, paused_ns;	/* time from which waits count; time from which
					 * the source paused, or 0 */
	/* Waits in the tenth of a second from part_ns on, and the most in any. */
	uint64_t part_ns, part_n, most_n;
	uint64_t queues_second_ns, queues_read;	/* number of readings since
						 * queues_second_ns */
	bool alone;		/* new threads are not recorded */
	bool polled;		/* no switch records: use polled_waits */
	bool polling;		/* polled waits count now */
	uint64_t next_poll_ns, poll_took_ns, rounds;
	uint64_t next_stolen_ns;	/* time of the next read of the host's stolen
					 * time */
	uint32_t blocked, runnable;	/* events */
	uint32_t waking, latency;	/* events, or SOURCE_NONE */
	/* Kinds of the stacks of waits: stack << 16 | kind, and stack << 16 with the
	 * number of polls that count. */
	struct u64map kinds;
	uint64_t kinds_wanted_ns;	/* end of the last wait whose kind a poll could
					 * have found */
	uint64_t gap_ns;	/* time without a running thread before the current
				 * switch-in */
	uint64_t latency_ns;		/* total written so far */
	/* Waits shorter than this many ns are thinned: one of several is written,
	 * with this weight.  0: all are written. */
	uint64_t thinning_ns, random;
	uint64_t second_ns, written;	/* number of waits written since second_ns */
	uint64_t most;			/* maximum number of waits written per second */
	uint32_t next_poll;		/* row of waits.threads */
	uint64_t blocked_ns[WAIT_FOUND_KINDS], runnable_ns;	/* totals written so
								 * far */
	uint64_t waking_ns;
	uint64_t n;
	uint64_t blocked_n, sampled_n;	/* blocked waits, and those with a sample */
};

/* Samples, lost ones included, that belong to another recorder. */
struct left_out {
	uint64_t n, weight;
};

struct collector {
	struct profile *profile;
	struct writer *writer;		/* NULL: samples are only counted */
	struct images images;
	struct kernel_maps kernel;
	struct processes processes;
	struct stacks stacks;
	struct unwinder unwinder;
	struct image_closer closer;
	uint32_t run;			/* prof_run of the current records */
	uint32_t nevents;		/* number of rows in profile.events */
	bool live;	/* PROC describes processes that no record announced */
	bool pid_ns;	/* tally is in its own pid namespace */
	const char *proc, *sysfs;
	VEC(uint64_t) self_samples;		/* number of samples by innermost
						 * location */
	VEC(uint64_t) got;		/* number of samples by event */
	uint64_t from_ns, until_ns;	/* samples outside are left out; until_ns 0:
					 * no end */
	VEC(struct left_out) left_out;	/* by event */
	struct held_samples held;
	struct jit_follow jit;
	/* Rows of threads by thread, asyncio task and control group, and the names of
	 * tasks. */
	struct thread_names thread_names;
	struct u64map task_rows, task_names;
	struct cgroups cgroups;
	struct waits waits;
	struct polled_waits polled_waits;
	struct python_live python_live;
	struct latency latency;
	struct wait_samples wait_samples;
	struct strtab wait_tasks;	/* names of asyncio tasks that waited */
	uint64_t samples, lost, throttled;
	uint64_t ignored;		/* number of invalid records */
	uint64_t execs;			/* number of programs started */
	bool calm;			/* keep pages of files for longer */
	bool forked;	/* collector_forked was called */
	int statm;	/* of this process; 0: not opened yet, -1: failed */
	uint64_t released_ns;		/* time at which pages of files were last
					 * released */
	uint64_t gaps;			/* number of lost records of mappings and
					 * processes */
	uint32_t closed;		/* number of programs whose mappings may not
					 * be read */
	uint32_t closed_pid;		/* pid of the first of them */
};

/* Initialises `c`. proc and sysfs are normally "/proc" and "/sys" and must outlive
 * it. */
int collector_init(struct collector *c, struct profile *p, const char *proc,
		   const char *sysfs, struct error *err);
void collector_fini(struct collector *c);

/* Starts a run and forgets the processes of the previous one. */
void collector_new_run(struct collector *c, uint32_t run);
/* Adds a process that exists already: threads, names, mappings. */
int collector_scan(struct collector *c, uint32_t pid, struct error *err);
int collector_scan_all(struct collector *c, struct error *err);

/* Forgets the rows of threads by asyncio task. */
void collector_forget_tasks(struct collector *c);
/* Looks at the files in which programs name their code.  Call it before the records of a
 * round are taken.  Returns 0 or -ERR_NOMEM. */
int collector_round(struct collector *c, struct error *err);
/* Takes a record.  This is a record_cb; ctx is struct collector. */
int collector_record(void *ctx, const struct record *r, struct error *err);
/* Shows one line, which the next call replaces.  NULL text: no line. */
typedef void collector_progress(void *ctx, const char *text);
/* Finds the names of all locations in the files that were opened.  No stack can be
 * unwound afterwards.  The function itself sets the callbacks, self_samples and
 * code_budget of `o`; `progress` may be NULL. */
int collector_symbolize(struct collector *c, const struct symbolize_options *o,
			collector_progress *progress, void *ctx,
			struct error *err);
/* Returns about how much memory the current file's data takes: profile_table_bytes, the
 * names of closed files, and held samples. */
uint64_t collector_table_bytes(const struct collector *c);
/* In a child of the recorder that ends a file: collector_symbolize frees nothing from here
 * on, because that would copy pages that both have.  Large tables that it does not need
 * are unmapped, so that changes in the recorder copy nothing. */
void collector_forked(struct collector *c);
/* Begins another file of the same recording: the profile's tables begin anew with the
 * environment, runs and events.  All samples are written.  Open waits keep their stacks
 * if profile_keep_nodes was not called. */
int collector_next_file(struct collector *c, struct error *err);

/* Does idle work between two batches of records: forgets processes that ended long
 * ago, closes files that nothing maps any more, and looks for new kernel modules. */
int collector_idle(struct collector *c, uint64_t now_ns, struct error *err);

/* samples.c: writes samples. */

/* Sets *out to the process with its mappings. */
int collector_process(struct collector *c, uint32_t pid, struct process **out,
		      struct error *err);
/* Returns the stack of a sample and sets its innermost location. */
uint32_t collector_stack(struct collector *c, struct process *proc,
			 const struct record *r, uint32_t *loc);
/* What a sample says beyond the columns of struct prof_sample. */
struct sample_extra {
	const char *task;	/* asyncio task, or "" */
	uint64_t cgroup;	/* ID, or 0: as before */
	uint32_t count;		/* as in record_sample, but not 0 */
	uint64_t first_ns;
};
/* Writes a sample of a thread.  `s` holds its stack, weight, time, CPU and event;
 * `loc` is its innermost location. */
int collector_write_extra(struct collector *c, uint32_t pid, uint32_t tid,
			  const struct sample_extra *of, struct prof_sample *s,
			  uint32_t loc, struct error *err);
/* The same for one sample without a task, in the thread's last control group. */
int collector_write(struct collector *c, uint32_t pid, uint32_t tid,
		    struct prof_sample *s, uint32_t loc, struct error *err);
/* Returns whether samples of this time belong to another recorder. */
static inline bool collector_leaves_out(const struct collector *c, uint64_t time_ns)
{
	return time_ns < c->from_ns || (c->until_ns && time_ns >= c->until_ns);
}
/* Counts n such samples, lost ones included.  Returns 0 or -ERR_NOMEM. */
int collector_leave_out(struct collector *c, uint32_t event, uint64_t n, uint64_t weight);
/* Writes the samples that were held for code descriptions of programs.  Call it
 * before the file ends. */
int collector_release(struct collector *c, struct error *err);

static inline int collector_nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory while recording");
}

#endif
