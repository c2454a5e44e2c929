/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_DEVICE_H
#define TALLY_RECORD_KMOD_KMOD_DEVICE_H
/* The device of the kernel module, and what its refusals mean. */
#include "base/error.h"
#include "tally/kmod.h"

/* Opens it and asks what there is; the descriptor, or an error that names the
 * smallest fix. */
int kmod_open(struct tally_info *info, struct error *err);
/* An error for a call that failed with errnum. */
int kmod_refused(int errnum, const char *what, struct error *err);

#endif
