#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tables of waits in the report and in the HTML page: idle threads come last, a
# function that waits for anything is divided by callers, and the page agrees with the
# report. Names are hostile.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"

browser=$top_srcdir/tests/e2e/wait_browser.py
case $browser in /*) ;; *) browser=$PWD/$browser;; esac
cd "$T_TMP" || exit 1
t_needs perf

cat >tables.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Nothing here may end in a jump to what it calls. */
#define STAY __asm__ volatile("" ::: "memory")
#define SITE __attribute__((noinline))
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int pipes[2], ended;

SITE void wait_any(int ms) { poll(NULL, 0, ms); STAY; }
SITE void ask_disk(void) { wait_any(8); STAY; }
SITE void ask_net(void) { wait_any(4); STAY; }
SITE void ask_seldom(void) { wait_any(2); STAY; }
SITE void hostile_site(void) { char c; if (read(pipes[0], &c, 1) != 1) abort(); STAY; }
SITE void hostile_waker(void) { if (write(pipes[1], "", 1) != 1) abort(); STAY; }
SITE void *idle_worker(void *arg)
{
	pthread_mutex_lock(&mutex);
	while (!ended)
		pthread_cond_wait(&work, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}
/* Its only wait is as long as those of idle threads, but it wants a lock. */
SITE void *hung_worker(void *arg)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	STAY;
	return arg;
}
static void *reader(void *arg)
{
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		hostile_site();
	return arg;
}
SITE void compute(int ms)
{
	struct timespec t;
	long long end;

	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 1000000000ll + t.tv_nsec + ms * 1000000ll;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

int main(void)
{
	pthread_t t[4];

	if (pipe(pipes))
		return 1;
	pthread_mutex_lock(&held);
	pthread_create(&t[0], NULL, idle_worker, NULL);
	pthread_create(&t[1], NULL, idle_worker, NULL);
	pthread_create(&t[2], NULL, hung_worker, NULL);
	pthread_create(&t[3], NULL, reader, NULL);
	for (int i = 0; i < 60; i++) {
		ask_disk();
		ask_net();
		hostile_waker();
		compute(4);
	}
	ask_seldom();
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&held);
	hostile_waker();
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
# Names as an image of a stranger may have them.
if ! ${CC:-cc} -O2 -pthread -c tables.c 2>err ||
	! objcopy --redefine-sym 'hostile_site=<img/src=x onerror=alert(1)>' \
		--redefine-sym 'hostile_waker=</script><b>waker' tables.o 2>err ||
	! ${CC:-cc} -pthread tables.o -o tables 2>err; then
	t_skip "tables of waits" "cannot build: $(head -1 err)"
	t_done
	exit 0
fi
# Some kernels' perf events miss what happens in the idle task of a processor (seen with
# Linux 6.18), so none is idle.
for i in $(seq "$(nproc)"); do
	chrt -i 0 sh -c 'while :; do :; done' & loops="${loops-} $!"
done
t_cleanup "kill $loops 2>/dev/null"
"$TALLY" record -q --wait -o a.tally ./tables 2>a.err
t_ok "waits are recorded" $?
kill $loops

"$TALLY" report --no-tui --top 40 a.tally >a.txt
sed -n '/^WAITS/,/^ENDED BY/p' a.txt >table
sed '/^# Idle threads/,$d' table >busy
sed -n '/^# Idle threads/,$p' table >idle
t_like "waits of idle threads come last, under a heading" "$(cat idle)" \
	'^blocked +[0-9.]+% +[0-9.]+ s +[2-4]  futex +idle_worker in .*cond_wait'
t_lacks "… and only there" "$(cat busy)" \
	'^blocked +[1-9][0-9.]*% .* idle_worker in .*cond_wait'
t_like "who waits for a lock is not idle" "$(cat busy)" \
	'^blocked .* 1  futex +hung_worker in .*mutex_lock'
t_lacks "… nor who waits often" "$(cat idle)" '(wait_any|img)'
t_like "a function that waits for everything is told by its callers" \
	"$(cat busy)" '^blocked .* (59|60)  poll +wait_any in poll, from ask_disk$'
t_like "… by each" "$(cat busy)" \
	'^blocked .* (59|60)  poll +wait_any in poll, from ask_net$'
t_lacks "… but not by one that hardly waits" "$(cat busy)" 'ask_seldom'
t_like "a function with one caller needs none" "$(cat busy)" \
	'read pipe +<img/src=x onerror=alert\(.*\)> in read$'
t_is "all rows are all waits" "$(awk '/^(blocked|runnable) / {
	gsub(",", "", $5); n += $5 } END { print n }' table)" \
	"$("$TALLY" report --format=csv -e blocked,runnable -s event a.tally |
		awk -F, 'NR > 1 { n += $2 } END { print n }')"

# The page.
"$TALLY" report --html -o a.html a.tally
t_ok "a page is written" $?
# Its data are packed.
python3 - a.html >html.out 2>&1 <<'END'
import base64, re, sys, zlib
page = open(sys.argv[1]).read()
data, = re.findall('<script[^>]* id="data">([^<]*)<', page)
names = zlib.decompress(base64.b64decode(data))
for name in b'img/src=x onerror=alert', b'waker':
    assert name in names, name
for name in '<img', 'onerror=alert', '<b>waker':
    assert name not in page, name
END
t_ok "… with names in its data, without markup of them" $?
[ ! -s html.out ] || sed 's/^/# /' html.out
if ! why=$(python3 -B "$browser" --can 2>&1); then
	t_skip "the page in a browser" "$(echo "$why" | tail -n 1)"
	t_done; exit
fi
"$TALLY" report --wakers --format=json a.tally >pairs.json
"$TALLY" report --format=json -e blocked -s wait a.tally >kinds.json
"$TALLY" report --format=json -s event a.tally >events.json
"$TALLY" record -q -o c.tally true && "$TALLY" report --html -o c.html c.tally
"$TALLY" diff --html -o d.html a.tally a.tally
t_driven "the browser was driven to the end" python3 -B "$browser" "$T_TMP" \
	"${SCREENSHOTS:-$T_TMP}"
t_done
