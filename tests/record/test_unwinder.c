// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copied stacks through the collector into the profile.  The code is anonymous
 * memory, which has no tables: frame pointers lead through it (System V psABI,
 * 3.2.2), so that a stack can be written down here word by word.
 */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/collect/collector.h"

enum { FRAMES = 64, DEEP_FRAMES = 3000, WORDS = 4, PID = 7 };
#define CODE 0x10000000ull

struct walking {
	struct profile p;
	struct collector c;
	struct error err;
	size_t frames;
	/* Frame i: [2] saved rbp, [3] return address; the words below are
	 * locals. */
	uint64_t *live;		/* the program's memory: ours */
	uint64_t *copy;
	uint64_t time;
};

static uint64_t return_address(size_t frame)
{
	return CODE + 0x101 + 16 * frame;
}

static size_t stack_bytes(const struct walking *x)
{
	return x->frames * WORDS * sizeof(*x->live);
}

static void stack_fill(struct walking *x)
{
	uint64_t at = (uint64_t)(uintptr_t)x->live;

	for (size_t i = 0; i < x->frames; i++) {
		uint64_t *f = x->live + i * WORDS;
		bool last = i == x->frames - 1;

		f[0] = f[1] = i;
		f[2] = last ? 0 : at + 8 * ((i + 1) * WORDS + 2);
		f[3] = last ? 0 : return_address(i);
	}
	memcpy(x->copy, x->live, stack_bytes(x));
}

static void send(struct walking *x, struct record *rec)
{
	rec->time_ns = ++x->time;
	if (collector_record(&x->c, rec, &x->err) < 0)
		fail_msg("%s", x->err.msg);
}

static int setup_frames(void **state, size_t frames)
{
	struct walking *x = calloc(1, sizeof(*x));
	struct record map = { .kind = RECORD_MMAP, .pid = PID, .tid = PID };

	if (!x || profile_init(&x->p) < 0 ||
	    collector_init(&x->c, &x->p, "/nonexistent", "/nonexistent",
			   &x->err) < 0)
		return -1;
	x->c.nevents = 1;
	x->frames = frames;
	x->live = malloc(stack_bytes(x));
	x->copy = malloc(stack_bytes(x));
	if (!x->live || !x->copy)
		return -1;
	stack_fill(x);
	map.mmap = (struct mapping){ .start = CODE, .len = 0x10000,
					 .path = "//anon" };
	send(x, &map);
	*state = x;
	return 0;
}

static int setup(void **state)
{
	return setup_frames(state, FRAMES);
}

static int setup_deep(void **state)
{
	return setup_frames(state, DEEP_FRAMES);
}

static int teardown(void **state)
{
	struct walking *x = *state;

	collector_fini(&x->c);
	profile_fini(&x->p);
	free(x->live);
	free(x->copy);
	free(x);
	return 0;
}

/* A sample of a thread that has returned to frame `from`, with `n` bytes of its
 * stack. */
static struct record a_sample(const struct walking *x, size_t from, uint32_t pid,
			      size_t n, bool all)
{
	struct record r = { .kind = RECORD_SAMPLE, .pid = pid, .tid = pid };
	struct unwind_regs *regs = &r.sample.copy.regs;
	uint64_t at = (uint64_t)(uintptr_t)(x->live + from * WORDS);

	r.sample.copied = true;
	r.sample.copy.bytes = (const uint8_t *)(x->copy + from * WORDS);
	r.sample.copy.size = n;
	r.sample.copy.all = all;
	regs->r[UNWIND_RIP] = CODE + 0x50;
	regs->r[UNWIND_RSP] = at;
	regs->r[UNWIND_RBP] = at + 16;
	regs->known = (1u << UNWIND_REGS) - 1;
	return r;
}

/* Returns the sample's node. */
static uint32_t walk(struct walking *x, const struct record *r)
{
	struct record_sample s = r->sample;
	struct process *proc = processes_get(&x->c.processes, r->pid);
	uint32_t loc;

	unwinder_sample(&x->c.unwinder, proc->maps, r->pid, r->tid, &s);
	return stacks_add(&x->c.stacks, proc->maps, &s, &loc);
}

