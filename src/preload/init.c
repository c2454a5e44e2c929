// SPDX-License-Identifier: GPL-2.0-or-later
/* Initialises the library in a program: finds the recorder's memory, removes its
 * traces from the environment, arms the first thread. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "preload/preload.h"

/* AT_MINSIGSTKSZ is what the kernel needs (sigaltstack(2)), and missing before Linux
 * 5.14 on x86.  The rest is the handler's, which also reads frames of interpreters: it
 * was seen to use 1,760 bytes, and its deepest path has some 1,900. */
enum { HANDLER_STACK = 2304 };
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

struct preload preload;

extern char **environ __attribute__((weak));

uint64_t preload_now(void)
{
	struct timespec ts = { 0, 0 };

	/* Not the vdso's function: it reads the processor's counter, which programs
	 * may forbid to themselves (PR_SET_TSC). */
	sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Finds a function of the vdso (Linux, Documentation/ABI/stable/vdso). */
static void *vdso_find(const uint8_t *base, const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(base + e->e_phoff);
	const Elf64_Dyn *d = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *names = NULL;
	uint64_t bias = 0, count = 0;

	for (int i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && !bias)
			bias = (uintptr_t)base + ph[i].p_offset - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(base + ph[i].p_offset);
	}
	for (; d && d->d_tag != DT_NULL; d++) {
		const void *p = (const void *)(bias + d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			symbols = p;
		if (d->d_tag == DT_STRTAB)
			names = p;
	}
	/* Linkers place the names directly after the symbols. */
	if (symbols && names > (const char *)symbols)
		count = (uint64_t)(names - (const char *)symbols) /
			sizeof(*symbols);
	for (uint64_t i = 0; i < count; i++)
		if (text_equal(names + symbols[i].st_name, name))
			return (void *)(bias + symbols[i].st_value);
	return NULL;
}

static uint64_t auxv_get(char **envp, uint64_t type)
{
	const uint64_t *a;

	while (*envp)
		envp++;
	for (a = (const uint64_t *)(envp + 1); a[0]; a += 2)
		if (a[0] == type)
			return a[1];
	return 0;
}

/* Parses a decimal number up to a colon or the end. */
static const char *number(const char *s, uint64_t *out)
{
	for (*out = 0; *s >= '0' && *s <= '9'; s++)
		*out = *out * 10 + (uint64_t)(*s - '0');
	return *s == ':' ? s + 1 : s;
}

/* Maps the memory that the variable names, and sets the library's path for child
 * programs. */
static bool attach(const char *value)
{
	struct timer_header *h;
	uint64_t pid, memory, library, size;
	char path[64], *p;
	long fd, at;

	number(number(number(value, &pid), &memory), &library);
	p = text_put_number(text_put(path, "/proc/"), pid);
	text_put_number(text_put(p, "/fd/"), memory);
	fd = sys_open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = (uint64_t)sys3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
	at = sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED,
		  fd, 0);
	sys_close(fd);
	if (at < 0 && at > -TIMER_PAGE)
		return false;
	h = (struct timer_header *)at;
	preload.nrings = h->nrings;
	preload.ring_bytes = h->ring_bytes;
	if (h->magic != TIMER_MAGIC || !preload.nrings ||
	    preload.nrings > TIMER_RINGS_MAX ||
	    size < 2 * TIMER_PAGE + preload.nrings * preload.ring_bytes) {
		sys3(SYS_munmap, at, (long)size, 0);
		return false;
	}
	preload.rings = (struct timer_ring *)(at + TIMER_PAGE);
	preload.data = (uint8_t *)(at + 2 * TIMER_PAGE);
	preload.copy_bytes = h->copy_bytes < TIMER_COPY_MAX ? h->copy_bytes
							    : TIMER_COPY_MAX;
	p = text_put_number(text_put(preload.library, "/proc/"), pid);
	text_put_number(text_put(p, "/fd/"), library);
	preload.header = h;
	return true;
}

/* /proc/thread-self is "PID/task/TID" in the namespace of the /proc mount. */
void preload_numbers(uint32_t *pid, uint32_t *tid)
{
	char link[64];
	uint64_t p, t;
	const char *rest;
	long n;

	*pid = sys_pid();
	*tid = sys_tid();
	if (*pid == preload.pid && preload.shown_pid == preload.pid)
		return;
	n = sys4(SYS_readlinkat, -100, (long)"/proc/thread-self", (long)link,
		 sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = 0;
	rest = number(link, &p);
	rest = text_after(rest, "/task/");
	if (!rest)
		return;
	number(rest, &t);
	*pid = (uint32_t)p;
	*tid = (uint32_t)t;
}

/* Reads the process's numbers after a start or a fork. */
static void know_numbers(void)
{
	uint32_t pid, tid;

	preload.shown_pid = 0;
	preload.pid = sys_pid();
	preload_numbers(&pid, &tid);
	preload.shown_pid = pid;
}

/* Chooses the period.  The kernel checks a thread's timers once a tick. */
static void choose_period(void)
{
	const struct timer_header *h = preload.header;
	uint64_t period = h->period_ns, tick = h->tick_ns;

	if (period < 10000)
		period = 10000;
	preload.interval_ns = preload.period_ns = period;
	if (period > tick + tick / 8 || tick > 1000000000u)
		return;
	/* The timer must have expired by each tick. */
	preload.interval_ns = tick / 2;
	preload.period_ns = tick;
}

/* Returns the limit of the main thread's stack, or 0. */
static uint64_t stack_limit(void)
{
	struct rlimit l = { 0, 0 };

	return sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&l) < 0 ? 0 : l.rlim_cur;
}

