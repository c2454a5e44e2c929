/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_SOURCE_H
#define TALLY_RECORD_KMOD_KMOD_SOURCE_H
/*
 * Samples from the kernel module's device (tally/kmod.h).  Mappings, names, forks and
 * exits come from perf's dummy event, on the same clock and through the same queue.
 */
#include "record/source/source_type.h"

extern const struct source_type kmod_source_type;

#endif
