// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records written by programs with timers. */
#include "record/timer/timer_ring.h"

#include <string.h>

#include "record/source/ring_read.h"
#include "runtime/python_frames.h"

static uint32_t size_of(const void *header)
{
	return ((const struct timer_record *)header)->size;
}

static uint64_t time_of(const void *header)
{
	return ((const struct timer_record *)header)->time;
}

uint64_t timer_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			 uint64_t head, struct order *o, size_t stream,
			 uint64_t now, uint64_t *damaged)
{
	static const struct ring_format format = {
		sizeof(struct timer_record),
		sizeof(struct timer_sample) + TIMER_COPY_MAX + FRAME_PART_MAX,
		size_of, time_of,
	};
	uint64_t lost = 0, end;

	end = ring_read(&format, data, size, tail, head, o, stream, now, &lost);
	/* Positions come from the program and are untrusted, too. */
	*damaged += lost < size ? lost : size;
	return end;
}

static bool decode_sample(const uint8_t *p, size_t n, bool chains,
			  struct timer_message *out)
{
	const struct timer_sample *t = (const struct timer_sample *)p;
	struct record_sample *s = &out->sample;

	if (n < sizeof(*t) || t->stack_bytes > n - sizeof(*t) ||
	    t->frame_bytes > n - sizeof(*t) - t->stack_bytes)
		return false;
	out->cpu = t->cpu;
	s->weight = t->weight;
	s->in_kernel = t->r.flags & TIMER_KERNEL;
	if (!chains) {
		s->user = &t->regs[UNWIND_RIP];
		s->nuser = 1;
		return true;
	}
	s->copied = true;
	memcpy(s->copy.regs.r, t->regs, sizeof(t->regs));
	s->copy.regs.known = (1u << UNWIND_REGS) - 1;
	s->copy.bytes = p + sizeof(*t);
	s->copy.size = t->stack_bytes;
	s->copy.all = t->r.flags & TIMER_COMPLETE;
	s->frames = t->frame_bytes ? s->copy.bytes + s->copy.size : NULL;
	s->frame_bytes = t->frame_bytes;
	return true;
}

static bool decode_text(const uint8_t *p, size_t n, struct timer_message *out)
{
	const struct timer_text *t = (const struct timer_text *)p;

	if (n < sizeof(*t) || t->n > n - sizeof(*t))
		return false;
	out->text = (const char *)(p + sizeof(*t));
	out->n = t->n;
	out->cpu_us = t->cpu_us;
	return true;
}

static bool decode_start(const uint8_t *p, size_t n, struct timer_message *out)
{
	const struct timer_start *t = (const struct timer_start *)p;

	if (n < sizeof(*t))
		return false;
	out->ppid = t->ppid;
	out->cpu_us = t->cpu_us;
	out->user_us = t->user_us;
	out->sys_us = t->sys_us;
	out->entry = t->entry;
	out->text = t->comm;
	out->n = strnlen(t->comm, sizeof(t->comm));
	return t->ppid <= TIMER_PID_MAX;
}

static bool decode_fork(const uint8_t *p, size_t n, struct timer_message *out)
{
	const struct timer_fork *t = (const struct timer_fork *)p;

	if (n < sizeof(*t))
		return false;
	out->ppid = t->ppid;
	out->ptid = t->ptid;
	return t->ppid <= TIMER_PID_MAX && t->ptid <= TIMER_PID_MAX;
}

bool timer_decode(const uint8_t *p, size_t n, bool chains,
		  struct timer_message *out)
{
	const struct timer_record *h = (const struct timer_record *)p;

	memset(out, 0, sizeof(*out));
	if (n < sizeof(*h) || !h->pid || !h->tid || h->pid > TIMER_PID_MAX ||
	    h->tid > TIMER_PID_MAX)
		return false;
	out->kind = (enum timer_kind)h->kind;
	out->flags = h->flags;
	out->pid = h->pid;
	out->tid = h->tid;
	switch (out->kind) {
	case TIMER_SAMPLE:
		return decode_sample(p, n, chains, out);
	case TIMER_START:
		return decode_start(p, n, out);
	case TIMER_FORK:
	case TIMER_THREAD:
		return decode_fork(p, n, out);
	case TIMER_MAPS:
	case TIMER_NAME:
	case TIMER_EXEC:
	case TIMER_OUTSIDE_SPAWN:
		return decode_text(p, n, out);
	case TIMER_EXIT:
	case TIMER_LOAD:
	case TIMER_EXEC_FAILED:
		return true;
	}
	return false;
}
