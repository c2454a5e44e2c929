/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_REVISION_H
#define TALLY_RECORD_REVISION_H
#include "base/buf.h"

/* Appends the commit that is checked out in `dir`, or in the nearest folder above it
 * that is a git repository (gitrepository-layout(5)).  Appends nothing if there is
 * none.  Runs no program. */
void revision_find(const char *dir, struct buf *out);

#endif
