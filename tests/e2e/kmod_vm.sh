#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel module in real kernels, in virtual machines: built without warnings,
# loaded, recording real programs and their waits, misused, unloaded. TALLY_VM_MODULES is
# a folder made by scripts/vm/get-module-kernels; each kernel in it is tried, in three
# machines beside each other, or one after the other with TALLY_VM_TURNS=1.  With
# TALLY_TESTS=long it is misused for longer.
srcdir=${srcdir:-.}
# tests/lane ends tests after half an hour.
[ -z "${VM_SECONDS-}" ] || T_LANE=held
. "$srcdir/tests/lib.sh"
name='the kernel module in virtual machines'
skip() { t_skip_all "$name" "$1"; }
[ -n "${TALLY_VM_MODULES-}" ] ||
	skip "no TALLY_VM_MODULES: see scripts/vm/get-module-kernels"
for tool in qemu-system-x86_64 busybox make gcc; do
	command -v $tool >/dev/null || skip "no $tool here"
done
TREES=$(cd "$TALLY_VM_MODULES" && pwd -P) || skip "no $TALLY_VM_MODULES"
SRC=$(cd "$srcdir" && pwd -P)
. "$SRC/tests/workload/known_waits.sh"
BUILD=$(cd "${top_builddir:-.}" && pwd -P)
TALLY=$BUILD/src/tally
TORTURE=$BUILD/tests/e2e/kmod_torture
COST=$BUILD/tests/workload/known_cost
CALLS=5000 CYCLES=50 KILLS=12 STEPS=100 PROOF=5 LOADS=8
if t_long; then
	CALLS=30000 CYCLES=200 KILLS=48 STEPS=300 PROOF=20 LOADS=50
fi
CALLS=${VM_CALLS:-$CALLS} STEPS=${VM_STEPS:-$STEPS} LOADS=${VM_LOADS:-$LOADS}
SEED=${VM_SEED:-20261} PARTS=${VM_PARTS:-samples waits misuse}
cd "$T_TMP" || exit 1
chmod 777 .

# A program without frame pointers, and an i386 one: time in user space and in
# the kernel, below some calls.
cat >deep.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
#define STAY __asm__ volatile("" ::: "memory")
static volatile unsigned long sink;
static int zero;
static NOINLINE void leaf_user(void)
{
	for (volatile int i = 0; i < 3000; i++)
		sink += (unsigned long)i;
}
static NOINLINE void leaf_kernel(void)
{
	static char bytes[65536];

	sink += (unsigned long)read(zero, bytes, sizeof(bytes));
	STAY;
}
static NOINLINE void down(int n, time_t end)
{
	if (n)
		down(n - 1, end);
	while (time(NULL) < end) {
		leaf_user();
		leaf_kernel();
	}
	STAY;
}
int main(int argc, char **argv)
{
	zero = open("/dev/zero", O_RDONLY);
	down(argc > 1 ? atoi(argv[1]) : 5,
	     time(NULL) + (argc > 2 ? atoi(argv[2]) : 3));
	STAY;
	return 0;
}
END
cat >narrow.c <<'END'
#define NOINLINE __attribute__((noinline))
static volatile unsigned long sink;
static int call(int nr)
{
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(0) : "memory");
	return r;
}
static NOINLINE void leaf32(void)
{
	for (volatile int i = 0; i < 3000; i++)
		sink++;
}
static NOINLINE void outer32(void)
{
	leaf32();
	sink++;
}
void begin32(void)
{
	for (int i = 0; i < 60000; i++) {
		outer32();
		call(20);	/* getpid */
	}
	call(1);		/* exit */
}
__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined eip\n"
	"call begin32\nhlt\n.cfi_endproc\n");
END
gcc -O2 -g -fomit-frame-pointer -o deep deep.c || exit 1

gcc -O2 -g -fomit-frame-pointer -pthread -o waits \
	"$SRC/tests/workload/known_waits.c" || exit 1
gcc -m32 -O2 -g -fomit-frame-pointer -fasynchronous-unwind-tables -fno-pie \
	-no-pie -nostdlib -static -o narrow narrow.c 2>narrow.err

