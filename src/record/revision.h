/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_REVISION_H
#define TALLY_RECORD_REVISION_H
#include "base/buf.h"

/* Appends the commit that is checked out in `dir` or the folder above it that is
 * a git repository (gitrepository-layout(5)); nothing where there is none.  No
 * program is run. */
void revision_find(const char *dir, struct buf *out);

#endif
