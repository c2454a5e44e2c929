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
# These files are not damaged.
said=$(FUZZ_LIBDW_STRICT=1 "$top_builddir/tests/fuzz/fuzz_libdw" \
	"$top_srcdir/tests/fuzz/corpus/libdw" 2>&1)
status=$?
if printf '%s\n' "$said" | grep -q 'without libdw\|libdw.so.1 cannot'; then
	t_skip "libdw's answers about ELF files" "there is no libdw"
else
	t_like "libdw has the same answers about ELF files" "$status:$said" \
		'^0:'
	t_like "… and was asked" "$said" ' [1-9][0-9,]* the same'
fi
t_done
