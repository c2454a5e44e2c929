// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the records of a perf.data by time and delivers them. */
#include "import/perf_records.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "record/perf/perf_decode.h"

/*
 * Samples of `{a,b}:S` contain the values of all counters of their group
 * (PERF_SAMPLE_READ).  What a counter gained since the sample before is the weight of
 * a sample of its event, as in `perf report`.
 */

/* The value of a counter at its last sample.  Counters that threads inherit have one
 * for each thread. */
struct perf_count {
	uint64_t id, value;
	uint32_t tid;		/* or 0 */
};

struct perf_counts {
	VEC(struct perf_count) rows;
	struct idtab tab;
};

/* The values in a sample, read one after the other. */
struct perf_counts_reader {
	struct cursor c;
	uint64_t left, format;
};

#define FORMAT_LOST (1u << 4)	/* missing in older <linux/perf_event.h> */

static void perf_counts_fini(struct perf_counts *s)
{
	vec_fini(&s->rows);
	idtab_fini(&s->tab);
}

static bool count_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct perf_counts *s = ctx;
	const struct perf_count *want = key, *row = &s->rows.v[id];

	return row->id == want->id && row->tid == want->tid;
}

/* Sets *gain to what a counter gained since its last sample, 0 if it was reset.
 * Returns 0 or -ERR_NOMEM. */
static int perf_counts_gain(struct perf_counts *s, uint64_t id, uint32_t tid,
			    uint64_t value, uint64_t *gain)
{
	struct perf_count new = { .id = id, .tid = tid };
	uint32_t at = idtab_row(&s->tab, &s->rows, hash_mix(id, tid),
				count_eq, s, &new);
	struct perf_count *row;

	if (at == IDTAB_NONE)
		return -ERR_NOMEM;
	row = &s->rows.v[at];
	*gain = value > row->value ? value - row->value : 0;
	row->value = value;
	return 0;
}

/* Moves *c behind the values of a sample, laid out by an event's read_format; fails it
 * if they do not fit. */
static struct perf_counts_reader perf_counts_open(struct cursor *c,
						  uint64_t format)
{
	struct perf_counts_reader r = { .left = 1, .format = format };
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	bool group = format & PERF_FORMAT_GROUP;

	/* The times stand before the values of a group, and behind a single value. */
	if (group) {
		r.left = cursor_u64(c);
		cursor_skip(c, 8 * times);
	}
	if (r.left > cursor_left(c) / 8)
		cursor_fail(c);
	if (c->bad) {
		r.left = 0;
		return r;
	}
	r.c = *c;
	cursor_skip(c, 8 * (r.left * each + (group ? 0 : times)));
	if (!(format & PERF_FORMAT_ID) || c->bad)
		r.left = 0;
	return r;
}

