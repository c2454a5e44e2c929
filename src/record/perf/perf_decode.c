// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes records of perf_event_open(2). */
#include "record/perf/perf_decode.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/cursor.h"
#include "record/source/ring_read.h"

enum {
	HEADER = 8,
	TRAILER = 32,		/* struct sample_id in tally's layout */
	SAMPLE_TIME = 32,	/* offset of the time in a sample */
	SAMPLE_WEIGHT = 48,	/* offset of the period */
	SAMPLE_FIXED = 56,	/* offset of the optional parts */
	BUILD_ID_BYTES = 20,	/* size of MMAP2's field */
};

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static struct perf_event_header load_header(const uint8_t *p)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	return h;
}

/* Returns the offset of the time in a record of n bytes, or 0. */
static size_t time_offset(uint32_t type, size_t n)
{
	if (type == PERF_RECORD_SAMPLE)
		return n < SAMPLE_TIME + 8 ? 0 : SAMPLE_TIME;
	return n < HEADER + TRAILER ? 0 : n - TRAILER + 8;
}

uint64_t perf_record_time(const uint8_t *p, size_t n)
{
	size_t at = n < HEADER ? 0 : time_offset(load_header(p).type, n);

	return at ? load64(p + at) : 0;
}

void perf_bytes_copy(const struct perf_bytes *b, uint64_t pos, void *to,
		     size_t n)
{
	ring_copy_out(to, b->data, b->size, pos, n);
}

static uint64_t word_at(const struct perf_bytes *b, uint64_t pos)
{
	uint64_t v;

	perf_bytes_copy(b, pos, &v, sizeof(v));
	return v;
}

uint64_t perf_bytes_time(const struct perf_bytes *b, uint64_t pos,
			 struct perf_event_header h)
{
	size_t at = time_offset(h.type, h.size);

	return at ? word_at(b, pos + at) : 0;
}

static uint32_t event_of(const struct perf_decoder *d, uint64_t id)
{
	return u64map_get(d->ids, id);
}

static bool is_wake(const struct perf_decoder *d, uint32_t event)
{
	return d->wakes && event == d->wakes;
}

uint32_t perf_sample_event(const struct perf_decoder *d,
			   const struct perf_bytes *b, uint64_t pos, size_t n)
{
	uint32_t event = d && n >= HEADER + 8
			 ? event_of(d, word_at(b, pos + HEADER)) : U64MAP_NONE;

	return event != U64MAP_NONE && is_wake(d, event) ? U64MAP_NONE : event;
}

/* Returns the offset of the copy's size in a sample, or 0. */
static size_t copy_offset(const struct perf_decoder *d,
			  const struct perf_bytes *b, uint64_t pos, size_t n,
			  bool waking)
{
	size_t at = SAMPLE_FIXED;

	if (d->callchain) {
		uint64_t nr = at + 8 <= n ? word_at(b, pos + at) : 0;

		if (nr > n / 8)
			return 0;
		at += 8 + 8 * (size_t)nr;
	}
	if (waking) {
		/* Including its size field it is a multiple of 8. */
		uint64_t raw = at + 8 <= n ? word_at(b, pos + at) & UINT32_MAX
					   : n;

		if (raw > n || (raw + 4) & 7)
			return 0;
		at += 4 + (size_t)raw;
	}
	if (at + 8 > n)
		return 0;
	at += word_at(b, pos + at) == PERF_SAMPLE_REGS_ABI_NONE
	      ? 8 : 8 + 8 * PERF_REGS_COUNT;
	return at + 8 <= n ? at : 0;
}

static enum perf_sample_kind kind_of(const struct perf_decoder *d, uint32_t event)
{
	return d->waking && event == d->waking ? PERF_SAMPLE_WAKING
	       : d->blocked && event == d->blocked ? PERF_SAMPLE_BLOCKED
	       : PERF_SAMPLE_OTHER;
}

struct perf_extent perf_record_extent(const struct perf_decoder *d,
				      const struct perf_bytes *b, uint64_t pos,
				      struct perf_event_header h, size_t most)
{
	/* The copy's used size, and the control group. */
	size_t tail = d && d->cgroup ? 16 : 8;
	struct perf_extent e = { h.size, 0, h.size, tail, false, PERF_SAMPLE_OTHER };
	uint64_t size, used;
	uint32_t event;
	size_t at;

