// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the ring between the tracing process and the recorder. */
#include "record/ptrace/ptrace_ring.h"

#include <string.h>
#include <sys/mman.h>

enum { FIRST_PAGE = 8192 };

_Static_assert(sizeof(struct ptrace_shared) <= FIRST_PAGE, "one page");

int ptrace_ring_init(struct ptrace_ring *g, size_t size)
{
	void *p = mmap(NULL, FIRST_PAGE + size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memset(g, 0, sizeof(*g));
	if (p == MAP_FAILED)
		return -ERR_NOMEM;
	g->shared = p;
	g->data = (uint8_t *)p + FIRST_PAGE;
	g->size = size;
	return 0;
}

void ptrace_ring_fini(struct ptrace_ring *g)
{
	if (g->shared)
		munmap(g->shared, FIRST_PAGE + g->size);
	memset(g, 0, sizeof(*g));
}

static size_t entry_size(size_t bytes)
{
	return (sizeof(struct ptrace_entry) + bytes + 7) & ~(size_t)7;
}

static struct ptrace_entry *entry_at(const struct ptrace_ring *g, uint64_t at)
{
	return (struct ptrace_entry *)(void *)(g->data + (at & (g->size - 1)));
}

struct ptrace_entry *ptrace_ring_room(struct ptrace_ring *g, size_t bytes)
{
	size_t need = entry_size(bytes);
	uint64_t head, tail, left;

	head = atomic_load_explicit(&g->shared->head, memory_order_relaxed);
	tail = atomic_load_explicit(&g->shared->tail, memory_order_acquire);
	left = g->size - (head & (g->size - 1));
	if (bytes > g->size)
		return NULL;
	if (left >= need) {
		g->at = head;
		return head - tail + need > g->size ? NULL
						    : entry_at(g, head);
	}
	if (head - tail + left + need > g->size)
		return NULL;
	/* Set only size and filler: there may be no room for more. */
	entry_at(g, head)->size = left;
	if (left >= 2 * sizeof(uint64_t))
		entry_at(g, head)->filler = 1;
	g->at = head + left;
	return entry_at(g, g->at);
}

void ptrace_ring_commit(struct ptrace_ring *g, struct ptrace_entry *e,
			size_t bytes)
{
	e->size = entry_size(bytes);
	e->filler = 0;
	atomic_store_explicit(&g->shared->head, g->at + e->size,
			      memory_order_release);
}

uint64_t ptrace_ring_waiting(const struct ptrace_ring *g)
{
	return atomic_load_explicit(&g->shared->head, memory_order_acquire) -
	       atomic_load_explicit(&g->shared->tail, memory_order_acquire);
}

/* The text must end with a NUL within the entry. */
static bool text_of(const struct ptrace_entry *e, size_t room,
		    const char **out)
{
	*out = (const char *)e->bytes;
	return memchr(e->bytes, 0, room) != NULL;
}

/* Copies the record and points its pointers into the entry. */
static bool entry_record(const struct ptrace_entry *e, struct record *r)
{
	size_t room = e->size - sizeof(*e), stack;

	*r = e->r;
	switch (r->kind) {
	case RECORD_SAMPLE:
		r->sample.kernel = NULL;
		r->sample.nkernel = 0;
		r->sample.user = NULL;
		r->sample.copy.bytes = e->bytes;
		if (r->sample.copied) {
			stack = ptrace_stack_bytes(&r->sample);
			r->sample.nuser = 0;
			if (!r->sample.frames)
				r->sample.frame_bytes = 0;
			else if (stack <= room)
				r->sample.frames = e->bytes + stack;
			return r->sample.copy.size <= room &&
			       stack <= room &&
			       r->sample.frame_bytes <= room - stack;
		}
		r->sample.frames = NULL;
		r->sample.frame_bytes = 0;
		r->sample.user = (const uint64_t *)(const void *)e->bytes;
		return r->sample.nuser <= room / sizeof(uint64_t);
	case RECORD_MMAP:
		return r->mmap.build_id.len == 0 &&
		       text_of(e, room, &r->mmap.path);
	case RECORD_COMM:
		return text_of(e, room, &r->comm.name);
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_GAP:
		return true;
	default:
		return false;
	}
}

int ptrace_ring_read(struct ptrace_ring *g, uint64_t *damaged, record_cb *cb,
		     void *ctx, struct error *err)
{
	uint64_t tail, head;
	int rc = 0;

	head = atomic_load_explicit(&g->shared->head, memory_order_acquire);
	tail = atomic_load_explicit(&g->shared->tail, memory_order_relaxed);
	while (tail != head && rc >= 0) {
		const struct ptrace_entry *e = entry_at(g, tail);
		uint64_t end = g->size - (tail & (g->size - 1)), size;
		struct record r;

		size = e->size;
		if (size > end || size > head - tail || size < 8 || size & 7) {
			*damaged += head - tail;
			tail = head;
			break;
		}
		/* A filler extends to the end of the ring. */
		if (size >= sizeof(*e) && !(size == end && e->filler == 1)) {
			if (entry_record(e, &r))
				rc = cb(ctx, &r, err);
			else
				*damaged += size;
		}
		tail += size;
		atomic_store_explicit(&g->shared->tail, tail,
				      memory_order_release);
	}
	atomic_store_explicit(&g->shared->tail, tail, memory_order_release);
	return rc < 0 ? rc : 0;
}
