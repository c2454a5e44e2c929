#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tally record as users run it: streams and signals of the command, how the recording
# ends, messages.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf

# key FILE PYTHON: a value of `tally info --format=json`, as j.
key() {
	"$TALLY" info --format=json "$1" | python3 -c "
import json, sys
j = json.load(sys.stdin)
print($2)"
}
cat >burn.sh <<'END'
i=0; while [ $i -lt ${1:-40000} ]; do i=$((i + 1)); done
END

# What belongs to the command.
echo text | T_X=7 "$TALLY" record -q -o a.tally -- sh -c 'cat; echo $T_X
	echo "one  two"; echo bad >&2' >out 2>err
t_is "its input, environment and output pass through" "$(cat out)" "text
7
one  two"
t_is "its errors pass through" "$(cat err)" bad
t_is "options after the command are its own" \
	"$("$TALLY" record -q -o a.tally echo -o -q)" '-o -q'
t_is "its file limit is what it was" \
	"$(ulimit -Sn 256; "$TALLY" record -q -o a.tally -- sh -c 'ulimit -Sn')" \
	256
t_is "it has no more files open than without us" \
	"$("$TALLY" record -q -o a.tally -- sh -c 'ls /proc/self/fd | wc -l')" \
	"$(sh -c 'ls /proc/self/fd | wc -l')"
for n in 0 255; do
	"$TALLY" record -q -o a.tally -- sh -c "exit $n"
	t_is "exit status $n passes through" $? $n
done
t_like "and is in the file" "$("$TALLY" info a.tally)" 'exit status 255'
"$TALLY" record -q -o a.tally -- sh -c 'kill -KILL $$'
t_is "death by a signal is 128 + its number" $? 137
"$TALLY" record -q -o a.tally -- sh -c 'ulimit -c 0; kill -SEGV $$' 2>err
t_is "also when it would leave a core file" $? 139
t_like "a crash is told, as a shell would" "$(cat err)" \
	'ended by signal 11 \(Segmentation fault\)'

# Commands that cannot run.
rm -f none.tally
"$TALLY" record -q -o none.tally -- ./no-such-command 2>err
t_is "a missing command is 127" $? 127
t_like "and is named" "$(cat err)" 'no-such-command.*No such file'
t_ok "and leaves no file" "$([ ! -e none.tally ]; echo $?)"
"$TALLY" record -q -o none.tally -- "$(printf './no\033[31m\nX')" 2>err
t_like "its name cannot control the terminal" "$(cat err)" \
	'^tally: cannot run "\./no\\x1b\[31m\\x0aX"'
: >plain
"$TALLY" record -q -o none.tally -- ./plain 2>err
t_is "a file that is no program is 126" $? 126
"$TALLY" record -q -o probe.tally -- true
cp probe.tally old.tally
"$TALLY" record -q -o old.tally -- ./no-such-command 2>err
t_same "an older recording survives that" probe.tally old.tally

# Signals, once the command has worked for a while and left the file `ready`:
# Ctrl-C in a terminal of its own, or a signal to the recorder alone.
cat >group.py <<'END'
import fcntl, os, pty, signal, subprocess, sys, termios, time
sig = sys.argv[1]
master, slave = pty.openpty()
def plain():  # whatever started the tests may ignore them
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(s, signal.SIG_DFL)
p = subprocess.Popen(sys.argv[2:], start_new_session=True, preexec_fn=plain)
end = time.time() + 60
while not os.path.exists('ready') and time.time() < end:
    time.sleep(0.001)
if sig == 'Ctrl-C':
    os.write(master, b'\x03')
else:
    os.kill(p.pid, getattr(signal, sig))
try:
    print(p.wait(timeout=60))
except subprocess.TimeoutExpired:
    os.killpg(p.pid, signal.SIGKILL)
    print('hangs')
END
loop='while :; do :; done'
ready='sh burn.sh 100000; : >ready; while :; do :; done'
t_is "Ctrl-C ends both, by the same signal" "$(python3 group.py Ctrl-C \
	"$TALLY" record -q -o int.tally -- sh -c "$ready")" -2
