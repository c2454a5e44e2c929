#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of Python: functions, files and lines compared with what the program itself
# prints (python_scenes.py). TALLY_PYTHONS: further interpreters to try.
# With TALLY_TESTS=long each interpreter is tried in all ways, not the first one only.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

e2e=$top_srcdir/tests/e2e
# Records the scenes in a folder of their own, beside others: the judge goes by the
# processor time of the program.
start() { # FOLDER PYTHON OPTION…
	folder=$1 program=$2
	shift 2
	rm -rf "$folder"
	mkdir "$folder"
	(
		cd "$folder" || exit
		timeout 300 "$TALLY" record "$@" -o s.tally "$program" \
			"$e2e/python_scenes.py" "$seconds" truth.json >out 2>&1
		echo $? >status
	) &
}
# Each chain of functions, files and lines, with the program's own word for it.
judge_scenes() { # HOW FOLDER
	how=$1 folder=$2
	t_ok "$how: records" "$(cat "$folder/status")"
	"$TALLY" export --format=firefox -i "$folder/s.tally" -o s.json
	got=$("$first" "$e2e/python_check.py" s.json "$folder/truth.json" \
		"$folder/truth.json.child")
	echo "$got" | sed 's/^/# /'
	value() { echo "$got" | awk -v n="$1" '$1 == n { print $2 }'; }
	t_is "$how: all that spin are seen" "$(value unseen)" none
	t_is "$how: no eval loop beside its frames" "$(value loops)" 0
	t_run "$how: 99 % of samples have the right chain and lines" \
		awk -v v="$(value right)" 'BEGIN { exit !(v >= 99) }'
	# the rest is the interpreter's start, and what is before it in later.c
	t_run "$how: most stacks have their frames" \
		awk -v v="$(value spinning)" 'BEGIN { exit !(v >= 60) }'
	# … within two standard errors of the few samples that there are
	t_run "$how: 98 % are in the line of the loop" \
		awk -v v="$(value loop-line)" -v s="$(value samples)" \
		-v part="$(value spinning)" 'BEGIN { n = s * part / 100
			exit !(n && v >= 98 - 200 * sqrt(0.02 / n)) }'
	t_run "$how: shares of time are the program's own" \
		awk -v v="$(value off)" -v e="$(value errors)" \
		-v u="$(value unsampled)" \
		'BEGIN { exit !(v != "" && (v <= 4 + u || e <= 5)) }'
}
# A program that loads the interpreter later, when it has samples already.
cat >later.c <<'END2'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) static void before(void)
{
	volatile unsigned long n = 0;

	while (clock() < CLOCKS_PER_SEC / 5)
		for (int i = 0; i < 10000; i++)
			n++;
}
int main(int argc, char **argv)
{
	int (*python)(int, char **) = NULL;
	void *library;

	before();
	setenv("PYTHONHOME", HOME, 1);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	if (library)
		*(void **)&python = dlsym(library, "Py_BytesMain");
	else
		fprintf(stderr, "%s\n", dlerror());
	return !python || python(argc, argv);
}
END2
# Fails where it cannot be made.
later() { # PYTHON WAYS: scenes in such a program
	"$1" -c 'import os, sys, sysconfig
print(os.path.join(*sysconfig.get_config_vars("LIBDIR", "INSTSONAME")))
print(sys.base_prefix)' >where
	{ read -r library; read -r home; } <where
	[ -e "$library" ] && cc -O1 -D"LIBRARY=\"$library\"" \
		-D"HOME=\"$home\"" -o later later.c -ldl || {
		t_skip "$1 loaded later" "no $library, or no compiler"
		return 1
	}
	scenes "$1 loaded later" "$PWD/later" "$2" --source=timer -g
	return 0
}
# WAYS: by timer with these options, by ptrace, or both.
scenes() { # HOW PYTHON WAYS OPTION…
	name=$1 runs=$2 ways=$3
	shift 3
	[ "$traced" ] || ways=timer
	case $ways in *timer*) start timer.d "$runs" "$@";; esac
	case $ways in *ptrace*) start ptrace.d "$runs" --source=ptrace -g;; esac
	wait
	case $ways in *timer*) judge_scenes "$name" timer.d;; esac
	case $ways in *ptrace*) judge_scenes "$name by ptrace" ptrace.d;; esac
}
# Programs below a filter that kills who reads memory by process_vm_readv(2).
cat >kills.c <<'END2'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 1;
	execvp(argv[1], argv + 1);
	return 1;
}
END2
kills=
cc -o kills kills.c && ./kills true && kills=yes
traced=
t_has ptrace && traced=yes
first=
for python in $(t_pythons 3.8 3.16); do
	# The same code reads frames from within (timer) and from outside (ptrace), so
	# that each version is tried in one way where the program is the interpreter, and
	# in the other one where it loads its library.
	if [ -z "$first" ]; then
		first=$python seconds=2 ways='timer ptrace' ways_later='timer ptrace'
	elif t_long; then
		seconds=1.2
	else
		seconds=1 ways=timer ways_later=ptrace
	fi
	scenes "$python" "$python" "$ways"
	if [ "$python" != "$first" ]; then
		:	# no version has a part in that
	elif [ "$kills" ]; then
		t_is "$python below a filter" "$("$TALLY" record -q -g \
			--source=timer -o f.tally ./kills "$python" -c \
			'print(sum(range(5000000)))' 2>&1)" 12499997500000
	else
		t_skip "$python below a filter" "cannot make one here"
	fi
	later "$python" "$ways_later" || [ "$ways" != timer ] ||
		scenes "$python" "$python" "$ways_later"
