// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of this very program, caught in signal handlers; the same stacks by
 * libgcc's unwinder (_Unwind_Backtrace) are the second opinion.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <pthread.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include "live.h"

#if defined(__x86_64__)

#include <gnu/libc-version.h>

enum { FRAMES = 512, COPY = 256 << 10 };

/* What a handler caught. */
struct caught {
	struct unwind_regs regs;
	uint64_t start;
	size_t size;
	uint8_t *bytes;
	uint64_t by_gcc[FRAMES];	/* as unwind_stack.pc */
	size_t ngcc;
	bool done;
};

static struct caught caught;	/* of the handler */

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *c, void *ctx)
{
	struct caught *k = ctx;
	int exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(c, &exact);

	if (k->ngcc < FRAMES && ip)
		k->by_gcc[k->ngcc++] = ip - !exact;
	return _URC_NO_REASON;
}

static uint64_t stack_end(void)
{
	pthread_attr_t a;
	void *p = NULL;
	size_t n = 0;

	pthread_getattr_np(pthread_self(), &a);
	pthread_attr_getstack(&a, &p, &n);
	pthread_attr_destroy(&a);
	return (uint64_t)(uintptr_t)p + n;
}

static void copy_stack(struct caught *k, uint64_t from)
{
	uint64_t end = stack_end();

	k->start = from;
	k->size = end - from < COPY ? (size_t)(end - from) : COPY;
	/* by the kernel: sanitizers would object */
	process_vm_readv(getpid(),
			 &(struct iovec){ k->bytes, k->size }, 1,
			 &(struct iovec){ (void *)(uintptr_t)from, k->size }, 1,
			 0);
}

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	(void)sig, (void)info;
	if (caught.done)
		return;
	caught.done = true;
	caught.regs = regs_of_signal(ctx);
	copy_stack(&caught, caught.regs.r[UNWIND_RSP]);
	caught.ngcc = 0;
	_Unwind_Backtrace(take_frame, &caught);
}

static void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO | flags };

	caught.done = false;
	sigaction(sig, &sa, NULL);
}

static struct unwind_memory memory_of(const struct caught *k)
{
	return (struct unwind_memory){ .bytes = k->bytes, .start = k->start,
				       .size = k->size };
}

struct walked {
	struct unwind_stack s;
	uint64_t pc[FRAMES];
	uint8_t marks[FRAMES];
};

static void walk(struct live *l, const struct unwind_regs *regs,
		 const struct unwind_memory *m, size_t max, struct walked *w)
{
	w->s = (struct unwind_stack){ .pc = w->pc, .marks = w->marks,
				      .max = max };
	unwind_walk(l->cache, &l->space, regs, m, &w->s);
}

/* gcc's frames begin in the handler: those from the interrupted one on. */
static void check_same(const struct caught *k, const struct walked *w)
{
	size_t skip = 0;

	while (skip < k->ngcc && k->by_gcc[skip] != w->pc[0])
		skip++;
	assert_int_not_equal(skip, k->ngcc);
	assert_int_equal(w->s.n, k->ngcc - skip);
	assert_memory_equal(w->pc, k->by_gcc + skip, w->s.n * 8);
	assert_int_equal(w->marks[0], UNWIND_EXACT);
}

static void check_whole(struct live *l)
{
	struct unwind_memory m = memory_of(&caught);
	struct walked w;

	assert_true(caught.done);
	/* with an empty cache, a full one, and one that knows only the images, as
	 * when a program is started again */
	for (int warm = 0; warm < 3; warm++) {
		l->space.generation += warm == 2;
		walk(l, &caught.regs, &m, FRAMES, &w);
		assert_int_equal(w.s.end, UNWIND_COMPLETE);
		assert_int_equal(w.s.reason, UNWIND_OK);
		assert_int_equal(w.s.by_pointer, 0);
		check_same(&caught, &w);
	}
}

__attribute__((noinline)) static unsigned recurse(unsigned n, unsigned sig)
{
	volatile char fill[40 + 8 * (n % 5)];

	fill[0] = (char)n;
	if (!n) {
		raise((int)sig);
		return 1;
	}
	return recurse(n - 1, sig) + (unsigned)fill[0];
}

static void test_deep(void **state)
{
	struct live *l = *state;

	catch(SIGUSR1, 0);
	recurse(300, SIGUSR1);
	check_whole(l);
}

