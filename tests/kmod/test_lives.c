// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lives of recordings in the kernel module: its own session.c, waits.c, ring.c, count.c,
 * pmu.c and timer.c on the fake kernel, through every state that two recordings, perf, a sleeping
 * machine and a processor that comes and goes can bring about.
 *
 * The walk goes breadth first over all states; to enter one, the events that led
 * there are repeated from the start.  After each event the machine must be as the
 * model here, which knows nothing of the module, says.
 */
#include "../checks.h"
#include "fake_machine.h"

#define PERIOD 100000u

/* ---- the model ---- */

#define SESSIONS 2

struct model {
	/* 0: not there, else the source that was set up */
	u32 source[SESSIONS];
	bool threads[SESSIONS];		/* records threads, not everything */
	bool waits[SESSIONS];		/* and their waits */
	bool started[SESSIONS];
	bool asleep, perf, online1;
	bool ours[NR_CPUS];		/* a thread that is recorded runs there */
};

enum {
	OPEN_PMU, OPEN_TIMER, OPEN_THREADS, OPEN_THREADS_TIMER, OPEN_WAITS,
	START, STOP, TAKE, CLOSE, OF_SESSION,
};
enum {
	SLEEP = SESSIONS * OF_SESSION, WAKE, DOWN, UP, PERF_TAKES, PERF_LEAVES,
	SWITCH_0, SWITCH_1,
	EVENTS,
};

static struct model m;
static struct session *s[SESSIONS];
static u64 taken[SESSIONS];	/* samples that were added up and taken */
static u64 switches[SESSIONS][NR_CPUS];	/* that must be in the rings of waits */

bool tasks_current(struct session *session)
{
	(void)session;
	return m.ours[fake_cpu];
}

static bool others_hold(unsigned int but)
{
	bool held = m.perf;

	for (unsigned int i = 0; i < SESSIONS; i++)
		held |= i != but && m.source[i] == TALLY_PMU_K8 && m.started[i];
	return held;
}

static void open_session(unsigned int i, u32 source, bool threads, bool waits,
			 u8 event)
{
	struct tally_setup u = {
		.size = sizeof(u), .source = source, .nevents = 1,
		.flags = TALLY_SETUP_CHAIN | TALLY_SETUP_STACKS |
			 TALLY_SETUP_COUNT | (threads ? TALLY_SETUP_TASKS : 0) |
			 (waits ? TALLY_SETUP_WAITS | TALLY_SETUP_WAKES : 0),
		.max_chain = 1, .wait_bytes = waits ? TALLY_RING_MIN : 0,
		.ring_bytes = TALLY_RING_MIN, .watermark = 1,
		.events[0] = { .period = PERIOD, .flags = TALLY_EVENT_USER,
			       .event = event },
	};

	s[i] = session_new();
	assert_non_null(s[i]);
	fake_check(!session_setup(s[i], &u, &fake_possible, NULL), "no setup");
	m.source[i] = source;
	m.threads[i] = threads;
	m.waits[i] = waits;
	taken[i] = 0;
	memset(switches[i], 0, sizeof(switches[i]));
}

static void start(unsigned int i)
{
	bool pmu = m.source[i] == TALLY_PMU_K8;
	int want = m.started[i] ? -EBADFD : pmu && others_hold(i) ? -EBUSY : 0;
	int got = session_start(s[i]);

	fake_check(got == want, "START answers something else");
	m.started[i] |= !want;
}

static void stop(unsigned int i)
{
	int got = session_stop(s[i]);

	fake_check(got == (m.started[i] ? 0 : -EBADFD),
		   "STOP answers something else");
	m.started[i] = false;
}

/* After this, all samples so far were taken, also those of a processor that is gone. */
static void take(unsigned int i)
{
	static struct tally_count got[TALLY_COUNTS_MAX];
	struct tally_stats all = { 0 };

	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		u32 n = 99;

		if (!s[i]->cpu[cpu])
			continue;
		fake_check(!counts_take(s[i], cpu, got, &n), "nothing is taken");
		fake_check(n <= 1, "equal samples are apart");
		for (u32 k = 0; k < n; k++) {
			fake_check(got[k].cpu == cpu, "another processor's");
			taken[i] += got[k].n;
		}
	}
	session_stats(s[i], TALLY_ALL_CPUS, &all);
	fake_check(all.events[0].samples == taken[i] && all.counted == taken[i],
		   "samples are missing, or taken twice");
}

