#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where threads wait, and how long, compared with the program's own clock around each
# wait and with the kernel's accounting: from samples at switches, and unprivileged from
# polling; attached to sleeping threads; paused and resumed.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf

cat >waits.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int pipes[2], go, done;
static pid_t child;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Of both threads, in nanoseconds: what they slept, and waited for a processor. */
static long long slept, queued;

static void ms(int n)
{
	struct timespec t = { 0, n * 1000000l };
	long long begin = now();

	nanosleep(&t, NULL);
	__atomic_add_fetch(&slept, now() - begin, __ATOMIC_RELAXED);
}
static long long ran(void)
{
	long long v = 0, q = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%lld %lld", &v, &q) != 2)
		exit(3);
	fclose(f);
	__atomic_add_fetch(&queued, q, __ATOMIC_RELAXED);
	return v;
}

/* Nothing here may end in a jump to what it calls. */
#define STAY __asm__ volatile("" ::: "memory")
#define SITE(name) \
	static __attribute__((noinline)) void name(void)
SITE(site_lock)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	STAY;
}
SITE(site_cond)
{
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	STAY;
}
SITE(site_pipe) { char c; if (read(pipes[0], &c, 1) != 1) abort(); }
SITE(site_sem) { sem_wait(&sem); STAY; }
SITE(site_sleep) { ms(7); STAY; }
SITE(site_epoll)
{
	static int fd;
	struct epoll_event e;

	if (!fd)
		fd = epoll_create1(0);
	epoll_wait(fd, &e, 1, 9);
	STAY;
}
SITE(site_poll) { poll(NULL, 0, 6); STAY; }
SITE(site_child) { if (waitpid(child, NULL, 0) != child) abort(); }

/* Holds the lock, and lets the others go on after 8 ms. */
static void *helper(void *arg)
{
	int round = 0;

	(void)arg;
	for (; round < ROUNDS; round++) {
		while (__atomic_load_n(&go, __ATOMIC_ACQUIRE) != 2 * round + 1)
			ms(1);
		pthread_mutex_lock(&mutex);
		__atomic_store_n(&go, 2 * round + 2, __ATOMIC_RELEASE);
		ms(8);
		pthread_mutex_unlock(&mutex);
		ms(8);
		pthread_mutex_lock(&mutex);
		done = 1;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		ms(8);
		if (write(pipes[1], "", 1) != 1)
			abort();
		ms(8);
		sem_post(&sem);
	}
	ran();
	return NULL;
}

struct site {
	const char *name;
	void (*fn)(void);
	long long ns;
} sites[] = {
#define ROW(s) { #s, s, 0 }
	ROW(site_lock), ROW(site_cond), ROW(site_pipe), ROW(site_sem),
	ROW(site_sleep), ROW(site_epoll), ROW(site_poll), ROW(site_child),
};

int main(int argc, char **argv)
{
	long long begin = now(), cpu = ran();
	pthread_t t;

	if (argc > 1)
		ms(atoi(argv[1]) % 1000), sleep(atoi(argv[1]) / 1000);
	if (pipe(pipes) || sem_init(&sem, 0, 0))
		return 1;
	pthread_create(&t, NULL, helper, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		done = 0;
		__atomic_store_n(&go, 2 * i + 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&go, __ATOMIC_ACQUIRE) != 2 * i + 2)
			ms(1);
		for (size_t s = 0; s < sizeof(sites) / sizeof(sites[0]); s++) {
			long long before;

			if (sites[s].fn == site_child) {
				child = fork();
				if (!child) {
					ms(10);
					_exit(0);
				}
			}
			before = now();
			sites[s].fn();
			sites[s].ns += now() - before;
		}
	}
	pthread_join(t, NULL);
	for (size_t s = 0; s < sizeof(sites) / sizeof(sites[0]); s++)
		printf("%s %lld\n", sites[s].name, sites[s].ns);
	printf("off_cpu %lld\n", now() - begin - (ran() - cpu));
	printf("slept %lld\nqueued %lld\n", slept, queued);
	printf("tid %ld\n", (long)syscall(SYS_gettid));
	return 0;
}
END
if ! ${CC:-cc} -O2 -g -fomit-frame-pointer -pthread waits.c -o waits 2>err; then
	t_skip_all "waits" "cannot compile: $(head -1 err)"
