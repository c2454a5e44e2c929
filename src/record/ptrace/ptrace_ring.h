/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_RING_H
#define TALLY_RECORD_PTRACE_PTRACE_RING_H
/*
 * Records on their way from the process that traces to the recorder: shared
 * memory with one writer and one reader, each in its own process.  An entry is
 * a struct record and the bytes that it points to; none is split.
 */
#include <stdatomic.h>

#include "record/source/source.h"

enum { PTRACE_WHY_MAX = 1024 };

/* Both sides; on the first page. */
struct ptrace_shared {
	_Alignas(64) _Atomic uint64_t head;	/* the writer's */
	_Alignas(64) _Atomic uint64_t tail;	/* the reader's */
	_Alignas(64) _Atomic uint64_t lost;	/* samples without room */
	_Atomic uint64_t gaps;		/* other records without room */
	_Atomic uint64_t weight;	/* of all samples, lost ones too */
	_Atomic uint64_t unseen;	/* beyond what samples may stand for */
	_Atomic uint64_t samples;
	_Atomic bool sampling, paused, quit;	/* the reader's wishes */
	_Atomic bool news;		/* of programs and mappings */
	char left[256];			/* names of programs let go */
	int error;			/* of the start: enum errcode … */
	char why[PTRACE_WHY_MAX];	/* … and its message */
};

struct ptrace_entry {
	uint64_t size;		/* of all of it, a multiple of 8 */
	uint64_t filler;	/* 1: only to reach the end of the ring */
	struct record r;
	uint8_t bytes[];
};

struct ptrace_ring {
	struct ptrace_shared *shared;
	uint8_t *data;
	size_t size;		/* a power of two */
	uint64_t at;		/* writer: the entry that is being filled */
};

/* Shared with children.  0 or -ERR_NOMEM. */
int ptrace_ring_init(struct ptrace_ring *g, size_t size);
void ptrace_ring_fini(struct ptrace_ring *g);

/* Returns room for an entry with this many bytes after the record, or NULL. */
struct ptrace_entry *ptrace_ring_room(struct ptrace_ring *g, size_t bytes);
/* It is filled, with `bytes` of them. */
void ptrace_ring_commit(struct ptrace_ring *g, struct ptrace_entry *e,
			size_t bytes);
/* What the copy of a sample's stack takes; its frames of Python follow. */
static inline size_t ptrace_stack_bytes(const struct record_sample *s)
{
	return (s->copy.size + 7) & ~(size_t)7;
}
/* Bytes that wait to be read. */
uint64_t ptrace_ring_waiting(const struct ptrace_ring *g);

/* Hands on what is there; `damaged` counts bytes that make no sense. */
int ptrace_ring_read(struct ptrace_ring *g, uint64_t *damaged, record_cb *cb,
		     void *ctx, struct error *err);

#endif