/* What processors hold is lost when they lose power. */
static void power_off(unsigned int cpu)
{
	machine_init(&cpus[cpu], MODEL_K8);
	lvtpc[cpu] = APIC_DM_NMI;
}

static void cpu_goes(unsigned int cpu)
{
	fake_cpu = cpu;
	fake_cpu_down(cpu);
	fake_cpu = 0;
	fake_online.bits &= ~(1ul << cpu);
	power_off(cpu);
}

static void cpu_comes(unsigned int cpu)
{
	fake_online.bits |= 1ul << cpu;
	fake_cpu = cpu;
	fake_cpu_up(cpu);
	fake_cpu = 0;
}

static bool possible(unsigned int e)
{
	unsigned int i = e / OF_SESSION;

	if (e < SLEEP)
		return (e % OF_SESSION < START) == !m.source[i];
	switch (e) {
	case SLEEP:
		return !m.asleep;
	case WAKE:
		return m.asleep;
	case DOWN:
		return m.online1;
	case UP:
		return !m.online1;
	case PERF_TAKES:
		return !others_hold(SESSIONS);
	case PERF_LEAVES:
		return m.perf;
	default:
		return e == SWITCH_0 || m.online1;
	}
}

static void session_event(unsigned int i, unsigned int e)
{
	switch (e) {
	case OPEN_PMU:
	case OPEN_THREADS:
		open_session(i, TALLY_PMU_K8, e == OPEN_THREADS, false, 0x76);
		break;
	case OPEN_TIMER:
	case OPEN_THREADS_TIMER:
	case OPEN_WAITS:
		open_session(i, TALLY_TIMER, e != OPEN_TIMER, e == OPEN_WAITS,
			     0);
		break;
	case START:
		start(i);
		break;
	case STOP:
		stop(i);
		break;
	case TAKE:
		take(i);
		break;
	default:
		session_free(s[i]);
		s[i] = NULL;
		m.source[i] = 0;
		m.started[i] = m.threads[i] = m.waits[i] = false;
	}
}

static void perf_event(bool takes)
{
	for (u32 i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (takes)
			fake_check(reserve(i), "perf finds counters taken");
		else
			release(i);
	}
	m.perf = takes;
}

/* Takes all that is in a ring. */
static void empty(struct cpu_state *c)
{
	c->ring->tail = c->head;
}

/* Are the waits of a recording recorded there? */
static bool waits(unsigned int i, unsigned int cpu)
{
	return m.waits[i] && m.started[i] && !m.asleep &&
	       (cpu == 0 || m.online1);
}

/* The scheduler's tracepoint: another thread gets the processor. */
static void threads_switch(unsigned int cpu)
{
	fake_current = m.ours[cpu] ? &our : &other;
	m.ours[cpu] = !m.ours[cpu];
	fake_cpu = cpu;
	for (unsigned int i = 0; i < SESSIONS; i++) {
		if (!m.source[i])
			continue;
		if (m.waits[i] && s[i]->waits[cpu])
			empty(s[i]->waits[cpu]);
		waits_switched(s[i], fake_current,
			       m.ours[cpu] ? &our : &other, 0);
		switches[i][cpu] += waits(i, cpu);
		if (m.threads[i])
			session_switch(s[i], m.ours[cpu]);
	}
	fake_current = &other;
	fake_cpu = 0;
}

static void happen(unsigned int e)
{
	static const char *const names[] = {
		"open counters", "open timer", "open counters of threads",
		"open timer of threads", "open waits", "start", "stop", "take", "close",
		"sleep", "wake", "cpu 1 goes", "cpu 1 comes", "perf takes",
		"perf leaves", "a switch on cpu 0", "a switch on cpu 1",
	};
	size_t n = strlen(path);

	if (e < SLEEP)
		snprintf(path + n, sizeof(path) - n, ", %u: %s",
			 e / OF_SESSION, names[e % OF_SESSION]);
	else
		snprintf(path + n, sizeof(path) - n, ", %s",
			 names[e - SLEEP + OF_SESSION]);
	if (e < SLEEP) {
		session_event(e / OF_SESSION, e % OF_SESSION);
	} else if (e == SLEEP || e == WAKE) {
		fake_pm->notifier_call(fake_pm, e == SLEEP ? PM_SUSPEND_PREPARE
				       : PM_POST_SUSPEND, NULL);
		m.asleep = e == SLEEP;
		if (m.asleep)
			power_off(0);
		if (m.asleep && m.online1)
			power_off(1);
	} else if (e == DOWN || e == UP) {
		(e == DOWN ? cpu_goes : cpu_comes)(1);
		m.online1 = e == UP;
		m.ours[1] = false;
	} else if (e >= SWITCH_0) {
		threads_switch(e - SWITCH_0);
	} else {
		perf_event(e == PERF_TAKES);
	}
}