fi

# Nanoseconds of both events that a function has, with what it called.
total() { # FILE FUNCTION
	"$TALLY" report --format=csv -e blocked,runnable -s symbol "$1" |
		awk -F, -v f="$2" '$1 == f { sum += $7 } END { print sum + 0 }'
}
all_of() { # FILE EVENTS
	"$TALLY" report --format=csv -e "$2" -s event "$1" |
		awk -F, 'NR > 1 { sum += $3 } END { printf "%.0f\n", sum }'
}
# All of one thread.
of_thread() { # FILE TID
	"$TALLY" report --format=csv -e blocked,runnable -s symbol --tid "$2" "$1" |
		awk -F, 'NR > 1 { sum += $4 } END { print sum + 0 }'
}
truth() { # NAME FILE
	awk -v n="$1" '$1 == n { print $2 }' "$2"
}
# What lies between the clock and the call: on a busy machine also other threads.
near() { # TEXT GOT WANT
	t_near "$1" "$2" "$3" $(($3 / 20 + 5000000))
}
# Beside what starting and ending programs takes.
about() { # TEXT GOT WANT
	t_near "$1" "$2" "$3" $(($3 / 20 + 150000000))
}
judge() { # HOW FILE OUTPUT
	for site in lock cond pipe sem sleep epoll poll child; do
		near "$1: what site_$site waits is the program's own time" \
			"$(total "$2" site_$site)" "$(truth site_$site "$3")"
	done
}

t_bpf
uses_bpf() { # [PREFIX]
	$1 "$TALLY" record -q --no-symbols --wait -o f.tally \
		sh -c 'cat /proc/$PPID/fdinfo/*' 2>f.err | grep -q '^prog_tag:'
}
if [ -z "$bpf" ]; then
	t_run "BPF programs report switches" uses_bpf
	uses_bpf "$no_bpf"
	t_is "… where permitted" $? 1
else
	t_skip "BPF programs" "$bpf"
fi
"$TALLY" record -q --wait -o a.tally ./waits >a.out 2>a.err
t_ok "waits are recorded" $?
judge "samples at switches" a.tally a.out
near "all waits of a thread are its life without its processor time" \
	"$(of_thread a.tally "$(truth tid a.out)")" "$(truth off_cpu a.out)"
if [ -z "$bpf" ]; then
	$no_bpf "$TALLY" record -q --wait -o r.tally ./waits >r.out 2>r.err
	judge "without BPF programs" r.tally r.out
	near "without BPF programs, too, all waits of a thread are its life" \
		"$(of_thread r.tally "$(truth tid r.out)")" "$(truth off_cpu r.out)"
	slept=$(awk '/^(slept|site_epoll|site_poll) / { n += $2 }
		$1 == "queued" { n -= $2 } END { printf "%.0f\n", n }' a.out)
	ended=$("$TALLY" report --format=csv -e waking -s symbol a.tally |
		awk -F, '$1 == "[interrupt]" { print $3 }')
	t_run "timers end what is slept ($ended of $slept ns and more)" \
		test "${ended:-0}" -ge $((slept / 100 * 95))
fi
"$TALLY" report --no-tui a.tally >a.txt
t_like "the report shows how long threads were blocked" \
	"$(sed -n 's/^# *//p' a.txt | tr '\n' ' ')" \
	'blocked.*: [0-9.]+ s in [0-9,]+ waits'
t_like "the table names the program's function and what it called" \
	"$(cat a.txt)" \
	'^blocked +[0-9.]+% +[0-9.]+ s +[0-9]+  futex +site_lock in .*mutex_lock'
t_like "of processor time alone are the other rows" "$(cat a.txt)" \
	'^ +SELF +TOTAL +IMAGE'
exact=$("$TALLY" dump --only tables a.tally |
	sed -n 's/^env .*key="wait_ns_exact" value="\([0-9]*\)".*/\1/p')
all=$(all_of a.tally blocked)
near "the stacks of waits are those of switches" "$exact" "$all"
"$TALLY" report -g -e blocked a.tally >a.g
t_like "waits have whole stacks" "$(cat a.g)" 'site_lock'
t_like "… up to where the program begins" "$(cat a.g)" '_start'
"$TALLY" report --format=json -e blocked a.tally >a.json
t_like "… none is cut" "$(cat a.json)" '"cut_stacks": ?0,'
"$TALLY" dump --only tables a.tally |
	sed -n 's/^thread .* tid=\([0-9]*\) comm="waits".* start_ns=\([0-9]*\).*/\1 \2/p' |
	sort -n >a.threads
t_none "each thread has one row, with its waits and its processor time" \
	"$(cut -d ' ' -f 1 a.threads | uniq -d)"
t_is "… the first thread's begins first" "$(sort -n -k 2 a.threads | head -n 1 |
	cut -d ' ' -f 1)" "$(truth tid a.out)"
