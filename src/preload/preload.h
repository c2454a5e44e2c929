/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PRELOAD_PRELOAD_H
#define TALLY_PRELOAD_PRELOAD_H
/*
 * The library that tally's timer source loads into programs (LD_PRELOAD).  It arms
 * one CPU-time timer per thread, whose signal takes a sample.  It also reports
 * processes and mappings to the recorder.
 *
 * The program must not notice the library.  Nothing here allocates, locks, or calls
 * the C library, except for the functions that it interposes (resolve.c finds those).
 * Its state is in global variables, because no caller could pass it a context.
 *
 * The signal is 33, which the C library reserves for itself.  Programs cannot block,
 * catch, wait for or see it through the library's functions.  The C library's own use
 * of it (setuid in all threads) is passed on.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/shared.h"
#include "runtime/python_thread_name.h"

/*
 * System calls without a C library.  The library must not touch errno, must not need
 * a symbol of the program's libraries, and must run on any stack. x86-64 (its psABI,
 * A.2.1).
 */

/* Returns the result, or a negative error number. */
static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long sys4(long nr, long a, long b, long c, long d)
{
	return sys6(nr, a, b, c, d, 0, 0);
}

static inline long sys3(long nr, long a, long b, long c)
{
	return sys6(nr, a, b, c, 0, 0, 0);
}

static inline long sys1(long nr, long a)
{
	return sys6(nr, a, 0, 0, 0, 0, 0);
}

static inline long sys_open(const char *path, int flags)
{
	return sys4(SYS_openat, -100 /* AT_FDCWD */, (long)path, flags, 0);
}

static inline long sys_close(long fd)
{
	return sys1(SYS_close, fd);
}

static inline long sys_read(long fd, void *p, size_t n)
{
	return sys3(SYS_read, fd, (long)p, (long)n);
}

static inline uint32_t sys_pid(void)
{
	return (uint32_t)sys1(SYS_getpid, 0);
}

static inline uint32_t sys_tid(void)
{
	return (uint32_t)sys1(SYS_gettid, 0);
}

/* "rep movsb" instead of a loop, which a compiler would turn into a call of memcpy. */
static inline void bytes_copy(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)
			 : : "memory");
}

