/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_ROWS_H
#define TALLY_RECORD_KMOD_KMOD_ROWS_H
/*
 * Brings the kernel module what it unwinds stacks by (tally/kmod.h: TABLE, PAGE,
 * SPACE).  A stack that it could not unwind comes as a copy; when the unwinder has
 * walked that, the rows of the code that it went through are brought, and where the
 * process has it mapped.  So stacks of the same kind need no copy any more.
 *
 * What the module has no room for stays in copies.
 */
#include "base/vec.h"
#include "record/source/source.h"
#include "tally/kmod.h"

/* As ioctl(2): 0, or negative with errno. */
typedef int kmod_send(void *ctx, unsigned long cmd, void *arg);

enum { KMOD_SPACES = 1024 };	/* remembered: those that samples may name */

struct kmod_rows {
	struct source_rows base;	/* for record_sample.rows */
	kmod_send *send;
	void *ctx;
	VEC(struct kmod_table) tables;	/* by the module's number */
	VEC(uint32_t) table_of;		/* by image: number + 1, or 0: none yet */
	struct kmod_space *spaces;	/* [KMOD_SPACES], by generation */
	struct kmod_process *processes;	/* [KMOD_SPACES], by pid */
	uint32_t generation;		/* of the last space */
	uint64_t *tried;		/* addresses that nothing is learned of */
	unsigned int resets;		/* how often there was no room */
	uint64_t sent;			/* calls */
	uint64_t verified, differing;	/* as of struct source */
	uint64_t (*now)(void);		/* the clock of samples */
};

/* 0 or -ERR_NOMEM. */
int kmod_rows_init(struct kmod_rows *r, kmod_send *send, uint64_t (*now)(void),
		   void *ctx);
void kmod_rows_fini(struct kmod_rows *r);

#endif
