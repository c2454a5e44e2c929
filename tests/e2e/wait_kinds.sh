#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for, and which function ended which waits: a program in which each
# function waits for something else, recorded by all sources.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf

cat >kinds.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20 };
/* Nothing here may end in a jump to what it calls. */
#define STAY __asm__ volatile("" ::: "memory")
#define SITE(name) static __attribute__((noinline)) void name(void)
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2], sockets[2], event, timer, epoll, turn;

static void ms(int n)
{
	struct timespec t = { 0, n * 1000000l };

	nanosleep(&t, NULL);
}
/* Not functions, because those would be the ones that wait. */
#define TAKE(fd, n) \
	do { \
		char c[8]; \
		if (read(fd, c, n) != n) \
			abort(); \
	} while (0)
#define GIVE(fd) do { if (write(fd, "", 1) != 1) abort(); } while (0)
SITE(at_pipe) { TAKE(pipes[0], 1); STAY; }
SITE(at_socket) { TAKE(sockets[0], 1); STAY; }
SITE(at_recv) { char c; if (recv(sockets[0], &c, 1, 0) != 1) abort(); STAY; }
SITE(at_eventfd) { TAKE(event, 8); STAY; }
SITE(at_timerfd)
{
	struct itimerspec t = { .it_value = { 0, 6000000 } };

	timerfd_settime(timer, 0, &t, NULL);
	TAKE(timer, 8);
	STAY;
}
SITE(at_lock)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	STAY;
}
SITE(at_sleep) { ms(6); STAY; }
SITE(at_epoll) { struct epoll_event e; epoll_wait(epoll, &e, 1, 6); STAY; }
SITE(at_poll) { poll(NULL, 0, 6); STAY; }
SITE(at_child)
{
	pid_t pid = fork();

	if (!pid) {
		ms(6);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	STAY;
}
/* From a pipe and from a socket, by turns. */
SITE(at_both)
{
	static int n;

	TAKE(n++ & 1 ? pipes[0] : sockets[0], 1);
	STAY;
}
SITE(wake_pipe) { GIVE(pipes[1]); STAY; }
SITE(wake_socket) { GIVE(sockets[1]); STAY; }
SITE(wake_eventfd) { eventfd_write(event, 1); STAY; }
SITE(wake_lock) { pthread_mutex_unlock(&mutex); STAY; }

static void *helper(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		__atomic_store_n(&turn, 2 * i + 1, __ATOMIC_RELEASE);
		ms(6);
		wake_lock();
		ms(6);
		wake_pipe();
		ms(6);
		wake_socket();
		ms(6);
		wake_socket();
		ms(6);
		wake_eventfd();
		ms(6);
		if (i & 1)
			wake_pipe();
		else
			wake_socket();
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 2)
			ms(1);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	event = eventfd(0, 0);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	epoll = epoll_create1(0);
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	pthread_create(&t, NULL, helper, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 1)
			ms(1);
		at_lock();
		at_pipe();
		at_socket();
		at_recv();
		at_eventfd();
		at_both();
		at_timerfd();
		at_sleep();
		at_epoll();
		at_poll();
		at_child();
		__atomic_store_n(&turn, 2 * i + 2, __ATOMIC_RELEASE);
	}
	pthread_join(t, NULL);
	return 0;
}
END
if ! ${CC:-cc} -O2 -g -pthread kinds.c -o kinds 2>err; then
	t_skip_all "kinds of waits" "cannot compile: $(head -1 err)"
fi

# "SITE:KIND": for each function of the program, the kinds of its waits.  The child
# sleeps, fork stops the parent, and after it both may wait for a page.
kinds_of() { # FILE
	"$TALLY" report --format=csv -e blocked -s wait,symbol "$1" |
		awk -F, '$2 ~ /^at_/ && $1 != "" { print $2 ":" $1 }' | sort -u |
		grep -v '^at_child:[sfp]'
}
blocked() { # FILE: ns by kind
	"$TALLY" report --format=csv -e blocked -s wait "$1" |
		awk -F, 'NR > 1 { printf "%s:%.0f\n", $1, $3 }'
}
all_blocked() { # FILE: ns
	"$TALLY" report --format=csv -e blocked -s event "$1" |
		awk -F, 'NR > 1 { sum += $3 } END { printf "%.0f\n", sum }'
}
judge() { # HOW FILE
	kinds_of "$2" >kinds.txt
	for site in lock:futex pipe:read_pipe socket:read_socket \
		recv:read_socket eventfd:read_eventfd timerfd:read_timerfd \
		sleep:sleep epoll:epoll poll:poll child:child; do
		want=$(echo "at_$site" | tr _ ' ' | sed 's/^at /at_/')
		t_is "$1: what ${site%%:*} waits for" \
			"$(grep "^at_${site%%:*}:" kinds.txt)" "$want"
	done
	t_like "$1: the same call on different files has the call's word alone" \
		"$(grep '^at_both:' kinds.txt)" '^at_both:read$'
}

