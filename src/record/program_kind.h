/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PROGRAM_KIND_H
#define TALLY_RECORD_PROGRAM_KIND_H
/* Whether a command loads shared libraries, ours among them. */
#include <stddef.h>

#include "base/error.h"

/* 0, or an error that says why the dynamic linker of our own kind does not start
 * `name`, as execvp(3) finds it: static, of another machine or C library, with
 * rights of its own. */
int program_is_dynamic(const char *name, struct error *err);

#endif
