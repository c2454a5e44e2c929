#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings that continue in other files, end at a size, or are controlled from
# outside.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >until.sh <<'END'
while [ ! -e "$1" ]; do i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; done
END
# Runs until another file has begun; with "removed", until the first of them has
# been removed.  Ends in any case.
cat >switched.sh <<'END'
first= n=0
while [ $n -lt 10000 ]; do
	i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done
	n=$((n + 1))
	set -- "$1" r.tally.*
	[ -n "$first" ] || { [ -e "$2" ] && first=$2; } || continue
	[ "$1" != removed ] || [ ! -e "$first" ] || continue
	break
done
END
# sums FILE…: samples got, lost and missed of all files together, and
# what the rate calls for in the time that was counted.
cat >sums.py <<'END'
import json, subprocess, sys
got = lost = missed = wanted = 0
for name in sys.argv[2:]:
    j = json.loads(subprocess.run([sys.argv[1], 'info', '--format=json', name],
                                  check=True, capture_output=True).stdout)
    for e in j['header']['events']:
        got += e['got']
        lost += e['lost']
        missed += e['missed']
        wanted += e['running_ns'] * e['frequency'] / 1e9
print(got, lost, missed, round(wanted))
END
sums() { python3 sums.py "$TALLY" "$@"; }

tried=0
for source in perf timer ptrace; do
	rm -f r.tally*
	if ! "$TALLY" record --source=$source --switch-output=200ms -g \
		-o r.tally -- sh switched.sh begun 2>err; then
		t_skip "files by $source" "$(tail -n 1 err)"
		continue
	fi
	tried=1
	n=$(find . -name 'r.tally.*' | wc -l | tr -d ' ')
	t_ok "$source: several files" "$([ "$n" -ge 2 ]; echo $?)"
	t_like "$source: as many as it says" "$(tail -n 1 err)" \
		" samples?(, [0-9,]+ lost)? in $n files"
	t_is "$source: none is left under the first name" \
		"$(ls r.tally 2>&1 | grep -c 'No such')" 1
	# Time of ended processes without samples belongs to no process.
	for f in r.tally.*; do
		"$TALLY" report --format=csv --no-header -s cgroup --comm sh "$f" |
			cut -d, -f1
	done 2>report.err | sort -u >groups
	t_is "$source: the process is in the same control group in all files" \
		"$(grep -vc "^cgroup" groups)" 1
	bad=0
	for f in r.tally.*; do
		"$TALLY" report --no-tui "$f" >out 2>report.err && [ -s out ] || bad=1
		# Where all helpers were at work the first reader looks them up.
		grep -v 'contains no symbols' report.err && bad=1
	done
	t_is "$source: each opens, with its names" $bad 0
	# shellcheck disable=SC2046 # numbers
	set -- $(sums r.tally.*)
	t_like "$source: all samples are in one of them" \
		"$(tail -n 1 err | tr -d ,)" "^tally: $1 samples? "
	if [ $source = perf ]; then
		# What is beyond a rate in one file is below it in the next.
		t_near "got + lost + missed = wanted, over all files ($*)" \
			$(($1 + $2 + $3)) "$4" $((2 + 2 * n))
	fi
done
if [ $tried = 0 ]; then
	t_done; exit
fi

# Most of the time a file is being finished, often while tables are written.
rm -f r.tally*
"$TALLY" record -q --no-symbols --duration 1s --switch-output=25ms -o r.tally -- \
	sh -c 'while :; do :; done'
rm -f r.tally.last
mv "$(find . -name 'r.tally.*' | sort | tail -n 1)" r.tally.last
files=$(find . -name 'r.tally.2*' | wc -l)
# shellcheck disable=SC2046 # numbers
set -- $(sums r.tally.2*)
t_ok "many files ($files) with $1 samples" \
	"$([ "$files" -ge 10 ] && [ "$1" -gt 50 ]; echo $?)"
t_is "what is missed shows in the last file only" "$3" 0
rm -f r.tally*

