// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows programs instruction by instruction (ptrace), from the loader's first
 * to the last.  The truth is a shadow stack: each call pushes where it returns
 * to, each ret pops it.  So the middle of prologues, epilogues, PLT stubs, tail
 * calls and signal handlers are all there.
 *
 * The kernel module's walk is tried at each instruction, too: where it comes to the
 * end of a stack, it must be the same one; elsewhere it must say that it did not.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_walk.h"
#include "live.h"

#if defined(__x86_64__)

enum { FRAMES = 256, COPY = 64 << 10, STEPS_MAX = 4000000 };

struct shadow {
	uint64_t pc;		/* as unwind_stack.pc */
	uint64_t returns;	/* the address itself */
	uint64_t slot;		/* where it lies on the stack */
};

struct stepper {
	pid_t pid;
	struct live live;
	uint32_t generation;
	struct user_regs_struct regs;
	struct shadow shadow[FRAMES];
	size_t n;
	uint8_t code[16], stack[COPY];
	size_t copied;		/* of the stack, from rsp on */
	size_t steps, bad, jumps;
	size_t lost;		/* the shadow's fault */
	size_t kinds[UNWIND_REASONS];
	struct kernel_side kernel;
	size_t whole, differ, given_up[TALLY_WALKS];	/* of the module's */
};

static size_t peek(pid_t pid, uint64_t addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* What is not in the copy, but never below rsp: no recorder has that. */
static bool read_word(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct stepper *s = ctx;

	if (addr < s->regs.rsp && s->regs.rsp - addr < 4096)
		return false;
	return peek(s->pid, addr, to, n) == n;
}

/* The code segment of i386 programs: Linux, asm/segment.h, __USER32_CS. */
static bool is32(const struct stepper *s)
{
	return s->regs.cs == 0x23;
}

static void reload(struct stepper *s)
{
	if (s->generation) {
		kernel_side_close(&s->kernel);
		live_close(&s->live);
	}
	live_open(&s->live, s->pid);
	kernel_side_open(&s->kernel, s->live.code, s->live.n);
	s->live.space.generation = ++s->generation;
	s->live.space.is32 = is32(s);
}

static pid_t spawn(const char *path)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	if (!freopen("/dev/null", "w", stdout))
		_exit(2);
	execl(path, path, (char *)NULL);
	_exit(1);
}

static void complain(struct stepper *s, const struct unwind_stack *w)
{
	if (s->bad++ >= 10 || is32(s))
		return;
	print_error("step %zu at 0x%llx (%s): %zu frames of %zu, end %d, %s "
		    "0x%llx\n", s->steps, s->regs.rip,
		    live_path(&s->live, s->regs.rip), w->n, s->n + 1, w->end,
		    unwind_reason_text(w->reason), (unsigned long long)w->addr);
	for (size_t i = 0; i < w->n || i <= s->n; i++)
		print_error("  %llx  %llx\n", i < w->n ?
			    (unsigned long long)w->pc[i] : 0ull,
			    i > s->n ? 0ull : i ? (unsigned long long)
			    s->shadow[s->n - i].pc : s->regs.rip);
}

/* glibc's CFI at the end of longjmp tells of the frame that it jumps to. */
static bool is_jump(const struct stepper *s, const struct unwind_stack *w)
{
	if (w->end != UNWIND_COMPLETE || w->n < 3 || w->n > s->n + 2)
		return false;
	for (size_t i = 2; i < w->n; i++)
		if (w->pc[i] != s->shadow[w->n - 1 - i].pc)
			return false;
	return true;
}

/* The program stands still: the copy is what its memory has. */
static bool read_kernel(void *ctx, uint64_t addr, void *to, unsigned int n)
{
	struct stepper *s = ctx;
	uint64_t at = addr - s->regs.rsp;

	if (at < s->copied && n <= s->copied - at) {
		memcpy(to, s->stack + at, n);
		return true;
	}
	return peek(s->pid, addr, to, n) == n;
}