/* The same with all registers followed: frames that need others than three. */
__attribute__((noinline)) static unsigned realigned(unsigned n, unsigned sig)
{
	typedef int vec8 __attribute__((vector_size(32)));
	volatile vec8 v = { (int)n, 1, 2, 3, 4, 5, 6, 7 };
	volatile char *p = __builtin_alloca(8 + n % 32);

	p[0] = (char)v[n % 8];
	return recurse(3, sig) + (unsigned)p[0] + (unsigned)v[(n + 1) % 8];
}

static void test_realigned(void **state)
{
	catch(SIGUSR1, 0);
	realigned(5, SIGUSR1);
	check_whole(*state);
}

/* A handler on another stack: what is interrupted lies elsewhere. */
static void test_other_stack(void **state)
{
	static char other[64 << 10];
	stack_t alt = { .ss_sp = other, .ss_size = sizeof(other) }, old;

	sigaltstack(&alt, &old);
	catch(SIGUSR1, SA_ONSTACK);
	recurse(20, SIGUSR1);
	check_whole(*state);
	sigaltstack(&old, NULL);
}

static void *run_thread(void *arg)
{
	(void)arg;
	recurse(10, SIGUSR1);
	return NULL;
}

/* Up to the end in clone. */
static void test_thread(void **state)
{
	pthread_t t;

	catch(SIGUSR1, 0);
	assert_int_equal(pthread_create(&t, NULL, run_thread, NULL), 0);
	pthread_join(t, NULL);
	check_whole(*state);
}

