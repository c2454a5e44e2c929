/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_KMOD_H
#define TALLY_KMOD_H
/*
 * What programs and the kernel module tally.ko say to each other through the
 * device /dev/tally.
 *
 * An open file is one recording.  TALLY_IOC_INFO asks what there is, SETUP
 * chooses (once), TASKS names threads, START and STOP switch; TABLE, PAGE and
 * SPACE bring what stacks are unwound by (see there).  Samples come in
 * one ring a CPU, mapped at TALLY_RING_OFFSET: a page with struct tally_ring,
 * then the data.  When the file is closed, by whatever means, everything is
 * switched off and freed.
 *
 * Versions.  Each struct begins with its size.  The module takes structs that
 * are shorter than its own (what is missing is 0) and longer ones whose rest is
 * 0 (E2BIG if not), and answers no more than there is room for.  What keeps
 * older programs right raises MINOR: fields at the end of structs, flags,
 * ioctls, types of records; readers skip records they do not know by their
 * size.  All else raises MAJOR, and programs refuse a MAJOR they do not know.
 *
 * Errors: EPERM without CAP_PERFMON or CAP_SYS_ADMIN, EINVAL for values that
 * make no sense, EBADFD for a call at the wrong time, EBUSY when somebody else
 * holds the counters, ENODEV for a source this machine has not, ESRCH for a
 * thread that is gone, ENXIO for a CPU without ring, ENOMEM.
 */
#include <linux/ioctl.h>
#include <linux/types.h>

#define TALLY_DEVICE		"/dev/tally"
#define TALLY_ABI_MAJOR		1
#define TALLY_ABI_MINOR		3

enum tally_source {
	TALLY_TIMER = 1,	/* a timer on each CPU; periods in ns */
	TALLY_PMU_K8 = 2,	/* performance counters, by NMI */
	TALLY_PMU_P6 = 3,
	TALLY_PERF = 4,		/* the kernel's own events (perf_event_open(2)),
				 * attached to threads or CPUs by the kernel */
};

#define TALLY_EVENTS_MAX	4
#define TALLY_CHAIN_MAX		1024
#define TALLY_COPY_MAX		65528
#define TALLY_RING_MIN		4096
#define TALLY_RING_MAX		(16 << 20)
#define TALLY_TASKS_MAX		65536
#define TALLY_PERIOD_MIN	100	/* of counters; 1 ns of timers */
#define TALLY_HISTOGRAM		32
#define TALLY_ALL_CPUS		0xffffffffu

struct tally_info {
	__u32 size;
	__u16 abi_major, abi_minor;
	__u32 sources;		/* bit i: source i is here */
	__u32 cpus;		/* numbers of CPUs are below */
	__u32 max_rate;		/* samples a second, CPU and recording */
	__u32 counters;		/* of the PMU, or 0 */
};

/* tally_event.flags */
#define TALLY_EVENT_USER	(1u << 0)	/* while in user mode */
#define TALLY_EVENT_KERNEL	(1u << 1)
#define TALLY_EVENT_EDGE	(1u << 2)	/* PMU: as in PerfEvtSel */
#define TALLY_EVENT_INV		(1u << 3)
#define TALLY_EVENT_FLAGS	0xfu

struct tally_event {
	__u64 period;		/* of samples, on average: each is jittered;
				 * raised while that is too fast */
	__u64 freq;		/* PMU: adapt the period to this rate; or 0 */
	__u32 flags;
	__u8 event, umask, cmask;	/* PMU */
	__u8 allowed;		/* PMU: bit i: may use counter i */
};

/* tally_setup.flags */
#define TALLY_SETUP_CHAIN	(1u << 0)	/* with callers */
#define TALLY_SETUP_TASKS	(1u << 1)	/* only threads of TASKS */
#define TALLY_SETUP_INHERIT	(1u << 2)	/* and what they start */
#define TALLY_SETUP_ON_EXEC	(1u << 3)	/* each from its exec on */
#define TALLY_SETUP_CGROUP	(1u << 4)	/* only threads of cgroup_fd */
/* Since minor version 3.  UNWIND: with copy_bytes; callers of user space are
 * found by what TABLE, PAGE and SPACE brought, and where that leads to the
 * stack's end, no copy is made of it. */
