#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel module in real kernels, in virtual machines: built without warnings,
# loaded, recording real programs, misused, unloaded.  TALLY_VM_MODULES is a
# folder that scripts/vm/get-module-kernels made; each kernel in it is tried.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
name='the kernel module in virtual machines'
skip() { t_skip "$name" "$1"; t_done; exit 0; }
[ -n "${TALLY_VM_MODULES-}" ] ||
	skip "no TALLY_VM_MODULES: see scripts/vm/get-module-kernels"
for tool in qemu-system-x86_64 busybox make gcc; do
	command -v $tool >/dev/null || skip "no $tool here"
done
TREES=$(cd "$TALLY_VM_MODULES" && pwd -P) || skip "no $TALLY_VM_MODULES"
SRC=$(cd "$srcdir" && pwd -P)
BUILD=$(cd "${top_builddir:-.}" && pwd -P)
TALLY=$BUILD/src/tally
TORTURE=$BUILD/tests/e2e/kmod_torture
COST=$BUILD/tests/workload/known_cost
CALLS=${TALLY_VM_CALLS:-100000} CYCLES=200 KILLS=50
cd "$T_TMP" || exit 1
chmod 777 .

# What runs in the machine.  Each part leaves a file.
cat >inside.sh <<END
TALLY=$TALLY TORTURE=$TORTURE COST=$COST CALLS=$CALLS CYCLES=$CYCLES
KILLS=$KILLS
END
cat >>inside.sh <<'END'
mount -t debugfs debug /sys/kernel/debug
uname -r >release
"$TALLY" doctor --no-pager >doctor.before
"$TALLY" record -q --source=kmod -o no.tally -- true 2>absent
insmod ./tally.ko || exit 1
"$TALLY" doctor --no-pager >doctor.after
"$TORTURE" nobody >nobody

record() { "$TALLY" record -q --source=kmod "$@"; }
cat >tree.sh <<'TREE'
"$1" 3 & "$1" 3 & wait
dd if=/dev/zero of=/dev/null bs=1M count=300 2>/dev/null
TREE
record --call-graph=fp -o tree.tally -- sh tree.sh "$COST"
"$TALLY" record -q --call-graph=fp --source=perf -o perf.tally -- "$COST" 3
record --call-graph=fp -o one.tally -- "$COST" 3
record -a -o all.tally -- "$COST" 2
record --user -o user.tally -- sh tree.sh "$COST"
record --kernel -o kernel.tally -- sh tree.sh "$COST"
record -e cpu-clock:u,cpu-clock:k -c 3000000 -o two.tally -- sh tree.sh "$COST"
"$COST" 60 2 & pid=$!
until [ "$(ls /proc/$pid/task | wc -l)" -gt 2 ]; do sleep 0.1; done
record -p $pid --duration 2 -o attach.tally
record -C 1 --duration 2 -o cpu1.tally
kill $pid; wait

