/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_OPEN_H
#define TALLY_RECORD_PERF_PERF_OPEN_H
/*
 * perf_event_open(2): attributes, and what to do when the kernel says no.
 * Abilities are found by trying, never by version numbers.
 */
#include <linux/perf_event.h>

#include "events/events.h"
#include "events/pmu.h"
#include "record/source/source.h"

/* What this kernel can do for us. */
struct perf_features {
	bool build_id;		/* MMAP2 with build-id: Linux 5.12 */
	bool lost;		/* PERF_FORMAT_LOST: Linux 6.0 */
	bool ksymbol;		/* code that the kernel generates: Linux 5.1 */
	bool copy;		/* registers and stack of the user side */
	uint64_t max_rate;	/* kernel.perf_event_max_sample_rate */
	uint32_t max_stack;	/* kernel.perf_event_max_stack */
};

/* An error where a seccomp filter would kill who calls perf_event_open: to be
 * asked before anything else here. */
int perf_reachable(struct error *err);
/* Asks the kernel.  An error says why perf events cannot be used at all. */
int perf_features_probe(struct perf_features *f, struct error *err);

/* How samples are taken, or how is counted, common to all events. */
struct perf_sampling {
	bool callchain, inherit, enable_on_exec;
	bool exclude_user, exclude_kernel;	/* --kernel, --user */
	uint64_t freq, period;	/* period 0: freq */
	uint32_t copy_bytes;	/* of the stack; 0: none, user chains by frame
				 * pointers */
};

/* Where an event counts. */
struct perf_scope {
	int pid, cpu;
	unsigned long flags;	/* PERF_FLAG_PID_CGROUP */
};

/* One event while it is opened. */
struct perf_event {
	struct event_spec spec;
	bool is_default;	/* may become a clock: not asked for, or cycles */
	bool settled;		/* opened once; attr stays as it is */
	bool counting;		/* takes no samples */
	int leader;		/* the group's first event: its file + 1; or 0 */
	bool split;		/* sampled apart from its group */
	bool waits;		/* its samples tell where threads wait */
	struct perf_event_attr attr;
	struct source_event seen;
};

/* Prepares e->attr from e->spec. */
void perf_event_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how);
/* The same to count only: of `how`, what chooses tasks and modes. */
void perf_counting_prepare(struct perf_event *e,
			   const struct perf_sampling *how);
/*
 * Opens the event.  The first time, gives way where the kernel refuses: less
 * precision, no kernel side, and for the default event a clock; e->seen tells.
 * Returns the fd; -ESRCH or -ENODEV as negative errno when thread or CPU are
 * gone; INT_MIN with `err` set otherwise.
 */
int perf_event_open(struct perf_event *e, const struct perf_scope *at,
		    struct error *err);
/* For the next place: the processor's kind of cores, where there are several. */
void perf_event_on_kind(struct perf_event *e, const struct pmu_unit *kind);
/* Adds to e->seen.note. */
void perf_event_note(struct perf_event *e, const char *text);
/* Sets the filter of a tracepoint that has one; the kernel checks the expression
 * against its fields. */
int perf_event_filter(const struct perf_event *e, int fd, struct error *err);
/* The event that only tells of mappings, names, forks and exits. */
void perf_tracking_prepare(struct perf_event_attr *a,
			   const struct perf_features *f, bool inherit,
			   uint32_t watermark);
/* The event that tells of the switches of threads, with begin and end as `how`'s. */
void perf_switches_prepare(struct perf_event_attr *a,
			   const struct perf_features *f,
			   const struct perf_sampling *how, uint32_t watermark);
/* The event that tells of threads that are woken.  False where this kernel does not let
 * us see them, with the reason in `why`; else the place of the woken thread's number
 * in the record's bytes, too (perf_decode.h). */
bool perf_wakes_prepare(struct perf_event_attr *a, const struct perf_features *f,
			const struct perf_sampling *how, uint32_t *woken_at,
			char *why, size_t size);
/* Prepares e->attr for samples of each switch-out; e->spec is filled in, too. */
void perf_waits_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how);
/* The same for samples of threads of the target that wake others; `wakes` was prepared
 * above. */
void perf_waking_prepare(struct perf_event *e, const struct perf_features *f,
			 const struct perf_sampling *how,
			 const struct perf_event_attr *wakes);
/* How many bytes a CPU's ring should have: what may be locked. */
size_t perf_ring_size(void);
/* The rings of one CPU, in bytes: of samples, of mappings, forks and exits, and of
 * switches, for waits. */
struct perf_rings {
	size_t samples, news, switches;
};
/* Those for samples of so many bytes, or smaller ones where little may be locked, so
 * that there is room for the other CPUs'. */
struct perf_rings perf_rings_plan(size_t samples, size_t ncpus, bool waits);
/* Rings for copies of stacks: see perf_copies_plan. */
struct perf_copies {
	size_t ring_bytes;	/* per CPU */
	uint32_t copy_bytes;	/* of each stack */
};
/* For `rate` samples a second and CPU (0: not known) on `ncpus` CPUs.  `wanted`:
 * the size of a copy, or 0 when we may choose; `ring`: of a ring, or 0. */
struct perf_copies perf_copies_plan(uint64_t rate, size_t ncpus,
				    uint32_t wanted, size_t ring);
/* The largest copy of a stack, a sample's size being 16 bits. */
enum { PERF_COPY_MAX = 65528, PERF_COPY_MIN = 1024 };
/* The bare call: fd or negative errno. */
int perf_sys_open(struct perf_event_attr *a, const struct perf_scope *at);
/* Sets an error for a refused perf_event_open; `what` is the event or "". */
int perf_refused(int errnum, const char *what, const struct perf_scope *at,
		 struct error *err);

/* Tries to open an event, on ourselves or else on a CPU.  0 when it can be
 * sampled, else an error with the reason. */
int event_usable(const struct event_spec *e, struct error *err);

#endif
