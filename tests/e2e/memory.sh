#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole commands with an allocation failing, their libraries' too: each does what it
# does with enough memory, or says once that memory ran out and exits with 4.
. "$top_srcdir/tests/lib.sh"

unset DEBUGINFOD_URLS
failing=$top_builddir/tests/cli/failing
case $failing in /*) ;; *) failing=$PWD/$failing;; esac
cost=$top_builddir/tests/workload/known_cost
case $cost in /*) ;; *) cost=$PWD/$cost;; esac
cd "$T_TMP" || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
# small, and with kernel, threads, callers, lines and code in it
for f in a b; do
	"$TALLY" record -q -g -F 500 -o $f.tally -- \
		sh -c '"$0" 0.1; "$0" 0.1' "$cost" 2>rec.err && continue
	t_skip "failing allocations" "cannot record: $(head -n 1 rec.err)"
	t_done; exit
done
fails() { # STEP COMMAND…: at every STEP-th of the places that allocate
	step=$1; shift
	# a run takes 20 times as long with a sanitizer
	if nm "$failing" | grep -q __asan_init; then step=$((step * 11)); fi
	out=$("$failing" -s $step ${keys:+-k "$keys"} "$@" 2>&1)
	t_like "$*${keys:+ in a terminal}" "$?:$out" \
		'^0:[1-9][0-9]* runs of [1-9][0-9]* allocations, status 0$'
}
keys=
fails 1 report --no-tui a.tally
fails 1 report --no-tui -g a.tally
fails 1 report --no-tui -g=callees --children a.tally
fails 1 report --no-tui -s comm,pid,line a.tally
fails 1 report --format=json a.tally
fails 1 report --format=csv a.tally
fails 2 report --html -o /dev/stdout a.tally
fails 2 annotate --no-pager --both --top 2 a.tally
fails 2 annotate --format=json --top 2 a.tally
fails 1 diff --no-pager a.tally b.tally
fails 2 diff --no-pager --both --top 1 a.tally b.tally
fails 4 diff --html -o /dev/stdout a.tally b.tally
fails 2 check --warn-only --baseline a.tally --new b.tally
fails 4 check --warn-only --html /dev/stdout --json /dev/stdout \
	--baseline a.tally --new b.tally
for i in 1 2 3 4 5 6; do
	"$TALLY" history add --store store --commit $i a.tally >/dev/null
done
fails 1 history --store store
fails 2 history --store store --json /dev/stdout
fails 2 history --store store --html /dev/stdout
fails 2 history --store store --commit 1 add a.tally
fails 2 check --warn-only --history store --commit new --new b.tally
for f in folded otlp firefox; do
	fails 1 export --format=$f -o /dev/stdout a.tally
done
fails 1 dump a.tally
fails 1 info a.tally
fails 1 flamegraph --format=svg a.tally
fails 1 addr2line -fie "$cost" 0x1190
fails 1 list metrics
fails 1 list
fails 1 encode --pmu k8 dc-misses,usr
fails 1 help record
# What libdw allocates is another process's.
if "$TALLY" addr2line --verify -fie "$cost" 0x1190 >verify.out 2>&1; then
	fails 1 addr2line --verify -fie "$cost" 0x1190
	fails 12 symbolize --verify a.tally
else
	t_skip "a second opinion" "$(tail -n 1 verify.out)"
fi
# These look at much, or start programs, which takes longer than what they allocate
# for.
cp a.tally c.tally
fails 24 symbolize c.tally
fails 1 stat -o /dev/null -- true
fails 5 record -q -o r.tally -- true
fails 5 record -q --source=timer -g -o r.tally -- true
fails 40 doctor
# Rows, callers, code, source, a search, the menu of kinds, help.
keys='jj
asn	/main
?qqqmjj
qqqqqqqqqq'
if "$TALLY" report --tui a.tally 2>&1 </dev/null |
	grep -q 'without ncurses'; then
	t_skip "the terminal view" "built without ncurses"
else
	fails 4 report --tui a.tally
	fails 1 list metrics
fi

# Recording that fails in its middle leaves a file that says so.
n=200 cut=
while [ -z "$cut" ] && [ $n -lt 1500 ]; do
	n=$((n + 20))
	rm -f cut.tally
	"$failing" -n $n record -q -g -F 4000 -o cut.tally -- "$cost" 0.2 \
		>/dev/null 2>&1
	"$TALLY" info --format=json cut.tally 2>/dev/null |
		grep -q '"complete":false' && cut=$n
done
"$TALLY" report --no-tui cut.tally >cut.txt 2>&1
t_like "memory that ends while recording is told by the file" \
	"${cut:-none cut}: $(cat cut.txt)" 'did not end properly'
t_done