# While exec replaces the program, it has no stack.
t_like "… or broken" "$(cat a.json)" '"broken_stacks": ?[0-3],'

# Who ended them.
if "$TALLY" report --no-tui a.tally | grep -q 'being woken'; then
	t_skip "who wakes" "the kernel's tracepoints are not to be had"
else
	"$TALLY" report --format=csv -e waking -s symbol a.tally >a.waking
	waking() { # SYMBOL
		awk -F, -v f="$1" '$1 == f { print $6 }' a.waking
	}
	# On a busy machine it ends some waits before they begin.
	t_run "the helper's 80 wakes have their stacks" \
		test "$(awk -F, '$1 == "helper" { print $5 }' a.waking)" -ge 60
	t_like "the table names what it called" "$(cat a.txt)" \
		'^waking +[0-9.]+% +[0-9.]+ s +[0-9]+  helper in (.*mutex_unlock|libc\.so\.6\+0x)'
	near "what the helper ended is what was waited for it" \
		"$(waking helper)" \
		"$("$TALLY" report --format=csv -e blocked -s symbol a.tally |
		awk -F, '$1 ~ /^site_(lock|cond|pipe|sem)$/ { sum += $6 }
			END { print sum }')"
	near "a child is waited for until it ends" "$(waking '[exit]')" \
		"$("$TALLY" report --format=csv -e blocked -s symbol a.tally |
		awk -F, '$1 == "site_child" { print $6 }')"
	# Linux 6.18 was seen to tell nothing of the idle task of one processor.
	ended=$(all_of a.tally waking)
	t_run "no more was ended than was blocked ($ended of $all)" \
		test "$ended" -le $((all + all / 100))
fi
if unshare -m umount /sys/kernel/tracing 2>/dev/null; then
	unshare -m sh -c 'umount -a -t tracefs; exec "$@"' sh $no_bpf \
		"$TALLY" record --wait -o z.tally true 2>z.err
	t_like "where nothing can tell of wakes, the fix is named" \
		"$(tr '\n' ' ' <z.err)" 'mount -t tracefs tracefs /sys/kernel/tracing'
fi

# Without the right to the kernel's samples.
t_settings
old=$(cat /proc/sys/kernel/perf_event_paranoid)
as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ] || ! echo 2 >/proc/sys/kernel/perf_event_paranoid ||
	! as_nobody "$TALLY" --version >/dev/null 2>&1; then
	t_skip "waits by looks" "needs root, setpriv, and settings that may be changed"
