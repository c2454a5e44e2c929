/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_STACK_KINDS_H
#define TALLY_RECORD_COLLECT_STACK_KINDS_H
/*
 * What threads wait for, by stack: the table wait_kinds of the profile.  A poll of one
 * wait tells the kind of all waits with the same stack.
 */
#include "record/collect/collector.h"

/* Returns whether to poll a wait at this stack for its kind. */
bool stack_kinds_needed(struct collector *c, uint32_t stack);
/* Notes what a thread waited for at this stack, or that it is to be polled for it. */
int stack_kinds_take(struct collector *c, const struct wait *w, uint32_t stack,
		     struct error *err);

#endif
