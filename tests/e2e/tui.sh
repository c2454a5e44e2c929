#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The interactive view of `tally report`, in a pseudo terminal.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
skip() {
	t_skip_all "the interactive view" "$1"
}
t_terminal "the interactive view"
# Sanitizers have handlers of their own, which print and exit.
off=handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}$off"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}$off"
cat >work.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) unsigned heavy(unsigned x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 1664525u + 1013904223u + (x >> 7);
	return x;
}
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += heavy(s);
	return s == 12345;
}
END
${CC:-cc} -O1 -g -fno-omit-frame-pointer -o work "$PWD/work.c" 2>cc.err ||
	skip "no C compiler that works: $(head -n 1 cc.err)"
"$TALLY" record -q -g -F 2000 -o a.tally -- ./work 4000 2>rec.err ||
	skip "cannot record here: $(head -n 1 rec.err)"
. "$top_srcdir/tests/workload/twins.sh"
make_twins && "$TALLY" record -q -g -o twins.tally -- ./twins 2>rec.err ||
	skip "cannot record here: $(head -n 1 rec.err)"
case $("$TALLY" report --tui a.tally 2>&1 </dev/null) in
*"without ncurses"*) skip "this tally was built without ncurses";;
esac
ulimit -c 0
"$python" "$top_srcdir/tests/e2e/tui.py" "$TALLY" "$T_TMP/a.tally" \
	"$T_TMP/twins.tally"
