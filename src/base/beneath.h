/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_BENEATH_H
#define TALLY_BASE_BENEATH_H
/* Opens files below a directory for paths that come from untrusted input. */

/*
 * Opens the file with the relative path `path` below the open directory `dir`,
 * for reading and without blocking on FIFOs.  Cannot leave the directory
 * through "..", an absolute path or a symbolic link (-EXDEV).  Uses openat2(2);
 * without it, symbolic links are not followed at all (-ELOOP).  Returns the
 * descriptor or a negative errno.
 */
int beneath_open(int dir, const char *path);

#endif
