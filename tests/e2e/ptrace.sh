#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recording without perf events, by ptrace: programs behave as they do alone, and the
# recording matches perf's.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
case $(uname -m) in
x86_64) ;;
*) t_skip_all "recording by ptrace" "it is for x86-64 only";;
esac
deny=$top_builddir/tests/e2e/deny
case $deny in /*) ;; *) deny=$OLDPWD/$deny;; esac
chmod 755 . && mkdir -m 777 open && cp "$TALLY" "$deny" open/
cc=${CC:-cc}
source=$top_srcdir/tests/e2e/ptrace_program.c
case $source in /*) ;; *) source=$OLDPWD/$source;; esac
$cc -O1 -g -D_GNU_SOURCE "$source" -o open/program -lpthread || exit 1
cd open || exit 1
tally=$T_TMP/open/tally

record() { "$tally" record --source=ptrace "$@"; }
# share FILE SYMBOL [COLUMN]: the part of the samples that functions (an ERE) have, 0 to
# 100, without fraction
share() {
	"$tally" report --no-pager --percent-limit 0 "$1" |
		awk -v s="^($2)$" -v c="${3:-1}" '$NF ~ s { n += $c }
			/%/ { any = 1 }
			END { if (any) printf "%d\n", n; else print "nothing" }'
}
# How much of the time in work_long and the others is in work_long, which has three
# quarters of what both functions have: what starting the program took, and time
# without samples, is neither's.
long_part() { # FILE [OTHERS: an ERE]
	"$tally" report --no-pager --percent-limit 0 "$1" |
		awk -v others="${2:-^work_short$}" '$NF == "work_long" { l += $1 }
			$NF ~ others { s += $1 }
			END { if (l + s > 0) printf "%d\n", 100 * l / (l + s)
				else print "nothing" }'
}
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && echo 0 && return
	echo "# $1, not from $2 to $3" >&2
	echo 1
}
# Whether work_long has three quarters of what both functions have, and these most of
# the time.
three_quarters() { # FILE
	[ "$(within "$(long_part "$1")" 60 87)" = 0 ] || { echo 1; return; }
	within "$(share "$1" 'work_.*')" 60 100
}
tracer() { sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$1/status"; }
# samples FILE: how many there are
samples() { "$tally" report --format=json "$1" | python3 -c '
import json, sys; print(json.load(sys.stdin)["header"]["samples"]["got"])'; }

if ! record -q -o a.tally -- true 2>err; then
	t_like "a refusal is explained" "$(cat err)" \
		'ptrace_scope|seccomp|SYS_PTRACE|/proc'
	t_skip_all "recording by ptrace" "not allowed here: $(cat err)"
fi

# --- what runs is not disturbed
./program >alone 2>&1
alone=$?
record -q -g -F 2000 -o a.tally -- ./program >traced 2>&1
t_is "a program ends as it does alone" $? $alone
t_is "and sees the same" "$(cat traced)" "$(cat alone)"
t_is "all of it: it prints so much" "$(wc -l <alone)" 11
record -q -o a.tally -- sh -c 'exit 3'
t_is "an exit status is passed on" $? 3
record -q -o a.tally -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
	(./program spin 0.02; echo $i) & done; wait' >out
t_is "a script with many processes" "$(sort -n out | tr -d '\n')" 123456789

if python3 -c 'import ctypes' 2>/dev/null; then
	# Who may trace is known by the symbols that a program needs.
	t_is "what asks to be traced is told EPERM" "$(record -q -o a.tally -- \
		python3 -c 'import ctypes
c = ctypes.CDLL(None, use_errno=True)
print(c.ptrace(0, 0, 0, 0), ctypes.get_errno())')" "-1 1"
else
	t_skip "what asks to be traced" "no python3 with ctypes"
fi

# A debugger's child asks for it before it executes: then it is the debugger's.
cat >traceme.c <<'END'
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status, stops = 0;
	pid_t pid;
	if (argc < 2)
		return 7;
	pid = fork();
	if (!pid) {
		for (int fd = 3; fd < 20; fd++)
			close(fd);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(9);
		execl(argv[0], argv[0], NULL);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	printf("%d stops, exit %d\n", stops, WEXITSTATUS(status));
	return 0;
}
END
if $cc -O1 -o traceme traceme.c 2>cc.err; then
	t_is "a child that asks to be traced by its parent is" \
		"$(record -o a.tally -- ./traceme debug 2>err)" "$(./traceme debug)"
	t_like "one line says that it was not recorded" "$(cat err)" \
		'not recorded: what traceme traces \(a process can have only one tracer'
	t_like "the file, too" "$("$tally" info --no-pager a.tally)" \
		'not_recorded +what traceme traces'
else
	t_skip "a child that asks to be traced" "cannot compile: $(cat cc.err)"
fi
if command -v gdb >/dev/null; then
	debug() { "$@" gdb -q -batch -nx -ex 'set debuginfod enabled off' \
		-ex 'set startup-with-shell off' -ex 'break work_long' -ex run \
		-ex 'info breakpoints' --args ./program spin 0.1 2>&1 |
		grep -E 'already hit|exited|not permitted'; }
	t_is "gdb debugs below us as alone" \
		"$(debug "$tally" record --source=ptrace -q -o a.tally --)" \
		"$(debug env)"
fi

# --- what is seen
record -q -g -o a.tally -- ./program spin 1
t_ok "a function of three quarters has them" "$(three_quarters a.tally)"
t_ok "and one of a quarter" "$(within "$((100 - $(long_part a.tally)))" 12 40)"
# (Of what both functions have: starting the program and time without samples are
# not main's.)
t_ok "callers are found" "$(within "$("$tally" export --format=folded a.tally |
	awk '/;work_(long|short) / { n += $NF; if (/;main;/) found += $NF }
		END { printf "%d", n ? 100 * found / n : 0 }')" 97 100)"
t_like "with little broken" "$("$tally" report --format=json a.tally |
	tr -d ' \n' | grep -o '"broken":[0-9]*')" '^"broken":[0-9]$'
t_like "the file says how" "$("$tally" info --no-pager a.tally)" \
	'source +ptrace'
t_like "and what it cannot see" "$("$tally" report --no-pager a.tally |
	tr -d '\n#' | tr -s ' ')" 'system calls are shown as \[kernel\]; page faults'
"$tally" report --no-pager a.tally >report
t_like "wanted is what the time was" "$(tr -d '\n#' <report | tr -s ' ')" \
	'[0-9,]+ samples of [0-9,]+ expected at 999 Hz, 0 lost'
# At the highest rate it does not get to all of them: the rest is not spread over
# what it saw without a word.
record -q -F 10000 -o fast.tally -- ./program spin 0.5
t_is "what it does not get to is missed" \
	"$("$tally" report --format=json fast.tally | python3 -c '
import json, sys
head = json.load(sys.stdin)["header"]
event, time = head["events"][0], head["processor_time"]
total = event["got"] + event["lost"] + event["missed"]
promised = event["counted"] * event["frequency"] / 1e9
print(total == event["wanted"] and abs(total - promised) < 10,
      event["got"] > 0 and 0 < time["sampled_ns"] <= event["weight"])
')" "True True"
t_lacks "and no process has it" "$("$tally" report --format=csv -s pid fast.tally)" \
	4294967295
# Containers and services run in a group of their own, where a process that
# wakes up does not get the processor at once.
group=
for at in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
	if [ -w $at/cgroup.procs ] && mkdir $at/tally-test.$$ 2>/dev/null; then
		group=$at/tally-test.$$
		[ ! -e $group/cpu.shares ] && [ ! -e $group/cpu.weight ] || break
		rmdir $group && group=
	fi
done
if [ "$group" ]; then
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$tally" \
		record --source=ptrace -q -g -o a.tally -- ./program spin 0.6
	t_ok "so it is in a control group" "$(three_quarters a.tally)"
	rmdir "$group"
else
	t_skip "so it is in a control group" "cannot make a group of processors"
fi
# A call that never waits is short by itself: nothing is written for it again.
cat >nowait.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static long written(void)	/* calls of write so far */
{
	FILE *f = fopen("/proc/self/io", "r");
	char line[64];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "syscw: %ld", &n);
	if (f)
		fclose(f);
	return n;
}
int main(void)
{
	static char from[1 << 20], to[1 << 16];
	long before, part = 0;
	int p[2];

	if (pipe2(p, O_NONBLOCK) < 0)
		return 1;
	before = written();
	for (int i = 0; i < 20000; i++) {
		part += write(p[1], from, sizeof(from)) == sizeof(to);
		while (read(p[0], to, sizeof(to)) > 0)
			;
	}
	if (before < 0)
		puts("unknown");
	else
		printf("%ld %ld\n", written() - before, part);
	return 0;
}
END
${CC:-cc} -O1 -o nowait nowait.c
if [ "$(./nowait)" = unknown ]; then
	t_skip "parts that pipes take without waiting" "no /proc/self/io here"
