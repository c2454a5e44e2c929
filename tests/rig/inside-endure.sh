# SPDX-License-Identifier: GPL-2.0-or-later
# In the machine of two processors that run at once: the counters misused for as long as
# wanted; leaves a file for each part.  TORTURE, TALLY, PMU, STEPS, CALLS and LOADS are
# set by run.
uname -r >release
locks() { sed -n 's/^ *debug_locks: *//p' /proc/lockdep_stats; }
[ ! -e /proc/lockdep_stats ] || locks >locks
echo 0 >/proc/sys/kernel/nmi_watchdog
insmod ./tally.ko || exit 1
# As in inside-races.sh: the kernel must not change its code all the time.
perf stat -e dummy -- sleep 30000 >/dev/null 2>&1 & keys=$!
"$TORTURE" cycles 20 >cycles
"$TORTURE" memory before >memory
[ $STEPS = 0 ] || "$TORTURE" walk $STEPS $SEED "$PMU" >walk
"$TORTURE" memory walk >>memory
[ $CALLS = 0 ] || "$TORTURE" hostile $CALLS $SEED >hostile
"$TORTURE" memory hostile >>memory
rmmod tally; echo "$?" >unload
[ $LOADS = 0 ] || "$TORTURE" reload $LOADS $SEED ./tally.ko "$TALLY" >reload
"$TORTURE" memory reload >>memory
kill $keys
# The second scan reports what the first one has found; kmemleak that is off refuses.
scan() { sleep 6; echo scan >/sys/kernel/debug/kmemleak; }
if mount -t debugfs debug /sys/kernel/debug && [ -e /sys/kernel/debug/kmemleak ]; then
	{ scan && scan && cat /sys/kernel/debug/kmemleak || echo "kmemleak is off"; } >leaks
fi
[ ! -e /proc/lockdep_stats ] || locks >>locks
grep NMI: /proc/interrupts >nmis
dmesg >log