t_is "and leaves a whole file" \
	"$(key int.tally "j['header']['complete'], j['header']['samples']['got'] > 20")" \
	"True True"
rm -f ready
handles='trap "exit 5" INT; : >ready; while :; do :; done'
t_is "a command that handles Ctrl-C decides itself" "$(python3 group.py Ctrl-C \
	"$TALLY" record -q -o int.tally -- \
	sh -c "sleep 0.2; $handles")" 5
# ... however early: it may have ended before anybody looked.
got=
for i in 1 2 3; do
	rm -f ready
	got="$got $(python3 group.py Ctrl-C \
		"$TALLY" record -q -o int.tally -- sh -c "$handles")"
	rm -f ready
	got="$got $(python3 group.py Ctrl-C \
		"$TALLY" stat -q -r 2 -o stat.txt -- sh -c "$handles")"
done
t_is "also at once" "$got" " 5 5 5 5 5 5"
rm -f ready
t_is "SIGTERM to the recorder reaches the command" "$(python3 group.py SIGTERM \
	"$TALLY" record -q -o int.tally -- sh -c 'trap "exit 6" TERM
	: >ready; while :; do :; done')" 6
t_is "and the file is whole" "$(key int.tally "j['header']['complete']")" True

# A closed terminal tells only the first process of its session.
cat >hangup.py <<'END'
import os, pty, signal, sys, time
try:
    pid, fd = pty.fork()
except OSError:
    print('no terminals here')
    sys.exit()
if not pid:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
end = time.time() + 60
while not os.path.exists('ready') and time.time() < end:
    time.sleep(0.05)
os.close(fd)
end = time.time() + 60
while not os.waitpid(pid, os.WNOHANG)[0]:
    if time.time() > end:
        os.killpg(pid, signal.SIGKILL)
        print('hangs')
        break
    time.sleep(0.05)
END
rm -f ready
got=$(python3 hangup.py "$TALLY" record -q -o hup.tally -- sh -c "$ready")
if [ "$got" = "no terminals here" ]; then
	t_skip "a closed terminal ends both" "$got (/dev/pts)"
else
	t_none "a closed terminal ends both" "$got"
	t_is "and leaves a whole file" \
		"$(key hup.tally "j['header']['complete']")" True
fi
# What is ignored or blocked stays so for the command.
cat >blocked.py <<'END'
import ctypes, os, signal, sys
# The C library's own signals, which some parents ignore; timers catch the second one.
for s in (32, 33):
    ctypes.CDLL(None).syscall(13, s, bytes(32), None, 8)  # rt_sigaction
signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGPROF, signal.SIGTERM,
                                            signal.SIGRTMIN + 3])
for s in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
    signal.signal(s, signal.SIG_DFL)
