/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_RECORD_PERF_BYTES_H
#define TALLY_TESTS_RECORD_PERF_BYTES_H
/* Writes records byte by byte as perf_event_open(2) describes them, with the
 * fields that tally asks for. */
#include <linux/perf_event.h>
#include <string.h>

#include "base/buf.h"

/* Who, when, where: the end of every record but samples. */
struct stamp {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
	uint64_t id;
};

static inline size_t record_start(struct buf *b, uint32_t type, uint16_t misc)
{
	size_t at = b->n;

	buf_u32(b, type);
	buf_u16(b, misc);
	buf_u16(b, 0);
	return at;
}

static inline void record_end(struct buf *b, size_t at)
{
	uint16_t n = (uint16_t)(b->n - at);

	memcpy(b->p + at + 6, &n, 2);
}

static inline void record_stamp(struct buf *b, size_t at,
				const struct stamp *s)
{
	buf_u32(b, s->pid);
	buf_u32(b, s->tid);
	buf_u64(b, s->time);
	buf_u32(b, s->cpu);
	buf_u32(b, 0);
	buf_u64(b, s->id);
	record_end(b, at);
}

/* A string with its NUL, filled up to 8 bytes. */
static inline void record_text(struct buf *b, const char *s)
{
	size_t n = strlen(s) + 1;

	buf_bytes(b, s, n);
	while (n++ & 7)
		buf_u8(b, 0);
}

/* With nchain == 0 and no chain: a sample without CALLCHAIN. */
static inline void put_sample(struct buf *b, const struct stamp *s,
			      uint16_t mode, uint64_t ip, uint64_t period,
			      const uint64_t *chain, size_t nchain)
{
	size_t at = record_start(b, PERF_RECORD_SAMPLE, mode);

	buf_u64(b, s->id);
	buf_u64(b, ip);
	buf_u32(b, s->pid);
	buf_u32(b, s->tid);
	buf_u64(b, s->time);
	buf_u32(b, s->cpu);
	buf_u32(b, 0);
	buf_u64(b, period);
	if (chain) {
		buf_u64(b, nchain);
		for (size_t i = 0; i < nchain; i++)
			buf_u64(b, chain[i]);
	}
	record_end(b, at);
}

/* REGS_USER and STACK_USER, as perf_output_sample (kernel/events/core.c) writes
 * them: `size` bytes of room, of which `used` are filled.  abi 0: no registers;
 * regs in the order of the mask's bits.  cgroup 0: without CGROUP, which is the last
 * word. */
struct user_side {
	uint64_t abi;
	const uint64_t *regs;
	size_t nregs;
	const uint8_t *stack;
	uint64_t size, used;
	uint64_t cgroup;
};

/* A sample with a call chain of nchain entries and the user side. */
static inline void put_copy(struct buf *b, const struct stamp *s,
			    uint16_t mode, uint64_t ip, const uint64_t *chain,
			    size_t nchain, const struct user_side *u)
{
	size_t at = b->n;

	put_sample(b, s, mode, ip, 1, chain, nchain);
	buf_u64(b, u->abi);
	for (size_t i = 0; u->abi && i < u->nregs; i++)
		buf_u64(b, u->regs[i]);
	buf_u64(b, u->size);
	if (u->size) {
		buf_bytes(b, u->stack, u->used);
		/* what the kernel skips keeps its old bytes */
		for (uint64_t i = u->used; i < u->size; i++)
			buf_u8(b, 0xee);
		buf_u64(b, u->used);
	}
	if (u->cgroup)
		buf_u64(b, u->cgroup);
	record_end(b, at);
}

static inline void put_mmap2(struct buf *b, const struct stamp *s,
			     uint64_t start, uint64_t len, uint64_t offset,
			     uint32_t major, uint32_t minor, uint64_t inode,
			     const char *path)
{
	size_t at = record_start(b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	buf_u32(b, s->pid);
	buf_u32(b, s->tid);
	buf_u64(b, start);
	buf_u64(b, len);
	buf_u64(b, offset);
	buf_u32(b, major);
	buf_u32(b, minor);
	buf_u64(b, inode);
	buf_u64(b, 0);
	buf_u32(b, 5);
	buf_u32(b, 2);
	record_text(b, path);
	record_stamp(b, at, s);
}

/* Layout: perf_event_open(2), PERF_RECORD_CGROUP. */
static inline void put_cgroup(struct buf *b, const struct stamp *s, uint64_t id,
			      const char *path)
{
	size_t at = record_start(b, PERF_RECORD_CGROUP, 0);

	buf_u64(b, id);
	record_text(b, path);
	record_stamp(b, at, s);
}

/* Layout: perf_event_open(2), PERF_RECORD_KSYMBOL. */
static inline void put_ksymbol(struct buf *b, const struct stamp *s,
			       uint64_t addr, uint32_t len, uint16_t type,
			       uint16_t flags, const char *name)
{
	size_t at = record_start(b, PERF_RECORD_KSYMBOL, 0);

	buf_u64(b, addr);
	buf_u32(b, len);
	buf_u16(b, type);
	buf_u16(b, flags);
	record_text(b, name);
	record_stamp(b, at, s);
}

static inline void put_mmap2_id(struct buf *b, const struct stamp *s,
				uint64_t start, uint64_t len, uint64_t offset,
				const uint8_t *id, uint8_t nid,
				const char *path)
{
	size_t at = record_start(b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER |
				 PERF_RECORD_MISC_MMAP_BUILD_ID);

	buf_u32(b, s->pid);
	buf_u32(b, s->tid);
	buf_u64(b, start);
	buf_u64(b, len);
	buf_u64(b, offset);
	buf_u8(b, nid);
	buf_u8(b, 0);
	buf_u16(b, 0);
	buf_bytes(b, id, 20);
	buf_u32(b, 5);
	buf_u32(b, 2);
	record_text(b, path);
	record_stamp(b, at, s);
}

static inline void put_comm(struct buf *b, const struct stamp *s, bool exec,
			    const char *name)
{
	size_t at = record_start(b, PERF_RECORD_COMM,
				 exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	buf_u32(b, s->pid);
	buf_u32(b, s->tid);
	record_text(b, name);
	record_stamp(b, at, s);
}

/* FORK or EXIT. */
static inline void put_task(struct buf *b, const struct stamp *s,
			    uint32_t type, uint32_t pid, uint32_t ppid,
			    uint32_t tid, uint32_t ptid)
{
	size_t at = record_start(b, type, 0);

	buf_u32(b, pid);
	buf_u32(b, ppid);
	buf_u32(b, tid);
	buf_u32(b, ptid);
	buf_u64(b, s->time);
	record_stamp(b, at, s);
}

static inline void put_lost(struct buf *b, const struct stamp *s,
			    uint64_t lost)
{
	size_t at = record_start(b, PERF_RECORD_LOST, 0);

	buf_u64(b, s->id);
	buf_u64(b, lost);
	record_stamp(b, at, s);
}

static inline void put_throttle(struct buf *b, const struct stamp *s)
{
	size_t at = record_start(b, PERF_RECORD_THROTTLE, 0);

	buf_u64(b, s->time);
	buf_u64(b, s->id);
	buf_u64(b, s->id);
	record_stamp(b, at, s);
}

#endif