/* In the innermost frame, through the collector, which tells no node: so it is
 * walked once more. */
static uint32_t sample(struct walking *x, uint32_t pid, size_t n, bool all)
{
	struct record r = a_sample(x, 0, pid, n, all);

	send(x, &r);
	return walk(x, &r);
}

static uint32_t walk_from(struct walking *x, size_t from, uint32_t pid, size_t n)
{
	struct record r = a_sample(x, from, pid, n, false);

	return walk(x, &r);
}

static const struct prof_node *node(const struct walking *x, uint32_t i)
{
	return &x->p.nodes.v[i];
}

/* Frames from frame `from` on, which all must be as the stack has them; returns
 * the outermost node: a mark, or a child of the root. */
static uint32_t outermost_from(const struct walking *x, size_t from,
			       uint32_t stack, size_t frames)
{
	size_t i = 0;

	for (;; i++, stack = node(x, stack)->parent) {
		uint32_t loc = node(x, stack)->loc;

		if (prof_is_mark(loc))
			break;
		assert_int_equal(x->p.locs.v[loc].vaddr,
				 i ? return_address(from + i - 1) - 1
				   : CODE + 0x50);
		if (!node(x, stack)->parent) {
			i++;
			break;
		}
	}
	assert_int_equal(i, frames);
	return stack;
}

static uint32_t outermost(const struct walking *x, uint32_t stack, size_t frames)
{
	return outermost_from(x, 0, stack, frames);
}

static const struct prof_stack_end *end_of(const struct walking *x, uint32_t mark)
{
	for (size_t i = 0; i < x->p.ends.n; i++)
		if (x->p.ends.v[i].node == mark)
			return &x->p.ends.v[i];
	return NULL;
}

static void whole_stacks_have_no_mark(void **state)
{
	struct walking *x = *state;
	uint32_t top = outermost(x, sample(x, PID, stack_bytes(x), false),
				 FRAMES);

	assert_int_equal(node(x, top)->parent, 0);
	assert_false(prof_is_mark(node(x, top)->loc));
	assert_int_equal(x->c.samples, 1);
}

static void short_copies_are_cut(void **state)
{
	struct walking *x = *state;
	uint32_t top;

	x->c.unwinder.no_live = true;
	/* 10 frames whole, and one whose words are not all there */
	top = outermost(x, sample(x, PID, 10 * 8 * WORDS + 8, false), 11);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	assert_null(end_of(x, top));
}

/* Our own memory is the program's: what is behind the copy is read from it. */
static uint32_t map_own_memory(struct walking *x)
{
	struct record map = { .kind = RECORD_MMAP };
	uint64_t word;
	struct iovec to = { &word, 8 }, from = { x->live, 8 };

	map.pid = map.tid = (uint32_t)getpid();
	map.mmap = (struct mapping){ .start = CODE, .len = 0x10000,
					 .path = "//anon" };
	send(x, &map);
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 8)
		skip_test("process_vm_readv is not for us here");
	return map.pid;
}

static void deeper_stacks_are_read_later(void **state)
{
	struct walking *x = *state;
	uint32_t pid = map_own_memory(x), top;

	top = outermost(x, sample(x, pid, 10 * 8 * WORDS, false), FRAMES);
	assert_int_equal(node(x, top)->loc, PROF_MARK_READ_LATE);
	/* The last frames in the copy have returned since. */
	x->live[9 * WORDS + 3] = return_address(3);
	collector_idle(&x->c, ++x->time, &x->err);
	top = outermost(x, sample(x, pid, 10 * 8 * WORDS, false), 11);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	assert_int_equal(x->c.unwinder.cut, 4);	/* each sample twice */
}

/* Of a thread that has left frame `last` meanwhile, the last one in the copy. */
static uint32_t changed_sample(struct walking *x, uint32_t pid, size_t last)
{
	uint32_t stack;

	x->live[last * WORDS + 3] = return_address(3);
	collector_idle(&x->c, ++x->time, &x->err);
	stack = walk_from(x, 0, pid, (last + 1) * 8 * WORDS);
	x->live[last * WORDS + 3] = return_address(last);
	collector_idle(&x->c, ++x->time, &x->err);
	return stack;
}