else
	t_cleanup "echo $old >/proc/sys/kernel/perf_event_paranoid"
	mkdir other
	chmod 777 other .
	(cd other && as_nobody "$TALLY" record -q --wait -o b.tally ../waits \
		>b.out 2>b.err)
	t_ok "waits are recorded without rights" $?
	chown 0 other/b.tally
	near "… with the same exact times of a thread" \
		"$(of_thread other/b.tally "$(truth tid other/b.out)")" \
		"$(truth off_cpu other/b.out)"
	for site in lock cond pipe sem sleep epoll poll child; do
		got=$(total other/b.tally site_$site)
		want=$(truth site_$site other/b.out)
		# Never more than there was.  On a quiet machine it is above 95 %;
		# a busy one looks later.
		t_run "looks: site_$site has its waits ($got of $want ns)" \
			test "$got" -ge $((want / 100 * 40)) -a \
			"$got" -le $((want / 20 * 21 + 5000000))
	done
	# Functions with frame pointers, of which a look knows only the stack's.
	${CC:-cc} -O0 -g -fno-omit-frame-pointer -pthread waits.c -o framed
	(cd other && as_nobody "$TALLY" record -q --wait -o f.tally ../framed \
		>f.out 2>f.err)
	chown 0 other/f.tally
	for site in lock cond pipe sem sleep epoll poll child; do
		got=$(total other/f.tally site_$site)
		want=$(truth site_$site other/f.out)
		t_run "with frame pointers: site_$site ($got of $want ns)" \
			test "$got" -ge $((want / 100 * 40)) -a \
			"$got" -le $((want / 20 * 21 + 5000000))
	done
	"$TALLY" report --no-tui other/b.tally >b.txt
	t_like "the head says how stacks were found" "$(tr '\n' ' ' <b.txt)" \
		'polling sleeping threads.*from a poll of the sleeping'
	t_like "what no look saw is a row of its own" "$(cat b.txt)" \
		'\[no stack\]'
	echo "$old" >/proc/sys/kernel/perf_event_paranoid
fi

# Who sleeps since before the recording, and beyond its end.
sleep 30 & sleeper=$!
t_cleanup "kill $sleeper 2>/dev/null"
t_until grep -q "(sleep) S " /proc/$sleeper/stat
sleep 1
"$TALLY" record -q --wait --duration 1 -p $sleeper -o c.tally
about "a wait that never ends counts as long as it was recorded" \
	"$(of_thread c.tally $sleeper)" 1000000000
t_like "… where it is" "$("$TALLY" report --no-tui c.tally)" 'nanosleep'
kill $sleeper

# Sampling that begins late.
"$TALLY" record -q --wait --delay 500ms -o d.tally sleep 1.5
about "what was before the delay does not count" \
	"$(all_of d.tally blocked,runnable)" 1000000000

"$TALLY" record -q --wait --repeat 3 -o e.tally sleep 0.2
about "each run has its waits" \
	"$("$TALLY" report --format=csv -e blocked -s run,event e.tally |
	   awk -F, 'NR > 1 { sum += $4 } END { print sum }')" 600000000

# Who is not followed does not wait.
cat >thread.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *sleeper(void *arg) { usleep(400000); return arg; }
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, sleeper, NULL);
	pthread_join(t, NULL);
	return 0;
}
END
if ${CC:-cc} -O1 -pthread thread.c -o thread; then
	"$TALLY" record -q --wait --no-inherit -o j.tally ./thread
	about "without --inherit only the first thread waits" \
		"$(all_of j.tally blocked,runnable)" 400000000
fi
"$TALLY" record --wait -C 0 -o k.tally true 2>k.err
t_like "single processors do not tell of waits" "$(cat k.err)" '^tally: --wait and -C'

"$TALLY" record -q --latency --source=timer -o f.tally true 2>f.err
t_like "other sources have no latency, and say so" "$(cat f.err)" '^tally: --latency requires perf events: use --source=perf$'

# Without perf events: /proc, and reads of sleeping threads' stacks.
cat >long.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void rest(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}
#define STAY __asm__ volatile("" ::: "memory")
__attribute__((noinline)) static void first(void) { rest(400); STAY; }
__attribute__((noinline)) static void second(void) { rest(200); STAY; }
__attribute__((noinline)) static void often(void)
{
	for (int i = 0; i < 100; i++)
		rest(3);
	STAY;
}
static void *thread(void *arg) { rest(500); return arg; }
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	first();
	second();
	often();
	pthread_join(t, NULL);
	return 0;
}
END
# Computes, and sleeps in between; tells how long it slept.
cat >mixed.c <<'END'
#include <stdio.h>
#include <time.h>

