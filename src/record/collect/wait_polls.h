/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_WAIT_POLLS_H
#define TALLY_RECORD_COLLECT_WAIT_POLLS_H
/*
 * Polls of sleeping threads: what they wait for, and where (sleeping.h).  With records of
 * switches (waits.h) a poll finds what those lack, a stack or a kind.  Without them
 * (polled_waits.h) polls find the waits, too, and take at most two percent of the time.
 */
#include "record/collect/collector.h"

/* Notes what a thread waited for at this stack, or that it is to be polled for it. */
int wait_polls_kind(struct collector *c, const struct wait *w, uint32_t stack,
		    struct error *err);
/* Polls the threads whose time has come.  Call it between two batches of records. */
int wait_polls_idle(struct collector *c, uint64_t now_ns, struct error *err);
/* Starts or stops counting waits that are found by polls alone. */
int wait_polls_toggle(struct collector *c, bool on, struct error *err);
/* Ends all waits that were found by polls alone. */
int wait_polls_end(struct collector *c, struct error *err);

#endif