static void check_kernel(struct stepper *s, const struct unwind_regs *regs,
			 const struct unwind_stack *w)
{
	const struct walk_memory mem = { read_kernel, s };
	uint64_t pc[FRAMES];
	enum tally_walk end;
	uint32_t n;

	if (is32(s))
		return;
	kernel_side_teach(&s->kernel, s->live.cache, s->live.space.generation,
			  w);
	end = walk_user(s->kernel.maps.v, (uint32_t)s->kernel.maps.n, regs->r,
			&mem, pc, FRAMES, &n);
	if (end != TALLY_WALK_COMPLETE) {
		s->given_up[end]++;
		return;
	}
	s->whole++;
	if (w->end == UNWIND_COMPLETE && n == w->n &&
	    !memcmp(pc, w->pc, n * sizeof(*pc)))
		return;
	if (s->differ++ < 10)
		print_error("step %zu at 0x%llx: the module has %u frames, not "
			    "%zu\n", s->steps, s->regs.rip, n, w->n);
}

static void check(struct stepper *s)
{
	struct unwind_regs regs = regs_of_ptrace(&s->regs);
	struct unwind_memory m = { .bytes = s->stack, .start = s->regs.rsp,
				   .read = read_word, .ctx = s };
	uint64_t pc[FRAMES], end = s->live.stack_end;
	uint8_t marks[FRAMES];
	struct unwind_stack w = { .pc = pc, .marks = marks, .max = FRAMES };
	bool same;

	m.size = COPY;
	if (end > m.start && end - m.start < COPY)
		m.size = (size_t)(end - m.start);
	m.size = s->copied = peek(s->pid, m.start, s->stack, m.size);
	unwind_walk(s->live.cache, &s->live.space, &regs, &m, &w);
	s->kinds[w.reason]++;
	check_kernel(s, &regs, &w);
	same = w.end == UNWIND_COMPLETE && w.n == s->n + 1 &&
	       w.pc[0] == s->regs.rip;
	for (size_t i = 1; same && i < w.n; i++)
		same = w.pc[i] == s->shadow[s->n - i].pc;
	if (same)
		return;
	if (is_jump(s, &w))
		s->jumps++;
	else
		complain(s, &w);
}

static void push(struct stepper *s, uint64_t pc, uint64_t returns,
		 uint64_t slot)
{
	assert_true(s->n < FRAMES);
	s->shadow[s->n++] = (struct shadow){ pc, returns, slot };
}

static bool is_call(const uint8_t *p, bool is32bit)
{
	while (*p == 0x2e || *p == 0x3e || *p == 0x65 || *p == 0x67 ||
	       *p == 0xf2 || (!is32bit && *p >= 0x40 && *p <= 0x4f))
		p++;
	return *p == 0xe8 || (*p == 0xff && (p[1] >> 3 & 7) == 2);
}

static bool is_ret(const uint8_t *p)
{
	if (*p == 0xf2 || *p == 0xf3)
		p++;
	return *p == 0xc3 || *p == 0xc2;
}

/* longjmp and exceptions leave frames behind, below the stack pointer of the
 * same stack. */
static void drop_below(struct stepper *s)
{
	while (s->n && s->shadow[s->n - 1].slot < s->regs.rsp &&
	       s->regs.rsp - s->shadow[s->n - 1].slot < 1 << 20)
		s->n--;
}

/* A ret may go to an address that is not after a call: the stack was switched. */
static void pop_to(struct stepper *s, uint64_t to)
{
	if (s->n && s->shadow[s->n - 1].returns == to)
		s->n--;
	else
		s->lost++;
}

/* What the instruction at `code`, executed with the registers `was`, did. */
static void follow(struct stepper *s, const struct user_regs_struct *was)
{
	const uint8_t *p = s->code;
	uint64_t ra = 0;

	if (is_call(p, is32(s))) {
		peek(s->pid, s->regs.rsp, &ra, is32(s) ? 4 : 8);
		push(s, ra - 1, ra, s->regs.rsp);
	} else if (is_ret(p) && s->n && s->shadow[s->n - 1].slot == was->rsp) {
		pop_to(s, s->regs.rip);
	} else if (p[0] == 0xcd && p[1] == 0x80) {
		if (was->rax == 119 || was->rax == 173)	/* i386: the same */
			pop_to(s, s->regs.rip);
		if (was->rax == 90 || was->rax == 192 || was->rax == 125)
			reload(s);
	} else if (p[0] == 0x0f && p[1] == 0x05) {
		if (was->rax == 15)	/* rt_sigreturn */
			pop_to(s, s->regs.rip);
		if (was->rax >= 9 && was->rax <= 11)	/* mmap… */
			reload(s);
	}
}

/* The kernel called a handler: under it the restorer, which was not called, and
 * where the program was. */
