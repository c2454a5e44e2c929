// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tally/rdpmc.h: made-up pages with a made-up RDPMC, the real instruction where
 * it may fault, and real events read by system calls.
 */
#include "../checks.h"
#include <sys/wait.h>

#include "tally/rdpmc.h"

/* The made-up hardware. */
static struct {
	uint64_t counter[4], tsc;
	uint32_t asked;
	int reads;
	bool faults;
	/* Done by the kernel after the n-th RDPMC of a test. */
	struct perf_event_mmap_page *page;
	int busy;
} hw;

static bool fake_rdpmc(uint32_t counter, uint64_t *out)
{
	hw.asked = counter;
	hw.reads++;
	*out = hw.counter[counter & 3];
	if (hw.busy && hw.page) {
		hw.busy--;
		/* Off the counter and on again, with another start. */
		hw.page->lock += 2;
		hw.page->offset += 1000;
		hw.counter[counter & 3] -= 1000;
	}
	return !hw.faults;
}

static bool fake_tsc(uint32_t counter, uint64_t *out)
{
	(void)counter;
	*out = hw.tsc;
	return !hw.faults;
}

static bool no_rdpmc(uint32_t counter, uint64_t *out)
{
	(void)out;
	fail_msg("RDPMC of counter %u would fault", counter);
	return false;
}

static struct perf_event_mmap_page page_of(uint16_t width, int64_t offset)
{
	struct perf_event_mmap_page p;

	memset(&p, 0, sizeof(p));
	memset(&hw, 0, sizeof(hw));
	p.lock = 8;
	p.index = 3;
	p.offset = offset;
	p.pmc_width = width;
	p.cap_bit0_is_deprecated = 1;
	p.cap_user_rdpmc = 1;
	p.time_enabled = p.time_running = 5000;
	return p;
}

static void counters_are_signed(void **state)
{
	(void)state;
	/* All values by hand: two's complement of 40 and 48 bits. */
	assert_int_equal(tally_pmc_extend(0xffffffff00, 40), -256);
	assert_int_equal(tally_pmc_extend(0x7fffffffff, 40), 0x7fffffffff);
	assert_int_equal(tally_pmc_extend(0x8000000000, 40), -0x8000000000);
	assert_int_equal(tally_pmc_extend(0xfffffffffff6, 48), -10);
	assert_int_equal(tally_pmc_extend(0x7fffffffffff, 48),
			 0x7fffffffffff);
	assert_int_equal(tally_pmc_extend(UINT64_MAX, 64), -1);
	assert_int_equal(tally_pmc_extend(5, 0), 5);
	assert_int_equal(tally_pmc_extend(1, 1), -1);
	/* RDPMC may show more bits than the counter has. */
	assert_int_equal(tally_pmc_extend(0xab00000000000005, 40), 5);
}

static void bare_counters_wrap(void **state)
{
	(void)state;
	assert_int_equal(tally_pmc_delta(0xfffffffffff6, 5, 48), 15);
	assert_int_equal(tally_pmc_delta(0xfffffffff6, 5, 40), 15);
	assert_int_equal(tally_pmc_delta(5, 25, 40), 20);
	assert_int_equal(tally_pmc_delta(UINT64_MAX, 1, 64), 2);
}

static void wrap_between_readings(uint16_t width)
{
	struct perf_event_mmap_page p = page_of(width, 1000);
	struct tally_count a, b;

	hw.counter[2] = (UINT64_C(1) << width) - 10;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &a));
	assert_int_equal(hw.asked, 2);
	assert_int_equal(a.value, 990);
	/* It overflows; the interrupt comes later. */
	hw.counter[2] = 5;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &b));
	assert_int_equal(b.value - a.value, 15);
	/* The kernel adds it up and starts again 100 below zero. */
	p.lock += 2;
	p.offset = 1005 + 100;
	hw.counter[2] = (UINT64_C(1) << width) - 100;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &b));
	assert_int_equal(b.value - a.value, 15);
	hw.counter[2] += 60;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &b));
	assert_int_equal(b.value - a.value, 75);
	assert_int_equal(b.enabled, 5000);
	assert_int_equal(b.running, 5000);
}

