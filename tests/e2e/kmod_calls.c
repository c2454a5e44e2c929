// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ioctls of hostile programs.  Another one is another row of calls[], whose struct is
 * made by its function as an honest program would; fields, places and numbers are changed
 * afterwards for all alike.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod_hostile.h"

/* ---- values ---- */

static const uint64_t edges[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 999,
	1000, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 16384, 32767, 32768,
	65528, 65535, 65536, 65537, 1000000, 1 << 24, (1 << 24) + 1, INT32_MAX,
	0x80000000u, UINT32_MAX, 1000000000u, 0x100000000ull, 1ull << 47,
	(1ull << 47) - 4096, 1ull << 62, INT64_MAX, 1ull << 63,
	0xffff888000000000, UINT64_MAX - 4095, UINT64_MAX,
};
enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

uint64_t boundary(struct hostile *h)
{
	return some(h, 4) ? edges[some(h, EDGES)] : roll(&h->random);
}

/* Changes up to three fields of 1, 2, 4 or 8 bytes. */
static void damage(struct hostile *h, void *p, size_t n)
{
	for (uint64_t i = some(h, 4); i > 0; i--) {
		size_t width = (size_t)1 << some(h, 4);
		uint64_t v = boundary(h);

		if (width <= n)
			memcpy((uint8_t *)p + some(h, n / width) * width, &v,
			       width);
	}
}

/* ---- structs as honest programs make them ---- */

static void fill_info(struct hostile *h, void *p)
{
	(void)h;
	*(struct tally_info *)p = (struct tally_info){
		.size = sizeof(struct tally_info),
	};
}

static void fill_perf(struct hostile *h, struct tally_setup *s)
{
	by_kernel(s, some(h, 4) ? PERF_TYPE_SOFTWARE : (uint32_t)some(h, 8),
		  some(h, 4) ? some(h, 12) : boundary(h));
	if (some(h, 2))
		s->events[0].freq = 1 + some(h, 5000);
}

/* As on a processor with several kinds of cores: CPUs of any of them, or of none. */
static void fill_kinds(struct hostile *h, struct tally_setup *s)
{
	s->nkinds = (uint32_t)(1 + some(h, TALLY_KINDS_MAX));
	for (size_t i = 0; i < sizeof(h->kind_of); i++)
		h->kind_of[i] = (uint8_t)(some(h, 4) ? some(h, s->nkinds)
						      : TALLY_KIND_UNKNOWN);
	s->kind_of = (uintptr_t)h->kind_of;
	s->kind_cpus = (uint32_t)(some(h, 4) ? some(h, 17) : boundary(h));
	for (uint32_t i = 0; i < s->nevents; i++) {
		for (uint32_t k = 0; k < s->nkinds; k++) {
			struct tally_perf_event *e = &s->kinds[k][i];

			*e = s->perf[i];
			if (some(h, 2))
				e->config = some(h, 12);
			if (some(h, 8) == 0)
				*e = (struct tally_perf_event){
					.type = TALLY_PERF_NONE,
				};
			if (some(h, 8) == 0)
				e->type = (uint32_t)boundary(h);
		}
		s->events[i].flags |= TALLY_EVENT_KINDS;
		memset(&s->perf[i], 0, sizeof(s->perf[i]));
	}
}