static double now(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
int main(void)
{
	const struct timespec t = { 0, 5000000 };
	double slept = 0;

	for (int i = 0; i < 50; i++) {
		double begin = now(CLOCK_THREAD_CPUTIME_ID);

		while (now(CLOCK_THREAD_CPUTIME_ID) < begin + 0.02)
			;
		begin = now(CLOCK_MONOTONIC);
		nanosleep(&t, NULL);
		slept += now(CLOCK_MONOTONIC) - begin;
	}
	printf("%.0f\n", slept * 1e9);
	return 0;
}
END
if ${CC:-cc} -O1 -g mixed.c -o mixed &&
	${CC:-cc} -O1 -g -pthread long.c -o long; then
	for source in timer ptrace; do
		slept=$("$TALLY" record -q -g --wait --source=$source -o n.tally \
			./mixed)
		# Less than it slept is what late polls of a busy machine miss.
		more=$([ $source = timer ] && echo 60000000 || echo 160000000)
		got=$(all_of n.tally blocked)
		t_run "$source: sampling itself is no wait ($got of $slept ns)" \
			test "$got" -le $((slept + more)) -a \
			"$got" -ge $((slept / 3))
		"$TALLY" record -q --wait --source=$source -o m.tally ./long 2>m.err
		t_ok "$source: waits are recorded" $?
		about "$source: a long wait" "$(total m.tally first)" 400000000
		about "$source: another one" "$(total m.tally second)" 200000000
		about "$source: short ones, by samples" "$(total m.tally often)" \
			300000000
		about "$source: of another thread" "$(total m.tally thread)" \
			500000000
		t_like "$source: the head says how" \
			"$("$TALLY" report --no-tui m.tally | tr -d '#\n')" \
			'blocked .by polling /proc.* polls'
	done
fi

# More waits than are sampled or written: sums stay right, and long waits are found.
cat >pass.c <<'END'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 150000 };
static int turn, done;
/* Documentation/scheduler/sched-stats.rst */
static void tell(const char *name)
{
	long id = syscall(SYS_gettid);
	long long ran, queued = -1, turns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", id);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld %lld %lld", &ran, &queued, &turns) != 3)
		queued = -1;
	if (f)
		fclose(f);
	printf("%s %ld %lld %lld\n", name, id, queued, turns);
}
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static __attribute__((noinline)) void long_wait(void)
{
	struct timespec t = { 0, 30000000 };

	nanosleep(&t, NULL);
	__asm__ volatile("" ::: "memory");
}
static void *sleeper(void *p)
{
	long long begin = now();

	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		long_wait();
	printf("slept 0 %lld\n", now() - begin);
	return p;
}
static void pass(int me)
{
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, 0, 0, 0);
}
static void *other(void *p)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 1)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	for (int i = 1; i < ROUNDS; i++)
		pass(1);
	__atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	tell("other");
	return p;
}
int main(void)
{
	cpu_set_t one;
	pthread_t t, s;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&t, NULL, other, NULL);
	pthread_create(&s, NULL, sleeper, NULL);
	for (int i = 0; i < ROUNDS; i++)
		pass(0);
	tell("main");
	done = 1;
	pthread_join(t, NULL);
	pthread_join(s, NULL);
	return 0;
}
END
if ${CC:-cc} -O1 -pthread pass.c -o pass; then
	"$TALLY" record -q --wait -o i.tally ./pass >i.out
	"$TALLY" dump --only tables i.tally >i.txt
	near "sums of waits are what the kernel told, thinned or not" \
		"$(all_of i.tally blocked)" \
		"$(sed -n 's/^stat run=0 event=1 value=\([0-9]*\).*/\1/p' i.txt)"
	fact() { # KEY
		sed -n "s/^env .*key=\"$1\" value=\"\([0-9]*\)\".*/\1/p" i.txt
	}
	# It waits 20,000 times a second and more, even beside busy programs.
	t_run "few of $(fact wait_count) waits are sampled ($(fact wait_count_exact))" \
		test "$(fact wait_count_exact)" -gt 0 -a \
		"$(fact wait_count_exact)" -lt $(($(fact wait_count) / 2))
	t_like "the head says how many, since when, and how many there were" \
		"$("$TALLY" report --no-tui i.tally | tr -d '#\n' | tr -s ' ')" \
		'From [0-9.]+ s on, there were too many waits to sample each \(up to [0-9,]+ a second\): [0-9,]+ of [0-9,]+ waits have their stack from the switch; record --wait=all'
	later=1000
	[ -n "$bpf" ] || later=3000
	for thread in main other; do
		tid=$(awk -v n=$thread '$1 == n { print $2 }' i.out)
		# To the kernel, the switch itself is time of the thread that runs next.  It
		# counts from the run queue on, which a thread enters a moment after a BPF
		# program reported that it is woken.
		queued=$(awk -v n=$thread '$1 == n { print $3 }' i.out)
		n=$(awk -v n=$thread '$1 == n { print $4 }' i.out)
		found=$("$TALLY" report --format=csv -e runnable -s tid i.tally |
			awk -F, -v t="$tid" '$1 == t { print $3 }')
		t_run "the time in the run queue of $thread ($found) is what the kernel counts ($queued)" \
			test "$found" -ge $((queued - queued / 20 - n / 2 * 1000)) -a \
			"$found" -le $((queued + queued / 20 + n / 2 * later))
	done
	slept=$(awk '$1 == "slept" { print $3 }' i.out)
	found=$(total i.tally long_wait)
	t_run "long waits among them have stacks by polls ($found of $slept ns)" \
		test "$found" -ge $((slept / 100 * 40))
	# 4,000 a second on the one processor; and what one late round lets through.
	sampled=$("$TALLY" report --format=csv -e waking -s symbol i.tally |
		awk -F, '$1 !~ /^\[/ { n += $2 } END { print n + 0 }')
	ms=$(sed -n 's/^run 0 .*start_ns=\([0-9]*\) .*end_ns=\([0-9]*\).*/\1 \2/p' i.txt |
		awk '{ printf "%d", ($2 - $1) / 1000000 }')
	t_run "samples of wakeups are as rare as they should be ($sampled in $ms ms)" \
		awk "BEGIN { exit !($sampled < 4 * $ms + 500 + 5000) }"
	"$TALLY" record -q --wait=all -o each.tally ./pass >each.out
	t_run "--wait=all samples each" test -z "$("$TALLY" dump --only tables each.tally |
		grep wait_pauses_from_ns)" -a "$("$TALLY" dump --only tables each.tally |
		sed -n 's/^env .*key="wait_ns_exact" value="\([0-9]*\)".*/\1/p')" -gt \
		$(($(all_of each.tally blocked) / 100 * 80))
	"$TALLY" record --wait=some -o k.tally true 2>k.err
	t_like "… and no other value is known" "$(cat k.err)" '^tally: --wait has only one value'
	! grep -q wait_thinning_ns i.txt ||
		t_like "the head says that short ones are thinned" \
			"$("$TALLY" report --no-tui i.tally | tr -d '#\n')" \
			'us +are +thinned'
