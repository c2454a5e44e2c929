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
 * Begins: children forked from here on count.  Libraries may crash when an allocation
 * fails (getpwuid of glibc 2.36 does): then there is one message, and the process ends
 * with `status`; so it does at once where `deadly` says that a library would end it.
 * Crashes of tally's own code stay crashes.  `restore` puts the terminal back before
 * any of this.
 */
void memory_watch(bool (*deadly)(void), void (*restore)(void), int status);

#endif