done
if [ -z "$first" ]; then
	t_skip "Python" "no interpreter whose frames are known"
	t_done
fi

cat >app.py <<'END2'
#!/usr/bin/env python3
import time
def cheap():
    return sum(range(1000))
def dear():
    total = 0
    for i in range(100000): total += i
    return total
end = time.process_time() + 0.4
while time.process_time() < end:
    dear()
    cheap()
END2
said=$("$TALLY" record -o a.tally "$first" app.py 2>&1)
t_like "says which source it chose" "$said" 'a Python program: .*timers in the program'
t_is "says so in one line" "$(echo "$said" | grep -c 'a Python program')" 1
report=$("$TALLY" report -i a.tally)
t_like "functions in the report" "$report" '\[python\] +dear$'
t_lacks "no torn chains" "$report" "interpreter's frames"
json=$("$TALLY" report --format=json -i a.tally)
t_like "and in JSON" "$json" '"dear"'
notes=$("$TALLY" annotate -i a.tally dear)
t_like "source lines with costs" "$notes" '^ *[0-9.]+% .* 7      for i in range'
t_like "flame graph" "$("$TALLY" flamegraph --format=svg -i a.tally)" '[>" ]dear[<" ]'
t_run "a page" "$TALLY" report --html -o a.html -i a.tally
t_run "another one" "$TALLY" record -q -o b.tally "$first" app.py
t_like "diff by function" "$("$TALLY" diff --percent-limit 0 --top 0 a.tally \
	b.tally 2>&1)" 'dear'

chmod +x app.py
said=$("$TALLY" record -o c.tally env A=b ./app.py 2>&1)
t_like "through env and #!" "$said" 'a Python program'
said=$("$TALLY" record --call-graph=none -o c.tally "$first" app.py 2>&1)
t_lacks "not where stacks are unwanted" "$said" 'a Python program'
said=$("$TALLY" record -e cpu-clock -g -o c.tally "$first" app.py 2>&1)
t_lacks "not where an event is asked for" "$said" 'a Python program'

if [ -n "$traced" ]; then
	sed 's/^while .*/open("begun", "w"); \
while True:/' app.py >forever.py
	rm -f begun
	"$first" forever.py &
	pid=$!
	t_cleanup "kill $pid 2>/dev/null"
	t_until [ -e begun ]
	said=$("$TALLY" record -o p.tally --duration 1 -p $pid 2>&1)
	t_like "a running process" "$said" 'a Python program: .* by ptrace at 100 Hz'
	t_run "… at the rate that was said" test \
		"$("$TALLY" info --format=json p.tally | tr -d ' \n' |
		grep -o '"frequency":[0-9]*' | head -n 1)" = '"frequency":100'
	t_like "… has functions" "$("$TALLY" report -i p.tally)" '\[python\] +dear$'
	t_like "… and lines" "$("$TALLY" annotate -i p.tally dear)" \
		'^ *[0-9.]+% .* 7      for i in range'
	t_run "… and goes on" kill $pid
	"$TALLY" record -o p.tally --duration 0.2 -p $$ 2>p.err || :
	t_lacks "another one is none" "$(cat p.err)" 'a Python program'