#define TALLY_SETUP_UNWIND	(1u << 5)
#define TALLY_SETUP_STACKS	(1u << 6)	/* CHAIN: equal ones once */
#define TALLY_SETUP_PROOF	(1u << 7)	/* UNWIND: with copies all the same */
#define TALLY_SETUP_FLAGS	0xffu

/* What perf_event_attr has of the same names. */
struct tally_perf_event {
	__u64 config, config1, config2;
	__u32 type;
	__u32 reserved;		/* 0 */
};

struct tally_setup {
	__u32 size;
	__u32 source;
	__u32 flags;
	__u32 nevents;
	__u64 ring_bytes;	/* data of a CPU's ring: a power of two */
	__u32 watermark;	/* bytes in a ring that make poll return */
	__u32 max_chain;	/* addresses of a sample; CHAIN only */
	__u64 cpus;		/* address of a bitmap, or 0: all */
	__u32 cpu_bits;		/* in it */
	__u32 reserved;		/* 0 */
	struct tally_event events[TALLY_EVENTS_MAX];
	/* Since minor version 1.  copy_bytes: CHAIN only, a multiple of 8, at
	 * most TALLY_COPY_MAX and half a ring: callers of user space come as
	 * registers and so much of the stack, not by frame pointers. */
	__u32 copy_bytes;
	/* CGROUP, not with TASKS: a folder of a cgroup (version 2); those below
	 * it count.  Else 0. */
	__u32 cgroup_fd;
	/* Since minor version 3.  Of source TALLY_PERF, one an event; else 0. */
	struct tally_perf_event perf[TALLY_EVENTS_MAX];
};

struct tally_tasks {
	__u32 size;
	__u32 n;
	__u64 tids;		/* address of __u32[n]; of our pid namespace */
};

struct tally_event_stats {
	__u64 samples;		/* in the ring */
	__u64 lost;		/* no room */
	__u64 throttled;	/* not taken: the period was raised */
	__u64 missed;		/* came too late: interrupts were off */
	__u64 weight;		/* of all four */
	__u64 counter;		/* PMU: the one it has */
};

/* What perf_event_open(2) calls value, time_enabled and time_running; summed over
 * all counters of an event. */
struct tally_perf_count {
	__u64 value, enabled_ns, running_ns;
};

struct tally_stats {
	__u32 size;
	__u32 cpu;		/* in: of this one, or TALLY_ALL_CPUS */
	/* Between START and STOP, so far; since minor version 2 only while a
	 * thread of TASKS runs, where there are any, and summed over CPUs. */
	__u64 enabled_ns;
	__u64 unclaimed;	/* NMIs of ours without a counter at its end */
	__u64 untracked;	/* new threads that memory did not suffice for */
	__u64 cycles;		/* in the handler */
	/* How often the handler took 2^i to 2^(i+1)-1 cycles. */
	__u64 histogram[TALLY_HISTOGRAM];
	struct tally_event_stats events[TALLY_EVENTS_MAX];
	/* Since minor version 3: of TALLY_PERF, asked for TALLY_ALL_CPUS. */
	struct tally_perf_count perf[TALLY_EVENTS_MAX];
	__u64 unwound;		/* user stacks that were unwound to their end … */
	__u64 copied;		/* … and those of UNWIND that were not */
	__u64 nested;		/* samples within another's handler; in missed */
	__u64 table_bytes;	/* of TABLE, PAGE and SPACE, all CPUs' */
	__u64 ring_bytes;	/* that ever came into the rings */
};

/*
 * How stacks are unwound, since minor version 3; x86-64 programs only.
 *
 * An image has a TABLE, its code a PAGE for each 64 KB: rows of addresses, each
 * with a word that says how a frame there is left.  SPACE says where images are
 * mapped in a process.  All of them can be given again, in place of what was
 * there.  A walk that meets an address without mapping, page or word, or memory
 * that cannot be read, ends in a copy of the stack, as without UNWIND: so the
 * program brings what is missing when it sees such copies.
 *
 * Words: the low three bits say what the rest means.
 */
