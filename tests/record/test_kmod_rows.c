// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the recorder brings the kernel module: a made-up module keeps what comes, and
 * unwinds stacks of this very program by it.
 */
#include "../checks.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../kmod/walk_core.h"
#include "../unwind/live.h"
#include "replay.h"
#include "record/kmod/kmod_rows.h"
#include "record/source/mapset.h"

#if defined(__x86_64__)

enum { FRAMES = 128, TABLES = 64, MAPS = 64 };

/* The other side of the calls. */
struct module {
	struct walk_table tables[TABLES];
	struct walk_map maps[MAPS];
	uint32_t nmaps, generation, pid;
	unsigned int ntable, npage, nspace, ended;
	int refuse;		/* errno of pages, or 0 */
	int refuse_space;
};

static void drop_table(struct walk_table *t)
{
	for (uint32_t i = 0; i < t->pages; i++) {
		struct walk_page *p = (struct walk_page *)t->page[i];

		if (!p)
			continue;
		free((void *)p->starts);
		free((void *)p->words);
		free((void *)p->rules);
		free(p);
	}
	free(t->page);
	*t = (struct walk_table){ 0 };
}

static void *copy(uint64_t from, size_t n)
{
	void *p = malloc(n + 1);

	assert_non_null(p);
	if (n)
		memcpy(p, (const void *)(uintptr_t)from, n);
	return p;
}

static int take_table(struct module *m, const struct tally_table *u)
{
	struct walk_table *t = &m->tables[u->id];

	assert_true(u->id < TABLES && u->size == sizeof(*u));
	drop_table(t);
	if (!u->pages) {
		m->ended++;
		return 0;
	}
	m->ntable++;
	*t = (struct walk_table){ u->base, u->pages, u->flags, NULL };
	t->page = calloc(u->pages, sizeof(*t->page));
	assert_non_null(t->page);
	return 0;
}

static int take_page(struct module *m, const struct tally_page *u)
{
	struct walk_table *t = &m->tables[u->table];
	struct walk_page *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_true(u->page < t->pages);
	m->npage++;
	*p = (struct walk_page){
		u->nrows, u->nwords, u->nrules,
		copy(u->rows, u->nrows * 4), NULL,
		copy(u->words, u->nwords * 4),
		copy(u->rules, u->nrules * sizeof(struct tally_rule)),
	};
	p->word = p->starts + u->nrows;
	assert_true(walk_page_check(p));
	if (t->page[u->page]) {
		const struct walk_page *old = t->page[u->page];

		free((void *)old->starts);
		free((void *)old->words);
		free((void *)old->rules);
		free((void *)old);
	}
	t->page[u->page] = p;
	return 0;
}

static int take_space(struct module *m, const struct tally_space *u)
{
	const struct tally_map *maps = (const void *)(uintptr_t)u->maps;

	if (!u->n) {
		m->ended++;
		return 0;
	}
	assert_true(u->n <= MAPS && u->generation);
	m->nspace++;
	m->generation = u->generation;
	m->pid = u->pid;
	m->nmaps = u->n;
	for (uint32_t i = 0; i < u->n; i++)
		m->maps[i] = (struct walk_map){
			maps[i].start, maps[i].end, maps[i].delta,
			&m->tables[maps[i].table],
		};
	assert_true(walk_maps_check(m->maps, u->n, 1ull << 47));
	return 0;
}

static int take(void *ctx, unsigned long cmd, void *arg)
{
	struct module *m = ctx;

	if (cmd == TALLY_IOC_TABLE)
		return take_table(m, arg);
	if (cmd == TALLY_IOC_SPACE) {
		errno = m->refuse_space;
		return errno ? -1 : take_space(m, arg);
	}
	assert_true(cmd == TALLY_IOC_PAGE);
	if (!m->refuse)
		return take_page(m, arg);
	errno = m->refuse;
	return -1;
}

/* ---- a stack of ours, caught in a handler ---- */

struct here {
	struct live live;
	struct mapset *maps;
	uint32_t generation;
	struct unwind_regs regs;
	uint64_t pc[FRAMES], by_module[FRAMES];
	uint8_t marks[FRAMES];
	struct unwind_stack walked;
	enum tally_walk end;
	uint32_t n;
	struct module *module;
};

static struct here *caught;	/* of the handler */

static bool read_own(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)addr, n };

	(void)ctx;
	/* by the kernel: sanitizers would object */
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool read_small(void *ctx, uint64_t addr, void *to, unsigned int n)
{
	return read_own(ctx, addr, to, n);
}

