/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_CLONES_H
#define TALLY_SYMBOLIZE_DEMANGLE_CLONES_H
#include <stddef.h>

/* Returns the length of a linkage name without the suffixes that compilers
 * append to copies and parts of a function: foo.constprop.0 and foo.cold give
 * foo. */
size_t clone_base(const char *name);

#endif
