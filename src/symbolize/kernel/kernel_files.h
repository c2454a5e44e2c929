/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KERNEL_FILES_H
#define TALLY_SYMBOLIZE_KERNEL_KERNEL_FILES_H
/*
 * Finds the ELF files of a kernel and of its modules, preferably those with
 * DWARF.  A file is used only if it has the requested build ID: names of
 * another kernel are worse than none.
 */
#include "image/image.h"

struct kernel_files;

struct kernel_files_options {
	const char *debug_dirs;	/* see debug_dirs.h; NULL: /usr/lib/debug */
	const char *vmlinux;	/* the kernel's file if given by the user, or NULL */
	const char *release;	/* uname -r of the kernel; "" if unknown */
};

/* Opens a search; the caller closes it.  The strings of `o` must outlive it.
 * Returns NULL if out of memory. */
struct kernel_files *kernel_files_open(const struct kernel_files_options *o);
void kernel_files_close(struct kernel_files *k);

/* Returns the file of a module, or of the kernel itself (""); NULL if there is
 * none.  *path is its name, valid until the next call. */
struct image *kernel_files_find(struct kernel_files *k, const char *module,
				const struct build_id *id, const char **path);
/* Returns the usual path of the kernel's file with DWARF. */
const char *kernel_files_wanted(struct kernel_files *k);

#endif
