#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tally stat: counts compared with getrusage(2), streams and signals of the command,
# output, and simulated hardware counters (fake_counts.c).
. "$top_srcdir/tests/lib.sh"

if ! "$TALLY" stat -e task-clock -o "$T_TMP/x" true 2>"$T_TMP/why"; then
	t_skip_all "counting" "$(tail -n 1 "$T_TMP/why")"
fi
cd "$T_TMP" || exit 1
${CC:-cc} -O1 -D_GNU_SOURCE -o program "$top_srcdir/tests/e2e/stat_program.c" ||
	exit 1

value() { # EVENT FILE of JSON
	python3 -c 'import json, sys
r = json.load(open(sys.argv[2]))
print(*(e["value"] for e in r["events"] + r["metrics"]
	if sys.argv[1] in (e.get("event"), e.get("metric"))))' "$1" "$2"
}
# What the host has taken from this machine's processors since it started.
stolen_us() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" {
		printf "%d", $9 * 1000000 / hz }' /proc/stat
}
between() { # NAME LOW GOT HIGH
	[ -n "$3" ] && [ "$2" -le "$3" ] && [ "$3" -le "$4" ]
	status=$?
	[ $status -eq 0 ] || echo "# got $3, not from $2 to $4"
	t_ok "$1" $status
}
count() { # ARGS… of stat; JSON into out.json, what the command prints to out
	"$TALLY" stat --format=json -o out.json "$@" >out 2>err
}

# One process on each processor, behind all others; none is left.
"$TALLY" stat -q --keep-busy -e task-clock -o x.txt sh -c '
	for i in $(seq 100); do
		n=$(ps -eo comm=,cls= | grep -c "^tally-busy *IDL")
		[ "$n" -lt "$(nproc)" ] || break
		sleep 0.1
	done
	echo $n' >out
t_is "each processor is kept busy" "$(cat out)" "$(nproc)"
t_lacks "and none afterwards" "$(ps -eo comm=)" "tally-busy"

if command -v python3 >/dev/null; then
	# The loader maps and touches a few pages more or less, by chance.
	count -e page-faults ./program faults 0
	none=$(value page-faults out.json)
	count -e page-faults ./program faults 3000
	between "3,000 pages are 3,000 faults" 2990 \
		$(($(value page-faults out.json) - none)) 3010
	read -r faults _ <out
	# getrusage begins with the fork, before the exec that begins counting.
	between "faults are those of getrusage" $((faults - 100)) \
		"$(value page-faults out.json)" $((faults + 10))

	# A sleep that is over before it begins, on a busy machine, is no switch.
	# getrusage has the switches before the exec, too, which are not counted.
	count -e context-switches ./program sleeps 200
	read -r _ switches _ before <out
	between "switches are those of getrusage" $((switches - before)) \
		"$(value context-switches out.json)" $((switches + 5))
	between "200 sleeps are nearly as many switches" 150 \
		"$(value context-switches out.json)" 1000000
	count -e cs ./program sleeps 200 4
	read -r _ all _ <out
	between "children are counted" $((all - 40)) \
		"$(value cs out.json)" $((all + 20))
	count --no-inherit -e cs ./program sleeps 200 4
	read -r _ all _ <out
	between "unless they are not" 100 "$(value cs out.json)" $((all / 2))

	# The kernel's clock against getrusage's, which has the exec, too, and has
	# not what the host took from a virtual machine meanwhile.
	stolen=$(stolen_us)
	count -e task-clock ./program spin 1000
	stolen=$(($(stolen_us) - stolen))
	read -r _ _ us _ <out
	between "task-clock is CPU time" $((us - us / 20)) \
		$(($(value task-clock out.json) / 1000)) \
		$((us + us / 20 + stolen))

	count --delay 1.5 -e page-faults -- sh -c '
		./program faults 3000; sleep 2'
	between "nothing is counted before its time" 0 \
		"$(value page-faults out.json)" 2000

	# Another tool's count of the same system calls.
	if perf stat -x, -o theirs -e raw_syscalls:sys_enter \
			./program faults 10 >/dev/null 2>&1; then
		theirs=$(sed -n 's/^\([0-9]*\),.*sys_enter.*/\1/p' theirs)
		count -e raw_syscalls:sys_enter ./program faults 10
		between "perf counts the same" $((theirs - 2)) \
			"$(value raw_syscalls:sys_enter out.json)" \
			$((theirs + 2))
	else
		t_skip "perf counts the same" "no perf, or no tracepoints"
	fi

	count -r 4 ./program faults 10
	t_run "four runs have a spread" python3 -c '