/* The outer frames of deep stacks are kept for the samples to come, but not those
 * of a stack that was cut. */
static void cut_stacks_are_not_joined(void **state)
{
	struct walking *x = *state;
	uint32_t pid = map_own_memory(x), top;

	top = outermost(x, changed_sample(x, pid, 1499), 1501);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	top = outermost_from(x, 20, walk_from(x, 20, pid, 320),
			     DEEP_FRAMES - 20);
	assert_int_equal(node(x, top)->loc, PROF_MARK_READ_LATE);
}

static size_t frames_kept(const struct walking *x, uint32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < DEEP_THREADS; i++)
		if (x->c.unwinder.deep.stacks[i].pid == pid)
			n += x->c.unwinder.deep.stacks[i].pc.n;
	return n;
}

/* A sample that came too late for its outer frames leaves those that are kept. */
static void cut_stacks_drop_nothing(void **state)
{
	struct walking *x = *state;
	uint32_t pid = map_own_memory(x), top;

	top = outermost(x, walk_from(x, 0, pid, 320), DEEP_FRAMES);
	assert_int_equal(node(x, top)->loc, PROF_MARK_READ_LATE);
	assert_int_equal(frames_kept(x, pid), DEEP_FRAMES - DEEP_INNER);
	outermost(x, changed_sample(x, pid, 9), 11);
	assert_int_equal(frames_kept(x, pid), DEEP_FRAMES - DEEP_INNER);
	outermost(x, changed_sample(x, pid, 1499), 1501);
	assert_int_equal(frames_kept(x, pid), DEEP_FRAMES - DEEP_INNER);
	top = outermost_from(x, 20, walk_from(x, 20, pid, 320),
			     DEEP_FRAMES - 20);
	assert_int_equal(node(x, top)->loc, PROF_MARK_READ_LATE);
}

/* Frames of threads that have ended, and room for deep walks, are given back. */
static void deep_stacks_of_the_dead_are_dropped(void **state)
{
	struct walking *x = *state;
	struct unwinder *w = &x->c.unwinder;
	uint32_t pid = map_own_memory(x), ended = (uint32_t)fork();
	int status;

	if (!ended)
		_exit(0);
	waitpid((pid_t)ended, &status, 0);
	outermost(x, walk_from(x, 0, pid, 320), DEEP_FRAMES);
	assert_true(frames_kept(x, pid) > 0);
	unwinder_release(w);
	assert_true(frames_kept(x, pid) > 0);
	for (size_t i = 0; i < DEEP_THREADS; i++)
		if (w->deep.stacks[i].pid == pid)
			w->deep.stacks[i].pid = w->deep.stacks[i].tid = ended;
	unwinder_release(w);
	assert_int_equal(frames_kept(x, ended), 0);
	outermost(x, walk_from(x, 0, pid, 320), DEEP_FRAMES);
}

/* What is deeper than allowed is cut. */
static void too_deep_stacks_are_cut(void **state)
{
	struct walking *x = *state;
	uint32_t pid = map_own_memory(x), top;

	x->c.unwinder.deep.most = 2 * DEEP_INNER;
	top = outermost(x, walk_from(x, 0, pid, 320), 2 * DEEP_INNER);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	assert_int_equal(end_of(x, top)->reason, PROF_END_TOO_DEEP);
	assert_int_equal(frames_kept(x, pid), DEEP_INNER);
}

static void broken_stacks_report_reason_and_place(void **state)
{
	struct walking *x = *state;
	uint32_t stack, top;
	const struct prof_stack_end *end;

	x->copy[5 * WORDS + 3] = 0x666;	/* no code */
	stack = sample(x, PID, stack_bytes(x), false);
	top = outermost(x, stack, 6);
	assert_int_equal(node(x, top)->loc, PROF_MARK_BROKEN);
	end = end_of(x, top);
	assert_non_null(end);
	assert_int_equal(end->reason, PROF_END_NO_DATA);
	assert_true(end->image < x->p.images.n);
	assert_string_equal(profile_cstr(&x->p,
					 x->p.images.v[end->image].path),
			    "[anon]");
	/* The same again is the same mark. */
	assert_int_equal(sample(x, PID, stack_bytes(x), false), stack);
	assert_int_equal(x->p.ends.n, 1);
}

