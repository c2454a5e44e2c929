// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The threads that recordings follow: the module's own tasks.c on the fake kernel.  In a
 * long walk, four threads are named, fork, exec, run, wake each other, end, and leave their
 * place to new ones.  Each time those that are followed must be the ones of a set here.
 */
#include "../checks.h"

#include "fake_kernel.h"
#include "../../kmod/tally.h"
#include "fake_threads.h"

/* ---- threads, recordings, and the model ---- */

enum { THREADS = 4, RECORDINGS = 6 };
/* A thread that ends has its number for a while, then none, then is no more. */
enum life { ABSENT, ALIVE, ENDS, NAMELESS };
static struct task_struct thread[THREADS];	/* new ones get the place of old ones */
static enum life life[THREADS];
static u32 last_tid;

struct list_head sessions;
static struct session recording[RECORDINGS];
static const struct source module, kernel = { .by_kernel = true };
/* The first one is of all threads; the last one's source follows them by itself. */
static const u32 flags[RECORDINGS] = {
	TALLY_SETUP_WAITS, TALLY_SETUP_TASKS, TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT,
	TALLY_SETUP_TASKS | TALLY_SETUP_ON_EXEC,
	TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT | TALLY_SETUP_ON_EXEC,
	TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT | TALLY_SETUP_WAITS,
};
static struct {
	bool in, turn, named;		/* followed; recorded; by TASKS */
} model[RECORDINGS][THREADS];
static u64 untracked[RECORDINGS];

struct pid *find_vpid(int nr)
{
	fake_check(fake_rcu, "threads are looked up without RCU");
	for (size_t i = 0; i < THREADS; i++)
		if (thread[i].tid == (u32)nr && (life[i] == ALIVE || life[i] == ENDS))
			return (void *)&thread[i];
	return NULL;
}
struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	return type == PIDTYPE_PID ? (void *)pid : NULL;
}
bool pid_alive(const struct task_struct *t)
{
	return life[t - thread] != NAMELESS;
}
int __task_pid_nr_ns(struct task_struct *t, enum pid_type type,
		     struct pid_namespace *ns)
{
	return ns && pid_alive(t) ? (int)t->tid + 1000 * (type == PIDTYPE_TGID) : 0;
}

/* What the rest of the module was told. */
static struct {
	unsigned int switched, resumed, paused, woken;
} told[RECORDINGS];

void session_switch(struct session *s, bool on)
{
	fake_check(fake_irqs_off, "counters change while interrupts are on");
	told[s - recording].resumed += on;
	told[s - recording].paused += !on;
}
void waits_switched(struct session *s, struct task_struct *prev,
		    struct task_struct *next, unsigned int prev_state)
{
	told[s - recording].switched += prev == fake_current && prev_state == 7;
}
void waits_woken(struct session *s, struct task_struct *t)
{
	told[s - recording].woken += fake_irqs_off && life[t - thread] != ABSENT;
}

/* ---- events ---- */

static void open_all(void)
{
	memset(model, 0, sizeof(model));
	memset(untracked, 0, sizeof(untracked));
	sessions = (struct list_head){ &sessions, &sessions };
	for (unsigned int r = 0; r < RECORDINGS; r++) {
		recording[r] = (struct session){
			.setup.flags = flags[r],
			.source = r == RECORDINGS - 1 ? &kernel : &module,
		};
		list_add_tail_rcu(&recording[r].list, &sessions);
	}
}
static void close_all(void)
{
	for (unsigned int r = 0; r < RECORDINGS; r++)
		tasks_free(&recording[r]);
}
static void name(unsigned int t, unsigned int r)
{
	int want = life[t] == ALIVE ? 0 : -ESRCH;

	fake_check(tasks_add(&recording[r], thread[t].tid) == want, "TASKS is wrong");
	if (want || model[r][t].in)
		return;
	model[r][t].in = model[r][t].named = true;
	model[r][t].turn = !(flags[r] & TALLY_SETUP_ON_EXEC);
}
static void born(unsigned int t)
{
	thread[t] = (struct task_struct){ .tid = ++last_tid };
	life[t] = ALIVE;
}
static void forks(unsigned int t, unsigned int c)
{
	void (*fn)(void *, struct task_struct *, struct task_struct *) =
		points[FORK].fn;

	born(c);
	handles = true;
	fn(NULL, &thread[t], &thread[c]);
	handles = false;
	for (unsigned int r = 0; r < RECORDINGS; r++) {
		if (!(flags[r] & TALLY_SETUP_INHERIT) || !model[r][t].in)
			continue;
		untracked[r] += no_memory;
		model[r][c].in = !no_memory;
		model[r][c].turn = !no_memory && model[r][t].turn;
	}
}
/* Are its counters stopped while others run? */
static bool own_switches(unsigned int r) { return r && r < RECORDINGS - 1; }
static void execs(unsigned int t)
{
	void (*fn)(void *, struct task_struct *, pid_t, void *) = points[EXEC].fn;

	fn(NULL, &thread[t], 0, NULL);
	for (unsigned int r = 0; r < RECORDINGS; r++) {
		model[r][t].turn = model[r][t].in;
		assert_true(told[r].resumed == (model[r][t].in && own_switches(r)) &&
			    !told[r].paused);
	}
}
static void ends(unsigned int t)
{
	void (*fn)(void *, struct task_struct *) = points[FREE].fn;

	thread[t].flags = PF_EXITING;
	life[t] = (life[t] + 1) % (NAMELESS + 1);
	if (life[t] != ABSENT)
		return;
	fn(NULL, &thread[t]);
	for (unsigned int r = 0; r < RECORDINGS; r++)
		memset(&model[r][t], 0, sizeof(model[r][t]));
}
static void runs(unsigned int t)
{
	void (*fn)(void *, bool, struct task_struct *, struct task_struct *,
		   unsigned int) = points[SWITCH].fn;
	void (*waking)(void *, struct task_struct *) = points[WAKING].fn;

	waking(NULL, &thread[t]);
	fake_irqs_off++;
	fake_current = &thread[(t + 1) % THREADS];
	fn(NULL, false, fake_current, &thread[t], 7);
	fake_irqs_off--;
	for (unsigned int r = 0; r < RECORDINGS; r++)
		assert_true(told[r].switched == 1 && told[r].woken == 1 &&
			    told[r].resumed == (own_switches(r) && model[r][t].turn) &&
			    told[r].paused == (own_switches(r) && !model[r][t].turn));
}