import json, statistics
r = json.load(open("out.json"))
assert r["schema"] == 1 and r["runs"] == 4 and len(r["exits"]) == 4, r
assert r["command"] == ["./program", "faults", "10"], r
for e in r["events"]:
    if e["missing"]:
        continue
    v = e["values"]
    assert len(v) == 4, e
    assert abs(e["value"] - statistics.mean(v)) < 0.01, e
    assert abs(e["stddev"] - statistics.stdev(v)) < 0.01, e
    assert abs(e["ci95"] - 3.182446305 * statistics.stdev(v) / 2) < 0.01, e
    assert (e["min"], e["max"]) == (min(v), max(v)), e
    assert e["counted"] == sum(v), e
assert set(r["time"]) == {"elapsed", "user", "system"}, r
assert all(len(r["time"][t]) == 6 for t in r["time"]), r
'
	t_is "its output stays the command's" "$(wc -l <out)" 4

	count -I 20 -e task-clock,page-faults ./program spin 400
	t_run "intervals add up" python3 -c '
import json
r = json.load(open("out.json"))
assert len(r["intervals"]) >= 3, r
for k, e in enumerate(r["events"]):
    parts = [i["events"][k]["value"] for i in r["intervals"]]
    assert sum(parts) == e["value"], (e, parts)
times = [i["time"] for i in r["intervals"]]
assert times == sorted(times), r
'
	"$TALLY" stat --format=json -- sh -c 'exit 3' 2>err >out
	t_is "JSON on standard error is nothing but JSON" \
		"$(python3 -c 'import json, sys
r = json.load(open("err"))
print(r["exits"])' 2>&1)" "[{'status': 3}]"
	"$TALLY" stat --format=csv -r 2 -o out.csv -- true 2>/dev/null
	t_is "CSV has the same columns in each record" "$(python3 -c '
import csv
rows = list(csv.reader(open("out.csv")))
assert rows[0][:3] == ["time", "kind", "name"], rows
assert {"event", "metric", "time"} == {r[1] for r in rows[1:]}, rows
print({len(r) for r in rows})' 2>&1)" "{11}"
else
	t_skip "counts, spread and formats" "no python3"
fi

out=$("$TALLY" stat -- sh -c 'echo words; exit 7' 2>err)
t_is "the exit status is the command's" "$?" 7
t_is "standard output is the command's" "$out" words
t_like "counts are on standard error" "$(cat err)" ' page-faults$'
# shellcheck disable=SC2016 # for the inner shell
"$TALLY" stat -q -- sh -c 'kill -9 $$' 2>/dev/null
t_is "a signal is 128 and its number" "$?" 137
"$TALLY" stat -- ./nothing 2>err
t_is "127 without a command" "$?" 127
t_like "it is named" "$(cat err)" 'cannot run "./nothing": No such file'
t_lacks "and nothing counted is shown" "$(cat err)" task-clock
"$TALLY" stat -- /tmp 2>/dev/null
t_is "126 for what cannot be run" "$?" 126
"$TALLY" stat -o /nonexistent/x true 2>err
t_is "no output, no run" "$?" 1
t_like "the file is named" "$(cat err)" '/nonexistent/x'

cat >trap.sh <<'END'
trap 'echo trapped; exit 5' TERM
: >ready
while :; do sleep 0.05; done
END
"$TALLY" stat -r 3 -- sh trap.sh >out 2>err &
pid=$!
t_until test -e ready
kill -TERM $pid
wait $pid
t_is "a signal is passed on" "$? $(cat out)" "5 trapped"
t_like "and counts are shown" "$(cat err)" ' task-clock'
cat >reload.sh <<'END'
trap 'echo reloaded' USR1 HUP
kill -USR1 0; sleep 0.1; kill -HUP 0; sleep 0.1; exit 4
END
setsid -w "$TALLY" stat -r 2 -- sh reload.sh >out 2>err
t_is "signals to the process group arrive once" "$? $(tr '\n' ' ' <out)" \
	"4 reloaded reloaded reloaded reloaded "
