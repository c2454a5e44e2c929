/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_MEMORY_H
#define TALLY_CLI_MEMORY_H
/*
 * Detects whether memory ever ran out.  It watches all allocations of the process,
 * including those inside libelf, libdw, zlib and the C library, and mappings of files.
 * A command that
 * continued with incomplete data therefore never reports success.  Sanitizers
 * replace the allocator; with them only tally's own calls are watched (the linker's
 * --wrap).
 */
#include <stdbool.h>

bool memory_ran_out(void);	/* in this process or one forked from it */

/*
 * Starts watching, including children that are forked from here on.  Libraries may
 * crash when an allocation fails (getpwuid of glibc 2.36 does).  In that case, tally
 * prints one message and exits with `status`.  It exits at once if `deadly` returns
 * that a library would otherwise end the process.  Crashes of tally's own code stay
 * crashes.  `restore` resets the terminal before any of this.
 */
void memory_watch(bool (*deadly)(void), void (*restore)(void), int status);

#endif
