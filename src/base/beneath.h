/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_BENEATH_H
#define TALLY_BASE_BENEATH_H
/* Files below a folder, for paths that somebody else chose. */

/*
 * Opens the file `path` (relative) below the folder that is open as `dir`, for
 * reading and without waiting for pipes.  Nothing above the folder is reached: by
 * "..", an absolute path, or a symbolic link that leads out (-EXDEV).  By
 * openat2(2); where that is missing, symbolic links are not followed at all
 * (-ELOOP).  The descriptor, or a negative errno.
 */
int beneath_open(int dir, const char *path);

#endif