"$TALLY" record -q --wait -o a.tally ./kinds
t_ok "waits are recorded" $?
judge "samples at switches" a.tally
all=$(all_blocked a.tally)
t_is "kinds are parts of all blocked time" \
	"$(blocked a.tally | awk -F: '{ s += $2 } END { printf "%.0f\n", s }')" "$all"
known=$(blocked a.tally | awk -F: '$1 != "" { s += $2 }
	END { printf "%.0f\n", s }')
t_run "nearly all blocked time has a kind ($known of $all ns)" \
	test "$known" -ge $((all / 100 * 90))
"$TALLY" report --no-tui a.tally >a.txt
t_like "the table of waits has a column for it" "$(cat a.txt)" \
	'^WAITS +SHARE +TIME +NUMBER +FOR +FUNCTION'
t_like "… with the kind of each row" "$(cat a.txt)" \
	'^blocked +[0-9.]+% +[0-9.]+ s +[0-9]+  read pipe +at_pipe in'
t_lacks "time without a processor is of no kind" \
	"$("$TALLY" report --format=csv -e runnable -s wait a.tally)" '^[a-z ]+,[1-9]'
"$TALLY" report --format=json -e blocked -s wait a.tally >a.json
t_like "JSON has the key" "$(cat a.json)" '"wait": ?"read eventfd"'
"$TALLY" dump --only stacks a.tally >a.dump
t_like "dump prints the rows" "$(cat a.dump)" \
	'^wait_kind [0-9]+ node=[0-9]+ kind="read pipe"'
"$TALLY" record -q --wait -o a2.tally ./kinds
"$TALLY" merge a.tally a2.tally -o m.tally 2>m.err
t_is "merging keeps kinds" "$(kinds_of m.tally)" "$(kinds_of a.tally)"
"$TALLY" diff --format=csv -e blocked -s wait a.tally a.tally >d.csv 2>d.err
t_like "diff compares kinds" "$(cat d.csv)" '^read pipe,'
t_lacks "… and matches them" "$(sed 1d d.csv)" ',(new|gone),'
"$TALLY" record -q --wait --switch-output=100ms -o s.tally ./kinds 2>s.err
for f in s.tally.*; do
	[ -f "$f" ] && "$TALLY" report --format=csv -e blocked -s wait "$f"
done >s.csv
for kind in futex "read pipe" child; do
	t_run "files of a switched output have kinds: $kind" \
		test "$(grep -c "^$kind," s.csv)" -ge 5
done

# The call of each wait by BPF programs, and otherwise by polls.
cat >short.c <<'END'
#include <pthread.h>
#include <semaphore.h>

enum { ROUNDS = 60000 };
static sem_t to, from;

static void *helper(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&to);
		sem_post(&from);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	sem_init(&to, 0, 0);
	sem_init(&from, 0, 0);
	pthread_create(&t, NULL, helper, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		sem_post(&to);
		sem_wait(&from);
	}
	return pthread_join(t, NULL);
}
END
cat >stops.c <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void compute(void)
{
	for (volatile unsigned long i = 0; i < -1ul; i++)
		;
}

int main(void)
{
	pid_t pid = fork();

	if (!pid)
		compute();
	for (int i = 0; i < 20; i++) {
		usleep(5000);
		kill(pid, SIGSTOP);
		usleep(200);
		kill(pid, SIGCONT);
	}
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) != pid;
}
END
t_bpf
if [ -n "$bpf" ]; then
	t_skip "calls of waits without a stack" "$bpf"
else
	${CC:-cc} -O2 -g -pthread short.c -o short
	"$TALLY" record -q --wait -o short.tally ./short
	t_is "most waits have no stack, but all have a call" \
		"$("$TALLY" report --format=csv -e blocked -s symbol short.tally |
		awk -F, '$1 ~ /no stack/ && $2 { print $1 }')" '[no stack: futex]'
	"$TALLY" report --no-tui short.tally | sed -n '/^WAITS/,/^$/p' >short.txt
	t_like "… and follow those with a stack" "$(sed -n 2p short.txt)" \
		'^(blocked|runnable) .*  (main|helper) in '
	t_like "… under a heading" "$(sed -n '/^# Waits without/,/^#/p' short.txt)" \
		'^blocked .* futex  +\[no stack: futex\]$'
	${CC:-cc} -O1 -g stops.c -o stops
	"$TALLY" record -q --wait -o stops.tally ./stops
	t_is "a short stop is no page fault" \
		"$("$TALLY" report --format=csv -e blocked -s wait,symbol stops.tally |
		awk -F, '$2 == "compute" { print $1 }')" stopped
	$no_bpf "$TALLY" record -q --wait -o events.tally ./kinds
	judge "without BPF programs" events.tally