fi

# Where it waits: each with the program's own clock around it.
cat >waits.py <<'END2'
import queue, threading, time
lock, filled, took = threading.Lock(), queue.Queue(), {}
def nap():
    time.sleep(0.4)
def hold():
    with lock:
        time.sleep(0.1)
def want():
    with lock:
        pass
def produce():
    for i in range(10):
        time.sleep(0.05)
        filled.put(i)
def consume():
    for i in range(10):
        filled.get()
def clocks():  # asleep or queued; asleep only
    with open(f'/proc/self/task/{threading.get_native_id()}/schedstat') as f:
        ran, queued, turns = map(int, f.read().split())
    return time.monotonic_ns() - ran, time.monotonic_ns() - ran - queued
def timed(f):
    begin = clocks()
    f()
    for i, (a, b) in enumerate(zip(begin, clocks())):
        took.setdefault(f.__name__, [0, 0])[i] += b - a
pair = [threading.Thread(target=timed, args=(f,)) for f in (produce, consume)]
for t in pair: t.start()
for i in range(4):
    holder = threading.Thread(target=timed, args=(hold,))
    holder.start()
    # on a busy machine it may have held the lock already
    while not lock.locked() and holder.is_alive(): time.sleep(0.001)
    timed(want)
    holder.join()
timed(nap)
for t in pair: t.join()
for name, ns in took.items(): print(name, *ns)
END2
waited() { # FILE FUNCTION EVENTS
	"$TALLY" report --format=csv -e "$3" -s symbol "$1" |
		awk -F, -v f="$2" 'NR == 1 { for (i = 1; i <= NF; i++)
			if ($i == "total_weight") column = i }
			$1 == f { sum += $column } END { print sum + 0 }'
}
# A wait has its Python function only if the recorder looks at it before it ends.  A
# recorder that gets no processor for 50 ms does not, so there are several attempts.
busy() {
	awk -v n="$(nproc)" '{ exit !($1 > 2 * n) }' /proc/loadavg
}
near() { # FUNCTION
	want=$(awk -v n="$1" -v c="$column" '$1 == n { print $c }' w.out)
	got=$(waited "$file" "$1" "$events")
	most=$((want / 10 + 60000000))
	[ "$got" -ge $((want - most)) ] && [ "$got" -le $((want + most)) ]
}
# COLUMN of what the program says is the time asleep; with what it queued: 2.
judge() { # HOW FILE EVENTS COLUMN OPTION…
	how=$1 file=$2 events=$3 column=$4
	shift 4
	for attempt in 1 2 3 4; do
		"$TALLY" record -q --wait "$@" -o "$file" "$first" waits.py \
			>w.out 2>w.err
		recorded=$?
		far=
		for name in nap hold want produce consume; do
			near $name || far="$far $name"
		done
		[ "$far" ] || break
		echo "# $how, attempt $attempt: too far:$far"
	done
	t_ok "$how: waits of Python are recorded" $recorded
	for name in nap hold want produce consume; do
		if ! near $name && busy; then
			t_skip "$how: what $name() waits" "the machine is busy"
			continue
		fi
		near $name
		t_near "$how: what $name() waits" "$got" "$want" "$most"
	done
}
judge "timers" w.tally blocked 3
"$TALLY" report --no-tui w.tally >w.txt
t_like "the table has the program's functions" "$(cat w.txt)" \
	'^blocked +[0-9.]+% +[0-9.]+ s +[0-9]+  (sleep|-) +nap$'
t_like "… and what they called of Python's library" "$(cat w.txt)" \
	'^blocked .* consume in Queue\.get$'
if [ -n "$traced" ]; then
	judge "ptrace" v.tally blocked 3 --source=ptrace
fi
# --- a source that reads frames shows them without further options
cat >spin_here.py <<'END'
import time
def spin_here(end):
    while time.process_time() < end:
        sum(range(1000))
spin_here(0.4)
END
for source in timer ${traced:+ptrace}; do
	"$TALLY" record -q --source=$source -o named.tally "$first" spin_here.py
	t_like "--source=$source: the table has the program's functions" \
		"$("$TALLY" report --no-tui --percent-limit 0 named.tally)" \
		' spin_here$'
done

# Last, as it may not be had.
t_needs perf
judge "perf" x.tally blocked,runnable 2 --source=perf
t_done
