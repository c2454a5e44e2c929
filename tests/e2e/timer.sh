#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tally record --source=timer: without perf_event_open, as in containers, and
# without the program noticing.
T_ALONE=${T_ALONE:-1}
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
	t_skip "timers in the program" "cannot record here: $(head -1 probe.err)"
	t_done
	exit 0
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
t_like "samples have the time of both threads" \
	"$("$TALLY" report -g --top 1 cost.tally)" 'start_thread'
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
	t_like "a static command is refused" "$(cat err)" 'static'
	# shellcheck disable=SC2086 # two words
	(ulimit -c 0; $deny_ "$TALLY" record --source=timer -o part.tally -- \
		sh -c './static; echo' >/dev/null 2>err)
	t_like "a static program within is named" "$(cat err)" \
		'not recorded: static'
	t_like "also in the file" "$("$TALLY" info part.tally)" \
		'not_recorded +static'
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
else
	t_skip "user namespaces" "none here"
fi
if unshare -pf --kill-child true 2>/dev/null; then
	rec ns.tally -- unshare -pf --kill-child sh -c "$burn"
	t_like "who has other process numbers is recorded" \
		"$(images ns.tally)" '(bash|dash|busybox)'
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

# The recorder dies: the program goes on.
# shellcheck disable=SC2086 # two words
$deny_ "$TALLY" record --source=timer -q -o killed.tally -- \
	sh -c "$burn; $burn; echo done >after" &
t_until test -s killed.tally
kill -9 $!
t_until test -s after
t_is "a program outlives the recorder" "$(cat after)" "done"
t_done
