/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_RING_H
#define TALLY_RECORD_KMOD_KMOD_RING_H
/*
 * The rings and records of the kernel module (tally/kmod.h).  The bytes are hostile:
 * whatever they contain, nothing outside a record is read.
 */
#include "record/source/order.h"
#include "record/source/source.h"
#include "tally/kmod.h"

struct kmod_ring {
	void *page;		/* struct tally_ring, followed by the data; or NULL */
	uint64_t size;		/* bytes of data, a power of two */
	uint64_t head, now_ns;	/* end of the records, and the time, at the last look, */
	const uint8_t *data;	/* which also sets this */
	uint64_t peeked_at;	/* position of the record peeked at, and its header */
	struct tally_record peeked;
};

enum { KMOD_RECORD_MAX = UINT16_MAX };	/* bytes */

/* Notes which records the ring has.  They stay there until they are due, because memory
 * that holds them until then costs more than to copy them.  If they take more than half
 * of the ring, moves them to a stream of `o` instead.  Returns 0 or -ERR_NOMEM. */
int kmod_ring_look(struct kmod_ring *r, struct order *o, size_t stream,
		   uint64_t (*now)(void), uint64_t *damaged);
/* Returns whether the ring has another record with time <= upto, and its time. */
bool kmod_ring_peek(struct kmod_ring *r, uint64_t upto, uint64_t *time,
		    uint64_t *damaged);
/* Moves the record that was peeked at last to `to`, KMOD_RECORD_MAX bytes.  Returns its
 * size, or 0 if it was moved to a stream. */
size_t kmod_ring_fetch(struct kmod_ring *r, void *to);

/* Moves all records to a stream of `o`, like perf_ring_drain. */
int kmod_ring_drain(struct kmod_ring *r, struct order *o, size_t stream,
		    uint64_t (*now)(void), uint64_t *damaged);
/* Does the same in plain memory: records between the positions tail and head.
 * Returns the new tail. */
uint64_t kmod_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			uint64_t head, struct order *o, size_t stream,
			uint64_t now, uint64_t *damaged);

/* Moves the `n` samples that the module has added up, from its answer to
 * TALLY_IOC_COUNTS, to a stream of `o` that nothing else is added to.  Puts them in
 * order of time.  Returns 0 or -ERR_NOMEM. */
int kmod_counts_take(struct tally_count *counts, size_t n, struct order *o,
		     size_t stream, uint64_t now);

/* Stacks that samples refer to by number (TALLY_SAMPLE_AGAIN), by ring. */
struct kmod_stacks {
	struct kmod_stack **ring;	/* [2 * ncpus]: those of CPUs, then those of
					 * their waits; [TALLY_STACKS_KEPT], or
					 * NULL */
	uint32_t ncpus;
	uint64_t missing;		/* number of samples that refer to an unknown
					 * stack */
};

/* Returns 0 or -ERR_NOMEM. */
int kmod_stacks_init(struct kmod_stacks *s, uint32_t ncpus);
void kmod_stacks_fini(struct kmod_stacks *s);

/* The source's numbers of events. */
struct kmod_numbers {
	uint32_t sampled;	/* those below are the module's numbers, too */
	uint32_t blocked, waking;	/* those of waits, or SOURCE_NONE */
};

/* Decodes a record.  Returns false if it is unknown or damaged.  `p` is 8-byte
 * aligned.  The result borrows from it, or from `stacks` until the next call; these
 * may be NULL.  The time and sample.rows are left unset. */
bool kmod_decode(const uint8_t *p, size_t n, const struct kmod_numbers *events,
		 struct kmod_stacks *stacks, struct record *out);

#endif