static inline void bytes_zero(void *to, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static inline size_t text_size(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* Put a text or a number with its NUL at `to`.  Return the place of the NUL. */
static inline char *text_put(char *to, const char *s)
{
	size_t n = text_size(s);

	bytes_copy(to, s, n + 1);
	return to + n;
}

static inline char *text_put_number(char *to, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = 0;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return text_put(to, p);
}

/* Returns the rest of s after `word`, or NULL if s does not begin with it. */
static inline const char *text_after(const char *s, const char *word)
{
	while (*word)
		if (*s++ != *word++)
			return NULL;
	return s;
}

static inline int text_equal(const char *a, const char *b)
{
	const char *rest = text_after(a, b);

	return rest && !*rest;
}

#define EXPORT __attribute__((visibility("default")))

enum {
	TIMER_SIGNAL = 33,
	THREADS_MAX = 8192,
	NAMES_MAX = 40,
};

enum slot_state { SLOT_FREE, SLOT_BEGINS, SLOT_LIVES };

/* A thread with a timer. */
struct slot {
	uint32_t state;		/* enum slot_state */
	uint32_t tid, shown_tid;
	int32_t timer;		/* kernel's timer number */
	uint32_t fresh;		/* no sample taken yet */
	uint32_t no_room;	/* its alternate stack is too small for the handler */
	uint64_t top, size;	/* top and size of its stack; size 0: unknown */
	void *(*fn)(void *);	/* function that it will run */
	void *arg;
	uint64_t state_at;	/* address of what its interpreter keeps for it, when
				 * last sampled, or 0 */
	struct python_thread_name name;	/* name that Python has for it */
};

/* Signal action in the kernel's layout. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

struct preload {
	bool ready;		/* initialised */
	bool active;		/* and recording */
	bool careful;		/* a filter of the program may kill it for any system
				 * call of the library */
	bool cannot_stop;	/* also for stopping a timer */
	bool no_readv;		/* a filter of a parent may kill it for some of them */
	bool loaded;		/* libraries were loaded since mappings were last
				 * reported */
	uint32_t pid;
	uint32_t shown_pid;	/* the process's number in /proc, which the recorder
				 * uses */
	uint64_t interval_ns;
	uint64_t period_ns;
	uint32_t copy_bytes;
	uint64_t thread_stack;	/* default stack size of threads; 0: unknown */
	uint64_t handler_stack;	/* bytes that the handler needs */
	uint32_t hint;		/* first slot to try when a free one is needed */
	uint32_t used;		/* number of slots ever used */
	struct timer_header *header;
	struct timer_ring *rings;
	uint8_t *data;
	uint32_t nrings;
	uint64_t ring_bytes;
	uint64_t sideband_ns;	/* time of the newest record other than a sample */
	struct kernel_action before;	/* the signal's previous action */
	int (*vdso_time)(long, void *);
	int (*vdso_cpu)(unsigned int *, unsigned int *, void *);
	char library[48];	/* path of this library */
	char variable[64];	/* TIMER_VARIABLE=… */
	struct slot slots[THREADS_MAX];
};

extern struct preload preload __attribute__((visibility("hidden")));

/* init.c */
void preload_begin(void);	/* also called when a thread starts before the
				 * library's turn */
uint32_t preload_cpu_us(void);	/* CPU time of this thread, see shared.h */
/* Initialises the child of a fork.  Takes its parent's numbers as the recorder knows
 * them, and the parent thread's own number. */
void preload_child(uint32_t ppid, uint32_t ptid, uint32_t thread);
uint64_t preload_now(void);	/* uses a system call */
/* Returns the caller's numbers for the recorder, which may be in another pid
 * namespace. */
void preload_numbers(uint32_t *pid, uint32_t *tid);

/* fork.c */
/* The parent's data that the child of a coming fork needs. */
struct parent {
	uint32_t pid, tid;	/* numbers for the recorder */
	uint32_t thread;
};
struct parent parent_now(void);

/* memory.c */
/* The last page that was checked, and whether it is mapped. */
struct mapped_page {
	uintptr_t page;
	bool any;
};
/* Returns whether this memory is mapped.  Assumes so under a filter of the program's
 * own. */
bool memory_is_mapped(struct mapped_page *m, const void *at, size_t n);
/* Checks memory up to the end of the text, or at most this many bytes. */
bool text_is_mapped(struct mapped_page *m, const char *s, size_t most);

/* filter.c: what a filter that the program installs permits */
struct filter_permits {
	bool all;		/* all calls of the library */
	bool handler;		/* the return from the signal handler */
	bool stop;		/* stopping a timer */
};
/* `filter`: a struct sock_fprog, which may be unreadable: it permits nothing then. */
struct filter_permits filter_look(const void *filter);

/* environment.c */
/* Copies tally's variable, "NAME=value", to `out`.  Returns false if there is none
 * that fits.  Removes the variable and this library from the array and from the
 * strings.  The program and /proc/PID/environ then show the environment as it would
 * be without tally. */
bool environment_take(char **envp, char *out, size_t size);
/* Returns whether the loader of a program would only list its libraries, as for
 * ldd(1). */
bool environment_lists(char *const *envp);
/* Returns whether another recorder has put its library into an environment. */
bool environment_is_taken(char *const *envp);
/* Returns whether everything to be examined can be read, with at most this many
 * entries, and bytes in a list of libraries. */
bool environment_is_mapped(char *const *envp, size_t entries, size_t text);
/* Build the environment for a program to be executed.  `out` has room for two more
 * entries than envp, `text` for environment_text(envp) bytes. */
size_t environment_count(char *const *envp);
size_t environment_text(char *const *envp);
void environment_make(char **out, char *const *envp, char *text);

/* follow.c: whether the library is loaded into a program. */
enum follow {
	FOLLOW,			/* the loader of the program loads it */
	FOLLOW_CHILDREN,	/* not loaded, or not permitted; its children may load
				 * it */
	FOLLOW_NOT,		/* the loader of the program would print an error, or
				 * the program would notice */
	FOLLOW_OTHER,		/* the library of another recorder is loaded, which uses the
				 * same signal, or another program traces this thread and
				 * would see it */
};
enum follow follow_file(const char *path);
enum follow follow_descriptor(int fd, const char *path);	/* as for execveat(2) */
enum follow follow_found(const char *file);	/* searched in PATH */

/* ring.c */
/* Reserves room for a record of at most `most` bytes in a ring.  Returns false when
 * all rings are full.  After true, always call preload_ring_end. */
struct preload_ring_room {
	struct timer_ring *ring;
	uint8_t *data;
	uint64_t pos;
};
bool preload_ring_begin(struct preload_ring_room *p, uint32_t tid, size_t most);
void preload_ring_put(const struct preload_ring_room *p, size_t at, const void *from,
		      size_t n);
void preload_ring_end(const struct preload_ring_room *p, size_t size);
/* Returns the time for a record that is not a sample.  Later samples have this time
 * or a later one. */
uint64_t preload_ring_time(void);
/* Writes a whole record and sets its size, time, pid and tid.  `text` may be NULL. */
void preload_record(struct timer_record *r, size_t size, const char *text,
		    size_t n);
void preload_record_kind(enum timer_kind kind);
void preload_record_text(enum timer_kind kind, uint16_t flags, const char *text,
			 size_t n);

/* sample.c */
void sample_catch(void);	/* installs the signal handler */
/* Answers a program's own rt_sigaction(2) for the signal.  Returns false if its
 * arguments are unreadable. */
bool sample_action(const void *new, void *old);

/* threads.c */
struct slot *slot_take(void);
void slot_drop(struct slot *s);
/* Arms the timer of the calling thread. */
void slot_arm(struct slot *s);
void slots_forget(void);
struct slot *slot_own(void);	/* of the calling thread, or NULL */
/* Finds out whether the handler has room on the calling thread's alternate stack. */
bool slot_has_room(struct slot *s);
/* Start and stop a thread's timer, if it has one. */
void timer_start(const struct slot *s);
void timer_stop(const struct slot *s);
/* Calls one of these for all threads, or for the caller. */
void timers_change(bool all, void (*change)(const struct slot *s));
/* Reports a new thread and arms its timer; `top` is the top of its stack. */
void thread_arm(struct slot *s, uint64_t top);
/* Counts a thread that will have no timer. */
void thread_unsampled(void);

/* maps.c */
void preload_record_maps(void);

/* resolve.c: returns the next definition of a function after this library's, or
 * NULL. */
void *resolve(const char *name);
/* Returns the first definition in all objects, the program first: a function or data.
 * Sets *size unless it is NULL. */
void *resolve_any(const char *name, bool function, uint64_t *size);
/* Does the same in a signal handler, where objects may come and go meanwhile, among
 * objects whose file name contains `part`.  Uses process_vm_readv(2). */
void *resolve_loaded(const char *part, const char *name, bool function,
		     uint64_t *size);

/* frames.c: frames of an interpreter, if the program is one (runtime/frame_part.h) */
void frames_find(void);		/* checks whether it is one */
void frames_forget(void);	/* a child reports all code again */
/* Libraries are loaded from now on.  One of them may be an interpreter. */
void frames_load(void);
void frames_search(void);	/* searches for it, sometimes; call for each sample */
size_t frames_room(void);	/* maximum bytes of frames in a record, or 0 */
/* Writes the frames of the calling thread, with registers as in ucontext.  Returns
 * their size in bytes. */
size_t frames_put(const struct preload_ring_room *p, size_t at, struct slot *s,
		  const long long *registers);

/* python.c, php.c, ruby.c: return whether the program is that interpreter.  Only the door's
 * `read` is used.  loaded: search for one that was loaded later, in a signal handler */
struct frame_door;
bool python_find(const struct frame_door *door, bool loaded);
void python_forget(void);	/* forgets what handlers were doing, and what was written */
bool php_find(void);
bool ruby_find(void);
/* Write frames like frames_put; `work` is a struct python_scratch, php_scratch … */
size_t python_put(const struct frame_door *door, void *work, struct slot *s);
size_t php_put(const struct frame_door *door, void *work, const struct slot *s,
	       const long long *registers);
size_t ruby_put(const struct frame_door *door, void *work, struct slot *s);

#define NEXT(name) ((__typeof__(&name))next_function(&name##_next, #name))

static inline void *next_function(void **kept, const char *name)
{
	if (!*kept)
		*kept = resolve(name);
	return *kept;
}

#endif
