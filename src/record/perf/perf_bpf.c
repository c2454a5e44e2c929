// SPDX-License-Identifier: GPL-2.0-or-later
/* BPF programs that report switches and wakeups of threads. */
#include "record/perf/perf_bpf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "launch/proc_read.h"
#include "record/perf/btf.h"
#include "record/source/bpf_call.h"
#include "record/source/rights.h"

/* The programs write the first part of a CPU's memory, and the recorder the second. */
struct perf_bpf_cpu {
	uint64_t head;		/* number of reports so far */
	uint64_t lost;
	uint64_t sampled;	/* number of samples so far */
	uint64_t count;		/* address of the CPU's number of layout.count, or 0 */
	_Alignas(64) uint64_t tail;	/* number of reports read */
	uint64_t permitted;	/* number of samples at which they end */
	uint32_t on, sample[PERF_BPF_SAMPLES];
	/* A CPU's memory consists of pages. */
	_Alignas(4096) struct perf_bpf_report ring[];
};

enum tracepoint { ON_SWITCH, ON_WAKING, ON_FORK, ON_EXEC, TRACEPOINTS };

/* Members of the kernel's structures that the programs read. */
enum member {
	TASK_PID, TASK_TGID, TASK_ON_RQ, TASK_STATE, TASK_EXIT_STATE,
	/* These three are counted from the beginning of a task. */
	ENTITY_RAN,
	ENTITY_DELAYED,	/* a thread that left may still be in the run queue (since Linux
			 * 6.12) */
	ENTITY_CFS_RQ,
	CFS_RQ_RQ, RQ_CPU, REGS_CALL, REGS_CS,
	MEMBERS
};

/* What the programs need to know about the kernel. */
struct layout {
	uint32_t tracepoints[TRACEPOINTS];	/* numbers of their types */
	int16_t at[MEMBERS];	/* offsets; ENTITY_DELAYED: 0 if there is none */
	/* Offset from the run queue to the number that says whether the CPU handles an
	 * interrupt.  Both are variables of the CPU. */
	int32_t count;
};

/* What the kernel's type information must describe. */
enum { TASK, ENTITY, CFS_RQ, RQ, REGS, HOT_TYPE, HOT, COUNT_ALONE, QUEUES, TRACEPOINT,
       NAMES = TRACEPOINT + TRACEPOINTS };

static bool task_layout(const struct btf *b, const struct btf_name *n, struct layout *l)
{
	static const struct {
		int of;
		const char *name;
	} members[MEMBERS] = {
		[TASK_PID] = { TASK, "pid" },
		[TASK_TGID] = { TASK, "tgid" },
		[TASK_ON_RQ] = { TASK, "on_rq" },
		[TASK_STATE] = { TASK, "__state" },
		[TASK_EXIT_STATE] = { TASK, "exit_state" },
		[ENTITY_RAN] = { ENTITY, "sum_exec_runtime" },
		[ENTITY_DELAYED] = { ENTITY, "sched_delayed" },
		[ENTITY_CFS_RQ] = { ENTITY, "cfs_rq" },
		[CFS_RQ_RQ] = { CFS_RQ, "rq" },
		[RQ_CPU] = { RQ, "cpu" },
		[REGS_CALL] = { REGS, "orig_ax" },
		[REGS_CS] = { REGS, "cs" },
	};
	uint32_t se, at;

	if (!btf_member(b, n[TASK].number, "se", &se))
		return false;
	for (size_t i = 0; i < MEMBERS; i++) {
		if (btf_member(b, n[members[i].of].number, members[i].name, &at))
			at += members[i].of == ENTITY ? se : 0;
		else if (i == ENTITY_DELAYED)
			at = 0;
		else
			return false;
		if (at > INT16_MAX)
			return false;
		l->at[i] = (int16_t)at;
	}
	for (size_t i = 0; i < TRACEPOINTS; i++)
		l->tracepoints[i] = n[TRACEPOINT + i].number;
	return true;
}

/* arch/x86/include/asm/preempt.h: a variable of its own, except in Linux 6.2 to 6.14. */
static bool count_layout(const struct btf *b, const struct btf_name *n, struct layout *l)
{
	static const char section[] = ".data..percpu";
	uint32_t queues, count, member = 0;

	if (!btf_in_section(b, section, n[QUEUES].number, &queues))
		return false;
	if (!btf_in_section(b, section, n[COUNT_ALONE].number, &count) &&
	    (!btf_in_section(b, section, n[HOT].number, &count) ||
	     !btf_member(b, n[HOT_TYPE].number, "preempt_count", &member)))
		return false;
	l->count = (int32_t)(count + member - queues);
	return true;
}

