/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_OPEN_H
#define TALLY_RECORD_PERF_PERF_OPEN_H
/*
 * perf_event_open(2): attributes, and fallbacks when the kernel refuses.  Abilities
 * are found by trying, never by version numbers.
 */
#include <linux/perf_event.h>

#include "events/events.h"
#include "events/pmu.h"
#include "record/source/source.h"

/* The abilities of this kernel. */
struct perf_features {
	bool lost;		/* PERF_FORMAT_LOST: Linux 6.0 */
	bool ksymbol;		/* code that the kernel generates: Linux 5.1 */
	bool all_ksymbols;	/* … including trampolines and probes: Linux 5.9 */
	bool cgroup;		/* control groups of samples: Linux 5.7 */
	bool copy;		/* copies of the user side's registers and stack */
	uint64_t max_rate;	/* kernel.perf_event_max_sample_rate */
	uint32_t max_stack;	/* kernel.perf_event_max_stack */
};

/* Returns an error where a seccomp filter would kill the caller of perf_event_open.
 * Call it before anything else here. */
int perf_reachable(struct error *err);
/* Finds the kernel's abilities.  An error says why perf events cannot be used at
 * all. */
int perf_features_probe(struct perf_features *f, struct error *err);

/* Sampling and counting parameters common to all events. */
struct perf_sampling {
	bool callchain, inherit, enable_on_exec;
	bool exclude_user, exclude_kernel;	/* --kernel, --user */
	uint64_t freq, period;	/* rate in Hz; period, 0: use freq */
	uint32_t copy_bytes;	/* size of the stack copy; 0: none, user chains by
				 * frame pointers */
};

/* The scope in which an event counts. */
struct perf_scope {
	int pid, cpu;
	unsigned long flags;	/* PERF_FLAG_PID_CGROUP */
};

/* An event while it is opened. */
struct perf_event {
	struct event_spec spec;
	bool is_default;	/* cycles or the default event; a clock may replace
				 * it */
	bool settled;		/* was opened once; attr no longer changes */
	bool counting;		/* counts only, without samples */
	int leader;		/* descriptor of the group's first event + 1; or 0 */
	bool split;		/* sampled outside its group */
	bool waits;		/* its samples show where threads wait */
	struct perf_event_attr attr;
	struct source_event seen;
};

/* Prepares e->attr from e->spec. */
void perf_event_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how);
/* Prepares e->attr for counting only.  Uses the parts of `how` that select tasks and
 * modes. */
void perf_counting_prepare(struct perf_event *e,
			   const struct perf_sampling *how);
/*
 * Opens the event.  The first time, falls back where the kernel refuses: to less
 * precision, to no kernel side, and for the default event to a clock; e->seen records
 * this.  Returns the fd; -ESRCH or -ENODEV as negative errno when the thread or CPU
 * is gone; INT_MIN with `err` set otherwise.
 */
int perf_event_open(struct perf_event *e, const struct perf_scope *at,
		    struct error *err);
/* Prepares the event for the core type of the next CPU, on machines with several
 * types. */
void perf_event_on_kind(struct perf_event *e, const struct pmu_unit *kind);
/* Sets the filter of a tracepoint that has one.  The kernel checks the expression
 * against the tracepoint's fields. */
int perf_event_filter(const struct perf_event *e, int fd, struct error *err);
/* Prepares the event that reports only mappings, names, forks and exits. */
void perf_tracking_prepare(struct perf_event_attr *a,
			   const struct perf_features *f, bool inherit,
			   uint32_t watermark);
/* Prepares the event that reports thread switches; it starts and ends as `how` says. */
void perf_switches_prepare(struct perf_event_attr *a,
			   const struct perf_features *f,
			   const struct perf_sampling *how, uint32_t watermark);
/* Prepares the event that reports wakeups of threads.  Returns false, with the reason
 * in `why`, if this kernel does not allow it.  Otherwise sets *woken_at to the offset
 * of the woken thread's number in the record's bytes (perf_decode.h). */
bool perf_wakes_prepare(struct perf_event_attr *a, const struct perf_features *f,
			const struct perf_sampling *how, uint32_t *woken_at,
			char *why, size_t size);
/* Prepares e->attr for a sample at each switch-out, and fills in e->spec. */
void perf_waits_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how);
/* Prepares the event for samples of target threads that wake others.  `wakes` is the
 * event of perf_wakes_prepare. */
void perf_waking_prepare(struct perf_event *e, const struct perf_features *f,
			 const struct perf_sampling *how,
			 const struct perf_event_attr *wakes);
/* Makes the system call.  Returns the fd or negative errno. */
int perf_sys_open(struct perf_event_attr *a, const struct perf_scope *at);
/* Sets an error for a refused perf_event_open; `what` is the event or "". */
int perf_refused(int errnum, const char *what, const struct perf_scope *at,
		 struct error *err);

/* Tries to open an event on tally itself, or else on a CPU.  Returns 0 if it can be
 * sampled, or an error with the reason. */
int event_usable(const struct event_spec *e, struct error *err);

#endif
