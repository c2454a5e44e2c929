#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML page in a real browser: see html_browser.py.  SCREENSHOTS: a folder for pictures
# of the pages, which are taken only then.
. "$top_srcdir/tests/lib.sh"

browser="$top_srcdir/tests/e2e/html_browser.py"
made="$top_builddir/tests/workload/made_recording"
case $made in /*) ;; *) made=$PWD/$made;; esac
if ! why=$(python3 -B "$browser" --can 2>&1); then
	t_skip_all "the page in a browser" "$(echo "$why" | tail -n 1)"
fi
cp "$top_srcdir/tests/e2e/browser.py" "$browser" \
	"$top_srcdir/tests/e2e/html_changes.py" "$T_TMP/"
cd "$T_TMP" || exit 1
"$made" hostile hostile.tally && "$made" many many.tally 10000 2000 || exit 1
for f in hostile many; do
	"$TALLY" report --html -o $f.html $f.tally
	"$TALLY" report --format=json $f.tally >$f.json
done
"$TALLY" dump --frames --only samples many.tally >many.stacks
# something with instructions and jumps, with its source below this folder
cp "$top_srcdir/tests/workload/known_cost.c" .
${CC:-cc} -O2 -g -fno-omit-frame-pointer -pthread -o known_cost \
	"$PWD/known_cost.c"
"$TALLY" record -o real.tally -F 2000 --embed-source -- ./known_cost 0.7 \
	2>/dev/null >&2
"$TALLY" report --html -o real.html real.tally
"$TALLY" annotate --html -o one.html many.tally "$(
	"$TALLY" report --format=csv many.tally | sed -n 300p |
		sed 's/.*::\(work_[0-9]*\).*/*\1*/')"
"$TALLY" annotate --html -o hostile-lines.html hostile.tally constructor
"$TALLY" diff --html -o hostile-diff.html hostile.tally hostile.tally
. "$top_srcdir/tests/workload/twins.sh"
make_twins && "$TALLY" record -q -g -o twins.tally -- ./twins &&
	"$TALLY" report --html -o twins.html twins.tally
"$TALLY" record --source=perf -q -e cpu-clock -F 1 -o none.tally -- true 2>/dev/null &&
	"$TALLY" report --html -o none.html none.tally
# two versions of a program
mkdir old new
cat >old/two.c <<'EOF'
#include <stdint.h>
#include <stdlib.h>
__attribute__((noinline)) uint64_t slower(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 31 ^ x >> 5;
	return x;
}
__attribute__((noinline)) uint64_t steady(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
	return x;
}
int main(int argc, char **argv)
{
	uint64_t x = (uint64_t)argc;
	for (int i = 0; i < atoi(argv[1]); i++)
		x = slower(x, 10000) + steady(x, 40000);
	return x == 1;
}
EOF
# one is slower, the other has another name
sed 's/x = x \* 31 ^ x >> 5;/x = x % 1021 * 31 + (x >> 3) % 7;/; s/steady/stable/' \
	old/two.c >new/two.c
for v in old new; do
	${CC:-cc} -O2 -g -fno-omit-frame-pointer -o $v/two $v/two.c
	"$TALLY" record -g -F 4000 --embed-source -o $v.tally -- $v/two 1500 \
		2>/dev/null >&2
done
# what lines gained stands out of noise with some runs a side only
for v in old-2 new-2 old-3 new-3 old-4 new-4; do
	"$TALLY" record -g -F 4000 --embed-source -o $v.tally -- ${v%-*}/two \
		1500 2>/dev/null >&2
done
"$TALLY" check --format none --html check.html --baseline old.tally \
	old-?.tally --new new.tally new-?.tally
# stacks of 900 frames beside shallow ones
cat >deep.c <<'EOF'
#include <stdint.h>
#include <stdlib.h>
static volatile uint64_t sum;
__attribute__((noinline)) void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sum = sum * 31 ^ sum >> 5;
}
__attribute__((noinline)) void other(int n)
{
	leaf(n);
	sum++;
}
__attribute__((noinline)) void down(int depth, int n)
{
	if (depth)
		down(depth - 1, n);
	else
		leaf(n);
	sum++;
}
__attribute__((noinline)) void even(int depth, int n);
__attribute__((noinline)) void odd(int depth, int n)
{
	if (depth)
		even(depth - 1, n);
	else
		leaf(n);
	sum++;
}
__attribute__((noinline)) void even(int depth, int n)
{
	odd(depth, n);
	sum++;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		down(900, 100000);
		odd(20, 100000);
		other(200000);
	}
	return 0;
}
EOF
${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-o deep deep.c
"$TALLY" record -g -F 2000 -o deep.tally -- ./deep 800 2>/dev/null >&2
"$TALLY" report --html -o deep.html deep.tally
"$made" deep deeper.tally 16000
"$TALLY" report --html -o deeper.html deeper.tally
"$TALLY" report --format=json deeper.tally >deeper.json
cp hostile.tally hostile-2.tally
"$TALLY" check --format none --html hostile-check.html \
	--baseline hostile.tally --new hostile-2.tally
"$TALLY" diff --html -o diff.html old.tally new.tally
"$TALLY" diff --format=json old.tally new.tally >diff.json
"$TALLY" flamegraph --icicle -o begin.html many.tally
"$TALLY" flamegraph -o hostile.svg hostile.tally
t_driven "the browser was driven to the end" python3 -B html_browser.py "$T_TMP" \
	"${SCREENSHOTS-}"
t_done
