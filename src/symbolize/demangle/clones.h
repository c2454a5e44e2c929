/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEMANGLE_CLONES_H
#define TALLY_SYMBOLIZE_DEMANGLE_CLONES_H
#include <stddef.h>

/* Length of a linkage name without what compilers append to copies and parts of
 * a function: foo.constprop.0 and foo.cold are foo. */
size_t clone_base(const char *name);

#endif