static void counters_wrap_at_their_width(void **state)
{
	(void)state;
	wrap_between_readings(40);
	wrap_between_readings(48);
}

static void changed_pages_are_read_again(void **state)
{
	struct perf_event_mmap_page p = page_of(48, 7000);
	struct tally_count c;

	(void)state;
	hw.counter[2] = 50000;
	hw.page = &p;
	hw.busy = 3;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &c));
	assert_int_equal(c.value, 57000);
	assert_int_equal(hw.reads, 4);
	/* One that never rests ends in the system call. */
	hw.busy = 1 << 30;
	assert_false(tally_page_read(&p, fake_rdpmc, fake_tsc, &c));
	hw.busy = 0;
	p.lock |= 1;
	hw.reads = 0;
	assert_false(tally_page_read(&p, fake_rdpmc, fake_tsc, &c));
	assert_int_equal(hw.reads, 0);
}

static void no_rdpmc_where_it_may_fault(void **state)
{
	struct perf_event_mmap_page p = page_of(48, 1);
	struct tally_count c;

	(void)state;
	p.index = 0;
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
	p = page_of(48, 1);
	p.cap_user_rdpmc = 0;
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
	/* Linux before 3.12: the bits meant something else */
	p = page_of(48, 1);
	p.cap_bit0_is_deprecated = 0;
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
	p = page_of(48, 1);
	hw.faults = true;
	assert_false(tally_page_read(&p, fake_rdpmc, fake_tsc, &c));
}

static void shared_counters_report_their_time(void **state)
{
	struct perf_event_mmap_page p = page_of(48, 0);
	struct tally_count c;

	(void)state;
	p.time_enabled = 9000;
	/* No clock to tell how much has passed since. */
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
	p.cap_user_time = 1;
	p.time_shift = 4;
	p.time_mult = 8;		/* half a nanosecond a cycle */
	p.time_offset = (uint64_t)-1000;
	hw.tsc = 2 * 1000 + 2 * 300 + 2;
	assert_true(tally_page_read(&p, fake_rdpmc, fake_tsc, &c));
	/* 2,602 cycles are 1,301 ns, 1,000 of them before the page */
	assert_int_equal(c.enabled, 9301);
	assert_int_equal(c.running, 5301);
	p.time_shift = 64;
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
	p.time_shift = 4;
	hw.faults = true;
	assert_false(tally_page_read(&p, no_rdpmc, fake_tsc, &c));
}

#if defined(__x86_64__) || defined(__i386__)
enum { ROUNDS = 200000 };

/* A kernel on another processor, which writes what always belongs together. */
static void *write_page(void *arg)
{
	volatile struct perf_event_mmap_page *p = arg;

	for (int i = 1; i <= ROUNDS; i++) {
		p->lock++;
		TALLY_BARRIER();
		p->offset = i;
		p->time_enabled = (uint64_t)i;
		p->time_running = (uint64_t)i;
		TALLY_BARRIER();
		p->lock++;
	}
	return NULL;
}

static void readings_belong_together(void **state)
{
	struct perf_event_mmap_page p = page_of(48, 0);
	struct tally_count c;
	pthread_t writer;
	uint64_t last = 0;

	(void)state;
	p.time_enabled = p.time_running = 0;
	assert_int_equal(pthread_create(&writer, NULL, write_page, &p), 0);
	while (last < ROUNDS) {
		if (!tally_page_read(&p, fake_rdpmc, fake_tsc, &c))
			continue;
		assert_int_equal(c.value, c.enabled);
		assert_int_equal(c.value, c.running);
		assert_true(c.value >= last);
		last = c.value;
	}
	pthread_join(writer, NULL);
}

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void catch(int signo)
{
	caught = signo;
	siglongjmp(back, 1);
}

/* cmocka has its own handler in each test: ours, then the guard, over that. */
static void guard_over_ours(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = catch;
	sigaction(SIGSEGV, &sa, NULL);
	caught = 0;
	tally_guard_on = 0;
	assert_int_equal(tally_guard_install(), 0);
}

