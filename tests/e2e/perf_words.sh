#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each option that perf documents is an option of tally, an alias of one, or answered
# with tally's equivalent.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1

# said COMMAND OPTION…: what tally says to it.  --help keeps it from working.
said() {
	"$TALLY" "$@" --help 2>&1 >/dev/null </dev/null
}

# answered COMMAND: the options on standard input, one a line with its value if
# it takes one; prints those that get no answer.
answered() {
	n=0
	while read -r o; do
		n=$((n + 1))
		# shellcheck disable=SC2086 # an option and its value
		text=$(said "$1" $o)
		# Values here are any: tally may want others of an option that it has.
		case $text in
		''|*" as in perf: "*) ;;
		*" ${o#*[= ]}: "*|*" '${o#*[= ]}': "*) ;;
		*) echo "$o: $text";;
		esac
	done
	echo "$n options" >count
}

# What `perf COMMAND -h` lists: "-x, --long <value>  words".
options_of_perf() {
	"$perf" "$1" -h 2>&1 | awk '
	function put(option, long) {
		if (value && long)
			option = option "=1"
		else if (value)
			option = option " 1"
		print option
	}
	/^ +-/ {
		# Words that explain begin behind two blanks.
		sub(/^ +/, ""); rest = $0
		value = rest ~ /^(-., )?(--[a-z0-9-]+|-.) </
		if (match(rest, /^-[A-Za-z]/))
			put(substr(rest, RSTART, 2), 0)
		if (match(rest, /^(-., )?--[a-z0-9-]+/)) {
			word = substr(rest, RSTART, RLENGTH)
			sub(/^-., /, "", word)
			put(word, 1)
		}
	}'
}

programs=${TALLY_PROGRAMS:-/nonexistent}/bin
for perf in perf "$programs/perf-other" "$programs/perf-newest"; do
	for c in record report annotate stat diff; do
		name="$(basename "$perf") $c"
		if ! command -v "$perf" >/dev/null ||
		   ! "$perf" "$c" -h 2>&1 | grep -q -e '--'; then
			t_skip "the options of $name" "no such perf here"
			continue
		fi
		options_of_perf "$c" >"$c.options"
		t_like "$name lists its options" "$(wc -l <"$c.options")" \
			'^[2-9][0-9]|^1[0-9][0-9]'
		t_none "each option of $name has an answer" \
			"$(answered "$c" <"$c.options")"
	done
done

# Options that only manual pages name, and those of perfs built otherwise.
printf '%s\n' --inherit --buildid --buildid-cache --data-mmap \
	--sample-mem-info >record.options
t_none "options of other perf record have an answer" \
	"$(answered record <record.options)"
printf '%s\n' --gtk --showcpuutilization --addr2line-style=x --unwind-style=x \
	--no-source --no-demangle >report.options
t_none "options of other perf report have an answer" \
	"$(answered report <report.options)"
printf '%s\n' --gtk >annotate.options
t_none "options of other perf annotate have an answer" \
	"$(answered annotate <annotate.options)"
printf '%s\n' --bpf-prog=1 --bpf-counters --bpf-attr-map=x --affinity \
	--no-affinity --hide-zero-events --pmu-filter=x --tpebs-mode=x \
	>stat.options
t_none "options of other perf stat have an answer" \
	"$(answered stat <stat.options)"

# The opposite of an option that tally lacks is what it does.
t_none "--no-NAME of what tally lacks is accepted" \
	"$(said record --no-branch-any)$(said report --no-hierarchy --no-group)$(
	said stat --no-per-core --no-transaction)"
t_like "--no-NAME of what tally always does is answered" \
	"$(said record --no-timestamp)" \
	'no option --no-timestamp as in perf: tally always behaves as with --timestamp'

# Options of perf 7.
printf '%s\n' --off-cpu-thresh=1 --setup-filter=1 --latency --synth=no \
	--switch-output=signal --control=fifo:x >record.options
t_none "options of newer perf record have an answer" \
	"$(answered record <record.options)"
printf '%s\n' --latency --parallelism=1 --addr2line=x --stdio2 >report.options
t_none "options of newer perf report have an answer" \
	"$(answered report <report.options)"
printf '%s\n' --data-type --type-stat --insn-stat --code-with-type \
	--skip-empty >annotate.options
t_none "options of newer perf annotate have an answer" \
	"$(answered annotate <annotate.options)"
printf '%s\n' --per-cache --per-cluster --metrics=none --bpf-counters \
	>stat.options
t_none "options of newer perf stat have an answer" \
	"$(answered stat <stat.options)"

# The check above finds what has none.
t_like "an option that no tool has is reported" \
	"$(echo --no-such-option-anywhere | answered record)" 'no option'

t_is "-G is --cgroup" "$("$TALLY" record -G /no/such -- true 2>&1)" \
	"$("$TALLY" record --cgroup /no/such -- true 2>&1)"
t_is "-j is --format=json" "$("$TALLY" stat -q -j -o json true 2>&1
	head -c 2 json)" '{"'
for c in 'top' 'script' 'evlist'; do
	"$TALLY" "$c" 2>err
	t_is "perf $c is a mistake in usage" $? 2
	t_like "and is answered" "$(cat err)" "; tally equivalent: tally "
done

t_done