"$TORTURE" hold 60 >held &
hold=$!
until [ -s held ]; do sleep 0.1; done
rmmod tally 2>inuse
echo "$?" >>inuse
# Objects of ours, by who allocated them; freed areas of vmalloc stay a while.
ours() {
	cat /sys/kernel/debug/slab/*/alloc_traces | awk -v RS= '
		/(state_new|cpu_add|session_new|session_setup|tasks_add|forked)\+/ &&
		!/^ *[0-9]+ (alloc_vmap_area|__alloc_vmap|insert_vmap)/ {
			n++
			print >"/tmp/left"
		}
		END { print n + 0 }'
	grep -c '\[tally\]' /proc/vmallocinfo
}
ours | tr '\n' ' ' >ours.held
kill -9 $hold; wait

# Processors go and come, both ways round.
cpu=/sys/devices/system/cpu/cpu1/online
record -a --duration 6 -o hotplug.tally & pid=$!
sleep 2; echo 0 >$cpu; sleep 2; echo 1 >$cpu; wait $pid
echo 0 >$cpu
record -a --duration 4 -o plugged.tally & pid=$!
sleep 1; echo 1 >$cpu; wait $pid
# Sleep, as far as a file system of the host's bears it: what is to be recorded
# stands still for five seconds, and the module was told.
if echo freezer >/sys/power/pm_test; then
	record -a --duration 14 -o slept.tally & pid=$!
	sleep 1; echo freeze >/sys/power/state; echo "$?" >slept
	wait $pid
fi 2>/dev/null

"$TORTURE" stats >stats
"$TORTURE" cycles $CYCLES >cycles
"$TORTURE" fuzz $CALLS 20261 >fuzz & "$TORTURE" fuzz $((CALLS / 4)) 7 >fuzz2
wait
# Recorders die under load, five at a time, as they start and as they run.
nice -n 19 "$COST" 300 2 & load=$!
killed=0
while [ $killed -lt $KILLS ]; do
	pids=
	for i in 1 2 3 4 5; do
		# The recorder itself, not a shell that waits for it.
		"$TALLY" record -q --source=kmod --call-graph=fp -a -o killed$i.tally &
		pids="$pids $!"
	done
	until [ "$(sed -n 's/^tally [0-9]* \([0-9]*\) .*/\1/p' \
		/proc/modules)" -ge $((killed % 4 + 2)) ]; do sleep 0.1; done
	sleep 0.$((killed % 7))
	kill -9 $pids; wait $pids
	killed=$((killed + 5))
done
echo $killed >kills
kill $load; wait
record --call-graph=fp -o last.tally -- "$COST" 2
# kfree_rcu() frees in batches, some five seconds later.
for i in $(seq 30); do
	sleep 1
	rm -f /tmp/left
	ours | tr '\n' ' ' >ours.end
	[ "$(cat ours.end)" != "0 0 " ] || break
done
cat /tmp/left >left 2>/dev/null
rmmod tally 2>unload; echo "$?" >>unload
insmod ./tally.ko && rmmod tally; echo "$?" >again
dmesg >log
END

share() { # FILE FUNCTION: in percent of the program's own functions
	"$TALLY" report --no-pager --format=csv "$1" | awk -F, -v f="$2" '
		$2 ~ /^cost_/ { all += $4 }
		$2 == f { one = $4 }
		END { printf "%.2f\n", all ? one * 100 / all : -1 }'
}
samples() { # FILE [FILTER…]
	f=$1; shift
	"$TALLY" report --no-pager --format=csv "$@" "$f" |
		awk -F, 'NR > 1 { n += $3 } END { print n + 0 }'
}
near() { # NAME GOT WANT TOLERANCE
	t_ok "$1 ($2, wanted $3 ± $4)" "$(awk -v g="$2" -v w="$3" -v t="$4" \
		'BEGIN { print !(g >= w - t && g <= w + t) }')"
}
more() { t_ok "$1 ($2)" "$([ "$2" -gt "$3" ]; echo $?)"; }
dumped() { "$TALLY" dump --no-pager "$1"; }

build_module() { # TREE
	headers=$(echo "$1"/usr/src/linux-headers-*-amd64)
	make -C "$SRC/kmod" KDIR="$headers" OUT="$T_TMP/module" \
		>build.log 2>&1 || return 1
	grep -i 'warning' build.log | sed 's/^/# /'
	! grep -qi 'warning' build.log && cp module/tally.ko .
}

check_records() {
	# Shares within what 1,500 samples tell; round lengths are drawn.
	near "$v: the right shares, of a tree of processes" \
		"$(share tree.tally cost_50)" 50 4
	near "$v: … and small ones" "$(share tree.tally cost_08)" 8 2.5
	near "$v: … the same as perf's" "$(share one.tally cost_25)" \
		"$(share perf.tally cost_25)" 4
	t_like "$v: both processes were followed" "$(dumped tree.tally |
		grep -c '^thread .*comm="known_cost"')" '^[2-9]'
	t_like "$v: and the kernel's part of the third" \
		"$("$TALLY" report --no-pager --percent-limit 0 --comm dd \
		tree.tally)" '\[k\] [a-z_]*(clear|rep_|read_zero)'
	t_like "$v: with the callers of functions" \
		"$("$TALLY" report --no-pager -g --symbol cost_50 tree.tally)" \
		'start_thread|main|worker'
	t_is "$v: the event is described as perf's" \
		"$(dumped one.tally | grep '^event ')" \
		"$(dumped perf.tally | grep '^event ')"
	near "$v: the counted time is the program's" "$(dumped one.tally |
		sed -n 's/^stat .* value=\([0-9]*\).*/\1/p' |
		awk '{ print $1 / 1e9 }')" 3 1.2
	more "$v: the whole system has samples" "$(samples all.tally)" 1000
	more "$v: … the program's among them" \
		"$(samples all.tally --comm known_cost)" 300
	t_is "$v: --user has nothing of the kernel" \
		"$(samples user.tally --image '[[]kernel]')" 0
	more "$v: … but the rest" "$(samples user.tally)" 500
	t_is "$v: --kernel has nothing of the program" \
		"$(samples kernel.tally --image known_cost)" 0
	more "$v: … but the rest" "$(samples kernel.tally)" 5
	t_is "$v: two events, each with its half" "$(dumped two.tally |
		sed -n 's/^sample .* \(event=[0-9]*\) .*/\1/p' | sort -u |
		tr '\n' ' ')" 'event=0 event=1 '
	more "$v: attached to a process" "$(samples attach.tally)" 500
	t_is "$v: … and to no other" "$(samples attach.tally --comm \
		known_cost)" "$(samples attach.tally)"
	t_is "$v: one processor only" "$(dumped cpu1.tally |
		sed -n 's/^sample .* \(cpu=[0-9]*\).*/\1/p' | sort -u)" cpu=1
}

