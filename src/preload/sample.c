// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes a sample in the signal handler.  The handler runs wherever the program
 * happens to be: on any stack, with any lock held, under any filter.
 *
 * It ends no system call with EINTR: since Linux 5.10, a CPU-time timer that expires
 * within a call sends its signal on the way back (posix_cpu_timers_work).
 */
#include <time.h>
#include <ucontext.h>

#include "preload/preload.h"

enum {
	REACH = 16 << 10,	/* maximum distance of a signal's frame below the
				 * stack pointer, on the same stack */
	TAIL = 512,		/* bytes above the thread's frame, for the code that
				 * started it */
	UNKNOWN_MAX = 32 << 10,	/* maximum bytes of an unknown stack */
	PARTS = 10,
};
#define DEAD_NS 10000000000u	/* longer than any round of a living recorder */

struct remote {			/* struct iovec */
	uint64_t at;
	uint64_t n;
};

/* A signal's frame begins with the restorer's address (x86-64 psABI and Linux). */
static const int reg_order[TIMER_REGS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP,
};

/* The bytes to copy, and how they can be read. */
struct extent {
	uint64_t start, n;
	bool plain;		/* certainly mapped */
	bool whole;
};

/* Returns whether all memory from the stack pointer to the top of the thread's stack
 * is mapped.  It is one mapping, and the kernel has just written to its lower part. */
static bool is_plain(const struct slot *s, uint64_t sp, uint64_t frame)
{
	return s->size && s->top - sp < s->size && frame < sp &&
	       sp - frame < REACH;
}

static struct extent extent_of(const struct slot *s, uint64_t sp,
			       const void *context)
{
	uint64_t most = preload.copy_bytes;
	struct extent e = { sp, most, false, false };
	uint64_t size = s->size ? s->size : 8u << 20;

	if (sp <= s->top && s->top - sp < size) {
		e.plain = is_plain(s, sp, (uintptr_t)context);
		if (s->top - sp + TAIL <= most) {
			e.n = s->top - sp + TAIL;
			e.whole = true;
		}
	} else if (e.n > UNKNOWN_MAX) {
		e.n = UNKNOWN_MAX;
	}
	e.n &= ~7ull;
	return e;
}

/* Reads memory that may be unmapped.  Returns the number of bytes before the first
 * unmapped one. */
static size_t read_checked(const struct preload_ring_room *p, size_t at,
			   uint64_t from, size_t n)
{
	uint64_t size = preload.ring_bytes, pos = (p->pos + at) & (size - 1);
	size_t first = n < size - pos ? n : (size_t)(size - pos);
	struct remote to[2] = {
		{ (uintptr_t)p->data + pos, first },
		{ (uintptr_t)p->data, n - first },
	}, parts[PARTS];
	size_t k = 0;
	long r;

	/* Read page by page, because each part is read completely or not at all. */
	for (size_t done = 0; done < n && k < PARTS; k++) {
		size_t part = TIMER_PAGE - ((from + done) & (TIMER_PAGE - 1));

		if (k == PARTS - 1 || part > n - done)
			part = n - done;
		parts[k] = (struct remote){ from + done, part };
		done += part;
	}
	r = sys6(SYS_process_vm_readv, preload.pid, (long)to, 2, (long)parts,
		 (long)k, 0);
	return r > 0 ? (size_t)r & ~(size_t)7 : 0;
}

/* Finds room for the copy and `more` bytes.  A larger copy than usual must leave half of
 * the ring to others; otherwise it gets the usual size. */
static bool sample_begin(struct preload_ring_room *p, const struct slot *s,
			 struct extent *e, size_t more)
{
	if (e->n > TIMER_COPY_USUAL) {
		if (preload_ring_begin(p, s->tid, more + e->n + preload.ring_bytes / 2))
			return true;
		e->n = TIMER_COPY_USUAL;
		e->whole = false;
	}
	return preload_ring_begin(p, s->tid, more + e->n);
}

static size_t copy_stack(const struct preload_ring_room *p, const struct slot *s,
			 struct extent *e)
{
	const size_t at = sizeof(struct timer_sample);
	size_t n = e->n;

	(void)s;
	if (e->plain)
		preload_ring_put(p, at, (const void *)e->start, n);
	else if (preload.careful || preload.no_readv)
		n = 0;
	else
		n = read_checked(p, at, e->start, n);
	e->whole &= n == e->n;
	return n;
}

static uint64_t weight_of(struct slot *s, const siginfo_t *si)
{
	uint64_t over = si->si_overrun > 0 ? (uint64_t)si->si_overrun : 0;

	/* The first sample represents the time between two ticks, so that short
	 * threads appear in proportion to their length. */
	if (s->fresh) {
		s->fresh = 0;
		return preload.period_ns;
	}
	return (1 + over) * preload.interval_ns;
}

/* Stops the timer, because the recorder is gone. */
static void timer_end(const struct slot *s)
{
	if (!preload.cannot_stop)
		timer_stop(s);
}

/*
 * Returns the time of the last tick, which is when the timer expired.  Reading it
 * takes no system call and no processor counter, which seccomp's strict mode and
 * PR_SET_TSC forbid.  It is never before the last report of the process: mappings
 * must be known before the samples in them.
 */
