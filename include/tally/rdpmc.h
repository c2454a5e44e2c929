/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_RDPMC_H
#define TALLY_RDPMC_H
/*
 * Counts events in a region of the calling thread, from C or C++ (with
 * _GNU_SOURCE defined); no library is needed.
 *
 *	struct tally_counter c;
 *	struct tally_count a, b;
 *
 *	if (tally_counter_open(&c, PERF_TYPE_HARDWARE,
 *			       PERF_COUNT_HW_INSTRUCTIONS, 0) < 0)
 *		…					// errno says why
 *	tally_counter_read(&c, &a);
 *	region();
 *	tally_counter_read(&c, &b);
 *	printf("%llu\n", (unsigned long long)(b.value - a.value));
 *	tally_counter_close(&c);
 *
 * Reading takes one RDPMC instruction, some tens of cycles, if the kernel
 * allows it in user space, which the event's page states (perf_event_open(2),
 * struct perf_event_mmap_page).  Otherwise it takes a system call: without a
 * hardware counter, while the event is not on a counter, on processors other
 * than x86, in threads other than the one that opened the counter, and in a
 * child after fork.
 *
 * RDPMC faults (#GP) if CR4.PCE is clear.  The page does not show whether an
 * administrator clears it later (/sys/devices/cpu/rdpmc).  Therefore opening
 * installs a SIGSEGV handler that replaces a fault of exactly these
 * instructions by the system call and passes all others to the previous
 * handler.  A program that sets its own handler later, or blocks SIGSEGV, loses
 * this protection.  With TALLY_NO_GUARD defined nothing is installed and each
 * reading is a system call.
 *
 * BKDG §10.1: RDPMC does not wait for the instructions before it, nor do those
 * after it wait for RDPMC, so counts of very small regions are not exact.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A reading.  If enabled and running grew by different amounts between two
 * readings, the event shared its counter, and the difference of values is only
 * what was counted while it had the counter. */
struct tally_count {
	uint64_t value;
	uint64_t enabled, running;	/* nanoseconds */
};

/* An instruction that may fault; returns false if it did. */
typedef bool tally_instruction(uint32_t counter, uint64_t *out);

typedef const volatile struct perf_event_mmap_page tally_page;

/* Readers give up after this many attempts that overlapped a change of the page. */
enum { TALLY_RETRIES = 1000 };

/* Returns the contents of a counter of `width` bits as a signed number: the
 * kernel loads counters with negative values so that they overflow in time. */
static inline int64_t tally_pmc_extend(uint64_t raw, unsigned int width)
{
	return width - 1 < 63 ? (int64_t)(raw << (64 - width)) >> (64 - width)
			      : (int64_t)raw;
}

/* Returns how far a counter of 40 (P6) or 48 (K8) bits advanced, if it wrapped
 * at most once; for reading a counter without the kernel's page. */
static inline uint64_t tally_pmc_delta(uint64_t from, uint64_t to,
				       unsigned int width)
{
	return (to - from) & (width < 64 ? (UINT64_C(1) << width) - 1
					 : UINT64_MAX);
}

/* A compiler barrier.  The processor that writes the page for this thread is
 * the one that runs it, so no hardware barrier is needed. */
#define TALLY_BARRIER() __asm__ volatile("" ::: "memory")

/* Returns the time since the perf_event_mmap_page was written, by the time
 * stamp counter. */
static inline bool tally_page_time(tally_page *p, tally_instruction *tsc,
				   uint64_t *passed)
{
	uint64_t cycles, quotient, rest;
	uint16_t shift = p->time_shift;
	uint32_t mult = p->time_mult;

	if (!p->cap_user_time || shift > 63 || !tsc(0, &cycles))
		return false;
	quotient = cycles >> shift;
	rest = cycles & ((UINT64_C(1) << shift) - 1);
	*passed = p->time_offset + quotient * mult + ((rest * mult) >> shift);
	return true;
}

/* Makes one attempt to read the page and the counter it names. */
static inline bool tally_page_once(tally_page *p, tally_instruction *rdpmc,
				   tally_instruction *tsc,
				   struct tally_count *out)
{
	uint32_t index = p->index;
	uint64_t raw, passed;