# What runs in a machine: inside.sh samples|waits|misuse.  Each step leaves a file.
cat >tree.sh <<'END'
"$1" "${2:-3}" & "$1" "${2:-3}" & wait
dd if=/dev/zero of=/dev/null bs=1M count=300 2>/dev/null
END
cat >inside.sh <<END
TALLY=$TALLY TORTURE=$TORTURE COST=$COST CALLS=$CALLS CYCLES=$CYCLES STEPS=$STEPS
KILLS=$KILLS PROOF=$PROOF LOADS=$LOADS SEED=$SEED
END
cat >>inside.sh <<'END'
uname -r >"release.$1"
cpu=/sys/devices/system/cpu/cpu1/online
mount -t debugfs debug /sys/kernel/debug
# After a complaint lockdep is off: in the end it must be what it was.
locks() { sed -n 's/^ *debug_locks: *//p' /proc/lockdep_stats; }
[ ! -e /proc/lockdep_stats ] || locks >"locks.$1"
# To name functions takes an emulated machine as long as to record for half a second.  This
# machine's tally does it later, where no name of the kernel is asked for.
record() { named --no-symbols "$@"; }
named() { "$TALLY" record -q --source=kmod "$@"; }
# Objects of ours, by who allocated them; freed areas of vmalloc stay a while, and
# perf's contexts stay with threads that live on.
ours() {
	cat /sys/kernel/debug/slab/*/alloc_traces | awk -v RS= '
		/(state_new|cpu_add|session_new|session_setup|tasks_add|forked|block_new|rows_new|perf_prepare|state_add|counter_add|perf_add_thread)\+/ &&
		!/^ *[0-9]+ (alloc_vmap_area|__alloc_vmap|insert_vmap|alloc_perf_context)/ {
			n++
			print >"/tmp/left"
		}
		END { print n + 0 }'
	grep -c '\[tally\]' /proc/vmallocinfo
}

samples() {
	"$TALLY" record -q --source=kmod -o no.tally -- true 2>absent
	insmod ./tally.ko max_rate=99 && rmmod tally; echo $? >slow
	insmod ./tally.ko || exit 1
	"$TALLY" doctor --no-pager >doctor.after
	"$TORTURE" nobody >nobody
	"$TORTURE" probe >probe
	trace=/sys/kernel/tracing
	if grep -q ' T perf_allow_kernel$' /proc/kallsyms &&
	   [ -e $trace/set_ftrace_filter ]; then
		echo security_perf_event_open >$trace/set_ftrace_filter
		echo function >$trace/current_tracer
		"$TORTURE" cycles 1
		grep -c 'security_perf_event_open <-' $trace/trace >asked
		echo nop >$trace/current_tracer
	fi

	named --call-graph=fp -o tree.tally -- sh tree.sh "$COST"
	"$TALLY" record -q --no-symbols --call-graph=fp --source=perf -o perf.tally -- "$COST" 3
	record --call-graph=fp -o one.tally -- "$COST" 3
	record -a -o all.tally -- "$COST" 2
	# what has samples, not how many
	record --user -o user.tally -- sh tree.sh "$COST" 2
	record --kernel -o kernel.tally -- sh tree.sh "$COST" 1
	record -e cpu-clock:u,cpu-clock:k -c 3000000 -o two.tally -- sh tree.sh "$COST" 1
	"$COST" 60 2 & pid=$!
	until [ "$(ls /proc/$pid/task | wc -l)" -gt 2 ]; do sleep 0.1; done
	record -p $pid --duration 2 -o attach.tally
	record -C 1 --duration 1 -o cpu1.tally
	kill $pid; wait

	# Copies of stacks: byte for byte, then as call chains.
	for n in 1024 8192 32768; do "$TORTURE" stats $n 100000 >copies.$n; done
	"$TORTURE" stats 65528 20000 >copies.65528
	for source in kmod perf; do
		stacks() { "$TALLY" record -q --source=$source -g -F 2000 "$@"; }
		stacks -o deep.$source.tally -- ./deep 20 3
		[ ! -x narrow ] || stacks --no-symbols -o narrow.$source.tally -- ./narrow
		# copying all of an emulated machine's stacks by perf leaves it no time
		[ $source = kmod ] || continue
		stacks -a -o deepall.kmod.tally -- ./deep 100 3
		stacks -e cpu-clock:u --no-symbols -o deepuser.kmod.tally -- ./deep 8 2
		stacks -e cpu-clock:k -o deepkernel.kmod.tally -- ./deep 8 2
	done
	"$TORTURE" counts >counts; echo $? >>counts
	"$TORTURE" twice >twice; echo $? >>twice
	"$TORTURE" clock 2 >clock; echo $? >>clock
	"$TORTURE" waits >full; echo $? >>full
	# for what is left of them; what they say is judged on another machine
	record --wait -o wait.left.tally -- ./waits >/dev/null
	record --wait -a -o wait.left.tally -- ./waits >/dev/null
	record --call-graph=dwarf,1024 -F 2000 -o short.tally -- ./deep 200 2
	# Stacks that the module unwinds, beside tally's own of the same registers and stack;
	# of programs that are there, too.
	proof() { record -g -F 300 --verify-stacks "$@"; }
	proof -o proof.one.tally -- ./deep 20 $PROOF
	export PROOF
	proof -a -o proof.all.tally -- sh -c './deep 5 $PROOF & gzip -9 </dev/zero >/dev/null & \
		perl -e "\$e = time + $PROOF; while (time < \$e) { join q(,), sort map { rand } 1 .. 99 }"
		kill $!'
	two_kinds
}

# Two kinds of cores, of one processor each: PMUs of tests/kmod/two_kinds.c.
two_kinds() {
	insmod ./two_kinds.ko || return
	for source in kmod perf; do
		rec() { out=$1; shift; record --source=$source -F 500 \
			-o "$out.$source.tally" "$@"; }
		rec kinds -e cycles -- "$COST" 2 2
		rec kindsall -e cycles -a -- "$COST" 1 2
		rec kindstwo -e cpu_core/event=0x3c/,cpu_atom/event=0x3c/ -- "$COST" 1 2
		rec kindsone -e cpu_atom/event=0x3c/ -a -- "$COST" 1 2
	done 2>kinds.err
	"$TALLY" stat -e cycles,cpu_core/event=0x3c/,cpu_atom/event=0x3c/ \
		--format=csv -o kinds.csv -- "$COST" 1 2 2>>kinds.err
	echo 0 >$cpu
	record -e cycles -F 500 -a -o kindscame.tally -- \
		sh -c "sleep 1; echo 1 >$cpu; sleep 3" 2>>kinds.err
	rmmod two_kinds
}
kinds() {
	insmod ./tally.ko || exit 1
	two_kinds
}

# On one processor whose clock are its instructions, so that a busy host takes no time.  Its
# kernel does not check allocations.
waits() {
	insmod ./tally.ko || exit 1
	"$TORTURE" waits >full.one; echo $? >>full.one
	named --wait -o wait.timers.tally -- ./waits >wait.timers
	record --wait -e cpu-clock,page-faults -o wait.events.tally -- ./waits \
		>wait.events
	record --wait -a -o wait.all.tally -- ./waits >wait.all
	named --wait --call-graph=fp -o wait.fp.tally -- ./waits >wait.fp
	record --latency -o wait.latency.tally -- ./waits >wait.latency
	# The same without the module, by BPF programs of tally.
	bpf() { "$TALLY" record -q --source=perf --wait "$@"; }
	bpf -o wait.bpf.tally -- ./waits >wait.bpf
	bpf -a -o wait.bpfall.tally -- \
		sh -c 'cat /proc/$PPID/fdinfo/* >bpf.files; exec ./waits' >wait.bpfall
}

misuse() {
	insmod ./tally.ko || exit 1
	# The kernel's own events, per thread and per processor, also of one that goes.
	record -g -e page-faults -c 1 -o faults.tally -- sh tree.sh "$COST" 1
	record -g -e cpu-clock,page-faults -F 2000 -o mixed.tally -- ./deep 20 3
	record -e cpu-clock,page-faults -F 300 -a -o events.tally -- sh -c "sleep 2; echo 0 >$cpu; sleep 2
		echo 1 >$cpu; sleep 4"
	# Control groups of version 2, with one below another.
	rm -f group.pids
	mkdir -p /groups && mount -t cgroup2 none /groups &&
		echo +pids >/groups/cgroup.subtree_control &&
		mkdir -p /groups/one/two /groups/other
	for g in one one/two other; do
		sh -c "echo \$\$ >/groups/$g/cgroup.procs; exec ./deep 5 60" &
		echo $! >>group.pids
	done
	record -g --cgroup /groups/one --duration 3 -o group.tally 2>group.err
	cp group.pids group.all; kill $(cat group.pids)

	rm -f held
	"$TORTURE" hold 60 >held &
	hold=$!
	until [ -s held ]; do sleep 0.1; done
	rmmod tally 2>inuse
	echo "$?" >>inuse
	ours | tr '\n' ' ' >ours.held
	kill -9 $hold; wait

	# Processors go and come, both ways round.
	record -a -o hotplug.tally -- \
		sh -c "sleep 2; echo 0 >$cpu; sleep 2; echo 1 >$cpu; sleep 2"
	echo 0 >$cpu
	record -a -o plugged.tally -- sh -c "sleep 1; echo 1 >$cpu; sleep 3"
	# Sleep, as far as a file system of the host's bears it: what is to be recorded
	# stands still for five seconds, and the module was told.
	if echo freezer >/sys/power/pm_test; then
		record -a --duration 14 -o slept.tally & pid=$!
		sleep 1; echo freeze >/sys/power/state; echo "$?" >slept
		wait $pid
	fi 2>/dev/null

	timeout 300 "$TORTURE" walk $STEPS $SEED >walk
	"$TORTURE" stats >stats
	"$TORTURE" cycles $CYCLES >cycles
	"$TORTURE" hostile $CALLS $SEED >hostile
	# Recorders die under load, four at a time, as they start and as they run.
	nice -n 19 "$COST" 300 2 & load=$!
	killed=0 died=0
	while [ $killed -lt $KILLS ]; do
		pids=
		for i in 1 2 3 4; do
			# The recorder itself, not a shell that waits for it.
			"$TALLY" record -q --source=kmod --call-graph=fp -a -o killed$i.tally &
			pids="$pids $!"
		done
		# The module was loaded last, so it is the first.  No process is started to
		# read that: with the load, it would take longer than the recorders.
		until read -r _ _ used _ </proc/modules; [ "$used" -ge $((killed / 4 % 3 + 2)) ]
		do sleep 0.1; done
		sleep 0.$((killed % 7))
		kill -9 $pids
		# not one that had ended by itself
		for p in $pids; do
			wait $p; [ $? -ne 137 ] || died=$((died + 1))
		done
		killed=$((killed + 4))
	done
	echo $died >kills
	kill $load; wait
	record --call-graph=fp -o last.tally -- "$COST" 2
}

endure() {
	mkdir -p /groups && mount -t cgroup2 none /groups
	insmod ./tally.ko || exit 1
	# What is there from the first use on does not count.
	"$TORTURE" cycles 20 >cycles
	"$TORTURE" memory before >memory
	[ $STEPS = 0 ] || "$TORTURE" walk $STEPS $SEED >walk
	"$TORTURE" memory walk >>memory
	[ $CALLS = 0 ] || "$TORTURE" hostile $CALLS $SEED >hostile
	"$TORTURE" memory hostile >>memory
}

"$1"
# kfree_rcu() frees in batches, some five seconds later.  To look takes an emulated
# processor more than a second, to wait takes none.
[ "$1" = waits ] || sleep 6
for i in $(seq 12); do
	[ "$1" != waits ] || break
	rm -f /tmp/left
	ours | tr '\n' ' ' >"ours.$1"
	[ "$(cat "ours.$1")" != "0 0 " ] || break
	sleep 2
done
cat /tmp/left >"left.$1" 2>/dev/null
rmmod tally 2>"unload.$1"; echo "$?" >>"unload.$1"
[ "$1" = samples ] || [ "$1" = kinds ] || [ "$1" = waits ] || [ $LOADS = 0 ] ||
	"$TORTURE" reload $LOADS $SEED ./tally.ko "$TALLY" >reload
insmod ./tally.ko && rmmod tally; echo "$?" >"again.$1"
[ "$1" != endure ] || "$TORTURE" memory reload >>memory
# The second scan reports what the first one has found; kmemleak that is off refuses.
scan() { sleep 6; echo scan >/sys/kernel/debug/kmemleak; }
if [ -e /sys/kernel/debug/kmemleak ]; then
	{ scan && scan && cat /sys/kernel/debug/kmemleak || echo "kmemleak is off"; } >leaks
fi
[ ! -e /proc/lockdep_stats ] || { locks >>"locks.$1"; cat /proc/lockdep_stats >"lockdep.$1"; }
dmesg >"log.$1"
END

share() { # FILE FUNCTION: in percent of the program's own functions
	"$TALLY" report --no-pager --format=csv "$1" | awk -F, -v f="$2" '
		$2 ~ /^cost_/ { all += $4 }
		$2 == f { one = $4 }
		END { if (all) printf "%.2f\n", one * 100 / all; else print "none" }'
}
samples() { # FILE [FILTER…]
	f=$1; shift
	"$TALLY" report --no-pager --format=csv "$@" "$f" |
		awk -F, 'NR > 1 { n += $3 } END { print NR ? n + 0 : "no report" }'
}
near() { t_near "$1 ($2, wanted $3 ± $4)" "$2" "$3" "$4"; }
more() { t_ok "$1 ($2)" "$([ "$2" -gt "$3" ]; echo $?)"; }
dumped() { "$TALLY" dump --no-pager "$1"; }

build_module() { # TREE
	headers=$(echo "$1"/usr/src/linux-headers-*-amd64)
	make -C "$SRC/kmod" KDIR="$headers" OUT="$PWD/module" \
		>build.log 2>&1 || { cat build.log; return 1; }
	grep -i 'warning' build.log | sed 's/^/# /'
	! grep -qi 'warning' build.log && cp module/tally.ko .
}
build_kinds() { # TREE
	headers=$(echo "$1"/usr/src/linux-headers-*-amd64)
	mkdir kinds && cp "$SRC/tests/kmod/two_kinds.c" "$SRC/kmod/compat.h" kinds &&
		echo 'obj-m := two_kinds.o' >kinds/Kbuild &&
		make -C "$headers" M="$PWD/kinds" CONFIG_DEBUG_INFO_BTF_MODULES= \
		modules >kinds.log 2>&1 && cp kinds/two_kinds.ko . ||
		{ cat kinds.log; return 1; }
}

check_records() {
	# Shares within four standard deviations of what 1,500 samples tell; round lengths
	# are drawn.
	near "$v: the right shares, of a tree of processes" \
		"$(share tree.tally cost_50)" 50 5.2
	near "$v: … and small ones" "$(share tree.tally cost_08)" 8 2.8
	near "$v: … the same as perf's" "$(share one.tally cost_25)" \
		"$(share perf.tally cost_25)" 6.3
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
		"$(samples user.tally --image '[kernel]')" 0
	more "$v: … but the rest" "$(samples user.tally)" 500
	t_is "$v: --kernel has nothing of the program" \
		"$(samples kernel.tally --image known_cost)" 0
	more "$v: … but the rest" "$(samples kernel.tally)" 5
	t_is "$v: two events, each with its half" "$(dumped two.tally |
		sed -n 's/^sample .* \(event=[0-9]*\) .*/\1/p' | sort -u |
		tr '\n' ' ')" 'event=0 event=1 '
	t_is "$v: … nothing of the kernel, and nothing of the program" \
		"$(samples two.tally -e cpu-clock:u --image '[kernel]') $(
		samples two.tally -e cpu-clock:k --image known_cost)" '0 0'
	more "$v: attached to a process" "$(samples attach.tally)" 500
	near "$v: … and to no other" "$(samples attach.tally --comm \
		known_cost)" "$(samples attach.tally)" 0
	t_is "$v: one processor only" "$(dumped cpu1.tally |
		sed -n 's/^sample .* \(cpu=[0-9]*\).*/\1/p' | sort -u)" cpu=1
}

