#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Waits that became longer: diff and check name the function of the program that waits,
# although all locks wait in the same function of the C library.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf

cat >cache.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int turn;

/* Nothing here may end in a jump to what it calls. */
#define STAY __asm__ volatile("" ::: "memory")
static void ms(long n)
{
	struct timespec t = { 0, n * 1000000 };

	nanosleep(&t, NULL);
}
/* Without sleeping: without names for the C library, locks and sleeps wait in one row. */
static void hold(long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < n * 1000000);
}
/* On a busy machine the other thread may be further already. */
static void await(int n)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < n)
		ms(1);
}
static void set(int n) { __atomic_store_n(&turn, n, __ATOMIC_RELEASE); }
static __attribute__((noinline)) void cache_get(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	STAY;
}
static __attribute__((noinline)) void other_get(void)
{
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	STAY;
}
static void *holder(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		await(3 * i + 1);
		pthread_mutex_lock(&lock);
		pthread_mutex_lock(&other);
		set(3 * i + 2);
		hold(atol(arg));
		pthread_mutex_unlock(&lock);
		ms(4);
		pthread_mutex_unlock(&other);
		set(3 * i + 3);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;

	pthread_create(&t, NULL, holder, argv[argc - 1]);
	for (int i = 0; i < ROUNDS; i++) {
		set(3 * i + 1);
		await(3 * i + 2);
		cache_get();
		other_get();
		await(3 * i + 3);
	}
	pthread_join(t, NULL);
	return 0;
}
END
if ! ${CC:-cc} -O1 -g -pthread cache.c -o cache 2>err; then
	t_skip_all "waits" "cannot compile: $(head -1 err)"
fi
"$TALLY" record -q --wait --repeat 6 -o old.tally ./cache 3
"$TALLY" record -q --wait --repeat 6 -o new.tally ./cache 24

"$TALLY" check -e blocked --baseline old.tally --new new.tally >check.txt 2>&1
t_is "longer waits fail a check" $? 1
t_like "… which names the function of the program that waits" \
	"$(cat check.txt)" 'callers that gained: cache_get \+[0-9.]+'
"$TALLY" check -e blocked --json check.json --baseline old.tally --new new.tally \
	>/dev/null 2>&1
t_like "JSON has it, too" "$(cat check.json)" 'cache_get'

"$TALLY" diff -e blocked --format=json old.tally new.tally >diff.json 2>diff.err
python3 - diff.json >diff.out 2>&1 <<'END'
import json, sys
rows = {r['symbol']: r['total'] for r in json.load(open(sys.argv[1]))['rows']}
lock = rows['cache_get']
assert lock['beyond_noise'] and lock['change'] > 0, lock
assert lock['low'] < lock['change'] < lock['high'], lock
# 21 ms more in each of 20 rounds, and at most as much again for a busy machine.
assert 20 * 15e6 < lock['change'] < 20 * 90e6, lock
END
t_ok "diff reports how much longer a function of the program waits" $?
[ ! -s diff.out ] || sed 's/^/# /' diff.out
t_like "… by kind, too" "$("$TALLY" diff -e blocked --format=csv -s wait \
	old.tally new.tally)" '^futex,blocked,[^,]*,grew,'
t_done
