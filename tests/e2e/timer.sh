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
t_done