# The functions of each sample, innermost first, one sample a line.
chains() {
	"$TALLY" dump --no-pager --only samples -g "$1" | awk '
		/^sample / { if (c) print c; c = ""; next }
		/^  \[/ { next }
		{ c = c (c ? " " : "") ($2 ~ /^\(/ ? "?" : $2) }
		END { if (c) print c }'
}
# Of the samples with a function, the share that match.
matching() { # FILE FUNCTION PATTERN
	chains "$1" | awk -v f="$2" -v m="$3" '$0 ~ "(^| )" f " " { n++
		if ($0 ~ m) k++ }
		END { printf "%.2f\n", (n >= 30 ? k * 100 / n : -n - 1) }'
}
check_stacks() {
	for f in narrow.kmod deepuser.kmod mixed; do
		[ ! -e $f.tally ] || "$TALLY" symbolize -q $f.tally 2>>symbolize.err
	done
	for n in 1024 8192 32768 65528; do
		t_like "$v: copies of $n bytes are as the stack is" \
			"$(head -n 1 copies.$n)" ': [1-9][0-9]+ right, 0 wrong'
		sed 's/^/# /' copies.$n
	done
	d='down down down down down down '
	for f in deep deepall; do
		near "$v: $f: user stacks reach the entry" "$(matching \
			$f.kmod.tally leaf_user " $d.* main .*_start")" 100 0.5
		near "$v: $f: … out of the kernel, too" "$(matching \
			$f.kmod.tally read_zero \
			" read leaf_kernel $d.* main .*_start")" 100 1
	done
	near "$v: … and by perf's copies" "$(matching deep.perf.tally \
		leaf_user " $d.* main .*_start")" 100 0.5
	near "$v: of user space alone" "$(matching deepuser.kmod.tally \
		leaf_user "^leaf_user $d.* main .*_start")" 100 0.5
	near "$v: of the kernel alone" "$(matching deepkernel.kmod.tally \
		read_zero "read leaf_kernel $d.* main .*_start")" 100 1
	for f in leaf_user read_zero; do
		near "$v: $f has the share that perf sees" "$(part \
			deep.kmod.tally $f main)" "$(part deep.perf.tally $f main)" 12
	done
	t_like "$v: copies that are too short say so" \
		"$("$TALLY" report --no-pager short.tally)" \
		'^# Stacks: .*(truncated|read later)'
	if [ -x narrow ]; then
		near "$v: an i386 program" "$(matching narrow.kmod.tally \
			leaf32 'leaf32 outer32 begin32 _start')" 100 0.5
		# Each sample takes time, perf's with their copies most, after which user
		# space is sampled at once: without stacks the share is 52 to 65, with
		# them 73 to 81 and, for perf, 76 to 88.
		near "$v: … has the share that perf sees" \
			"$(part narrow.kmod.tally leaf32 begin32)" \
			"$(part narrow.perf.tally leaf32 begin32)" 20
	else
		t_skip "$v: an i386 program" "gcc makes none here"
	fi
	t_is "$v: only a control group and those below it" \
		"$(dumped group.tally | sed -n \
		's/^thread .* pid=\([0-9]*\) .*/\1/p' | sort | tr '\n' ' ')$(
		cat group.err)" "$(head -n 2 group.all | sort | tr '\n' ' ')"
	more "$v: … with their samples" "$(samples group.tally)" 500
}
check_waits() {
	sed 's/^/# waits: /' full.one
	t_is "$v: switches that came and those that were lost add up" \
		"$(tail -n 1 full.one)" 0
	t_run "$v: without the module, BPF programs report switches" \
		grep -q '^prog_tag:' bpf.files
	for f in timers events all bpf bpfall; do
		w=wait.$f
		check_known_waits "$v: $f" $w 1
	done
	# The helper sleeps, too: 45 times 50 ms in all.
	more "$v: timers end what is slept" \
		"$("$TALLY" report --no-pager --format=csv -e waking -s symbol \
		wait.bpf.tally | awk -F, '$1 == "[interrupt]" { print $3 }')" \
		$((45 * 50000000 / 100 * 95))
	for f in timers bpf; do
		more "$v: $f: the call of nearly every wait is known (thousandths)" \
			"$("$TALLY" report --no-pager --format=csv -e blocked -s wait \
			wait.$f.tally | awk -F, 'NR > 1 { all += $3 }
			$1 != "" { known += $3 }
			END { printf "%.0f\n", all ? 1000 * known / all : 0 }')" 995
	done
	t_like "$v: stacks by frame pointers: the lock's is the innermost" \
		"$("$TALLY" report --no-pager --format=csv -e blocked -s symbol \
		wait.fp.tally)" '^(__)?(futex|lll_lock)_'
	t=wait.timers.tally
	within "$v: without its time in the run queue it is blocked" \
		"$(waited $t all_sites blocked)" \
		$(($(known all_sites wait.timers) - $(known queued wait.timers))) 1
	more "$v: stacks of waits were unwound in the kernel" \
		"$(fact $t stacks_unwound_in_kernel)" 60
	"$TALLY" report --no-pager --no-tui $t >wait.report
	t_like "$v: the table of waits names function and kind" \
		"$(grep site_ wait.report)" '^blocked .* futex +site_lock in .*mutex_lock'
	t_like "$v: … and who ended them" "$(cat wait.report)" \
		'^waking .* helper in '
	within "$v: the helper ended what was waited for it" \
		"$("$TALLY" report --no-pager --format=csv -e waking -s symbol $t |
		awk -F, '$1 == "helper" { print $6 }')" \
		"$("$TALLY" report --no-pager --format=csv -e blocked -s symbol $t |
		awk -F, '$1 ~ /^site_(lock|pipe)$/ { sum += $6 } END { print sum }')" 5
	# Of the run, which begins before the program and ends after it, on a busy host
	# by more than the limit, only a part is recorded.
	got=$("$TALLY" report --no-pager --format=csv -e latency -s event \
		wait.latency.tally | awk -F, 'NR > 1 { print $3 }')
	life=$(dumped wait.latency.tally | sed -n \
		's/^sample time_ns=\([0-9]*\) .*/\1/p
		s/^thread .* start_ns=\([0-9]*\).*/\1/p' |
		sort -n | sed -n '1p; $p' | tr '\n' ' ' | awk '{ print $2 - $1 }')
	run=$(dumped wait.latency.tally | sed -n \
		's/^run .* start_ns=\([0-9]*\) end_ns=\([0-9]*\) .*/\1 \2/p' |
		awk '{ print $2 - $1 }')
	t_run "$v: wall-clock time adds up: ${got:-no} ns, $life to $run" \
		test "${got:-0}" -ge $((life / 50 * 49)) -a \
		"${got:-0}" -le $((run / 50 * 51))
}
# A number that the recording has of itself.
fact() { # FILE NAME
	dumped "$1" | sed -n 's/^env .*key="'"$2"'" value="\(.*\)"/\1/p'
}
check_counts() {
	sed 's/^/# waits: /' full
	t_is "$v: switches that came and those that were lost add up" \
		"$(tail -n 1 full)" 0
	sed 's/^/# counts: /' counts
	t_is "$v: equal samples are added up, none is missing" \
		"$(tail -n 1 counts)" 0
	t_is "$v: the time of a recording never goes back ($(head -n 1 clock))" \
		"$(tail -n 1 clock)" 0
	t_is "$v: a thread that is named twice counts once ($(head -n 1 twice))" \
		"$(tail -n 1 twice)" 0
	more "$v: … of the whole system, too" \
		"$(fact deepall.kmod.tally samples_added_up_in_kernel)" 300
	t_is "$v: … the file has all that were taken" \
		"$(dumped deepall.kmod.tally | grep -c '^sample ')" \
		"$(fact deepall.kmod.tally samples_taken_in_kernel)"
}
check_unwinding() {
	for f in proof.one proof.all; do
		n=$(fact $f.tally stacks_verified)
		more "$v: $f: stacks were unwound in the kernel" "${n:-0}" 300
		t_is "$v: $f: … and are tally's own, of ${n:-0}" \
			"$(fact $f.tally stacks_differing)" 0
	done
	near "$v: percent of stacks that were unwound, from the start on" "$(dumped deep.kmod.tally |
		sed -n 's/^env .*key="stacks_\(.*\)" value="\(.*\)"/\1 \2/p' |
		awk '{ n[$1] = $2 } END { c = n["copied_by_module"]
			print 100 - 100 * c / (c + n["unwound_in_kernel"]) }')" 100 20
	# Above the limit of its rate some samples have the weight of others, of which the
	# last may be missing.
	"$TALLY" report --format=json faults.tally | python3 -c '