/* ---- what must hold ---- */

static bool samples(unsigned int i, unsigned int cpu)
{
	return m.started[i] && !m.asleep && (cpu == 0 || m.online1) &&
	       (!m.threads[i] || m.ours[cpu]);
}

static void check_timers(void)
{
	unsigned int want[NR_CPUS] = { 0 }, got[NR_CPUS] = { 0 };

	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		for (unsigned int i = 0; i < SESSIONS; i++)
			want[cpu] += m.source[i] == TALLY_TIMER &&
				     samples(i, cpu);
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		got[timers[i] ? timers[i]->cpu : 0] += timers[i] != NULL;
	fake_check(got[0] == want[0] && got[1] == want[1],
		   "other timers run than should");
}

/* Each switch on a processor that is recorded is in its ring, and no other one. */
static void check_waits(void)
{
	for (unsigned int i = 0; i < SESSIONS; i++)
		for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
			const struct cpu_state *c = m.source[i]
						    ? s[i]->waits[cpu] : NULL;

			fake_check(c || !waits(i, cpu), "no ring of waits");
			if (!c)
				continue;
			fake_check(m.waits[i], "a ring of waits for nothing");
			fake_check(c->running == waits(i, cpu),
				   "waits are recorded, or not, where they should not, or should");
			fake_check(c->waits.switches == switches[i][cpu] &&
				   !c->waits.switches_lost,
				   "other switches are recorded than there were");
		}
}

/* Counts until the counter of `cpu` overflows; the sample must get to session i. */
static void check_sample(unsigned int i, unsigned int cpu)
{
	struct tally_event_stats *st = &s[i]->cpu[cpu]->ev[0].stats;
	u64 before = st->samples;
	u32 nmis = cpus[cpu].nmis;

	machine_count(&cpus[cpu], PERIOD, true);
	fake_check(cpus[cpu].nmis == nmis + 1, "a counter brings no NMI");
	fake_cpu = cpu;
	nmi();
	fake_cpu = 0;
	fake_check(st->samples == before + 1, "an NMI brings no sample");
}

static void check_counters(void)
{
	unsigned int holder = SESSIONS;
	bool held = false;

	for (unsigned int i = 0; i < SESSIONS; i++)
		if (m.source[i] == TALLY_PMU_K8 && m.started[i])
			holder = i;
	held = holder < SESSIONS || m.perf;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		fake_check(reserved[i] == held,
			   "counters are reserved by somebody else");
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		bool counts = false;

		for (unsigned int k = 0; k < PMU_COUNTERS_MAX; k++)
			counts |= machine_runs(&cpus[cpu], k);
		fake_check(counts == (holder < SESSIONS && samples(holder, cpu)),
			   "counters run, or not, where they should not, or do");
		if (counts)
			check_sample(holder, cpu);
	}
}

/* ---- the walk ---- */

#define STATES 8192

struct step {
	struct model is;
	size_t from;		/* its index in the table */
	unsigned int event;
};
static struct step seen[STATES];
static size_t nseen;

/* The machine as at boot, the module as loaded. */
static void reset(void)
{
	for (unsigned int i = 0; i < SESSIONS; i++)
		if (s[i])
			session_free(s[i]);
	if (m.asleep)
		fake_pm->notifier_call(fake_pm, PM_POST_SUSPEND, NULL);
	memset(s, 0, sizeof(s));
	memset(reserved, 0, sizeof(reserved));
	memset(&m, 0, sizeof(m));
	m.online1 = true;
	fake_online.bits = 3;
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		power_off(cpu);
	fake_check(!fake_blocks, "memory is left behind");
	fake_check(!fake_user.locked_vm.n, "memory stays charged");
	fake_check(!watchers[0] && !watchers[1],
		   "the scheduler is still watched");
	path[0] = 0;
}

