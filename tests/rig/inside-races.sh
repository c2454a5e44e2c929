# SPDX-License-Identifier: GPL-2.0-or-later
# In the machine of two processors that run at once; leaves a file for each part.
# TALLY, COST and SPIN are set by run.
dmesg >boot
uname -r >release
echo 0 >/proc/sys/kernel/nmi_watchdog
insmod ./tally.ko || exit 1
[ ! -s msr.ko ] || insmod ./msr.ko
selects='0xc0010000 0xc0010001 0xc0010002 0xc0010003'
grep -q AMD /proc/cpuinfo || selects='0x186 0x187'
record() { "$TALLY" record --source=kmod "$@"; }
registers() { # what the event selects of all processors hold
	for r in $selects; do
		for c in 0 1; do
			dd if=/dev/cpu/$c/msr bs=8 count=1 skip=$((r)) \
				iflag=skip_bytes 2>/dev/null | od -An -tx8
		done
	done
}
# Keeps the kernel from changing its code all the time (static keys of perf): a
# processor of QEMU may go on with what was overwritten, and dies at "int3".
perf stat -e dummy -- sleep 3000 >/dev/null 2>&1 & keys=$!
# The kernel's P6 driver leaves a processor's first register enabled, once perf was there.
grep -q AMD /proc/cpuinfo || for c in 0 1; do
	taskset -c $c perf stat -e cycles -- true >/dev/null 2>&1
done
[ ! -e /dev/cpu/0/msr ] || registers >registers.before
record -q -c 1000000 -e cycles:u -o user.tally -- "$COST" 3
record -q -F 999 --call-graph=fp -e cycles -o rate.tally -- "$COST" 3
record -q -c 1000000 -e cycles:u,instructions:u -o two.tally -- "$COST" 3
# Two cores of a K8 share one northbridge.
if grep -q AMD /proc/cpuinfo; then
	cat /sys/devices/system/cpu/cpu0/topology/core_siblings_list >siblings
	record -q -c 1000000 -a -o bridge.tally -e \
		k8-nb-memory-controller-page-access-event,cycles -- "$COST" 2
fi
# Stacks unwound within NMIs on both processors, beside tally's own of the same.
"$COST" 30 2 & load=$!
record -g --verify-stacks -F 999 -a -e cycles -o unwound.tally -- "$COST" 5
kill $load; wait $load
# Waits of both processors, while counters overflow.
record -q --wait -g -F 5000 -a -e cycles -o waits.tally -- ./known_waits >waits
"$TORTURE" waits >full; echo "$?" >>full
# As fast as it goes: the ceiling holds, and the machine lives.
record -c 2000 -a -o fast.tally -- "$COST" 2 2>fast
i=0
while [ $i -lt 30 ]; do
	record -q -c 100000 -a -o many.tally -- true && i=$((i + 1)) || break
done
echo $i >cycles
"$COST" 120 2 & load=$!
i=0
while [ $i -lt 10 ]; do
	"$TALLY" record -q --source=kmod -c 50000 -a -o killed.tally & pid=$!
	sleep 1.$i; kill -9 $pid; wait $pid
	i=$((i + 1))
done
sleep 0.2
[ ! -e /dev/cpu/0/msr ] || registers >registers
# (The recorder itself gets the signals, not a shell that waits for it.)
# Processors go and come while they are sampled.
cpu=/sys/devices/system/cpu/cpu1/online
"$TALLY" record -q --source=kmod -c 500000 -a -o plugged.tally & pid=$!
for i in 1 2 3 4 5; do
	sleep 1; echo 0 >$cpu; sleep 1; echo 1 >$cpu
done
sleep 2; kill -INT $pid; wait $pid
kill $load; wait $load
# One that comes after the start, and a program that starts there.
echo 0 >$cpu
"$TALLY" record -q --source=kmod -c 1000000 -e cycles:u -a -o came.tally & pid=$!
sleep 2; echo 1 >$cpu; sleep 2
taskset -c 1 "$COST" 2
kill -INT $pid; wait $pid
echo 0 >$cpu
(sleep 1; echo 1 >$cpu) & later=$!
record -q -c 1000000 -e cycles:u -o tree.tally -- \
	sh -c 'sleep 3; taskset -c 1 "$1" 2; :' sh "$COST"
wait $later
# The kernel's own driver leaves events in the registers, disabled.
if grep -q AMD /proc/cpuinfo; then
	record -g --verify-stacks -F 999 -a -e cpu-clock,cycles \
		-o own-unwound.tally -- "$COST" 8
fi
perf stat -e cycles -- true >perf 2>&1
"$TORTURE" walk $STEPS $SEED "$PMU" >walk
kill $keys
rmmod tally; echo "$?" >unload
dmesg >log