static int compare_and_raise(const void *a, const void *b)
{
	raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

/* libc in between. */
static void test_called_back(void **state)
{
	int v[] = { 3, 1, 2 };

	catch(SIGUSR1, 0);
	qsort(v, 3, sizeof(*v), compare_and_raise);
	check_whole(*state);
}

/* As vfork does: the return address is in a register, the stack as the caller
 * has it. */
__asm__(".pushsection .text\n"
	".type return_held, @function\n"
	"return_held:\n"
	".cfi_startproc\n"
	"	pop %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_register %rip, %rdx\n"
	"	int3\n"
	"	push %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rip, 0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size return_held, . - return_held\n"
	".popsection\n");
void return_held(void);

static void test_held(void **state)
{
	catch(SIGTRAP, 0);
	return_held();
	check_whole(*state);
}

/* A call of address 0: the innermost frame is no code. */
static void test_wild(void **state)
{
	struct unwind_memory m;
	struct unwind_regs regs;
	uint8_t *bytes;
	struct walked before, w;

	catch(SIGUSR1, 0);
	recurse(5, SIGUSR1);
	m = memory_of(&caught);
	walk(*state, &caught.regs, &m, FRAMES, &before);
	/* as if its innermost function had called 0 */
	bytes = malloc(m.size + 8);
	assert_non_null(bytes);
	memcpy(bytes + 8, m.bytes, m.size);
	memcpy(bytes, &caught.regs.r[UNWIND_RIP], 8);
	m.bytes = bytes;
	m.start -= 8;
	m.size += 8;
	regs = caught.regs;
	regs.r[UNWIND_RSP] -= 8;
	regs.r[UNWIND_RIP] = 0;
	walk(*state, &regs, &m, FRAMES, &w);
	assert_int_equal(w.s.end, UNWIND_COMPLETE);
	assert_int_equal(w.s.n, before.s.n + 1);
	assert_int_equal(w.pc[0], 0);
	assert_int_equal(w.pc[1], caught.regs.r[UNWIND_RIP] - 1);
	assert_memory_equal(w.pc + 2, before.pc + 1, (before.s.n - 1) * 8);
	free(bytes);
}

/* Cut anywhere, frames are the first ones, and the word that is missing is the
 * first above the copy or in the frame there. */
/* Where walks end whose callers are all over libc, on a stack of zeros. */
static void walk_callers(struct live *l, uint64_t *ends, size_t n)
{
	struct unwind_code libc;

	assert_true(l->space.find(l, (uintptr_t)gnu_get_libc_version, &libc));
	for (size_t i = 0; i < n; i++) {
		uint64_t words[64] = { libc.start + (libc.end - libc.start) / n * i + 1 };
		struct unwind_regs regs = {
			.known = 1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBP,
		};
		const struct unwind_memory mem = { .bytes = (uint8_t *)words,
						   .start = 4096,
						   .size = sizeof(words) };
		uint64_t pc[8];
		struct unwind_stack out = { .pc = pc, .max = 8 };

		regs.r[UNWIND_RSP] = mem.start;
		unwind_walk(l->cache, &l->space, &regs, &mem, &out);
		ends[i] = out.addr ^ pc[out.n - 1] << 16 ^ out.n << 8 ^ out.end << 4 ^
			  out.reason;
	}
}

/* Rules that are remembered by image, more than there are slots, are the same as without. */
static void test_remembered(void **state)
{
	enum { N = 20000 };
	uint64_t *ends = calloc(2 * N, sizeof(*ends));
	struct live l;

	(void)state;
	assert_non_null(ends);
	live_open(&l, 0);
	walk_callers(&l, ends, N);
	/* by image; with an empty cache */
	for (int i = 0; i < 2; i++) {
		if (i)
			unwind_cache_clear(l.cache);
		l.space.generation++;
		walk_callers(&l, ends + N, N);
		assert_memory_equal(ends, ends + N, N * sizeof(*ends));
	}
	live_close(&l);
	free(ends);
}

static void test_cut(void **state)
{
	struct unwind_memory m;
	struct walked all, w;

	catch(SIGUSR1, 0);
	recurse(40, SIGUSR1);
	m = memory_of(&caught);
	walk(*state, &caught.regs, &m, FRAMES, &all);
	assert_int_equal(all.s.end, UNWIND_COMPLETE);
	for (size_t n = 0; n < 3000; n += 40) {
		m.size = n;
		m.all = false;
		walk(*state, &caught.regs, &m, FRAMES, &w);
		assert_int_equal(w.s.end, UNWIND_CUT);
		assert_int_equal(w.s.reason, UNWIND_OK);
		assert_true(w.s.addr + 8 > m.start + n);
		assert_true(w.s.n < all.s.n);
		assert_memory_equal(w.pc, all.pc, w.s.n * 8);
		m.all = true;	/* then there is no more to get */
		walk(*state, &caught.regs, &m, FRAMES, &w);
		assert_int_equal(w.s.end, UNWIND_BROKEN);
		assert_int_equal(w.s.reason, UNWIND_BAD_MEMORY);
	}
}

static void test_too_deep(void **state)
{
	struct unwind_memory m;
	struct walked w;

	catch(SIGUSR1, 0);
	recurse(40, SIGUSR1);
	m = memory_of(&caught);
	walk(*state, &caught.regs, &m, 10, &w);
	assert_int_equal(w.s.end, UNWIND_BROKEN);
	assert_int_equal(w.s.reason, UNWIND_TOO_DEEP);
	assert_int_equal(w.s.n, 10);
}

/* Interrupted in a frame of unknown size, which only rbp leads out of. */
__attribute__((noinline)) static unsigned trap(unsigned n)
{
	volatile char *p = __builtin_alloca(8 + n % 32);

	p[0] = (char)n;
	__asm__ volatile("int3" ::: "memory");
	return (unsigned)p[0];
}

/* Registers that are not known are not made up. */
static void test_unknown_registers(void **state)
{
	struct unwind_memory m;
	struct unwind_regs regs;
	struct walked w, all;

	catch(SIGTRAP, 0);
	trap(5);
	m = memory_of(&caught);
	walk(*state, &caught.regs, &m, FRAMES, &all);
	regs = caught.regs;
	regs.known = 1u << UNWIND_RIP | 1u << UNWIND_RSP;
	for (int i = 0; i < UNWIND_REGS; i++)
		if (!(regs.known >> i & 1))
			regs.r[i] = 0xdead0000;
	walk(*state, &regs, &m, FRAMES, &w);
	/* ended at the first frame: its caller is found by rbp only */
	assert_true(all.s.n > 1);
	assert_int_equal(all.s.end, UNWIND_COMPLETE);
	assert_int_equal(w.s.n, 1);
	assert_int_equal(w.pc[0], all.pc[0]);
	assert_int_equal(w.s.end, UNWIND_BROKEN);
	assert_int_equal(w.s.reason, UNWIND_LOST_REGISTER);
}

static unsigned raise_it(void)
{
	raise(SIGUSR1);
	return 1;
}

/* Code that a JIT made: no tables, no file. */
enum { BEFORE = 64 };

static uint8_t *make_code(const uint8_t *p, size_t n)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return NULL;
	/* clang's -fsanitize=function reads what stands before a function. */
	memcpy(code + BEFORE, p, n);
	return code + BEFORE;
}

