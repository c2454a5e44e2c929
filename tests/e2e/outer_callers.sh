#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames larger than any copy of a stack, below which everything changes all the time:
# their callers are correct, or unknown.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
cat >large.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
static volatile unsigned long sink;
static void spin(void)
{
	for (unsigned long i = 0; i < 300; i++)
		sink += i;
}
NOINLINE static void leaf_one(void) { spin(); }
NOINLINE static void leaf_two(void) { spin(); sink++; }
NOINLINE static void step_1(void (*leaf)(void)) { leaf(); sink++; }
NOINLINE static void step_2(void (*leaf)(void)) { step_1(leaf); sink++; }
NOINLINE static void step_3(void (*leaf)(void)) { leaf(); sink++; }
/* what it calls tells who called it */
NOINLINE static void large(void (*leaf)(void), int n)
{
	volatile char room[100000];

	room[n] = room[0] = 0;
	/* or compilers keep only the bytes in use */
	__asm__ volatile("" : : "r"(room) : "memory");
	for (int i = 0; i < n; i++) {
		step_2(leaf);
		step_3(leaf);
		leaf();
		step_1(leaf);
	}
	sink += (unsigned long)room[n];
}
NOINLINE static void from_one(void) { large(leaf_one, 200); sink++; }
NOINLINE static void from_two(void) { large(leaf_two, 200); sink++; }
NOINLINE static int time_left(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 10 + t.tv_nsec / 100000000 < 12;
}
int main(int argc, char **argv)
{
	unsigned int seed = 1;
	int share = argc > 1 ? atoi(argv[1]) : 0;

	while (time_left())
		if (rand_r(&seed) % 100 < (unsigned int)share)
			from_two();
		else
			from_one();
	return 0;
}
END
if ! ${CC:-cc} -O1 -g -fomit-frame-pointer -o large large.c 2>cc.err; then
	t_skip_all "callers of large frames" "cannot compile: $(head -n 1 cc.err)"
fi
# Samples in thousandths of all in large: with a wrong caller, with the right one.
callers() { # SHARE
	"$TALLY" record -q --source=perf -g -F 1500 -o large.tally -- ./large "$1" &&
	"$TALLY" export --format=folded -o - large.tally | awk '
		!/large;/ { next }
		{ n = $NF; all += n }
		/from_one;/ { if (/leaf_two/) wrong += n; else right += n }
		/from_two;/ { if (/leaf_one/) wrong += n; else right += n }
		END { print int(1000 * wrong / all), int(1000 * right / all), all }'
}
for share in 50 10; do
	got=$(callers $share)
	t_ok "in $share of 100 calls from elsewhere: hardly any wrong caller ($got)" \
		$((${got%% *} > 20))
done
for try in 1 2 3; do
	got=$(callers 0)
	set -- $got
	[ "$2" -gt 350 ] && break
done
t_ok "always from one: the caller is known ($got)" $(($2 <= 350))
t_is "and no other" "$1" 0
t_like "it is said how it is known" "$("$TALLY" info large.tally)" \
	'outer callers read later'
t_done
