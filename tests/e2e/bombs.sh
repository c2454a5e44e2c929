#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Small recordings that request much memory or output: each command reads them within
# the limits of tally-format(5), or says how much they need and how to allow it.
# With a sanitizer the recordings are smaller, and commands are left out whose work
# another one does as well, unless TALLY_TESTS=long.
. "$top_srcdir/tests/lib.sh"

if ! command -v python3 >/dev/null; then
	t_skip_all "small recordings that want much" "no python3 to write them with"
fi
cd "$T_TMP" || exit 1
cat >peak.py <<'END'
"""Runs a command; prints its exit status and its peak of memory in MB or its time in
seconds, if that is more than a usual recording takes."""
import resource, subprocess, sys

with open('out', 'wb') as out, open('err', 'wb') as err:
    status = subprocess.run(sys.argv[1:], stdout=out, stderr=err).returncode
use = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = use.ru_maxrss >> 10
print(status, 'takes %d MB' % peak if peak > 300 else
      'takes %d s' % use.ru_utime if use.ru_utime > 20 else 'within')
END
make_bomb() { python3 -B "$top_srcdir/tests/e2e/bombs.py" "$1" "$1.tally" $few; }
# The limit of machines with little memory: 64 times the file, which is small, and 64 MB.
peak() {
	command=$1; shift
	case $* in *--max-memory*) ;; *) set -- --max-memory 80M "$@"; esac
	python3 peak.py "$TALLY" "$command" "$@"
}
# Sanitizers take memory of their own.
limit=within few= samples=1040384 stopped='8' own=10M own_mb=9
if t_sanitized; then
	limit=.*
	t_long || few=less samples=253952 stopped='[678]' own=5M own_mb=4
fi

for kind in strings events gaps names files paths; do
	make_bomb "$kind" || exit 1
	for command in 'report --no-pager' info; do
		# shellcheck disable=SC2086 # words
		t_like "$kind: $command" "$(peak $command "$kind.tally")" \
			"^1 $limit\$"
		t_like "… says what to do" "$(cat err)" \
			"^tally: $kind.tally: .* offset [0-9]+ .* MB of memory.*--max-memory SIZE"
	done
done
# All open it in the same way.
set -- 'report --html -o x.html' 'annotate --no-pager' 'flamegraph -o x.svg' dump \
	symbolize 'diff --no-pager a.tally'
[ -z "$few" ] || set -- dump 'diff --no-pager a.tally'
for command; do
	cp gaps.tally a.tally
	# shellcheck disable=SC2086 # words
	t_like "gaps: $command" "$(peak $command gaps.tally)" "^1 $limit\$"
	t_like "… says what to do" "$(cat err)" '--max-memory SIZE'
done
# Rows of other profilers' files, which are shorter than in memory.
for kind in pprof_mappings pprof_locations pprof_functions pprof_strings firefox; do
	make_bomb "$kind" || exit 1
	t_like "$kind: report" "$(peak report --no-pager "$kind.tally")" "^1 $limit\$"
	t_like "… says what to do" "$(cat err)" '--max-memory SIZE allows more'
done
# Long names of a few functions are no reason to refuse a recording, but the output may
# repeat them at will.
make_bomb branches || exit 1
t_like "branches: report" "$(peak report --format=csv branches.tally)" "^0 $limit\$"
t_is "… with its names in full" "$(awk 'length >= 16384' out | wc -l)" 600
for command in 'report -g --format=json' 'export --format=folded -o x.out'; do
	# shellcheck disable=SC2086 # words
	t_like "branches: $command" "$(peak $command branches.tally)" "^1 $limit\$"
	t_like "… says what to do" "$(cat err)" '--max-output SIZE allows more'
done
for command in report 'diff branches.tally'; do
	# shellcheck disable=SC2086 # words
	t_like "--max-output of $command" "$(peak $command --format=json \
		--max-output 2M branches.tally) $(tail -n 1 err)" \
		"^1 $limit .* more than 2000000 bytes"
done
# A byte of the file is a thousand instructions.
make_bomb code || exit 1
for command in 'annotate --no-pager' 'annotate --asm --all --top 0 --no-pager' \
		'annotate --both --format=json' 'report --html -o x.html' \
		'diff --no-pager --both code.tally'; do
	# shellcheck disable=SC2086 # words
	t_like "code: $command" "$(peak $command code.tally)" "^[01] $limit\$"