else
	t_is "parts that pipes take without waiting" \
		"$(record -q -F 5000 -o nowait.tally -- ./nowait)" "20000 20000"
fi
record -q -g -o a.tally -- ./program calls 0.6
t_ok "time in system calls is the kernel's" \
	"$(within "$(share a.tally '.kernel.')" 35 65)"
t_like "below its callers" "$("$tally" report --no-pager -g a.tally)" \
	'getrandom|syscall'
# On a busy machine most that could run waits: threads that slept, where they did.
# Those that the tick's own interrupt wakes do not run, either: a tenth is the kernel's.
busy=
for i in $(seq $(($(nproc) * 2))); do
	sh -c 'while :; do :; done' & busy="$busy $!"
done
record -q -o a.tally -- ./program naps 0.5
kill $busy
wait 2>/dev/null
t_ok "time spent waiting for a processor counts for no function ($(share a.tally work_long))" \
	"$(within "$(share a.tally work_long)" 50 100)"
t_ok "… nor for the call that a thread slept in" \
	"$(within "$(long_part a.tally '(sleep|^.kernel.)$')" 65 100)"
record -q --user -o a.tally -- ./program calls 0.3
t_is "--user leaves it out" "$(share a.tally '.kernel.')" 0
record -q --kernel -o a.tally -- ./program calls 0.3
t_is "--kernel leaves the rest out" "$(share a.tally work_short)" 0
record -q -o a.tally --delay 0.2 -- ./program spin 0.6
t_ok "--delay" "$([ "$(samples a.tally)" -gt 20 ]; echo $?)"
for i in 1 2 3 4 5; do
	"$tally" record --source=ptrace -q -e cpu-clock -c 100000000000 \
		--delay 0.1 -o a.tally -- ./program spin 0.2
	samples a.tally