for s in (signal.SIGPIPE, signal.SIGHUP, signal.SIGUSR1, signal.SIGRTMIN + 4):
    signal.signal(s, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
END
masks='grep -E Sig(Ign|Blk) /proc/self/status'
want=$(python3 blocked.py $masks)
for how in --source=perf --source=timer --source=ptrace --switch-output=signal; do
	t_is "$how: the command ignores and blocks the same signals" "$(python3 \
		blocked.py "$TALLY" record -q $how -o a.tally -- $masks)" "$want"
done

# Servers send signals to their process group, which the recorder belongs to.
cat >reload.py <<'END'
import os, signal, sys, time
got = {}
def count(number, frame):
    got[number] = got.get(number, 0) + 1
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
names = 'HUP INT QUIT TERM USR1 USR2 ALRM VTALRM PROF IO PWR STKFLT'.split()
signals = {n: getattr(signal, 'SIG' + n, 16) for n in names}
signals.update(RTMIN=signal.SIGRTMIN, RTMAX=signal.SIGRTMAX)
for s in signals.values():
    signal.signal(s, count)
for name, s in signals.items():
    os.kill(0, s)
    burn(0.02)
burn(float(sys.argv[1]))
print(*['%s %d' % (n, got.get(s, 0)) for n, s in signals.items() if got.get(s, 0) != 1])
sys.exit(4)
END
for source in perf timer ptrace; do
	t_is "--source=$source: signals to the process group arrive once" "$(setsid -w \
		"$TALLY" record -q --source=$source -F 200 -o a.tally -- \
		python3 reload.py 1; echo "status $?")" "
status 4"
	# 200 in a second; a busy host that lends its CPUs may take some.
	t_is "and the recording goes on to the end" "$(key a.tally "j['header'][
		'complete'], j['header']['samples']['got'] > 100")" "True True"
done
t_is "so do repetitions" "$(setsid -w "$TALLY" record -q --repeat 2 -o a.tally -- \
	python3 reload.py 0; key a.tally "j['header']['runs']")" "

2"
rm -f ready
t_is "SIGUSR1 to the recorder alone is ignored" "$(python3 group.py SIGUSR1 \
	"$TALLY" record -q -o a.tally -- sh -c 'trap "exit 6" USR1
	: >ready; sleep 0.5; exit 7')" 7
t_is "a group that is told to end ends by itself" "$(setsid -w "$TALLY" record -q \
	--duration 0.3 -o a.tally -- sh -c 'trap "trap \"\" TERM; kill 0; sleep 0.3
	exit 5" TERM; while :; do :; done'; echo $?)" 5
# An alarm outlives exec, and would end the command.
cat >alarm.py <<'END'
import os, signal, sys
signal.alarm(1)
os.execvp(sys.argv[1], sys.argv[1:])
END
t_is "an alarm ends the command" "$(python3 alarm.py "$TALLY" record -q -o a.tally -- \
	sleep 10; echo $?)" 142
t_is "and the file is whole" "$(key a.tally "j['header']['complete']")" True

# Pipes as output.
mkfifo pipe
cat pipe >piped.tally & reader=$!
"$TALLY" record -q -o pipe -- sh burn.sh
t_is "a named pipe can be the output" $? 0
wait $reader
t_is "and what comes out is whole" \
	"$(key piped.tally "j['header']['complete']")" True
# A reader that goes before the command runs is an error of another kind.
{ "$TALLY" record -q -o /dev/stdout -- sh -c 'echo >runs; sleep 0.5; sh burn.sh
	echo ran >ran' 2>err; echo $? >status; } |
	{ until [ -e runs ]; do sleep 0.05; done; head -c 1; } >/dev/null
t_is "a reader that goes away is an error" "$(cat status)" 1
t_like "that is reported" "$(cat err)" 'Broken pipe'
t_is "and the command runs on" "$(cat ran)" ran

# Several runs, events, times.
"$TALLY" record -q -o rep.tally --repeat 3 -- sh burn.sh
t_is "--repeat makes runs" "$(key rep.tally "j['header']['runs']")" 3
t_is "all with samples of their own" "$("$TALLY" report --format=csv -s run \
	--no-header rep.tally | tail -n +2 | awk -F, '$2 > 0' | wc -l)" 3
"$TALLY" record -q -F 2000 -e cpu-clock:u -e page-faults,task-clock \
	-o ev.tally -- sh burn.sh
t_is "several events in one recording, each with samples" "$(key ev.tally \
	"[e['name'] for e in j['header']['events'] if e['got'] > 0]")" \
	"['cpu-clock:u', 'page-faults', 'task-clock']"
t_is "events of the kernel claim no precision" \
	"$("$TALLY" record -q -e cpu-clock:ppp -o a.tally -- sh burn.sh 100 &&
	key a.tally "j['header']['events'][0]['precise']")" 0
t_lacks ":u leaves the kernel out" "$("$TALLY" report --format=csv -s image \
	-e cpu-clock:u --no-header ev.tally)" kernel
"$TALLY" record -q -c 1000000 -e cpu-clock -o per.tally -- sh burn.sh
t_is "-c sets the period" "$(key per.tally "j['header']['events'][0]['period']")" \
	1000000
"$TALLY" record -q -e cpu-clock --user -o user.tally -- sh burn.sh
t_lacks "--user leaves the kernel out" "$("$TALLY" report --format=csv -s image \
	--no-header user.tally)" kernel
"$TALLY" record -q --delay 30s -o delay.tally -- sh burn.sh
t_is "nothing is sampled before --delay is over" \
	"$(key delay.tally "j['header']['samples']['got']")" 0
"$TALLY" record -q -e cpu-clock --repeat 3 --delay 0.05 -o delay.tally -- \
	sh burn.sh 100000
t_lacks "a delay is not taken for multiplexing" \
	"$("$TALLY" report delay.tally)" multiplexed
"$TALLY" record -q --duration 0.3 -o dur.tally -- sh -c "$loop"
t_is "--duration ends the command" $? 143
t_is "and the file is whole" "$(key dur.tally "j['header']['complete']")" True
for command in record stat; do
	timeout 60 "$TALLY" $command --duration 0 -o zero.tally -- true 2>err
	t_is "$command --duration 0 is refused: it is not without end" "$?$(cat err)" \
		"2tally: --duration requires a time above 0"
done
"$TALLY" record -e cpu-clock -o left.tally -- \
	sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >left' 2>err
left=$(cat left)
t_like "what a command leaves behind is named, and not recorded" "$(cat err)" \
	"1 process that the command started still runs and is no longer recorded: $left \\((sh|sleep)\\); -p"
kill "$left"
"$TALLY" record -e cpu-clock -o left.tally -- sh -c 'sleep 0.1 & wait' 2>err
t_lacks "nothing is said where nothing is left" "$(cat err)" 'still run'

# Running processes.
sh -c "$loop" & pid=$!
"$TALLY" record -q -p $pid --duration 0.4 -o pid.tally
t_is "-p ends with --duration" $? 0
t_ok "and leaves the process alone" "$(kill -0 $pid; echo $?)"
t_ok "and has its samples" \
	"$([ "$(key pid.tally "j['header']['samples']['got']")" -gt 20 ]; echo $?)"
rm -f pid.tally
"$TALLY" record -q -p $pid,$pid -t $pid -e cpu-clock --duration 0.4 -o pid.tally
t_is "a process that is named twice is recorded once" "$(key pid.tally "
j['header']['samples']['got'] < 1.2 * 0.4 * 999" | tail -1)" True
rm -f pid.tally
nohup "$TALLY" record -q -p $pid -o pid.tally >/dev/null 2>&1 & recorder=$!
t_until [ -s pid.tally ]
kill -HUP $recorder
sleep 0.3
t_ok "nohup holds" "$(kill -0 $recorder; echo $?)"
for s in USR1 USR2 VTALRM IO 34 64; do kill -$s $recorder; done
sleep 0.3
t_ok "signals for programs do not end a recording" "$(kill -0 $recorder; echo $?)"
kill -TERM $recorder
wait $recorder
t_is "SIGTERM does" "$(key pid.tally "j['header']['complete']")" True
rm -f pid.tally
python3 alarm.py "$TALLY" record -q -p $pid -o pid.tally
t_is "so does an alarm" "$? $(key pid.tally "j['header']['complete']")" "0 True"
rm -f pid.tally
{ t_until [ -s pid.tally ]; sleep 0.2; kill $pid; } &
"$TALLY" record -q -p $pid -o pid.tally
t_is "-p on a process that ends is a normal end" $? 0
wait 2>/dev/null
"$TALLY" record -q -p $pid -o pid.tally 2>err
t_is "-p on a process that is gone is an error" $? 1
t_like "that names it" "$(cat err)" "no process $pid"
sleep 30 & asleep=$!
"$TALLY" record -p $asleep -e cpu-clock --duration 0.3 -o asleep.tally 2>err
t_like "of a process that sleeps it is said why there are no samples" \
	"$(cat err)" '[Nn]o samples: the recorded programs did not run'
t_like "so does the report" "$("$TALLY" report asleep.tally)" \
	'[Nn]o samples: the recorded programs did not run'
kill $asleep
"$TALLY" record -F 1 -e cpu-clock -o short.tally -- true 2>err
t_like "and of a program too short for one" "$(cat err)" \
	'no samples: .* ran for [0-9.]+ ms, and a sample is taken every 1000'
cat >threads.py <<'END'
import os, sys, threading, time
end = time.time() + 30
def burn():
    while time.time() < end:
        pass
t = threading.Thread(target=burn)
t.start()
# at once: who reads it does not wait for the rest
os.write(1, b'%d %d\n' % (os.getpid(), t.native_id))
t.join()
END
rm -f ids
python3 threads.py >ids & python=$!
t_until [ -s ids ]
read -r pid tid <ids
"$TALLY" record -q -p $tid -e cpu-clock --duration 0.3 -o tid.tally
t_is "-p with the number of a thread records its process" "$("$TALLY" report \
	--format=csv --no-header -s pid tid.tally | tail -n +2 | cut -d, -f1)" \
	$pid
kill $python
wait
# The parent does not ask how its child ended.
rm -f ids
python3 -c '
import os, time
pid = os.fork()
if not pid:
    for i in range(600):
        if os.path.exists("zombie.tally") and os.stat("zombie.tally").st_size:
            break
        time.sleep(0.1)
    os._exit(0)
print(pid, flush=True)
time.sleep(90)' >ids & parent=$!
t_until [ -s ids ]
timeout 60 "$TALLY" record -q -t "$(cat ids)" -o zombie.tally
t_is "-t ends with its thread, even if that was not waited for" $? 0
kill $parent
wait 2>/dev/null

# A recorder that cannot keep up counts what it loses: it stands still while the
# command works for two and a half seconds.
cat >stop.py <<'END'
import os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:])
def wait_for(name):
    end = time.time() + 100
    while not os.path.exists(name) and time.time() < end:
        time.sleep(0.05)
