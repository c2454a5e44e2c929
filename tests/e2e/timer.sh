#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tally record --source=timer: without perf_event_open, as in containers, and without
# any effect that the program notices.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

deny=$top_builddir/tests/e2e/deny
work=$top_builddir/tests/workload/known_cost
case $deny in /*) ;; *) deny=$PWD/$deny work=$PWD/$work;; esac
cd "$T_TMP" || exit 1
if ! "$deny" EPERM true 2>/dev/null; then
	deny_=
else
	deny_="$deny EPERM"
fi
# The source under test, where perf events are refused.
rec() { # FILE OPTION… -- COMMAND
	rec_file=$1; shift
	# shellcheck disable=SC2086 # two words
	$deny_ "$TALLY" record --source=timer -q -o "$rec_file" "$@"
}
if ! rec probe.tally -- true 2>probe.err; then
	t_skip_all "timers in the program" "cannot record here: $(head -1 probe.err)"
fi

# What belongs to the command.
t_is "its output passes through" "$(rec a.tally -- echo 'one  two')" 'one  two'
t_is "its environment is as it was" "$(rec a.tally -- env | sort)" \
	"$(env | sort)"
t_is "also that of what a shell starts" \
	"$(rec a.tally -- sh -c 'env; echo $LD_PRELOAD' | sort)" \
	"$(sh -c 'env; echo $LD_PRELOAD' | sort)"
t_is "it has no more files open than without us" \
	"$(rec a.tally -- sh -c 'ls /proc/self/fd | wc -l')" \
	"$(sh -c 'ls /proc/self/fd | wc -l')"
# Constructors of libraries run before main, and before those of other libraries.
cat >early.c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void early(void)
{
	const char *list = getenv("LD_PRELOAD"), *ours = getenv("TALLY_TIMER");
	printf("early %s %s\n", list ? list : "-", ours ? ours : "-");
}
END
echo 'int main(void) { return 0; }' >early_main.c
if ${CC:-cc} -shared -fPIC -o libearly.so early.c 2>cc.err &&
	${CC:-cc} -Wl,--no-as-needed -o early early_main.c ./libearly.so 2>cc.err
then
	t_is "a library's constructor sees none of us" \
		"$(rec a.tally -- ./early)" 'early - -'
	t_is "and what else the user has loaded" \
		"$(LD_PRELOAD=libc.so.6 rec a.tally -- sh -c './early; env' |
			grep -E 'early|LD_PRELOAD')" \
		'early libc.so.6 -
LD_PRELOAD=libc.so.6'
else
	t_skip "a library's constructor" "cannot compile: $(head -1 cc.err)"
fi
t_is "/proc shows the same environment" \
	"$(rec a.tally -- sh -c 'tr "\0" "\n" </proc/$$/environ' | sort)" \
	"$(sh -c 'tr "\0" "\n" </proc/$$/environ' | sort)"
# 32 and 33 are the C library's own.
signals() {
	grep -E '^(SigBlk|SigIgn|SigCgt|SigPnd)' |
		sed -E 's/(\t.{7}).{2}/\1**/'
}
t_is "its signal mask and actions are as they were" \
	"$(rec a.tally -- cat /proc/self/status | signals)" \
	"$(cat /proc/self/status | signals)"
for n in 0 7; do
	rec a.tally -- sh -c "exit $n"
	t_is "exit status $n passes through" $? $n
done
rec a.tally -- sh -c 'ulimit -c 0; kill -SEGV $$'
t_is "death by a signal is 128 + its number" $? 139

# What it cost.
rec cost.tally -g -- "$work" 1 2 >out
t_is "samples have the time of both threads" "$("$TALLY" report --no-header \
	--format=csv -s tid cost.tally | awk -F, 'NR > 1 && $2 > 5' | wc -l)" 2
t_like "the dearest function comes first" \
	"$("$TALLY" report --top 1 cost.tally | grep '%')" '%  known_cost +cost_50'