fi

# Which function ended which waits.  Some kernels' perf events miss what happens in
# the idle task of a processor (seen with Linux 6.18 and perf), so none is idle here.
for i in $(seq "$(nproc)"); do
	chrt -i 0 sh -c 'while :; do :; done' & loops="${loops-} $!"
done
t_cleanup "kill $loops 2>/dev/null"
"$TALLY" record -q --wait -o p.tally ./kinds
kill $loops
all=$(all_blocked p.tally)
"$TALLY" report --wakers p.tally >w.txt
if "$TALLY" report --no-tui p.tally | grep -q 'being woken'; then
	t_skip "pairs" "the kernel's tracepoints are not to be had"
	t_like "without wakeups nothing is known of ends" "$(cat w.txt)" \
		'known for 0.0%'
else
	# On a busy machine some are woken before they wait.
	for pair in pipe:read_pipe:wake_pipe eventfd:read_eventfd:wake_eventfd \
		lock:futex:wake_lock socket:read_socket:wake_socket; do
		site=${pair%%:*} kind=${pair#*:}
		kind=$(echo "${kind%:*}" | tr _ ' ')
		t_like "the pair of $site" "$(cat w.txt)" \
			"^blocked .*  (1[0-9]|20)  $kind +at_$site in .* <- ${pair##*:} in"
	done
	t_like "a timer is an interrupt" "$(cat w.txt)" \
		'at_timerfd in read <- \[interrupt\]'
	t_like "a child ends by its exit" "$(cat w.txt)" \
		'child +at_child in .* <- \[exit\]'
	t_is "a pipe's reader is woken by its writer only" \
		"$(grep 'at_pipe in' w.txt | grep -cv 'wake_pipe')" 0
	"$TALLY" report --wakers --format=json p.tally >w.json
	python3 - w.json "$all" >w.out 2>&1 <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
pairs = d['pairs']
assert d['blocked_ns'] == int(sys.argv[2]), d['blocked_ns']
known = sum(p['blocked_ns'] for p in pairs)
assert 0.9 * d['blocked_ns'] < known <= d['blocked_ns'], known
one = [p for p in pairs if p['function'] == 'at_lock']
assert len(one) == 1 and one[0]['by_function'] == 'wake_lock', one
n = one[0]['waits']
assert one[0]['wait'] == 'futex' and 10 <= n <= 20, one
# On a busy machine all of its waits are longer; it is one of more than eleven.
assert n * 2e6 < one[0]['blocked_ns'] < d['blocked_ns'] / 4, one
END
	t_ok "JSON has the pairs, and they are parts of blocked time" $?
	"$TALLY" report --wakers --tid 1 p.tally >w1.txt
	t_like "of other threads nothing is shown" "$(cat w1.txt)" 'of 0.000 s'
	"$TALLY" report --wakers m.tally >wm.txt
	t_like "merging loses which wait ended when" "$(cat wm.txt)" \
		'known for 0.0%'
fi
"$TALLY" record -q -o c.tally true
"$TALLY" report --wakers c.tally 2>c.err
t_like "a recording without waits has no pairs" "$(cat c.err)" \
	'no waits were recorded'
"$TALLY" report --wakers --html a.tally 2>h.err
t_like "pairs are text or JSON" "$(cat h.err)" '^tally: --wakers'

# Without rights, and without perf events.
for source in timer ptrace; do
	rm -f t.tally
	"$TALLY" record -q --wait --source=$source -o t.tally ./kinds
	judge $source t.tally
done
t_settings
old=$(cat /proc/sys/kernel/perf_event_paranoid)
as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ] || ! echo 2 >/proc/sys/kernel/perf_event_paranoid ||
	! as_nobody "$TALLY" --version >/dev/null 2>&1; then
	t_skip "kinds by looks" "needs root, setpriv, and settings that may be changed"
else
	t_cleanup "echo $old >/proc/sys/kernel/perf_event_paranoid"
	mkdir other
	chmod 777 other .
	(cd other && as_nobody "$TALLY" record -q --wait -o b.tally ../kinds)
	chown 0 other/b.tally
	judge "polls" other/b.tally
	echo "$old" >/proc/sys/kernel/perf_event_paranoid
fi
t_done