done
peak annotate --asm --no-pager code.tally >/dev/null
t_like "… says that some instructions are missing" "$(cat out)" \
	'not all instructions: more than the limit of memory allows \(--max-memory\)'
# Time must not grow with the square of the depth.
make_bomb deep || exit 1
for command in 'report --html -o x.html' 'annotate --no-pager' \
		'report -g --format=json'; do
	# shellcheck disable=SC2086 # words
	t_like "deep: $command" "$(peak $command deep.tally)" "^[014] $limit\$"
done
for kind in nodes wide lanes; do
	make_bomb "$kind" || exit 1
	for command in 'report --no-pager' 'report -g --no-pager' \
			'annotate --no-pager' 'report --html -o x.html' \
			'export --format=csv -o x.out'; do
		# With callers it does more of the same; CSV is tried below.
		case $few$kind,$command in
		lessnodes,'report --no-pager'|less*,export*) continue;;
		esac
		# shellcheck disable=SC2086 # words
		got=$(peak $command "$kind.tally")
		case $kind,$command in
		nodes,*|*,export*) t_like "$kind: $command" "$got" "^[01] $limit\$";;
		*) t_like "$kind: $command" "$got $(tail -n 1 err)" \
			"^2 $limit .* 100000 events do not fit side by side";;
		esac
	done
	[ "$kind" = nodes ] || t_like "$kind: by event" \
		"$(peak report --no-pager -s event,symbol "$kind.tally")" "^0 $limit\$"
done
t_like "a limit of one's own" \
	"$(peak info --max-memory $own nodes.tally) $(cat err)" \
	"^1 .* take more than $own_mb MB"
make_bomb samples || exit 1
t_like "dump of equal samples" "$(peak dump samples.tally)" "^1 $limit\$"
t_like "… says what to do" "$(cat err)" \
	'^tally: samples.tally: stopped after [0-9]+ MB .*--max-output SIZE'
t_ok "… within its limit" "$([ "$(wc -c <out)" -le \
	$((64 * $(wc -c <samples.tally) + (64 << 20))) ]; echo $?)"
t_like "dump of a part" "$(peak dump --only chunks samples.tally)" \
	"^0 $limit\$"
t_is "… is whole" "$(grep -c '^chunk' out)" \
	"$(grep -ao TLYC samples.tally | wc -l)"
rm -f x.out
# Formats that repeat stacks, or have a row for each sample.
for format in firefox perf-script csv sqlite; do
	for kind in nodes samples; do
		# One kind for each format; the limit is the same code's.
		case $few$kind,$format in
		lessnodes,sqlite|lessnodes,csv|lesssamples,firefox) continue;;
		lesssamples,perf-script) continue;;
		esac
		got=$(peak export --max-output 12M --format=$format -o x.out \
			$kind.tally)
		t_like "$kind: export --format=$format" "$got" "^[01] $limit\$"
		case $got in 1*)
			t_like "… says what to do" "$(cat err)" \
				'--max-output SIZE allows more'
			t_none "… and leaves no file" "$(ls -A | grep x.out)";;
		esac
		t_ok "… within its limit" "$([ ! -e x.out ] || [ "$(wc -c \
			<x.out)" -le $((12 << 20)) ]; echo $?)"
		rm -f x.out
	done
done
# Deep stacks share the work for their callers, and the cut of outer frames.
peak export --format=folded -o x.folded nodes.tally >/dev/null
t_is "deep stacks: all samples, 512 to 1,024 frames of those that are cut" \
	"$(awk '{ all += $NF; n = gsub(";", ";") }
		/left out/ { if (!low || n < low) low = n; cut = 1 }
		n > high { high = n }
		END { print all, low >= 512, high <= 1025, cut }' x.folded)" \
	"$samples 1 1 1"
for format in otlp go-pgo chrome; do
	t_like "nodes: export --format=$format" "$(peak export \
		--format=$format -o x.out nodes.tally)" "^[01] $limit\$"
done
t_like "export has a limit by default" "$(peak export --format=perf-script \
	-o x.out nodes.tally) $(tail -n 1 err)" "^1 $limit .*stopped after ${stopped}[0-9] MB"
t_like "merge" "$(peak merge -o x.tally nodes.tally samples.tally)" "^0 $limit\$"
peak dump --max-output 1M samples.tally >/dev/null
t_ok "--max-output" "$([ "$(wc -c <out)" -le 1000000 ] && [ -s out ]; echo $?)"
t_done
