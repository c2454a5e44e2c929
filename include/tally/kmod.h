/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_KMOD_H
#define TALLY_KMOD_H
/*
 * The interface between programs and the kernel module tally.ko: the device
 * /dev/tally.
 *
 * An open file is one recording.  TALLY_IOC_INFO returns what is available, SETUP
 * configures (once), TASKS names threads, START and STOP switch sampling.  TABLE,
 * PAGE and SPACE supply unwind tables, COUNTS takes samples that were added up (see
 * there).  Samples arrive in one ring per
 * CPU, mapped at TALLY_RING_OFFSET: a page with struct tally_ring, then the data.
 * Waits arrive in a second ring per CPU (TALLY_SETUP_WAITS), mapped at
 * TALLY_WAIT_OFFSET.  Closing the file, in any way, stops everything and frees it.
 *
 * Versions.  Each struct begins with its size.  The module accepts structs that are
 * shorter than its own (missing members are 0), and longer ones if the excess is 0
 * (otherwise E2BIG).  It returns no more than there is room for.  Changes that keep
 * older programs correct raise MINOR: fields at the end of structs, flags, ioctls,
 * types of records.  Readers skip unknown records by their size.  All other changes
 * raise MAJOR, and programs refuse an unknown MAJOR.
 *
 * Errors:
 *
 *	EPERM	neither CAP_PERFMON nor CAP_SYS_ADMIN; SETUP: the kernel is locked down
 *	EACCES	SETUP: a security module does not let the caller sample the kernel, or
 *		record waits
 *	EINVAL	invalid values
 *	EBADFD	a call in the wrong state
 *	EBUSY	the counters are in use
 *	ENODEV	the machine lacks the source
 *	ESRCH	the thread has exited
 *	ENXIO	the CPU has no ring
 *	ENOMEM	out of memory
 */
#include <linux/ioctl.h>
#include <linux/types.h>

#define TALLY_DEVICE		"/dev/tally"
#define TALLY_ABI_MAJOR		1
#define TALLY_ABI_MINOR		9

enum tally_source {
	TALLY_TIMER = 1,	/* timers, one per CPU; periods in ns */
	TALLY_PMU_K8 = 2,	/* performance counters, by NMI */
	TALLY_PMU_P6 = 3,
	TALLY_PERF = 4,		/* the kernel's own events (perf_event_open(2)),
				 * attached to threads or CPUs by the kernel */
	/* Since minor version 5, with the module's parameter all_counters: as
	 * TALLY_PMU_K8, with the registers of other processors. */
	TALLY_PMU_AMD = 5,	/* family 10h and later */
	TALLY_PMU_INTEL = 6,	/* architectural performance monitoring */
};

#define TALLY_EVENTS_MAX	4
#define TALLY_KINDS_MAX		4	/* kinds of cores */
#define TALLY_CHAIN_MAX		1024
#define TALLY_COPY_MAX		65528
#define TALLY_RING_MIN		4096
#define TALLY_RING_MAX		(16 << 20)
#define TALLY_TASKS_MAX		65536
#define TALLY_PERIOD_MIN	100	/* for counters; timers: 1 ns */
#define TALLY_HISTOGRAM		32
#define TALLY_ALL_CPUS		0xffffffffu

struct tally_info {
	__u32 size;
	__u16 abi_major, abi_minor;
	__u32 sources;		/* bit i: source i is available */
	__u32 cpus;		/* all CPU numbers are below this */
	__u32 max_rate;		/* samples per second, CPU and recording */
	__u32 counters;		/* number of the PMU's counters, or 0 */
};