static bool read_layout(struct layout *l, char *why, size_t size)
{
	enum { LIMIT = 256 << 20 };
	struct btf_name n[NAMES] = {
		[TASK] = { BTF_STRUCTURE, "task_struct", 0 },
		[ENTITY] = { BTF_STRUCTURE, "sched_entity", 0 },
		[CFS_RQ] = { BTF_STRUCTURE, "cfs_rq", 0 },
		[RQ] = { BTF_STRUCTURE, "rq", 0 },
		[REGS] = { BTF_STRUCTURE, "pt_regs", 0 },
		[HOT_TYPE] = { BTF_STRUCTURE, "pcpu_hot", 0 },
		[HOT] = { BTF_VARIABLE, "pcpu_hot", 0 },
		[COUNT_ALONE] = { BTF_VARIABLE, "__preempt_count", 0 },
		[QUEUES] = { BTF_VARIABLE, "runqueues", 0 },
		[TRACEPOINT + ON_SWITCH] = { BTF_TYPEDEF, "btf_trace_sched_switch", 0 },
		[TRACEPOINT + ON_WAKING] = { BTF_TYPEDEF, "btf_trace_sched_waking", 0 },
		[TRACEPOINT + ON_FORK] = { BTF_TYPEDEF, "btf_trace_sched_process_fork",
					   0 },
		[TRACEPOINT + ON_EXEC] = { BTF_TYPEDEF, "btf_trace_sched_process_exec",
					   0 },
	};
	struct buf bytes = { 0 };
	struct error err;
	struct btf b = { 0 };
	bool read = io_read_file("/sys/kernel/btf/vmlinux", LIMIT, &bytes, &err) >= 0;
	bool known = read && btf_open(&b, bytes.p, bytes.n, n, NAMES) &&
		     task_layout(&b, n, l) && count_layout(&b, n, l);

	if (!known)
		snprintf(why, size, "%s", !read ? err.msg :
			 "/sys/kernel/btf/vmlinux does not describe this kernel's tasks");
	btf_close(&b);
	buf_fini(&bytes);
	return known;
}

/* A program being written.  R6 holds its context, and R8 the CPU's memory. */
struct program {
	struct bpf_insn insn[192];
	size_t n;
};

/* Jumps to one place that is still to come. */
struct jumps {
	size_t from[8], n;
};

/* Offsets from the frame pointer: the report, a key and a value of a map, a number and a
 * pointer that were read. */
#define MEMBER(m) (REPORT + (int)offsetof(struct perf_bpf_report, m))
enum {
	REPORT = -(int)sizeof(struct perf_bpf_report),
	TIME = MEMBER(time_ns),
	RAN = MEMBER(ran_ns),
	OUT_TID = MEMBER(out_tid),
	IN_TID = MEMBER(in_tid),
	OUT_PID = MEMBER(out_pid),
	IN_PID = MEMBER(in_pid),
	FLAGS = MEMBER(flags),
	LOST = MEMBER(lost),
	/* A struct perf_bpf_woken, until the report is complete. */
	WOKEN = FLAGS, WOKEN_TID = LOST,
	KEY = REPORT - 4, VALUE = REPORT - 8, NUMBER = REPORT - 12, POINTER = REPORT - 24,
};

static void put(struct program *p, unsigned int code, uint8_t dst, uint8_t src,
		int16_t off, int32_t imm)
{
	if (p->n < COUNT(p->insn))
		p->insn[p->n] = (struct bpf_insn){
			.code = (uint8_t)code, .dst_reg = dst & 0xf,
			.src_reg = src & 0xf, .off = off, .imm = imm,
		};
	p->n++;
}

