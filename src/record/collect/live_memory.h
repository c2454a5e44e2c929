/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_LIVE_MEMORY_H
#define TALLY_RECORD_COLLECT_LIVE_MEMORY_H
/*
 * Words of a program's memory, read after the sample that they belong to, by
 * process_vm_readv(2).  They are what they were then only if nobody wrote to
 * them since: whoever uses them says so (PROF_MARK_READ_LATE).
 *
 * What was read is kept for one batch of samples.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_page;

/* A process that we may not read. */
struct live_refusal {
	uint32_t pid, batch;
};
enum { LIVE_REFUSALS = 64 };

struct live_memory {
	struct live_page *pages;
	uint32_t batch;
	uint32_t pid, tid;	/* the last thread that was asked for … */
	uint32_t seen;		/* … in this batch */
	bool lives;
	bool absent;		/* the kernel cannot: not asked again */
	struct live_refusal refused[LIVE_REFUSALS];	/* by hash of pid */
	uint64_t reads;		/* system calls */
};

/* 0 or -ERR_NOMEM. */
int live_memory_init(struct live_memory *m);
void live_memory_fini(struct live_memory *m);
/* A new batch: forgets all that was read. */
void live_memory_forget(struct live_memory *m);

/* Whether the process was found to be closed to us. */
bool live_refused(struct live_memory *m, uint32_t pid);
/* Whether the thread still runs. */
bool live_thread(struct live_memory *m, uint32_t pid, uint32_t tid);
bool live_read(struct live_memory *m, uint32_t pid, uint64_t addr, void *to,
	       size_t n);
/* Whether memory holds these bytes now. */
bool live_equal(struct live_memory *m, uint32_t pid, uint64_t addr,
		const uint8_t *bytes, size_t n);

#endif
