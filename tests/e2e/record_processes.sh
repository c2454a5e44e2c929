#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every sample belongs to the right process, thread, image and function: threads, fork,
# vfork, exec, libraries loaded and unloaded, processes that last a millisecond.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf

cat >lib.c <<'END'
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void WORK(double seconds)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 200000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	} while ((double)(b.tv_sec - a.tv_sec) +
		 (double)(b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
}
END
cat >family.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void main_work(double), one_work(double), two_work(double),
	fork_work(double), exec_work(double), again_work(double);

static void *thread_one(void *p)
{
	prctl(PR_SET_NAME, "first");
	one_work(0.2);
	return p;
}

static void *thread_two(void *p)
{
	prctl(PR_SET_NAME, "second");
	two_work(0.2);
	return p;
}

static void plugin(const char *path, const char *name)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*work)(double) = lib ? (void (*)(double))dlsym(lib, name) : NULL;

	if (!work) {
		puts(dlerror());
		exit(1);
	}
	fprintf(stderr, "%p\n", (void *)work);
	work(0.05);
	dlclose(lib);
}

int main(int argc, char **argv)
{
	char *const again[] = { argv[0], "again", NULL };
	char *const execd[] = { argv[0], "exec", NULL };
	pthread_t a, b;

	if (argc > 1 && !strcmp(argv[1], "exec")) {
		exec_work(0.2);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "again")) {
		again_work(0.2);
		return 0;
	}
	main_work(0.2);
	pthread_create(&a, NULL, thread_one, NULL);
	pthread_create(&b, NULL, thread_two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (!fork()) {
		prctl(PR_SET_NAME, "forked");
		fork_work(0.2);
		_exit(0);
	}
	if (!vfork()) {
		execv("./renamed", execd);
		_exit(1);
	}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 3; i++) {
		plugin("./liba.so", "a_work");
		plugin("./libb.so", "b_work");
	}
	execv(argv[0], again);
	return 1;
}
END
cc() { command ${CC:-cc} -O1 -g -fno-omit-frame-pointer "$@"; }
objs=
for w in main one two fork exec again; do
	cc -DWORK=${w}_work -c lib.c -o $w.o 2>err || break
	objs="$objs $w.o"
done
for w in a b; do
	cc -DWORK=${w}_work -shared -fPIC lib.c -o lib$w.so 2>>err
done
if ! cc -pthread family.c $objs -o family -ldl 2>>err; then
	t_skip_all "a family of processes" "cannot compile: $(head -1 err)"
fi
cp family renamed

"$TALLY" record -q -F 4000 -g -o f.tally -- ./family 2>addresses
t_is "the program ran" $? 0
"$TALLY" report --format=csv --no-header -s pid,tid,comm,image,symbol f.tally \
	>rows.csv 2>err
# pid,tid,comm,image,symbol,self_samples,…
grep ',[a-z]*_work,' rows.csv | grep -v kernel | awk -F, '{ sub(/.*\//, "", $4)
	print $5, $3, $4, $6 }' | sort >works

t_is "each function is in its thread and image, and nowhere else" \
	"$(awk '$4 > 0 { print $1, $2, $3 }' works | sort -u)" \
"a_work family liba.so
again_work family family
b_work family libb.so
exec_work renamed renamed
fork_work forked family
main_work family family
one_work first family
two_work second family"
# 0.2 s each (the plugins 0.15 s) at 4000 Hz are 800 (600); a busy host that lends
# its CPUs may take most.
t_none "with as many samples as their time makes" \
	"$(awk '{ n[$1] += $4 } END { for (w in n) if (n[w] < 200) print w, n[w]
		if (length(n) != 8) print length(n), "functions" }' works)"
pids=$(grep _work rows.csv | awk -F, '$6 > 0 { print $1 }' | sort -u | wc -l)
t_is "in three processes" "$pids" 3
t_is "the re-executed program keeps its process" \
	"$(grep again_work rows.csv | cut -d, -f1 | sort -u)" \
	"$(grep main_work rows.csv | cut -d, -f1 | sort -u)"
t_is "threads have numbers of their own" \
	"$(grep -E 'main_work|one_work|two_work' rows.csv | cut -d, -f2 |
		sort -u | wc -l)" 3
if [ "$(sort -u addresses | wc -l)" -lt "$(wc -l <addresses)" ]; then
	t_ok "the libraries followed each other at the same addresses" 0
