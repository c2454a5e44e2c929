#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames with pages that the program never wrote, as in assembly and codecs with large
# arrays: the kernel's copy of the stack ends before such a page.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
cat >hole.c <<'END'
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
static volatile unsigned long sink;
NOINLINE static void leaf(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}
NOINLINE static void step(unsigned long n) { leaf(n); sink++; }
/* changes so often that its callers are unknown a moment later */
NOINLINE static void large(int n)
{
	volatile char room[40000];

	room[39999] = room[n] = 0;
	/* or compilers keep only the bytes in use */
	__asm__ volatile("" : : "r"(room) : "memory");
	for (int i = 0; i < n; i++) {
		step(100);
		leaf(150);
	}
	sink += (unsigned long)room[n];
}
NOINLINE static void from_one(void) { large(300); sink++; }
NOINLINE static void from_two(void) { large(200); sink++; }
int main(void)
{
	unsigned int seed = 1;
	struct timespec t;

	do {
		if (rand_r(&seed) & 64)
			from_one();
		else
			from_two();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec < 2);
	return 0;
}
END
if ! ${CC:-cc} -O1 -g -fomit-frame-pointer -o hole hole.c 2>cc.err; then
	t_skip_all "frames with untouched pages" "cannot compile: $(head -n 1 cc.err)"
fi
t_run "a program with such frames is recorded" "$TALLY" record -q \
	--source=perf -g -F 500 -o hole.tally -- ./hole
"$TALLY" report --format=json hole.tally >hole.json
# All copies end at the hole until it was read once, a moment after the first samples.
t_run "their callers are in the copies" python3 -c '
import json
s = json.load(open("hole.json"))["header"]["stacks"]
n = s["whole"] + s["later"] + s["guessed"] + s["cut"] + s["broken"]
print(s)
assert n >= 200, n
assert s["whole"] >= 0.7 * n, s'
t_done