	if (h.type != PERF_RECORD_SAMPLE || !d)
		return e;
	if (d->wakes || d->blocked) {
		event = perf_sample_event(d, b, pos, h.size);
		if (event == U64MAP_NONE)
			return e;
		e.kind = kind_of(d, event);
	}
	if (!d->copy)
		return e;
	at = copy_offset(d, b, pos, h.size, e.kind == PERF_SAMPLE_WAKING);
	size = at ? word_at(b, pos + at) : 0;
	if (!size || size & 7 || at + 8 + tail > h.size ||
	    size != h.size - at - 8 - tail)
		return e;
	used = word_at(b, pos + h.size - tail);
	if (used > size)
		return e;
	/* Keep one byte more than was used.  It shows that there was room, and hence
	 * that the stack's memory ends there. */
	e.keep = (size_t)(used < size ? (used + 8) & ~7ull : size);
	if (most && e.keep > most) {
		e.keep = most & ~(size_t)7;
		e.shortened = true;
	}
	if (e.keep == size)
		return e;
	e.first = at;
	e.size = at + 8 + e.keep + tail;
	return e;
}

void perf_record_take(const struct perf_bytes *b, uint64_t pos,
		      struct perf_event_header h, struct perf_extent e,
		      uint8_t *to)
{
	uint64_t keep = e.keep;

	if (e.first >= h.size) {
		perf_bytes_copy(b, pos, to, h.size);
		return;
	}
	perf_bytes_copy(b, pos, to, e.first);
	memcpy(to + e.first, &keep, 8);
	perf_bytes_copy(b, pos + e.first + 8, to + e.first + 8, e.keep);
	perf_bytes_copy(b, pos + h.size - e.tail, to + e.size - e.tail, e.tail);
	if (e.shortened)
		memcpy(to + e.size - e.tail, &keep, 8);
	h.size = (uint16_t)e.size;
	memcpy(to, &h, sizeof(h));
}

uint64_t perf_sample_weight(const struct perf_bytes *b, uint64_t pos, size_t n)
{
	return n >= SAMPLE_FIXED ? word_at(b, pos + SAMPLE_WEIGHT) : 0;
}

void perf_sample_add_weight(uint8_t *p, size_t n, uint64_t weight)
{
	if (n < SAMPLE_FIXED)
		return;
	weight += load64(p + SAMPLE_WEIGHT);
	memcpy(p + SAMPLE_WEIGHT, &weight, sizeof(weight));
}

void perf_chain_split(const uint64_t *ips, uint64_t n, bool kernel,
		      struct record_sample *s)
{
	const uint64_t **part = kernel ? &s->kernel : &s->user;
	uint32_t *count = kernel ? &s->nkernel : &s->nuser;

