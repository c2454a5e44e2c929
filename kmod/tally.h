/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TALLY_MODULE_H
#define TALLY_MODULE_H
/*
 * Parts of the module:
 *
 *	main.c		the device: ioctls, maps, poll
 *	session.c	recordings: made, started, stopped, freed; hotplug, suspend
 *	tasks.c		which threads a recording follows, when they run
 *	sample.c	from registers to a record in the ring
 *	chain.c		call chains
 *	copy.c		… and what they can be made of: registers, stack
 *	cgroup.c	who is in a control group
 *	ring_core.h	where bytes of a ring go (also in unit tests)
 *	rows.c		what stacks are unwound by
 *	walk_core.c	… and the walk (also in unit tests)
 *	timer.c		timers of CPUs as the clock
 *	perf.c		the kernel's own events
 *	pmu.c		performance counters and their NMI
 *	pmu_regs.c	… what is done to their registers (also in unit tests)
 *	pmu_core.c	… and the arithmetic
 *
 * Locks: cpus_read_lock, then sessions_lock.  A handler takes none: the state
 * of a CPU is written only on that CPU, by the one source it has.
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "tally/kmod.h"

#define TASK_BUCKETS	512
#define WINDOW_NS	10000000u	/* of the rate's ceiling */

struct session;
struct source;
struct pt_regs;

/* One event on one CPU. */
struct cpu_event {
	struct cpu_state *owner;
	struct hrtimer timer;
	u64 mean;		/* period before jitter; raised above the one
				 * asked for where that is too fast */
	u64 next_ns;		/* what the timer was set to */
	u64 left_ns;		/* of that, while paused */
	u64 owed;		/* weight that throttled does not count yet; of
				 * the kernel's events: that no sample has */
	u32 thin, turn;		/* the kernel's: one of so many is taken; … */
	struct tally_event_stats stats;
	bool throttled;		/* told in this window */
};

/* Stacks that the program has in its ring, by the hash of their addresses. */
#define STACK_SETS	256
#define STACK_WAYS	4

struct stack_known {
	u64 hash;
	u32 number;		/* 0: none */
};

/* A recording on one CPU. */
struct cpu_state {
	struct session *s;
	unsigned int cpu;
	/* See session.c. */
	bool running;		/* between start_cpu and stop_cpu */
	bool paused;		/* running, but no thread of ours is */
	u64 enabled_ns, since_ns;	/* before / since it was last let run */
	struct tally_ring *ring;	/* the program can write there */
	u8 *data;
	u64 head;			/* ours; the ring's is a copy */
	u64 size;
	u64 random;
	u64 window_end, window_cycles;
	u32 window_samples;
	struct irq_work wake;
	struct cpu_event ev[TALLY_EVENTS_MAX];
	u64 unclaimed, cycles;
	u64 unwound, copied, nested;
	bool busy;		/* within the handler of a kernel's event */
	u64 stack_key;
	u32 stacks;		/* numbers given so far */
	struct stack_known known[STACK_SETS][STACK_WAYS];
	struct tally_copy user;	/* registers for the walk */
	u64 histogram[TALLY_HISTOGRAM];
	/* Where a record is put together: struct tally_sample, tally_copy
	 * without its stack. */
	u64 record[sizeof(struct tally_sample) / sizeof(u64) + TALLY_CHAIN_MAX + 1 +
		   sizeof(struct tally_copy) / sizeof(u64)];
};

struct session {
	struct list_head list;		/* sessions; RCU */
	struct tally_setup setup;
	const struct source *source;	/* NULL before SETUP */
	struct cpumask *cpus;
	struct cpu_state **cpu;		/* [nr_cpu_ids], NULL without ring */
	struct pid_namespace *ns;
	struct cgroup *cgroup;		/* or NULL: everybody */
	struct rows *rows;		/* NULL: stacks are not unwound */
	struct perf_state *perf;	/* of perf_source */
	wait_queue_head_t wait;
	bool watches;		/* tasks_watch was called */
	bool started;
	/* Who opened the file, and what it may lock. */
	const struct cred *cred;
	unsigned long memlock;		/* bytes */
	bool may_lock;			/* CAP_IPC_LOCK: no limit */
	size_t pages;			/* of rings */
	/* Threads that are followed. */
	spinlock_t task_lock;
	struct hlist_head tasks[TASK_BUCKETS];
	atomic64_t untracked;
	u32 ntasks;		/* named by TASKS */
};