/* Both walks while the stack stands still. */
static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	struct here *h = caught;
	struct unwind_memory m = { .read = read_own };
	const struct walk_memory mem = { read_small, NULL };

	(void)sig, (void)info;
	h->regs = regs_of_signal(ctx);
	m.start = h->regs.r[UNWIND_RSP];
	h->live.space.generation = h->maps->generation;
	h->walked = (struct unwind_stack){ .pc = h->pc, .marks = h->marks,
					   .max = FRAMES };
	unwind_walk(h->live.cache, &h->live.space, &h->regs, &m, &h->walked);
	h->end = walk_user(h->module->maps, h->module->nmaps, h->regs.r, &mem,
			   h->by_module, FRAMES, &h->n);
	if (!h->module->nmaps)
		h->end = TALLY_WALK_NO_SPACE;
}

static struct unwind_table *table(void *ctx, uint32_t image)
{
	return ((struct here *)ctx)->live.code[image].table;
}

static void begin(struct here *h, struct module *m)
{
	memset(h, 0, sizeof(*h));
	live_open(&h->live, 0);
	h->module = m;
	h->maps = mapset_new(&h->generation);
	assert_non_null(h->maps);
	for (size_t i = 0; i < h->live.n; i++) {
		const struct unwind_code *c = &h->live.code[i];
		struct map map = { c->start, c->end, c->delta, (uint32_t)i };

		assert_int_equal(mapset_insert(&h->maps, &map, &h->generation),
				 0);
	}
	caught = h;
	sigaction(SIGUSR1, &(struct sigaction){ .sa_sigaction = on_signal,
						.sa_flags = SA_SIGINFO }, NULL);
}

static void end(struct here *h)
{
	for (size_t i = 0; i < TABLES; i++)
		drop_table(&h->module->tables[i]);
	mapset_put(h->maps);
	live_close(&h->live);
	signal(SIGUSR1, SIG_DFL);
}

static uint64_t clock_ns;	/* of the made-up machine */

static uint64_t now(void)
{
	return clock_ns;
}

/* Takes a sample; the recorder learns of it where the module gave up. */
static enum tally_walk sample(struct here *h, struct kmod_rows *r)
{
	struct walked_stack w = {
		.pid = 7, .tid = 8, .maps = h->maps, .cache = h->live.cache,
		.frames = &h->walked, .table = table, .ctx = h,
	};

	raise(SIGUSR1);
	assert_int_equal(h->walked.end, UNWIND_COMPLETE);
	if (h->end != TALLY_WALK_COMPLETE)
		r->base.walked(&r->base, h->end, ++clock_ns, &w);
	clock_ns++;
	return h->end;
}

/* Some samples, and what the module had after each. */
struct taken {
	uint64_t clock_ns;	/* set before this sample; 0: not */
	bool forget;		/* the mappings that the module has */
	enum tally_walk end;
	unsigned int npage, nspace;
};

/* Takes samples at one place.  Calls at several places may be in several parts of a page
 * (unwind/rows.h), of which only the sampled ones have rows. */
static void take_samples(struct here *h, struct kmod_rows *r,
			 const struct module *m, struct taken *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t[i].clock_ns)
			clock_ns = t[i].clock_ns;
		if (t[i].forget)
			h->module->nmaps = 0;
		t[i].end = sample(h, r);
		t[i].npage = m->npage;
		t[i].nspace = m->nspace;
	}
}

static void stacks_are_unwound_once_they_were_walked(void **state)
{
	/* until all code has rows; from before the last mappings were sent, which sends
	 * nothing; after it, where the process may have called exec; once more */
	struct taken t[] = {
		{ .clock_ns = 100 }, { 0 }, { 0 }, { 0 }, { 0 },
		{ .forget = true, .clock_ns = 1 },
		{ .clock_ns = 1000 }, { 0 },
	};
	struct module m = { 0 };
	struct kmod_rows r;
	struct here h;

	(void)state;
	begin(&h, &m);
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	take_samples(&h, &r, &m, t, sizeof(t) / sizeof(*t));
	assert_int_equal(t[0].end, TALLY_WALK_NO_SPACE);
	assert_true(m.ntable && t[0].npage && t[0].nspace == 1);
	assert_int_equal(m.pid, 8);
	assert_int_equal(t[4].end, TALLY_WALK_COMPLETE);
	assert_int_equal(t[5].end, TALLY_WALK_NO_SPACE);
	assert_int_equal(t[5].npage, t[4].npage);
	assert_int_equal(t[5].nspace, t[4].nspace);
	assert_int_equal(t[6].npage, t[4].npage);
	assert_int_equal(t[6].nspace, t[4].nspace + 1);
	assert_int_equal(t[7].end, TALLY_WALK_COMPLETE);
	assert_int_equal(h.n, h.walked.n);
	assert_memory_equal(h.by_module, h.pc, h.n * sizeof(*h.pc));
	assert_true(h.n > 5);
	end(&h);
	kmod_rows_fini(&r);
}

