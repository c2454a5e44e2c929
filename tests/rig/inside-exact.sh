# SPDX-License-Identifier: GPL-2.0-or-later
# In the machine of one processor whose clock are its instructions; leaves a file
# for each part.  TALLY, EXAMPLE and TORTURE are set by run; ./exact and ./ratio are
# tests/rig/four_to_one.c.
if grep -q AMD /proc/cpuinfo; then
	instructions=k8-fr-retired-x86-instructions cycles=k8-bu-cpu-clk-unhalted
	own=instructions:u	# what perf calls the first
	four=k8:0x40:0x00,usr,os,k8:0x41:0x00,usr,os,k8:0x45:0x00,usr,os
	four=$four,k8:0x46:0x00,usr,os
	metric=k8-cpi cpu=k8 selects='0xc0010000 0xc0010001 0xc0010002 0xc0010003'
else
	instructions=INST_RETIRED cycles=CPU_CLK_UNHALTED own=instructions:u
	four=p6:0x43:0x00,usr,os,p6:0x80:0x00,usr,os
	metric=p6-cpi cpu=p6 selects='0x186 0x187'
fi
dmesg >boot
uname -r >release
echo 0 >/proc/sys/kernel/nmi_watchdog
insmod ./tally.ko || exit 1
[ ! -s msr.ko ] || insmod ./msr.ko
"$TALLY" doctor --no-pager >doctor
record() { "$TALLY" record -q --source=kmod "$@"; }
registers() { # what the event selects hold
	for r in $selects; do
		dd if=/dev/cpu/0/msr bs=8 count=1 skip=$((r)) iflag=skip_bytes \
			2>/dev/null | od -An -tx8
	done
}

[ ! -e /dev/cpu/0/msr ] || registers >registers.before
record -c 100000 -e "$instructions,usr" -o exact.tally -- ./exact 200
record -c 100000 -e "$instructions,usr,$instructions,os" -a -o modes.tally -- \
	sh -c './ratio 60; dd if=/dev/zero of=/dev/null bs=64k count=6000' \
	2>/dev/null
record -F 999 --call-graph=fp -e cycles -o rate.tally -- ./ratio 200
record -c 400000 -a -e "$four" -o four.tally -- ./ratio 200
# Stacks are copied within the NMI.
record -F 999 -g -e cycles -o stacks.tally -- ./ratio 100
"$TALLY" record --source=kmod --call-graph=dwarf,8192 -c 2000 -e cycles -a \
	-o fast-stacks.tally -- ./ratio 50 2>>fast-stacks
# Stacks that the module unwinds there, beside tally's own of the same.
record -F 999 -g --verify-stacks -e cycles -o unwound.tally -- ./ratio 300
# As fast as it goes: the ceiling holds, and the machine lives.
"$TALLY" record --source=kmod -c 2000 -e cycles:u -o fast.tally -- ./ratio 50 \
	2>fast
record -c 200000 -e cycles:u -o slow.tally -- ./ratio 50
record -c 50 -e cycles -o none.tally -- ./ratio 1 2>least; echo "$?" >>least
[ ! -e /dev/cpu/0/msr ] || registers >registers
"$TORTURE" cost $cpu >cost
"$TORTURE" cost $cpu alone >>cost

# The counters as the kernel's own events, because one of its software events is
# beside them.  Its P6 driver loses track of NMIs.
[ $cpu = k8 ] || echo 'rig: others begin' >/dev/kmsg
record -c 100000 -e "page-faults,$instructions,usr" -o own.tally -- ./ratio 200
record -F 999 -g --verify-stacks -e page-faults,cycles -o own-unwound.tally -- \
	./ratio 300
record -c 100000 -e "page-faults,$instructions,pc" -o none.tally -- ./ratio 1 \
	2>own-pc
[ $cpu = k8 ] || echo 'rig: others end' >/dev/kmsg

# The same events by perf.
"$TALLY" record -q --source=perf -c 100000 -e "$instructions,usr" \
	-o perf.tally -- ./ratio 200
# At this rate, the kernel's own driver loses interrupts without reporting them.
echo 'rig: others begin' >/dev/kmsg
"$TALLY" record --source=perf -c 1000 -e cycles -o perf-fast.tally -- \
	./ratio 50 2>perf-fast
echo 'rig: others end' >/dev/kmsg
"$TALLY" record --source=perf -o default.tally -- ./ratio 20 2>default
"$TALLY" record --source=perf -e cycles:pp -o precise.tally -- ./ratio 20 \
	2>precise
"$TALLY" stat --format=csv -e "$instructions,usr,$cycles,usr" -o stat.csv -- \
	./ratio 100
"$TALLY" stat --format=csv -e "$instructions,os" -e "$instructions,usr,os" \
	-o modes.csv -- ./ratio 100
"$TALLY" stat --format=json --metrics $metric -o metric.json -- ./ratio 100
perf stat -x , -e $own -o perf.csv -- ./ratio 100

# A program that counts itself, where RDPMC is allowed, where it is not, and
# where it is forbidden after the program has looked.
rdpmc=/sys/devices/cpu/rdpmc
"$EXAMPLE" >rdpmc.1
echo 0 >$rdpmc; "$EXAMPLE" >rdpmc.0
echo 1 >$rdpmc; ./forbidden >rdpmc.fault
echo 1 >$rdpmc

# Waits, while counters overflow in what records them.
record --wait -g -c 50000 -a -e "$instructions,usr,os" -o waits.tally -- \
	./known_waits >waits
"$TORTURE" waits >full; echo "$?" >>full

# Somebody else has the counters.
perf stat -e cycles -a -- sh -c \
	'>held; until [ -e enough ]; do sleep 0.1; done' >/dev/null 2>&1 &
until [ -e held ]; do sleep 0.1; done
record -e cycles -o busy.tally -- touch started 2>busy; echo "$?" >>busy
>enough; wait
echo 1 >/proc/sys/kernel/nmi_watchdog
record -e cycles -o busy.tally -- touch started 2>watched; echo "$?" >>watched
cat /proc/sys/kernel/nmi_watchdog >>watched
echo 0 >/proc/sys/kernel/nmi_watchdog
record -c 100000 -e "$instructions,usr" -o last.tally -- ./ratio 20
rmmod tally; echo "$?" >unload
dmesg >log