t_like "and counts are shown" "$(cat err)" ' task-clock'

# A user who may not look into the kernel.
t_settings
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
cp "$TALLY" tally && chmod 755 . tally
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" -eq 0 ] && [ "$paranoid" = 2 ] &&
	$nobody ./tally --version >/dev/null 2>&1; then
	cp "$(command -v awk)" secret && chmod 711 secret
	for e in task-clock page-faults; do
		t_like "time in a program that may not be read is not counted ($e)" \
			"$($nobody ./tally stat -e $e -- sh -c \
				'./secret "BEGIN { while (i < 3000000) i++ }"; true' 2>&1)" \
			'[0-9]+ of [0-9]+ ms of CPU time are not counted: .*root .*-a'
	done
	t_lacks "… which is not said of others" "$($nobody ./tally stat -- awk \
		'BEGIN { while (i < 3000000) i++ }' 2>&1)" 'are not counted: the kernel'
	out=$($nobody ./tally stat -- true 2>&1)
	t_like "what happens in the kernel is not 0 but unknown" "$out" \
		'context-switches are not counted'
	t_lacks "and not shown" "$out" ' context-switches$'
	t_is "one line tells of all" \
		"$(echo "$out" | grep -c 'kernel part not visible')" 1
	t_like "asked for, it is an error" \
		"$($nobody ./tally stat -e cs true 2>&1; echo "status $?")" \
		'status 1$'
	t_like "user space is counted" "$out" ' page-faults$'
else
	t_skip "without rights" \
		"needs root, setpriv, and kernel.perf_event_paranoid 2"
fi

