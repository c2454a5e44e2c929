#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs do the same with timers inside and without: output, errors, exit
# status, run by run.  TORTURE_RUNS says how many runs (500 before a release).
. "$top_srcdir/tests/lib.sh"

torture=$top_builddir/tests/workload/torture
case $torture in /*) ;; *) torture=$PWD/$torture;; esac
cd "$T_TMP" || exit 1
runs=${TORTURE_RUNS:-2}
if ! "$TALLY" record --source=timer -q -o probe.tally -- true 2>probe.err; then
	t_skip "torture" "cannot record here: $(head -1 probe.err)"
	t_done
	exit 0
fi

# once NAME COMMAND…: output and status as without tally?
once() {
	once_name=$1; shift
	"$@" >"$once_name.want" 2>"$once_name.want.err"
	echo "status $?" >>"$once_name.want"
	"$TALLY" record --source=timer -g -q -o "$once_name.tally" -- "$@" \
		>"$once_name.got" 2>"$once_name.got.err"
	echo "status $?" >>"$once_name.got"
	diff "$once_name.want" "$once_name.got" &&
		diff "$once_name.want.err" "$once_name.got.err"
}
same() { # NAME COMMAND…
	same_left=$runs
	while [ "$same_left" -gt 0 ]; do
		once "$@" || { echo "run $((runs - same_left + 1))"; return 1; }
		same_left=$((same_left - 1))
	done
}

for part in signals waits jumps threads files filter children; do
	t_run "$part: $runs runs as without tally" same $part "$torture" $part
done
t_is "and samples were taken" "$("$TALLY" report --format=json signals.tally |
	python3 -c 'import json, sys
print(json.load(sys.stdin)["header"]["samples"]["got"] > 5)')" True
if ${CXX:-g++} -O2 -pthread -o throw "$top_srcdir/tests/workload/torture_throw.cpp" \
	2>throw.err; then
	t_run "exceptions: $runs runs as without tally" same throw ./throw
else
	t_skip "exceptions" "no C++ compiler: $(head -1 throw.err)"
fi
t_done
