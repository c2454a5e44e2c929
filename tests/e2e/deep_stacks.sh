#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of up to a million frames, recorded and shown.
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/stacks.sh"

# No stack is too deep: what changed since the last sample is walked, the rest is
# compared.
cat >deep.c <<'END'
#include <stdlib.h>
#include "burn.h"
static NOINLINE int down(int n, int times)
{
	int r;

	if (!n) {
		for (int i = 0; i < times; i++)
			burn(100000);
		return 1;
	}
	r = down(n - 1, times);
	STAY;
	return r + (sink == 7);
}
/* Also the part that is kept from sample to sample changes. */
static NOINLINE int other(int n, int times)
{
	int r;

	if (!n)
		return down(6000, times);
	r = other(n - 1, times);
	STAY;
	return r + (sink == 7);
}
int main(int argc, char **argv)
{
	int deep = atoi(argv[1]), times = atoi(argv[2]);

	if (argc == 3)
		return down(deep, times) == 7;
	for (int i = 0; i < 4; i++) {
		down(deep - 1, times / 4);
		STAY;
		other(deep - 6001, times / 4);
		STAY;
	}
	return 0;
}
END
cc -o deep deep.c
# shellcheck disable=SC3045 # dash and bash have it
if (ulimit -s unlimited && ./deep 1000000 1) 2>/dev/null; then
	(ulimit -s unlimited && exec "$TALLY" record -q -g -F 60 \
		-e cpu-clock:u -o deep.tally -- ./deep 30000 5000)
	t_is "30,000 frames are 30,000 frames" "$(chains deep.tally | awk '
		/^burn down / { n++; k += / main / && gsub(/down /, "") == 30001 }
		END { print (n > 15 && k * 100 >= n * 95 ? "yes" :
			k + 0 " of " n + 0) }')" yes
	(ulimit -s unlimited && exec "$TALLY" record -q -g -F 60 \
		-e cpu-clock:u -o changing.tally -- ./deep 20000 5000 x)
	# what is read when the other one runs already may be its
	t_is "what is kept from sample to sample changes with the stack" "$(chains \
		changing.tally | awk '/^burn down / && / main / { n++
		d = gsub(/down /, ""); o = gsub(/other /, "")
		k += (d == 20000 && !o) || (d == 6001 && o == 13999)
		a += d == 20000; b += o == 13999 }
		END { print (a > 5 && b > 5 && k * 2 > n ? "yes" :
			k + 0 " of " n + 0) }')" yes
	(ulimit -s unlimited && exec "$TALLY" record -q -g -F 250 \
		-e cpu-clock:u -o million.tally -- ./deep 1000000 8000)
	t_ok "most stacks of a million frames are not cut" \
		$(($(stacks million.tally later) < 30 || $(stacks million.tally \
		cut) + $(stacks million.tally broken) > \
		$(stacks million.tally later)))
	t_like "all their frames are there" "$("$TALLY" info million.tally)" \
		'stack nodes +1,0[0-9][0-9],[0-9]+'
	t_ok "they are shown as trees" "$("$TALLY" report -g million.tally |
		grep -q ' down'; echo $?)"
	for view in 'flamegraph -o m.svg' 'flamegraph --inverted -o m.svg' \
		'report --html -o m.html' 'annotate -o m.txt' \
		'report -g --format=json -o m.json' 'diff -o m.txt million.tally'
	do
		# many times what it takes: it ends
		# shellcheck disable=SC2086
		t_run "$view" timeout 300 "$TALLY" $view million.tally
	done
	t_ok "their picture can be looked at" $(($(wc -c <m.svg) > 10000000 ||
		$(wc -c <m.html) > 10000000))
else
	t_skip "deep stacks" "the stack's size may not be set here"
fi
# Sources that copy a stack themselves are not bound to the kernel's limit of 64 KB:
# frames of 10 KB, as interpreters have them, whose callers change all the time.
cat >large.c <<'END'
#include <stdlib.h>
#include <string.h>

static int walk(int depth, int way);
static int right(int depth)
{
	return walk(depth, 1) + 1;
}
static int left(int depth)
{
	return walk(depth, 0) - 1;
}
static int (*volatile ways[2])(int) = { left, right };

static __attribute__((noinline)) int walk(int depth, int way)
{
	volatile char frame[10240];

	frame[0] = (char)way;
	if (depth == 0) {
		for (int i = 0; i < 100; i++)
			frame[i * 100] = (char)(frame[i] + i);
		return frame[300];
	}
	return ways[depth & 1](depth - 1) + ways[~depth & 1](depth - 1) + frame[0];
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		sum += walk(14, i & 1);
	return sum == 1;
}
END
t_run "a program with large frames" ${CC:-cc} -O1 -fno-optimize-sibling-calls -w -o large large.c
for source in timer ptrace; do
	if ! "$TALLY" record -q -g -F 500 --source=$source -o large.tally -- ./large 500 2>err; then
		t_skip "stacks of 150 KB by $source" "$(tail -n 1 err)"
		continue
	fi
	got="$(stacks large.tally whole) $(stacks large.tally cut)"
	t_ok "stacks of 150 KB by $source are whole ($got)" $((${got% *} < 20 ||
		${got% *} < 9 * ${got#* }))
done
t_done