static void a_stack_that_is_gone(void **state)
{
	struct walking *x = *state;
	uint32_t top = outermost(x, sample(x, PID, 0, true), 1);

	assert_int_equal(node(x, top)->loc, PROF_MARK_BROKEN);
	assert_non_null(end_of(x, top));
}

/* Maps the code of this test, as the kernel tells of it. */
static void map_own_code(struct walking *x)
{
	uint32_t pid = (uint32_t)getpid();
	struct record map = { .kind = RECORD_MMAP, .pid = pid, .tid = pid };
	unsigned long start, end, offset, inode;
	unsigned int major, minor;
	uint64_t own = (uint64_t)(uintptr_t)map_own_code;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], path[256];
	struct timespec now;
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %255s", &start,
			       &end, &offset, &major, &minor, &inode,
			       path) == 7 && own >= start && own < end;
	fclose(f);
	assert_true(found);
	/* a file that is younger than a mapping is not the one that was mapped */
	clock_gettime(CLOCK_MONOTONIC, &now);
	x->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	map.mmap = (struct mapping){
		.start = start, .len = end - start, .offset = offset,
		.dev = makedev(major, minor), .inode = inode, .path = path,
	};
	send(x, &map);
}

/* Tables of programs that nothing runs any more are closed, and made again when a
 * stack leads through them. */
static void unused_tables_are_closed(void **state)
{
	struct walking *x = *state;
	struct record own = a_sample(x, 0, (uint32_t)getpid(), 320, false);
	struct record other = own;

	free(x->c.images.proc);
	x->c.images.proc = strdup("/proc");
	map_own_code(x);
	x->c.unwinder.no_live = true;
	x->c.unwinder.tables.unused_walks = 20;
	own.sample.copy.regs.r[UNWIND_RIP] =
		(uint64_t)(uintptr_t)map_own_code;
	for (int again = 0; again < 2; again++) {
		walk(x, &own);
		assert_int_equal(x->c.unwinder.tables.open, 1);
		x->c.unwinder.tables.kept_bytes = 0;
		for (int i = 0; i < 10; i++)
			walk(x, &other);
		unwinder_idle(&x->c.unwinder);
		assert_int_equal(x->c.unwinder.tables.open, 1);
		for (int i = 0; i < 20; i++)
			walk(x, &other);
		x->c.unwinder.tables.kept_bytes = 1 << 30;
		unwinder_idle(&x->c.unwinder);
		assert_int_equal(x->c.unwinder.tables.open, 1);
		x->c.unwinder.tables.kept_bytes = 0;
		unwinder_idle(&x->c.unwinder);
		assert_int_equal(x->c.unwinder.tables.open, 0);
	}
}

/* Whatever registers and bytes say: an end, and no harm. */
static void noise_ends(void **state)
{
	struct walking *x = *state;

	srand(11);
	x->c.unwinder.no_live = true;
	for (int i = 0; i < 3000; i++) {
		for (size_t k = 0; k < FRAMES * WORDS; k++)
			if (!(rand() % 16))
				x->copy[k] = CODE + (uint64_t)rand() %
						   0x10000;
			else if (!(rand() % 16))
				x->copy[k] = (uint64_t)(uintptr_t)x->live +
						   (uint64_t)rand() % 2100;
		sample(x, PID, (size_t)rand() % (stack_bytes(x) + 1),
		       rand() % 2);
	}
	assert_int_equal(x->c.samples, 3000);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define DEEP(f) cmocka_unit_test_setup_teardown(f, setup_deep, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(whole_stacks_have_no_mark),
		WITH(short_copies_are_cut),
		WITH(deeper_stacks_are_read_later),
		DEEP(cut_stacks_are_not_joined),
		DEEP(cut_stacks_drop_nothing),
		DEEP(deep_stacks_of_the_dead_are_dropped),
		DEEP(too_deep_stacks_are_cut),
		WITH(broken_stacks_report_reason_and_place),
		WITH(a_stack_that_is_gone),
		WITH(unused_tables_are_closed),
		WITH(noise_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
