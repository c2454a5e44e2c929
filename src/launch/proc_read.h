/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PROC_READ_H
#define TALLY_LAUNCH_PROC_READ_H
/* Reads small files of proc(5), of which proc_text.h parses those of many lines, and the
 * memory of processes. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Appends a file of one line without its newline (comm, boot_id).  Returns false if
 * it cannot be read; a part may have been appended. */
bool proc_line(const char *path, struct buf *out);
/* Reads the beginning of a file, whose path is that of a format, and appends a NUL: ""
 * if it cannot be read.  Returns the number of bytes, or -1. */
ssize_t proc_beginning(char *text, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the next process or thread in an open folder of /proc, 0 after the last one or
 * if `d` is NULL. */
uint32_t proc_next(DIR *d);
/* Appends a process's name, or `otherwise`.  Returns false if the name is unknown. */
bool proc_name(uint32_t pid, const char *otherwise, struct buf *out);
/* Returns the parent of a process, 0 if it is unknown. */
uint32_t proc_parent(uint32_t pid);
/* Returns the number after "KEY:" in /proc/PID/status, or `otherwise`. */
uint64_t proc_status_of(uint32_t pid, const char *key, uint64_t otherwise);
/* Returns whether tally is in the machine's initial pid namespace, or true if /proc does
 * not show that. */
bool proc_first_pid_namespace(void);
/* Returns whether /proc is there and shows the processes of tally's own namespace. */
bool proc_is_own(void);
/* Returns whether a process belongs to another user, and sets *uid.  Files of a
 * process that may not be dumped belong to root (proc(5)), but its status shows the
 * true user. */
bool proc_other_user(uint32_t pid, uint64_t *uid);

/* Reads n bytes of a process's memory, all or nothing. */
bool proc_memory(uint32_t pid, uint64_t addr, void *to, size_t n);
/* Reads them up to the first page that cannot be read, and at most PROC_PAGES pages.
 * Returns the number of bytes, or -1 and sets errno (process_vm_readv(2)). */
enum { PROC_PAGE = 4096, PROC_PAGES = 8 };
ssize_t proc_memory_pages(uint32_t pid, uint64_t addr, void *to, size_t n);

#endif