/* What makes samples.  Called with sessions_lock held, but for those marked. */
struct source {
	bool by_kernel;		/* it follows threads, and pauses, by itself */
	/* Is it here?  Number of counters, 1 for timers, or 0. */
	unsigned int (*present)(void);
	/* 0, -EINVAL … */
	int (*check)(const struct tally_setup *setup);
	/* Before the first and after the last CPU. */
	int (*begin)(struct session *s);
	void (*end)(struct session *s);
	/* On the CPU itself, with interrupts off. */
	void (*start_cpu)(struct cpu_state *c);
	void (*stop_cpu)(struct cpu_state *c);
	/* The same between the two: stand still, go on from there.  Also within
	 * the scheduler. */
	void (*pause_cpu)(struct cpu_state *c);
	void (*resume_cpu)(struct cpu_state *c);
	/* The rest only where by_kernel.  At SETUP, and at the recording's end. */
	int (*prepare)(struct session *s);
	void (*forget)(struct session *s);		/* no lock held */
	/* Before START, after STOP.  -EBADFD: it is open. */
	int (*open)(struct session *s);			/* no lock held */
	void (*close)(struct session *s);		/* no lock held */
	int (*add_thread)(struct session *s, u32 tid);	/* no lock held */
	/* A CPU came, or goes; within hotplug. */
	void (*cpu_news)(struct session *s, unsigned int cpu, bool came);
	void (*counts)(struct session *s, struct tally_stats *out);	/* … */
};

extern const struct source timer_source, pmu_k8_source, pmu_p6_source,
			   perf_source;
extern struct list_head sessions;
extern struct mutex sessions_lock;
extern unsigned int max_rate;

/* session.c */
struct session *session_new(void);
int session_setup(struct session *s, const struct tally_setup *setup,
		  const struct cpumask *cpus);
int session_start(struct session *s);
int session_stop(struct session *s);
void session_free(struct session *s);
void session_stats(struct session *s, u32 cpu, struct tally_stats *out);
const struct source *source_find(u32 which);
/* On this CPU, with interrupts off: lets its counters of a recording of threads
 * run, or stand still, as `on` says. */
void session_switch(struct session *s, bool on);
/* The same on all CPUs, by the threads that run there now. */
void session_look(struct session *s);
/* Whether the module follows its threads itself. */
static inline bool session_follows(const struct session *s)
{
	return s->setup.flags & TALLY_SETUP_TASKS && s->source &&
	       !s->source->by_kernel;
}
/* Locked memory of the user, and of all recordings; 0 or -ENOMEM. */
int pages_charge(struct session *s, size_t pages);
void pages_release(struct session *s, size_t pages);
int sessions_init(void);
void sessions_exit(void);

/* pmu.c */
void pmu_exit(void);

/* tasks.c */
int tasks_add(struct session *s, u32 tid);
bool tasks_current(struct session *s);	/* is it this thread's turn? */
void tasks_free(struct session *s);
/* Follow who runs on each CPU, while at least one recording asks for it; sleeps,
 * and must not be called with locks held. */
int tasks_watch(void);
void tasks_unwatch(void);
int tasks_init(void);
void tasks_exit(void);

/* sample.c */
/* Flags of what sample_take says. */
#define SAMPLE_OURS	1u	/* a thread and mode that was asked for */
#define SAMPLE_TOO_FAST	2u	/* above the ceiling: see sample_slower */
unsigned int sample_take(struct cpu_state *c, unsigned int event,
			 struct pt_regs *regs, u64 weight);
/* Raises the mean period of an event that is too fast, up to `most`, so that it
 * fits below the ceiling.  It falls again by itself. */
void sample_slower(struct cpu_state *c, unsigned int event, u64 most);
u64 sample_random(struct cpu_state *c);
/* Of the kernel's events, whose period is not ours, fewer are taken. */
void sample_thinner(struct cpu_state *c, unsigned int event);
/* A period that differs from `mean` by up to an eighth. */
u64 sample_jitter(struct cpu_state *c, u64 mean);

/* chain.c: how many addresses; *cut when there are more than `room`. */
unsigned int chain_kernel(struct pt_regs *regs, u64 *ips, unsigned int room,
			  bool *cut);
unsigned int chain_user(struct pt_regs *regs, u64 *ips, unsigned int room,
			bool *cut);

/* copy.c: false when there is no user side.  Fills in all but bytes. */
bool copy_user(struct pt_regs *regs, struct tally_copy *out);
/* Copies the stack of `t` to position `at` of the ring, where `room` bytes are
 * free, at most `most` of them.  How many bytes that took, with those that fill
 * up; -ENOSPC when there was more. */
int copy_stack(struct cpu_state *c, struct tally_copy *t, u64 at, u64 room,
	       u32 most);

/* rows.c: see tally/kmod.h.  Sleep; 0 or negative. */
int rows_new(struct session *s);
void rows_free(struct session *s);
int rows_table(struct session *s, const struct tally_table *u);
int rows_page(struct session *s, const struct tally_page *u);
int rows_space(struct session *s, const struct tally_space *u);
size_t rows_bytes(struct session *s);
/* The stack of the current thread from registers of user mode (tally_copy.regs, all
 * known), in any context; see walk_user.  *generation is the space's. */
enum tally_walk rows_walk(struct session *s, const u64 *regs, u64 *pc, u32 max,
			  u32 *n, u32 *generation);

/* cgroup.c */
int cgroup_follow(struct session *s, u32 fd);
bool cgroup_current(struct session *s);
void cgroup_forget(struct session *s);

#endif