done >counts
t_ok "the first sample comes at random within a period ($(tr '\n' ' ' <counts)of 100 s)" \
	"$([ "$(grep -c '^0$' counts)" -ge 4 ]; echo $?)"
if $cc -static -O1 -g -D_GNU_SOURCE "$source" -o static 2>/dev/null -lpthread; then
	record -q -g -o a.tally -- ./static spin 0.3
	t_ok "a static program" "$(within "$(long_part a.tally)" 60 87)"
	./deny EPERM "$tally" record -q -o a.tally -- ./static spin 0.1
	t_like "gets ptrace by itself where perf is refused" \
		"$("$tally" info --no-pager a.tally)" 'source +ptrace'
else
	t_skip "a static program" "no static C library"
fi
if command -v musl-gcc >/dev/null &&
	musl-gcc -static -O1 -g -D_GNU_SOURCE "$source" -o musl 2>/dev/null; then
	record -q -g -o a.tally -- ./musl spin 0.3
	t_ok "a static program of musl" "$(three_quarters a.tally)"
else
	t_skip "a static program of musl" "no musl-gcc"
fi
if ! $cc -m32 -O1 -g -D_GNU_SOURCE "$source" -o small 2>/dev/null -lpthread; then
	t_skip "an i386 program" "no compiler for it"
elif ./small >alone 2>&1; [ $? -eq 126 ]; then
	t_skip "an i386 program" "this machine cannot run it"
else
	record -q -g -o a.tally -- ./small spin 0.3
	t_ok "an i386 program" "$(three_quarters a.tally)"
	t_ok "and its callers" "$(within "$(share a.tally main 2)" 90 100)"
	./small >alone 2>&1
	record -q -g -F 2000 -o a.tally -- ./small >traced 2>&1
	t_is "sees the same as alone" "$(cat traced)" "$(cat alone)"
fi
if command -v go >/dev/null; then
	cat >g.go <<-'END'
	package main

	//go:noinline
	func work(n int) int {
		s := 0
		for i := 0; i < n; i++ {
			s += i * i % 7
		}
		return s
	}

	func main() {
		c := make(chan int)
		for j := 0; j < 3; j++ {
			go func() { c <- work(200000000) }()
		}
		println(<-c + <-c + <-c)
	}
	END
	HOME=$T_TMP GOCACHE=$T_TMP/go go build -o gop g.go 2>/dev/null