/* Where CR4.PCE is clear this faults; where it is not, it counts something. */
static void the_instruction_may_fault(void **state)
{
	struct perf_event_mmap_page p = page_of(48, 1);
	struct tally_count c;
	uint64_t v;

	(void)state;
	guard_over_ours();
	if (sigsetjmp(back, 1))
		fail_msg("signal %d reached the program", caught);
	for (int i = 0; i < 1000; i++)
		if (!tally_page_read(&p, tally_rdpmc, tally_tsc, &c))
			break;
	/* A counter that no processor has faults in any case. */
	assert_false(tally_rdpmc(0x00ffffff, &v));
	assert_true(tally_tsc(0, &v));
}

/* Faults of the program, and signals that are sent, are not ours. */
static void other_faults_stay(void **state)
{
	volatile char *forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE |
					MAP_ANONYMOUS, -1, 0);

	(void)state;
	guard_over_ours();
	if (!sigsetjmp(back, 1)) {
		*forbidden = 1;
		fail_msg("no fault");
	}
	assert_int_equal(caught, SIGSEGV);
	caught = 0;
	if (!sigsetjmp(back, 1))
		raise(SIGSEGV);
	assert_int_equal(caught, SIGSEGV);
	munmap((void *)(uintptr_t)forbidden, 4096);
}

/* Without a handler before, the signal kills as ever. */
static void death_stays(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		tally_guard_on = 0;
		tally_guard_install();
		raise(SIGSEGV);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
#endif

static void open_or_skip(struct tally_counter *c, uint64_t config)
{
	if (tally_counter_open(c, PERF_TYPE_SOFTWARE, config, 0) < 0 &&
	    tally_counter_open(c, PERF_TYPE_SOFTWARE, config,
			       TALLY_COUNT_USER) < 0)
		skip_test("perf events are not allowed here");
}

enum { PAGES = 500 };

static void touch_pages(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)p, PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		p[i * size] = 1;
	munmap((void *)(uintptr_t)p, PAGES * size);
}

static void real_events_are_read_by_the_kernel(void **state)
{
	struct tally_counter c;
	struct tally_count a, b;

	(void)state;
	open_or_skip(&c, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(tally_counter_read(&c, &a), 0);
	touch_pages();
	assert_int_equal(tally_counter_read(&c, &b), 0);
	/* The stack may grow meanwhile, and a sanitizer's tables. */
	assert_in_range(b.value - a.value, PAGES, PAGES + 200);
	assert_true(b.running >= a.running && b.running <= b.enabled);
	tally_counter_close(&c);
	assert_int_equal(tally_counter_read(&c, &b), -1);
	assert_int_equal(errno, EBADF);
}

static void *is_direct(void *arg)
{
	return tally_counter_direct(arg) ? arg : NULL;
}

static void only_the_owner_reads_directly(void **state)
{
	struct tally_counter c;
	struct tally_count v;
	pthread_t other;
	void *direct;
	int status;
	pid_t pid;

	(void)state;
	open_or_skip(&c, PERF_COUNT_SW_TASK_CLOCK);
	if (!c.page)
		skip_test("no locked memory for the event's page");
	assert_true(tally_counter_direct(&c));
	assert_int_equal(pthread_create(&other, NULL, is_direct, &c), 0);
	pthread_join(other, &direct);
	assert_null(direct);
	/* The page is not in a child, which reads its parent's event. */
	pid = fork();
	if (!pid)
		_exit(tally_counter_direct(&c) || tally_counter_read(&c, &v));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	tally_counter_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_signed),
		cmocka_unit_test(bare_counters_wrap),
		cmocka_unit_test(counters_wrap_at_their_width),
		cmocka_unit_test(changed_pages_are_read_again),
		cmocka_unit_test(no_rdpmc_where_it_may_fault),
		cmocka_unit_test(shared_counters_report_their_time),
#if defined(__x86_64__) || defined(__i386__)
		cmocka_unit_test(readings_belong_together),
		cmocka_unit_test(the_instruction_may_fault),
		cmocka_unit_test(other_faults_stay),
		cmocka_unit_test(death_stays),
#endif
		cmocka_unit_test(real_events_are_read_by_the_kernel),
		cmocka_unit_test(only_the_owner_reads_directly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
