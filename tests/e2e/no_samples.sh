#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording without samples says why, and how to get some. For a running program it
# says which program that was.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
if ! "$TALLY" record --source=perf -q -e cpu-clock -o a.tally -- true 2>err; then
	t_skip_all "no samples" "cannot record here: $(head -n 1 err)"
fi

# NAME ERE OPTION…: what record says at the end, and report, info and the page.  By
# chance there may be a sample: it is not so three times.
says() {
	name=$1 want=$2
	shift 2
	for try in 1 2 3; do
		"$TALLY" record --source=perf -o a.tally "$@" >/dev/null 2>err
		grep -q 'no samples' err && break
		sed "s/^/# try $try: /" err
	done
	t_like "$name" "$(cat err)" "no samples: $want"
	t_like "$name: report" "$("$TALLY" report --no-tui -w 500 a.tally)" \
		"^# No samples: $want"
}

says "too short for a sample" \
	'.*ran for [0-9.]+ ms, and a sample is taken every 1000.*-F 20000' \
	-F 1 -e cpu-clock -- true
t_like "info says so too" "$("$TALLY" info a.tally)" 'No samples: the recorded programs ran'
if "$TALLY" record --source=ptrace -q -o t.tally -- true 2>err; then
	says "too short for a sample by ptrace" \
		'the recorded programs ran for [0-9.]+ ms, and a sample is taken every 1000' \
		--source=ptrace -F 1 -- true
else
	t_skip "too short for a sample by ptrace" "$(head -n 1 err)"
fi
says "all of it outside of the kernel" 'none was in the kernel.*--kernel' \
	--kernel -F 4 -e cpu-clock -- sh -c 'i=0; while [ $i -lt 400000 ]
	do i=$((i + 1)); done'
says "all of it in the kernel" 'none was in user space.*--user' \
	--user -F 4 -e cpu-clock -- \
	dd if=/dev/zero of=/dev/null bs=64M count=150 status=none
says "several events, none of which happened" \
	'none of the events occurred' \
	-e alignment-faults,emulation-faults -- true
says "several events, each too seldom" \
	'no event was counted often enough for a sample' \
	-c 100000000 -e cpu-clock,task-clock -- true
says "shorter than --delay" 'sampling never started.*--delay' \
	--delay 20s -e cpu-clock -- true
if "$TALLY" record --source=timer -q -o t.tally -- true 2>err; then
	"$TALLY" record --source=timer -q --delay 20s -o t.tally -- \
		sh -c 'sleep 0.1; true'
	t_is "timers count no starts of programs before --delay is over" \
		"$("$TALLY" report --format=json t.tally |
			grep -o '"got":[0-9]*' | head -n 1)" '"got":0'
	t_like "and say why there are no samples" \
		"$("$TALLY" report --no-tui t.tally)" 'sampling never started'
else
	t_skip "timers and --delay" "$(head -n 1 err)"
fi
sleep 30 & asleep=$!
t_cleanup "kill $asleep 2>/dev/null"
is_asleep() {
	grep -q sleep /proc/$asleep/comm &&
		grep -q '^State:.S' /proc/$asleep/status
}
t_until is_asleep
sleep 0.2	# it may have slept for its own file, too
says "a process that sleeps" \
	'the recorded programs did not run: .*longer.*where they wait \(--wait\)' \
	-p $asleep -e cpu-clock --duration 0.2
t_like "the title names the program" "$("$TALLY" report --no-tui a.tally)" \
	"^# sleep 30 \(pid $asleep\), "
"$TALLY" report --html -o r.html a.tally
t_like "so does the page's" "$(cat r.html)" \
	"<title>[^<]*sleep 30 \(pid $asleep\)"
mkfifo fifo
{ sleep 0.2; echo ping; } >fifo &
says "never switched on" 'sampling was never switched on.*--control' \
	--delay -1 --control fifo:fifo -e cpu-clock -- sleep 0.5
if "$TALLY" record --source=perf -q -e sched:sched_switch -o t.tally \
	-- sleep 0.1 2>err; then
	says "a filter that lets nothing pass" \
		'sched:sched_switch did not occur.*or not as requested' \
		-e sched:sched_switch --filter 'prev_pid == 99999999' \
		-- sleep 0.1
	t_like "the filter is reported" "$("$TALLY" report --no-tui -w 500 a.tally)" \
		'sched:sched_switch \(only where prev_pid == 99999999\): 0'
else
	t_skip "a filter that lets nothing pass" "$(head -n 1 err)"
fi
# The samples are in the part that is missing.
"$TALLY" record --source=perf -q --user -e cpu-clock -o a.tally -- sh -c \
	'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
"$TALLY" merge -o whole.tally a.tally a.tally 2>/dev/null
head -c "$("$TALLY" dump --only chunks whole.tally |
	sed -n 's/.*offset=\([0-9]*\) .*kind=samples.*/\1/p' | head -n 1)" \
	whole.tally >cut.tally
"$TALLY" report --no-tui -w 500 cut.tally >cut.txt 2>&1
t_lacks "why a damaged file has none is not known" "$(cat cut.txt)" 'No samples'
t_like "it is said to be damaged" "$(cat cut.txt)" \
	'^# Damaged: .* or the file was cut'
"$TALLY" record -C 0 -e cpu-clock -o a.tally -- sleep 0.1 2>err
t_like "-C 0 with a command: what is watched" "$(cat err)" \
	'-C 0 records only the command on these processors; -a -C 0 '
"$TALLY" record -a -C 0 -e cpu-clock -o a.tally -- sleep 0.1 2>err
t_lacks "-a -C 0 watches all" "$(cat err)" 'only the command'
t_done
