/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LIVE_MEMORY_H
#define TALLY_RECORD_COLLECT_LIVE_MEMORY_H
/*
 * Words of a program's memory, read with process_vm_readv(2) some time after the
 * sample that they belong to.  They equal the memory at the sample only if nothing
 * wrote to them since, so users must mark the result (PROF_MARK_READ_LATE).
 *
 * Data is kept for one batch of samples.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_page;

/* A process that tally may not read. */
struct live_refusal {
	uint32_t pid, batch;
};
enum {
	LIVE_REFUSALS = 64,
	LIVE_PAGE = 4096,	/* smallest page size */
};

struct live_memory {
	struct live_page *pages;
	uint32_t batch;
	uint32_t pid, tid;	/* thread of the last check */
	uint32_t seen;		/* batch of the last check */
	bool lives;
	bool absent;		/* the kernel lacks the call; do not try again */
	struct live_refusal refused[LIVE_REFUSALS];	/* by hash of pid */
	uint64_t reads;		/* number of system calls */
};

/* Returns 0 or -ERR_NOMEM. */
int live_memory_init(struct live_memory *m);
void live_memory_fini(struct live_memory *m);
/* Starts a new batch and forgets all that was read. */
void live_memory_forget(struct live_memory *m);

/* Returns whether reading the process was refused. */
bool live_refused(struct live_memory *m, uint32_t pid);
/* Returns whether the thread still exists. */
bool live_thread(struct live_memory *m, uint32_t pid, uint32_t tid);
bool live_read(struct live_memory *m, uint32_t pid, uint64_t addr, void *to,
	       size_t n);
/* Returns whether memory holds these bytes now. */
bool live_equal(struct live_memory *m, uint32_t pid, uint64_t addr,
		const uint8_t *bytes, size_t n);

#endif