wait_for('started')
os.kill(p.pid, signal.SIGSTOP)
wait_for('worked')
os.kill(p.pid, signal.SIGCONT)
p.wait()
END
cat >work.py <<'END'
import time
begin = time.monotonic()
open('started', 'w').close()
def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
spend(2.5)
open('worked', 'w').close()
spend(0.3)
with open('spent', 'w') as f:
    print(time.process_time(), time.monotonic() - begin, file=f)
END
python3 stop.py "$TALLY" record -q -g -e cpu-clock -F 20000 \
	-o lost.tally -- python3 work.py
# (What is missed is computed from what is wanted.)
key lost.tally "(lambda thinned, s, e, spent, wall: [s['lost'] > 0,
 0.95 * spent < (e['wanted'] + thinned) / 20000 < wall + 0.5,
 abs(e['running_ns'] * 20000 / 1e9 - e['wanted'] - thinned) < 10,
 s['got'] + s['lost'] > 0.5 * e['wanted']])(
	int(j['header']['environment'].get('thinned_samples', 0)),
	j['header']['samples'], j['header']['events'][0],
	*map(float, open('spent').read().split()))" | tr -d '[],' >lost
read -r lost own rate most <lost
t_is "lost samples are counted" "$lost" True
t_like "and shown" "$("$TALLY" report lost.tally)" '[0-9] lost'
# Where the recorder lowered the rate, others have the weight of these samples.
t_is "what was wanted is what the rate calls for in the program's own time" "$own" True
t_is "… and in the time that the kernel counted" \
	"$rate" True
