/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_SOURCE_H
#define TALLY_RECORD_SOURCE_SOURCE_H
/*
 * The interface of all sources of samples.  A source delivers normalised records in
 * order of time.  Everything after it (address spaces, stacks, the file) is the same
 * for all sources: perf events (perf_source.h), the kernel module's device, timers
 * inside the program, ptrace, an imported file and a replay from memory.
 *
 * Call chains are as the source copied them: innermost first, with the kernel's part
 * and the user's part apart.  The first address of each part is where execution was;
 * the others are return addresses.  A source may copy registers and a piece of stack
 * instead (`copied`).  The unwinder then produces the user part, in collector_record:
 * see unwinder.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launch/mapping.h"
#include "unwind/unwind.h"

#define SOURCE_NONE UINT32_MAX

enum record_kind {
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_LOST,
	RECORD_THROTTLE,
	RECORD_KSYMBOL,
	RECORD_GAP,		/* `lost` records other than samples are missing; the
				 * mappings must be read from PROC again */
	RECORD_SWITCH,		/* the thread leaves its CPU or gets one */
	RECORD_SWITCH_GAP,	/* switch records are missing */
	RECORD_WAKE,		/* the thread wakes another one */
	RECORD_CGROUP,		/* a control group was made */
};

/* The user side at the sample: registers, and the stack from the stack pointer
 * upwards. */
struct record_copy {
	struct unwind_regs regs;	/* all unknown if the source got none */
	const uint8_t *bytes;		/* borrowed */
	size_t size;
	bool all;		/* no memory follows the copy */
	bool is32;		/* an i386 program */
};

/* The outer end of a stack that may be incomplete. */
struct record_end {
	uint32_t mark;		/* PROF_MARK_*, or 0 */
	uint32_t reason;	/* enum prof_end_reason */
	uint32_t image;		/* index into images.h, or UINT32_MAX */
};

static inline struct record_end record_end_of(uint32_t mark, uint32_t reason)
{
	return (struct record_end){ mark, reason, UINT32_MAX };
}

struct deep_stack;
struct mapset;

/* A copied stack after the unwinder's walk. */
struct walked_stack {
	uint32_t pid, tid;
	struct mapset *maps;		/* mapset.h */
	const struct unwind_cache *cache;
	const struct unwind_stack *frames;
	/* For a copy of a stack that the source has unwound as well: the source's
	 * frames, and the number of the space that it used.  Otherwise NULL. */
	const uint64_t *theirs;
	size_t ntheirs;
	uint32_t space;
	/* Returns the table of an image of images.h, or NULL. */
	struct unwind_table *(*table)(void *ctx, uint32_t image);
	void *ctx;
};

/* Callbacks of a source that unwinds stacks itself, by rows that it learns from the
 * copies that it could not unwind. */
struct source_rows {
	/* Takes a walked copy.  `why` and `taken_ns` are the sample's. */
	void (*walked)(struct source_rows *r, uint32_t why, uint64_t taken_ns,
		       const struct walked_stack *w);
	/* Returns whether these addresses lie in the same images in `maps` as they
	 * did when space number `space` was sent. */
	bool (*same)(struct source_rows *r, uint32_t space, struct mapset *maps,
		     const uint64_t *pc, size_t n);
	/* Set by `walked` if the source has learned code that other processes may run,
	 * too: call `foresee` for each that exists. */
	bool foresees;
	void (*foresee)(struct source_rows *r, uint32_t pid,
			const struct mapset *maps);
};

