// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring between tracer and recorder, and what kind of program a command
 * is. */
#include "../checks.h"
#include <elf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/source/clock_event.h"
#include "record/timer/program_kind.h"
#include "record/ptrace/ptrace_ring.h"

enum { RING = 1 << 16 };

struct seen {
	size_t n;
	uint64_t sum, frames;	/* of the bytes of stacks, and of Python's frames */
	char text[64];
	struct record last;
};

static int see(void *ctx, const struct record *r, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	s->n++;
	s->last = *r;
	if (r->kind == RECORD_SAMPLE && r->sample.copied) {
		for (size_t i = 0; i < r->sample.copy.size; i++)
			s->sum += r->sample.copy.bytes[i];
		for (size_t i = 0; i < r->sample.frame_bytes; i++)
			s->frames += r->sample.frames[i];
	}
	if (r->kind == RECORD_MMAP)
		snprintf(s->text, sizeof(s->text), "%s", r->mmap.path);
	return 0;
}

enum { FRAME_BYTE = 7 };

/* What each stack has of Python: some have none. */
static size_t frames_beside(uint8_t byte)
{
	return byte % 4 * 16u;
}

static bool put_stack(struct ptrace_ring *g, size_t size, uint8_t byte)
{
	size_t frames = frames_beside(byte), stack = (size + 7) / 8 * 8;
	struct ptrace_entry *e = ptrace_ring_room(g, stack + frames);

	if (!e)
		return false;
	memset(&e->r, 0, sizeof(e->r));
	e->r.kind = RECORD_SAMPLE;
	e->r.sample.copied = true;
	e->r.sample.copy.size = size;
	e->r.sample.frames = frames ? e->bytes : NULL;
	e->r.sample.frame_bytes = frames;
	memset(e->bytes, byte, size);
	memset(e->bytes + stack, FRAME_BYTE, frames);
	ptrace_ring_commit(g, e, stack + frames);
	return true;
}

static void all_that_goes_in_comes_out(void **state)
{
	struct ptrace_ring g;
	uint64_t damaged = 0, sum = 0, frames = 0;
	struct seen s = { 0 };
	size_t n = 0;

	(void)state;
	assert_int_equal(ptrace_ring_init(&g, RING), 0);
	/* Sizes that never fit the end of the ring alike. */
	for (size_t i = 0; i < 20000; i++) {
		size_t size = i * 7919 % 5000;

		if (!put_stack(&g, size, (uint8_t)i)) {
			assert_int_equal(ptrace_ring_read(&g, &damaged, see, &s,
							  NULL), 0);
			assert_int_equal(ptrace_ring_waiting(&g), 0);
			assert_true(put_stack(&g, size, (uint8_t)i));
		}
		sum += size * (uint8_t)i;
		frames += frames_beside((uint8_t)i) * FRAME_BYTE;
		n++;
	}
	assert_int_equal(ptrace_ring_read(&g, &damaged, see, &s, NULL), 0);
	assert_int_equal(s.n, n);
	assert_int_equal(s.frames, frames);
	assert_int_equal(s.sum, sum);
	assert_int_equal(damaged, 0);
	assert_null(ptrace_ring_room(&g, RING));
	ptrace_ring_fini(&g);
}

enum { WRITTEN = 50000 };

static void *write_all(void *ring)
{
	for (size_t i = 0; i < WRITTEN; i++)
		while (!put_stack(ring, i % 300, 1))
			sched_yield();
	return NULL;
}

static void read_all(struct ptrace_ring *g)
{
	uint64_t damaged = 0;
	struct seen s = { 0 };

	while (s.n < WRITTEN) {
		assert_int_equal(ptrace_ring_read(g, &damaged, see, &s, NULL), 0);
		sched_yield();
	}
	assert_int_equal(damaged, 0);
}

static void another_process_writes(void **state)
{
	struct ptrace_ring g;
	int status;
	pid_t p;

	(void)state;
	assert_int_equal(ptrace_ring_init(&g, RING), 0);
	p = fork();
	assert_true(p >= 0);
	if (!p) {
		write_all(&g);
		_exit(0);
	}
	read_all(&g);
	waitpid(p, &status, 0);
	assert_int_equal(status, 0);
	ptrace_ring_fini(&g);
}

/* A sanitizer for threads does not see what processes share. */
static void another_thread_writes(void **state)
{
	struct ptrace_ring g;
	pthread_t t;

	(void)state;
	assert_int_equal(ptrace_ring_init(&g, RING), 0);
	assert_int_equal(pthread_create(&t, NULL, write_all, &g), 0);
	read_all(&g);
	pthread_join(t, NULL);
	ptrace_ring_fini(&g);
}

static void text_is_taken_along(void **state)
{
	struct ptrace_ring g;
	uint64_t damaged = 0;
	struct seen s = { 0 };
	struct ptrace_entry *e;

	(void)state;
	assert_int_equal(ptrace_ring_init(&g, RING), 0);
	e = ptrace_ring_room(&g, 6);
	memset(&e->r, 0, sizeof(e->r));
	e->r.kind = RECORD_MMAP;
	memcpy(e->bytes, "/path", 6);
	ptrace_ring_commit(&g, e, 6);
	assert_int_equal(ptrace_ring_read(&g, &damaged, see, &s, NULL), 0);
	assert_string_equal(s.text, "/path");
	ptrace_ring_fini(&g);
}