# Throttling and a busy host take some; a quarter of all found room.
t_is "most of them were got or lost" "$most" True

# Few descriptors: it works, or says how many it takes, and works with so many.
few() { # DESCRIPTORS OPTION…
	few_n=$1; shift
	(ulimit -n "$few_n" && exec "$TALLY" record -q -g -o few.tally "$@") 2>err
}
# few_wants DESCRIPTORS OPTION…: sets wants to what it takes by its own words.
few_wants() {
	wants=$1
	few "$@" && return
	wants=$(sed -n 's/.*needs \(up to \)\{0,1\}\([0-9]*\)[ ,].*/\2/p' err)
	[ "$wants" ] || { bad="$bad $*: $(cat err)"; return 1; }
	shift
	few "$wants" "$@" || bad="$bad $*, then $wants: $(cat err)"
}
rm -f few.tally
bad=
for n in 5 6 9 11 12 14 20 32; do
	few_wants $n -- sh burn.sh || continue
	key few.tally "j['header']['stacks']['whole'] >= \
		0.8 * j['header']['samples']['got'] > 0" | grep -q True ||
		bad="$bad $n: with $wants stacks are broken"
done
t_none "with few descriptors stacks are whole, or it says what it takes" "$bad"
t_ok "and at least the last was recorded" "$([ -s few.tally ]; echo $?)"
bad=
sleep 60 & idle=$!
for n in 12 18; do
	few_wants $n -a --duration 0.1
	few_wants $n -a --wait --duration 0.1
	few_wants $n -p $idle --duration 0.1
	few_wants $n --wait -p $idle --duration 0.1
	few_wants $n -e cpu-clock,task-clock,page-faults,cs -- sh burn.sh