enum tally_row {
	TALLY_ROW_NONE,		/* not known here: a copy of the stack */
	/* CFA = rsp (rbp) + 8 * bits 3-16; the return address is below it; the
	 * caller's rbp is at CFA + 8 * bits 17-31 (signed), 0: unchanged. */
	TALLY_ROW_RSP,
	TALLY_ROW_RBP,
	TALLY_ROW_END,		/* this frame has no caller */
	TALLY_ROW_RULE,		/* bits 3-31: number of a tally_rule */
	/* CFA = rsp + 8, and 8 more where rip & 15 is at least bits 3-6: stubs
	 * of .plt */
	TALLY_ROW_PLT,
	/* The stack begins with this frame, if it called another (or so it seems:
	 * what put the return address there may have been no call); bit 3: the
	 * frame is at the return address itself. */
	TALLY_ROW_BEGIN,
};

/* How the caller's register is found; tally_rule.ip, sp, bp. */
enum tally_how {
	TALLY_HOW_SAME,		/* rsp: the CFA */
	TALLY_HOW_LOST,
	TALLY_HOW_CFA,		/* in memory at CFA + val */
	TALLY_HOW_VAL,		/* CFA + val */
	TALLY_HOW_REG,		/* in register val */
	TALLY_HOW_MEM,		/* … + r: in memory at register r + val */
};

/* For frames whose word has no room.  Registers as in tally_copy. */
struct tally_rule {
	__u8 cfa_reg;
	__u8 cfa_memory;	/* 1: the CFA is in memory at cfa_reg + cfa_val */
	__u8 signal;		/* 1: the kernel made this frame */
	__u8 ip, sp, bp;	/* enum tally_how */
	__u8 called;		/* 1: only for frames that called another */
	__u8 reserved;		/* 0 */
	__s32 cfa_val, ip_val, sp_val, bp_val;
};

#define TALLY_TABLES_MAX	4096	/* of a recording */
#define TALLY_TABLE_PAGES	65536
#define TALLY_PAGE_BITS		16
#define TALLY_SPACES_MAX	1024
#define TALLY_MAPS_MAX		16384

/* tally_table.flags: code of Go, where what seems a call may be a stack's end:
 * return addresses with a call behind them are TALLY_ROW_BEGIN or not known. */
#define TALLY_TABLE_GO		(1u << 0)

struct tally_table {
	__u32 size;
	__u32 id;		/* below TALLY_TABLES_MAX; the program's choice */
	__u64 base;		/* vaddr of page 0, a multiple of 64 KB */
	__u32 pages;		/* 0: ends it; EBUSY while mapped in a SPACE */
	__u32 flags;
};

struct tally_page {
	__u32 size;
	__u32 table;
	__u32 page;
	__u32 nrows;		/* 1 to 65536 */
	__u32 nwords, nrules;	/* at most 65536 */
	/* Addresses of: __u16 starts[nrows], rising from 0 (the low 16 bits of
	 * where rows begin), then __u16 word[nrows], numbers of words */
	__u64 rows;
	__u64 words;		/* __u32[nwords] */
	__u64 rules;		/* struct tally_rule[nrules] */
};

struct tally_map {
	__u64 start, end;	/* not empty; rising, without overlap */
	__u64 delta;		/* address + delta = vaddr in the image */
	__u32 table;
	__u32 reserved;		/* 0 */
};

struct tally_space {
	__u32 size;
	__u32 pid;		/* of our pid namespace: its memory as it is now */
	__u32 generation;	/* returned in samples; 0 is none */
	__u32 n;		/* 0: ends what has this generation, whatever pid */
	__u64 maps;		/* address of struct tally_map[n] */
};

#define TALLY_IOC		0xa7
/* Since minor version 3 the module goes by the number alone: direction and size in
 * it are for tools that show calls; before, all were _IO(). */
#define TALLY_IOC_INFO		_IOWR(TALLY_IOC, 0, struct tally_info)
#define TALLY_IOC_SETUP		_IOW(TALLY_IOC, 1, struct tally_setup)
#define TALLY_IOC_TASKS		_IOW(TALLY_IOC, 2, struct tally_tasks)
#define TALLY_IOC_START		_IO(TALLY_IOC, 3)	/* 0 */
#define TALLY_IOC_STOP		_IO(TALLY_IOC, 4)	/* 0 */
#define TALLY_IOC_STATS		_IOWR(TALLY_IOC, 5, struct tally_stats)
#define TALLY_IOC_TABLE		_IOW(TALLY_IOC, 6, struct tally_table)
#define TALLY_IOC_PAGE		_IOW(TALLY_IOC, 7, struct tally_page)
#define TALLY_IOC_SPACE		_IOW(TALLY_IOC, 8, struct tally_space)

