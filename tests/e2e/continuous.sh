#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Continuous recording: files, retention, processes that die, a disk that is nearly
# full, and pushing finished files.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
t_needs perf

# Works for a part of the time: how much is sampled does not matter here.
mkfifo ticks
sh -c 'while read -r _; do i=0; while [ $i -lt 12000 ]; do i=$((i + 1)); done; done' \
	<ticks &
load=$!
t_cleanup "kill -9 $load 2>/dev/null"
sh -c 'while echo && sleep 0.1; do :; done' >ticks 2>/dev/null &
t_cleanup "kill -9 $! 2>/dev/null"
member() { # DIR NAME
	sed -n 's/.*"'"$2"'": *"\{0,1\}\([^",}]*\).*/\1/p' "$1/status.json"
}
finished() { find "$1" -name 'record-?.tally.*' | wc -l; }
has_finished() { [ "$(finished "$1")" -ge "$2" ]; }
is_now() { [ "$(member "$1" "$2")" = "$3" ]; }
is_not() { [ "$(member "$1" "$2")" != "$3" ]; }
# Of recordings FILE…: samples, and the largest gap between them in milliseconds.
cat >gaps.py <<'END'
import json, subprocess, sys
parts, samples = [], 0
for name in sys.argv[2:]:
    j = json.loads(subprocess.run([sys.argv[1], 'info', '--format=json', name],
                                  check=True, capture_output=True).stdout)
    samples += sum(e['got'] for e in j['header']['events'])
    start = j['header']['start_wall_ns']
    parts.append((start, start + j['header']['duration_ns']))
parts.sort()
end, gap = parts[0][1], 0
for a, b in parts[1:]:
    gap = max(gap, a - end)
    end = max(end, b)
print(samples, gap // 10**6)
END

# --- files by time, new recorders, and an end by a signal
"$TALLY" record --continuous -p $load -F 99 -o dir --switch-output=1s --renew 3s \
	--keep-free 1k 2>err &
tally=$!
t_cleanup "kill -9 $tally 2>/dev/null"
t_run "files are finished, by several recorders" t_until sh -c \
	'ls dir/record-0.tally.* dir/record-1.tally.* >/dev/null'
t_until is_now dir state recording
status=$("$TALLY" status dir)
t_is "tally status: it runs" $? 0
t_like "… and says so" "$status" "^state +recording, for"
t_like "… with samples" "$status" "^samples +[0-9]"
"$TALLY" record --continuous -p $load -o dir 2>twice
t_is "a folder that another one records into" $? 2
t_like "… is named" "$(cat twice)" "dir: another tally"
t_until is_not dir keeper 0
keeper=$(member dir keeper)
# shellcheck disable=SC2046 # numbers
kill -USR1 $tally $(pgrep -P $tally)
t_until has_finished dir 6
t_is "SIGUSR1 ends none of its processes" "$(member dir restarts) $(
	member dir keeper)" "0 $keeper"
kill -TERM $tally
wait $tally
t_is "SIGTERM ends it well" $? 0
"$TALLY" status dir >status
t_is "tally status: it has ended" $? 3
t_like "… and says so" "$(cat status)" "not running"
t_is "nothing is left unfinished" "$(find dir -name '*.tally' | wc -l | tr -d ' ')" 0
# shellcheck disable=SC2046 # numbers
set -- $(python3 gaps.py "$TALLY" dir/record-*)
t_ok "no gap is larger than a second ($2 ms)" "$([ "$2" -lt 1000 ]; echo $?)"
t_is "the status has all samples" "$(member dir samples)" "$1"
cat >overlap.py <<'END'
import re, subprocess, sys
ranges = []
for name in sys.argv[2:]:
    out = subprocess.run([sys.argv[1], 'dump', name], check=True,
                         capture_output=True, text=True).stdout
    times = [int(t) for t in re.findall(r'^sample time_ns=(\d+)', out, re.M)]
    if times:
        ranges.append((min(times), max(times), name))
