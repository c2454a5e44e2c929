/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_DEVICE_H
#define TALLY_RECORD_KMOD_KMOD_DEVICE_H
/* The device of the kernel module, and explanations of its refusals. */
#include "base/error.h"
#include "tally/kmod.h"

/* Opens the device and reads its abilities into *info.  Returns the descriptor, or an
 * error that names the smallest fix. */
int kmod_open(struct tally_info *info, struct error *err);
/* Sets an error for a call that failed with errnum. */
int kmod_refused(int errnum, const char *what, struct error *err);

#endif