fi
if [ -x gop ]; then
	record -q -g -o a.tally -- ./gop 2>/dev/null
	t_ok "a Go program ($(share a.tally main.work))" \
		"$(within "$(share a.tally main.work)" 80 100)"
	t_ok "with its callers" \
		"$(within "$(share a.tally runtime.goexit 2)" 80 100)"
else
	t_skip "a Go program" "no Go compiler"
fi

# --- beside perf
if "$tally" record --source=perf -q -e cpu-clock:u -g -o p.tally -- \
	./program spin 0.6 2>/dev/null; then
	a=$(long_part p.tally)
	record -q -g -o a.tally -- ./program spin 0.6
	b=$(long_part a.tally)
	t_near "shares are perf's ($b, perf $a)" "$b" "$a" 10
else
	t_skip "shares are perf's" "no perf events here"
fi

# --- running processes
./program spin 600 &
pid=$!
t_cleanup "kill $pid 2>/dev/null"
t_until grep -q program /proc/$pid/comm
# One that is never off its processor has samples from the first moment on: at
# 999 Hz ten a tick (of 10 ms), of which a busy machine may leave few.
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
few=0
for i in 1 2 3 4 5 6; do
	before=$(ticks)
	record -q -o a.tally -p $pid --duration 0.3
	[ "$(samples a.tally)" -gt $((2 * ($(ticks) - before) / 3)) ] ||
		few=$((few + 1))
done
t_is "six short recordings of a process that runs all have samples of it" $few 0
rm -f a.tally
record -q -g -o a.tally -p $pid --duration 1
t_is "attached and let go" "$? $(tracer $pid)" "0 0"
t_ok "a running process" "$(three_quarters a.tally)"
t_ok "with its callers" "$(within "$(share a.tally main 2)" 90 100)"
"$tally" record --source=ptrace -q -g -o a.tally -p $pid &
recorder=$!
traced() { [ "$(tracer $1)" != 0 ]; }
t_run "a recorder is attached" t_until traced $pid
# flushed once a second
sleep 3
kill -9 $recorder
wait $recorder 2>/dev/null
untraced() { [ "$(tracer $1)" = 0 ]; }
t_run "a killed recorder lets go" t_until untraced $pid
t_like "of what runs on" "$(cat /proc/$pid/stat)" '^[0-9]+ \(program\) R'
"$tally" report --no-pager a.tally >out 2>&1
t_like "and what it had is in the file" "$(cat out)" 'work_long'
"$tally" record --source=ptrace -q -o a.tally -p $pid &
recorder=$!
t_run "another one is, after it" t_until traced $pid
record -o b.tally -p $pid 2>err
t_is "what is traced is refused" $? 1
t_like "with the tracer's name" "$(cat err)" \
	"process $pid is already traced by tally-ptrace \(process [0-9]+\)"
kill -INT $recorder
wait $recorder
t_is "an interrupt ends the recording" $? 0
# The kernel ends the tracer when memory runs out.
record -o a.tally -p $pid --duration 60 2>err &
recorder=$!
t_run "a recorder whose tracer dies" t_until traced $pid
sleep 1
kill -9 "$(tracer $pid)"
wait $recorder
t_is "… fails at once" $? 1
t_like "… and says why" "$(cat err)" 'tally-ptrace. was killed by signal 9'
"$tally" report --no-pager a.tally >out 2>&1
t_like "… and the file says that it is not complete" "$(cat out)" 'did not end properly'
t_like "… but has what came before" "$(cat out)" 'work_long'
t_is "a command goes on then" "$(record -o a.tally -- sh -c './program spin 0.3
	kill -9 $(sed -n "s/^TracerPid:[^0-9]*//p" /proc/$$/status)
	./program spin 0.3; echo went on' 2>err; echo $?)" "went on
1"
t_like "… and its recording is not complete" \
	"$("$tally" report --no-pager a.tally 2>&1)" 'did not end properly'
if command -v gdb >/dev/null; then
	mkfifo hold
	gdb -q -p $pid -ex 'shell cat hold' -batch >/dev/null 2>&1 &
	gdb=$!
	t_until traced $pid
	record -o b.tally -p $pid 2>err
	t_like "so is what gdb has" "$(cat err)" 'is already traced by gdb '
	: >hold
	wait $gdb
else
	t_skip "so is what gdb has" "no gdb"