/* Walks through generated code by `marks`; gcc's unwinder cannot. */
static void check_generated(struct live *l, const uint8_t *p, size_t n,
			    size_t call, unsigned marks)
{
	uint8_t *code = make_code(p, n);
	unsigned (*f)(unsigned (*)(void));
	struct unwind_memory m;
	struct walked w;
	size_t i = 0;

	if (!code)
		skip_test("memory may not be both written and run");
	live_close(l);
	live_open(l, 0);
	*(void **)&f = code;
	catch(SIGUSR1, 0);
	assert_int_equal(f(raise_it), 1);
	m = memory_of(&caught);
	walk(l, &caught.regs, &m, FRAMES, &w);
	while (i < w.s.n && w.pc[i] != (uint64_t)(uintptr_t)code + call)
		i++;
	assert_true(i + 1 < w.s.n);
	assert_int_equal(w.marks[i], 0);
	assert_int_equal(w.marks[i + 1], marks);
	assert_int_equal(w.s.by_pointer, marks == UNWIND_BY_POINTER);
	assert_int_equal(w.s.guessed, marks == UNWIND_GUESSED);
	assert_string_equal(live_path(l, w.pc[i + 1]), live_path(l,
			    (uint64_t)(uintptr_t)check_generated));
	/* and on by tables, unless rbp is needed, which was not found */
	if (marks == UNWIND_BY_POINTER || w.s.end != UNWIND_BROKEN) {
		assert_int_equal(w.s.end, UNWIND_COMPLETE);
		assert_true(i + 2 < w.s.n);
		assert_int_equal(w.marks[i + 2], 0);
	}
	munmap(code - BEFORE, 4096);
}

static void test_frame_pointer(void **state)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5,		/* push rbp; mov rsp, rbp */
		0x48, 0x83, 0xec, 0x20,		/* sub 32, rsp */
		0xff, 0xd7, 0xc9, 0xc3,		/* call *rdi; leave; ret */
	};

	check_generated(*state, code, sizeof(code), 9, UNWIND_BY_POINTER);
}

static void test_guess(void **state)
{
	static const uint8_t code[] = {
		0x55, 0x31, 0xed,		/* push rbp; xor ebp, ebp */
		0xff, 0xc5,			/* inc ebp */
		0x6a, 0x00, 0x6a, 0x00,		/* push 0; push 0 */
		0xff, 0xd7,			/* call *rdi */
		0x48, 0x83, 0xc4, 0x10,		/* add 16, rsp */
		0x5d, 0xc3,			/* pop rbp; ret */
	};

	check_generated(*state, code, sizeof(code), 10, UNWIND_GUESSED);
}

/* The new thread's side of clone(2): what is on its stack did not call it. */
static void test_new_thread(void **state)
{
	static const uint8_t code[] = { 0x0f, 0x05, 0x48, 0x85, 0xc0 };
	const uint8_t *p = dlsym(RTLD_DEFAULT, "clone");
	struct unwind_memory m;
	struct unwind_regs regs;
	struct walked w;

	p = p ? memmem(p, 128, code, sizeof(code)) : NULL;
	if (!p)
		skip_test("another clone");
	catch(SIGTRAP, 0);
	trap(5);
	m = memory_of(&caught);
	regs = caught.regs;
	regs.r[UNWIND_RIP] = (uint64_t)(uintptr_t)p + 2;
	regs.r[UNWIND_RAX] = 77;
	walk(*state, &regs, &m, FRAMES, &w);	/* the other side has callers */
	regs.r[UNWIND_RAX] = 0;
	walk(*state, &regs, &m, FRAMES, &w);
	assert_int_equal(w.s.end, UNWIND_COMPLETE);
	assert_int_equal(w.s.n, 1);
}

static int setup(void **state)
{
	struct live *l = malloc(sizeof(*l));

	caught.bytes = malloc(COPY);
	*state = l;
	if (!l || !caught.bytes)
		return -1;
	live_open(l, 0);
	return 0;
}

static int teardown(void **state)
{
	live_close(*state);
	free(*state);
	free(caught.bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_other_stack),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_called_back),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_wild),
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_unknown_registers),
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_new_thread),
	};

	return cmocka_run_group_tests_name("unwind/walk", tests, setup,
					   teardown);
}

#else
int main(void)
{
	return 77;
}
#endif