/* tally_event.flags */
#define TALLY_EVENT_USER	(1u << 0)	/* count in user mode */
#define TALLY_EVENT_KERNEL	(1u << 1)
#define TALLY_EVENT_EDGE	(1u << 2)	/* PMU: as in PerfEvtSel */
#define TALLY_EVENT_INV		(1u << 3)
/* Since minor version 4. */
#define TALLY_EVENT_PC		(1u << 4)
/* Since minor version 7.  TALLY_PERF: one counter for each kind of cores. */
#define TALLY_EVENT_KINDS	(1u << 5)
#define TALLY_EVENT_HIGH_SHIFT	8	/* PMU: bits 8 to 11 of the event code */
#define TALLY_EVENT_HIGH	(0xfu << TALLY_EVENT_HIGH_SHIFT)
#define TALLY_EVENT_FLAGS	0xf3fu
#define TALLY_EVENT_PMU_FLAGS	(TALLY_EVENT_FLAGS & \
				 ~(TALLY_EVENT_USER | TALLY_EVENT_KERNEL | \
				   TALLY_EVENT_KINDS))

struct tally_event {
	__u64 period;		/* mean sampling period; each period is jittered,
				 * and raised above the rate limit */
	__u64 freq;		/* PMU: rate (Hz) to which the period adapts, or 0 */
	__u32 flags;
	__u8 event, umask, cmask;	/* PMU */
	__u8 allowed;		/* PMU: bit i: may use counter i */
};

/* tally_setup.flags */
#define TALLY_SETUP_CHAIN	(1u << 0)	/* record callers */
#define TALLY_SETUP_TASKS	(1u << 1)	/* only threads named by TASKS */
#define TALLY_SETUP_INHERIT	(1u << 2)	/* and their children */
#define TALLY_SETUP_ON_EXEC	(1u << 3)	/* each thread from its exec on */
#define TALLY_SETUP_CGROUP	(1u << 4)	/* only threads in cgroup_fd */
/* Since minor version 3.  UNWIND requires copy_bytes.  Callers in user space are
 * found by TABLE, PAGE and SPACE. If they lead to the stack's end, the stack is
 * not copied. */
#define TALLY_SETUP_UNWIND	(1u << 5)
#define TALLY_SETUP_STACKS	(1u << 6)	/* CHAIN: send equal stacks once */
#define TALLY_SETUP_PROOF	(1u << 7)	/* UNWIND: also copy unwound stacks */
/* Since minor version 6.  COUNT requires STACKS, and excludes PROOF.  Samples that
 * differ only in time and weight are added up for COUNTS, if the ring has their
 * stack, which is complete, and unwound or without a user side. */
#define TALLY_SETUP_COUNT	(1u << 8)
/* Since minor version 8.  WAITS requires CHAIN: records of each thread that leaves a
 * CPU (with its stack) or gets one, for the threads and CPUs of the recording, but not
 * for idle tasks.  WAKES requires WAITS: records of who wakes these threads. */
#define TALLY_SETUP_WAITS	(1u << 9)
#define TALLY_SETUP_WAKES	(1u << 10)
#define TALLY_SETUP_FLAGS	0x7ffu

/* The members of perf_event_attr with the same names. */
struct tally_perf_event {
	__u64 config, config1, config2;
	__u32 type;
	__u32 reserved;		/* must be 0 */
};

/* tally_setup.kinds only, as a type: this kind of cores does not count the event. */
#define TALLY_PERF_NONE		0xffffffffu
#define TALLY_KIND_UNKNOWN	0xffu

