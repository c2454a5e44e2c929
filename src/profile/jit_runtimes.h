/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_JIT_RUNTIMES_H
#define TALLY_PROFILE_JIT_RUNTIMES_H
/*
 * Runtimes that make code while a program runs: by what they are known among the
 * files of a process, how their code is called, and what has it named.
 */

/* The name of the image for the code that is made by a runtime whose program or library
 * a process maps: "[javascript]" for "/usr/bin/node"; and its rank, where a process has
 * several: the lowest one counts.  NULL: this is no such file. */
const char *jit_runtime_image(const char *path, unsigned int *rank);
/* What to do that functions of such an image have names: a clause that follows "code
 * made at run time by …".  NULL: it is no such image. */
const char *jit_runtime_advice(const char *image);

#endif