	out->value = (uint64_t)p->offset;
	out->enabled = p->time_enabled;
	out->running = p->time_running;
	/* Before Linux 3.12 these bits had another meaning.  Index 0: not on a
	 * counter, so RDPMC would read an unrelated one. */
	if (!p->cap_bit0_is_deprecated || !p->cap_user_rdpmc || !index)
		return false;
	/* The times in the page are outdated.  This matters only if they differ. */
	if (out->enabled != out->running) {
		if (!tally_page_time(p, tsc, &passed))
			return false;
		out->enabled += passed;
		out->running += passed;
	}
	if (!rdpmc(index - 1, &raw))
		return false;
	out->value += (uint64_t)tally_pmc_extend(raw, p->pmc_width);
	return true;
}

/*
 * Reads the event of a page; returns false if a system call is needed.  The
 * kernel increments `lock` before and after it writes.  Values read in between
 * are consistent only if it stayed the same and even.
 */
static inline bool tally_page_read(tally_page *p, tally_instruction *rdpmc,
				   tally_instruction *tsc,
				   struct tally_count *out)
{
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < TALLY_RETRIES; i++) {
		uint32_t seq = p->lock;
		bool good;

		TALLY_BARRIER();
		good = !(seq & 1) && tally_page_once(p, rdpmc, tsc, out);
		TALLY_BARRIER();
		if (seq & 1 || p->lock != seq)
			continue;
		return good;
	}
	return false;
}

#if (defined(__x86_64__) || defined(__i386__)) && !defined(TALLY_NO_GUARD)
#ifndef __USE_GNU
#error "tally/rdpmc.h needs _GNU_SOURCE, defined before the first #include"
#endif

/*
 * Lists the addresses of the instructions that may fault, relative to the list
 * entries.  Each instruction is two bytes long.  A fault leaves 1 in (E|R)SI.
 */
#define TALLY_MAY_FAULT(instruction)					\
	"1:	" instruction "\n"					\
	"	.pushsection tally_faults, \"a\"\n"			\
	"	.balign 4\n"						\
	"2:	.long 1b - 2b\n"					\
	"	.popsection\n"

static inline bool tally_rdpmc(uint32_t counter, uint64_t *out)
{
	uint32_t low, high;
	unsigned long fault = 0;

	__asm__ volatile(TALLY_MAY_FAULT("rdpmc")
			 : "=a"(low), "=d"(high), "+S"(fault) : "c"(counter)
			 : "memory");
	*out = (uint64_t)high << 32 | low;
	return !fault;
}

/* prctl(2), PR_SET_TSC, makes this one fault. */
static inline bool tally_tsc(uint32_t counter, uint64_t *out)
{
	uint32_t low, high;
	unsigned long fault = 0;

	(void)counter;
	__asm__ volatile(TALLY_MAY_FAULT("rdtsc")
			 : "=a"(low), "=d"(high), "+S"(fault) :: "memory");
	*out = (uint64_t)high << 32 | low;
	return !fault;
}

extern const int32_t tally_faults_start[]
	__asm__("__start_tally_faults")
	__attribute__((weak, visibility("hidden")));
extern const int32_t tally_faults_stop[]
	__asm__("__stop_tally_faults")
	__attribute__((weak, visibility("hidden")));

/* The previous SIGSEGV action. */
static struct sigaction tally_guard_before;
static int tally_guard_on;
static pthread_mutex_t tally_guard_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void tally_guard(int signo, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct sigaction *before = &tally_guard_before;
#ifdef __x86_64__
	enum { IP = REG_RIP, SI = REG_RSI };
#else
	enum { IP = REG_EIP, SI = REG_ESI };
#endif
	const int32_t *f = tally_faults_start;

	/* A signal sent by a process is no fault. */
	for (; info->si_code > 0 && f < tally_faults_stop; f++)
		if ((uintptr_t)f + (uintptr_t)(intptr_t)*f ==
		    (uintptr_t)regs[IP]) {
			regs[IP] += 2;
			regs[SI] = 1;
			return;
		}
	if (before->sa_flags & SA_SIGINFO && before->sa_sigaction) {
		before->sa_sigaction(signo, info, context);
	} else if (before->sa_handler != SIG_DFL &&
		   before->sa_handler != SIG_IGN) {
		before->sa_handler(signo);
	} else {
	/* The fault repeats with the previous action. */
		struct sigaction normal;

		memset(&normal, 0, sizeof(normal));
		normal.sa_handler = SIG_DFL;
		sigaction(SIGSEGV, &normal, NULL);
		if (info->si_code <= 0)
			raise(signo);
	}
}

