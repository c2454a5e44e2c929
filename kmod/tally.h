/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TALLY_MODULE_H
#define TALLY_MODULE_H
/*
 * Parts of the module:
 *
 *	main.c		the device: ioctls, maps, poll
 *	session.c	life of recordings; CPU hotplug, suspend
 *	tasks.c		threads that a recording follows, and when they run
 *	sample.c	from registers to a record
 *	waits.c		threads that leave a CPU or get one, and who wakes them
 *	ring.c		puts records into a ring
 *	chain.c		call chains
 *	copy.c		input for later unwinding: registers, copy of the stack
 *	cgroup.c	membership in a control group
 *	count.c		adds up equal samples
 *	count_core.h	the table that it keeps (also in unit tests)
 *	ring_core.h	places bytes in a ring (also in unit tests)
 *	rows.c		unwind tables from the program
 *	walk_core.c	unwinds by these tables (also in unit tests)
 *	timer.c		a source of samples: timers of CPUs
 *	perf.c		a source of samples: the kernel's own events
 *	pmu.c		a source of samples: performance counters and their NMI
 *	pmu_regs.c	accesses to their registers (also in unit tests)
 *	pmu_core.c	their arithmetic
 *
 * Lock order: cpus_read_lock, sessions_lock; count_lock is taken alone.  A handler takes no
 * lock, because the state of a CPU is written only on that CPU, by its one source.
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "tally/kmod.h"

#define TASK_BUCKETS	512
#define WINDOW_NS	10000000u	/* window of the rate limit, ns */

struct session;
struct source;
struct pt_regs;

/* An event on one CPU. */
struct cpu_event {
	struct cpu_state *owner;
	struct hrtimer timer;
	u64 mean;		/* mean period before jitter; above the requested
				 * one while that exceeds the rate limit */
	u64 next_ns;		/* expiry of the timer, ns */
	u64 left_ns;		/* remaining time while paused, ns */
	u64 owed;		/* weight not yet counted as throttled; for the
				 * kernel's events: weight that no sample carries
				 * yet */
	u32 thin, turn;		/* kernel's events: one of `thin` overflows is
				 * sampled; `turn` counts them */
	struct tally_event_stats stats;
	bool throttled;		/* a throttle record was written in this window */
};

/* The stacks that the program has in its ring, by the hash of their addresses. */
#define STACK_SETS	256
#define STACK_WAYS	4

struct stack_known {
	u64 hash;
	u32 number;		/* 0: none */
};

/* Numbers of records in a ring of waits, and of lost ones. */
struct wait_counts {
	u64 switches, switches_lost;
	u64 wakes, wakes_lost;
	u64 stacks, stacks_lost;
};

/* A recording on one CPU; or its waits on one CPU, which use less of this. */
struct cpu_state {
	struct session *s;
	unsigned int cpu;
	/* session.c explains these states. */
	bool running;		/* between start_cpu and stop_cpu */
	bool paused;		/* running, but none of the recording's threads has
				 * the CPU */
	seqcount_t clock;	/* for readers of the next two */
	u64 enabled_ns, since_ns;	/* time before, and start of, the current
					 * enabled period */
	struct tally_ring *ring;	/* shared with the program, which may write
					 * to it */
	struct page **pages;	/* the ring's */
	size_t npages;
	u8 *data;
	u64 head;			/* trusted position; the ring has a copy */
	u64 size;
	u64 reserve;		/* bytes that only records of switches and wakes
				 * may use */
	u32 watermark;		/* bytes at which the program is woken */
	u32 copy_bytes;		/* most bytes of a stack's copy */
	u64 random;
	u64 window_end, window_cycles;
	u32 window_samples;
	struct irq_work wake;
	struct cpu_event ev[TALLY_EVENTS_MAX];
	u64 unclaimed, cycles;
	u64 unwound, copied, nested;
	bool busy;		/* inside the handler of a kernel event */
	/* WAITS: */
	struct wait_counts waits;
	bool gap;		/* records are missing; the ring does not say so yet */
	u64 missed;		/* number of those that were lost */
	/* COUNT: the tables, and which of them handlers use. */
	struct count_table *count[2];
	u32 counting;
	u32 adds;		/* odd while a handler adds */
	bool settling;		/* a handler may still add to the other table */
	u64 counted;
	u64 stack_key;
	u32 stacks;		/* last stack number that was assigned */
	struct stack_known known[STACK_SETS][STACK_WAYS];
	u64 histogram[TALLY_HISTOGRAM];
	/* Room to assemble a record: struct tally_sample, and tally_copy without
	 * its stack. */
	u64 record[sizeof(struct tally_sample) / sizeof(u64) + TALLY_CHAIN_MAX + 1 +
		   sizeof(struct tally_copy) / sizeof(u64)];
	struct tally_copy user;	/* registers for the walk; last, as it may be longer */
};