fi

# Wall-clock time: a second alone, asleep, and two threads beside each other.
cat >latency.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static volatile long sink;
static double now(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void burn(double seconds)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sink++;
}
#define STAY __asm__ volatile("" ::: "memory")
__attribute__((noinline)) static void alone(void) { burn(0.4); STAY; }
__attribute__((noinline)) static void beside(void) { burn(0.4); STAY; }
__attribute__((noinline)) static void asleep(void)
{
	struct timespec t = { 0, 300000000 };

	nanosleep(&t, NULL);
	STAY;
}
static void *thread(void *arg) { beside(); return arg; }
int main(void)
{
	double begin = now(CLOCK_MONOTONIC);
	pthread_t t[2];

	alone();
	asleep();
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%.0f\n", (now(CLOCK_MONOTONIC) - begin) * 1e9);
	return 0;
}
END
if ${CC:-cc} -O1 -g -pthread latency.c -o latency; then
	wall=$("$TALLY" record -q --latency -o h.tally ./latency)
	latency() { # FUNCTION
		"$TALLY" report --format=csv -e latency -s symbol h.tally |
			awk -F, -v f="$1" '$1 == f { sum += $6 }
				END { printf "%.0f\n", sum }'
	}
	near "all latency is the time that went by" \
		"$(all_of h.tally latency)" "$wall"
	about "a moment in which no thread runs is the sleeper's" \
		"$(latency asleep)" "$("$TALLY" report --format=csv -e blocked \
		-s symbol h.tally | awk -F, '$1 == "asleep" { print $6 }')"
	about "the parts are the whole" "$(($(latency alone) + \
		$(latency asleep) + $(latency beside)))" "$wall"
	t_like "rows are ordered by it" "$("$TALLY" report --no-tui h.tally)" \
		'cycles +latency|clock +latency'