struct tally_setup {
	__u32 size;
	__u32 source;
	__u32 flags;
	__u32 nevents;
	__u64 ring_bytes;	/* size of the data of each CPU's ring, a power of
				 * two */
	__u32 watermark;	/* bytes in a ring at which poll returns */
	__u32 max_chain;	/* most addresses of a sample; CHAIN only */
	__u64 cpus;		/* address of a bitmap, or 0 for all CPUs */
	__u32 cpu_bits;		/* number of bits in the bitmap */
	__u32 reserved;		/* must be 0 */
	struct tally_event events[TALLY_EVENTS_MAX];
	/* Since minor version 1.  Bytes of the stack to copy, a multiple of 8, at
	 * most TALLY_COPY_MAX and half a ring; CHAIN only.  Callers in user space
	 * come as registers and a copy of the stack instead of by frame pointers. */
	__u32 copy_bytes;
	/* CGROUP, not with TASKS: descriptor of a cgroup's folder (version 2).
	 * Groups below it are included.  Otherwise 0. */
	__u32 cgroup_fd;
	/* Since minor version 3.  TALLY_PERF: one per event; otherwise 0. */
	struct tally_perf_event perf[TALLY_EVENTS_MAX];
	/*
	 * Since minor version 7.  TALLY_PERF on a processor with several kinds of
	 * cores, each with counters of its own: events with TALLY_EVENT_KINDS use
	 * kinds[k] instead of perf, which is 0.  A CPU counts by its own kind.  A
	 * thread has a counter of each kind, which the kernel runs on CPUs of this
	 * kind only.
	 */
	__u32 nkinds;		/* 0 without such events */
	__u32 kind_cpus;
	/* Address of __u8[kind_cpus]: the kind of each CPU, below nkinds.  Where it
	 * is TALLY_KIND_UNKNOWN, or the CPU is beyond, the first kind is taken that
	 * the kernel does not refuse there (ENOENT). */
	__u64 kind_of;
	struct tally_perf_event kinds[TALLY_KINDS_MAX][TALLY_EVENTS_MAX];
	/* Since minor version 8.  WAITS: the size of the data of each CPU's ring of
	 * waits, a power of two; poll returns when a quarter of it is used.  Otherwise
	 * 0. */
	__u64 wait_bytes;
	/* WAITS: as copy_bytes, for the stacks of waits: at most copy_bytes and an
	 * eighth of wait_bytes.  Otherwise 0. */
	__u32 wait_copy_bytes;
	__u32 reserved2;	/* must be 0 */
};

struct tally_tasks {
	__u32 size;
	__u32 n;
	__u64 tids;		/* address of __u32[n], in the caller's pid
				 * namespace */
};

struct tally_event_stats {
	__u64 samples;		/* samples in the ring, and those added up */
	__u64 lost;		/* samples lost because the ring was full */
	__u64 throttled;	/* samples not taken because the period was raised */
	__u64 missed;		/* samples not taken in time because interrupts
				 * were off */
	__u64 weight;		/* weight of all four */
	__u64 counter;		/* PMU: index of its counter */
};

/* The value, time_enabled and time_running of perf_event_open(2), summed over all
 * counters of an event. */
struct tally_perf_count {
	__u64 value, enabled_ns, running_ns;
};

struct tally_stats {
	__u32 size;
	__u32 cpu;		/* in: number of a CPU, or TALLY_ALL_CPUS */
	/* Time between START and STOP so far.  Since minor version 2, it counts
	 * only while a thread of TASKS runs, if there are any, and is summed over
	 * CPUs. */
	__u64 enabled_ns;
	__u64 unclaimed;	/* our NMIs for which no counter had overflowed */
	__u64 untracked;	/* new threads not followed for lack of memory */
	__u64 cycles;		/* cycles spent in the handler */
	/* Number of handler runs that took 2^i to 2^(i+1)-1 cycles. */
	__u64 histogram[TALLY_HISTOGRAM];
	struct tally_event_stats events[TALLY_EVENTS_MAX];
	/* Since minor version 3.  For TALLY_PERF and TALLY_ALL_CPUS. */
	struct tally_perf_count perf[TALLY_EVENTS_MAX];
	__u64 unwound;		/* user stacks that were unwound to their end */
	__u64 copied;		/* user stacks that UNWIND had to copy */
	__u64 nested;		/* samples within another sample's handler;
				 * included in `missed` */
	__u64 table_bytes;	/* memory of TABLE, PAGE and SPACE for all CPUs */
	__u64 ring_bytes;	/* bytes that were ever written to the rings */
	/* Since minor version 6. */
	__u64 counted;		/* COUNT: samples added up; included in `samples` */
	/* Since minor version 8.  WAITS: records in the rings of waits, and those that
	 * were lost because a ring was full. */
	__u64 switches, switches_lost;
	__u64 wakes, wakes_lost;
	/* Stacks of waits and wakes.  They are also lost while the handlers have used a
	 * quarter of a CPU's time (those of wakes: an eighth), and while a ring has
	 * room for switches and wakes only. */
	__u64 wait_stacks, wait_stacks_lost;
	__u64 wait_cycles;	/* cycles spent in these handlers */
};