/* Any event of a thread, or none where it is impossible. */
static void step(u32 random)
{
	unsigned int t = random >> 8 & 3, other = random >> 10 & 3;

	memset(told, 0, sizeof(told));
	no_memory = !(random >> 20 & 7);
	if (!life[t] && !life[0] && !life[1] && !life[2] && !life[3])
		born(t);
	else if (life[t] == ALIVE && !life[other])
		forks(t, other);
	else if (!no_memory && life[t] && random % 8 < 3)
		name(t, 1 + (random >> 12) % (RECORDINGS - 1));
	else if (life[t] == ALIVE && random % 8 == 3)
		execs(t);
	else if (life[t] && random % 8 == 4)
		ends(t);
	else if (life[t] && random >> 24)
		runs(t);
	else if (!(random >> 16 & 63))
		close_all(), open_all();
}

/* ---- what must hold ---- */

static void check(void)
{
	struct pid_namespace ns;
	long want = 0;

	for (unsigned int r = 0; r < RECORDINGS; r++) {
		u32 n = 0;

		for (unsigned int t = 0; t < THREADS; t++) {
			fake_current = &thread[t];
			assert_int_equal(tasks_current(&recording[r]), model[r][t].turn);
			n += model[r][t].named;
			want += model[r][t].in;
			assert_int_equal(tasks_number(&thread[t], PIDTYPE_TGID, &ns),
					 life[t] == NAMELESS ? ~0u
					 : thread[t].tid + 1000);
			/* As in another namespace. */
			assert_int_equal(tasks_number(&thread[t], PIDTYPE_PID, NULL),
					 life[t] == NAMELESS ? ~0u : 0);
		}
		assert_true(recording[r].ntasks == n &&
			    recording[r].untracked.n == (s64)untracked[r]);
	}
	assert_int_equal(blocks, want);
	assert_true(!fake_rcu && !fake_irqs_off);
}

/* First, because what was found once is known. */
static void tracepoints_are_used_as_needed(void **state)
{
	const unsigned int own = 1 << FORK | 1 << EXEC | 1 << FREE;

	(void)state;
	points[WAKING].absent = true;
	assert_int_equal(tasks_init(), -ENOENT);
	assert_int_equal(used(), 0);
	points[WAKING].absent = false;
	points[FREE].refuses = true;
	assert_int_equal(tasks_init(), -ENOMEM);
	assert_int_equal(used(), 0);
	points[FREE].refuses = false;
	assert_int_equal(tasks_init(), 0);
	assert_int_equal(used(), own);
	points[WAKING].refuses = true;
	assert_int_equal(tasks_watch(WATCH_SWITCHES | WATCH_WAKES), -ENOMEM);
	assert_int_equal(used(), own);
	points[WAKING].refuses = false;
	assert_int_equal(tasks_watch(WATCH_SWITCHES), 0);
	assert_int_equal(tasks_watch(WATCH_SWITCHES | WATCH_WAKES), 0);
	tasks_unwatch(WATCH_SWITCHES);
	assert_int_equal(used(), own | 1 << SWITCH | 1 << WAKING);
	tasks_unwatch(WATCH_SWITCHES | WATCH_WAKES);
	assert_int_equal(used(), own);
	tasks_exit();
}

static void walks(void **state)
{
	u64 random = 1;

	(void)state;
	assert_int_equal(tasks_init(), 0);
	assert_int_equal(tasks_watch(WATCH_SWITCHES | WATCH_WAKES), 0);
	open_all();
	for (unsigned int i = 0; i < 200000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		step(random >> 32);
		check();
	}
	no_memory = false;
	/* Only so many are named; children do not count. */
	close_all(), open_all();
	for (unsigned int t = 0; t < THREADS; t++)
		life[t] = ABSENT;
	born(0);
	recording[2].ntasks = TALLY_TASKS_MAX - 1;
	assert_int_equal(tasks_add(&recording[2], thread[0].tid), 0);
	forks(0, 1);
	assert_int_equal(recording[2].ntasks, TALLY_TASKS_MAX);
	assert_true(tasks_has(&recording[2], &thread[1]));
	born(2);
	assert_int_equal(tasks_add(&recording[2], thread[2].tid), -EBADFD);
	ends(0), ends(0), ends(0);
	assert_int_equal(tasks_add(&recording[2], thread[2].tid), 0);
	assert_int_equal(tasks_add(&recording[2], 0x80000001u), -ESRCH);
	close_all();
	assert_int_equal(blocks, 0);
	tasks_unwatch(WATCH_SWITCHES | WATCH_WAKES);
	tasks_exit();
	assert_int_equal(used(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracepoints_are_used_as_needed),
		cmocka_unit_test(walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