done
kill $idle
t_none "… of all targets, at the first attempt" "$bad"

# Groups: counted at the same time, each sampled.
"$TALLY" record -q -e '{cpu-clock,page-faults}' -o group.tally -- sh burn.sh \
	2>err
t_is "both events of a group are sampled" "$("$TALLY" dump --no-pager \
	group.tally | sed -n 's/^sample .* \(event=[0-9]*\) .*/\1/p' | sort -u |
	tr '\n' ' ')$(cat err)" 'event=0 event=1 '
"$TALLY" record -q -e '{cpu-clock,page-faults}:S' -o group.tally true 2>err
t_is "a group has no modifiers of its own" "$?" 2
t_like "that is said, and what to do" "$(cat err)" 'not after the group'
if ${CC:-cc} -shared -fPIC -D_GNU_SOURCE -o fake_pmu.so \
	"$top_srcdir/tests/e2e/fake_pmu.c" -ldl 2>/dev/null &&
	LD_PRELOAD=$PWD/fake_pmu.so "$TALLY" record -q -e cycles -o fake.tally \
		true 2>/dev/null; then
	for alone in '' 1; do
		FAKE_ALONE=$alone; [ -z "$alone" ] || export FAKE_ALONE
		[ -n "$alone" ] || unset FAKE_ALONE
		LD_PRELOAD=$PWD/fake_pmu.so "$TALLY" record -q -e \
			'{cycles,instructions},page-faults' \
			-o fake$alone.tally -- sh burn.sh
	done
	unset FAKE_ALONE
	note='note="not always counted at the same time'
	t_lacks "a group that fits is opened as one" "$("$TALLY" dump --no-pager \
		fake.tally)" "^event .*$note"
	t_is "one that does not is opened event by event, which is noted" \
		"$("$TALLY" dump --no-pager fake1.tally | grep "^event .*$note" |
		cut -d' ' -f2)" 1
	t_is "… and sampled" "$("$TALLY" dump --no-pager fake1.tally | sed -n \
		's/^sample .* \(event=[01]\) .*/\1/p' | sort -u | tr '\n' ' ')" \
		'event=0 event=1 '
	# Two kinds of cores: each processor has the event of its own.
	mkdir -p kinds/cpu_core kinds/cpu_atom
	echo 4 >kinds/cpu_core/type; echo 0 >kinds/cpu_core/cpus
	echo 10 >kinds/cpu_atom/type; echo 1-4095 >kinds/cpu_atom/cpus
	if [ "$(id -u)" -eq 0 ] && unshare -m mount --bind kinds \
		/sys/bus/event_source/devices 2>/dev/null; then
		FAKE_KINDS=1 LD_PRELOAD=$PWD/fake_pmu.so unshare -m sh -c 'mount \
			--bind kinds /sys/bus/event_source/devices &&
			"$0" record -q -e cycles -o kinds.tally -- sh burn.sh' \
			"$TALLY" 2>err
		t_like "an event of two kinds of cores is one" "$("$TALLY" dump \
			--no-pager kinds.tally | grep '^event ')$(cat err)" \
			'^event 0 name="cycles" actual="cycles" .* type=0 config=0x0 '
		t_like "… and is sampled" "$("$TALLY" dump --no-pager \
			kinds.tally | grep -c '^sample ')" '^[1-9][0-9]'
	else
		t_skip "kinds of cores" "not root, or nothing can be mounted"
	fi