void fill_setup(struct hostile *h, void *p)
{
	struct tally_setup s = plain_setup();

	/* Many recordings run at a time: samples must leave time for calls. */
	s.events[0].period = some(h, 8) ? 20000000 : 1000000;
	s.ring_bytes = some(h, 8) ? RING : 4096u << some(h, some(h, 8) ? 6 : 11);
	s.watermark = (uint32_t)(1 + some(h, s.ring_bytes));
	if (some(h, 2))
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (some(h, 16) == 0)
		s.flags |= TALLY_SETUP_ON_EXEC;
	if (some(h, 4) == 0) {
		for (size_t i = 0; i < sizeof(h->cpus); i++)
			h->cpus[i] = (uint8_t)(some(h, 2) ? roll(&h->random) : 0);
		h->cpus[0] = (uint8_t)some(h, 4);
		s.cpus = (uintptr_t)h->cpus;
		s.cpu_bits = (uint32_t)(some(h, 2) ? 1 + some(h, 2) : boundary(h));
	}
	if (some(h, 2))
		s.copy_bytes = (uint32_t)(some(h, 2) ? some(h, 4097) * 8
						     : boundary(h));
	if (some(h, 8) == 0) {
		s.flags = TALLY_SETUP_CHAIN | TALLY_SETUP_CGROUP;
		s.cgroup_fd = (uint32_t)(some(h, 2) ? h->g->cgroup
						    : (int)boundary(h));
	}
	if (some(h, 4) == 0)
		s.source = (uint32_t)some(h, 8);
	if (some(h, 3) == 0)
		fill_perf(h, &s);
	else if (h->g->counters && some(h, 2))
		by_counters(&s, h->g->counters);
	if (some(h, 2))
		s.flags |= TALLY_SETUP_STACKS;
	if (s.copy_bytes && some(h, 4))
		s.flags |= TALLY_SETUP_UNWIND;
	if (s.flags & TALLY_SETUP_STACKS && some(h, 4))
		s.flags |= TALLY_SETUP_COUNT;
	if (some(h, 4) == 0) {
		s.flags |= TALLY_SETUP_WAITS |
			   (some(h, 4) ? TALLY_SETUP_WAKES : 0);
		s.wait_bytes = some(h, 8) ? RING : 4096u << some(h, 6);
		s.wait_copy_bytes = s.copy_bytes < s.wait_bytes / 8
				    ? s.copy_bytes & ~7u : 0;
	}
	if (some(h, 4) == 0) {
		s.nevents = (uint32_t)(1 + some(h, TALLY_EVENTS_MAX));
		for (uint32_t i = 1; i < s.nevents; i++) {
			s.events[i] = s.events[0];
			s.perf[i] = s.perf[0];
		}
	}
	if (s.source == TALLY_PERF && some(h, 3) == 0)
		fill_kinds(h, &s);
	*(struct tally_setup *)p = s;
}

/* Makes one of software events of it, if it asks the kernel's drivers for counters. */
static void leave_drivers(struct tally_setup *s)
{
	/* What a shorter struct lacks is 0: cycles. */
	if (s->source == TALLY_PERF && s->size < sizeof(*s))
		s->source = TALLY_TIMER;
	for (uint32_t i = 0; s->source == TALLY_PERF && i < TALLY_EVENTS_MAX; i++) {
		if (!(s->events[i].flags & TALLY_EVENT_KINDS)) {
			if (i < s->nevents)
				s->perf[i].type = PERF_TYPE_SOFTWARE;
			continue;
		}
		for (uint32_t k = 0; k < s->nkinds && k < TALLY_KINDS_MAX; k++)
			if (s->kinds[k][i].type != TALLY_PERF_NONE)
				s->kinds[k][i].type = PERF_TYPE_SOFTWARE;
	}
}

static void fill_tasks(struct hostile *h, void *p)
{
	struct tally_tasks t = {
		.size = sizeof(t), .n = (uint32_t)(1 + some(h, 8)),
		.tids = (uintptr_t)h->tids,
	};

	h->tids[0] = (uint32_t)getpid();
	for (size_t i = 1; i < 8; i++)
		h->tids[i] = (uint32_t)(some(h, 2) ? some(h, 400) : boundary(h));
	*(struct tally_tasks *)p = t;
}

static void fill_stats(struct hostile *h, void *p)
{
	struct tally_stats *s = p;

	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->cpu = some(h, 2) ? TALLY_ALL_CPUS : (uint32_t)some(h, 4);
}

static void fill_table(struct hostile *h, void *p)
{
	*(struct tally_table *)p = (struct tally_table){
		.size = sizeof(struct tally_table), .id = (uint32_t)some(h, 4),
		.base = some(h, 4) << TALLY_PAGE_BITS,
		.pages = (uint32_t)some(h, 8),
		.flags = some(h, 4) ? 0 : TALLY_TABLE_GO,
	};
}