struct record_sample {
	uint64_t weight;
	/* If not 0: the record stands for this many samples, whose weights `weight` is
	 * the sum of.  The first was at first_ns and the last at the record's time. */
	uint32_t count;
	uint64_t first_ns;
	const uint64_t *kernel, *user;	/* borrowed */
	/* If walked: the frames beyond those in `user`, or NULL (deep_stacks.h). */
	struct deep_stack *deep;
	uint32_t nkernel, nuser;
	bool cut;		/* the source had no room for more frames */
	bool guest;		/* ran in a virtual machine, whose addresses have no
				 * meaning here */
	bool in_kernel;		/* was in the kernel, and its kernel part is unknown:
				 * shown as [kernel] */
	const char *place;	/* name that replaces an unknown location; static, or
				 * NULL */
	bool copied;		/* `copy` must be unwound for the user part */
	bool walked;		/* `user` came from unwinding; all its addresses lie
				 * inside their instructions */
	struct record_copy copy;
	/* Beside a copy: return addresses that the source found at the sample's moment
	 * by frame pointers alone, starting with the instruction pointer; borrowed, or
	 * NULL.  Functions without a frame pointer are missing. */
	const uint64_t *chain;
	uint32_t nchain;
	/* For a source that unwinds stacks; NULL for others.  `why` is the reason for
	 * a copy (copied); `space` is the space it unwound by (walked). */
	struct source_rows *rows;
	uint32_t why, space;
	uint64_t taken_ns;
	const uint8_t *frames;	/* frames of an interpreter at the sample's moment:
				 * runtime/python_frames.h; borrowed, or NULL */
	size_t frame_bytes;
	struct record_end end;	/* if walked */
	uint64_t cgroup;	/* ID of the thread's control group (cgroups.h), or
				 * 0: unknown */
	uint32_t woken;		/* for the event `waking`: the thread that this one
				 * wakes; 0 if an interrupt does */
	uint64_t halted_ns;	/* time for which the sample stopped the thread */
	bool outside_calls;	/* for the event `blocked`: the source knows that the
				 * thread is in no system call */
};

/* Code that the kernel generated or has discarded. */
struct record_ksymbol {
	uint64_t addr, len;
	uint16_t type;		/* PERF_RECORD_KSYMBOL_TYPE_* */
	bool gone;
	const char *name;	/* borrowed */
};

struct record {
	enum record_kind kind;
	uint32_t pid, tid, cpu;
	uint32_t event;		/* index into source.events or SOURCE_NONE */
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	union {
		struct record_sample sample;
		struct mapping mmap;
		struct record_ksymbol ksymbol;
		struct {
			const char *name;	/* borrowed */
			bool exec;
		} comm;
		struct {
			uint32_t ppid, ptid;
		} fork;
		struct {
			bool out;	/* switched out; false: in */
			bool preempted;	/* switched out while it could have continued */
			bool ended;	/* switched out for good; see tells_ends */
			bool stopped;	/* switched out because a signal or a debugger
					 * has stopped it */
			bool has_call;	/* switched out blocked: `call` is known */
			int16_t call;	/* number of its system call; negative: none */
			/* Of switches out: the time for which the thread has run so
			 * far; 0: unknown. */
			uint64_t ran_ns;
		} change;
		struct {
			uint32_t tid;	/* the woken thread */
			bool interrupt;	/* woken by an interrupt that occurred in the
					 * thread */
		} wake;
		struct {
			uint64_t id;
			const char *path;	/* borrowed */
		} cgroup;
		uint64_t lost;
	};
};

/* An event as it was opened in fact. */
struct source_event {
	char name[256];		/* name of the requested event */
	char actual[256];	/* name of the event that counts */
	char why[128];		/* why they differ, or "" */
	char note[256];		/* other differences from the request, or "" */
	uint32_t type;
	uint64_t config, config1, config2;
	bool is_time;		/* weights are in nanoseconds */
	bool exclude_user, exclude_kernel;
	uint8_t precise;
	uint64_t freq, period;	/* see prof_event */
};

/* Appends to e->note. */
__attribute__((format(printf, 2, 3)))
void source_event_note(struct source_event *e, const char *fmt, ...);

/* The counter of an event since the source was opened. */
struct source_count {
	uint64_t value, enabled_ns, running_ns;
	uint64_t wanted;	/* number of expected samples; 0: unknown */
};

/* Receives a record.  A negative result stops. */
typedef int record_cb(void *ctx, const struct record *r, struct error *err);

struct source;

