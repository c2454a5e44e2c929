// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out what a filter of system calls would do to the library, before the program
 * installs it (seccomp(2)).  A filter may kill the program for a call that it does not
 * expect, and the return from a signal handler is a call, too.
 *
 * The filter is run for each call of the library.  Its arguments are unknown here, so a
 * filter that depends on them is taken to forbid the call.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "preload/preload.h"

/* What the library calls at any time, except for the handler's return. */
static const uint16_t calls[] = {
	SYS_brk, SYS_clock_gettime, SYS_close, SYS_exit_group, SYS_faccessat,
	SYS_fcntl, SYS_fstat, SYS_getgid, SYS_getpid, SYS_getppid, SYS_getrusage,
	SYS_gettid, SYS_getuid, SYS_kill, SYS_lseek, SYS_mmap, SYS_munmap,
	SYS_newfstatat, SYS_openat, SYS_pipe2, SYS_prctl, SYS_pread64,
	SYS_prlimit64, SYS_process_vm_readv, SYS_process_vm_writev, SYS_read,
	SYS_readlinkat, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sched_yield, SYS_sigaltstack,
	SYS_tgkill, SYS_timer_create, SYS_timer_delete, SYS_timer_settime,
	SYS_wait4,
};

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

static uint32_t calculate(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_DIV: return a / b;
	case BPF_AND: return a & b;
	case BPF_OR: return a | b;
	case BPF_XOR: return a ^ b;
	case BPF_LSH: return a << (b & 31);
	case BPF_RSH: return a >> (b & 31);
	case BPF_NEG: return -a;
	}
	return 0;
}

static bool holds(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ: return a == b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JSET: return a & b;
	}
	return false;
}

/* Loads a word of the call's description (struct seccomp_data) or a constant.  Returns
 * false for what is unknown here. */
static bool load(const struct machine *m, const struct sock_filter *f, uint16_t nr,
		 uint32_t *out)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		*out = f->k;
		return true;
	case BPF_LEN:
		*out = sizeof(struct seccomp_data);
		return true;
	case BPF_MEM:
		*out = f->k < BPF_MEMWORDS ? m->memory[f->k] : 0;
		return f->k < BPF_MEMWORDS;
	case BPF_ABS:
		*out = f->k == 0 ? nr : AUDIT_ARCH_X86_64;
		return f->k == 0 || f->k == 4;
	}
	return false;
}

static bool store(struct machine *m, const struct sock_filter *f, uint32_t v)
{
	if (f->k >= BPF_MEMWORDS)
		return false;
	m->memory[f->k] = v;
	return true;
}

/* Executes an instruction that is neither a jump nor a return. */
static bool execute(struct machine *m, const struct sock_filter *f, uint16_t nr)
{
	uint32_t b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
		return load(m, f, nr, &m->a);
	case BPF_LDX:
		return load(m, f, nr, &m->x);
	case BPF_ST:
		return store(m, f, m->a);
	case BPF_STX:
		return store(m, f, m->x);
	case BPF_ALU:
		/* A division by zero ends a filter with the value 0: kill. */
		if (BPF_OP(f->code) == BPF_DIV && !b)
			return false;
		m->a = calculate(f->code, m->a, b);
		return true;
	case BPF_MISC:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
		return true;
	}
	return false;
}

static uint64_t distance(const struct machine *m, const struct sock_filter *f)
{
	if (BPF_OP(f->code) == BPF_JA)
		return f->k;
	return holds(f->code, m->a, BPF_SRC(f->code) == BPF_X ? m->x : f->k)
	       ? f->jt : f->jf;
}

/* Returns whether the filter permits a call, whatever its arguments are.  Jumps go
 * forward only, so this ends. */
static bool permits(const struct sock_fprog *p, uint16_t nr)
{
	struct machine m;

	bytes_zero(&m, sizeof(m));
	for (uint64_t at = 0; at < p->len; at++) {
		const struct sock_filter *f = &p->filter[at];
		uint32_t action;

		switch (BPF_CLASS(f->code)) {
		case BPF_JMP:
			at += distance(&m, f);
			continue;
		case BPF_RET:
			action = BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
			action &= SECCOMP_RET_ACTION_FULL;
			return action == SECCOMP_RET_ALLOW ||
			       action == SECCOMP_RET_LOG;
		}
		if (!execute(&m, f, nr))
			return false;
	}
	return false;
}

static bool is_readable(const struct sock_fprog *p)
{
	struct mapped_page m = { 0, false };

	return memory_is_mapped(&m, p, sizeof(*p)) &&
	       memory_is_mapped(&m, p->filter, p->len * sizeof(p->filter[0]));
}

struct filter_permits filter_look(const void *filter)
{
	const struct sock_fprog *p = filter;
	struct filter_permits r = { false, false, false };

	if (!p || !is_readable(p))
		return r;
	r.handler = permits(p, SYS_rt_sigreturn);
	r.stop = permits(p, SYS_timer_settime);
	r.all = r.handler;
	for (size_t i = 0; r.all && i < sizeof(calls) / sizeof(calls[0]); i++)
		r.all = permits(p, calls[i]);
	return r;
}
