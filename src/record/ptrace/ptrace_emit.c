// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts records into the ring. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/ptrace/ptrace_internal.h"

enum { ROOM_WAIT_MS = 1000 };

static struct ptrace_entry *room_for(struct tracer *t, size_t bytes)
{
	static const struct timespec wait = { 0, 1000000 };
	struct ptrace_shared *s = t->ring->shared;
	struct ptrace_entry *e = ptrace_ring_room(t->ring, bytes);
	uint64_t one = 1;

	for (int i = 0; !e && i < ROOM_WAIT_MS && !atomic_load(&s->quit); i++) {
		if (write(t->wake_fd, &one, sizeof(one)) < 0)
			break;
		nanosleep(&wait, NULL);
		e = ptrace_ring_room(t->ring, bytes);
	}
	return e;
}

int tracer_emit(void *ctx, const struct record *r, struct error *err)
{
	struct tracer *t = ctx;
	const char *text = r->kind == RECORD_MMAP ? r->mmap.path
			   : r->kind == RECORD_COMM ? r->comm.name : NULL;
	size_t bytes = text ? strlen(text) + 1 : 0;
	struct ptrace_entry *e = room_for(t, bytes);

	(void)err;
	if (r->kind == RECORD_MMAP)
		tracer_python_map(t, r);
	if (!e) {
		atomic_fetch_add(&t->ring->shared->gaps, 1);
		return 0;
	}
	e->r = *r;
	if (text)
		memcpy(e->bytes, text, bytes);
	ptrace_ring_commit(t->ring, e, bytes);
	atomic_store(&t->ring->shared->sideband_pending, true);
	return 0;
}

void tracer_emit_task(struct tracer *t, enum record_kind kind, const struct tracee *k,
		      uint32_t parent)
{
	struct record r = { .kind = kind, .pid = k->pid, .tid = k->tid,
			    .cpu = SOURCE_NONE, .event = SOURCE_NONE,
			    .time_ns = clock_now() };

	if (kind == RECORD_FORK) {
		r.fork.ppid = k->pid == k->tid ? parent : k->pid;
		r.fork.ptid = r.fork.ppid;
	}
	tracer_emit(t, &r, &t->err);
}