"$TALLY" report --format=json -g cost.tally >cost.json
t_is "all stacks are whole" "$(python3 -c '
import json
s = json.load(open("cost.json"))["header"]["stacks"]
print(s["whole"] > 0, s["cut"], s["broken"], s["guessed"])')" 'True 0 0 0'

# images FILE: of the samples.
images() { "$TALLY" report -s image --format=csv "$1" | tail -n +2; }
got() { # FILE: samples
	"$TALLY" report --format=json "$1" |
		python3 -c 'import json, sys
print(json.load(sys.stdin)["header"]["samples"]["got"])'
}

# head_of FILE: what a report begins with, on one line.
head_of() {
	"$TALLY" report "$1" | sed -n 's/^# *//p' | tr '\n' ' '
}
t_like "the head tells the kernel's count of time" "$(head_of cost.tally)" \
	'CPU time according to the kernel: [0-9.]+ m?s, [0-9.]+% of it in the kernel; by samples: [0-9.]+ m?s, [0-9.]+% \[kernel\]'
t_lacks "of a program that was seen all the time nothing is missing" \
	"$(head_of cost.tally)" 'no samples'
"$TALLY" info --format=json cost.tally >info.json
"$TALLY" report --format=json cost.tally >cost.json
t_is "JSON has the same numbers as wait4 gave" "$(python3 -c '
import json
run = json.load(open("info.json"))["runs"][0]
time = json.load(open("cost.json"))["header"]["processor_time"]
print(time["user_ns"] == run["user_ns"], time["sys_ns"] == run["sys_ns"],
      time["missing_ns"])')" 'True True 0'
cat >own.py <<'END'
import resource, time
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
# With what it may have waited for before exec.
own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime for u in own), sum(u.ru_stime for u in own))
END
rec own.tally -- python3 own.py >own
"$TALLY" info --format=json own.tally >info.json
t_is "which are the program's own, but for its end" "$(python3 -c '
import json
run = json.load(open("info.json"))["runs"][0]
user, system = (float(word) for word in open("own").read().split())
more = run["user_ns"] / 1e9 - user, run["sys_ns"] / 1e9 - system
print("yes" if all(-0.05 < m < 0.1 for m in more) else (run, more))')" yes

# Programs that are too short for any timer.
rec short.tally -g -- sh -c \
	'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done'
t_like "what starting programs takes has a row of its own" \
	"$("$TALLY" report -s image,symbol short.tally)" \
	'[0-9.]+% +\[before the first sample\] +\[before the first sample\]'
t_like "the head states it, and no parts that are unknown" \
	"$(head_of short.tally)" 'too short to divide it into user and kernel\); by samples: [^;]+; [0-9.]+% before the first samples of programs'
# What wait4 gave, within a period of the timer (250 Hz at least).
"$TALLY" info --format=json short.tally >info.json
t_is "all of the kernel's count is shown" "$("$TALLY" report --format=json \
	-s comm short.tally | python3 -c '
import json, sys
run = json.load(open("info.json"))["runs"][0]
event = json.load(sys.stdin)["header"]["events"][0]
shown, counted = event["weight"], run["user_ns"] + run["sys_ns"]
print("yes" if shown > counted - 10e6 else (shown, counted))')" yes

# Threads and processes that are made by hand.
cat >clones.c <<'END'
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int running = 1;
#define SPIN(name) __attribute__((noinline)) static void name(void) { \
	volatile long x = 0; struct timespec t; \
	do { for (int i = 0; i < 100000; i++) x += i; \
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); \
	} while (t.tv_nsec < 200000000 && !t.tv_sec); }