static bool all_same(struct here *h, struct kmod_rows *r, uint32_t space)
{
	return r->base.same(&r->base, space, h->maps, h->by_module, h->n);
}

enum { PART = 8192, PAGE = 65536 };

/* What follows is in another part. */
#define NEXT_PART \
	__asm__ volatile("jmp 1f\n\t.balign 16384\n1:" ::: "memory")

/* Takes samples in two parts of a page, which has no other code. */
__attribute__((noinline, aligned(PAGE)))
static void from_two_parts(struct here *h, struct kmod_rows *r)
{
	for (int i = 0; i < 5 && sample(h, r) != TALLY_WALK_COMPLETE; i++)
		;
	assert_int_equal(h->end, TALLY_WALK_COMPLETE);
	NEXT_PART;
	assert_int_equal(sample(h, r), TALLY_WALK_NO_WORD);
	assert_int_equal(sample(h, r), TALLY_WALK_COMPLETE);
	NEXT_PART;
}

static uint64_t word_at(const struct walk_page *p, uint16_t addr)
{
	uint32_t row = 0;

	while (row + 1 < p->nrows && p->starts[row + 1] <= addr)
		row++;
	return p->words[p->word[row]];
}

static void only_code_of_stacks_has_rows(void **state)
{
	struct module m = { 0 };
	struct kmod_rows r;
	const struct map *map;
	struct here h;
	const struct walk_page *p = NULL;
	uint64_t at;

	(void)state;
	begin(&h, &m);
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	from_two_parts(&h, &r);
	assert_int_equal(h.n, h.walked.n);
	assert_memory_equal(h.by_module, h.pc, h.n * sizeof(*h.pc));
	map = mapset_find(h.maps, (uintptr_t)from_two_parts);
	assert_non_null(map);
	at = (uintptr_t)from_two_parts + map->delta;
	for (size_t i = 0; i < m.nmaps; i++)
		if ((uintptr_t)from_two_parts >= m.maps[i].start &&
		    (uintptr_t)from_two_parts < m.maps[i].end)
			p = m.maps[i].table->page[(at - m.maps[i].table->base) /
						  PAGE];
	assert_non_null(p);
	/* within the function: its first part, one with padding only, one more */
	assert_int_not_equal(word_at(p, 64), TALLY_ROW_NONE);
	assert_int_equal(word_at(p, PART + 64), TALLY_ROW_NONE);
	assert_int_not_equal(word_at(p, 2 * PART), TALLY_ROW_NONE);
	end(&h);
	kmod_rows_fini(&r);
}

static void processes_of_known_programs_are_foreseen(void **state)
{
	const struct map unknown = { 4096, 8192, 0, LIVE_MAPS };
	struct mapset *others[2];	/* unknown and known program */
	struct module m = { 0 };
	struct kmod_rows r;
	struct here h;
	unsigned int spaces, ended;

	(void)state;
	begin(&h, &m);
	for (int i = 0; i < 2; i++) {
		const struct map *map = i ? mapset_find(h.maps,
							(uintptr_t)sample)
					  : &unknown;

		others[i] = mapset_new(&h.generation);
		assert_true(others[i] && map);
		assert_int_equal(mapset_insert(&others[i], map, &h.generation),
				 0);
	}
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	assert_int_equal(sample(&h, &r), TALLY_WALK_NO_SPACE);
	assert_true(r.base.foresees);
	r.base.foresees = false;
	spaces = m.nspace;
	r.base.foresee(&r.base, 7, others[1]);	/* has sent samples */
	r.base.foresee(&r.base, 10, others[0]);
	assert_int_equal(m.nspace, spaces);
	r.base.foresee(&r.base, 9, others[1]);
	assert_int_equal(m.nspace, spaces + 1);
	assert_int_equal(m.pid, 9);
	assert_int_equal(m.nmaps, 1);
	r.base.foresee(&r.base, 9, others[1]);
	assert_int_equal(m.nspace, spaces + 1);
	/* Not to have room for those is no reason to begin anew. */
	ended = m.ended;
	m.refuse_space = ENOSPC;
	r.base.foresee(&r.base, 11, others[1]);
	m.refuse_space = 0;
	r.base.foresee(&r.base, 12, others[1]);
	assert_int_equal(m.nspace, spaces + 1);
	assert_int_equal(m.ended, ended);
	mapset_put(others[0]);
	mapset_put(others[1]);
	end(&h);
	kmod_rows_fini(&r);
}