static void enter(size_t state)
{
	unsigned int events[STATES];
	size_t n = 0;

	reset();
	for (; state; state = seen[state].from)
		events[n++] = seen[state].event;
	while (n)
		happen(events[--n]);
}

static void note(size_t from, unsigned int event)
{
	for (size_t i = 0; i < nseen; i++)
		if (!memcmp(&seen[i].is, &m, sizeof(m)))
			return;
	assert_true(nseen < STATES);
	seen[nseen++] = (struct step){ m, from, event };
}

static void every_state_and_event(void **state)
{
	size_t steps = 0;

	(void)state;
	reset();
	note(0, 0);
	for (size_t at = 0; at < nseen; at++) {
		bool there = false;

		for (unsigned int e = 0; e < EVENTS; e++) {
			if (!there)
				enter(at);
			there = !possible(e);
			if (there)
				continue;
			happen(e);
			check_timers();
			check_counters();
			check_waits();
			note(at, e);
			steps++;
		}
	}
	reset();
	printf("# %zu states, %zu steps\n", nseen, steps);
	/* 5 lives a recording, one fewer pair as counters have one owner; asleep
	 * or not, one processor or two, perf holds the counters or nobody. */
	assert_true(nseen > 100);
}

/* The state that the module keeps may differ between two ways to one state of the
 * model: long walks at random. */
static void random_walks(void **state)
{
	unsigned int seed = 1;

	(void)state;
	reset();
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int e;

		seed = seed * 1103515245 + 12345;
		e = (seed >> 16) % EVENTS;
		if (!possible(e))
			continue;
		if (strlen(path) > 1000)
			memmove(path, path + 500, strlen(path + 500) + 1);
		happen(e);
		check_timers();
		check_counters();
		check_waits();
	}
	reset();
}

static void counts_bridge(bool on0, bool on1)
{
	fake_check(machine_runs(&cpus[0], 0) == on0 &&
		   machine_runs(&cpus[1], 0) == on1,
		   "northbridge events are counted by another core");
}

/* BKDG §10.1: one core of a node counts the events of its northbridge. */
static void one_core_counts_the_northbridge(void **state)
{
	(void)state;
	assert_int_equal(sessions_init(), 0);
	pmu_init();
	reset();
	open_session(0, TALLY_PMU_K8, false, false, 0xe0);
	start(0);
	counts_bridge(true, false);
	check_sample(0, 0);
	cpu_goes(0);
	counts_bridge(false, true);
	check_sample(0, 1);
	cpu_comes(0);
	counts_bridge(false, true);
	cpu_goes(1);
	counts_bridge(true, false);
	check_sample(0, 0);
	cpu_comes(1);
	counts_bridge(true, false);
	stop(0);
	counts_bridge(false, false);
	start(0);
	counts_bridge(true, false);
	reset();
}

/* The NMI of an overflow arrives as the recording stops, or as the next one starts, of
 * which it is no sample. */
static void nmis_arrive_late(void **state)
{
	unsigned int i, left;

	(void)state;
	for (i = 1, left = 0; !left; i++) {
		reset();
		open_session(0, TALLY_PMU_K8, false, false, 0x76);
		open_session(1, TALLY_PMU_K8, false, false, 0x76);
		start(0);
		/* None is expected any more. */
		now += 2ull * PMU_LATE_NS;
		machine_count(&cpus[0], PERIOD, true);
		nmi_in = i;
		stop(0);
		start(1);
		assert_int_equal(s[1]->cpu[0]->ev[0].stats.samples, 0);
		left = nmi_in;
		nmi_in = 0;
	}
	assert_true(i > 20);
	reset();
}

/* A kernel whose clock is no better than its tick looks at timers at each tick only, and
 * forwards them by a tick at least.  All of the time is counted, and each period has a
 * sample or is missed. */
static void timers_as_coarse_as_the_tick(void **state)
{
	enum { TICKS = 1000, TICK = 40 * PERIOD };
	static const ktime_t resolutions[] = { 1, TICK };
	static struct fake_regs { long sp; } regs;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(resolutions); i++) {
		const struct tally_event_stats *got;
		struct hrtimer *t;

		reset();
		timer_resolution = resolutions[i];
		fake_irq_regs = (struct pt_regs *)&regs;
		open_session(0, TALLY_TIMER, false, false, 0);
		now = TICK;
		start(0);
		t = &s[0]->cpu[0]->ev[0].timer;
		for (u64 tick = 2; tick <= TICKS + 1; tick++) {
			now = tick * TICK;
			if (t->expires <= (ktime_t)now)
				assert_int_equal(t->function(t), HRTIMER_RESTART);
		}
		got = &s[0]->cpu[0]->ev[0].stats;
		assert_int_equal(got->samples, TICKS);
		assert_in_range(got->weight, (TICKS - 1) * (u64)TICK,
				(TICKS + 1) * (u64)TICK);
		assert_in_range(got->samples + got->missed, (TICKS - 1) * 40,
				(TICKS + 1) * 40);
	}
	timer_resolution = 1;
	fake_irq_regs = NULL;
	reset();
}