SPIN(in_thread) SPIN(in_child) SPIN(in_fork)
static int thread(void *p) { in_thread(); running = 0; return p != 0; }
static int child(void *p) { in_child(); _exit(*(int *)p); }
int main(void)
{
	char *top = (char *)malloc(1 << 16) + (1 << 16);
	int seven = 7, status;
	if (clone(thread, top, CLONE_VM | CLONE_FS | CLONE_FILES |
		  CLONE_SIGHAND | CLONE_THREAD, NULL) < 0)
		return 1;
	while (running)
		usleep(1000);
	usleep(10000);
	if (clone(child, top, SIGCHLD, &seven) < 0)
		return 2;
	wait(&status);
	if (WEXITSTATUS(status) != 7)
		return 3;
	if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
		in_fork();
		_exit(8);
	}
	wait(&status);
	return WEXITSTATUS(status) == 8 ? 0 : 4;
}
END
if ${CC:-cc} -D_GNU_SOURCE -O1 -g -o clones clones.c 2>cc.err; then
	rec clones.tally -g -- ./clones
	t_is "who calls clone gets the same" $? 0
	"$TALLY" report --format=csv -s symbol clones.tally >clones.csv
	for f in in_thread in_child in_fork; do
		t_like "a thread, child and fork by clone: $f" \
			"$(cat clones.csv)" "$f"
	done
	# Each has a third; programs' starts take some on a busy machine.
	missing=$(head_of clones.tally | awk '/by samples: [0-9.]+ m?s/ {
		sub(/% has no samples.*/, "") ? sub(/.* /, "") : $0 = 0
		print $0 + 0 }')
	t_ok "and none of their time is missing ($missing %)" \
		"$(awk -v m="${missing:-100}" 'BEGIN { print (m > 20) }')"
else
	t_skip "clone" "cannot compile: $(head -1 cc.err)"
fi
cat >filter.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
static void *spin(void *p)
{
	volatile long x = 0;
	struct timespec t;
	do {
		for (int i = 0; i < 100000; i++)
			x += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_nsec < 200000000 && !t.tv_sec);
	return p;
}
int main(void)
{
	struct sock_filter all[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FORBIDDEN, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
	};
	struct sock_fprog f = { 4, all };
	pthread_t t;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f) ||
	    pthread_create(&t, NULL, spin, NULL))
		return 1;
	return pthread_join(t, NULL);
}
END
if ${CC:-cc} -O1 -DFORBIDDEN=SYS_timer_create -o filter filter.c -lpthread 2>cc.err &&
   ./filter; then
	rec filter.tally -- ./filter
	t_is "who filters its system calls runs as alone" $? 0
	t_like "what has no samples then is reported" "$(head_of filter.tally)" \
		'has no samples: 1 thread without a timer'
	${CC:-cc} -O1 -DFORBIDDEN=SYS_acct -o filter2 filter.c -lpthread
	rec filter2.tally -- ./filter2
	t_like "below a filter that permits what sampling needs, threads are sampled" \
		"$("$TALLY" report --no-header filter2.tally)" 'filter2 +spin'
	t_lacks "... and nothing is missing" "$(head_of filter2.tally)" \
		'thread without a timer'
	${CC:-cc} -O1 -DFORBIDDEN=SYS_rt_sigreturn -o filter3 filter.c -lpthread
	# shellcheck disable=SC2086 # two words
	$deny_ "$TALLY" record --source=timer -o filter3.tally -- ./filter3 2>err
	t_like "threads may have samples before their filter" "$(cat err)" \
		'^tally: [12] threads? not sampled, or not to the end: under a system call filter'
	"$TALLY" history add --store history --commit x filter2.tally >/dev/null 2>&1
	t_like "a history tells timers from other sources" \
		"$(find history -name '*.gz' -exec gzip -dc {} +)" \
		'^settings	.* Hz, timer$'
else
	t_skip "filters for system calls" "cannot make one here"
fi

# Programs and loaders that would notice another library.
t_is "ldd lists the libraries of the program" \
	"$(rec ldd.tally -- ldd /bin/sh | sed 's/0x[0-9a-f]*//')" \
	"$(ldd /bin/sh | sed 's/0x[0-9a-f]*//')"
echo 'int main(void) { return 5; }' >asan.c
if gcc -fsanitize=address -o asan asan.c 2>cc.err &&
   { ./asan 2>cc.err; [ $? -eq 5 ]; }; then
	t_is "a program with gcc's AddressSanitizer runs below" \
		"$(rec asan.tally -- sh -c './asan; echo $?' 2>&1)" 5
	t_like "... and as the command is refused, with the reason" \
		"$(rec asan.tally -- ./asan 2>&1)" 'asan uses AddressSanitizer'