static void set(struct program *p, uint8_t dst, int32_t imm)
{
	put(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static void move(struct program *p, uint8_t dst, uint8_t src)
{
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void add(struct program *p, uint8_t dst, int32_t imm)
{
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm);
}

/* Instructions for memory have a size: BPF_B, BPF_W or BPF_DW. */
static void load(struct program *p, unsigned int size, uint8_t dst, uint8_t base,
		 int16_t from)
{
	put(p, BPF_LDX | BPF_MEM | size, dst, base, from, 0);
}

static void store(struct program *p, unsigned int size, uint8_t base, int16_t to,
		  uint8_t src)
{
	put(p, BPF_STX | BPF_MEM | size, base, src, to, 0);
}

static void load_local(struct program *p, uint8_t dst, int16_t from)
{
	load(p, BPF_W, dst, BPF_REG_10, from);
}

static void store_local(struct program *p, int16_t to, uint8_t src)
{
	store(p, BPF_W, BPF_REG_10, to, src);
}

static void store_number(struct program *p, int16_t to, int32_t number)
{
	put(p, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, to, number);
}

/* Adds 1 in the CPU's memory.  With BPF_FETCH, other CPUs see what was written before as
 * soon as they see the sum. */
static void increment(struct program *p, size_t member, int32_t fetch)
{
	set(p, BPF_REG_1, 1);
	put(p, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_8, BPF_REG_1, (int16_t)member,
	    BPF_ADD | fetch);
}

/* Loads argument number i of the tracepoint. */
static void argument(struct program *p, uint8_t dst, int16_t i)
{
	load(p, BPF_DW, dst, BPF_REG_6, (int16_t)(8 * i));
}

static void address(struct program *p, uint8_t dst, int32_t on_stack)
{
	move(p, dst, BPF_REG_10);
	add(p, dst, on_stack);
}

static void map(struct program *p, uint8_t dst, int fd)
{
	put(p, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
	put(p, 0, 0, 0, 0, 0);
}

static void call(struct program *p, int32_t helper)
{
	put(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void jump_if(struct program *p, struct jumps *j, unsigned int op, uint8_t reg,
		    int32_t imm)
{
	if (j->n < COUNT(j->from))
		j->from[j->n] = p->n;
	j->n++;
	put(p, BPF_JMP | op | BPF_K, reg, 0, 0, imm);
}

/* The jumps lead to the next instruction. */
static void land(struct program *p, const struct jumps *j)
{
	for (size_t i = 0; i < j->n && i < COUNT(j->from); i++)
		if (j->from[i] < COUNT(p->insn))
			p->insn[j->from[i]].off = (int16_t)(p->n - j->from[i] - 1);
}

/* Begins with the memory of the CPU. */
static void begin(struct program *p, const struct perf_bpf *b, struct jumps *off)
{
	*p = (struct program){ .n = 0 };
	move(p, BPF_REG_6, BPF_REG_1);
	call(p, BPF_FUNC_get_smp_processor_id);
	store_local(p, KEY, BPF_REG_0);
	map(p, BPF_REG_1, b->shared);
	address(p, BPF_REG_2, KEY);
	call(p, BPF_FUNC_map_lookup_elem);
	jump_if(p, off, BPF_JEQ, BPF_REG_0, 0);
	move(p, BPF_REG_8, BPF_REG_0);
}

/* Begins with an empty report, if reports are on. */
static void begin_report(struct program *p, const struct perf_bpf *b, struct jumps *off)
{
	begin(p, b, off);
	load(p, BPF_W, BPF_REG_1, BPF_REG_8, offsetof(struct perf_bpf_cpu, on));
	jump_if(p, off, BPF_JEQ, BPF_REG_1, 0);
	for (int16_t at = RAN; at < 0; at = (int16_t)(at + 4))
		store_number(p, at, 0);
}

static void end(struct program *p)
{
	set(p, BPF_REG_0, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Sets KEY to the current thread, and R7 to its process. */
static void current_thread(struct program *p)
{
	call(p, BPF_FUNC_get_current_pid_tgid);
	store_local(p, KEY, BPF_REG_0);
	move(p, BPF_REG_7, BPF_REG_0);
	put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_7, 0, 0, 32);
}

/* Reads `size` bytes at R3 to the stack, or zeros if that fails. */
static void read_kernel(struct program *p, int16_t to, int32_t size)
{
	address(p, BPF_REG_1, to);
	set(p, BPF_REG_2, size);
	call(p, BPF_FUNC_probe_read_kernel);
}

/* Loads a number of the task that argument number i points to. */
static void task_number(struct program *p, uint8_t dst, int16_t i, int16_t offset)
{
	argument(p, dst, i);
	load(p, BPF_W, dst, dst, offset);
}

static void look_up(struct program *p, const struct perf_bpf *b, struct jumps *missing)
{
	map(p, BPF_REG_1, b->threads);
	address(p, BPF_REG_2, KEY);
	call(p, BPF_FUNC_map_lookup_elem);
	jump_if(p, missing, BPF_JEQ, BPF_REG_0, 0);
	load(p, BPF_W, BPF_REG_1, BPF_REG_0, 0);
}

static void update(struct program *p, const struct perf_bpf *b)
{
	map(p, BPF_REG_1, b->threads);
	address(p, BPF_REG_2, KEY);
	address(p, BPF_REG_3, VALUE);
	set(p, BPF_REG_4, BPF_ANY);
	call(p, BPF_FUNC_map_update_elem);
}

static void delete(struct program *p, const struct perf_bpf *b)
{
	map(p, BPF_REG_1, b->threads);
	address(p, BPF_REG_2, KEY);
	call(p, BPF_FUNC_map_delete_elem);
}

/* Skips what follows unless the thread KEY is reported. */
static void unless_reported(struct program *p, const struct perf_bpf *b,
			    struct jumps *skip)
{
	if (b->everyone)
		load_local(p, BPF_REG_1, KEY);	/* the idle task is number 0 */
	else
		look_up(p, b, skip);
	jump_if(p, skip, BPF_JEQ, BPF_REG_1, 0);
}

/* Skips what follows if samples are off, or no more are permitted. */
static void unless_sampled(struct program *p, enum perf_bpf_sample kind,
			   struct jumps *skip)
{
	load(p, BPF_W, BPF_REG_1, BPF_REG_8,
	     (int16_t)(offsetof(struct perf_bpf_cpu, sample) + 4 * kind));
	jump_if(p, skip, BPF_JEQ, BPF_REG_1, 0);
	load(p, BPF_DW, BPF_REG_1, BPF_REG_8, offsetof(struct perf_bpf_cpu, permitted));
	load(p, BPF_DW, BPF_REG_2, BPF_REG_8, offsetof(struct perf_bpf_cpu, sampled));
	put(p, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_1, BPF_REG_2, 0, 0);
	jump_if(p, skip, BPF_JSLE, BPF_REG_1, 0);
}

/* Writes a sample of the current thread with `size` bytes of the stack. */
static void sample(struct program *p, const struct perf_bpf *b, enum perf_bpf_sample kind,
		   int16_t from, int32_t size)
{
	move(p, BPF_REG_1, BPF_REG_6);
	map(p, BPF_REG_2, b->samples[kind]);
	/* BPF_F_CURRENT_CPU has 32 bits; a move of 64 bits would extend the sign. */
	put(p, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1);
	address(p, BPF_REG_4, from);
	set(p, BPF_REG_5, size);
	call(p, BPF_FUNC_perf_event_output);
	increment(p, offsetof(struct perf_bpf_cpu, sampled), 0);
}

/* Adds to the report in which call `prev` is blocked. */
static void find_call(struct program *p, const struct layout *l)
{
	/* include/linux/sched.h; arch/x86/include/asm/segment.h */
	enum { STOPPED = 4 | 8, USER_CS = 0x33 };
	/* include/uapi/linux/bpf.h: since Linux 5.15 */
	enum { FUNC_TASK_PT_REGS = 175 };
	struct jumps stopped = { .n = 0 }, done = { .n = 0 };

	task_number(p, BPF_REG_1, 1, l->at[TASK_STATE]);
	jump_if(p, &stopped, BPF_JSET, BPF_REG_1, STOPPED);
	argument(p, BPF_REG_1, 1);
	call(p, FUNC_TASK_PT_REGS);
	load(p, BPF_H, BPF_REG_1, BPF_REG_0, l->at[REGS_CS]);
	jump_if(p, &done, BPF_JNE, BPF_REG_1, USER_CS);
	load(p, BPF_W, BPF_REG_1, BPF_REG_0, l->at[REGS_CALL]);
	put(p, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 16);
	put(p, BPF_ALU64 | BPF_OR | BPF_K, BPF_REG_1, 0, 0, PERF_BPF_CALL);
	store_local(p, FLAGS, BPF_REG_1);
	jump_if(p, &done, BPF_JA, 0, 0);
	land(p, &stopped);
	store_number(p, FLAGS, PERF_BPF_STOPPED);
	land(p, &done);
}

/* The part of sched_switch(preempt, prev, next) about `prev`. */
static void write_out(struct program *p, const struct perf_bpf *b,
		      const struct layout *l)
{
	struct jumps ended = { .n = 0 }, blocked = { .n = 0 }, runnable = { .n = 0 };
	struct jumps done = { .n = 0 };

	current_thread(p);
	unless_reported(p, b, &done);
	load_local(p, BPF_REG_1, KEY);
	store_local(p, OUT_TID, BPF_REG_1);
	store_local(p, OUT_PID, BPF_REG_7);
	argument(p, BPF_REG_1, 1);
	load(p, BPF_DW, BPF_REG_1, BPF_REG_1, l->at[ENTITY_RAN]);
	store(p, BPF_DW, BPF_REG_10, RAN, BPF_REG_1);
	/* Set after the record of its exit, and before a process that waits for it is woken
	 * (do_exit, kernel/exit.c). */
	task_number(p, BPF_REG_1, 1, l->at[TASK_EXIT_STATE]);
	jump_if(p, &ended, BPF_JNE, BPF_REG_1, 0);
	/* What perf's record says (perf_event_switch, kernel/events/core.c): prev_state
	 * does not tell that a signal kept the thread in the run queue. */
	task_number(p, BPF_REG_1, 1, l->at[TASK_ON_RQ]);
	jump_if(p, &blocked, BPF_JEQ, BPF_REG_1, 0);
	if (l->at[ENTITY_DELAYED]) {
		argument(p, BPF_REG_1, 1);
		load(p, BPF_B, BPF_REG_1, BPF_REG_1, l->at[ENTITY_DELAYED]);
		jump_if(p, &blocked, BPF_JNE, BPF_REG_1, 0);
	}
	store_number(p, FLAGS, PERF_BPF_RUNNABLE);
	jump_if(p, &runnable, BPF_JA, 0, 0);
	land(p, &blocked);
	find_call(p, l);
	land(p, &runnable);
	unless_sampled(p, PERF_BPF_BLOCKED, &done);
	sample(p, b, PERF_BPF_BLOCKED, OUT_TID, 4);
	jump_if(p, &done, BPF_JA, 0, 0);
	land(p, &ended);
	store_number(p, FLAGS, PERF_BPF_ENDED);
	if (!b->everyone)
		delete(p, b);
	land(p, &done);
}

/* Copies the report to the ring of the CPU. */
static void append(struct program *p, const struct perf_bpf *b)
{
	struct jumps full = { .n = 0 }, done = { .n = 0 };

	call(p, BPF_FUNC_ktime_get_ns);
	store(p, BPF_DW, BPF_REG_10, TIME, BPF_REG_0);
	load(p, BPF_DW, BPF_REG_1, BPF_REG_8, offsetof(struct perf_bpf_cpu, head));
	load(p, BPF_DW, BPF_REG_2, BPF_REG_8, offsetof(struct perf_bpf_cpu, tail));
	move(p, BPF_REG_3, BPF_REG_1);
	put(p, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
	jump_if(p, &full, BPF_JGE, BPF_REG_3, (int32_t)b->ring);
	load(p, BPF_DW, BPF_REG_2, BPF_REG_8, offsetof(struct perf_bpf_cpu, lost));
	store_local(p, LOST, BPF_REG_2);
	put(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, (int32_t)b->ring - 1);
	put(p, BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_1, 0, 0,
	    sizeof(struct perf_bpf_report));
	move(p, BPF_REG_2, BPF_REG_8);
	put(p, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_2, BPF_REG_1, 0, 0);
	for (int16_t i = 0; i < (int16_t)sizeof(struct perf_bpf_report);
	     i = (int16_t)(i + 8)) {
		load(p, BPF_DW, BPF_REG_1, BPF_REG_10, (int16_t)(REPORT + i));
		store(p, BPF_DW, BPF_REG_2,
		      (int16_t)(offsetof(struct perf_bpf_cpu, ring) + (size_t)i),
		      BPF_REG_1);
	}
	increment(p, offsetof(struct perf_bpf_cpu, head), BPF_FETCH);
	jump_if(p, &done, BPF_JA, 0, 0);
	land(p, &full);
	increment(p, offsetof(struct perf_bpf_cpu, lost), 0);
	land(p, &done);
}

static void write_switch(struct program *p, const struct perf_bpf *b,
			 const struct layout *l)
{
	struct jumps off = { .n = 0 }, skip = { .n = 0 };

	begin_report(p, b, &off);
	write_out(p, b, l);
	task_number(p, BPF_REG_7, 2, l->at[TASK_PID]);
	store_local(p, KEY, BPF_REG_7);
	unless_reported(p, b, &skip);
	task_number(p, BPF_REG_1, 2, l->at[TASK_EXIT_STATE]);
	jump_if(p, &skip, BPF_JNE, BPF_REG_1, 0);
	store_local(p, IN_TID, BPF_REG_7);
	task_number(p, BPF_REG_1, 2, l->at[TASK_TGID]);
	store_local(p, IN_PID, BPF_REG_1);
	land(p, &skip);
	/* Neither out_tid nor in_tid. */
	load(p, BPF_DW, BPF_REG_1, BPF_REG_10, OUT_TID);
	jump_if(p, &off, BPF_JEQ, BPF_REG_1, 0);
	append(p, b);
	land(p, &off);
	end(p);
}

/* Sets R9 to the address of the CPU's number of layout.count.  It is found once: by the
 * run queue of the current thread, which is the CPU's. */
static void find_count(struct program *p, const struct layout *l, struct jumps *unknown)
{
	struct jumps found = { .n = 0 };

	load(p, BPF_DW, BPF_REG_9, BPF_REG_8, offsetof(struct perf_bpf_cpu, count));
	jump_if(p, &found, BPF_JNE, BPF_REG_9, 0);
	call(p, BPF_FUNC_get_current_task);
	move(p, BPF_REG_3, BPF_REG_0);
	add(p, BPF_REG_3, l->at[ENTITY_CFS_RQ]);
	read_kernel(p, POINTER, 8);
	load(p, BPF_DW, BPF_REG_3, BPF_REG_10, POINTER);
	add(p, BPF_REG_3, l->at[CFS_RQ_RQ]);
	read_kernel(p, POINTER, 8);
	load(p, BPF_DW, BPF_REG_9, BPF_REG_10, POINTER);
	move(p, BPF_REG_3, BPF_REG_9);
	add(p, BPF_REG_3, l->at[RQ_CPU]);
	store_number(p, NUMBER, -1);
	read_kernel(p, NUMBER, 4);
	call(p, BPF_FUNC_get_smp_processor_id);
	load_local(p, BPF_REG_1, NUMBER);
	put(p, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
	jump_if(p, unknown, BPF_JNE, BPF_REG_0, 0);
	add(p, BPF_REG_9, l->count);
	store(p, BPF_DW, BPF_REG_8, offsetof(struct perf_bpf_cpu, count), BPF_REG_9);
	land(p, &found);
}

/* Sets the flag of wakeups, and whether an interrupt causes this one. */
static void find_interrupt(struct program *p, const struct layout *l)
{
	/* include/linux/preempt.h: a soft interrupt is handled, a hard one, or one that
	 * cannot be masked */
	enum { IN_INTERRUPT = 0x00ff0100 };
	struct jumps interrupt = { .n = 0 };	/* or unknown */

	store_number(p, FLAGS, PERF_BPF_WAKEUP | PERF_BPF_INTERRUPT);
	find_count(p, l, &interrupt);
	move(p, BPF_REG_3, BPF_REG_9);
	read_kernel(p, NUMBER, 4);
	load_local(p, BPF_REG_1, NUMBER);
	jump_if(p, &interrupt, BPF_JSET, BPF_REG_1, IN_INTERRUPT);
	store_number(p, FLAGS, PERF_BPF_WAKEUP);
	land(p, &interrupt);
}

/* Writes a sample of the waker, unless it is an interrupt or not followed. */
static void sample_waker(struct program *p, const struct perf_bpf *b)
{
	struct jumps skip = { .n = 0 };

	unless_sampled(p, PERF_BPF_WAKING, &skip);
	load_local(p, BPF_REG_1, FLAGS);
	jump_if(p, &skip, BPF_JSET, BPF_REG_1, PERF_BPF_INTERRUPT);
	load_local(p, BPF_REG_1, OUT_TID);
	store_local(p, KEY, BPF_REG_1);
	unless_reported(p, b, &skip);
	store_local(p, WOKEN_TID, BPF_REG_7);
	sample(p, b, PERF_BPF_WAKING, WOKEN, sizeof(struct perf_bpf_woken));
	land(p, &skip);
}

/*
 * sched_waking(p).  A thread that wakes itself has not left its CPU.  That is also the only
 * wakeup with interrupts enabled, so that no other one can come while a report is written
 * (try_to_wake_up, kernel/sched/core.c).
 */
static void write_waking(struct program *p, const struct perf_bpf *b,
			 const struct layout *l)
{
	struct jumps skip = { .n = 0 };

	begin_report(p, b, &skip);
	current_thread(p);
	store_local(p, OUT_TID, BPF_REG_0);
	store_local(p, OUT_PID, BPF_REG_7);
	task_number(p, BPF_REG_7, 0, l->at[TASK_PID]);
	load_local(p, BPF_REG_1, OUT_TID);
	put(p, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_1, BPF_REG_7, 0, 0);
	jump_if(p, &skip, BPF_JEQ, BPF_REG_1, 0);
	store_local(p, KEY, BPF_REG_7);
	unless_reported(p, b, &skip);
	find_interrupt(p, l);
	sample_waker(p, b);
	store_local(p, IN_TID, BPF_REG_7);
	append(p, b);
	land(p, &skip);
	end(p);
}

/* sched_process_fork(parent, child) */
static void write_fork(struct program *p, const struct perf_bpf *b,
		       const struct layout *l)
{
	struct jumps done = { .n = 0 };

	begin(p, b, &done);
	current_thread(p);
	look_up(p, b, &done);
	store_local(p, VALUE, BPF_REG_1);
	task_number(p, BPF_REG_1, 1, l->at[TASK_PID]);
	store_local(p, KEY, BPF_REG_1);
	update(p, b);
	jump_if(p, &done, BPF_JEQ, BPF_REG_0, 0);
	increment(p, offsetof(struct perf_bpf_cpu, lost), 0);
	land(p, &done);
	end(p);
}

/* sched_process_exec(p, old_pid, bprm): the thread has the number of its process now. */
static void write_exec(struct program *p, const struct perf_bpf *b)
{
	struct jumps done = { .n = 0 };

	begin(p, b, &done);
	argument(p, BPF_REG_1, 1);
	store_local(p, KEY, BPF_REG_1);
	look_up(p, b, &done);
	delete(p, b);
	current_thread(p);
	store_number(p, VALUE, 1);
	update(p, b);
	land(p, &done);
	end(p);
}

static int create_map(enum bpf_map_type type, uint32_t entries, uint32_t value_bytes,
		      uint32_t flags)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = type;
	a.key_size = 4;
	a.value_size = value_bytes;
	a.max_entries = entries;
	a.map_flags = flags;
	return bpf_call(BPF_MAP_CREATE, &a);
}

static size_t cpu_bytes(const struct perf_bpf *b)
{
	return sizeof(struct perf_bpf_cpu) + b->ring * sizeof(struct perf_bpf_report);
}

static size_t shared_bytes(const struct perf_bpf *b)
{
	return b->ncpus * cpu_bytes(b);
}

static void plan_ring(struct perf_bpf *b)
{
	enum { MOST = 256 << 20 };

	b->ring = PERF_BPF_RING;
	while (b->ring > PERF_BPF_RING_MIN && shared_bytes(b) > MOST)
		b->ring /= 2;
}

static struct perf_bpf_cpu *cpu_of(const struct perf_bpf *b, uint32_t cpu)
{
	void *p = b->cpus + cpu * cpu_bytes(b);

	return p;
}

static int create_maps(struct perf_bpf *b)
{
	void *p;

	plan_ring(b);
	b->shared = create_map(BPF_MAP_TYPE_ARRAY, b->ncpus, (uint32_t)cpu_bytes(b),
			       BPF_F_MMAPABLE);
	if (b->shared < 0)
		return b->shared;
	p = mmap(NULL, shared_bytes(b), PROT_READ | PROT_WRITE, MAP_SHARED, b->shared, 0);
	if (p == MAP_FAILED)
		return -errno;
	b->cpus = p;
	for (size_t i = 0; i < PERF_BPF_SAMPLES; i++) {
		b->samples[i] = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, b->ncpus, 4, 0);
		if (b->samples[i] < 0)
			return b->samples[i];
	}
	if (b->everyone)
		return 0;
	b->threads = create_map(BPF_MAP_TYPE_HASH, PERF_BPF_THREADS, 4,
				BPF_F_NO_PREALLOC);
	return b->threads;
}

/* Loads the program and runs it at the tracepoint from now on. */
static int attach(struct perf_bpf *b, const struct program *p, const char *name,
		  uint32_t tracepoint)
{
	union bpf_attr a;
	int fd;

	if (p->n > COUNT(p->insn))
		return -E2BIG;
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_TRACING;
	a.expected_attach_type = BPF_TRACE_RAW_TP;
	a.attach_btf_id = tracepoint;
	a.insns = (uintptr_t)p->insn;
	a.insn_cnt = (uint32_t)p->n;
	a.license = (uintptr_t)"GPL";
	snprintf(a.prog_name, sizeof(a.prog_name), "tally_%s", name);
	fd = bpf_call(BPF_PROG_LOAD, &a);
	if (fd < 0)
		return fd;
	b->held[b->nheld++] = fd;
	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.prog_fd = (uint32_t)fd;
	fd = bpf_call(BPF_RAW_TRACEPOINT_OPEN, &a);
	if (fd >= 0)
		b->held[b->nheld++] = fd;
	return fd < 0 ? fd : 0;
}

static void close_all(struct perf_bpf *b)
{
	while (b->nheld)
		close(b->held[--b->nheld]);
	if (b->cpus)
		munmap(b->cpus, shared_bytes(b));
	b->cpus = NULL;
	if (b->shared >= 0)
		close(b->shared);
	for (size_t i = 0; i < PERF_BPF_SAMPLES; i++)
		if (b->samples[i] >= 0)
			close(b->samples[i]);
	if (b->threads >= 0)
		close(b->threads);
}

static int start(struct perf_bpf *b, bool inherit, const struct layout *l)
{
	struct program p;
	int r = create_maps(b);

	if (r >= 0 && !b->everyone) {
		write_exec(&p, b);
		r = attach(b, &p, "exec", l->tracepoints[ON_EXEC]);
	}
	if (r >= 0 && !b->everyone && inherit) {
		write_fork(&p, b, l);
		r = attach(b, &p, "fork", l->tracepoints[ON_FORK]);
	}
	if (r >= 0) {
		write_waking(&p, b, l);
		r = attach(b, &p, "waking", l->tracepoints[ON_WAKING]);
	}
	if (r >= 0) {
		write_switch(&p, b, l);
		r = attach(b, &p, "switch", l->tracepoints[ON_SWITCH]);
	}
	return r;
}

/* Returns why programs are out of the question, or NULL. */
static const char *obstacle(void)
{
	if (rights_bpf_kills())
		return "a system call filter kills callers of bpf(2)";
	if (!proc_first_pid_namespace())
		return "in a pid namespace of its own";
	/* There, soft interrupts are handled by threads. */
	return !access("/sys/kernel/realtime", F_OK) ? "a kernel with PREEMPT_RT" : NULL;
}

bool perf_bpf_open(struct perf_bpf *b, const struct perf_bpf_scope *scope, char *why,
		   size_t size)
{
	const char *no = obstacle();
	struct layout l;
	int r;

	*b = (struct perf_bpf){ .everyone = scope->everyone, .ncpus = scope->ncpus,
				.shared = -1, .samples = { -1, -1 }, .threads = -1 };
	if (no)
		snprintf(why, size, "%s", no);
	if (no || !read_layout(&l, why, size))
		return false;
	r = start(b, scope->inherit, &l);
	if (r >= 0)
		return true;
	snprintf(why, size, "%s", strerror(-r));
	close_all(b);
	return false;
}

void perf_bpf_close(struct perf_bpf *b)
{
	if (b->cpus)
		close_all(b);
}

void perf_bpf_prepare(struct perf_event_attr *a)
{
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_BPF_OUTPUT;
	/* It belongs to no thread that could call exec or start others. */
	a->disabled = !a->enable_on_exec;
	a->enable_on_exec = a->inherit = 0;
}

static int set_entry(int map_fd, uint32_t key, uint32_t value)
{
	union bpf_attr a;
	int r;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)map_fd;
	a.key = (uintptr_t)&key;
	a.value = (uintptr_t)&value;
	a.flags = BPF_ANY;
	r = bpf_call(BPF_MAP_UPDATE_ELEM, &a);
	return r < 0 ? r : 0;
}

int perf_bpf_sample_to(struct perf_bpf *b, enum perf_bpf_sample kind, uint32_t cpu,
		       int fd)
{
	return set_entry(b->samples[kind], cpu, (uint32_t)fd);
}

int perf_bpf_follow(struct perf_bpf *b, uint32_t tid, bool at_exec)
{
	return b->everyone ? 0 : set_entry(b->threads, tid, !at_exec);
}

void perf_bpf_switch(struct perf_bpf *b, uint32_t cpu, bool on)
{
	__atomic_store_n(&cpu_of(b, cpu)->on, on, __ATOMIC_RELAXED);
}

void perf_bpf_sample(struct perf_bpf *b, enum perf_bpf_sample kind, uint32_t cpu,
		     bool on)
{
	__atomic_store_n(&cpu_of(b, cpu)->sample[kind], on, __ATOMIC_RELAXED);
}

bool perf_bpf_permit(struct perf_bpf *b, uint32_t cpu, uint64_t samples)
{
	struct perf_bpf_cpu *c = cpu_of(b, cpu);
	uint64_t sampled = __atomic_load_n(&c->sampled, __ATOMIC_RELAXED);
	bool all = sampled >= c->permitted;

	__atomic_store_n(&c->permitted, sampled + samples, __ATOMIC_RELAXED);
	return all;
}

bool perf_bpf_next(struct perf_bpf *b, uint32_t cpu, struct perf_bpf_report *out)
{
	struct perf_bpf_cpu *c = cpu_of(b, cpu);
	uint64_t tail = c->tail;

	if (__atomic_load_n(&c->head, __ATOMIC_ACQUIRE) == tail)
		return false;
	*out = c->ring[tail % b->ring];
	__atomic_store_n(&c->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

uint64_t perf_bpf_lost(const struct perf_bpf *b, uint32_t cpu)
{
	return __atomic_load_n(&cpu_of(b, cpu)->lost, __ATOMIC_RELAXED);
}