import json, sys
h = json.load(sys.stdin)["header"]
e = h["events"][0]
print(e["weight"] + e["lost"], e["counted"], h["samples"])' >faults
	read -r taken counted rest <faults
	t_run "$v: the kernel's own events: got and lost are what it counted ($taken of $counted)" \
		test "$taken" -gt 0 -a $((counted - taken)) -ge 0 -a $((counted - taken)) -lt 8
	echo "# $rest"
	more "$v: … page faults of all processes" "$(samples faults.tally)" 100
	t_is "$v: … two events of several kinds" "$(dumped mixed.tally |
		sed -n 's/^sample .* \(event=[0-9]*\) .*/\1/p' | sort -u |
		tr '\n' ' ')" 'event=0 event=1 '
	near "$v: … with the same stacks" "$(matching mixed.tally leaf_user \
		" $d.* main .*_start")" 100 0.5
	t_like "$v: … on a processor that went and came" \
		"$(dumped events.tally | awk '/^sample/ { t = substr($2, 9) / 1e9
			if (!b) b = t
			if (/ cpu=1 / && t - b > 5) n++ } END { print n + 0 }')" \
		'^[1-9][0-9]+$'
}
# Each pair of event and processor that has samples.
places() { # FILE
	dumped "$1" | awk '/^sample / { for (i = 2; i <= NF; i++)
			if ($i ~ /^(cpu|event)=/) printf "%s ", $i
		print "" }' | sort -u | tr -d '\n'
}
count_of() { # FILE NAME
	dumped "$1" | sed -n "s/^stat .*event=0 .*$2=\([0-9]*\).*/\1/p"
}
check_kinds() {
	t_none "$v: kinds of cores: no errors" "$(cat kinds.err)"
	for f in kinds kindsall kindstwo kindsone; do
		t_is "$v: $f: the events are described as perf's" \
			"$(dumped $f.kmod.tally | grep '^event ')" \
			"$(dumped $f.perf.tally | grep '^event ')"
		case $f in
		kindstwo) want='cpu=0 event=0 cpu=1 event=1 ' ;;
		kindsone) want='cpu=1 event=0 ' ;;
		*) want='cpu=0 event=0 cpu=1 event=0 ' ;;
		esac
		for s in kmod perf; do
			t_is "$v: $f: samples of the right processors ($s)" \
				"$(places $f.$s.tally)" "$want"
		done
	done
	# These cycles are nanoseconds.
	for f in kinds.kmod kinds.perf kindsall.kmod kindsall.perf; do
		near "$v: $f: both kinds together count all the time" "$(echo \
			"$(count_of $f.tally value)" "$(count_of $f.tally enabled_ns)" |
			awk '{ print 100 * $1 / $2 }')" 100 4
	done
	near "$v: kinds add up to the whole, without estimates" "$(awk -F, '
		$3 ~ /^cpu_/ { n += $4 } $3 == "cycles" { all = $4 }
		END { if (all) print 100 * n / all }' kinds.csv)" 100 2
	t_like "$v: a processor that came has the counters of its kind" \
		"$(places kindscame.tally)" 'cpu=1'
}
# Percent of the samples with one function that have another, too: how long the start
# of a program takes is the emulator's.
part() { # FILE FUNCTION OF
	"$TALLY" report --no-pager --percent-limit 0 --format=csv "$1" |
		awk -F, -v f="$2" -v of="$3" '$2 == f { n += $8 } $2 == of { m += $8 }
			END { if (m > 0) print 100 * n / m; else print "none" }'
}