else
	t_skip "gcc's AddressSanitizer" "cannot compile: $(head -n 1 cc.err)"
fi
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	cat >busy.c <<'END'
	#include <time.h>
	int main(void)
	{
		while (clock() < CLOCKS_PER_SEC / 5)
			;
		return 0;
	}
END
	${CC:-cc} -O1 -o busy busy.c
	rec strace.tally -- strace -f -e trace=none -o strace.out ./busy
	t_lacks "a tracer sees no signal of the timer" "$(cat strace.out)" 'SIG'
else
	t_skip "a tracer sees no signal of the timer" "strace cannot trace here"
fi
cat >byfd.c <<'END'
#include <fcntl.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
	char *argv[] = { "env", NULL };
	int fd = open("/usr/bin/env", O_RDONLY);

	if (setgid(65534) || setuid(65534))
		return 1;
	fexecve(fd, argv, environ);
	return 2;
}
END
if [ "$(id -u)" = 0 ] && ${CC:-cc} -O1 -o byfd byfd.c 2>cc.err; then
	t_is "a program executed by its descriptor as another user shows nothing" \
		"$(rec byfd.tally -- ./byfd 2>&1 | sort)" "$(./byfd | sort)"
else
	t_skip "fexecve as another user" "only root can change its user"
fi

# Who crashes is recorded up to then.
cat >crash.c <<'END'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int spin(void)
{
	static volatile long x;
	clock_t end = clock() + CLOCKS_PER_SEC / 4;
	while (clock() < end)
		for (int i = 0; i < 100000; i++)
			x += i;
	return (int)x;
}
int main(int argc, char **argv)
{
	spin();
	if (argc > 1) {
		char *again[] = { argv[0], NULL }, *none[] = { NULL };
		execve(argv[0], again, none);
	}
	abort();
}
END
if ${CC:-cc} -O1 -g -o crash crash.c 2>cc.err; then
	(ulimit -c 0; rec crash.tally -- ./crash 2>/dev/null)
	t_is "a crash passes through" $? 134
	t_ok "a crashing program is recorded" \
		"$([ "$(got crash.tally)" -ge 20 ]; echo $?)"
	(ulimit -c 0; rec two.tally -- ./crash again 2>/dev/null)
	t_ok "and one that is executed without environment" \
		"$([ "$(got two.tally)" -ge 45 ]; echo $?)"
else
	t_skip "a crash" "cannot compile: $(head -1 cc.err)"
fi
if ${CC:-cc} -static -O1 -o static crash.c 2>cc.err; then
	rec none.tally -- ./static 2>err
	t_like "a static command is refused" "$(cat err)" \
		'statically linked: .*--source=ptrace'
	# shellcheck disable=SC2086 # two words
	(ulimit -c 0; $deny_ "$TALLY" record --source=timer -o part.tally -- \
		sh -c './static; echo' >/dev/null 2>err)
	t_like "a static program within is named" "$(cat err)" \
		'not recorded: static'
	t_like "also in the file" "$("$TALLY" info part.tally)" \
		'not_recorded +static'
	t_like "and how much time has no samples" "$(head_of part.tally)" \
		'[0-9.]+% has no samples: not recorded static'
else
	t_skip "static programs" "cannot link: $(head -1 cc.err)"
fi

# Where others have namespaces and roots of their own.
burn='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
if unshare -r true 2>/dev/null; then
	unshare -r $deny_ "$TALLY" record --source=timer -q -o ns.tally -- \
		sh -c "$burn"
	t_like "in a user namespace programs are recorded" \
		"$(images ns.tally)" '(bash|dash|busybox)'
	# shellcheck disable=SC2086 # two words
	$deny_ "$TALLY" record --source=timer -o ns.tally -- \
		unshare -r sh -c "$burn" 2>err
	t_like "who enters another is named" "$(cat err)" 'not recorded: '
	t_like "with the time that has no samples" "$(head_of ns.tally)" \
		'[0-9.]+% has no samples: not recorded'