else
	t_skip "groups of counters" "nothing can be preloaded here"
fi

# The whole system, a control group, and users without rights.
if [ "$(id -u)" -eq 0 ]; then
	awk 'BEGIN { while (1) i++ }' & other=$!
	"$TALLY" record -q -a -e cpu-clock -o all.tally -- sh burn.sh 200000
	kill $other
	wait $other 2>/dev/null
	"$TALLY" report --format=csv -s comm all.tally >all.csv
	t_is "-a has the command" "$(grep -c '^sh,' all.csv)" 1
	t_like "and what else runs" "$(cat all.csv)" '^[mg]?awk,'
	"$TALLY" record -q -a -C 0 -e cpu-clock -o one.tally -- sh burn.sh
	t_is "-C records its processors only" "$("$TALLY" report --format=csv \
		--no-header -s cpu one.tally | tail -n +2 | cut -d, -f1)" 0
	"$TALLY" record -q -a -C 9999 -o one.tally -- true 2>err
	t_like "a processor that is not there is named" "$(cat err)" \
		'processor 9999 is not online'
	chmod 755 . && chmod 644 burn.sh && mkdir -m 777 open
	cp "$TALLY" open/tally-copy
	t_settings
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] &&
		as_nobody open/tally-copy list >list 2>/dev/null; then
		as_nobody open/tally-copy record -e cpu-clock -o open/p.tally \
			-- sh burn.sh 2>err
		t_is "users record their own programs" $? 0
		t_like "without the kernel, which is said" "$(cat err)" \
			'kernel part not visible: kernel.perf_event_paranoid is 2'
		as_nobody open/tally-copy record -q -a -o open/p.tally \
			-- true 2>err
		t_like "what they may not is explained" "$(cat err)" \
			'whole system.*sysctl kernel.perf_event_paranoid=0'
		as_nobody open/tally-copy record -q -e cpu-clock:k \
			-o open/p.tally -- true 2>err
		t_like "also that it is the kernel" "$(cat err)" \
			'record the kernel.*sysctl kernel.perf_event_paranoid=1'
		as_nobody open/tally-copy record -q -p $$ -o open/p.tally 2>err
		t_like "also other people's processes" "$(cat err)" \
			"process $$: it belongs to another user"
	else
		t_skip "users without rights" \
			"needs kernel.perf_event_paranoid=2 and setpriv"
	fi
	exec 9<&-
else
	t_skip "-a, -C, and other users" "needs root"
fi
group=
for g in /sys/fs/cgroup/perf_event /sys/fs/cgroup/unified /sys/fs/cgroup; do
	if [ "$(id -u)" -eq 0 ] && [ -e $g/cgroup.procs ] &&
		mkdir $g/tally-test.$$ 2>/dev/null; then
		group=$g/tally-test.$$
		t_cleanup "rmdir $group 2>/dev/null"
		break
	fi
done
if [ -n "$group" ]; then
	sh -c "echo \$\$ >$group/cgroup.procs; exec sh burn.sh 10000000" &
	pid=$!
	t_until grep -q . $group/cgroup.procs
	"$TALLY" record -q --cgroup $group --duration 0.5 -e cpu-clock \
		-o cg.tally
	t_is "--cgroup records its members only" "$("$TALLY" report \
		--format=csv --no-header -s pid cg.tally | tail -n +2 |
		cut -d, -f1)" $pid
	kill $pid
	wait 2>/dev/null
else
	t_skip "--cgroup" "cannot make a control group"
fi
# Samples tell the group of their moment where perf events belong to version 2.
two=
for g in /sys/fs/cgroup/unified /sys/fs/cgroup; do
	if [ "$(id -u)" -eq 0 ] && [ -e $g/cgroup.procs ] &&
		grep -q "^perf_event[[:space:]]*0[[:space:]]" /proc/cgroups &&
		grep -q "^0::/$" /proc/self/cgroup &&
		mkdir $g/tally-two.$$ 2>/dev/null; then
		two=$g/tally-two.$$
		t_cleanup "rmdir $two/a $two/b $two/c $two 2>/dev/null"
		break
	fi