struct session {
	struct list_head list;		/* node of `sessions`; RCU */
	struct tally_setup setup;
	const struct source *source;	/* NULL before SETUP */
	struct cpumask *cpus;
	struct cpu_state **cpu;		/* [nr_cpu_ids]; NULL for a CPU without a
					 * ring */
	struct cpu_state **waits;	/* [nr_cpu_ids]; WAITS: not NULL where `cpu`
					 * is not */
	struct pid_namespace *ns;
	struct cgroup *cgroup;		/* NULL: all threads */
	struct rows *rows;		/* unwind tables; NULL: stacks are not
					 * unwound */
	struct perf_state *perf;	/* state of perf_source */
	wait_queue_head_t wait;
	unsigned int watches;	/* WATCH_*, for which tasks_watch was called */
	bool started;
	/* The user who opened the file, and limits of locked memory. */
	const struct cred *cred;
	unsigned long memlock;		/* limit in bytes */
	bool may_lock;			/* CAP_IPC_LOCK: no limit */
	size_t pages;			/* pages of all rings and tables of counts */
	struct mutex count_lock;	/* guards the tables that handlers do not
					 * use; no lock is taken before it */
	/* The threads that are followed. */
	spinlock_t task_lock;
	struct hlist_head tasks[TASK_BUCKETS];
	atomic64_t untracked;
	u32 ntasks;		/* number of threads named by TASKS */
};

/* A source of samples.  Functions are called with sessions_lock held, unless
 * marked. */
struct source {
	bool by_kernel;		/* it follows threads and pauses by itself */
	/* Returns the number of counters of TALLY_*, 1 for timers, or 0 if the
	 * source is absent. */
	unsigned int (*present)(u32 which);
	/* Checks a setup.  Returns 0 or a negative error such as -EINVAL. */
	int (*check)(const struct tally_setup *setup);
	/* Called before the first CPU starts and after the last one stopped. */
	int (*begin)(struct session *s);
	void (*end)(struct session *s);
	/* Called on the CPU itself, with interrupts off. */
	void (*start_cpu)(struct cpu_state *c);
	void (*stop_cpu)(struct cpu_state *c);
	/* Stop and continue counting between start_cpu and stop_cpu.  Also called
	 * within the scheduler. */
	void (*pause_cpu)(struct cpu_state *c);
	void (*resume_cpu)(struct cpu_state *c);
	/* A CPU came online, or stopped because it is going offline; called within
	 * hotplug.  May be NULL. */
	void (*cpu_changed)(struct session *s, unsigned int cpu, bool came);
	/* The remaining functions are only for a by_kernel source.  Called as the last
	 * step of SETUP, and when the recording ends. */
	/* `kind_of` is the kind of each CPU below nr_cpu_ids, or NULL without
	 * kinds. */
	int (*prepare)(struct session *s, const u8 *kind_of);
	void (*forget)(struct session *s);		/* no lock held */
	/* Called before START and after STOP. Returns -EBADFD if already open. */
	int (*open)(struct session *s);			/* no lock held */
	void (*close)(struct session *s);		/* no lock held */
	int (*add_thread)(struct session *s, u32 tid);	/* no lock held */
	/* Adds up the counts of the events; no lock held. */
	void (*counts)(struct session *s, struct tally_stats *out);
};

