#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs behave the same with timers inside them, or traced, as alone: output, errors,
# exit status, run by run. TORTURE_RUNS is the number of runs (1, with TALLY_TESTS=long 2;
# 500 before a release), TORTURE_SOURCE the sources, TORTURE_PARTS the parts of the
# program, TORTURE_RATE the sampling rate.
. "$top_srcdir/tests/lib.sh"

torture=$top_builddir/tests/workload/torture
case $torture in /*) ;; *) torture=$PWD/$torture;; esac
cd "$T_TMP" || exit 1
runs=${TORTURE_RUNS:-$(t_long && echo 2 || echo 1)}
rate=${TORTURE_RATE:-999}
sources=
for source in ${TORTURE_SOURCE:-timer ptrace}; do
	if "$TALLY" record --source="$source" -q -o probe.tally -- true \
		2>probe.err; then
		sources="$sources $source"
	else
		t_skip "torture by $source" \
			"cannot record here: $(head -1 probe.err)"
	fi
done

# once NAME COMMAND…: output and status as without tally?
once() {
	once_name=$1; shift
	"$@" >"$once_name.want" 2>"$once_name.want.err"
	echo "status $?" >>"$once_name.want"
	for source in $sources; do
		got=$once_name.$source
		"$TALLY" record --source="$source" -F "$rate" -g -q \
			-o "$got.tally" -- "$@" >"$got" 2>"$got.err"
		echo "status $?" >>"$got"
		if ! { diff "$once_name.want" "$got" &&
			diff "$once_name.want.err" "$got.err"; }; then
			echo "by $source"
			return 1
		fi
	done
}
same() { # NAME COMMAND…
	same_run=0
	same_bad=0
	while [ "$same_run" -lt "$runs" ]; do
		same_run=$((same_run + 1))
		once "$@" || {
			echo "in run $same_run"
			same_bad=$((same_bad + 1))
		}
	done
	[ "$same_bad" -eq 0 ] || echo "$same_bad of $runs runs differ"
	[ "$same_bad" -eq 0 ]
}
has_samples() { # FILE
	"$TALLY" report --format=json "$1" | python3 -c 'import json, sys
print(json.load(sys.stdin)["header"]["samples"]["got"] > 5)'
}

[ "$sources" ] || { t_done; exit 0; }
parts="signals waits jumps threads files filter children stops transfers
	environ exceptions"
for part in ${TORTURE_PARTS:-$parts}; do
	program="$torture $part"
	if [ "$part" = exceptions ]; then
		program=./throw
		${CXX:-g++} -O2 -pthread -o throw \
			"$top_srcdir/tests/workload/torture_throw.cpp" \
			2>throw.err || {
			t_skip "exceptions" \
				"no C++ compiler: $(head -1 throw.err)"
			continue
		}
	fi
	# shellcheck disable=SC2086
	t_run "$part: $runs runs by$sources as without tally" same \
		"$part" $program
	[ "$part" = signals ] || continue
	for source in $sources; do
		t_is "and samples were taken by $source" \
			"$(has_samples "$part.$source.tally")" True
	done
done
t_done