	for (uint64_t i = 0; i < n; i++) {
		if (ips[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			part = NULL;
			if (ips[i] == (uint64_t)PERF_CONTEXT_KERNEL)
				part = &s->kernel, count = &s->nkernel;
			else if (ips[i] == (uint64_t)PERF_CONTEXT_USER)
				part = &s->user, count = &s->nuser;
			continue;
		}
		if (!part)	/* a guest, or an unknown mark */
			continue;
		if (!*count)
			*part = &ips[i];
		else if (*part + *count != &ips[i])
			continue;	/* a mode that occurs twice */
		++*count;
	}
}

/* Decodes the registers, in the order of PERF_REGS_TALLY, and the copy of the stack. */
static bool decode_copy(struct cursor *c, struct record_sample *s)
{
	static const uint8_t order[PERF_REGS_COUNT] = {
		UNWIND_RAX, UNWIND_RBX, UNWIND_RCX, UNWIND_RDX, UNWIND_RSI,
		UNWIND_RDI, UNWIND_RBP, UNWIND_RSP, UNWIND_RIP, UNWIND_R8,
		UNWIND_R8 + 1, UNWIND_R8 + 2, UNWIND_R8 + 3, UNWIND_R8 + 4,
		UNWIND_R8 + 5, UNWIND_R8 + 6, UNWIND_R8 + 7,
	};
	struct record_copy *copy = &s->copy;
	uint64_t abi = cursor_u64(c), size, used;
	unsigned int n = PERF_REGS_COUNT;

	copy->is32 = abi == PERF_SAMPLE_REGS_ABI_32;
	for (unsigned int i = 0; abi && i < n; i++) {
		copy->regs.r[order[i]] = cursor_u64(c);
		/* i386 does not have r8 to r15. */
		if (!copy->is32 || order[i] < UNWIND_R8 ||
		    order[i] == UNWIND_RIP)
			copy->regs.known |= 1u << order[i];
	}
	size = cursor_u64(c);
	if (size) {
		if (size > cursor_left(c))
			return false;
		copy->bytes = cursor_take(c, (size_t)size);
		used = cursor_u64(c);
		if (used > size)
			return false;
		copy->size = (size_t)used;
		copy->all = used < size;
	}
	return !c->bad;
}

/* Keeps the user part of the kernel's chain beside the copy. */
static void keep_chain(struct record_sample *s)
{
	s->chain = s->user;
	s->nchain = s->nuser;
	s->user = NULL;
	s->nuser = 0;
}

/* include/trace/events/sched.h, sched_wakeup_template. */
static bool take_wake(struct cursor *c, uint32_t at, uint32_t *tid, bool *interrupt)
{
	/* enum trace_flag_type, linux/trace_events.h: hard and soft interrupts, and
	 * non-maskable interrupts. */
	enum { FLAGS_AT = 2, IN_INTERRUPT = 0x08 | 0x10 | 0x40 };
	uint32_t size = cursor_u32(c);
	const uint8_t *raw = cursor_take(c, size);

	if (!raw || size <= FLAGS_AT || size < 4 || at > size - 4)
		return false;
	memcpy(tid, raw + at, sizeof(*tid));
	*interrupt = raw[FLAGS_AT] & IN_INTERRUPT;
	return true;
}

static bool decode_wake(const struct perf_decoder *d, struct cursor *c,
			struct record *out)
{
	cursor_skip(c, 8);
	out->kind = RECORD_WAKE;
	return take_wake(c, d->woken_at, &out->wake.tid, &out->wake.interrupt);
}

static bool decode_sample(const struct perf_decoder *d, struct cursor *c,
			  uint16_t misc, struct record *out)
{
	struct record_sample *s = &out->sample;
	uint64_t id = cursor_u64(c);
	const uint8_t *ip = cursor_take(c, 8), *ips;
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool kernel = mode == PERF_RECORD_MISC_KERNEL;
	uint64_t n;

	out->event = event_of(d, id);
	out->pid = cursor_u32(c);
	out->tid = cursor_u32(c);
	cursor_skip(c, 8);
	out->cpu = cursor_u32(c);
	cursor_skip(c, 4);
	if (is_wake(d, out->event))
		return decode_wake(d, c, out);
	s->weight = cursor_u64(c);
	s->guest = mode != PERF_RECORD_MISC_KERNEL &&
		   mode != PERF_RECORD_MISC_USER;
	if (d->callchain) {
		n = cursor_u64(c);
		if (n > cursor_left(c) / 8)
			return false;
		ips = cursor_take(c, n * 8);
		if (ips && !s->guest)
			perf_chain_split((const uint64_t *)ips, n, kernel,
					 s);
		s->cut = s->nkernel + s->nuser >= d->max_stack;
	}
	if (d->waking && out->event == d->waking) {
		bool interrupt;

		if (!take_wake(c, d->waking_at, &s->woken, &interrupt))
			return false;
		if (interrupt)
			s->woken = 0;
	}
	if (d->copy && !s->guest) {
		if (!decode_copy(c, s))
			return false;
		keep_chain(s);
		/* Kernel threads have no user side. */
		s->copied = s->copy.regs.known || !kernel;
	}
	/* The rest of a guest's sample was skipped. */
	if (d->cgroup && cursor_left(c) >= 8) {
		cursor_skip(c, cursor_left(c) - 8);
		s->cgroup = cursor_u64(c);
	}
	if (!s->nkernel && !s->nuser && ip) {
		*(kernel ? &s->kernel : &s->user) = (const uint64_t *)ip;
		*(kernel ? &s->nkernel : &s->nuser) = 1;
	}
	return !c->bad && out->event != U64MAP_NONE;
}

static bool decode_mmap(struct cursor *c, bool two, uint16_t misc,
			struct record *out)
{
	struct mapping *m = &out->mmap;
	const uint8_t *id;
	uint32_t major, minor;

