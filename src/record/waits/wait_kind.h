/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_WAIT_KIND_H
#define TALLY_RECORD_WAITS_WAIT_KIND_H
/*
 * What a thread waits for: the kind of the system call in which it sleeps and, for
 * calls that read or write, the kind of file.  Numbers of system calls are those of
 * tally's own architecture.  Nothing here reads files or memory.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kind, as a number: what | object << 8.  0: unknown. */
typedef uint16_t wait_kind;

enum wait_what {
	WAIT_FOR_UNKNOWN,
	WAIT_FOR_FUTEX,
	WAIT_FOR_EPOLL,
	WAIT_FOR_POLL,		/* poll and select */
	WAIT_FOR_READ,
	WAIT_FOR_WRITE,
	WAIT_FOR_ACCEPT,
	WAIT_FOR_CONNECT,
	WAIT_FOR_SYNC,		/* until data is on a disk */
	WAIT_FOR_SLEEP,
	WAIT_FOR_SIGNAL,
	WAIT_FOR_CHILD,
	WAIT_FOR_FORK,		/* vfork waits until the child executes a program */
	WAIT_FOR_EXEC,
	WAIT_FOR_EXIT,
	WAIT_FOR_FILE_LOCK,
	WAIT_FOR_AIO,
	WAIT_FOR_IPC,		/* message queues and System V semaphores */
	WAIT_FOR_PATH,		/* opening, creating, renaming … files */
	WAIT_FOR_MEMORY,	/* changes of mappings */
	WAIT_FOR_IOCTL,
	WAIT_FOR_PAGE,		/* a page fault */
	WAIT_FOR_CONTINUE,	/* the thread is stopped */
	WAIT_FOR_OTHER,
	WAIT_FOR_KINDS,
};

enum wait_object {
	WAIT_ON_NOTHING,
	WAIT_ON_PIPE,
	WAIT_ON_SOCKET,
	WAIT_ON_FILE,
	WAIT_ON_DIRECTORY,
	WAIT_ON_TTY,
	WAIT_ON_DEVICE,
	WAIT_ON_DISK,		/* a block device */
	WAIT_ON_EVENTFD,
	WAIT_ON_TIMERFD,
	WAIT_ON_SIGNALFD,
	WAIT_ON_INOTIFY,
	WAIT_ON_PATH,		/* a file with a path, of a type still to be found */
	WAIT_ON_KINDS,
};

static inline wait_kind wait_kind_of(enum wait_what what, enum wait_object on)
{
	return (wait_kind)(what | on << 8);
}

static inline enum wait_what wait_kind_what(wait_kind k)
{
	return (enum wait_what)(k & 0xff);
}

/* Returns whether the kind lacks the object of a call, which a poll can find. */
static inline bool wait_kind_lacks_object(wait_kind k)
{
	return k == WAIT_FOR_READ || k == WAIT_FOR_WRITE;
}

/* Returns the kind of a system call.  It is WAIT_FOR_READ or WAIT_FOR_WRITE without
 * an object if the object is that of the call's first argument. */
wait_kind wait_kind_of_call(int64_t number);
/* Returns the object of /proc/PID/fd/N by its link (proc(5)). */
enum wait_object wait_object_of_link(const char *link);
/* Returns the object of a file by st_mode and the major number of its device. */
enum wait_object wait_object_of_mode(uint32_t mode, uint32_t major);
/* Writes the kind as text: one word for `what`, and one for the object. */
void wait_kind_text(wait_kind k, char *out, size_t size);

#endif