/* What cannot be is counted, not believed. */
static void damage_is_seen(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 7, 12, RING * 2, UINT64_MAX };
	struct ptrace_ring g;
	struct seen s = { 0 };
	struct ptrace_entry *e;
	uint64_t damaged;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(ptrace_ring_init(&g, RING), 0);
		damaged = 0;
		assert_true(put_stack(&g, 64, 1));
		((struct ptrace_entry *)(void *)g.data)->size = sizes[i];
		assert_int_equal(ptrace_ring_read(&g, &damaged, see, &s, NULL),
				 0);
		assert_true(damaged > 0);
		assert_int_equal(ptrace_ring_waiting(&g), 0);
		ptrace_ring_fini(&g);
	}
	assert_int_equal(ptrace_ring_init(&g, RING), 0);
	damaged = 0;
	assert_true(put_stack(&g, 64, 1));
	((struct ptrace_entry *)(void *)g.data)->r.sample.copy.size = 65;
	assert_true(put_stack(&g, 64, 1));
	/* Frames that end behind the entry; a stack without a size. */
	for (size_t i = 0; i < 3; i++) {
		e = ptrace_ring_room(&g, 80);
		memset(&e->r, 0, sizeof(e->r));
		e->r.kind = RECORD_SAMPLE;
		e->r.sample.copied = true;
		e->r.sample.copy.size = i == 2 ? SIZE_MAX : 64;
		e->r.sample.frames = e->bytes;
		e->r.sample.frame_bytes = i ? SIZE_MAX : 17;
		ptrace_ring_commit(&g, e, 80);
	}
	/* Text without end. */
	e = ptrace_ring_room(&g, 8);
	memset(&e->r, 0, sizeof(e->r));
	e->r.kind = RECORD_COMM;
	memset(e->bytes, 'a', 8);
	ptrace_ring_commit(&g, e, 8);
	assert_int_equal(ptrace_ring_read(&g, &damaged, see, &s, NULL), 0);
	assert_int_equal(s.n, 1);
	assert_true(damaged > 0);
	ptrace_ring_fini(&g);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

struct program {
	Elf64_Ehdr h;
	Elf64_Phdr p;
	char linker[40];
};

static struct program program_with(const char *linker)
{
	struct program x = { .h = { .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 1,
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_machine = EM_X86_64 } };

	memcpy(x.h.e_ident, ELFMAG, SELFMAG);
	x.h.e_ident[EI_CLASS] = ELFCLASS64;
	x.p.p_type = linker ? PT_INTERP : PT_LOAD;
	x.p.p_offset = offsetof(struct program, linker);
	x.p.p_filesz = linker ? strlen(linker) + 1 : 0;
	snprintf(x.linker, sizeof(x.linker), "%s", linker ? linker : "");
	return x;
}

static void kind_is(const char *path, const char *why)
{
	struct error err = { 0 };
	int r = program_is_dynamic(path, &err);

	if (!why) {
		assert_int_equal(r, 0);
	} else {
		assert_true(r < 0);
		assert_non_null(strstr(err.msg, why));
	}
}

static void kinds_of_programs(void **state)
{
	char dir[] = "/tmp/tally-kind.XXXXXX", path[64], text[96];
	struct program x = program_with("/lib64/ld-linux-x86-64.so.2");

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/p", dir);
	write_file(path, &x, sizeof(x));
	kind_is(path, NULL);
	/* A script is what runs it. */
	snprintf(text, sizeof(text), "#! %s -x\n", path);
	snprintf(path, sizeof(path), "%s/s", dir);
	write_file(path, text, strlen(text));
	kind_is(path, NULL);
	snprintf(text, sizeof(text), "#!%s", path);
	write_file(path, text, strlen(text));
	kind_is(path, "script of scripts");
	x = program_with("/lib/ld-musl-x86_64.so.1");
	write_file(path, &x, sizeof(x));
	kind_is(path, "another C library");
	x = program_with(NULL);
	write_file(path, &x, sizeof(x));
	kind_is(path, "statically linked");
	x.h.e_machine = EM_386;
	write_file(path, &x, sizeof(x));
	kind_is(path, "another architecture");
	x = program_with("/lib64/ld-linux-x86-64.so.2");
	x.p.p_offset = UINT64_MAX - 4;
	write_file(path, &x, sizeof(x));
	kind_is(path, "another C library");
	x.h.e_phoff = UINT64_MAX - 8;
	write_file(path, &x, sizeof(x));
	kind_is(path, "statically linked");
	write_file(path, "\177ELF", 4);
	kind_is(path, "not an ELF");
	assert_int_equal(chmod(path, 0644), 0);
	kind_is(path, "no command");
	assert_int_equal(unlink(path), 0);
	kind_is(path, "no command");
	snprintf(path, sizeof(path), "%s/p", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void the_one_event(void **state)
{
	struct event_list l = { 0 };
	struct source_options o = { .events = &l, .freq = 999 };
	struct source_event e;
	struct error err;

	(void)state;
	assert_int_equal(events_parse("cpu-clock:u", "/sys", &l, &err), 0);
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.freq, 999);
	assert_int_equal(e.period, 1001001);
	assert_true(e.exclude_kernel && !e.exclude_user && e.is_time);
	o.period = 500000;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.freq, 0);
	assert_int_equal(e.period, 500000);
	assert_int_equal(clock_event_samples(&e, 1e9), 2000);
	o.period = 1900000000;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.period, 1900000000);
	assert_int_equal(clock_event_samples(&e, 1e10), 5);
	assert_string_equal(e.note, "");
	o.period = UINT64_MAX;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.period, 1000000000000000);
	assert_string_equal(e.note, "period lowered to 1000000 s");
	o.period = 99999;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.period, 100000);
	assert_string_equal(e.note, "rate lowered to 10000 Hz");
	o.period = 1;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_int_equal(e.freq, 10000);
	assert_string_equal(e.note, "rate lowered to 10000 Hz");
	o.kernel_only = true;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err),
			 -ERR_USAGE);
	o.kernel_only = false;
	assert_int_equal(events_parse("page-faults", "/sys", &l, &err), 0);
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err),
			 -ERR_UNSUPPORTED);
	event_list_fini(&l);
}

