/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_DECODE_H
#define TALLY_RECORD_PERF_PERF_DECODE_H
/*
 * The records of perf_event_open(2), in the one layout that perf_open.c asks
 * for.  `sample_id_all` puts the last four words behind every other record:
 *
 *	sample: header id ip pid,tid time cpu,- period [nr ips[nr]]
 *		[abi [regs[17]] size [bytes[size] used]]
 *	other:  header …                pid,tid time cpu,- id
 *	wake:   header id ip pid,tid time cpu,- period size bytes[size]
 *
 * The last are samples of the tracepoint sched:sched_waking, whose bytes begin with
 * those that all tracepoints have: u16 type, u8 flags, u8, i32 pid.  Samples of its
 * other event have them behind the chain: where the waking thread is.
 *
 * The kernel keeps `size` bytes of a ring for each copy of a stack, but fills
 * only the first `used` of them.
 *
 * The bytes are hostile.
 */
#include <linux/perf_event.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "record/source/source.h"

#define PERF_SAMPLE_LAYOUT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | \
	PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	PERF_SAMPLE_PERIOD)

/* The registers we ask for, as enum perf_event_x86_regs numbers them: ax bx cx
 * dx si di bp sp ip, r8 to r15. */
#define PERF_REGS_TALLY 0xff01ffull
enum { PERF_REGS_COUNT = 17 };

struct perf_decoder {
	const struct u64map *ids;	/* event id -> index */
	bool callchain;		/* samples were opened with CALLCHAIN */
	uint32_t max_stack;	/* kernel.perf_event_max_stack */
	bool copy;	/* samples were opened with REGS_USER and STACK_USER */
	/* The indexes of the event of wakes and of the one that tells where threads
	 * are who wake others; or 0. */
	uint32_t wakes, waking;
	uint32_t woken_at;	/* where the woken thread's number stands in
				 * their bytes */
};

/* Bytes of a ring, around whose end records may go. */
struct perf_bytes {
	const uint8_t *data;
	uint64_t size;		/* a power of two */
};
/* Copies n bytes at a free-running position. */
void perf_bytes_copy(const struct perf_bytes *b, uint64_t pos, void *to,
		     size_t n);

/* A record without the part of a stack's copy that was not filled: [0, first)
 * of it, then, if first < size, a word with `keep` in place of the copy's size,
 * `keep` bytes of the copy, and the last word. */
struct perf_extent {
	size_t first, keep, size;
	bool shortened;		/* more of it was filled */
	bool waking;		/* a sample of that event */
};
/* Keeps at most `most` bytes of a copy; 0: all. */
struct perf_extent perf_record_extent(const struct perf_decoder *d,
				      const struct perf_bytes *b, uint64_t pos,
				      struct perf_event_header h, size_t most);
/* Takes it out of the ring; e.size bytes. */
void perf_record_take(const struct perf_bytes *b, uint64_t pos,
		      struct perf_event_header h, struct perf_extent e,
		      uint8_t *to);

/* The event of a sample as it comes from the ring; U64MAP_NONE also for a wake. */
uint32_t perf_sample_event(const struct perf_decoder *d,
			   const struct perf_bytes *b, uint64_t pos, size_t n);

/* Its weight; 0 when it is too short to have one. */
uint64_t perf_sample_weight(const struct perf_bytes *b, uint64_t pos, size_t n);
/* Adds to that of a sample that was taken out of the ring. */
void perf_sample_add_weight(uint8_t *p, size_t n, uint64_t weight);

/* The time of a record, 0 when it is too short to have one. */
uint64_t perf_record_time(const uint8_t *p, size_t n);
/* False when the record is damaged or of no interest.  `p` is 8-byte aligned;
 * the result borrows from it. */
bool perf_decode(const struct perf_decoder *d, const uint8_t *p, size_t n,
		 struct record *out);

/* For records of other layouts (import/perf_records.h).  A record that is no
 * sample, without its header and what sample_id_all puts behind it. */
bool perf_decode_other(const struct perf_decoder *d,
		       struct perf_event_header h, struct cursor *c,
		       struct record *out);
/* Cuts the kernel's list with its PERF_CONTEXT_* marks into the sample's two
 * parts.  An entry that follows no mark belongs to the mode of the sample. */
void perf_chain_split(const uint64_t *ips, uint64_t n, bool kernel,
		      struct record_sample *s);

#endif