# perf_prepare_sample (perf_prepare_header since Linux 6.3) warns once of samples by
# perf_event_open, of perf's or of ours, whose copy of a stack is no multiple of 8 bytes,
# as stacks of 32-bit programs may be: that is not the module's.
without_perfs_warning() {
	awk '/\[ cut here \]/ { block = $0; next }
		block == "" { print; next }
		{ block = block "\n" $0 }
		/\[ end trace / {
			if (block !~ /events\/core.c:[0-9]+ perf_(event_output|prepare_sample)/ ||
			    block ~ /\[tally\]/)
				print block
			block = ""
		}
		END { if (block != "") print block }'
}

check_safety() {
	t_like "$v: without it, what to do is said" "$(cat absent)" \
		'modprobe tally'
	t_like "$v: the doctor sees it" "$(cat doctor.after)" \
		'kernel module +loaded; samples by timers'
	t_is "$v: a rate that is too low to be kept is refused" "$(cat slow)" 1
	t_like "$v: only who may profile opens it" "$(cat nobody)" \
		'not permitted'
	t_like "$v: probes are no events to sample" "$(cat probe)" \
		'^(Operation not supported|no kprobes)$'
	if [ -e asked ]; then
		more "$v: security modules are asked" "$(cat asked)" 0
	else
		t_skip "$v: security modules are asked" \
			"this kernel does not export perf_allow_kernel, or traces no functions"
	fi
	t_like "$v: it stays while it is in use" "$(tail -n 1 inuse)" '^[1-9]'
	t_like "$v: memory of a recording is found" "$(cat ours.held)" \
		'^[1-9][0-9]* [1-9]'
	sed 's/^/# left: /' left.samples left.misuse
	t_is "$v: … and gone in the end" "$(cat ours.samples ours.misuse)" "0 0 0 0 "
	t_is "$v: it can be unloaded" "$(cat unload.samples unload.misuse)" "0
0"
	t_is "$v: … and loaded again" "$(cat again.samples again.misuse)" "0
0"
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
	check_misuse
	sed 's/^/# /' stats
	t_like "$v: the cost of samples is counted" "$(cat stats)" \
		'^cycles [0-9]+: [1-9]'
	t_like "$v: started and stopped" "$(cat cycles)" "^$CYCLES cycles"
	more "$v: recorders killed under load" "$(cat kills)" $((KILLS / 2))
	near "$v: after all that it works" "$(share last.tally cost_50)" 50 6
	t_is "$v: waits: it can be unloaded, and loaded again" \
		"$(cat unload.waits again.waits)" "0
0"
	check_log log.samples log.waits log.misuse
}
check_misuse() {
	if [ "$STEPS" != 0 ]; then
		grep -v '^at ' walk | sed 's/^/# /'
		t_like "$v: two recordings, sleep and processors in any order" \
			"$(cat walk)" "^$STEPS steps: [1-9][0-9]* started"
	fi
	if [ "$CALLS" != 0 ]; then
		sed 's/^/# /' hostile
		t_like "$v: misused by three users" "$(cat hostile)" \
			"^$CALLS calls: 3 users"
	fi
	if [ "$LOADS" != 0 ]; then
		sed 's/^/# /' reload
		t_like "$v: loaded, and unloaded when its user was killed" \
			"$(cat reload)" "^$LOADS rounds: $LOADS killed"
	fi
}
check_endured() {
	check_misuse
	[ "$STEPS" = 0 ] || grep '^at ' walk | sed 's/^/# /'
	sed 's/^/# /' memory left.endure
	t_is "$v: no memory of a recording is left" "$(cat ours.endure)" "0 0 "
	t_is "$v: it can be unloaded" "$(cat unload.endure)" 0
	t_is "$v: … and loaded again" "$(cat again.endure)" 0
	[ ! -e leaks ] || t_none "$v: kmemleak finds nothing" "$(cat leaks)"
	check_log log.endure
}
check_log() { # FILE…
	bad='BUG|WARNING|Oops|[Uu]hhuh|Call Trace|Kernel panic|soft lockup'
	bad="$bad|detected stall|use-after-free|Redzone|Poison|Slab corruption"
	bad="$bad|scheduling while atomic|general protection|leak"
	bad="$bad|blocked for more than|refcount_t"
	cat "$@" | without_perfs_warning |
		grep -v 'kmemleak: Kernel memory leak detector init' >log.rest
	grep -E -A 30 "$bad" log.rest | head -n 60 | sed 's/^/# log: /'
	t_lacks "$v: the kernel's log is clean" "$(cat log.rest)" "$bad"
}

for tree in "$TREES"/*; do
	[ -d "$tree/boot" ] || continue
	v=${tree##*/}
	# Nothing of the kernel before may be taken for this one's.
	mkdir "$T_TMP/$v" && cd "$T_TMP/$v" || exit 1
	chmod 777 .
	cp ../inside.sh ../tree.sh ../deep ../waits .
	[ ! -x ../narrow ] || cp ../narrow .
	t_run "$v: the module builds without warnings" build_module "$tree"
	[ -s tally.ko ] || continue
	t_run "$v: PMUs of two kinds of cores are built" build_kinds "$tree"
	# Checks of what ACPI's interpreter allocates are half of a machine's start.
	for part in $PARTS; do
		# (The debug kernel sees one processor of each socket.)
		icount='' cpus=2,sockets=2,cores=1 checks='slub_debug=FZPU;-,Acpi-*' unpacked=-u
		[ $part != waits ] || icount=1 cpus=1 checks=
		# One machine's kernel is where it chose to be.
		[ $part != samples ] || unpacked=
		{
			VM_ICOUNT=$icount "$SRC/scripts/vm/boot" $unpacked -k "$tree" -w "$PWD" \
				-c $cpus \
				-a "$checks no_timer_check log_buf_len=16M oops=panic" \
				-t "${VM_SECONDS:-1500}" -- \
				sh inside.sh $part >vm.$part 2>&1
			echo $? >status.$part
		} &
		[ -z "${TALLY_VM_TURNS-}" ] || wait
	done
	wait
	for part in $PARTS; do
		t_is "$v: the machine ran ($part, $(cat release.$part))" \
			"$(cat status.$part)" 0
		tail -n 20 vm.$part | sed 's/^/# /'
	done
	for f in locks.*; do
		[ ! -e "$f" ] || t_is "$v: lockdep is on, from start to end (${f#*.})" \
			"$(cat "$f")" "1
1"
	done
	case $PARTS in
	endure) check_endured ;;
	kinds)
		check_kinds
		check_log log.kinds ;;
	*)
		check_records
		check_stacks
		check_counts
		check_waits
		check_unwinding
		check_kinds
		check_safety ;;
	esac
	rm -f -- *.tally
done
t_done