extern const struct source timer_source, pmu_source, perf_source;
extern struct list_head sessions;
extern struct mutex sessions_lock;
extern unsigned int max_rate;
extern bool all_counters;

/* session.c */
struct session *session_new(void);
/* `kind_of` is what tally_setup.kind_of points to, for nr_cpu_ids CPUs; NULL without
 * kinds. */
int session_setup(struct session *s, const struct tally_setup *setup,
		  const struct cpumask *cpus, const u8 *kind_of);
int session_start(struct session *s);
int session_stop(struct session *s);
void session_free(struct session *s);
void session_stats(struct session *s, u32 cpu, struct tally_stats *out);
const struct source *source_find(u32 which);
/* Lets the counters of a recording of threads run or pause, as `on` says.  Call it
 * on the CPU itself, with interrupts off. */
void session_switch(struct session *s, bool on);
/* Does the same on all CPUs, according to the threads that run there now. */
void session_resync(struct session *s);
/* Stops a CPU that runs, and starts it again. */
void session_restart_cpu(struct session *s, unsigned int cpu);
/* Returns whether the module itself follows the recording's threads. */
static inline bool session_follows(const struct session *s)
{
	return s->setup.flags & TALLY_SETUP_TASKS && s->source &&
	       !s->source->by_kernel;
}

/* Returns whether the module must know the recording's threads. */
static inline bool session_knows(const struct session *s)
{
	return session_follows(s) ||
	       (s->setup.flags & TALLY_SETUP_TASKS &&
		s->setup.flags & TALLY_SETUP_WAITS);
}

/* Charges locked memory to the user and to all recordings.  Returns 0 or -ENOMEM. */
int pages_charge(struct session *s, size_t pages);
void pages_release(struct session *s, size_t pages);
int sessions_init(void);
void sessions_exit(void);

/* pmu.c */
void pmu_init(void);
void pmu_exit(void);

/* tasks.c */
int tasks_add(struct session *s, u32 tid);
/* Return whether a thread, or the current one, is followed. */
bool tasks_has(struct session *s, struct task_struct *t);
bool tasks_current(struct session *s);
/* Returns the number of a thread or, with PIDTYPE_TGID, of its process.  A thread that
 * has lost its number gets -1, as in perf. */
u32 tasks_number(struct task_struct *t, enum pid_type type,
		 struct pid_namespace *ns);
void tasks_free(struct session *s);
/* Track context switches and wakeups on each CPU, while at least one recording needs
 * it.  Both sleep and must be called without locks. */
#define WATCH_SWITCHES	(1u << 0)
#define WATCH_WAKES	(1u << 1)
int tasks_watch(unsigned int what);
void tasks_unwatch(unsigned int what);
int tasks_init(void);
void tasks_exit(void);

/* ring.c */
/* Puts a record into the ring and wakes the program when its watermark is reached.
 * `copy`, at the record's end, receives what is available of the user's stack.  Returns
 * false if the ring is full. */
bool ring_put(struct cpu_state *c, struct tally_record *r,
	      struct tally_copy *copy);

/* sample.c */
/* Flags of sample_take's result. */
#define SAMPLE_WANTED	1u	/* a thread and mode that the recording asks for */
#define SAMPLE_TOO_FAST	2u	/* above the rate limit: call sample_slower */
unsigned int sample_take(struct cpu_state *c, unsigned int event,
			 struct pt_regs *regs, u64 weight);
/* Raises the mean period of an event, up to `most`, so that it stays below the
 * rate limit.  The period later returns to the requested one by itself. */
void sample_slower(struct cpu_state *c, unsigned int event, u64 most);
/* Returns the next number of the CPU's pseudo-random sequence. */
u64 sample_random(struct cpu_state *c);
/* Reduces the share of overflows that are sampled, for the kernel's events, whose
 * period cannot be changed. */