/*
 * Unwind tables, since minor version 3; for x86-64 programs only.
 *
 * An image has a TABLE, and a PAGE for each 64 KB of its code.  A page consists of
 * rows of addresses, each with a word that says how to unwind a frame there.  SPACE
 * says where images are mapped in a process.  Each of them can be supplied again to
 * replace the earlier one.  A walk fails at an address without a mapping, page or
 * word, or at memory that cannot be read.  The stack is then copied, as without
 * UNWIND. Such copies tell the program to supply what is missing.
 *
 * The low three bits of a word define the meaning of the others.
 */
enum tally_row {
	TALLY_ROW_NONE,		/* unknown: copy the stack */
	/* CFA = rsp (rbp) + 8 * bits 3-16.  The return address is below the CFA.
	 * The caller's rbp is at CFA + 8 * bits 17-31 (signed); 0: unchanged. */
	TALLY_ROW_RSP,
	TALLY_ROW_RBP,
	TALLY_ROW_END,		/* this frame has no caller */
	TALLY_ROW_RULE,		/* bits 3-31: index of a tally_rule */
	/* For stubs of .plt: CFA = rsp + 8, plus 8 if rip & 15 is at least bits
	 * 3-6. */
	TALLY_ROW_PLT,
	/* The stack begins with this frame if the frame called another one.  The
	 * call may be an illusion, because something else may have put the return
	 * address there.  Bit 3: the frame is at the return address itself. */
	TALLY_ROW_BEGIN,
};

/* Location of the caller's register, for tally_rule.ip, sp, bp. */
enum tally_how {
	TALLY_HOW_SAME,		/* unchanged; for rsp: the CFA */
	TALLY_HOW_LOST,
	TALLY_HOW_CFA,		/* in memory at CFA + val */
	TALLY_HOW_VAL,		/* CFA + val */
	TALLY_HOW_REG,		/* in register val */
	TALLY_HOW_MEM,		/* TALLY_HOW_MEM + r: in memory at register r + val */
};

/* A rule for frames that a word cannot describe.  Registers are numbered as in
 * tally_copy. */
struct tally_rule {
	__u8 cfa_reg;
	__u8 cfa_memory;	/* 1: the CFA is in memory at cfa_reg + cfa_val */
	__u8 signal;		/* 1: the kernel created this frame for a signal */
	__u8 ip, sp, bp;	/* enum tally_how */
	__u8 called;		/* 1: only for frames that called another one */
	__u8 reserved;		/* must be 0 */
	__s32 cfa_val, ip_val, sp_val, bp_val;
};

#define TALLY_TABLES_MAX	4096	/* tables of a recording */
#define TALLY_TABLE_PAGES	65536
#define TALLY_PAGE_BITS		16
#define TALLY_SPACES_MAX	1024
#define TALLY_MAPS_MAX		16384

/* tally_table.flags.  Go code, in which an apparent call may be the end of a
 * stack.  A return address that is followed by a call is therefore TALLY_ROW_BEGIN
 * or unknown. */
#define TALLY_TABLE_GO		(1u << 0)