/* Mostly well made, of nothing real. */
static void fill_page(struct hostile *h, void *p)
{
	static const uint16_t rows[12] = {
		0, 0x10, 0x100, 0x101, 0x2000, 0xffff, 1, 2, 3, 4, 1, 0,
	};
	static const uint32_t words[5] = {
		TALLY_ROW_NONE, TALLY_ROW_RSP | 2 << 3,
		TALLY_ROW_RBP | 2 << 3 | 0xfffcu << 17, TALLY_ROW_END,
		TALLY_ROW_RULE,
	};

	memcpy(h->rows, rows, sizeof(rows));
	memcpy(h->words, words, sizeof(words));
	h->rule = (struct tally_rule){
		.cfa_reg = 7, .ip = TALLY_HOW_MEM + 7, .sp = TALLY_HOW_MEM + 7,
		.bp = TALLY_HOW_MEM + 7, .cfa_memory = 1, .signal = 1,
	};
	if (some(h, 4) == 0)
		damage(h, h->rows, sizeof(h->rows));
	if (some(h, 4) == 0)
		damage(h, h->words, sizeof(h->words));
	if (some(h, 4) == 0)
		damage(h, &h->rule, sizeof(h->rule));
	*(struct tally_page *)p = (struct tally_page){
		.size = sizeof(struct tally_page), .table = (uint32_t)some(h, 4),
		.page = (uint32_t)some(h, 8), .nrows = 6, .nwords = 5,
		.nrules = 1, .rows = (uintptr_t)h->rows,
		.words = (uintptr_t)h->words, .rules = (uintptr_t)&h->rule,
	};
}

/* All of our code and stack, or something else, as images that were brought. */
static void fill_space(struct hostile *h, void *p)
{
	uint64_t code = (uintptr_t)fill_space & ~0xffffffull;

	for (unsigned int i = 0; i < 3; i++)
		h->maps[i] = (struct tally_map){
			.start = i ? 0x700000000000 + ((uint64_t)i << 40) : code,
			.end = i ? 0x700000000000 + ((i + 1ull) << 40)
				 : code + (2 << 24),
			.delta = some(h, 2) ? 0 - code : roll(&h->random),
			.table = (uint32_t)some(h, 4),
		};
	h->maps[2].end = 0x7ffffffff000;
	if (some(h, 4) == 0)
		damage(h, h->maps, sizeof(h->maps));
	*(struct tally_space *)p = (struct tally_space){
		.size = sizeof(struct tally_space), .pid = (uint32_t)getpid(),
		.generation = (uint32_t)some(h, 4), .n = (uint32_t)some(h, 4),
		.maps = (uintptr_t)h->maps,
	};
}

static void fill_counts(struct hostile *h, void *p)
{
	*(struct tally_counts *)p = (struct tally_counts){
		.size = sizeof(struct tally_counts), .cpu = (uint32_t)some(h, 4),
		.n = TALLY_COUNTS_MAX, .to = (uintptr_t)h->counts,
	};
}

