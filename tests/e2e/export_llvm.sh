#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles for LLVM's compilers say how often lines ran. They are compared with gcov,
# which counts exactly, and clang accepts them.
# shellcheck disable=SC1091
. "$top_srcdir/tests/lib.sh"
t_needs auto
cd "$T_TMP" || exit 1

for need in gcov gcc python3; do
	command -v "$need" >/dev/null && continue
	echo "1..0 # SKIP needs $need"
	exit 0
done

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static unsigned int sum, table[64];

static unsigned int mix(unsigned int x)
{
	x ^= x << 13;
	return x ^ x >> 7;
}

__attribute__((noinline)) static unsigned int step(unsigned int x)
{
	unsigned int y = mix(x);

	table[y & 63] += (y & 7) + (y >> 3 & 7) + (y >> 6 & 7) + (y >> 9 & 7) + (y >> 12 & 7) + (y >> 15 & 7);
	if ((y & 15) == 0)
		sum += table[(y >> 4) & 63] + table[(y >> 10) & 63];
	for (int i = 0; i < 6; i++)
		sum ^= y + i;
	return y + 1;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, x = 1;

	for (unsigned int i = 0; i < n; i++)
		x = step(x) + i;
	printf("%u %u\n", sum, x);
	return 0;
}
END
t_run "the program builds" gcc -g -O0 -o prog prog.c
t_run "and so that it counts" gcc -g -O0 --coverage -o counting prog.c
./counting 100000 >/dev/null
gcov -t counting-prog.gcda 2>/dev/null >counts || gcov -t prog.c >counts
t_like "gcov has counts" "$(cat counts)" '^ *100000\*?: *14:'
t_run "it is recorded" "$TALLY" record -q -F 4999 -e cpu-clock -o p.tally -- \
	./prog 25000000
t_run "its profile is written" "$TALLY" export --format=llvm -o p.llvm p.tally

cat >judge.py <<'END'
import math
import re
import sys

first = {"mix": 6, "step": 12, "main": 24}
exact = {}
with open("counts", encoding="utf-8") as f:
    for line in f:
        m = re.match(r" *([0-9]+)\*?: *([0-9]+):", line)
        if m:
            exact[int(m.group(2))] = int(m.group(1))
told, heads, now = {}, {}, None
with open("p.llvm", encoding="utf-8") as f:
    for line in f:
        m = re.fullmatch(r"(\w+):\d+:(\d+)\n", line)
        if m:
            now = m.group(1)
            heads[now] = int(m.group(2))
            continue
        m = re.fullmatch(r" (\d+): (\d+)\n", line)
        if m and now in first:
            told[first[now] + int(m.group(1))] = int(m.group(2))
# What runs once an iteration is the unit.
per_iteration = [told[n] for n in (14, 16, 17, 21)]
unit = math.exp(sum(map(math.log, per_iteration)) / len(per_iteration))
bad = []
for line, counted in sorted(exact.items()):
    # Not the lines of functions' heads, which have prologues, too, nor main, whose few
    # instructions run beside those of step.
    if line in (6, 12) or line >= 24 or counted < 1000:
        continue
    ratio = told.get(line, 0) / unit / (counted / 100000)
    print("# line %d ran %d times, by samples %.0f" % (
        line, counted, 100000 * told.get(line, 0) / unit))
    # A sample counts what an instruction took, not how often it ran: processors pay
    # for a load where its value is used, and for a mispredicted branch where it leads.
    if not 1 / 5 <= ratio <= (5 if counted >= 100000 else 10):
        bad.append(line)
for name in ("mix", "step"):
    print("# %s was entered %.2f times an iteration" % (
        name, heads[name] / unit))
    if not 1 / 5 <= heads[name] / unit <= 5:
        bad.append(name)
# The profile has whole numbers above 0, however fast the machine is.
if heads["main"] > max(1, unit / 1000):
    bad.append("main")
print("wrong:", bad)
sys.exit(bool(bad))
END
python3 judge.py >judged 2>&1
t_is "lines and functions ran as often as gcov says, roughly" \
	"$?:$(tail -1 judged)" "0:wrong: []"
grep '^#' judged

# --- the compiler that it is for
if command -v clang >/dev/null; then
	clang -O2 -g -fdebug-info-for-profiling -fprofile-sample-use=p.llvm \
		-Wall -S -emit-llvm -o prog.ll prog.c 2>clang.err
	t_is "clang takes it without a word" "$?:$(cat clang.err)" "0:"
	t_like "and knows how often functions are entered" "$(cat prog.ll)" \
		'function_entry_count", i64 [1-9][0-9]{2}'
	t_like "and how often branches are taken" "$(cat prog.ll)" \
		'branch_weights'
else
	t_skip "clang takes it" "no clang here"
fi
t_done