void sample_thinner(struct cpu_state *c, unsigned int event);
/* Puts a sample of the current thread, which the scheduler switches out or which wakes
 * another one: its user side only.  Returns false if the ring is full. */
bool sample_waiting(struct cpu_state *c, u16 event, u64 weight, u64 now);
/* Adds a run of a handler to the statistics and to the window. */
void sample_account(struct cpu_state *c, u64 cycles);
/* Returns whether handlers have used parts/of of a quarter of the window's time. */
bool sample_exhausted(const struct cpu_state *c, u32 parts, u32 of);
/* Returns a period that differs from `mean` by up to an eighth. */
u64 sample_jitter(struct cpu_state *c, u64 mean);

/* waits.c: called within the scheduler, with interrupts off, under RCU. */
/* The current thread, `prev`, leaves this CPU to `next`. */
void waits_switched(struct session *s, struct task_struct *prev,
		    struct task_struct *next, unsigned int prev_state);
/* This CPU wakes a thread. */
void waits_woken(struct session *s, struct task_struct *t);
/* Records on this CPU end for a while.  Called on the CPU itself. */
void waits_interrupted(struct cpu_state *c);

/* chain.c: return the number of addresses.  *cut is set if there are more than
 * `room`. */
unsigned int chain_kernel(struct pt_regs *regs, u64 *ips, unsigned int room,
			  bool *cut);
unsigned int chain_user(struct pt_regs *regs, u64 *ips, unsigned int room,
			bool *cut);

/* copy.c: fills in all members but bytes.  Returns false if there is no user side. */
bool copy_user(struct pt_regs *regs, struct tally_copy *out);
/* Does the same for the current thread within the scheduler. */
bool copy_entered(struct tally_copy *out);
/* Returns whether the current thread, within the scheduler, has entered the kernel from
 * 64-bit code, and the number of its system call, negative if it is in none. */
bool copy_call(s16 *number);
/* Copies the stack of `t` to position `at` of the ring, where `room` bytes are
 * free.  Copies at most `most` bytes.  Returns the bytes used including padding,
 * or -ENOSPC if the stack did not fit. */
int copy_stack(struct cpu_state *c, struct tally_copy *t, u64 at, u64 room,
	       u32 most);

/* rows.c: see tally/kmod.h.  These functions sleep and return 0 or a negative
 * error. */
int rows_new(struct session *s);
void rows_free(struct session *s);
int rows_table(struct session *s, const struct tally_table *u);
int rows_page(struct session *s, const struct tally_page *u);
int rows_space(struct session *s, const struct tally_space *u);
size_t rows_bytes(struct session *s);
/* Unwinds the current thread's stack from user-mode registers (tally_copy.regs,
 * all known), in any context; see walk_user.  *generation is the space's. */
enum tally_walk rows_walk(struct session *s, const u64 *regs, u64 *pc, u32 max,
			  u32 *n, u32 *generation);

/* count.c: with TALLY_SETUP_COUNT only. */
/* Returns the memory of a CPU's tables, 0 without COUNT. */
size_t counts_bytes(const struct session *s);
/* Allocates these tables.  Returns 0 or -ENOMEM; counts_free undoes either. */
int counts_new(struct cpu_state *c, int node);
void counts_free(struct cpu_state *c);
/* Adds up a sample whose stack the ring has.  Returns false if there is no room for
 * it.  Runs in the handler. */
bool counts_add(struct cpu_state *c, const struct tally_sample *t, u32 generation);
/* Copies what was added up to `to`, TALLY_COUNTS_MAX records at most.  Sleeps.  Returns
 * 0 or -EFAULT, after which the next call returns the same records. */
int counts_take(struct session *s, u32 cpu, void __user *to, u32 *n);

/* cgroup.c */
int cgroup_follow(struct session *s, u32 fd);
bool cgroup_has(struct session *s, struct task_struct *t);
void cgroup_forget(struct session *s);

#endif
