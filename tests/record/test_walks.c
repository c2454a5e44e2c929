// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copied stacks through the collector into the profile.  The code is anonymous
 * memory, which has no tables: frame pointers lead through it (System V psABI,
 * 3.2.2), so that a stack can be written down here word by word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/collector.h"

enum { FRAMES = 64, WORDS = 4, PID = 7 };
#define CODE 0x10000000ull

/* Frame i: [2] saved rbp, [3] return address; the words below are locals. */
struct stack {
	uint64_t words[FRAMES * WORDS];
};

struct walking {
	struct profile p;
	struct collector c;
	struct error err;
	struct stack *live;	/* the program's memory: ours */
	struct stack copy;
	uint64_t time;
};

static uint64_t return_address(size_t frame)
{
	return CODE + 0x101 + 16 * frame;
}

static void stack_fill(struct stack *s, uint64_t at)
{
	for (size_t i = 0; i < FRAMES; i++) {
		uint64_t *f = s->words + i * WORDS;
		bool last = i == FRAMES - 1;

		f[0] = f[1] = i;
		f[2] = last ? 0 : at + 8 * ((i + 1) * WORDS + 2);
		f[3] = last ? 0 : return_address(i);
	}
}

static void send(struct walking *x, struct record *rec)
{
	rec->time_ns = ++x->time;
	if (collector_record(&x->c, rec, &x->err) < 0)
		fail_msg("%s", x->err.msg);
}

static int setup(void **state)
{
	struct walking *x = calloc(1, sizeof(*x));
	struct record map = { .kind = RECORD_MMAP, .pid = PID, .tid = PID };

	if (!x || profile_init(&x->p) < 0 ||
	    collector_init(&x->c, &x->p, "/nonexistent", "/nonexistent",
			   &x->err) < 0)
		return -1;
	x->c.nevents = 1;
	x->live = calloc(1, sizeof(*x->live));
	stack_fill(x->live, (uint64_t)(uintptr_t)x->live);
	x->copy = *x->live;
	map.mmap = (struct record_mmap){ .start = CODE, .len = 0x10000,
					 .path = "//anon" };
	send(x, &map);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct walking *x = *state;

	collector_fini(&x->c);
	profile_fini(&x->p);
	free(x->live);
	free(x);
	return 0;
}

/* A sample of a thread in the innermost frame, with `n` bytes of its stack.
 * Returns its node: samples go nowhere, but heat tells the location. */
static uint32_t sample(struct walking *x, uint32_t pid, size_t n, bool all)
{
	struct record r = { .kind = RECORD_SAMPLE, .pid = pid, .tid = pid };
	struct unwind_regs *regs = &r.sample.copy.regs;
	uint64_t at = (uint64_t)(uintptr_t)x->live;
	struct record_sample s;
	struct process *proc;
	uint32_t loc;

	r.sample.copied = true;
	r.sample.copy.bytes = (const uint8_t *)&x->copy;
	r.sample.copy.size = n;
	r.sample.copy.all = all;
	regs->r[UNWIND_RIP] = CODE + 0x50;
	regs->r[UNWIND_RSP] = at;
	regs->r[UNWIND_RBP] = at + 16;
	regs->known = (1u << UNWIND_REGS) - 1;
	send(x, &r);
	s = r.sample;
	proc = processes_get(&x->c.processes, pid);
	walks_sample(&x->c.walks, proc->maps, pid, pid, &s);
	return stacks_add(&x->c.stacks, proc->maps, &s, &loc);
}

static const struct prof_node *node(const struct walking *x, uint32_t i)
{
	return &x->p.nodes.v[i];
}

/* Frames from the inside, which all must be as the stack has them; returns the
 * outermost node: a mark, or a child of the root. */
static uint32_t outermost(const struct walking *x, uint32_t stack, size_t frames)
{
	size_t i = 0;

	for (;; i++, stack = node(x, stack)->parent) {
		uint32_t loc = node(x, stack)->loc;

		if (prof_is_mark(loc))
			break;
		assert_int_equal(x->p.locs.v[loc].vaddr,
				 i ? return_address(i - 1) - 1 : CODE + 0x50);
		if (!node(x, stack)->parent) {
			i++;
			break;
		}
	}
	assert_int_equal(i, frames);
	return stack;
}