static void many_copies_are_answered_soon(void **state)
{
	/* Nothing is sent for samples of the past (1); later mappings are, for two stacks. */
	static const struct {
		uint64_t clock_ns;
		int copies;
		bool soon;
	} rounds[] = {
		{ 100, 0, false }, { 100, 3, true }, { 200, 0, false },
		{ 1, 3, false }, { 1000, 2, false },
	};
	struct taken t;
	struct module m = { 0 };
	struct kmod_rows r;
	struct here h;

	(void)state;
	begin(&h, &m);
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		clock_ns = rounds[i].clock_ns;
		for (int j = 0; j < rounds[i].copies; j++) {
			t = (struct taken){ .forget = true };
			take_samples(&h, &r, &m, &t, 1);
			assert_int_equal(t.end, TALLY_WALK_NO_SPACE);
		}
		assert_int_equal(kmod_rows_round(&r), rounds[i].soon);
	}
	end(&h);
	kmod_rows_fini(&r);
}

static void other_mappings_are_noticed(void **state)
{
	struct module m = { 0 };
	struct kmod_rows r;
	struct here h;
	const struct map *at;
	struct map far = { 1ull << 40, (1ull << 40) + 4096, 0, 0 }, other;

	(void)state;
	begin(&h, &m);
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	for (int i = 0; i < 5 && sample(&h, &r) != TALLY_WALK_COMPLETE; i++)
		;
	assert_int_equal(h.end, TALLY_WALK_COMPLETE);
	assert_true(all_same(&h, &r, m.generation));
	assert_false(all_same(&h, &r, m.generation + 1));
	assert_false(all_same(&h, &r, 0));
	/* A file that is mapped elsewhere changes nothing, ... */
	assert_int_equal(mapset_insert(&h.maps, &far, &h.generation), 0);
	assert_true(all_same(&h, &r, m.generation));
	/* ... one where the caller was does. */
	at = mapset_find(h.maps, h.by_module[1]);
	assert_non_null(at);
	other = *at;
	other.delta += 4096;
	assert_int_equal(mapset_insert(&h.maps, &other, &h.generation), 0);
	assert_false(all_same(&h, &r, m.generation));
	end(&h);
	kmod_rows_fini(&r);
}

static void without_room_it_begins_anew_then_stops(void **state)
{
	struct module m = { .refuse = ENOMEM };
	struct kmod_rows r;
	struct here h;
	uint64_t sent;

	(void)state;
	begin(&h, &m);
	assert_int_equal(kmod_rows_init(&r, take, now, &m), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(sample(&h, &r), TALLY_WALK_NO_SPACE);
	assert_int_equal(m.npage, 0);
	assert_true(m.ended > 0);
	sent = r.sent;
	sample(&h, &r);
	assert_int_equal(r.sent, sent);
	end(&h);
	kmod_rows_fini(&r);
}

/* A source that unwinds stacks, and the processes that it is told of. */
struct foreseeing {
	struct source_rows base;
	uint32_t pids[8];
	size_t n;
};

static void note_foreseen(struct source_rows *rows, uint32_t pid,
		    const struct mapset *maps)
{
	struct foreseeing *f = (struct foreseeing *)rows;

	assert_true(maps->maps.n && f->n < 8);
	f->pids[f->n++] = pid;
}

static void send(struct replay *r, struct record *rec)
{
	rec->time_ns = ++r->time;
	assert_int_equal(collector_record(&r->c, rec, &r->err), 0);
}

static int setup(void **state)
{
	return replay_begin(state, NULL, 1);
}

static void sources_are_told_of_all_processes(void **state)
{
	struct foreseeing f = { .base = { .foresee = note_foreseen } };
	struct record rec = { .kind = RECORD_SAMPLE, .pid = 5, .tid = 5 };
	struct record map = { .kind = RECORD_MMAP, .mmap = {
		.start = 0x400000, .len = 0x1000, .path = "/nonexistent" } };
	struct replay *r = *state;

	for (uint32_t pid = 5; pid < 8; pid++) {
		map.pid = map.tid = pid;
		send(r, &map);
	}
	rec.sample = (struct record_sample){ .weight = 1, .copied = true,
					     .rows = &f.base };
	send(r, &rec);
	assert_int_equal(f.n, 0);
	f.base.foresees = true;
	send(r, &rec);
	assert_false(f.base.foresees);
	assert_int_equal(f.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(f.pids[i], 5 + i);
	send(r, &rec);
	assert_int_equal(f.n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_unwound_once_they_were_walked),
		cmocka_unit_test(only_code_of_stacks_has_rows),
		cmocka_unit_test(processes_of_known_programs_are_foreseen),
		cmocka_unit_test_setup_teardown(sources_are_told_of_all_processes,
						setup, replay_end),
		cmocka_unit_test(many_copies_are_answered_soon),
		cmocka_unit_test(other_mappings_are_noticed),
		cmocka_unit_test(without_room_it_begins_anew_then_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
	return 77;
}
#endif