check_safety() {
	t_like "$v: without it, what to do is said" "$(cat absent)" \
		'modprobe tally'
	t_like "$v: the doctor sees it" "$(cat doctor.after)" \
		'kernel module +loaded; samples by timers'
	t_like "$v: only who may profile opens it" "$(cat nobody)" \
		'not permitted'
	t_like "$v: it stays while it is in use" "$(tail -n 1 inuse)" '^[1-9]'
	t_like "$v: memory of a recording is found" "$(cat ours.held)" \
		'^[1-9][0-9]* [1-9]'
	sed 's/^/# left: /' left
	t_is "$v: … and gone in the end" "$(cat ours.end)" "0 0 "
	t_is "$v: it can be unloaded" "$(cat unload)" 0
	t_is "$v: … and loaded again" "$(cat again)" 0
	for at in first last; do
		t_like "$v: a processor that went and came ($at)" \
			"$(dumped hotplug.tally | awk -v at=$at '
			/^sample/ { t = substr($2, 9) / 1e9
				if (!b) b = t
				if (/ cpu=1 /) { n[t - b < 2]++ } }
			END { print at == "first" ? n[1] + 0 : n[0] + 0 }')" \
			'^[1-9][0-9][0-9]'
	done
	more "$v: a processor that came later" "$(dumped plugged.tally |
		grep -c '^sample .* cpu=1 ')" 100
	if [ -s slept ]; then
		t_is "$v: the machine sleeps while it records" \
			"$(cat slept)" 0
		more "$v: … and goes on" "$(dumped slept.tally | awk '
			/^sample/ { t = substr($2, 9) / 1e9; if (!b) b = t
				if (t - b > 10) n++ }
			END { print n + 0 }')" 100
	else
		t_skip "$v: the machine sleeps while it records" \
			"this kernel has no /sys/power/pm_test"
	fi
	sed 's/^/# /' stats
	t_like "$v: the cost of samples is counted" "$(cat stats)" \
		'^cycles [0-9]+: [1-9]'
	t_like "$v: started and stopped" "$(cat cycles)" "^$CYCLES cycles"
	t_like "$v: misused" "$(cat fuzz fuzz2)" "^$CALLS calls: [1-9]"
	t_is "$v: recorders killed under load" "$(cat kills)" $KILLS
	near "$v: after all that it works" "$(share last.tally cost_50)" 50 6
	bad='BUG|WARNING|Oops|[Uu]hhuh|Call Trace|Kernel panic|soft lockup'
	bad="$bad|detected stall|use-after-free|Redzone|Poison|Slab corruption"
	bad="$bad|scheduling while atomic|general protection|leak"
	t_is "$v: the kernel's log is clean" "$(grep -E "$bad" log)" ''
}

for tree in "$TREES"/*; do
	[ -d "$tree/boot" ] || continue
	v=${tree##*/}
	rm -rf -- *.tally module release slept
	t_run "$v: the module builds without warnings" build_module "$tree"
	[ -s tally.ko ] || continue
	VM_LOG='quiet loglevel=3' "$SRC/scripts/vm/boot" -k "$tree" -w "$T_TMP" \
		-a 'slub_debug=FZPU no_timer_check' -t 900 -- sh "$T_TMP/inside.sh" \
		>vm.log 2>&1
	t_is "$v: the machine ran ($(cat release))" "$?" 0
	sed 's/^/# /' vm.log | tail -n 20
	check_records
	check_safety
	rm -f tally.ko
done
t_done
