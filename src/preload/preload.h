/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PRELOAD_PRELOAD_H
#define TALLY_PRELOAD_PRELOAD_H
/*
 * The library that tally's timer source puts into programs (LD_PRELOAD).  It
 * arms one CPU-time timer for each thread, whose signal takes a sample, and
 * tells the recorder what it must know of processes and mappings.
 *
 * The program shall not notice: nothing here allocates, locks, or calls the C
 * library, but for the functions it stands before (resolve.c finds those).  Its
 * variables are its own: nobody hands it a context.
 *
 * The signal is 33, which the C library keeps for itself: programs can neither
 * block, catch, wait for nor see it by the library's functions, and what the C
 * library does with it (setuid in all threads) is passed on.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/shared.h"
#include "preload/sys.h"

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
	int32_t timer;		/* the kernel's number */
	uint32_t fresh;		/* no sample yet */
	uint64_t top, size;	/* of its stack; size 0: not known */
	void *(*fn)(void *);	/* what it shall run */
	void *arg;
};

/* Signal actions as the kernel has them. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

struct preload {
	bool ready;		/* initialised */
	bool active;		/* and recording */
	bool careful;		/* a filter of the program's may kill us for
				 * any system call */
	bool no_readv;		/* one of its parents' for some of them */
	bool loaded;		/* libraries came since mappings were told */
	uint32_t pid;
	uint32_t shown_pid;	/* what /proc, and so the recorder, calls us */
	uint32_t interval_ns;
	uint32_t period_ns;
	uint32_t copy_bytes;
	uint64_t thread_stack;	/* of threads without a wish; 0: not known */
	uint32_t hint;		/* where to look for a free slot */
	uint32_t used;		/* slots that were ever used */
	struct timer_header *header;
	struct timer_ring *rings;
	uint8_t *data;
	uint32_t nrings;
	uint64_t ring_bytes;
	uint64_t told_ns;	/* of the newest record but samples */
	struct kernel_action before;	/* what the signal did before us */
	int (*vdso_time)(long, void *);
	int (*vdso_cpu)(unsigned int *, unsigned int *, void *);
	char library[48];	/* our path */
	char variable[64];	/* TIMER_VARIABLE=… */
	struct slot slots[THREADS_MAX];
};

extern struct preload preload __attribute__((visibility("hidden")));

/* init.c */
void preload_begin(void);	/* when a thread comes before our turn */
uint32_t preload_cpu_us(void);	/* of this thread, see shared.h */
/* In a fork's child: its parent, as the recorder knows it, and the number that
 * thread had for itself. */
void preload_child(uint32_t ppid, uint32_t ptid, uint32_t thread);
uint64_t preload_now(void);	/* by a system call */
/* The caller's numbers for the recorder, which need not live in our pid
 * namespace. */
void preload_numbers(uint32_t *pid, uint32_t *tid);

/* fork.c */
/* A fork that is about to happen: what its child must know of its parent. */
struct parent {
	uint32_t pid, tid;	/* for the recorder */
	uint32_t thread;
};
struct parent parent_now(void);

/* memory.c */
/* A page that was there when it was last looked at. */
struct memory_seen {
	uintptr_t page;
	bool any;
};
/* Is this memory there?  Under a filter of the program's own we do not ask. */
bool memory_there(struct memory_seen *m, const void *at, size_t n);
/* … up to the end of the text, or at most this many bytes. */
bool text_there(struct memory_seen *m, const char *s, size_t most);

/* environment.c */
/* Our variable, "NAME=value", into `out`; false when there is none that fits.
 * Takes it and us out of the array and out of the strings, so that the program
 * and /proc/PID/environ show the environment that it would have had. */
bool environment_take(char **envp, char *out, size_t size);
/* Can all that is looked at be read, with no more entries, nor bytes of a list
 * of libraries? */
bool environment_there(char *const *envp, size_t entries, size_t text);
/* The environment for a program that is to be executed: `out` has room for two
 * more than envp, `text` for environment_text(envp) bytes. */
size_t environment_count(char *const *envp);
size_t environment_text(char *const *envp);
void environment_make(char **out, char *const *envp, char *text);

/* follow.c: what becomes of us in a program. */
enum follow {
	FOLLOW,			/* its loader takes us along */
	FOLLOW_BLIND,		/* it has none, or may not: its children may */
	FOLLOW_NOT,		/* its loader would complain of us */
};
enum follow follow_file(const char *path);
enum follow follow_found(const char *file);	/* in PATH */

/* ring.c */
/* Room for the record: bytes before `rest` are copied from `r`, `rest` more may
 * follow; false when all rings are full.  Call ring_end in any case that was
 * true. */
struct ring_place {
	struct timer_ring *ring;
	uint8_t *data;
	uint64_t pos;
};
bool ring_begin(struct ring_place *p, uint32_t tid, size_t most);
void ring_put(const struct ring_place *p, size_t at, const void *from,
	      size_t n);
void ring_end(const struct ring_place *p, size_t size);
/* For a record that is no sample: samples have this time or later ones then. */
uint64_t ring_time(void);
/* A whole record: sets its size, time, pid and tid.  `text` may be NULL. */
void ring_tell(struct timer_record *r, size_t size, const char *text,
	       size_t n);
void ring_tell_kind(enum timer_kind kind);
void ring_tell_text(enum timer_kind kind, uint16_t flags, const char *text,
		    size_t n);

/* sample.c */
void sample_catch(void);	/* puts the handler in place */

/* threads.c */
struct slot *slot_take(void);
void slot_drop(struct slot *s);
/* Arms the timer of the calling thread. */
void slot_arm(struct slot *s);
void slots_forget(void);
/* A new thread tells of itself and arms its timer; `top` of its stack. */
void thread_arm(struct slot *s, uint64_t top);
/* Notes a thread that will have no timer. */
void thread_unsampled(void);

/* maps.c */
void maps_tell(void);

/* resolve.c: the function that comes after ours, or NULL. */
void *resolve(const char *name);
/* … or the first of all objects, the program before them; a function or data.  Sets its
 * *size, unless NULL. */
void *resolve_any(const char *name, bool function, uint64_t *size);

/* frames.c: frames of the interpreter that the program is (runtime/frame_part.h) */
void frames_find(void);		/* is it one? */
void frames_forget(void);	/* a child tells of all code again */
size_t frames_room(void);	/* that frames may take in a record; or 0 */
/* Puts the frames of the calling thread, whose registers are as ucontext's; how many
 * bytes. */
size_t frames_put(const struct ring_place *p, size_t at, const struct slot *s,
		  const long long *registers);

/* python.c, php.c: is the program that interpreter?  Of the door only its reading is
 * used. */
struct frame_door;
bool python_find(const struct frame_door *door);
bool php_find(void);
/* As frames_put; `work`: struct python_scratch, struct php_scratch. */
size_t python_put(const struct frame_door *door, void *work);
size_t php_put(const struct frame_door *door, void *work, const struct slot *s,
	       const long long *registers);

#define NEXT(name) ((__typeof__(&name))next_function(&name##_next, #name))

static inline void *next_function(void **kept, const char *name)
{
	if (!*kept)
		*kept = resolve(name);
	return *kept;
}

#endif