static uint64_t tick_time(void)
{
	uint64_t newest = __atomic_load_n(&preload.sideband_ns, __ATOMIC_RELAXED), now;
	struct timespec ts = { 0, 0 };

	if (preload.vdso_time &&
	    !preload.vdso_time(CLOCK_MONOTONIC_COARSE, &ts))
		now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	else
		now = __atomic_load_n(&preload.header->alive_ns,
				      __ATOMIC_RELAXED);
	return now > newest ? now : newest;
}

/* Returns whether a system call was interrupted. "syscall" leaves the next
 * instruction's address in rcx. */
static bool in_kernel(const greg_t *g)
{
	return g[REG_RCX] == g[REG_RIP];
}

static void take_sample(struct slot *s, const siginfo_t *si,
			const ucontext_t *uc)
{
	const greg_t *g = uc->uc_mcontext.gregs;
	struct timer_sample t;
	struct extent e = { 0 };
	struct preload_ring_room p;
	size_t n = 0, room, frames = 0;

	t.weight = weight_of(s, si);
	if (preload.copy_bytes) {
		e = extent_of(s, (uint64_t)g[REG_RSP], uc);
		frames_search();
	}
	t.r.time = tick_time();
	room = preload.copy_bytes ? frames_room() : 0;
	if (!sample_begin(&p, s, &e, sizeof(t) + room)) {
		__atomic_fetch_add(&preload.header->lost, 1, __ATOMIC_RELAXED);
		if (t.r.time > preload.header->alive_ns + DEAD_NS)
			timer_end(s);
		return;
	}
	if (e.n)
		n = copy_stack(&p, s, &e);
	if (room)
		frames = frames_put(&p, sizeof(t) + n, s, g);
	t.r.size = (uint32_t)(sizeof(t) + n + frames);
	t.r.kind = TIMER_SAMPLE;
	t.r.flags = (e.whole ? TIMER_COMPLETE : 0) |
		    (in_kernel(g) ? TIMER_KERNEL : 0);
	t.r.pid = preload.shown_pid;
	t.r.tid = s->shown_tid;
	t.stack_bytes = (uint32_t)n;
	t.frame_bytes = (uint32_t)frames;
	t.pad = 0;
	t.cpu = 0;
	if (preload.vdso_cpu)
		preload.vdso_cpu(&t.cpu, NULL, NULL);
	for (int i = 0; i < TIMER_REGS; i++)
		t.regs[i] = (uint64_t)g[reg_order[i]];
	preload_ring_put(&p, 0, &t, sizeof(t));
	preload_ring_end(&p, t.r.size);
}

static void pass_on(int sig, siginfo_t *si, void *context)
{
	if ((uintptr_t)preload.before.handler > 1)	/* SIG_DFL, SIG_IGN */
		preload.before.handler(sig, si, context);
}

static void sample_signal(int sig, siginfo_t *si, void *context)
{
	uintptr_t at = (uintptr_t)si->si_ptr;
	struct slot *s = si->si_ptr;

	if (si->si_code != SI_TIMER || at < (uintptr_t)preload.slots ||
	    at >= (uintptr_t)(preload.slots + THREADS_MAX)) {
		pass_on(sig, si, context);
		return;
	}
	switch (__atomic_load_n(&preload.header->state, __ATOMIC_RELAXED)) {
	case TIMER_RUN:
		take_sample(s, si, context);
		break;
	case TIMER_WAIT:
		break;
	default:
		timer_end(s);
	}
}

/* The kernel returns through this (rt_sigreturn(2)).  Unwinders recognise it by its
 * bytes, which equal those of the C library's. */
__asm__(".pushsection .text\n"
	"	.balign 16\n"
	"	nop\n"
	".hidden sample_restorer\n"
	".globl sample_restorer\n"
	".type sample_restorer,@function\n"
	"sample_restorer:\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	"	.size sample_restorer,.-sample_restorer\n"
	".popsection\n");
void sample_restorer(void) __attribute__((visibility("hidden")));

enum { KEPT_RESTORER = 0x04000000 };	/* SA_RESTORER */

void sample_catch(void)
{
	struct kernel_action ours = {
		sample_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK |
		KEPT_RESTORER, sample_restorer, ~0ull,
	}, now;

	if (sys4(SYS_rt_sigaction, TIMER_SIGNAL, 0, (long)&now, 8) < 0 ||
	    now.handler == sample_signal)
		return;
	preload.before = now;
	sys4(SYS_rt_sigaction, TIMER_SIGNAL, (long)&ours, 0, 8);
}

bool sample_action(const void *new, void *old)
{
	struct kernel_action was = preload.before;
	struct mapped_page m = { 0, false };

	if ((new && !memory_is_mapped(&m, new, sizeof(was))) ||
	    (old && !memory_is_mapped(&m, old, sizeof(was))))
		return false;
	if (new)
		bytes_copy(&preload.before, new, sizeof(was));
	if (old)
		bytes_copy(old, &was, sizeof(was));
	return true;
}
