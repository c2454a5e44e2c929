/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_SOURCE_H
#define TALLY_RECORD_SOURCE_SOURCE_H
/*
 * Where samples come from.  A source delivers normalised records in order of
 * time; everything behind it (address spaces, stacks, the file) is the same for
 * all of them.  perf_source.h is the first; a kernel device, timers inside the
 * program, ptrace, an imported file and a replay from memory fit the same door.
 *
 * Call chains are as the source copied them: innermost first, the kernel's part
 * and the user's part apart.  The first address of each part is where execution
 * was, the others are return addresses.  A source that copies registers and a
 * piece of stack instead (`copied`) gets its user part from the unwinder, in
 * collector_record: see unwinder.h.
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
	RECORD_GAP,		/* `lost` records of another kind than samples
				 * are missing: ask PROC again */
	RECORD_SWITCH,		/* the thread leaves its processor or gets one */
	RECORD_SWITCH_GAP,	/* records of switches are missing */
	RECORD_WAKE,		/* the thread wakes another one */
};

/* The user side as it was: registers, and the stack from its pointer up. */
struct record_copy {
	struct unwind_regs regs;	/* none known: the source got none */
	const uint8_t *bytes;		/* borrowed */
	size_t size;
	bool all;		/* behind the copy there is no memory */
	bool is32;		/* an i386 program */
};

/* The outer end of a stack that is not known to be whole. */
struct record_end {
	uint32_t mark;		/* PROF_MARK_*, or 0 */
	uint32_t reason;	/* enum prof_end_reason */
	uint32_t image;		/* of images.h, or UINT32_MAX */
};

struct deep_stack;
struct mapset;

/* A copy that was walked. */
struct walked_stack {
	uint32_t pid, tid;
	struct mapset *maps;		/* mapset.h */
	const struct unwind_cache *cache;
	const struct unwind_stack *frames;
	/* Of a copy of a stack that the source has unwound, too: what it found, by
	 * which space; else NULL. */
	const uint64_t *theirs;
	size_t ntheirs;
	uint32_t space;
	/* The table of an image of images.h, or NULL. */
	struct unwind_table *(*table)(void *ctx, uint32_t image);
	void *ctx;
};

/* Of a source that unwinds stacks itself, by rows that it learns from the copies
 * that it could not unwind. */
struct source_rows {
	/* `why` and `taken_ns` are the sample's. */
	void (*walked)(struct source_rows *r, uint32_t why, uint64_t taken_ns,
		       const struct walked_stack *w);
	/* Whether these addresses lay, when space number `space` was brought, in
	 * the same images as they do in `maps`. */
	bool (*same)(struct source_rows *r, uint32_t space, struct mapset *maps,
		     const uint64_t *pc, size_t n);
};

struct record_sample {
	uint64_t weight;
	const uint64_t *kernel, *user;	/* borrowed */
	/* When walked: the frames farther out than `user`, or NULL
	 * (deep_stacks.h). */
	struct deep_stack *deep;
	uint32_t nkernel, nuser;
	bool cut;		/* the source had no room for more */
	bool guest;		/* in a virtual machine: not our addresses */
	bool in_kernel;		/* and nothing more is known of its part than
				 * that it was there: shown as [kernel] */
	const char *place;	/* where it was is not known, only this: a
				 * name that stands for all; for good, or NULL */
	bool copied;		/* `copy` is to be walked for the user part */
	bool walked;		/* `user` was: all lie in their instructions */
	struct record_copy copy;
	/* NULL; or of a source that unwinds stacks: `why` it did not (copied), or
	 * the `space` by which it did (walked). */
	struct source_rows *rows;
	uint32_t why, space;
	uint64_t taken_ns;
	const uint8_t *frames;	/* of an interpreter, at the sample's moment:
				 * runtime/python_frames.h; borrowed, or NULL */
	size_t frame_bytes;
	struct record_end end;	/* when walked */
	uint32_t woken;		/* of the event `waking`: the thread that this one
				 * wakes; 0: an interrupt does */
	uint64_t stood_ns;	/* how long the thread stood still for it */
};

/* Code that the kernel generated, or has thrown away. */
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
			bool out;	/* else in */
			bool preempted;	/* out, though it wanted to go on */
		} change;
		struct {
			uint32_t tid;	/* of the other one */
			bool interrupt;	/* not the thread wakes it, but what
					 * broke in on it */
		} wake;
		uint64_t lost;
	};
};