static const struct prof_end *end_of(const struct walking *x, uint32_t mark)
{
	for (size_t i = 0; i < x->p.ends.n; i++)
		if (x->p.ends.v[i].node == mark)
			return &x->p.ends.v[i];
	return NULL;
}

static void whole_stacks_have_no_mark(void **state)
{
	struct walking *x = *state;
	uint32_t top = outermost(x, sample(x, PID, sizeof(x->copy), false),
				 FRAMES);

	assert_int_equal(node(x, top)->parent, 0);
	assert_false(prof_is_mark(node(x, top)->loc));
	assert_int_equal(x->c.samples, 1);
}

static void short_copies_are_cut(void **state)
{
	struct walking *x = *state;
	uint32_t top;

	x->c.walks.no_live = true;
	/* 10 frames whole, and one whose words are not all there */
	top = outermost(x, sample(x, PID, 10 * 8 * WORDS + 8, false), 11);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	assert_null(end_of(x, top));
}

/* Our own memory is the program's: what is behind the copy is read from it. */
static void deeper_stacks_are_read_later(void **state)
{
	struct walking *x = *state;
	struct record map = { .kind = RECORD_MMAP };
	uint32_t pid = (uint32_t)getpid(), top;

	map.pid = map.tid = pid;
	map.mmap = (struct record_mmap){ .start = CODE, .len = 0x10000,
					 .path = "//anon" };
	send(x, &map);
	top = outermost(x, sample(x, pid, 10 * 8 * WORDS, false), FRAMES);
	if (live_refused(&x->c.walks.live, pid))
		skip();		/* process_vm_readv is not for us here */
	assert_int_equal(node(x, top)->loc, PROF_MARK_LATER);
	/* The last frames in the copy have returned since. */
	x->live->words[9 * WORDS + 3] = return_address(3);
	collector_rest(&x->c, ++x->time, &x->err);
	top = outermost(x, sample(x, pid, 10 * 8 * WORDS, false), 11);
	assert_int_equal(node(x, top)->loc, PROF_MARK_CUT);
	assert_int_equal(x->c.walks.cut, 4);	/* each sample twice */
}

static void broken_stacks_tell_why_and_where(void **state)
{
	struct walking *x = *state;
	uint32_t stack, top;
	const struct prof_end *end;

	x->copy.words[5 * WORDS + 3] = 0x666;	/* no code */
	stack = sample(x, PID, sizeof(x->copy), false);
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
	assert_int_equal(sample(x, PID, sizeof(x->copy), false), stack);
	assert_int_equal(x->p.ends.n, 1);
}

static void a_stack_that_is_gone(void **state)
{
	struct walking *x = *state;
	uint32_t top = outermost(x, sample(x, PID, 0, true), 1);

	assert_int_equal(node(x, top)->loc, PROF_MARK_BROKEN);
	assert_non_null(end_of(x, top));
}

/* Whatever registers and bytes say: an end, and no harm. */
static void noise_ends(void **state)
{
	struct walking *x = *state;

	srand(11);
	x->c.walks.no_live = true;
	for (int i = 0; i < 3000; i++) {
		for (size_t k = 0; k < FRAMES * WORDS; k++)
			if (!(rand() % 16))
				x->copy.words[k] = CODE + (uint64_t)rand() %
						   0x10000;
			else if (!(rand() % 16))
				x->copy.words[k] = (uint64_t)(uintptr_t)x->live +
						   (uint64_t)rand() % 2100;
		sample(x, PID, (size_t)rand() % (sizeof(x->copy) + 1),
		       rand() % 2);
	}
	assert_int_equal(x->c.samples, 3000);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(whole_stacks_have_no_mark),
		WITH(short_copies_are_cut),
		WITH(deeper_stacks_are_read_later),
		WITH(broken_stacks_tell_why_and_where),
		WITH(a_stack_that_is_gone),
		WITH(noise_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