fi

# Beside others that are busy: who is awake, but has no processor, is not blocked.
cat >queue.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long queued(void)
{
	long long ran, v;
	FILE *f = fopen("/proc/self/schedstat", "r");

	if (!f || fscanf(f, "%lld %lld", &ran, &v) != 2)
		exit(3);
	fclose(f);
	return v;
}

int main(void)
{
	long long before = queued();

	for (int i = 0; i < 100; i++) {
		struct timespec t = { 0, 3000000 };

		nanosleep(&t, NULL);
		for (volatile int k = 0; k < 1000000; k++)
			;
	}
	printf("%lld\n", queued() - before);
	return 0;
}
END
if ${CC:-cc} -O1 -g queue.c -o queue; then
	for i in 1 2 3 4; do
		timeout 60 sh -c 'while :; do :; done' & busy="$busy $!"
	done
	t_cleanup "kill $busy 2>/dev/null"
	queued=$("$TALLY" record -q --wait -o l.tally ./queue)
	blind=$(unshare -m sh -c 'umount -a -t tracefs; exec "$@"' sh \
		"$TALLY" record -q --wait -o s.tally ./queue 2>s.err)
	kill $busy
	if [ -n "$blind" ] && "$TALLY" report --no-tui s.tally |
		grep -q 'estimated from schedstat'; then
		about "without records of wakes runnable is, too" \
			"$(all_of s.tally runnable)" "$blind"
		about "… and blocked" "$(all_of s.tally blocked)" 300000000
	else
		t_skip "waits without records of wakes" \
			"tracefs cannot be unmounted: $(head -1 s.err)"
	fi
	if "$TALLY" report --no-tui l.tally | grep -q 'being woken'; then
		t_skip "wakes" "the kernel's tracepoints are not to be had"
	else
		about "runnable is what the kernel counts as queued" \
			"$(all_of l.tally runnable)" "$queued"
		# 100 sleeps of 3 ms; the kernel's timers may be late by 50 us each.
		about "blocked is what it sleeps" "$(all_of l.tally blocked)" 300000000
		t_is "timers are interrupts" "$("$TALLY" report --format=csv \
			-e waking -s symbol l.tally | sed -n '2s/,.*//p')" \
			'[interrupt]'
	fi
fi

# Nothing that sleeps sees it: no call is interrupted.
cat >eintr.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>

int main(void)
{
	int fd = epoll_create1(0), bad = 0;
	struct epoll_event e;

	for (int i = 0; i < 100; i++)
		bad += epoll_wait(fd, &e, 1, 5) != 0;
	printf("%d\n", bad);
	return 0;
}
END
if ${CC:-cc} -O1 eintr.c -o eintr; then
	t_is "no call returns early" \
		"$("$TALLY" record -q --wait -o g.tally ./eintr)" 0
fi
t_done