else
	t_skip "user namespaces" "none here"
fi
if unshare -pf --kill-child true 2>/dev/null; then
	rec ns.tally -- unshare -pf --kill-child sh -c "$burn"
	t_like "who has other process numbers is recorded" \
		"$(images ns.tally)" '(bash|dash|busybox)'
	for source in timer ptrace; do
		unshare -pf --kill-child "$TALLY" record --source=$source -q \
			-o foreign.tally -- true 2>err
		t_like "tally itself needs its own /proc ($source)" "$? $(cat err)" \
			'^1 tally: .* needs /proc, of its own process namespace: "mount'
	done
else
	t_skip "pid namespaces" "only for root"
fi
mkdir -p root/bin && cp "$(command -v sh)" root/bin/sh &&
	ldd root/bin/sh | grep -o '/[^ ]*' | while read -r f; do
		mkdir -p "root${f%/*}" && cp "$f" "root$f"
	done
if unshare -r chroot root /bin/sh -c : 2>/dev/null; then
	t_is "a root without us is entered without a word" \
		"$(rec chroot.tally -- unshare -r chroot root /bin/sh -c 'echo in' 2>&1 |
			grep -v 'not recorded')" in
else
	t_skip "a root without us" "cannot make one here"
fi

# The library's fork stands between that of libc and its caller.  Only root may open the
# library's file through a mapping.
cat >forks.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { SIZE = 64 << 20 };
__attribute__((noinline)) static int forks(void)
{
	struct timespec t;
	do {
		pid_t p = fork();
		if (!p)
			_exit(0);
		if (p < 0)
			return 1;
		waitpid(p, NULL, 0);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_nsec < 300000000 && !t.tv_sec);
	return 0;
}
int main(void)	/* fork copies the page tables of all this */
{
	memset(mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, SIZE);
	return forks();
}
END
as_user=
if [ "$(id -u)" -eq 0 ]; then
	as_user='setpriv --reuid 64321 --regid 64321 --clear-groups'
fi
chmod 755 . && mkdir -m 777 open && cp "$TALLY" open/tally
# shellcheck disable=SC2086 # several words
if ! $as_user open/tally record --source=timer -q -o open/probe.tally -- true 2>err
then
	t_skip "fork for all users" "cannot record as one: $(head -n 1 err)"
elif ${CC:-cc} -O1 -g -o forks forks.c 2>cc.err; then
	$as_user open/tally record --source=timer -q -g -o open/forks.tally -- \
		./forks
	t_like "all users see who calls fork" "$("$TALLY" dump --only samples -g \
		open/forks.tally 2>/dev/null | tr -s ' \n' ' ')" \
		' fork \(/memfd:tally-timer\) 0x[0-9a-f]+ forks \(.* main \('
	t_lacks "and the library's file is known" \
		"$(head_of open/forks.tally 2>/dev/null)" 'tally-timer'
else
	t_skip "fork for all users" "cannot compile: $(head -n 1 cc.err)"
fi

# A recording within a recording: one has the program, the other says that it has not.
for source in timer ptrace; do
	rm -f inner.tally
	"$TALLY" record --source=timer -o outer.tally -- "$TALLY" record -q \
		--source=$source -o inner.tally -- sh -c "$burn" 2>err
	t_like "a recording within a recording has samples ($source)" \
		"$(images inner.tally)" '(bash|dash|busybox)'
	t_like "... and the outer one says why it has none" "$(tr '\n' ' ' <err)" \
		'not recorded: .*another recorder samples it by timers, or a program traces it'
done

# The recorder dies: the program goes on.
# shellcheck disable=SC2086 # two words
$deny_ "$TALLY" record --source=timer -q -o killed.tally -- \
	sh -c "$burn; $burn; echo done >after" &
t_until test -s killed.tally
kill -9 $!
t_until test -s after
t_is "a program outlives the recorder" "$(cat after)" "done"
t_done