/* Installs the handler.  Returns 0, or -1 with errno; then only system calls are
 * used. */
static inline int tally_guard_install(void)
{
	struct sigaction sa;
	int r = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = tally_guard;
	sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	pthread_mutex_lock(&tally_guard_lock);
	if (!tally_guard_on) {
		r = sigaction(SIGSEGV, &sa, &tally_guard_before);
		tally_guard_on = !r;
	}
	pthread_mutex_unlock(&tally_guard_lock);
	return r;
}
#else
static inline bool tally_rdpmc(uint32_t counter, uint64_t *out)
{
	(void)counter;
	*out = 0;
	return false;
}

static inline bool tally_tsc(uint32_t counter, uint64_t *out)
{
	return tally_rdpmc(counter, out);
}

static inline int tally_guard_install(void)
{
	return -1;
}
#endif

struct tally_counter {
	int fd;
	tally_page *page;	/* NULL: system calls only */
	size_t page_size;
	pthread_t owner;
	volatile char *ours;	/* 1; 0 in a child, which does not have the page */
};

enum { TALLY_COUNT_USER = 1 };	/* exclude the kernel's work for the thread */

/*
 * Uses an event that is already open, before its first read.  It comes from
 * perf_event_open(2) with pid 0, cpu -1 and read_format
 * PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING. Any other file works that can be read
 * and mapped in the same way.  Takes ownership of the file.  Never fails: without a
 * page, it uses system calls.
 */
static inline void tally_counter_attach(struct tally_counter *c, int fd)
{
	void *page, *ours = MAP_FAILED;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->owner = pthread_self();
	c->page_size = (size_t)sysconf(_SC_PAGESIZE);
	if (tally_guard_install() < 0)
		return;
	page = mmap(NULL, c->page_size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return;
	/* A child does not inherit the mapping of a perf page after fork. */
	ours = mmap(NULL, c->page_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ours == MAP_FAILED ||
	    madvise(ours, c->page_size, 18 /* MADV_WIPEONFORK */) < 0) {
		munmap(page, c->page_size);
		if (ours != MAP_FAILED)
			munmap(ours, c->page_size);
		return;
	}
	c->page = (tally_page *)page;
	c->ours = (volatile char *)ours;
	*c->ours = 1;
}

/* Opens and starts a counter of the calling thread.  Returns 0, or -1 with
 * errno. */
static inline int tally_counter_open(struct tally_counter *c, uint32_t type,
				     uint64_t config, unsigned int flags)
{
	struct perf_event_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.size = PERF_ATTR_SIZE_VER5;
	a.type = type;
	a.config = config;
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.exclude_kernel = a.exclude_hv = flags & TALLY_COUNT_USER;
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	tally_counter_attach(c, fd);
	return 0;
}

/* Returns whether this thread may use the page. */
static inline bool tally_counter_direct(const struct tally_counter *c)
{
	return c->page && *c->ours && pthread_equal(c->owner, pthread_self());
}

/* Returns 1 if RDPMC read the counter, 0 if a system call did, or -1 with
 * errno. */
static inline int tally_counter_read(const struct tally_counter *c,
				     struct tally_count *out)
{
	uint64_t v[3];
	ssize_t n;

	memset(out, 0, sizeof(*out));
	if (tally_counter_direct(c) &&
	    tally_page_read(c->page, tally_rdpmc, tally_tsc, out))
		return 1;
	do
		n = read(c->fd, v, sizeof(v));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(v)) {
		if (n >= 0)
			errno = EIO;
		return -1;
	}
	out->value = v[0];
	out->enabled = v[1];
	out->running = v[2];
	return 0;
}

static inline void tally_counter_close(struct tally_counter *c)
{
	if (c->page) {
		if (*c->ours)
			munmap((void *)(uintptr_t)c->page, c->page_size);
		munmap((void *)(uintptr_t)c->ours, c->page_size);
	}
	if (c->fd >= 0)
		close(c->fd);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

#ifdef __cplusplus
}
#endif

#endif
