/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_DECODE_H
#define TALLY_RECORD_PERF_PERF_DECODE_H
/*
 * The records of perf_event_open(2), in the single layout that perf_open.c requests.
 * `sample_id_all` appends the last four words to every other record:
 *
 *	sample: header id ip pid,tid time cpu,- period [nr ips[nr]]
 *		[abi [regs[17]] size [bytes[size] used]]
 *	other:  header …                pid,tid time cpu,- id
 *	wake:   header id ip pid,tid time cpu,- period size bytes[size]
 *
 * Wake records are samples of the tracepoint sched:sched_waking.  Their bytes begin
 * like those of all tracepoints: u16 type, u8 flags, u8, i32 pid.  Samples of the
 * event `waking` carry the same bytes after the call chain of the waking thread.
 *
 * The kernel reserves `size` bytes of a ring for each copy of a stack, but fills only
 * the first `used` of them.
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

/* The requested registers, numbered as in enum perf_event_x86_regs: ax bx cx dx si di
 * bp sp ip, r8 to r15. */
#define PERF_REGS_TALLY 0xff01ffull
enum { PERF_REGS_COUNT = 17 };

struct perf_decoder {
	const struct u64map *ids;	/* event id -> index */
	bool callchain;		/* samples were opened with CALLCHAIN */
	uint32_t max_stack;	/* kernel.perf_event_max_stack */
	bool cgroup;	/* samples were opened with CGROUP, their last word */
	bool copy;	/* samples were opened with REGS_USER and STACK_USER */
	/* Index of the event of wakeups, and of the event that samples waking
	 * threads; or 0. */
	uint32_t wakes, waking;
	/* Offset of the woken thread's number in their bytes. */
	uint32_t woken_at, waking_at;
	uint32_t blocked;	/* index of the event that samples threads which leave a
				 * CPU; or 0 */
};

/* Bytes of a ring.  Records may wrap around its end. */
struct perf_bytes {
	const uint8_t *data;
	uint64_t size;		/* a power of two */
};
/* Copies n bytes at a free-running position. */
void perf_bytes_copy(const struct perf_bytes *b, uint64_t pos, void *to,
		     size_t n);

/* Samples of waits. */
enum perf_sample_kind { PERF_SAMPLE_OTHER, PERF_SAMPLE_BLOCKED, PERF_SAMPLE_WAKING };

/* A record without the unused part of its stack copy.  It consists of bytes [0,
 * first).  If first < size, three parts follow: a word with `keep` in place of the
 * copy's size, `keep` bytes of the copy, and the last `tail` bytes. */
struct perf_extent {
	size_t first, keep, size, tail;
	bool shortened;		/* part of the used copy was dropped, too */
	enum perf_sample_kind kind;
};
/* Returns the extent of a record.  `most` is the maximum number of bytes kept of a
 * copy; 0: all. */
struct perf_extent perf_record_extent(const struct perf_decoder *d,
				      const struct perf_bytes *b, uint64_t pos,
				      struct perf_event_header h, size_t most);
/* Copies the record out of the ring; e.size bytes. */
void perf_record_take(const struct perf_bytes *b, uint64_t pos,
		      struct perf_event_header h, struct perf_extent e,
		      uint8_t *to);

/* Returns the event of a sample in the ring, or U64MAP_NONE, also for a wake record. */
uint32_t perf_sample_event(const struct perf_decoder *d,
			   const struct perf_bytes *b, uint64_t pos, size_t n);

/* Returns the sample's weight, or 0 if it is too short to have one. */
uint64_t perf_sample_weight(const struct perf_bytes *b, uint64_t pos, size_t n);
/* Adds to the weight of a sample that was copied out of the ring. */
void perf_sample_add_weight(uint8_t *p, size_t n, uint64_t weight);

/* Returns the time of a record, or 0 if it is too short to have one. */
uint64_t perf_record_time(const uint8_t *p, size_t n);
/* Does the same in a ring. */
uint64_t perf_bytes_time(const struct perf_bytes *b, uint64_t pos,
			 struct perf_event_header h);
/* Decodes a record.  Returns false if it is damaged or not needed.  `p` is 8-byte
 * aligned; the result borrows from it. */
bool perf_decode(const struct perf_decoder *d, const uint8_t *p, size_t n,
		 struct record *out);

/* Decodes a record of another layout (import/perf_records.h) that is not a sample,
 * without its header and the fields of sample_id_all. */
bool perf_decode_other(const struct perf_decoder *d,
		       struct perf_event_header h, struct cursor *c,
		       struct record *out);
/* Splits the kernel's list with its PERF_CONTEXT_* marks into the two parts of the
 * sample.  Entries before the first mark belong to the mode of the sample. */
void perf_chain_split(const uint64_t *ips, uint64_t n, bool kernel,
		      struct record_sample *s);

#endif