/* A call that copied nothing loses nothing.  While a handler adds, it may use the table
 * that was put aside, which is not taken before its end. */
static void counts_wait_until_they_can_be_taken(void **state)
{
	static struct tally_count got[TALLY_COUNTS_MAX];
	u32 n;

	(void)state;
	reset();
	open_session(0, TALLY_PMU_K8, false, false, 0x76);
	assert_true(counts_bytes(s[0]) > 2 * sizeof(got));
	start(0);
	now = 1000000;
	check_sample(0, 0);
	fake_fault = true;
	assert_int_equal(counts_take(s[0], 0, got, &n), -EFAULT);
	fake_fault = false;
	now = 2000000;
	check_sample(0, 0);
	/* What was not copied comes first. */
	assert_int_equal(counts_take(s[0], 0, got, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(got[0].n, 1);
	assert_in_range(got[0].r.time, 1000000, 1999999);
	s[0]->cpu[0]->adds++;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(counts_take(s[0], 0, got, &n), 0);
		assert_int_equal(n, 0);
	}
	s[0]->cpu[0]->adds++;
	now = 3000000;
	check_sample(0, 0);
	for (int i = 2; i < 4; i++) {
		assert_int_equal(counts_take(s[0], 0, got, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(got[0].n, 1);
		assert_in_range(got[0].r.time, i * 1000000, i * 1000000 + 999999);
	}
	assert_int_equal(counts_take(s[0], 0, got, &n), 0);
	assert_int_equal(n, 0);
	reset();
}

/* All that a recording allocates by CPU is memory of the user's: both rings with their
 * first pages, what the module keeps about them, and tables. */
static void memory_of_cpus_is_locked_memory(void **state)
{
	enum { RING = PAGE_SIZE + TALLY_RING_MIN };
	size_t waits = RING + sizeof(struct cpu_state), all;

	(void)state;
	reset();
	open_session(0, TALLY_TIMER, true, true, 0);
	all = NR_CPUS * (waits + waits + counts_bytes(s[0]));
	assert_in_range(fake_user.locked_vm.n, all / PAGE_SIZE,
			all / PAGE_SIZE + 2 * NR_CPUS);
	reset();
}

/* A SETUP without memory for all rings leaves nothing behind, and the next one works. */
static void a_setup_that_fails_takes_all_back(void **state)
{
	struct tally_setup u = {
		.size = sizeof(u), .source = TALLY_PERF, .nevents = 1,
		.ring_bytes = TALLY_RING_MAX, .watermark = 1,
		.events[0] = { .period = PERIOD, .flags = TALLY_EVENT_USER },
	};
	long blocks;

	(void)state;
	reset();
	s[0] = session_new();
	blocks = fake_blocks;
	assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL), -ENOMEM);
	assert_int_equal(fake_blocks, blocks);
	assert_int_equal(fake_user.locked_vm.n, 0);
	u.ring_bytes = TALLY_RING_MIN;
	assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL), 0);
	assert_non_null(s[0]->perf);
	m.source[0] = TALLY_PERF;
	reset();
}

/* The type of the last record of a ring, if it has this size. */
static u32 last_record(const struct cpu_state *c, u32 size)
{
	struct tally_record r;

	for (size_t i = 0; i < sizeof(r); i++)
		((u8 *)&r)[i] = c->data[(c->head - size + i) & (c->size - 1)];
	return r.size == size ? r.type : 0;
}