else
	t_skip "libraries at the same addresses" "the loader chose others"
fi
# Call chains lead to the program's start.
t_like "a thread's callers are known" "$("$TALLY" report --no-header -g \
	--symbol one_work f.tally)" 'thread_one'

# Without -g the same shares.
"$TALLY" record -q --user -F 4000 --no-inherit -o n.tally -- ./family 2>/dev/null
"$TALLY" report --format=csv --no-header -s symbol n.tally >n.csv 2>err
t_is "--no-inherit records the first thread only" \
	"$(awk -F, '$1 ~ /_work$/ && $2 > 0 { print $1 }' n.csv | sort |
		tr '\n' ' ')" \
	"a_work again_work b_work main_work "

# Many processes that live a millisecond.
cat >tiny.c <<'END'
void tiny_work(double);
int main(void) { tiny_work(0.001); return 0; }
END
cc -DWORK=tiny_work -c lib.c -o tiny.o && cc tiny.c tiny.o -o tiny
cat >many.sh <<'END'
i=0
while [ $i -lt 100 ]; do ./tiny; i=$((i + 1)); done
END
"$TALLY" record -q -F 10000 -o t.tally -- sh many.sh
"$TALLY" report --format=csv --no-header -s pid,comm,image,symbol t.tally \
	>t.csv 2>err
n=$(grep tiny_work t.csv | cut -d, -f1 | sort -u | wc -l)
t_ok "nearly all of 100 processes of 1 ms were seen ($n)" \
	"$([ "$n" -ge 90 ]; echo $?)"
t_is "each under its name" \
	"$(grep tiny_work t.csv | cut -d, -f2 | sort -u)" tiny
t_lacks "no sample without an image" "$(cat t.csv)" '\[unknown\]'

# A recorder that stands still misses mappings.  It says so, and what runs then
# has its own names, none of what was there before.
cat >stop.py <<'END'
import os, signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:])
def wait_for(name):
    end = time.time() + 100
    while not os.path.exists(name) and time.time() < end:
        time.sleep(0.02)
wait_for('started')
os.kill(p.pid, signal.SIGSTOP)
open('stopped', 'w').close()
wait_for('worked')
time.sleep(0.3)
os.kill(p.pid, signal.SIGCONT)
p.wait()
END
cat >busy.sh <<'END'
: >started
while [ ! -e stopped ]; do sleep 0.05; done
i=0
while [ $i -lt 2000 ]; do /bin/true; i=$((i + 1)); done
: >worked
exec ./linked
END
cat >one.c <<'END'
void one_work(double);
int main(void) { one_work(0.5); return 0; }
END
cc -no-pie one.c one.o -o linked && python3 stop.py "$TALLY" record -F 2000 \
	-o gap.tally -- sh busy.sh 2>err
t_like "lost mappings are reported" "$(cat err)" \
	'records of mappings and processes were lost'
t_like "and are in the file" "$("$TALLY" info gap.tally)" 'lost_mappings +[1-9]'
t_ok "what runs after that has its names" "$("$TALLY" report --format=csv \
	--no-header -s symbol gap.tally | awk -F, '$1 == "one_work" { n = $2 }
	END { print n < 250 }')"

# Files that are gone when the recording ends.  (One that lives for less than a
# hundredth of a second may be gone before it is seen.)
cp tiny gone
cat >gone.sh <<'END'
i=0
./gone; rm gone; cp tiny gone2
while [ $i -lt 20 ]; do ./gone2; i=$((i + 1)); done
rm gone2
END
"$TALLY" record -q -F 10000 -o g.tally -- sh gone.sh
t_like "a deleted program's functions have names" \
	"$("$TALLY" report --no-header -s image,symbol g.tally)" \
	'gone2.*tiny_work'

# Files that only the program can see.
cat >inside.sh <<'END'
mount -t tmpfs none /mnt && cp ./tiny /mnt/inside || exit 9
i=0; while [ $i -lt 20 ]; do /mnt/inside; i=$((i + 1)); done
END
if unshare -m sh inside.sh 2>/dev/null; then
	"$TALLY" record -q -F 10000 -o ns.tally -- unshare -m sh inside.sh
	t_like "a program on a mount of its own has names" \
		"$("$TALLY" report --no-header -s image,symbol ns.tally)" \
		'inside.*tiny_work'
else
	t_skip "a program on a mount of its own" "needs root"
