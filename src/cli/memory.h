/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_MEMORY_H
#define TALLY_CLI_MEMORY_H
/*
 * Whether memory ever ran out.  All allocations of the process are watched, also those
 * that libelf, libdw, zlib and the C library make for themselves, so that a command
 * that went on without something never ends as if it had all.  Built with sanitizers,
 * which have the allocator, only tally's own calls are (the linker's --wrap).
 */
#include <stdbool.h>

bool memory_ran_out(void);	/* here, or in a process forked from this one */

/*
 * Begins: children forked from here on count, and `failed` is called with `status` at
 * once whenever an allocation fails.  Libraries may crash then (getpwuid of glibc
 * 2.36 does): that is one message and `status` too.  Crashes of tally's own code stay
 * crashes.  `restore` puts the terminal back before either.
 */
void memory_watch(void (*failed)(int status), void (*restore)(void), int status);

#endif