/* Returns whether there was another value that names its counter. */
static bool perf_counts_next(struct perf_counts_reader *r, uint64_t *id,
			     uint64_t *value)
{
	if (!r->left)
		return false;
	r->left--;
	*value = cursor_u64(&r->c);
	if (!(r->format & PERF_FORMAT_GROUP))
		cursor_skip(&r->c, 8 * (!!(r->format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
					!!(r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)));
	*id = cursor_u64(&r->c);
	if (r->format & FORMAT_LOST)
		cursor_skip(&r->c, 8);
	return !r->c.bad;
}

enum {
	HEADER = 8,
	USER_TYPES = 64,	/* first record type of perf itself */
	CHAIN_MAX = 1 << 13,	/* most entries; a record has at most 64 KB */
	GROUP_MAX = 256,	/* most values of counters in a sample */
	CPUMODE = PERF_RECORD_MISC_CPUMODE_MASK,
	/* Missing in older <linux/perf_event.h>. These records contain nothing
	 * that a recording stores. */
	NAMESPACES = 16, BPF_EVENT = 18, CGROUP = 19, TEXT_POKE = 20,
	AUX_OUTPUT_HW_ID = 21,
};

/* The user part of the chain arrives later, with the cookie that follows this. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* Missing in older <linux/perf_event.h>. */
#define SAMPLE_WEIGHT_STRUCT (1ull << 24)

/* A record to be sorted. */
struct item {
	uint64_t time;
	uint64_t seq;
	const uint8_t *p;
};

/* The user part of all chains with its cookie. */
struct deferred {
	uint32_t tid;
	uint64_t cookie, time;
	const uint8_t *ips;	/* n addresses, borrowed from `items` */
	uint64_t n;
};

struct reading {
	const struct perf_file *f;
	const struct perf_records_cb *cb;
	struct perf_records_skipped *rest;
	struct perf_decoder decoder;
	VEC(struct item) items;
	VEC(struct deferred) deferred;	/* sorted by thread, cookie, time */
	bool no_registers;		/* recorded on a machine whose registers
					 * tally does not unwind */
	struct perf_counts counts;
	struct perf_counts_reader values;	/* of the counters in a sample */
	uint64_t chain[CHAIN_MAX];	/* aligned copy of a sample's chain */
};

static uint64_t bit_count(uint64_t bits)
{
	return (uint64_t)__builtin_popcountll(bits);
}

static const struct perf_event_attr *attr_of(const struct reading *x,
					     uint32_t event)
{
	return &x->f->events.v[event < x->f->events.n ? event : 0].attr;
}

static uint64_t word_at(const uint8_t *p, size_t n, uint64_t word)
{
	uint64_t v = 0;

	if (word < n / 8)
		memcpy(&v, p + word * 8, 8);
	return v;
}

static uint64_t record_time(const struct reading *x, uint32_t type,
			    const uint8_t *body, size_t n)
{
	uint64_t fields = attr_of(x, 0)->sample_type;
	size_t trailer = perf_file_trailer(x->f, type);

	if (!(fields & PERF_SAMPLE_TIME))
		return 0;
	if (type == PERF_RECORD_SAMPLE)
		return word_at(body, n, perf_file_words_before(fields,
						      PERF_SAMPLE_TIME));
	if (!trailer || trailer > n)
		return 0;
	return word_at(body + n - trailer, trailer,
		       fields & PERF_SAMPLE_TID ? 1 : 0);
}

static int list_part(struct reading *x, const struct perf_file_part *part)
{
	for (size_t at = 0; part->n - at >= HEADER;) {
		const uint8_t *p = part->p + at;
		struct perf_event_header h;
		struct item it = { .seq = x->items.n, .p = p };

		memcpy(&h, p, sizeof(h));
		if (h.size < HEADER || h.size > part->n - at)
			break;
		at += h.size;
		if (h.type >= USER_TYPES)
			continue;
		it.time = record_time(x, h.type, p + HEADER, h.size - HEADER);
		if (vec_push(&x->items, it) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return ascending(x->time, y->time) ?:
	       ascending(x->seq, y->seq);
}

/* Rings are read in turn, so most of a file is already sorted. */
static void sort_items(struct reading *x)
{
	for (size_t i = 1; i < x->items.n; i++) {
		if (x->items.v[i - 1].time > x->items.v[i].time) {
			vec_sort(&x->items, by_time);
			return;
		}
	}
}

static int by_cookie(const void *a, const void *b)
{
	const struct deferred *x = a, *y = b;

	return ascending(x->tid, y->tid) ?:
	       ascending(x->cookie, y->cookie) ?:
	       ascending(x->time, y->time);
}

/* Collects the records with deferred user parts of chains. */
static int list_deferred(struct reading *x)
{
	for (size_t i = 0; i < x->items.n; i++) {
		const struct item *it = &x->items.v[i];
		struct perf_event_header h;
		struct deferred d = { .time = it->time };
		struct cursor c, t;
		size_t trailer;

		memcpy(&h, it->p, sizeof(h));
		if (h.type != PERF_FILE_CALLCHAIN_DEFERRED)
			continue;
		trailer = perf_file_trailer(x->f, h.type);
		c = cursor_of(it->p + HEADER, h.size - HEADER);
		if (trailer > cursor_left(&c) ||
		    !(attr_of(x, 0)->sample_type & PERF_SAMPLE_TID))
			continue;
		t = cursor_of(c.end - trailer, trailer);
		cursor_skip(&t, 4);
		d.tid = cursor_u32(&t);
		c.end -= trailer;
		d.cookie = cursor_u64(&c);
		d.n = cursor_u64(&c);
		d.ips = d.n <= CHAIN_MAX ? cursor_take(&c, d.n * 8) : NULL;
		if (!d.ips || t.bad)
			x->rest->skipped++;
		else if (vec_push(&x->deferred, d) < 0)
			return -ERR_NOMEM;
	}
	vec_sort(&x->deferred, by_cookie);
	return 0;
}

/* Returns the first deferred part after this sample, or NULL. */
static const struct deferred *find_deferred(const struct reading *x,
					    const struct deferred *key)
{
	const struct deferred *v = x->deferred.v;
	size_t at;

	lower_bound(at, 0, x->deferred.n, by_cookie(&v[at], key) < 0);
	return at < x->deferred.n && v[at].tid == key->tid &&
	       v[at].cookie == key->cookie ? &v[at] : NULL;
}

/* Completes a chain whose last two entries announce its user part.  If that part
 * is missing, the stack is truncated. */
static uint64_t join_deferred(struct reading *x, uint64_t n,
			      const struct record *r)
{
	struct deferred key = { .tid = r->tid, .time = r->time_ns };
	const struct deferred *d;

	key.cookie = x->chain[n - 1];
	d = find_deferred(x, &key);
	n -= 2;
	if (!d || d->n > CHAIN_MAX - n)
		return n;
	memcpy(x->chain + n, d->ips, (size_t)d->n * 8);
	return n + d->n;
}

static void get_chain(struct reading *x, struct cursor *c, bool kernel,
		      struct record *r)
{
	struct record_sample *s = &r->sample;
	uint64_t n = cursor_u64(c);
	const uint8_t *ips = n <= CHAIN_MAX ? cursor_take(c, n * 8) : NULL;

	if (!ips) {
		cursor_fail(c);
		return;
	}
	memcpy(x->chain, ips, (size_t)n * 8);
	if (n >= 2 && x->chain[n - 2] == CONTEXT_USER_DEFERRED) {
		uint64_t joined = join_deferred(x, n, r);

		s->cut = joined == n - 2;
		n = joined;
	}
	if (!s->guest)
		perf_chain_split(x->chain, n, kernel, s);
}

/* Reads the raw data of an event of BPF programs that `perf record --off-cpu`
 * (6.15 and later) writes: the waiting thread, the duration and the chain. */
static void get_off_cpu(struct reading *x, struct cursor raw, struct record *r)
{
	uint64_t n;

	r->pid = cursor_u32(&raw);
	r->tid = cursor_u32(&raw);
	r->sample.weight = cursor_u64(&raw);
	n = cursor_u64(&raw);
	if (n > CHAIN_MAX || n > cursor_left(&raw) / 8)
		return;
	memcpy(x->chain, raw.p, (size_t)n * 8);
	r->sample.nkernel = r->sample.nuser = 0;
	perf_chain_split(x->chain, n, false, &r->sample);
}

bool perf_records_off_cpu(const struct perf_file_event *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE &&
	       e->attr.config == PERF_COUNT_SW_BPF_OUTPUT && e->name &&
	       !strncmp(e->name, "offcpu-time", 11);
}

static void skip_branches(struct reading *x, struct cursor *c,
			  const struct perf_event_attr *a)
{
	uint64_t n = cursor_u64(c), words = 3;

	if (n > cursor_left(c) / 24) {
		cursor_fail(c);
		return;
	}
	x->rest->branches += n > 0;
	if (a->branch_sample_type & (1ull << 17))	/* HW_INDEX */
		cursor_skip(c, 8);
	if (a->branch_sample_type & (1ull << 19))	/* COUNTERS */
		words++;
	cursor_skip(c, 8 * n * words);
}

/* Reads the registers that unwinding uses, numbered by enum perf_event_x86_regs. */
static void get_registers(struct cursor *c, uint64_t mask, bool unknown,
			  struct record_copy *copy)
{
	static const uint8_t low[] = {
		UNWIND_RAX, UNWIND_RBX, UNWIND_RCX, UNWIND_RDX, UNWIND_RSI,
		UNWIND_RDI, UNWIND_RBP, UNWIND_RSP, UNWIND_RIP,
	};
	uint64_t abi = cursor_u64(c);

	copy->is32 = abi == PERF_SAMPLE_REGS_ABI_32;
	for (unsigned int i = 0; abi && i < 64; i++) {
		unsigned int reg;
		uint64_t v;

		if (!(mask >> i & 1))
			continue;
		v = cursor_u64(c);
		if (unknown)
			continue;
		if (i < sizeof(low))
			reg = low[i];
		else if (i >= 16 && i < 24 && !copy->is32)
			reg = UNWIND_R8 + (i - 16);
		else
			continue;	/* skip flags and segments */
		copy->regs.r[reg] = v;
		copy->regs.known |= 1u << reg;
	}
}

static void get_copy(struct cursor *c, struct record_copy *copy)
{
	uint64_t size = cursor_u64(c), used;

	if (!size)
		return;
	copy->bytes = cursor_take(c, size);
	used = cursor_u64(c);
	if (!copy->bytes || used > size) {
		cursor_fail(c);
		return;
	}
	copy->size = (size_t)used;
	copy->all = used < size;
}

/* Counts the sources of data, except those that say nothing, which samples of all other
 * events have. */
static void skip_data_source(struct reading *x, struct cursor *c, uint64_t type)
{
	enum { OP = 0x1f, OP_UNKNOWN = 1 };	/* bits of mem_op: PERF_MEM_OP_NA */
	uint64_t source;

	if (type & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		cursor_skip(c, 8);
	if (!(type & PERF_SAMPLE_DATA_SRC))
		return;
	source = cursor_u64(c);
	x->rest->data_sources += !c->bad && (source & OP & ~OP_UNKNOWN);
}

/* Reads the fields at the beginning of each sample. */
static uint64_t get_head(struct cursor *c, const struct perf_event_attr *a,
			 struct record *out)
{
	uint64_t type = a->sample_type, ip = 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_skip(c, 8);
	if (type & PERF_SAMPLE_IP)
		ip = cursor_u64(c);
	out->pid = out->tid = UINT32_MAX;
	if (type & PERF_SAMPLE_TID) {
		out->pid = cursor_u32(c);
		out->tid = cursor_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		cursor_skip(c, 8);
	cursor_skip(c, 8 * bit_count(type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
					     PERF_SAMPLE_STREAM_ID)));
	if (type & PERF_SAMPLE_CPU) {
		out->cpu = cursor_u32(c);
		cursor_skip(c, 4);
	}
	out->sample.weight = a->freq || !a->sample_period ? 1 : a->sample_period;
	if (type & PERF_SAMPLE_PERIOD)
		out->sample.weight = cursor_u64(c);
	return ip;
}

static bool get_sample(struct reading *x, struct cursor *c, uint16_t misc,
		       struct record *out)
{
	const struct perf_event_attr *a = attr_of(x, out->event);
	struct record_sample *s = &out->sample;
	uint64_t type = a->sample_type, ip = get_head(c, a, out);
	bool kernel = (misc & CPUMODE) == PERF_RECORD_MISC_KERNEL;

	s->guest = (misc & CPUMODE) == PERF_RECORD_MISC_GUEST_KERNEL ||
		   (misc & CPUMODE) == PERF_RECORD_MISC_GUEST_USER;
	x->values.left = 0;
	if (type & PERF_SAMPLE_READ)
		x->values = perf_counts_open(c, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		get_chain(x, c, kernel, out);
	if (type & PERF_SAMPLE_RAW) {
		struct cursor raw = cursor_sub(c, cursor_u32(c));

		if (perf_records_off_cpu(&x->f->events.v[out->event]) &&
		    cursor_left(&raw))
			get_off_cpu(x, raw, out);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(x, c, a);
	if (type & PERF_SAMPLE_REGS_USER)
		get_registers(c, a->sample_regs_user, x->no_registers,
			      &s->copy);
	if (type & PERF_SAMPLE_STACK_USER) {
		get_copy(c, &s->copy);
		s->copied = !s->guest && !x->no_registers &&
			    (s->copy.regs.known || !kernel);
	}
	skip_data_source(x, c, type);
	if (!s->nkernel && !s->nuser && !s->guest &&
	    (type & PERF_SAMPLE_IP) && (!s->copied || kernel)) {
		x->chain[0] = ip;
		*(kernel ? &s->kernel : &s->user) = x->chain;
		*(kernel ? &s->nkernel : &s->nuser) = 1;
	}
	return !c->bad;
}

/* Reads the identification at the end of records other than samples. */
static void get_trailer(const struct reading *x, struct cursor c,
			struct record *out)
{
	uint64_t type = attr_of(x, 0)->sample_type;

	if (type & PERF_SAMPLE_TID) {
		out->pid = cursor_u32(&c);
		out->tid = cursor_u32(&c);
	}
	cursor_skip(&c, 8 * bit_count(type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
					      PERF_SAMPLE_STREAM_ID)));
	if (type & PERF_SAMPLE_CPU)
		out->cpu = cursor_u32(&c);
}

/* Returns whether a type is known to say nothing about samples.  Such records are
 * not counted as skipped. */
static bool is_known(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case NAMESPACES:
	case BPF_EVENT:
	case CGROUP:
	case TEXT_POKE:
	case AUX_OUTPUT_HW_ID:
	case PERF_FILE_CALLCHAIN_DEFERRED:	/* processed earlier */
		return true;
	default:
		return false;
	}
}

/* Sets a mapping's build ID from the file's table. */
static void know_build_id(const struct reading *x, struct mapping *m)
{
	const struct build_id *id = m->build_id.len
		? NULL : perf_file_build_id(x->f, m->path);

	if (id)
		m->build_id = *id;
}

static int deliver_map(struct reading *x, uint16_t misc, struct record *r,
		       struct error *err)
{
	struct perf_kernel_map k = { r->mmap.start, r->mmap.len, r->mmap.offset,
				     r->mmap.path };

	if (r->pid == UINT32_MAX || (misc & CPUMODE) == PERF_RECORD_MISC_KERNEL)
		return x->cb->kernel(x->cb->ctx, &k, err);
	if ((misc & CPUMODE) == PERF_RECORD_MISC_GUEST_KERNEL ||
	    (misc & PERF_RECORD_MISC_MMAP_DATA))
		return 0;
	know_build_id(x, &r->mmap);
	/* The record's clock differs from that of files here. */
	r->time_ns = 0;
	return x->cb->record(x->cb->ctx, r, err);
}

/* Delivers a sample once for each counter whose value it contains and that gained
 * something. */
static int deliver_counts(struct reading *x, struct record *r, struct error *err)
{
	uint32_t tid = attr_of(x, r->event)->inherit ? r->tid : 0;
	uint64_t id, value, gain;
	int rc = 0;

	if (x->values.left > GROUP_MAX) {
		x->rest->skipped++;
		return 0;
	}
	while (rc >= 0 && perf_counts_next(&x->values, &id, &value)) {
		uint32_t event = u64map_get(&x->f->ids, id);

		if (event == U64MAP_NONE)
			continue;
		if (perf_counts_gain(&x->counts, id, tid, value, &gain) < 0)
			return error_set(err, ERR_NOMEM, "%s: out of memory",
					 x->f->name);
		if (!gain)
			continue;
		r->event = event;
		r->sample.weight = gain;
		rc = x->cb->record(x->cb->ctx, r, err);
	}
	return rc;
}

/* Returns whether the flag of a mapping's build ID is set by mistake.  Kernels leave it
 * set in records of events that did not ask for build IDs, if another recorder did;
 * then a device and an inode stand in its place. */
static bool is_false_build_id(const struct reading *x, const uint8_t *body, size_t n)
{
	enum { ID_AT = 32 };	/* after process, thread, address, length, offset */
	const uint8_t *p = body + ID_AT;

	if (n < ID_AT + 4)
		return false;
	/* perf inject writes build IDs without asking the kernel for them. */
	for (size_t i = 0; i < x->f->events.n; i++)
		if (x->f->events.v[i].attr.build_id)
			return p[0] > 20;
	return (p[0] != 16 && p[0] != 20) || p[1] || p[2] || p[3];
}

static int deliver(struct reading *x, const struct item *it, struct error *err)
{
	struct perf_event_header h;
	struct record r = { .event = SOURCE_NONE, .time_ns = it->time };
	size_t trailer;
	struct cursor c;
	bool good;

	memcpy(&h, it->p, sizeof(h));
	trailer = perf_file_trailer(x->f, h.type);
	c = cursor_of(it->p + HEADER, h.size - HEADER);
	if (h.type == PERF_RECORD_SAMPLE) {
		r.kind = RECORD_SAMPLE;
		r.event = perf_file_event(x->f, c.p, cursor_left(&c), false);
		good = r.event < x->f->events.n &&
		       get_sample(x, &c, h.misc, &r);
	} else {
		if (h.type == PERF_RECORD_MMAP2 &&
		    (h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
		    is_false_build_id(x, c.p, cursor_left(&c)))
			h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		good = trailer <= cursor_left(&c);
		if (good) {
			get_trailer(x, cursor_of(c.end - trailer, trailer), &r);
			c.end -= trailer;
			good = perf_decode_other(&x->decoder, h, &c, &r);
		}
	}
	if (!good) {
		x->rest->skipped += !is_known(h.type);
		return 0;
	}
	if (r.kind == RECORD_SAMPLE && x->values.left)
		return deliver_counts(x, &r, err);
	if (r.kind == RECORD_MMAP)
		return deliver_map(x, h.misc, &r, err);
	return x->cb->record(x->cb->ctx, &r, err);
}

/* Returns whether registers are x86's.  Their numbers depend on the machine, which
 * files from pipes may not name. */
static bool has_x86(const struct perf_file *f)
{
	return !f->swapped &&
	       (!f->arch || !strcmp(f->arch, "x86_64") ||
		(strlen(f->arch) == 4 && *f->arch == 'i' &&
		 !strcmp(f->arch + 2, "86")));
}

int perf_records_each(const struct perf_file *f,
		      const struct perf_records_cb *cb,
		      struct perf_records_skipped *rest, uint64_t *first,
		      uint64_t *last, struct error *err)
{
	struct reading *x = calloc(1, sizeof(*x));
	int rc = x ? 0 : -ERR_NOMEM;

	*first = *last = 0;
	if (x)
		*x = (struct reading){ .f = f, .cb = cb, .rest = rest,
				       .decoder = { .ids = &f->ids },
				       .no_registers = !has_x86(f) };
	for (size_t i = 0; i < f->parts.n && !rc; i++)
		rc = list_part(x, &f->parts.v[i]);
	if (!rc)
		rc = list_deferred(x);
	if (rc < 0) {
		error_set(err, ERR_NOMEM, "%s: out of memory", f->name);
	} else {
		sort_items(x);
		for (size_t i = 0; i < x->items.n && !*first; i++)
			*first = x->items.v[i].time;
		if (x->items.n)
			*last = x->items.v[x->items.n - 1].time;
		for (size_t i = 0; i < x->items.n && rc >= 0; i++)
			rc = deliver(x, &x->items.v[i], err);
	}
	if (x) {
		vec_fini(&x->items);
		vec_fini(&x->deferred);
		perf_counts_fini(&x->counts);
	}
	free(x);
	return rc < 0 ? rc : 0;
}