done
cat >moves.sh <<'END'
work() { i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done; }
mkdir "$1/a" "$1/b" "$1/c"
echo $$ >"$1/a/cgroup.procs"
work
echo $$ >"$1/b/cgroup.procs"
work
sh -c 'echo $$ >"$1/c/cgroup.procs"
	i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done' sh "$1"
rmdir "$1/c"
END
if [ -n "$two" ] && "$TALLY" record -q -e cpu-clock -F 999 -o moves.tally \
	sh moves.sh "$two" 2>err; then
	"$TALLY" report --format=csv --no-header -s cgroup moves.tally |
		cut -d, -f1 >groups
	for g in a b c; do
		t_like "samples have the control group of their moment: $g" \
			"$(cat groups)" "/tally-two.$$/$g$"
	done
else
	t_skip "control groups of samples" "perf events have no groups of version 2"
fi
old=/sys/fs/cgroup/cpu
if [ "$(stat -f -c %t $old 2>/dev/null)" = 27e0eb ] &&
	! grep -q "$(readlink -f $old) .*perf_event" /proc/mounts &&
	mkdir $old/tally-test.$$ 2>/dev/null; then
	t_cleanup "rmdir $old/tally-test.$$ 2>/dev/null"
	"$TALLY" record -q --cgroup $old/tally-test.$$ -o a.tally true 2>err
	t_like "one of another controller" "$(cat err)" \
		'has version 1 and not the perf_event controller; .*mounts'
else
	t_skip "one of another controller" "there are none of version 1"
fi
"$TALLY" record -q --cgroup no-such-group -o a.tally 2>err
t_like "a missing control group is named" "$(cat err)" 'no-such-group'

# Words for the user.
"$TALLY" record -o a.tally -- true 2>err
t_like "the end is told in one line" "$(tail -1 err)" \
	'^tally: [0-9,]+ samples? in a\.tally \([0-9.]+ [KM]B\)$'
t_none "-q says nothing" "$("$TALLY" record -q -o a.tally -- true 2>&1)"
"$TALLY" record -o - -- true >out 2>err
t_is "a dash is no name of a recording" "$?:$(ls ./- 2>/dev/null)" 2:
"$TALLY" record -o /nonexistent/x.tally -- true 2>err
t_is "an output that cannot be written is an error" $? 1
t_like "that names it" "$(cat err)" '/nonexistent/x\.tally.*No such file'
"$TALLY" record -o a.tally 2>err
t_is "nothing to record is a usage error" $? 2
"$TALLY" record -e cyles -o a.tally -- true 2>err
t_like "a misspelt event gets a hint" "$(cat err)" 'did you mean cycles'
"$TALLY" record -a -p 1 -o a.tally 2>err
t_is "-a and -p are refused together" $? 2
for o in '-c 0' '-F 100 -c 100'; do
	"$TALLY" record $o -o a.tally -- true 2>err
	t_is "$o is a usage error" $? 2
done

# The fallback of the default event is said and stored.
if "$TALLY" list cycles 2>/dev/null | grep -q cpu-cycles; then
	t_skip "cpu-clock in place of cycles" "this machine counts cycles"
else
	"$TALLY" record -o a.tally -- true 2>err
	t_like "cpu-clock in place of cycles is said" "$(head -1 err)" \
		'no hardware counter.*recording cpu-clock instead'
	t_like "also that a period in cycles is not kept" "$("$TALLY" record \
		-c 100000 -o a.tally -- true 2>&1)" \
		'999 Hz instead of a period in cycles'
	t_is "and stored" "$(key a.tally "j['header']['events'][0]['actual']")" \
		cpu-clock
	"$TALLY" record -q -e instructions -o a.tally -- true 2>err
	t_is "an event that was asked for is not replaced" $? 1
fi
t_done
