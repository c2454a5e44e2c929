/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_ROWS_H
#define TALLY_RECORD_KMOD_KMOD_ROWS_H
/*
 * Sends the kernel module the rows by which it unwinds stacks (tally/kmod.h: TABLE,
 * PAGE, SPACE).  A stack that the module could not unwind arrives as a copy.  When
 * the unwinder has walked the copy, the rows of the code in that stack are sent.  The
 * addresses at which the process has that code mapped are sent, too.  Later stacks of
 * the same kind then need no copy.
 *
 * If the code of a program is known from one process, the mappings of others that run it
 * are sent before their first samples.
 *
 * Stacks whose rows do not fit into the module are still copied.
 */
#include "base/vec.h"
#include "record/source/source.h"
#include "tally/kmod.h"

/* Has the contract of ioctl(2): 0, or negative with errno. */
typedef int kmod_send(void *ctx, unsigned long cmd, void *arg);

enum { KMOD_SPACES = 1024 };	/* number of spaces remembered, to which samples may
				 * refer */

struct kmod_rows {
	struct source_rows base;	/* for record_sample.rows */
	kmod_send *send;
	void *ctx;
	VEC(struct kmod_table) tables;	/* by the module's number */
	VEC(uint32_t) table_of;		/* table number + 1 by image, or 0: none yet */
	struct kmod_space *spaces;	/* [KMOD_SPACES], by generation */
	struct kmod_process *processes;	/* [KMOD_SPACES], by pid */
	uint32_t generation;		/* generation of the last space */
	uint64_t *tried;		/* addresses for which no rows can be sent */
	unsigned int resets;		/* number of times the module's tables were
					 * full and reset */
	uint64_t sent;			/* number of calls */
	size_t foreseen;		/* number of spaces sent before a sample ... */
	size_t foreseen_tables;		/* ... and of tables when all were considered */
	uint64_t answered;		/* value of `sent` at the last round ... */
	unsigned int copies;		/* ... and number of copies since */
	uint64_t verified, differing;	/* as in struct source */
	uint64_t (*now)(void);		/* clock of the samples */
};

/* Returns 0 or -ERR_NOMEM. */
int kmod_rows_init(struct kmod_rows *r, kmod_send *send, uint64_t (*now)(void),
		   void *ctx);
/* Ends a round of the recorder.  Returns whether the next one should be soon, because the
 * module copied several stacks in this one and was sent what it lacked.  A few copies are
 * no reason: a round costs more, and its own stacks are new to the module, too. */
bool kmod_rows_round(struct kmod_rows *r);
void kmod_rows_fini(struct kmod_rows *r);

#endif