struct source_ops {
	const char *name;
	/* Starts sampling.  Sideband records are delivered from open on. */
	int (*start)(struct source *s, struct error *err);
	/* Stops sampling. */
	void (*stop)(struct source *s);
	/* Switches sampling of an event (SOURCE_NONE: all) on or off between start
	 * and stop.  NULL if the source cannot. */
	int (*enable)(struct source *s, uint32_t event, bool on,
		      struct error *err);
	/* Delivers the records that are ready and certain to be in order, or with
	 * `all` every record. */
	int (*drain)(struct source *s, bool all, record_cb *cb, void *ctx,
		     struct error *err);
	/* Reads the counter of one event.  Also delivers RECORD_LOST for losses that
	 * no record reported. */
	int (*count)(struct source *s, size_t event, struct source_count *out,
		     record_cb *cb, void *ctx, struct error *err);
	/* Follows threads onto CPUs that came online (`cpu_came`).  NULL if there is
	 * nothing to do. */
	int (*follow)(struct source *s, const uint32_t *tids, size_t n,
		      struct error *err);
	/* The next two belong to sources with a thread of their own, and are NULL in
	 * others.  Sets how long records may wait there before wake_fd reports them. */
	void (*pace)(struct source *s, unsigned int ms);
	/* Ends sampling at end_ns (UINT64_MAX: no limit), or as soon as one of these
	 * files is readable, even if `stop` is called late. */
	void (*end_at)(struct source *s, uint64_t end_ns, const int *fds,
		       size_t n);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
	const struct source_event *events;
	size_t nevents;
	int wake_fd;		/* readable when drain is due */
	uint32_t round_ms;	/* drain is also due this long after the last one; 0: only
				 * wake_fd tells */
	bool sideband_pending;	/* programs or mappings have changed, or the source
				 * learns to unwind stacks: drain again soon */
	bool cpu_came;		/* another CPU came online: report the threads to
				 * `follow` */
	uint64_t late;		/* number of records delivered out of order */
	uint64_t damaged;	/* number of bytes that held no valid records */
	uint32_t max_stack;	/* maximum number of frames in a chain */
	size_t ring_bytes;	/* size per CPU; 0 if there are no rings */
	uint64_t counted_ns;	/* CPU time of the command by the kernel's count, up
				 * to the last drain; or 0 */
	uint32_t copy_bytes;	/* maximum size of a stack's copy; 0: no copies */
	uint64_t early_ns;	/* the time of a sample may be this much too early */
	bool no_kernel;		/* delivers no kernel addresses */
	bool tells_code;	/* delivers RECORD_KSYMBOL */
	/* With `waits`: RECORD_SWITCH says when a thread left its CPU.  If
	 * `wait_stacks`, samples of the event `blocked` say where.  The event
	 * `runnable` has no samples from the source. */
	bool waits, wait_stacks;
	bool wait_polls;	/* no records of switches; poll /proc for waits */
	bool tells_ends;	/* the last RECORD_SWITCH of a thread has `ended`, and all have
				 * run times */
	uint32_t blocked, runnable;
	uint32_t waking;	/* event of wakeups: RECORD_WAKE is delivered, and
				 * samples of this event for some of them; or
				 * SOURCE_NONE */
	/* So far: time from which samples of `blocked` and `waking`, and RECORD_WAKE,
	 * paused again and again because there were too many waits; 0: never. */
	uint64_t paused_ns;
	bool wakes_missing;	/* RECORD_WAKE has paused recently */
	uint32_t latency;	/* event of wall-clock time, without samples from the
				 * source; or SOURCE_NONE */
	/* Variables that the command's environment must hold, ended by NULL; or
	 * NULL. */
	const char *const *env;
	/* At the end: names of programs that the source could not record, or NULL. */
	const char *outside;
	const char *outside_why;	/* the reason and the fix; NULL if `outside`
					 * is */
	uint64_t unwound, not_unwound;	/* at the end: stacks it unwound, and stacks
					 * it copied although it unwinds some */
	uint64_t record_bytes;	/* at the end: size of all sample records */
	uint64_t handler_cycles;	/* at the end: CPU cycles spent on taking
					 * them, in the handler; or 0 */
	uint64_t taken, added_up;	/* at the end, of a source that adds up samples
				 * (record_sample.count): all that it delivered,
				 * and those of sums */
	uint64_t verified, differing;	/* at the end: stacks that both the source and
					 * the unwinder produced, and those that
					 * differ */
	uint64_t unsampled;	/* at the end: number of threads it could not sample */
	uint64_t stopped_ns;	/* at the end: time at which end_at took effect, or 0 */
	uint64_t shortened;	/* so far: stack copies shortened because too much
				 * data was waiting */
	uint64_t thinned;	/* so far: samples that others represent, because
				 * the rate was lowered for the same reason */
	const char *priority;	/* at the end: priority of its thread, or NULL */
};

#endif