static const struct call {
	const char *name;
	unsigned long cmd;
	size_t size;		/* of its struct; 0: its argument is 0 */
	size_t in;		/* bytes of it that are read */
	unsigned int weight;
	void (*fill)(struct hostile *h, void *p);
} calls[] = {
#define ROW(name, type, in, weight, fill) \
	{ #name, TALLY_IOC_##name, sizeof(struct type), in, weight, fill }
	ROW(INFO, tally_info, sizeof(struct tally_info), 1, fill_info),
	ROW(SETUP, tally_setup, sizeof(struct tally_setup), 6, fill_setup),
	ROW(TASKS, tally_tasks, sizeof(struct tally_tasks), 3, fill_tasks),
	{ "START", TALLY_IOC_START, 0, 0, 3, NULL },
	{ "STOP", TALLY_IOC_STOP, 0, 0, 2, NULL },
	ROW(STATS, tally_stats, 16, 3, fill_stats),
	ROW(TABLE, tally_table, sizeof(struct tally_table), 3, fill_table),
	ROW(PAGE, tally_page, sizeof(struct tally_page), 4, fill_page),
	ROW(SPACE, tally_space, sizeof(struct tally_space), 2, fill_space),
	ROW(COUNTS, tally_counts, sizeof(struct tally_counts), 2, fill_counts),
	/* No such number. */
	{ "others", _IO(TALLY_IOC, 200), 0, 0, 1, NULL },
#undef ROW
};
enum { ROWS = sizeof(calls) / sizeof(calls[0]) };
_Static_assert(sizeof(calls) / sizeof(calls[0]) <= CALLS, "CALLS is too small");

/* ---- ioctls ---- */

/* Where the struct lies: at an edge, cut off there, or nowhere. */
static void *placed(struct hostile *h, const void *p, size_t n)
{
	static const uintptr_t nowhere[] = {
		0, 1, 0x1000, (uintptr_t)-1, (uintptr_t)-4096, 0x7ffffffff000,
		0xffff888000000000, 0xffffffff81000000,
	};
	uint64_t r = some(h, 16);
	uint8_t *at = h->edge - n;

	if (!r)
		return (void *)nowhere[some(h, 8)];
	if (r == 1)
		at += some(h, n);
	/* What another thread maps, unmaps and writes to. */
	if (r == 2)
		return h->g->windows + some(h, MAPS) * WINDOW +
		       some(h, 2 * h->g->page);
	memcpy(at, p, (size_t)(h->edge - at) < n ? (size_t)(h->edge - at) : n);
	return at;
}

/* One field after the other has each of the values at edges. */
static void next_edge(struct hostile *h, void *p, const struct call *c)
{
	unsigned long turn = h->edge_turn++;
	uint64_t v = edges[turn % EDGES];
	size_t width = (size_t)1 << turn / EDGES % 4;

	if (c->in >= width)
		memcpy((uint8_t *)p + turn / EDGES / 4 % (c->in / width) * width,
		       &v, width);
}

/* The same number with another direction or size, or another number. */
static unsigned long some_number(struct hostile *h, const struct call *c)
{
	switch (some(h, 64)) {
	case 0:
		return (unsigned long)_IOC(some(h, 4), TALLY_IOC, _IOC_NR(c->cmd),
					   some(h, 1 << 14));
	case 1:
		return (unsigned long)boundary(h);
	case 2:
		return c->cmd ^ 1ul << some(h, 32);
	default:
		return c->cmd;
	}
}

/* As an i386 program calls: the kernel's compat path. */
static long narrow_ioctl(int fd, unsigned long cmd, const void *arg)
{
	long r = -ENOSYS;

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(54), "b"((long)fd),
			 "c"((long)(uint32_t)cmd),
			 "d"((long)(uint32_t)(uintptr_t)arg)
			 : "memory", "r8", "r9", "r10", "r11");
#else
	(void)fd, (void)cmd, (void)arg;
#endif
	return (int)r;
}

int some_fd(struct hostile *h)
{
	return atomic_load(&h->g->fd[some(h, FDS)]);
}

static const struct call *some_call(struct hostile *h, unsigned int *row)
{
	unsigned int sum = 0;
	uint64_t left;

	for (unsigned int i = 0; i < ROWS; i++)
		sum += calls[i].weight;
	left = some(h, sum);
	for (*row = 0; left >= calls[*row].weight; ++*row)
		left -= calls[*row].weight;
	return &calls[*row];
}

void one_ioctl(struct hostile *h)
{
	uint64_t room[ROOM / 8] = { 0 };
	unsigned int row;
	const struct call *c = some_call(h, &row);
	unsigned long cmd = some_number(h, c);
	int fd = some_fd(h);
	void *arg = NULL;
	long r;

	if (c->fill) {
		c->fill(h, room);
		switch (some(h, 4)) {
		case 0:
			damage(h, room, c->in);
			break;
		case 1:
			next_edge(h, room, c);
			break;
		default:
			break;
		}
		if (h->g->no_drivers && c->fill == fill_setup)
			leave_drivers((struct tally_setup *)room);
		/* Sometimes longer than the module knows it. */
		arg = placed(h, room, some(h, 32) ? c->size
						  : c->size + some(h, 64));
	} else if (some(h, 8) == 0) {
		arg = (void *)(uintptr_t)boundary(h);
	}
	r = h->g->narrow && some(h, 16) == 0 ? narrow_ioctl(fd, cmd, arg)
					     : ioctl(fd, cmd, arg);
	atomic_fetch_add(r < 0 ? &h->g->refused[row] : &h->g->fine[row], 1);
}

bool narrow_works(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(narrow_ioctl(-1, 0, NULL) != -EBADF);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

const char *call_name(unsigned int row)
{
	return row < ROWS ? calls[row].name : NULL;
}
