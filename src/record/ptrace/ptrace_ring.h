/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_RING_H
#define TALLY_RECORD_PTRACE_PTRACE_RING_H
/*
 * Records on their way from the tracing process to the recorder, in shared memory
 * with one writer and one reader, each in its own process.  An entry is a struct
 * record and the bytes that it points to; no entry is split.
 */
#include <stdatomic.h>

#include "record/source/source.h"

enum { PTRACE_WHY_MAX = 1024 };

/* State of both sides, on the first page. */
struct ptrace_shared {
	_Alignas(64) _Atomic uint64_t head;	/* written by the writer */
	_Alignas(64) _Atomic uint64_t tail;	/* written by the reader */
	_Alignas(64) _Atomic uint64_t lost;	/* samples lost for lack of room */
	_Atomic uint64_t gaps;		/* other records lost for lack of room */
	_Atomic uint64_t weight;	/* total of all samples, including lost ones */
	_Atomic uint64_t unseen;	/* weight beyond what samples may represent */
	_Atomic uint64_t samples;
	_Atomic bool sampling, paused, quit;	/* requests of the reader */
	_Atomic bool sideband_pending;		/* programs or mappings have changed */
	char left[256];			/* names of released programs */
	int error;			/* error of the start: enum errcode */
	char why[PTRACE_WHY_MAX];	/* its message */
};

struct ptrace_entry {
	uint64_t size;		/* total size, a multiple of 8 */
	uint64_t filler;	/* 1: only fills up the end of the ring */
	struct record r;
	uint8_t bytes[];
};

struct ptrace_ring {
	struct ptrace_shared *shared;
	uint8_t *data;
	size_t size;		/* a power of two */
	uint64_t at;		/* writer: position of the entry that is being filled */
};

/* Maps the ring, shared with children.  Returns 0 or -ERR_NOMEM. */
int ptrace_ring_init(struct ptrace_ring *g, size_t size);
void ptrace_ring_fini(struct ptrace_ring *g);

/* Returns room for an entry with this many bytes after the record, or NULL. */
struct ptrace_entry *ptrace_ring_room(struct ptrace_ring *g, size_t bytes);
/* Makes an entry visible, with `bytes` bytes after the record. */
void ptrace_ring_commit(struct ptrace_ring *g, struct ptrace_entry *e,
			size_t bytes);
/* Returns the size of a sample's stack copy; its Python frames follow. */
static inline size_t ptrace_stack_bytes(const struct record_sample *s)
{
	return (s->copy.size + 7) & ~(size_t)7;
}
/* Returns the number of unread bytes. */
uint64_t ptrace_ring_waiting(const struct ptrace_ring *g);

/* Delivers the available records; `damaged` counts invalid bytes. */
int ptrace_ring_read(struct ptrace_ring *g, uint64_t *damaged, record_cb *cb,
		     void *ctx, struct error *err);

#endif
