/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_COLLECTOR_H
#define TALLY_RECORD_COLLECT_COLLECTOR_H
/*
 * Turns a source's records into the profile: who ran, where, how often.  Knows
 * neither how records were made nor when.
 */
#include "profile/symbolize_profile.h"
#include "profile/writer.h"
#include "record/collect/images.h"
#include "record/collect/held_samples.h"
#include "record/collect/kernel_maps.h"
#include "record/waits/latency.h"
#include "record/collect/let_go.h"
#include "record/waits/polled_waits.h"
#include "record/collect/python_live.h"
#include "record/collect/processes.h"
#include "record/source/source.h"
#include "record/collect/stacks.h"
#include "record/collect/unwinder.h"
#include "record/waits/waits.h"

/* How waits become samples: collect_waits.h. */
struct wait_samples {
	bool on;
	bool looks;		/* stacks are those of looks, not of samples */
	bool python;		/* … or both, as some run Python */
	bool alone;		/* new threads are not recorded */
	bool polled;		/* no record tells of switches: polled_waits */
	bool polling;		/* … and they count now */
	uint64_t next_poll_ns, poll_took_ns, rounds;
	uint64_t next_stolen_ns;	/* asks what the host took */
	uint32_t blocked, runnable;	/* events */
	uint32_t waking, latency;	/* … or SOURCE_NONE */
	uint64_t gap_ns;	/* no thread ran before the switch-in that is being
				 * looked at */
	uint64_t latency_ns;		/* told so far */
	/* Of a wait shorter than this, in ns, one of some is written, with that
	 * weight; 0: each is. */
	uint64_t thinning_ns, random;
	uint64_t second_ns, written;	/* since then */
	uint64_t most;			/* a second */
	uint32_t next_look;		/* row of waits.threads */
	uint64_t blocked_ns[WAIT_FOUND_KINDS], runnable_ns;	/* told so far */
	uint64_t waking_ns;
	uint64_t n;
};

struct collector {
	struct profile *profile;
	struct writer *writer;		/* NULL: samples are only counted */
	struct images images;
	struct kernel_maps kernel;
	struct processes processes;
	struct stacks stacks;
	struct unwinder unwinder;
	struct let_go let_go;
	uint32_t run;			/* prof_run that records belong to */
	uint32_t nevents;		/* rows of profile.events that exist */
	bool live;	/* PROC tells about processes no record spoke of */
	bool pid_ns;	/* we are in a pid namespace of our own */
	const char *proc, *sysfs;
	VEC(uint64_t) self_samples;		/* samples by innermost location */
	VEC(uint64_t) got;		/* samples by event */
	struct held_samples held;
	struct waits waits;
	struct polled_waits polled_waits;
	struct python_live python_live;
	struct latency latency;
	struct wait_samples wait_samples;
	uint64_t samples, lost, throttled;
	uint64_t ignored;		/* records that made no sense */
	uint64_t execs;			/* programs started */
	uint64_t released_ns;		/* pages of files were given back */
	uint64_t gaps;			/* records of mappings and processes
					 * that were lost */
	uint32_t closed;		/* programs whose mappings we may not
					 * read … */
	uint32_t closed_pid;		/* … and the first of them */
};

/* proc and sysfs are normally "/proc" and "/sys" and must outlive it. */
int collector_init(struct collector *c, struct profile *p, const char *proc,
		   const char *sysfs, struct error *err);
void collector_fini(struct collector *c);

/* Starts a run: processes of the one before are forgotten. */
void collector_new_run(struct collector *c, uint32_t run);
/* Takes in a process that exists already: threads, names, mappings. */
int collector_scan(struct collector *c, uint32_t pid, struct error *err);
int collector_scan_all(struct collector *c, struct error *err);

/* record_cb; ctx is struct collector. */
int collector_record(void *ctx, const struct record *r, struct error *err);
/* Whose mapping it is that a record of this time tells of. */
struct map_owner collector_owner(struct collector *c, struct process *proc,
				 uint64_t time_ns);
/*
 * Appends the names of programs that the kernel did not let us record: events
 * of a process end when it starts a program that changes its user or that it
 * may not read (Linux, begin_new_exec).  Then there is a start without any
 * mapping.  `now_ns`: the end of the recording.
 */
void collector_unrecorded(const struct collector *c, uint64_t now_ns,
			  struct buf *out);
/* Shows one line, which the next one replaces; NULL text: none. */
typedef void collector_progress(void *ctx, const char *text);
/* Names of all locations, by the files that were opened, after which nothing can be
 * walked.  Of `o` the callee sets the callbacks, self_samples and code_budget; `progress`
 * may be NULL. */
int collector_symbolize(struct collector *c, const struct fill_options *o,
			collector_progress *progress, void *ctx,
			struct error *err);
/* The stack of a sample and its innermost location. */
uint32_t collector_stack(struct collector *c, struct process *proc,
			 const struct record *r, uint32_t *loc);
/* Writes a sample of a thread, with its stack and weight, time, CPU and event; its
 * innermost location was `loc`. */
int collector_write(struct collector *c, uint32_t pid, uint32_t tid,
		    struct prof_sample *s, uint32_t loc, struct error *err);
/* Writes the samples that wait for what programs tell of their code: before the file
 * ends. */
int collector_release(struct collector *c, struct error *err);
/* The process, with its mappings. */
int collector_process(struct collector *c, uint32_t pid, struct process **out,
		      struct error *err);

/* Between two batches of records: forgets who is long gone, closes what nothing
 * maps any more, and looks for new modules of the kernel. */
int collector_idle(struct collector *c, uint64_t now_ns, struct error *err);

#endif