ranges.sort()
recorders = {name.rsplit('/', 1)[-1][:8] for _, _, name in ranges}
for a, b in zip(ranges, ranges[1:]):
    if a[1] >= b[0] and a[2].rsplit('/', 1)[-1][:8] != b[2].rsplit('/', 1)[-1][:8]:
        print('%s and %s overlap by %d us' % (a[2], b[2], (a[1] - b[0]) // 1000))
print(len(recorders), 'recorders')
END
t_is "no two recorders have samples of the same time" \
	"$(python3 overlap.py "$TALLY" dir/record-*)" "2 recorders"
t_run "symbols are kept for later files" sh -c 'ls dir/symbols | grep -q -- -'
t_is "… for the user only" "$(stat -c %a dir/symbols)" 700
last=$(find dir -name 'record-?.tally.*' | sort -t. -k3 | tail -n 1)
cp "$last" again.tally
"$TALLY" report -i again.tally --sort symbol,srcline >kept
t_run "… and a recording that used them" "$TALLY" symbolize -i again.tally
"$TALLY" report -i again.tally --sort symbol,srcline >read
t_same "… has the names that its files have" kept read
t_run "JSON" sh -c '"$TALLY" status --format=json dir | python3 -m json.tool'
t_lacks "a new recorder does not repeat what the first one said" \
	"$(sort err | uniq -d; echo none)" "tally:"

# --- files that end because of the memory that their tables take
t_run "tables larger than allowed" "$TALLY" record --continuous -p $load -F 99 -o memory \
	--switch-memory 1 --duration 15s --keep-free 1k
full=$(member memory files_full)
t_ok "… end files" "$([ "${full:-0}" -ge 2 ]; echo $?)"
t_is "… all but the last" "$full" $(($(finished memory) - 1))
t_like "… which tally status tells" "$("$TALLY" status memory)" \
	"^ +$full files ended early: many stacks \(--switch-memory\)"
# shellcheck disable=SC2046 # numbers
set -- $(python3 gaps.py "$TALLY" memory/record-*)
t_is "… and no sample is missing" "$(member memory samples) $(member memory lost)" "$1 0"
t_ok "… nor is there a gap ($2 ms)" "$([ "$2" -lt 1000 ]; echo $?)"
set -- memory/record-?.tally.*
t_like "… a file says so" "$("$TALLY" dump "$1")" "full_tables"
shift $(($# - 1))
t_lacks "… which the last one does not" "$("$TALLY" dump "$1")" "full_tables"
"$TALLY" record --continuous -p $load -F 99 -o roomy --switch-memory 0 --duration 7s \
	--keep-free 1k
t_is "without a limit there is one file" "$(finished roomy | tr -d ' ')" 1

# --- a recorder that dies, and a supervisor that does
"$TALLY" record --continuous -p $load -o dead --keep-free 1k 2>err &
tally=$!
t_cleanup "kill -9 $tally 2>/dev/null"
t_until is_now dead state recording
t_until is_not dead recorder 0
victim=$(member dead recorder)
# Which takes five seconds.
has_samples() { [ "$(python3 gaps.py "$TALLY" "$1" | cut -d ' ' -f 1)" -gt 0 ]; }
t_run "samples are written before the end of a file" t_until has_samples dead/record-0.tally
kill -9 "$victim"
replaced() { # MEMBER PID
	now=$(member dead "$1")
	[ "${now:-0}" != 0 ] && [ "$now" != "$2" ]
}
restarted() { replaced recorder "$victim" && is_now dead restarts 1; }
t_run "a recorder that was killed is started again" t_until restarted
t_run "… and what it had written is kept" t_until has_finished dead 1
t_run "… with its samples" has_samples "$(find dead -name 'record-?.tally.*')"
keeper=$(member dead keeper)
kill -9 "$keeper"
t_run "so is the process that reads files" t_until replaced keeper "$keeper"
recorder=$(member dead recorder)
kill -9 $tally
wait $tally 2>/dev/null
t_run "recorders end with their supervisor" t_until sh -c \
	"! kill -0 $recorder 2>/dev/null"
t_run "the folder can be used again" "$TALLY" record --continuous -p $load \
	-o dead --duration 3s --keep-free 1k --keep-symbols 0
t_ok "… with all files finished" "$(find dead -name '*.tally' |
	grep -q . && echo 1 || echo 0)"

# --- limits
i=0
while [ $i -lt 5 ]; do
	i=$((i + 1))
	mkdir -p old
	cp "$(find dir -name 'record-*' | head -n 1)" old/record-0.tally.2026010100000$i
	touch -d "2026-01-01 00:00:0$i" old/record-0.tally.2026010100000$i
done
echo mine >old/notes.txt
"$TALLY" record --continuous -p $load -o old --keep-age 1h --duration 2s \
	--keep-free 1k 2>err
t_is "files that are too old go" \
	"$(find old -name 'record-0.tally.2026010*' | wc -l | tr -d ' ')" 0
t_ok "… and no others" "$([ -s old/notes.txt ]; echo $?)"
"$TALLY" record --continuous -p $load -o size --keep-size 1 --duration 3s \
	--switch-output=1s --keep-free 1k 2>err
t_is "more than --keep-size goes" "$(finished size | tr -d ' ')" 0
t_ok "… and is counted" "$([ "$(member size removed)" -ge 1 ]; echo $?)"
"$TALLY" record --continuous -p $load -o full --keep-free 1000000000G 2>err &
tally=$!
t_cleanup "kill -9 $tally 2>/dev/null"
t_run "a disk without room pauses it" t_until is_now full state paused
t_like "… and says why" "$("$TALLY" status full)" "paused: the disk is nearly full"
kill $tally
wait $tally

# --- what cannot be meant, and what cannot begin
bad() { # STATUS ERE OPTION…
	want=$1 words=$2
	shift 2
	"$TALLY" record --continuous "$@" >/dev/null 2>err
	t_is "$*" $? "$want"
	t_like "… says why" "$(cat err)" "$words"
}
bad 2 "needs -a, -p, -t or --cgroup" -o x
bad 2 "instead of a command" -o x -- true
bad 2 "excludes --control" -o x -p $load --control fd:1
bad 1 "999999999" -o x -p 999999999
bad 2 "not a URL" -o x -p $load --push http://h
bad 1 "cannot make the folder" -o no/such/folder -p $load
"$TALLY" record --continuous -o never -p 999999999 2>err
t_is "one that cannot begin says why once" "$(grep -c 999999999 err)" 1
t_like "… and in its status" "$("$TALLY" status never)" \
	'^state +not running: .*999999999.*, ended'
t_is "… and no recorder has died" "$(member never restarts)" 0

# --- a service manager that waits until it samples
cat >manager.py <<'END'
import json, os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace('@', '\0'))
s.settimeout(0.1)
said = []
def hear():
    try:
        text = s.recv(4096).decode()
        state = json.load(open('ready/status.json'))['state']
        said.append(text + ' ' + state)
    except TimeoutError:
        pass
p = subprocess.Popen(sys.argv[2:], env={**os.environ, 'NOTIFY_SOCKET': sys.argv[1]})
while p.poll() is None:
    hear()
hear()
print(*said or ['nothing'])
END
for address in "$T_TMP/manager" "@tally-test-$$"; do
	t_is "$(echo "$address" | cut -c 1): the manager is told once" "$(python3 \
		manager.py "$address" "$TALLY" record --continuous -p $load -o ready \
		--duration 2s --keep-free 1k 2>/dev/null)" "READY=1 recording"
done
t_is "not if it cannot begin" "$(python3 manager.py "$T_TMP/other" "$TALLY" record \
	--continuous -p 999999999 -o never 2>/dev/null)" nothing

# --- options that another recording would ignore
unused() { # WORDS OPTION…
	words=$1
	shift
	"$TALLY" record "$@" -o unused.tally -- true >/dev/null 2>err
	t_is "$* alone" $? 2
	t_like "… says what is missing" "$(cat err)" "$words"
}
unused "--keep-age needs --continuous" --keep-age 1h
unused "--keep-free needs --continuous" --keep-free 5M
unused "--keep-symbols needs --continuous" --keep-symbols 5M
unused "--switch-memory needs --continuous" --switch-memory 5M
unused "--window needs --push" --window 5s
unused "--spool needs --push" --spool there
unused "--symbols needs --push" --symbols server

# --- options of a file
cat >conf <<END
# what to record
pid = $load
 freq = 97
continuous
output=conf.d
duration = 1h
keep-free = 1k
END
t_run "options of a file, and one that overrides" "$TALLY" record --config conf \
	--duration 2s
t_is "… are meant" "$("$TALLY" info --format=json \
	"$(find conf.d -name 'record-*' | head -n 1)" | python3 -c '
import json, sys
print(json.load(sys.stdin)["header"]["events"][0]["frequency"])')" 97
printf 'pid = 1\nno option\n' >bad.conf
"$TALLY" record --config bad.conf 2>err
t_is "a line that is no option" $? 2
t_like "… is named" "$(cat err)" "bad.conf:2: "
printf 'nonsense = 1\n' >bad.conf
"$TALLY" record --config=bad.conf 2>err
t_is "an option that is none" $? 2
"$TALLY" record -a --config conf 2>err
t_like "--config must be first" "$(cat err)" "must be the first option"

# --- what it records into and from goes and comes back
"$TALLY" record --continuous -p $load -F 99 -o gone --switch-output=1s \
	--keep-free 1k 2>err &
tally=$!
t_cleanup "kill -9 $tally 2>/dev/null"
t_until has_finished gone 1
rm -rf gone
t_run "a folder that was removed is made again" t_until sh -c \
	'ls gone/record-?.tally.* >/dev/null 2>&1'
t_until is_now gone state recording
t_run "… and tally status knows it" "$TALLY" status gone
mv gone gone.old
t_until sh -c 'ls gone/record-?.tally.* >/dev/null 2>&1'
t_is "a folder that was renamed is not written any more" \
	"$(old=$(finished gone.old); t_until has_finished gone 2 && echo $(($(finished gone.old) - old)))" 0
kill $tally
wait $tally
t_is "… and the recording ends well" $? 0
t_like "… and was reported" "$(cat err)" "folder of recordings .* was removed or replaced"

group=
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -fc %T $hierarchy 2>/dev/null)" = cgroup2fs ] &&
		mkdir "$hierarchy/tally-test-$$" 2>/dev/null &&
		group=$hierarchy/tally-test-$$ && break
done
if [ -n "$group" ]; then
	home=$hierarchy$(sed -n 's/^0:://p' /proc/$load/cgroup)
	t_cleanup "echo $load >$home/cgroup.procs; rmdir $group"
	echo $load >"$group/cgroup.procs"
	if "$TALLY" record -q --cgroup "$group" --duration 0.2s -o group.tally 2>err; then
		"$TALLY" record --cgroup "$group" --continuous -F 99 -o group \
			--switch-output=1s --keep-free 1k 2>err &
		tally=$!
		t_cleanup "kill -9 $tally 2>/dev/null"
		t_until has_finished group 1
		echo $load >"$home/cgroup.procs"
		t_run "a control group is removed" t_until rmdir "$group"
		t_run "… which tally status tells" t_until is_now group why \
			"the control group does not exist"
		mkdir "$group"
		echo $load >"$group/cgroup.procs"
		t_run "… and made again: another recorder takes over" t_until sh -c \
			'ls group/record-1.tally.* >/dev/null 2>&1'
		t_until is_now group why ''
		before=$(finished group)
		t_until has_finished group $((before + 2))
		kill $tally
		wait $tally
		set -- group/record-1.tally.*
		t_ok "… and records what runs there" "$([ "$(python3 gaps.py "$TALLY" \
			"$@" | cut -d ' ' -f 1)" -gt 0 ]; echo $?)"
	else
		t_skip "a control group that is made again" "$(tail -n 1 err)"
	fi
else
	t_skip "a control group that is made again" "none can be made here"
fi

# --- pushed
for PY in python3 /usr/bin/python3 ''; do
	[ -n "$PY" ] && $PY -c 'import google.protobuf' 2>/dev/null && break
done
if [ -n "$PY" ] && command -v protoc >/dev/null; then
	$PY "$top_srcdir/tests/push/server.py" server >server.out 2>&1 &
	server=$!
	t_cleanup "kill $server 2>/dev/null"
	t_until test -s server/port
	url=pyroscope+http://127.0.0.1:$(cat server/port)
	printf '503\n' >server/faults
	t_run "pushed while recording" "$TALLY" record -p $load -F 99 -o pushed \
		--push "$url" --label service_name=loop --window 1s \
		--switch-output=2s --renew 3s --duration 6s --keep-free 1k
	# shellcheck disable=SC2046 # numbers
	set -- $(python3 gaps.py "$TALLY" pushed/record-*)
	t_is "… are all samples" "$($PY -c '
import json
print(sum(g["count"] for l in open("server/log")
          for g in json.loads(l).get("got", [])
          if g["labels"]["service_name"] == "loop"))')" "$1"
	t_like "tally status knows" "$("$TALLY" status pushed)" \
		"^push +[0-9]+ requests sent"
	printf 'always=503\n' >server/faults
	rm -f server/log
	"$TALLY" record -p $load -F 99 -o away --push "$url" --switch-output=1s \
		--duration 3s --keep-free 1k 2>err
	t_ok "a server that is away: all waits" \
		"$([ "$(member away waiting)" -ge 2 ]; echo $?)"
	t_like "… with the reason" "$("$TALLY" status away)" \
		"^problem +HTTP status 503"
	: >server/faults
	rm -f server/log
	t_run "… and is sent by the next one" "$TALLY" record -p $load -F 99 \
		-o away --push "$url" --switch-output=1s --duration 2s \
		--keep-free 1k
	t_is "… once" "$($PY -c '
import json
got = [g["uuid"] for l in open("server/log")
       for g in json.loads(l).get("got", [])]
print(len(got) - len(set(got)), len(got) > 2)')" "0 True"
	# Killed while a file's first requests hang: none is sent twice.
	printf 'always=slow\n' >server/faults
	"$TALLY" record -p $load -F 99 -o killed --push "$url" --window 1s \
		--switch-output=2s --keep-free 1k 2>err &
	tally=$!
	t_cleanup "kill -9 $tally 2>/dev/null"
	t_until sh -c 'ls killed/spool/*.push >/dev/null 2>&1'
	t_until is_not killed keeper 0
	kill -9 $tally "$(member killed keeper)"
	: >server/faults
	rm -f server/log
	t_run "a push that was killed goes on" "$TALLY" record -p $load -F 99 \
		-o killed --push "$url" --window 1s --switch-output=1s \
		--duration 2s --keep-free 1k
	# shellcheck disable=SC2046 # numbers
	set -- $(python3 gaps.py "$TALLY" killed/record-*)
	t_is "… with all samples, each once" "$($PY -c '
import json
got = [g for l in open("server/log") for g in json.loads(l).get("got", [])]
print(sum(g["count"] for g in got), len(got) - len({g["uuid"] for g in got}))')" \
		"$1 0"
	rm -f server/log
	t_run "names are left to the server" "$TALLY" record -p $load -F 99 \
		-o later --push "$url" --symbols=server --switch-output=1s \
		--duration 2s --keep-free 1k
	t_is "… which gets addresses" "$($PY -c '
import json
got = [g for l in open("server/log") for g in json.loads(l).get("got", [])]
print(len(got) > 0 and all(g["unnamed"] for g in got))')" True
	set -- later/record-*
	t_like "… and the recording says so" "$("$TALLY" info "$1")" \
		"left to the server"
	"$TALLY" symbolize -q "$1" 2>err
	t_lacks "… until it is symbolized" "$("$TALLY" info "$1")" \
		"left to the server"
else
	t_skip "pushing while recording" \
		"apt-get install protobuf-compiler python3-protobuf"
fi
t_done