# Each file has the tables of its own samples only: not the threads that ended before.
cat >short.sh <<'END'
n=0; while [ $n -lt 60 ]; do
	sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'; n=$((n + 1))
done
END
rm -f r.tally*
"$TALLY" record -q -g -F 2000 --switch-output=signal -o r.tally -- sh -c \
	'sh short.sh; kill -USR2 $PPID
	while [ -z "$(find . -name "r.tally.*")" ]; do :; done; sh short.sh' 2>err
# shellcheck disable=SC2046 # numbers
set -- $(for f in r.tally.*; do python3 -c '
import json, subprocess, sys
c = json.loads(subprocess.run([sys.argv[1], "info", "--format=json", sys.argv[2]],
                              check=True, capture_output=True).stdout)["counts"]
text = subprocess.run([sys.argv[1], "report", "--format=csv", "-s", "pid,tid",
                       "--percent-limit", "0", "--no-tui", sys.argv[2]],
                      check=True, capture_output=True, text=True).stdout
print(c["threads"], len(text.splitlines()) - 1)' "$TALLY" "$f"; done)
t_ok "the first file has the threads of its samples ($*)" "$([ "$1" -gt 20 ]; echo $?)"
# A thread that changed its name has two rows.
t_ok "each thread of the next file has samples there" "$([ "$3" -gt 20 ] &&
	[ "$3" -le $(($4 + 4)) ]; echo $?)"

rm -f r.tally*
"$TALLY" record -q --switch-output=100ms --switch-max-files 2 \
	-o r.tally -- sh switched.sh removed
t_is "--switch-max-files keeps the last ones" \
	"$(find . -name 'r.tally.*' | wc -l | tr -d ' ')" 2
rm -f r.tally*
"$TALLY" record -F 20 --switch-output=100ms -o r.tally -- \
	sh -c 'sleep 0.3; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>err
t_like "files without samples" "$(cat err)" ' samples? in [0-9]+ files'
t_lacks "… are no reason to say why there are none" "$(cat err)" 'no samples'
rm -f r.tally*
"$TALLY" record -q -F 5000 -g --switch-output=1K -o r.tally -- sh switched.sh begun
t_ok "by size" "$([ "$(find . -name 'r.tally.*' | wc -l)" -ge 2 ]; echo $?)"

# By signal, as perf does.
rm -f r.tally*
"$TALLY" record -q --switch-output -o r.tally -- sh until.sh stop &
pid=$!
t_until test -e r.tally
kill -USR2 $pid
t_until sh -c 'ls r.tally.*'
touch stop
wait $pid
t_is "SIGUSR2 begins another file" "$?:$(find . -name 'r.tally.*' | wc -l |
	tr -d ' ')" 0:2
rm -f stop

# --control.
mkfifo ctl ack
rm -f r.tally*
"$TALLY" record --control fifo:ctl,ack --delay=-1 --switch-output -e cpu-clock \
	-o r.tally -- sh until.sh stop 2>err &