	out->pid = cursor_u32(c);
	out->tid = cursor_u32(c);
	m->start = cursor_u64(c);
	m->len = cursor_u64(c);
	m->offset = cursor_u64(c);
	if (two && (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		m->build_id.len = cursor_u8(c);
		cursor_skip(c, 3);
		id = cursor_take(c, BUILD_ID_BYTES);
		if (!id || m->build_id.len > BUILD_ID_BYTES)
			return false;
		memcpy(m->build_id.bytes, id, m->build_id.len);
	} else if (two) {
		major = cursor_u32(c);
		minor = cursor_u32(c);
		m->dev = makedev(major, minor);
		m->inode = cursor_u64(c);
		m->generation = cursor_u64(c);
	}
	if (two)
		cursor_skip(c, 8);	/* prot, flags: always executable */
	m->path = cursor_cstr(c);
	return m->path && m->len && m->start + m->len > m->start;
}

static bool decode_comm(struct cursor *c, uint16_t misc, struct record *out)
{
	out->pid = cursor_u32(c);
	out->tid = cursor_u32(c);
	out->comm.name = cursor_cstr(c);
	out->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return out->comm.name;
}

static bool decode_task(struct cursor *c, struct record *out)
{
	out->pid = cursor_u32(c);
	out->fork.ppid = cursor_u32(c);
	out->tid = cursor_u32(c);
	out->fork.ptid = cursor_u32(c);
	return !c->bad;
}

static bool decode_ksymbol(struct cursor *c, struct record *out)
{
	struct record_ksymbol *s = &out->ksymbol;

	s->addr = cursor_u64(c);
	s->len = cursor_u32(c);
	s->type = cursor_u16(c);
	s->gone = cursor_u16(c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	s->name = cursor_cstr(c);
	return s->name && s->len && s->addr + s->len > s->addr;
}

bool perf_decode_other(const struct perf_decoder *d,
		       struct perf_event_header h, struct cursor *c,
		       struct record *out)
{
	switch (h.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		out->kind = RECORD_MMAP;
		return decode_mmap(c, h.type == PERF_RECORD_MMAP2, h.misc, out);
	case PERF_RECORD_COMM:
		out->kind = RECORD_COMM;
		return decode_comm(c, h.misc, out);
	case PERF_RECORD_FORK:
		out->kind = RECORD_FORK;
		return decode_task(c, out);
	case PERF_RECORD_EXIT:
		out->kind = RECORD_EXIT;
		return decode_task(c, out);
	case PERF_RECORD_LOST:
		out->event = event_of(d, cursor_u64(c));
		/* fall through */
	case PERF_RECORD_LOST_SAMPLES:
		out->kind = RECORD_LOST;
		out->lost = cursor_u64(c);
		return !c->bad;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		out->kind = RECORD_SWITCH;
		out->change.out = h.misc & PERF_RECORD_MISC_SWITCH_OUT;
		out->change.preempted = out->change.out &&
			h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return true;
	case PERF_RECORD_CGROUP:
		out->kind = RECORD_CGROUP;
		out->cgroup.id = cursor_u64(c);
		out->cgroup.path = cursor_cstr(c);
		return out->cgroup.path;
	case PERF_RECORD_THROTTLE:
		cursor_skip(c, 8);
		out->event = event_of(d, cursor_u64(c));
		out->kind = RECORD_THROTTLE;
		return !c->bad;
	case PERF_RECORD_KSYMBOL:
		out->kind = RECORD_KSYMBOL;
		return decode_ksymbol(c, out);
	default:
		return false;
	}
}

bool perf_decode(const struct perf_decoder *d, const uint8_t *p, size_t n,
		 struct record *out)
{
	struct perf_event_header h;
	struct cursor c, t;

	memset(out, 0, sizeof(*out));
	if (n < HEADER + TRAILER)
		return false;
	h = load_header(p);
	/* perf_open.c requests no build IDs; another recorder's request caused it. */
	if (h.type == PERF_RECORD_MMAP2)
		h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (h.type == PERF_RECORD_SAMPLE) {
		c = cursor_of(p + HEADER, n - HEADER);
		out->kind = RECORD_SAMPLE;
		return decode_sample(d, &c, h.misc, out);
	}
	t = cursor_of(p + n - TRAILER, TRAILER);
	out->pid = cursor_u32(&t);
	out->tid = cursor_u32(&t);
	cursor_skip(&t, 8);
	out->cpu = cursor_u32(&t);
	cursor_skip(&t, 4);
	out->event = event_of(d, cursor_u64(&t));
	c = cursor_of(p + HEADER, n - HEADER - TRAILER);
	return perf_decode_other(d, h, &c, out);
}