#define TALLY_RING_OFFSET(cpu, page, ring_bytes) \
	((__u64)(cpu) * ((page) + (ring_bytes)))

#define TALLY_RING_MAGIC	0x594c4c54

/* The first page of a ring.  `head` and `tail` count bytes for ever; a record
 * at position p begins at p modulo data_size and may go around the end. */
struct tally_ring {
	__u32 magic;
	__u16 abi_major, abi_minor;
	__u32 cpu;
	__u32 data_offset;
	__u64 data_size;
	__u64 reserved[5];
	__u64 head;		/* by the module: read it with acquire order */
	__u64 reserved2[7];
	__u64 tail;		/* by the program: write it with release order */
};

/* Types lie outside of those of perf_event_open(2), so that records of both can
 * stand in one queue; the header is as long as struct perf_event_header. */
#define TALLY_RECORD_SAMPLE	0x54410001u
#define TALLY_RECORD_THROTTLE	0x54410002u	/* header and time only */

struct tally_record {
	__u32 type;
	__u16 event;
	__u16 size;		/* with this header; a multiple of 8 */
	__u64 time;		/* CLOCK_MONOTONIC */
};

#define TALLY_SAMPLE_USER	(1u << 0)	/* taken in user mode */
#define TALLY_SAMPLE_CUT	(1u << 1)	/* there were more callers */
#define TALLY_SAMPLE_COPY	(1u << 2)	/* a tally_copy follows ips[] */
/* User addresses were found by TABLE, PAGE and SPACE, to the end of the stack;
 * return addresses are less 1.  Behind ips[] is a __u64, the SPACE's generation. */
#define TALLY_SAMPLE_UNWOUND	(1u << 3)
/* STACKS: no ips[]; they are those of the sample with the same tally_sample.stack,
 * earlier in this ring, less than TALLY_STACKS_KEPT such numbers ago. */
#define TALLY_SAMPLE_AGAIN	(1u << 4)
#define TALLY_STACKS_KEPT	4096

struct tally_sample {
	struct tally_record r;
	__u32 pid, tid;
	__u32 cpu;
	__u32 flags;
	__u16 nkernel, nuser;	/* addresses: the kernel's first */
	/* STACKS: a number that the addresses have from here on, rising from 1
	 * in each ring; 0: none. */
	__u32 stack;
	__u64 weight;
	__u64 ips[];		/* each part innermost first */
};

/* Why a stack was copied and not unwound; 0 also without UNWIND. */
enum tally_walk {
	TALLY_WALK_WHOLE,	/* it was not */
	TALLY_WALK_NO_SPACE,	/* none of this process, or an i386 program */
	TALLY_WALK_NO_MAP,	/* an address in none of its maps */
	TALLY_WALK_NO_PAGE,
	TALLY_WALK_NO_WORD,	/* TALLY_ROW_NONE */
	TALLY_WALK_NO_CALL,	/* a return address that no call left there */
	TALLY_WALK_MEMORY,	/* not in memory */
	TALLY_WALK_REGISTER,	/* one that is not followed */
	TALLY_WALK_NO_PROGRESS,	/* a caller's frame would be below */
	TALLY_WALK_TOO_DEEP,	/* more frames than max_chain */
	TALLY_WALK_BAD_RULE,
	TALLY_WALKS,
};

/* tally_copy.flags */
#define TALLY_COPY_32		(1u << 0)	/* an i386 program */
#define TALLY_COPY_ALL		(1u << 1)	/* no memory behind it, or none
						 * that was touched */

/* The user side of a sample: registers by the numbers of the x86-64 psABI
 * (figure 3.36; 16 is rip), and the stack from rsp up, as far as was asked for,
 * as the record can hold, or as there is memory. */
#define TALLY_COPY_REGS		17

struct tally_copy {
	__u32 bytes;		/* then 0 to a multiple of 8 */
	__u32 flags;
	__u32 known;		/* bit i: regs[i] is; 0: they could not be had */
	__u32 why;		/* UNWIND: enum tally_walk */
	__u64 regs[TALLY_COPY_REGS];
	__u8 stack[];
};

#endif