static struct event_spec clock_spec(void)
{
	return (struct event_spec){ .text = "task-clock", .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_TASK_CLOCK };
}

/* What an event says of its rate goes before what the command says. */
static void the_rate_of_the_one_event(void **state)
{
	enum { MOST = 10000, PERIOD = 500000 };
	static const struct {
		uint64_t own_freq, own_period, freq, period;	/* wanted */
		uint64_t is_freq, is_period;
		bool cycles;
	} cases[] = {
		{ 0, 0, 999, PERIOD, 0, PERIOD, false },
		{ 200, 0, 999, PERIOD, 200, 5000000, false },
		{ 200, 0, 999, 0, 200, 5000000, false },
		{ 0, 400000, 999, PERIOD, 0, 400000, false },
		{ 0, 0, MOST, 0, MOST, 100000, false },
		{ 0, 0, 0, 100000, 0, 100000, false },
		/* A number of cycles is no time. */
		{ 0, 0, 200, 1000000, 999, 1001001, true },
		{ 0, 0, 200, 0, 200, 5000000, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec spec = clock_spec();
		struct event_list l = { &spec, 1, 1 };
		struct source_options o = { .events = &l, .freq = cases[i].freq,
					    .period = cases[i].period };
		struct source_event e;
		struct error err;

		if (cases[i].cycles) {
			spec.type = PERF_TYPE_HARDWARE;
			spec.config = PERF_COUNT_HW_CPU_CYCLES;
		}
		spec.freq = cases[i].own_freq;
		spec.period = cases[i].own_period;
		assert_int_equal(clock_event_fill(&o, "x", MOST, &e, &err), 0);
		assert_int_equal(e.freq, cases[i].is_freq);
		assert_int_equal(e.period, cases[i].is_period);
		assert_string_equal(e.note, "");
		assert_int_equal(e.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(e.config, cases[i].cycles ? PERF_COUNT_SW_CPU_CLOCK
							   : PERF_COUNT_SW_TASK_CLOCK);
	}
}

static void another_event_is_refused_if_it_was_named(void **state)
{
	struct event_spec spec = { .text = "page-faults", .type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_PAGE_FAULTS };
	struct event_list l = { &spec, 1, 1 };
	struct source_options o = { .events = &l, .freq = 999, .user_only = true };
	struct source_event e;
	struct error err;

	(void)state;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err),
			 -ERR_UNSUPPORTED);
	o.default_event = true;
	assert_int_equal(clock_event_fill(&o, "x", 10000, &e, &err), 0);
	assert_string_equal(e.actual, "cpu-clock");
	assert_true(e.exclude_kernel && !e.exclude_user);
}

static void waits_have_events_of_their_own(void **state)
{
	struct source_event seen[CLOCK_EVENTS];
	struct source_options o = { .waits = true };
	struct source s = { .nevents = 0 };

	(void)state;
	clock_events_set(&o, seen, &s);
	assert_true(s.waits && s.wait_polls);
	assert_int_equal(s.nevents, 3);
	assert_string_equal(seen[s.blocked].name, "blocked");
	assert_string_equal(seen[s.runnable].name, "runnable");
	o.waits = false;
	clock_events_set(&o, seen, &s);
	assert_int_equal(s.nevents, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_goes_in_comes_out),
		cmocka_unit_test(another_process_writes),
		cmocka_unit_test(another_thread_writes),
		cmocka_unit_test(text_is_taken_along),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(kinds_of_programs),
		cmocka_unit_test(the_one_event),
		cmocka_unit_test(the_rate_of_the_one_event),
		cmocka_unit_test(another_event_is_refused_if_it_was_named),
		cmocka_unit_test(waits_have_events_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
