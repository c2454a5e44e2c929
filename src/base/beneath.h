/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_BENEATH_H
#define TALLY_BASE_BENEATH_H
/* Opens files below a directory for paths that come from untrusted input. */
#include <stdbool.h>

/*
 * Finds the file or folder with the relative path `path` below the open directory `dir`.
 * Cannot leave the directory through "..", an absolute path or a symbolic link (-EXDEV).
 * Uses openat2(2); without it, symbolic links are not followed at all (-ELOOP).  Returns
 * an O_PATH descriptor, which io_open_at opens, or a negative errno.
 */
int beneath_find(int dir, const char *path);

/*
 * Opens the regular file `path` for reading as a process with the root directory
 * `dir` finds it: an absolute path, ".." and symbolic links all stay below `dir`.
 * With links false, and without openat2(2), symbolic links are not followed.  Other
 * files (FIFOs, devices, directories) are not opened (-ENOENT), so nothing blocks.
 * Requires /proc.  Returns the descriptor or a negative errno.
 */
int beneath_open_root(int dir, const char *path, bool links);

#endif