/* An event as it was really opened. */
struct source_event {
	char name[256];		/* what was asked for */
	char actual[256];	/* what counts */
	char why[128];		/* why they differ, or "" */
	char note[256];		/* what is not as it was asked for, or "" */
	uint32_t type;
	uint64_t config, config1, config2;
	bool is_time;		/* weights are nanoseconds */
	bool exclude_user, exclude_kernel;
	uint8_t precise;
	uint64_t freq, period;	/* see prof_event */
};

/* What an event counted since the source was opened. */
struct source_count {
	uint64_t value, enabled_ns, running_ns;
	uint64_t wanted;	/* samples; 0: not known */
};

/* Negative stops. */
typedef int record_cb(void *ctx, const struct record *r, struct error *err);

struct source;

struct source_ops {
	const char *name;
	/* Samples from now on (side-band records come since open). */
	int (*start)(struct source *s, struct error *err);
	/* No more samples. */
	void (*stop)(struct source *s);
	/* Sampling of an event (SOURCE_NONE: all) on or off for a while, between
	 * start and stop; NULL where that cannot be. */
	int (*enable)(struct source *s, uint32_t event, bool on,
		      struct error *err);
	/* Delivers what is ready and certain to be in order, or with `all`
	 * everything. */
	int (*drain)(struct source *s, bool all, record_cb *cb, void *ctx,
		     struct error *err);
	/* Reads the counter of one event; and delivers RECORD_LOST for losses
	 * that no record told of. */
	int (*count)(struct source *s, size_t event, struct source_count *out,
		     record_cb *cb, void *ctx, struct error *err);
	/* Follows threads on processors that came (`cpu_came`), too; NULL when
	 * there is nothing to do. */
	int (*follow)(struct source *s, const uint32_t *tids, size_t n,
		      struct error *err);
	/* The two that follow are of sources with a thread of their own, or
	 * NULL.  How long records may wait there before wake_fd tells of
	 * them. */
	void (*pace)(struct source *s, unsigned int ms);
	/* Sampling ends at a time (UINT64_MAX: none), or as soon as one of these
	 * files is readable, even where `stop` is called late. */
	void (*end_at)(struct source *s, uint64_t end_ns, const int *fds,
		       size_t n);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
	const struct source_event *events;
	size_t nevents;
	int wake_fd;		/* readable when drain is due */
	bool news;		/* of programs or mappings: drain again soon */
	bool cpu_came;		/* a processor is online that was not: tell
				 * `follow` which threads there are */
	uint64_t late;		/* records that came after their turn */
	uint64_t damaged;	/* bytes that were no records */
	uint32_t max_stack;	/* frames a chain can hold */
	size_t ring_bytes;	/* per CPU, 0 if there are no rings */
	uint64_t counted_ns;	/* before the last drain: processor time of the
				 * command by the kernel's count, or 0 */
	uint32_t copy_bytes;	/* of a stack at most; 0: none is copied */
	bool no_kernel;		/* no addresses of the kernel come from it */
	/* With `waits`: samples of the event `blocked` tell where a thread left its
	 * processor, if `wait_stacks`, and RECORD_SWITCH when; none comes of
	 * `runnable`. */
	bool waits, wait_stacks;
	bool wait_polls;	/* … no record tells when: /proc is to be asked */
	uint32_t blocked, runnable;
	uint32_t waking;	/* RECORD_WAKE comes, too, and of some of them
				 * samples of this event; or SOURCE_NONE */
	uint32_t latency;	/* the event of wall-clock time, of which no
				 * samples come; or SOURCE_NONE */
	/* What the command's environment must hold, NULL at the end; or NULL. */
	const char *const *env;
	/* At the end: programs that it could not record, by name; or NULL. */
	const char *outside;
	const char *outside_why;	/* and what to do; NULL if `outside` is */
	uint64_t unwound, not_unwound;	/* at the end: stacks that it unwound,
				 * and copied though it may unwind some */
	uint64_t record_bytes;	/* at the end: of all records of samples, … */
	uint64_t handler_cycles;	/* … and what they took where they were
				 * taken; or 0 */
	uint64_t verified, differing;	/* at the end: stacks that both it and
				 * the unwinder have; and other ones */
	uint64_t unsampled;	/* at the end: threads it could not sample */
	uint64_t stopped_ns;	/* at the end: when end_at took effect, or 0 */
	uint64_t shortened;	/* at the end: copies of stacks that were cut,
				 * for too much waited */
	uint64_t thinned;	/* at the end: samples that others stand for,
				 * as the rate was lowered for the same reason */
	const char *priority;	/* at the end: of its thread, or NULL */
};

#endif
