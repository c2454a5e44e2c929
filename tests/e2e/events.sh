#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events given to tally record: cycles where no counter has them, patterns of
# tracepoints, filters.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >burn.sh <<'END'
i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done
END
t_needs perf
# events FILE: name, what counts, and samples of each.
events() {
	"$TALLY" info --format=json "$1" | python3 -c '
import json, sys
for e in json.load(sys.stdin)["header"]["events"]:
    print(e["name"], e["actual"], e["got"])'
}

if "$TALLY" list cycles 2>/dev/null | grep -q cpu-cycles; then
	t_skip "a clock for cycles" "this machine counts cycles"
else
	for source in perf timer ptrace; do
		for mode in '' :u; do
			if ! "$TALLY" record --source=$source -e cycles$mode \
				-o c.tally -- sh burn.sh 2>err; then
				t_skip "cycles$mode by $source" \
					"$(head -n 1 err)"
				continue
			fi
			t_like "cycles$mode becomes a clock ($source)" \
				"$(events c.tally)" \
				"^cycles$mode cpu-clock$mode [1-9][0-9]*\$"
		done
	done
	"$TALLY" record --source=perf -e cycles:k -o c.tally -- sh burn.sh 2>err
	t_like "cycles:k samples the kernel alone" \
		"$(events c.tally):$("$TALLY" report --format=csv -s image \
			c.tally | grep -c -e dash -e libc -e bash)" \
		'^cycles:k cpu-clock:k [0-9]+:0$'
	t_like "and it is said" "$(cat err)" 'recording cpu-clock:k instead'
	"$TALLY" record --source=perf -e cycles:pp -o c.tally -- true 2>err
	t_like "so is that clocks have no precision" "$(cat err)" ':p'
fi

tracing=/sys/kernel/tracing/events
if ! [ -r $tracing/sched ]; then
	t_skip_all "tracepoints" "$tracing cannot be read here (root, and tracefs)"
fi
"$TALLY" record -q -o w.tally -e 'sched:sched_p*' -- true
t_is "a pattern is all tracepoints of that name" \
	"$(events w.tally | cut -d' ' -f1)" \
	"$(find $tracing/sched -maxdepth 1 -name 'sched_p*' |
		sed 's|.*/|sched:|' | LC_ALL=C sort)"
"$TALLY" record -q -o w.tally -e 'sched:sched_process_e?ec:k' -- sh -c true
t_is "also with modifiers" "$(events w.tally | cut -d' ' -f1,3)" \
	"sched:sched_process_exec 1"
"$TALLY" record -o w.tally -e '*:*' -- true 2>err
t_like "too many are refused with their number" "$?:$(cat err)" \
	"^2:.* matches [0-9]+ tracepoints.*at most 512"
"$TALLY" record -o w.tally -e 'no_such:*' -- true 2>err
t_like "none at all, too" "$?:$(cat err)" '^2:.*no tracepoint is called'
"$TALLY" record -q -o w.tally -e 'sched:*' -- true
t_like "events without samples are one line" \
	"$("$TALLY" report --no-tui w.tally)" \
	'^# [0-9]+ more events without samples'

# Filters: the kernel's own judgement, and perf's.
if ! [ -r $tracing/syscalls ]; then
	t_skip_all "filters" "this kernel traces no system calls"
fi
writes='for i in 1 2 3; do echo 123456; echo abc; done'
for filter in 'count == 7' 'count == 4' 'count > 0' 'count > 100'; do
	rm -f f.tally
	"$TALLY" record -q -o f.tally -e syscalls:sys_enter_write \
		--filter "$filter" -- sh -c "$writes" >/dev/null
	got=$(events f.tally | cut -d' ' -f3)
	case $filter in
	'count > 0') want=6;; 'count > 100') want=0;; *) want=3;;
	esac
	t_is "--filter '$filter'" "$got" $want
	perf record -q -o f.data -e syscalls:sys_enter_write \
		--filter "$filter" -- sh -c "$writes" >/dev/null 2>&1 &&
	t_is "as perf has it" "$got" "$(perf script -i f.data 2>/dev/null |
		wc -l | tr -d ' ')"
done
"$TALLY" record -q -o f.tally -e syscalls:sys_enter_read \
	-e syscalls:sys_enter_write --filter 'count == 7' -- sh -c "$writes" \
	>/dev/null
t_like "a filter is of the event before it" "$(events f.tally | tr '\n' ' ')" \
	'sys_enter_read syscalls:sys_enter_read [1-9][0-9]* .*write 3 $'
"$TALLY" record -o f.tally -e syscalls:sys_enter_write --filter 'nope > 3' \
	-- true 2>err
t_like "a field that is not there" "$?:$(cat err)" '^2:.*no such field.*format'
"$TALLY" record -o f.tally --filter 'count == 7' -- true 2>err
t_like "a filter without event" "$?:$(cat err)" '^2:.*must follow the -e'
"$TALLY" record -o f.tally -e cpu-clock --filter 'filter main' -- true 2>err
t_like "a filter of addresses" "$?:$(cat err)" '^2:.*only tracepoints'

t_done