/* What a processor does as it goes, and before it is back, is not recorded. */
static void a_processor_that_goes_leaves_a_gap(void **state)
{
	enum { GAP = sizeof(struct tally_gap), SWITCH = sizeof(struct tally_switch) };
	struct cpu_state *c;
	u64 head;

	(void)state;
	reset();
	open_session(0, TALLY_TIMER, true, true, 0);
	start(0);
	c = s[0]->waits[1];
	threads_switch(1);
	threads_switch(1);
	head = c->head;
	cpu_goes(1);
	assert_int_equal(last_record(c, GAP), TALLY_RECORD_GAP);
	assert_int_equal(c->head, head + GAP);
	cpu_comes(1);
	assert_int_equal(c->head, head + GAP);
	threads_switch(1);
	assert_int_equal(last_record(c, SWITCH), TALLY_RECORD_SWITCH);
	assert_int_equal(c->head, head + 2 * GAP + SWITCH);
	/* The end of the recording is none. */
	stop(0);
	assert_int_equal(c->head, head + 2 * GAP + SWITCH);
	reset();
}

/* Setups that must be refused. */
static void setups_of_waits_are_checked(void **state)
{
	static const struct {
		u32 flags;
		u64 wait_bytes;
		u32 copy_bytes, wait_copy_bytes, reserved2;
		int r;
	} cases[] = {
		{ TALLY_SETUP_WAITS, 4096, 0, 0, 0, 0 },
		{ TALLY_SETUP_WAITS | TALLY_SETUP_WAKES, 4096, 0, 0, 0, 0 },
		{ TALLY_SETUP_WAITS, 8192, 2048, 1024, 0, 0 },
		{ TALLY_SETUP_WAKES, 0, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAKES, 4096, 0, 0, 0, -EINVAL },
		{ 0, 4096, 0, 0, 0, -EINVAL },
		{ 0, 0, 2048, 8, 0, -EINVAL },
		{ 0, 0, 0, 0, 1, -EINVAL },
		{ TALLY_SETUP_WAITS, 4096, 0, 0, 1, -EINVAL },
		{ TALLY_SETUP_WAITS, 0, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 2048, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 4097, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 2ull * TALLY_RING_MAX, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 1ull << 63, 0, 0, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 8192, 2048, 1028, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 8192, 512, 1024, 0, -EINVAL },
		{ TALLY_SETUP_WAITS, 4096, 2048, 1024, 0, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tally_setup u = {
			.size = sizeof(u), .source = TALLY_TIMER, .nevents = 1,
			.flags = TALLY_SETUP_CHAIN | cases[i].flags,
			.max_chain = 1, .ring_bytes = 8192, .watermark = 1,
			.events[0] = { .period = PERIOD,
				       .flags = TALLY_EVENT_USER },
			.copy_bytes = cases[i].copy_bytes,
			.wait_bytes = cases[i].wait_bytes,
			.wait_copy_bytes = cases[i].wait_copy_bytes,
			.reserved2 = cases[i].reserved2,
		};

		reset();
		s[0] = session_new();
		/* There is memory for the rings of waits, but not for the others. */
		u.ring_bytes = TALLY_RING_MAX;
		assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL),
				 cases[i].r ? cases[i].r : -ENOMEM);
		assert_int_equal(fake_user.locked_vm.n, 0);
		u.ring_bytes = 8192;
		/* The scheduler's tracepoints are the kernel's, although only programs
		 * are sampled. */
		denied = true;
		assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL),
				 cases[i].r ? cases[i].r : -EACCES);
		denied = false;
		assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL),
				 cases[i].r);
		if (cases[i].r)
			continue;
		session_free(s[0]);
		s[0] = session_new();
		u.flags &= ~TALLY_SETUP_CHAIN;
		u.max_chain = u.copy_bytes = u.wait_copy_bytes = 0;
		assert_int_equal(session_setup(s[0], &u, &fake_possible, NULL),
				 -EINVAL);
	}
	reset();
	denied = true;
	open_session(0, TALLY_TIMER, false, false, 0);
	denied = false;
	reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_core_counts_the_northbridge),
		cmocka_unit_test(every_state_and_event),
		cmocka_unit_test(random_walks),
		cmocka_unit_test(nmis_arrive_late),
		cmocka_unit_test(timers_as_coarse_as_the_tick),
		cmocka_unit_test(counts_wait_until_they_can_be_taken),
		cmocka_unit_test(memory_of_cpus_is_locked_memory),
		cmocka_unit_test(a_setup_that_fails_takes_all_back),
		cmocka_unit_test(a_processor_that_goes_leaves_a_gap),
		cmocka_unit_test(setups_of_waits_are_checked),
	};

	/* Mappings of their own for all tables would be most of the time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 24);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