fi
kill $pid
wait $pid 2>/dev/null
record -o b.tally -p $pid 2>err
t_like "a process that has ended" "$(cat err)" "no process $pid"
record -o b.tally -a true 2>err
t_like "it cannot watch all" "$(cat err)" 'not processors or cgroups'
record -o b.tally -e page-faults true 2>err
t_like "it has one event" "$(cat err)" 'CPU time only .cpu-clock'

# --- without rights
if ! ./deny EPERM true 2>/dev/null; then
	t_skip "where perf is refused" "this kernel takes no seccomp filter"
else
	for how in EPERM ENOSYS KILL; do
		./deny $how "$tally" record -g -o a.tally -- sh -c \
			'i=0; while [ $i -lt 3 ]; do ./program spin 0.5
			i=$((i + 1)); done' 2>err
		t_is "$how of a filter: a recording is made" $? 0
		t_like "and one line says why not by perf" "$(cat err)" \
			'^tally: recording by .* instead: .*seccomp filter.*doctor'
		t_ok "$how: it shows the program ($(long_part a.tally))" \
			"$(within "$(long_part a.tally)" 55 92)"
	done
	./deny EPERM "$tally" record -o a.tally -a true 2>err
	t_is "what only perf can is refused" $? 1
fi
as_nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ] || ! as_nobody "$tally" --version >/dev/null 2>&1; then
	t_skip_all "other users" "needs root and setpriv"
fi
as_nobody ./deny EPERM "$tally" record --source=ptrace -q -g -o u.tally -- \
	./program spin 0.3 2>err
t_is "a user without rights" "$? $(cat err)" "0 "
t_ok "gets all of it" "$(three_quarters u.tally)"
sleep 60 &
other=$!
as_nobody "$tally" record --source=ptrace -o n.tally -p $other 2>err
t_like "others' processes are refused with the reason" "$(cat err)" \
	"process $other belongs to another user \(0\): .*CAP_SYS_PTRACE"
kill $other
setpriv --reuid 64321 --regid 64321 --clear-groups ./program spin 30 &
pid=$!
t_until grep -q program /proc/$pid/comm
if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]
then
	as_nobody ./deny EPERM "$tally" record -q -o u2.tally -p $pid \
		--duration 0.4 2>err
	t_ok "own ones are not" "$(within "$(share u2.tally work_long)" 55 90)"
else
	as_nobody ./deny EPERM "$tally" record -o u2.tally -p $pid 2>err
	t_like "own ones neither, by Yama" "$(cat err)" 'ptrace_scope'
fi
kill $pid
if as_nobody unshare -U true 2>/dev/null; then
	as_nobody unshare -U ./deny EPERM "$tally" record --source=ptrace -q \
		-g -o u3.tally -- ./program spin 0.2 2>err
	t_ok "in a user namespace" "$(within "$(share u3.tally work_long)" 55 90)"
	as_nobody unshare -Urpf --mount-proc ./deny EPERM "$tally" record \
		--source=ptrace -q -g -o u4.tally -- ./program spin 0.2 2>err
	t_ok "in one with own process numbers" \
		"$(within "$(share u4.tally work_long)" 55 90)"
else
	t_skip "in a user namespace" "users may not make them here"
fi
# The same files again, below another root.
mkdir -p root/proc root/tmp root/dev
libs() { ldd "$1" 2>/dev/null | grep -o '/[^ ]*'; }
for f in $(libs "$tally"; libs ./program) /bin/sh $(libs /bin/sh); do
	mkdir -p "root${f%/*}" && cp -L "$f" "root$f"
done
cp tally deny program root/tmp/
inside() { unshare -m sh -c 'mount -t proc proc root/proc &&
	exec chroot root "$@"' sh "$@"; }
chmod 777 root/tmp
if inside /bin/sh -c : 2>/dev/null; then
	inside /tmp/deny EPERM /tmp/tally record --source=ptrace -q -g \
		-o /tmp/c.tally -- /tmp/program spin 0.2 2>err
	t_is "in a chroot" "$? $(cat err)" "0 "
	t_ok "all is seen" "$(within "$(share root/tmp/c.tally work_long)" 55 90)"
	chroot root /tmp/tally record --source=ptrace -o /tmp/d.tally -- \
		/tmp/program spin 0.1 2>err
	t_like "without /proc it says so" "$(cat err)" \
		'needs /proc, .*: "mount -t proc proc /proc"'
else
	t_skip "in a chroot" "cannot make one here"
fi
t_done