struct tally_table {
	__u32 size;
	__u32 id;		/* below TALLY_TABLES_MAX, chosen by the program */
	__u64 base;		/* vaddr of page 0, a multiple of 64 KB */
	__u32 pages;		/* 0 removes the table; EBUSY while a SPACE maps it */
	__u32 flags;
};

struct tally_page {
	__u32 size;
	__u32 table;
	__u32 page;
	__u32 nrows;		/* 1 to 65536 */
	__u32 nwords, nrules;	/* at most 65536 */
	/* Address of __u16 starts[nrows] followed by __u16 word[nrows]. `starts`
	 * ascends from 0 and holds the low 16 bits of each row's first address.
	 * `word` holds indices of words. */
	__u64 rows;
	__u64 words;		/* address of __u32[nwords] */
	__u64 rules;		/* address of struct tally_rule[nrules] */
};

struct tally_map {
	__u64 start, end;	/* not empty; ascending, without overlap */
	__u64 delta;		/* address + delta = vaddr in the image */
	__u32 table;
	__u32 reserved;		/* must be 0 */
};

struct tally_space {
	__u32 size;
	__u32 pid;		/* in the caller's pid namespace; refers to its
				 * current memory */
	__u32 generation;	/* returned in samples; not 0 */
	__u32 n;		/* 0 removes the space of this generation, whatever
				 * its pid */
	__u64 maps;		/* address of struct tally_map[n] */
};

/*
 * Takes the samples of a CPU that COUNT has added up since the last call.  They are
 * in no order.  Each has its stack by number, whose addresses are in the ring
 * already.  So to read all samples up to a moment, call this, then read the ring.
 * Samples that find no room among TALLY_COUNTS_MAX are in the ring.
 */
#define TALLY_COUNTS_MAX	1024

struct tally_counts {
	__u32 size;
	__u32 cpu;
	__u32 n;		/* in: room, at least TALLY_COUNTS_MAX; out: number
				 * of records */
	__u32 reserved;		/* must be 0 */
	__u64 to;		/* address of struct tally_count[n] */
};

#define TALLY_IOC		0xa7
/* Since minor version 3, the module looks at the number alone.  Direction and size
 * serve tools that show calls.  Earlier, all were _IO(). */
#define TALLY_IOC_INFO		_IOWR(TALLY_IOC, 0, struct tally_info)
#define TALLY_IOC_SETUP		_IOW(TALLY_IOC, 1, struct tally_setup)
#define TALLY_IOC_TASKS		_IOW(TALLY_IOC, 2, struct tally_tasks)
#define TALLY_IOC_START		_IO(TALLY_IOC, 3)	/* argument: 0 */
#define TALLY_IOC_STOP		_IO(TALLY_IOC, 4)	/* argument: 0 */
#define TALLY_IOC_STATS		_IOWR(TALLY_IOC, 5, struct tally_stats)
#define TALLY_IOC_TABLE		_IOW(TALLY_IOC, 6, struct tally_table)
#define TALLY_IOC_PAGE		_IOW(TALLY_IOC, 7, struct tally_page)
#define TALLY_IOC_SPACE		_IOW(TALLY_IOC, 8, struct tally_space)
#define TALLY_IOC_COUNTS	_IOWR(TALLY_IOC, 9, struct tally_counts)

#define TALLY_RING_OFFSET(cpu, page, ring_bytes) \
	((__u64)(cpu) * ((page) + (ring_bytes)))

/* `cpus` is tally_info.cpus. */
#define TALLY_WAIT_OFFSET(cpu, cpus, page, ring_bytes, wait_bytes) \
	(TALLY_RING_OFFSET(cpus, page, ring_bytes) + \
	 TALLY_RING_OFFSET(cpu, page, wait_bytes))

#define TALLY_RING_MAGIC	0x594c4c54

/* The first page of a ring.  `head` and `tail` count bytes without limit.  A
 * record at position p begins at p modulo data_size and may wrap around the end. */