deny=$top_builddir/tests/e2e/deny
case $deny in /*) ;; *) deny=$OLDPWD/$deny;; esac
if "$deny" EPERM true 2>/dev/null; then
	t_like "a filter is told of" "$("$deny" EPERM "$TALLY" stat true 2>&1
		echo "status $?")" 'not allowed to record: a seccomp filter '
	t_like "so is one that kills" "$("$deny" KILL "$TALLY" stat true 2>&1
		echo "status $?")" 'kills callers of perf_event_open'
else
	t_skip "seccomp filters" "they cannot be made here"
fi

sleep 30 &
other=$!
t_cleanup "kill $other 2>/dev/null"
"$TALLY" stat -e task-clock -p $other >out 2>&1 &
pid=$!
t_until sh -c "ls -l /proc/$pid/fd | grep -q 'inode:.*perf_event'"
kill $other
wait $pid
t_like "attached, until it ends" "$? $(grep . out | tr '\n' ' ')" \
	'^0 # counted # +[0-9.]+ ms +task-clock '
t_like "attached to nobody" "$("$TALLY" stat -p 4194304 2>&1
	echo "status $?")" 'status 1$'
out=$("$TALLY" stat -q -p $$ -e task-clock -- sleep 0.1 2>&1)
t_like "attached while a command runs" "$out" '^# while this ran: sleep 0.1'
t_lacks "the times of that command are not shown as those of the process" "$out" ' user$'
("$TALLY" stat -q -e task-clock --duration 0.2 -o ended.txt -- sleep 60) 2>err
t_like "a command that --duration ended leaves its counts" \
	"$(cat ended.txt err)" ' task-clock'
out=$("$TALLY" stat -a -e task-clock --duration 0.2 2>&1)
t_like "the whole system, for a time" "$? $(echo "$out" | tr '\n' ' ')" \
	'^0 .* task-clock '

# Where a program does not run, it counts nothing, and nothing is estimated.
if command -v taskset >/dev/null && taskset -c 1 true 2>/dev/null; then
	out=$("$TALLY" stat -C 0 -e page-faults --metrics none -- \
		taskset -c 1 ./program faults 3000 2>&1 >/dev/null)
	n=$(echo "$out" | sed -n 's/,//; s/^ *\([0-9]*\) *page-faults$/\1/p')
	between "another processor's faults are not counted" 0 "$n" 2000
else
	t_skip "-C with a command" "fewer than two processors"
fi

refused() { # NAME ERE ARGS… of stat
	name=$1 ere=$2
	shift 2
	out=$("$TALLY" stat "$@" true 2>&1)
	t_like "refused: $name" "$? $out" "^2 .*$ere"
	t_lacks "… safe to show" "$out" "$(printf '\033')"
}
refused "an unknown event" 'did you mean page-faults' -e page-fault
refused "an event of escapes" 'unknown event' -e "$(printf 'a\033[31mb')"
refused "an event of nothing" 'empty' -e ''
refused "an open group" "} is missing" -e '{cs,faults'
refused "an endless event" 'longer' -e "$(printf '%0400d' 0)"
refused "an unknown metric" 'did you mean ipc' --metrics ipd
refused "a metric's parameter" 'no parameters' --metrics ipc:x=1
refused "no runs" 'at least 1' -r 0
refused "no interval" 'at least 1' -I 0
refused "intervals of runs" '-I and -r exclude each other' -I 10 -r 2
refused "a format" 'text, json or csv' --format xml
refused "both modes" 'exclude each other' --user --kernel
if ! grep -q 'ven0002fam000F' /sys/devices/system/cpu/modalias 2>/dev/null
then
	refused "K8's event elsewhere" 'nearest event of the kernel is cycles' \
		-e k8-bu-cpu-clk-unhalted
	refused "K8's metric elsewhere" 'metric k8-cpi: .*cycles' \
		--metrics k8-cpi
fi
# Made-up counters.
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o fake.so \
	"$top_srcdir/tests/e2e/fake_counts.c" -ldl 2>/dev/null
fake() { # ARGS… of stat, on `true`
	LD_PRELOAD=$T_TMP/fake.so "$TALLY" stat "$@" true 2>&1
}
if [ -e fake.so ] && fake -e task-clock >/dev/null; then
	# cycles, instructions; branches, branch-misses
	FAKE_COUNTS="0:0=2000000/9000/9000 0:1=3000000/9000/9000
		0:4=1000/9000/3600 0:5=20/9000/3600"
	export FAKE_COUNTS
	out=$(fake)
	t_like "counts of hardware" "$out" '^ +3,000,000 +instructions$'
	t_like "their ratio" "$out" '^ +1\.50 +ipc '
	t_like "a shared counter's estimate" "$out" \
		'^ +2,500 +branches +estimated, counted 40\.0% of the time'
	t_like "a ratio of estimates of one time" "$out" \
		'^ +2\.00 % +branch-miss-rate .*\(estimated\)$'
	out=$(FAKE_GROUP=1 fake)
	t_like "a group that does not fit" "$out" \
		'branch-misses does not fit its group'
	t_like "a ratio of different times" "$out" \
		'branch-miss-rate .*counted at different times'
	t_like "a ratio of what was always counted" "$out" 'ipc +instr.*cycle$'
	t_like "events alone" "$(FAKE_GROUP=1 fake --no-group)" \
		'branch-miss-rate .*counted at different times'
	t_lacks "are not told of" "$(FAKE_GROUP=1 fake --no-group)" 'does not fit'
	FAKE_COUNTS="0:0=7/9000/9000 0:1=0/9000/0"
	out=$(fake -e '{cycles,instructions}')
	t_like "a group that never fits" "$out" 'instructions was never counted'
	t_like "has no value" "$out" '^ +- +instructions'
	out=$(FAKE_COUNTS="0:0=7/9/9" fake)
	t_like "one counter that is missing" "$out" 'no counter for branches'
	t_like "the ones that are there" "$out" '^ +7 +cycles'
	t_lacks "no ratios with what is missing" "$out" ipc
	FAKE_COUNTS="0:0=3000/9/9"
	t_like "one that was asked for" "$(fake -e cycles,instructions
		echo "status $?")" 'status 1$'

	echo 'cpu:type:x86,ven0002fam000Fmod0005:feature:,0000' >k8
	FAKE_CPU=$T_TMP/k8
	export FAKE_CPU
	# perf's raw config: code, mask << 8, edge 1 << 18 (BKDG 10.2)
	FAKE_COUNTS="4:0x76=3000/9/9 4:0xc0=2000/9/9"
	t_like "a K8 counts cycles per instruction" \
		"$(fake --metrics k8-cpi)" '^ +1\.50 +k8-cpi '
	FAKE_COUNTS="4:0xcd=3000/9/9 4:0x400cd=20/9/9"
	t_like "and how long interrupts are masked" "$(fake \
		-e k8-fr-interrupts-masked-cycles \
		-e k8-fr-interrupts-masked-cycles,edge)" \
		'^ +150\.0 cycles +k8-interrupts-masked '
	FAKE_COUNTS="4:0x1e0=60/9/9 4:0x2e0=30/9/9 4:0x4e0=10/9/9"
	t_like "and page hits" "$(fake --metrics k8-page-hit-rate)" \
		'^ +60\.00 % +k8-page-hit-rate '
	FAKE_COUNTS="4:0x7f6=25/9/9 4:0x8f6=75/9/9"
	t_like "and use of links" "$(fake --metrics k8-ht0-use)" \
		'^ +25\.00 % +k8-ht0-use '
	unset FAKE_CPU

	# Units of a kind, and kinds of cores, as a folder tells of them that
	# lies over that of sysfs.
	for i in 0 1 2 10; do
		unit=devices/uncore_cbox_$i
		mkdir -p $unit/format $unit/events
		echo $((20 + i)) >$unit/type
		echo 0 >$unit/cpumask
		echo config:0-7 >$unit/format/event
		echo event=0x11 >$unit/events/clockticks
	done
	mkdir -p devices/cpu_core devices/cpu_atom
	echo 4 >devices/cpu_core/type; echo 0 >devices/cpu_core/cpus
	echo 10 >devices/cpu_atom/type; echo 1-4095 >devices/cpu_atom/cpus
	units() { # ARGS… of stat, on `true`, there
		LD_PRELOAD=$T_TMP/fake.so unshare -m sh -c 'mount --bind devices \
			/sys/bus/event_source/devices && exec "$0" stat "$@" \
			true' "$TALLY" "$@" 2>&1
	}
	if [ "$(id -u)" -eq 0 ] && units -e task-clock >/dev/null 2>&1; then
		FAKE_COUNTS="20:0x11=1/9/9 21:0x11=2/9/9 22:0x11=4/9/9
			30:0x11=8/9/9"
		t_like "counts of all units are added" \
			"$(units -a -e uncore_cbox/clockticks/)" \
			'^ +15 +uncore_cbox/clockticks/ +4 units$'
		t_like "also by the event's bare name" \
			"$(units -a -e clockticks)" '^ +15 +clockticks +4 units$'
		t_like "but not for one of them" \
			"$(units -a -e uncore_cbox_2/clockticks/)" \
			'^ +4 +uncore_cbox_2/clockticks/$'
		t_is "--no-merge shows each, in order" "$(units -a --no-merge \
			-e uncore_cbox/clockticks/ | sed -n \
			's/^ *\([0-9]*\) *uncore_cbox_\([0-9]*\).*/\2=\1/p' |
			tr '\n' ' ')" '0=1 1=2 2=4 10=8 '
		t_like "JSON names them" "$(units -a --format=json \
			-e uncore_cbox/event=0x11/)" \
			'"counted":15,.*"units":\["uncore_cbox_0","uncore_cbox_1","uncore_cbox_2","uncore_cbox_10"\]'
		t_like "a unit that is not there" \
			"$(units -a -e uncore_box/event=1/)" 'no PMU "uncore_box"'
		FAKE_COUNTS="0:0x400000000=1000/100/60
			0:0xa00000000=500/100/40
			0:0x400000001=3000/100/60 0:0xa00000001=600/100/40"
		out=$(units -e cycles,instructions)
		t_like "two kinds of cores: a thread is on one or the other" \
			"$out" '^ +1,500 +cycles +cpu_atom and cpu_core$'
		t_like "… and metrics are of both" "$out" '^ +2\.40 +ipc '
		out=$(units --no-merge -e cycles,instructions)
		t_like "--no-merge shows each kind" "$out" \
			'^ +1,000 +cpu_core/cycles/$'
		t_like "… as it is" "$out" '^ +600 +cpu_atom/instructions/$'
		FAKE_COUNTS="0:0x400000000=1000/100/30
			0:0xa00000000=500/100/20"
		t_like "counters that were shared: an estimate" \
			"$(units -e cycles)" '^ +3,000 +cycles +estimated, .* 50\.0%'
		t_like "… of each kind" "$(units --no-merge -e cycles)" \
			'^ +2,000 +cpu_core/cycles/ +estimated'
	else
		t_skip "units and kinds of cores" \
			"not root, or nothing can be mounted"
	fi
else
	t_skip "made-up counters" "cannot preload a library here"
fi

t_done