/* Returns the default stack size: glibc uses the main thread's limit
 * (pthread_create(3)). */
static uint64_t thread_stack_size(void)
{
	uint64_t limit = resolve("gnu_get_libc_version") ? stack_limit() : 0;

	return limit == RLIM_INFINITY ? 2u << 20 : limit;
}

uint32_t preload_cpu_us(void)
{
	struct timespec ts = { 0, 0 };

	sys3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&ts, 0);
	return (uint32_t)((uint64_t)ts.tv_sec * 1000000u +
			  (uint64_t)ts.tv_nsec / 1000);
}

static uint32_t to_us(struct timeval tv)
{
	return (uint32_t)((uint64_t)tv.tv_sec * 1000000u +
			  (uint64_t)tv.tv_usec);
}

/* Fills in the time of exec and the loader, which could not be sampled. */
static void fill_times(struct timer_start *t, uint64_t loader)
{
	struct rusage use;

	bytes_zero(&use, sizeof(use));
	sys3(SYS_getrusage, RUSAGE_THREAD, (long)&use, 0);
	t->user_us = to_us(use.ru_utime);
	t->sys_us = to_us(use.ru_stime);
	t->cpu_us = preload_cpu_us();
	if (loader)
		t->entry = loader + ((const Elf64_Ehdr *)loader)->e_entry;
}

static void record_start(uint64_t loader)
{
	struct timer_start t = { .r = { .kind = TIMER_START } };

	t.ppid = (uint32_t)sys1(SYS_getppid, 0);
	sys3(SYS_prctl, PR_GET_NAME, (long)t.comm, 0);
	fill_times(&t, loader);
	preload_record(&t.r, sizeof(t), NULL, 0);
	preload_record_maps();
}

static void first_thread(uint64_t top)
{
	struct slot *s = slot_take();

	if (!s)
		return;
	s->top = top;
	s->size = top ? stack_limit() : 0;
	if (s->size > 64u << 20)
		s->size = 64u << 20;
	slot_arm(s);
}

static void unblock(void)
{
	uint64_t set = 1ull << (TIMER_SIGNAL - 1);

	sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, 8);
}

static void begin(char **envp, uint64_t top)
{
	uint64_t vdso, loader;

	preload.ready = true;
	/* The auxiliary vector follows the environment if the kernel's layout is
	 * unchanged. */
	vdso = top ? auxv_get(envp, AT_SYSINFO_EHDR) : 0;
	loader = top ? auxv_get(envp, AT_BASE) : 0;
	preload.handler_stack = HANDLER_STACK +
				(top ? auxv_get(envp, AT_MINSIGSTKSZ) : 0);
	if (!environment_take(envp, preload.variable,
			      sizeof(preload.variable)) ||
	    !attach(preload.variable + sizeof(TIMER_VARIABLE)))
		return;
	if (vdso) {
		preload.vdso_time = (int (*)(long, void *))
			vdso_find((const uint8_t *)vdso,
				  "__vdso_clock_gettime");
		preload.vdso_cpu = (int (*)(unsigned int *, unsigned int *,
					    void *))
			vdso_find((const uint8_t *)vdso, "__vdso_getcpu");
	}
	know_numbers();
	preload.no_readv = sys1(SYS_prctl, PR_GET_SECCOMP) > 0 &&
			   !preload.header->checked_filters;
	choose_period();
	preload.thread_stack = thread_stack_size();
	if (preload.copy_bytes && !preload.no_readv)
		frames_find();
	record_start(loader);
	if (preload.header->state == TIMER_STOP)
		return;
	sample_catch();
	unblock();
	preload.active = true;
	first_thread(top);
}

void preload_begin(void)
{
	if (!preload.ready && &environ && environ)
		begin(environ, 0);
}

void preload_child(uint32_t ppid, uint32_t ptid, uint32_t thread)
{
	struct timer_fork f = { .r = { .kind = TIMER_FORK } };
	uint64_t top = 0;

	if (!preload.active || preload.careful)
		return;
	for (uint32_t i = 0; i < preload.used && !top; i++)
		if (preload.slots[i].tid == thread)
			top = preload.slots[i].top;
	slots_forget();
	frames_forget();
	know_numbers();
	f.ppid = ppid;
	f.ptid = ptid;
	preload_record(&f.r, sizeof(f), NULL, 0);
	sample_catch();	/* CLONE_CLEAR_SIGHAND */
	first_thread(top);
}

__attribute__((constructor)) static void library_begin(int argc, char **argv,
							char **envp)
{
	(void)argc;
	if (!preload.ready)
		begin(envp, (uintptr_t)argv);
}

__attribute__((destructor)) static void library_end(void)
{
	if (!preload.active || preload.careful)
		return;
	if (preload.loaded)
		preload_record_maps();
	preload_record_kind(TIMER_EXIT);
}
