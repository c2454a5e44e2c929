#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target over its corpus, without libFuzzer.
. "$top_srcdir/tests/lib.sh"

for t in "$top_builddir"/tests/fuzz/fuzz_*; do
	[ -x "$t" ] && [ ! -d "$t" ] || continue
	case $t in *.o) continue;; esac
	name=${t##*/fuzz_}
	t_run "fuzz_$name eats its corpus" "$t" "$top_srcdir/tests/fuzz/corpus/$name"
done
t_done