fi
cat >memfd.py <<'END'
import os
fd = os.memfd_create("prog", 0)
with open("family", "rb") as f:
    os.write(fd, f.read())
os.execve("/proc/self/fd/%d" % fd, ["prog", "exec"], os.environ)
END
"$TALLY" record -q --source=perf -F 4000 -o m.tally -- python3 memfd.py
if [ "$(id -u)" -eq 0 ]; then
	t_like "a program without a file has names" \
		"$("$TALLY" report --no-header -s image,symbol m.tally)" \
		'memfd:prog.*exec_work'
else
	t_skip "a program without a file" "needs root"
fi

# Linkers lay out segments differently.
cat >one.c <<'END'
void one_work(double);
int main(void) { one_work(0.1); return 0; }
END
for how in -static -no-pie -fuse-ld=gold -fuse-ld=lld; do
	if ! cc $how one.c one.o -o linked 2>err; then
		t_skip "addresses of $how" "$(head -1 err)"
		continue
	fi
	rm -f l.tally
	"$TALLY" record -q -F 4000 -o l.tally -- ./linked
	t_ok "addresses of $how" "$("$TALLY" report --format=csv --no-header \
		-s symbol l.tally | awk -F, '$1 == "one_work" { n = $4 }
		END { print n < 60 }')"
done

# Processes that the given one started earlier: two, of which one has another, and one
# that has ended.
cat >workers.c <<'END'
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static void worker(int more)
{
	if (more < 0 || fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (more)
		worker(more - 1);
	for (volatile long i = 0; ; i++)
		;
}

int main(void)
{
	worker(1);
	worker(0);
	if (!fork())
		return 0;
	for (;;)
		pause();
}
END
cc -O1 -o workers workers.c || exit 1
./workers &
parent=$!
t_cleanup "kill $parent 2>/dev/null"
t_until eval '[ "$(pgrep -c -x workers)" -ge 5 ]'
pids() { "$TALLY" report --format=csv --no-header -s pid "$1" | grep -c '^[0-9]'; }
for source in perf ptrace; do
	"$TALLY" record --source=$source --duration 0.3 -p $parent -o w.tally 2>err
	t_like "--source=$source: processes that are left out" "$(cat err)" \
		'^tally: 3 processes that the given ones started earlier .* left out: --descendants'
done
"$TALLY" record --duration 1 -p $parent --descendants -o w.tally 2>err
t_is "--descendants records them" "$(pids w.tally)" 3
t_lacks "… and leaves out none" "$(cat err)" 'left out'
"$TALLY" stat -e cs --duration 0.1 -p $parent 2>err
t_like "stat: processes that are left out" "$(cat err)" '3 processes .* left out'
"$TALLY" stat -e task-clock --duration 0.5 -p $parent --descendants --format=csv \
	>out.csv
t_ok "stat --descendants counts them" "$(grep task-clock out.csv | awk -F, '
	{ for (i = 1; i <= NF; i++) if ($i + 0 > 1) n = 1 } END { print !n }')"
"$TALLY" record --descendants -- true 2>err
t_like "--descendants needs -p" "$?:$(cat err)" '^2:.*-p PID'
kill $parent

# Shares agree with perf's, where it is installed: the same program, of all that its
# functions cost, within sampling error (about 4800 samples: 3 points are > 4 sigma).
shares() { # reads names and costs
	awk '{ n[$1] += $2; all += $2 }
		END { for (f in n) print f, 100 * n[f] / all }' | sort
}
if perf record -q -F 4000 -o p.data -- ./family 2>/dev/null >/dev/null &&
	[ -s p.data ]; then
	perf report --stdio -i p.data --no-children -s symbol -F overhead,sample \
		2>/dev/null | awk '/\[\.\] [a-z]+_work/ { sub(/%/, "", $1)
		for (i = 1; i < NF; i++) if ($i == "[.]") print $(i + 1), $1 }' |
		shares >perf.txt
	"$TALLY" report --format=csv --no-header -s symbol f.tally 2>/dev/null |
		awk -F, '$1 ~ /^[a-z]+_work$/ && $2 > 0 { print $1, $4 }' |
		shares >tally.txt
	t_none "shares agree with perf's" "$(join perf.txt tally.txt |
		awk '{ d = $2 - $3; if (d > 3 || d < -3) print; n++ }
		END { if (n != 8) print n " functions" }')"
else
	t_skip "shares agree with perf's" "perf is not installed or cannot record"
fi
t_done