static void enter_handler(struct stepper *s, uint64_t rip)
{
	uint64_t restorer = 0;

	peek(s->pid, s->regs.rsp, &restorer, is32(s) ? 4 : 8);
	push(s, rip, rip, UINT64_MAX);
	push(s, restorer, restorer, s->regs.rsp);
}

static bool step(struct stepper *s)
{
	struct user_regs_struct was = s->regs;
	static int sig;
	int status;

	peek(s->pid, s->regs.rip, s->code, sizeof(s->code));
	ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(intptr_t)sig);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (!WIFSTOPPED(status)) {
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		return false;
	}
	ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs);
	if (sig)
		enter_handler(s, was.rip);
	else if (s->regs.rip != was.rip || s->regs.rsp != was.rsp)
		follow(s, &was);
	drop_below(s);
	sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	s->steps++;
	return true;
}

/* glibc and compilers' code have few places that need more than the module
 * follows: the loader, while it binds symbols, has its frame in rbx. */
static void check_kernel_counts(const struct stepper *s)
{
	print_message("# the module: %zu whole, %zu differ; not unwound:",
		      s->whole, s->differ);
	for (int i = 0; i < TALLY_WALKS; i++)
		print_message(" %zu", s->given_up[i]);
	print_message("; %zu pages\n", s->kernel.pages);
	assert_int_equal(s->differ, 0);
	assert_int_equal(s->kernel.refused, 0);
	/* The loader that binds a symbol needs other registers.  Its share depends
	 * on how many symbols it compares. */
	if (!is32(s))
		assert_true((s->whole + s->given_up[TALLY_WALK_REGISTER]) * 100 >=
			    s->steps * 99);
	assert_true(s->given_up[TALLY_WALK_REGISTER] * 10 <= s->steps);
}

static void check_counts(struct stepper *s)
{
	size_t steps = s->steps, bad = s->bad, lost = s->lost;
	size_t jumps = s->jumps;
	bool i386 = is32(s);

	free(s);
	assert_true(steps > 100 && steps < STEPS_MAX);
	assert_int_equal(lost, 0);
	/* memcpy and its like of glibc's i386 push without saying so */
	if (i386) {
		assert_true((bad + jumps) * 100 <= steps);
	} else {
		assert_int_equal(bad, 0);
		assert_true(jumps <= 16);
	}
}

static void check_program(const char *path)
{
	struct stepper *s = calloc(1, sizeof(*s));
	int status;

	assert_non_null(s);
	s->pid = spawn(path);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (!WIFSTOPPED(status)) {
		free(s);
		skip_test("ptrace is not allowed");
	}
	ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs);
	reload(s);
	do
		check(s);
	while (s->steps < STEPS_MAX && step(s));
	print_message("# %s: %zu steps, %zu wrong, %zu jumps, %zu not "
		      "followed\n", path, s->steps, s->bad, s->jumps, s->lost);
	kill(s->pid, SIGKILL);
	check_kernel_counts(s);
	kernel_side_close(&s->kernel);
	live_close(&s->live);
	check_counts(s);
}

static void check_built(void **state)
{
	const char *top = getenv("top_builddir");
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/unwind/%s", top ? top : ".",
		 (const char *)*state);
	if (access(path, X_OK))
		skip_test("there is no static libc");
	check_program(path);
}

/* By a compiler that makes i386 programs. */
static void check_i386(void **state)
{
	const char *cc = getenv("CC"), *src = getenv("top_srcdir");
	char cmd[1024], path[] = "/tmp/test_step.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(cmd, sizeof(cmd), "%s -m32 -O2 -g -fomit-frame-pointer -static "
		 "-w -D_GNU_SOURCE -o %s %s/tests/unwind/frames.c 2>/dev/null",
		 cc ? cc : "cc", path, src ? src : ".");
	if (system(cmd)) {
		unlink(path);
		skip_test("the compiler makes no i386 programs");
	}
	check_program(path);
	unlink(path);
}

static char plain[] = "frames_plain", debug[] = "frames_debug",
	    realign[] = "frames_realign", size[] = "frames_size";

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(check_built, plain),
		cmocka_unit_test_prestate(check_built, debug),
		cmocka_unit_test_prestate(check_built, realign),
		cmocka_unit_test_prestate(check_built, size),
		cmocka_unit_test(check_i386),
	};

	for (int i = 1; i < argc; i++)
		check_program(argv[i]);
	if (argc > 1)
		return 0;
	return cmocka_run_group_tests_name("unwind/step", tests, NULL, NULL);
}

#else
int main(void)
{
	return 77;
}
#endif
