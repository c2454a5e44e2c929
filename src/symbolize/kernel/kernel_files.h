/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KERNEL_FILES_H
#define TALLY_SYMBOLIZE_KERNEL_KERNEL_FILES_H
/*
 * Finds the ELF files of a kernel and of its modules, those with DWARF first.
 * A file counts only when it has the build-id that was asked for: names of
 * another kernel are worse than none.
 */
#include "image/image.h"

struct kernel_files;

struct kernel_files_options {
	const char *debug_dirs;	/* see debug_dirs.h; NULL: /usr/lib/debug */
	const char *vmlinux;	/* the kernel's file, when the user knows; or
				 * NULL */
	const char *release;	/* uname -r of the kernel; "" if unknown */
};

/* The strings must live as long.  NULL when out of memory. */
struct kernel_files *kernel_files_open(const struct kernel_files_options *o);
void kernel_files_close(struct kernel_files *k);

/* The file of a module, or of the kernel itself (""), and its name, which lives
 * until the next call; NULL when there is none. */
struct image *kernel_files_find(struct kernel_files *k, const char *module,
				const struct build_id *id, const char **path);
/* Where a kernel's file with DWARF usually is. */
const char *kernel_files_wanted(struct kernel_files *k);

#endif