struct tally_ring {
	__u32 magic;
	__u16 abi_major, abi_minor;
	__u32 cpu;
	__u32 data_offset;
	__u64 data_size;
	__u64 reserved[5];
	__u64 head;		/* written by the module: read it with acquire
				 * order */
	__u64 reserved2[7];
	__u64 tail;		/* written by the program: write it with release
				 * order */
};

/* The types differ from those of perf_event_open(2), so that one queue can hold
 * both kinds of records.  The header has the length of struct perf_event_header. */
#define TALLY_RECORD_SAMPLE	0x54410001u
#define TALLY_RECORD_THROTTLE	0x54410002u	/* header and time only */

struct tally_record {
	__u32 type;
	__u16 event;
	__u16 size;		/* including this header; a multiple of 8 */
	__u64 time;		/* CLOCK_MONOTONIC */
};

#define TALLY_SAMPLE_USER	(1u << 0)	/* taken in user mode */
#define TALLY_SAMPLE_CUT	(1u << 1)	/* the call chain is truncated */
#define TALLY_SAMPLE_COPY	(1u << 2)	/* a tally_copy follows ips[] */
/* User addresses were found by TABLE, PAGE and SPACE, to the end of the stack.
 * Return addresses are reduced by 1.  A __u64 after ips[] is the SPACE's
 * generation. */
#define TALLY_SAMPLE_UNWOUND	(1u << 3)
/* STACKS: ips[] is absent.  The addresses are those of an earlier sample in this
 * ring with the same tally_sample.stack, fewer than TALLY_STACKS_KEPT numbers ago. */
#define TALLY_SAMPLE_AGAIN	(1u << 4)
#define TALLY_STACKS_KEPT	4096
/* Since minor version 8, for samples in rings of waits: the thread is in no system call,
 * but in a page fault, or was interrupted. */
#define TALLY_SAMPLE_OUTSIDE	(1u << 5)

struct tally_sample {
	struct tally_record r;
	__u32 pid, tid;
	__u32 cpu;
	__u32 flags;
	__u16 nkernel, nuser;	/* numbers of addresses; the kernel's come first */
	/* STACKS: number of these addresses for later samples, ascending from 1 in
	 * each ring; 0: none. */
	__u32 stack;
	__u64 weight;
	__u64 ips[];		/* each part innermost first */
};

/* Not in a ring: see TALLY_IOC_COUNTS.  Samples with equal members. */
#define TALLY_RECORD_COUNT	0x54410003u
#define TALLY_COUNT_SAMPLES	4096u

struct tally_count {
	struct tally_record r;	/* its time is that of the last sample */
	__u32 pid, tid;
	__u32 cpu;
	__u32 flags;		/* as in tally_sample, with AGAIN */
	__u16 nkernel, nuser;
	__u32 stack;		/* not 0 */
	__u64 weight;		/* of all of them */
	__u64 first;		/* time of the first one */
	__u32 n;		/* number of samples, 1 to TALLY_COUNT_SAMPLES */
	__u32 generation;	/* UNWOUND: the SPACE's */
};

/*
 * Rings of waits, since minor version 8.
 *
 * A thread that leaves its CPU has a TALLY_RECORD_SWITCH.  A sample of the event
 * TALLY_EVENT_BLOCKED precedes it, with the same time: the user side of its stack as in
 * other samples, without a kernel part, and with the weight 0.  For a thread without a
 * user side, its only address is 0, in the kernel part.  Where the sample is missing,
 * the stack is unknown.
 *
 * A thread that is woken has a TALLY_RECORD_WAKE, in the ring of the CPU where it is
 * woken.  If a thread of the recording wakes it, not an interrupt, a sample of the event
 * TALLY_EVENT_WAKING may precede the record, with the same time and the waking thread's
 * stack.  Its weight is the number of the woken thread.
 *
 * Where records of these two types are missing, TALLY_RECORD_GAP stands in their place
 * before the next one.  The last loss of a ring has none, but `switches_lost` and
 * `wakes_lost` have it.
 */
