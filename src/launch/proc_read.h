/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PROC_READ_H
#define TALLY_LAUNCH_PROC_READ_H
/* Small files of proc(5), read; proc_text.h has those of many lines. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends a file of one line without its end (comm, boot_id); false, and
 * perhaps a part of it, when it cannot be read. */
bool proc_line(const char *path, struct buf *out);
/* Appends a process's name, or `otherwise`; false: it is not known. */
bool proc_name(uint32_t pid, const char *otherwise, struct buf *out);
/* The number after "KEY:" in /proc/PID/status, or `otherwise`. */
uint64_t proc_status_of(uint32_t pid, const char *key, uint64_t otherwise);
/* Whether our process numbers are the machine's own; also where /proc does not tell. */
bool proc_first_pid_namespace(void);
/* Whether a process is another user's, and whose: files of one that may not be
 * dumped are root's (proc(5)), its status tells the truth. */
bool proc_other_user(uint32_t pid, uint64_t *uid);

#endif