pid=$!
exec 5<>ctl 6<>ack
ask() { echo "$1" >&5; IFS= read -r answer <&6; }
ask ping
t_is "ping is answered" "$answer" ack
ask evlist
t_is "evlist names the events" "$answer" cpu-clock
IFS= read -r answer <&6
t_is "and is answered behind them" "$answer" ack
sleep 0.3
ask snapshot
t_is "snapshot is answered" "$answer" ack
t_is "--delay -1 begins switched off" "$(sums r.tally.* | cut -d' ' -f1)" 0
ask enable
t_is "enable is answered" "$answer" ack
enough() { [ "$(sums r.tally 2>/dev/null | cut -d' ' -f1)" -gt 5 ]; }
t_run "and switches on" t_until enough
ask disable
t_is "disable is answered" "$answer" ack
ask snapshot
ask snapshot
first=$(sums r.tally | cut -d' ' -f1)
sleep 0.3
ask snapshot
last=$(find . -name 'r.tally.*' | sort | tail -n 1)
t_is "and switches off" "$first:$(sums "$last" | cut -d' ' -f1)" 0:0
ask 'enable cpu-clock'
t_is "enable takes an event" "$answer" ack
echo nonsense >&5
ask ping
t_is "an unknown command has no answer of its own" "$answer" ack
t_like "but is reported" "$(cat err)" 'unknown command "nonsense"'
ask stop
t_is "stop is answered" "$answer" ack
wait $pid
t_is "and ends the recording and its command" $? 143
exec 5<&- 6<&-
for source in timer ptrace; do
	rm -f r.tally* stop
	"$TALLY" record --source=$source --control fifo:ctl,ack --delay=-1 \
		-o r.tally -- sh until.sh stop 2>err &
	pid=$!
	exec 5<>ctl 6<>ack
	if ! t_until test -e r.tally; then
		t_skip "--control with $source" "$(tail -n 1 err)"
		kill $pid
		continue
	fi
	ask ping
	sleep 0.5
	# What starting the program took is one sample of the timers.
	t_like "--control with $source: off" "$answer:$(sums r.tally |
		cut -d' ' -f1)" '^ack:[01]$'
	ask enable
	t_run "… and on" t_until enough
	touch stop
	wait $pid
	exec 5<&- 6<&-
done

rm -f r.tally* stop
"$TALLY" record -g -F 5000 --max-size 8K -o r.tally -- sh -c \
	'while :; do :; done' 2>err
t_is "--max-size ends the recording and its command" $? 143
t_like "and says so" "$(cat err)" 'max-size is reached'
t_like "the file opens" "$("$TALLY" info r.tally)" 'while'

# Mistakes.
for o in '--switch-output=5' '--switch-output=x' '--max-size 0' '--max-size 5m' \
	'--switch-max-files 2' '--switch-output --repeat 2' \
	'--control pipe:x' '--control fifo:' '--control fd:x' '--delay=-1' \
	'--switch-output -o /dev/null'; do
	# shellcheck disable=SC2086 # words
	"$TALLY" record -o m.tally $o -- true 2>err
	t_is "record $o is a mistake in usage" "$?" 2
done
echo x >plain
"$TALLY" record -o m.tally --control fifo:plain -- true 2>err
t_like "a FIFO must be one" "$?:$(cat err)" '^2:.*plain is not a FIFO: mkfifo'

# `tally stat` is switched on and off in the same way, and has filters.
rm -f ctl ack
mkfifo ctl ack
"$TALLY" stat -q -e task-clock --format=json --delay -1 \
	--control fifo:ctl,ack -o off.json -- sh -c \
	'echo ping >ctl; head -n 1 ack >answer; i=0
	while [ $i -lt 20000 ]; do i=$((i + 1)); done'
t_is "stat: ping is answered" "$(cat answer)" ack
t_is "stat: nothing is counted that was not enabled" "$(python3 -c '
import json
print(json.load(open("off.json"))["events"][0]["value"])')" 0
"$TALLY" stat -q -e task-clock --format=json --delay -1 \
	--control fifo:ctl,ack -o on.json -- sh -c \
	'echo enable >ctl; head -n 1 ack >answer; i=0
	while [ $i -lt 20000 ]; do i=$((i + 1)); done
	echo stop >ctl; sleep 60'
t_is "stat: what ran after enable is counted, up to stop" "$(python3 -c '
import json
print(json.load(open("on.json"))["events"][0]["value"] > 1000000)')" True
if "$TALLY" stat -q -e sched:sched_switch --filter 'prev_pid == 99999999' \
	--format=json -o none.json -- sleep 0.1 2>err; then
	t_is "stat: a filter that lets nothing pass" "$(python3 -c '
import json
print(json.load(open("none.json"))["events"][0]["value"])')" 0
	"$TALLY" stat -e sched:sched_switch --filter 'no_field == 1' \
		-- sleep 0.1 2>err
	t_like "stat: a wrong field is an error" "$?:$(cat err)" \
		'^[1-9].*no_field == 1.*has no such field'
else
	t_skip "stat: a filter" "$(head -n 1 err)"
fi
t_done