#define TALLY_EVENT_BLOCKED	0xff00u
#define TALLY_EVENT_WAKING	0xff01u

#define TALLY_RECORD_SWITCH	0x54410004u
#define TALLY_SWITCH_OUT	(1u << 0)	/* leaves its CPU; 0: gets one */
#define TALLY_SWITCH_PREEMPTED	(1u << 1)	/* OUT: and could have continued */
/* Since minor version 9.  OUT, but not PREEMPTED: a signal or a debugger has stopped the
 * thread; or it is in 64-bit code, and the upper 16 bits of the flags are the number of
 * the system call in which it waits: signed, negative if it is in none. */
#define TALLY_SWITCH_STOPPED	(1u << 2)
#define TALLY_SWITCH_CALL	(1u << 3)
#define TALLY_SWITCH_NUMBER	16		/* shift */

struct tally_switch {
	struct tally_record r;	/* its event is TALLY_EVENT_BLOCKED */
	__u32 pid, tid;
	__u32 cpu;
	__u32 flags;
};

#define TALLY_RECORD_WAKE	0x54410005u
#define TALLY_WAKE_INTERRUPT	(1u << 0)	/* by an interrupt that the thread
						 * met */

struct tally_wake {
	struct tally_record r;	/* its event is TALLY_EVENT_WAKING */
	__u32 pid, tid;		/* of the waking thread; 0: an idle task */
	__u32 cpu;
	__u32 flags;
	__u32 woken;		/* number of the woken thread */
	__u32 reserved;
};

#define TALLY_RECORD_GAP	0x54410006u

struct tally_gap {
	struct tally_record r;	/* its event is TALLY_EVENT_BLOCKED */
	__u64 lost;		/* records that were lost since the last GAP; 0: an
				 * unknown number, while the CPU was not recorded */
};

/* The reason why a stack was copied instead of unwound; 0 also without UNWIND. */
enum tally_walk {
	TALLY_WALK_COMPLETE,	/* unwound, not copied */
	TALLY_WALK_NO_SPACE,	/* the process has no space, or is an i386 program */
	TALLY_WALK_NO_MAP,	/* address outside of all maps */
	TALLY_WALK_NO_PAGE,
	TALLY_WALK_NO_WORD,	/* the word is TALLY_ROW_NONE */
	TALLY_WALK_NO_CALL,	/* no call precedes a return address */
	TALLY_WALK_MEMORY,	/* memory not present */
	TALLY_WALK_REGISTER,	/* needs a register that is not followed */
	TALLY_WALK_NO_PROGRESS,	/* the caller's frame would be below */
	TALLY_WALK_TOO_DEEP,	/* more frames than max_chain */
	TALLY_WALK_BAD_RULE,
	TALLY_WALKS,
};

/* tally_copy.flags */
#define TALLY_COPY_32		(1u << 0)	/* an i386 program */
#define TALLY_COPY_ALL		(1u << 1)	/* no memory follows, none that was ever
						 * touched, or none of the stack */
#define TALLY_COPY_ABOVE	256u		/* bytes above a main thread's stack */

/* The user side of a sample.  Registers have the numbers of the x86-64 psABI
 * (figure 3.36; 16 is rip).  The stack is copied from rsp up.  It ends at the
 * requested size, at the record's limit, where memory ends, or TALLY_COPY_ABOVE bytes
 * after the word at which the kernel began the process's stack (argc). */
#define TALLY_COPY_REGS		17

struct tally_copy {
	__u32 bytes;		/* bytes of the stack, followed by zeros up to a
				 * multiple of 8 */
	__u32 flags;
	__u32 known;		/* bit i: regs[i] is known; 0: no register is */
	__u32 why;		/* UNWIND: enum tally_walk */
	__u64 regs[TALLY_COPY_REGS];
	__u8 stack[];
};

#endif
