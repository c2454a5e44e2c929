#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Continuous recording in virtual machines, on Debian's own kernels: processors that go
# offline and return, frozen processes, and steps of the clock.  TALLY_VM_MODULES is a
# folder made by scripts/vm/get-module-kernels.  scripts/vm/systemd-check tries the
# systemd unit.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
name='continuous recording in virtual machines'
skip() { t_skip_all "$name" "$1"; }
[ -n "${TALLY_VM_MODULES-}" ] ||
	skip "no TALLY_VM_MODULES: see scripts/vm/get-module-kernels"
for tool in qemu-system-x86_64 busybox python3 perl; do
	command -v $tool >/dev/null || skip "no $tool here"
done
TREES=$(cd "$TALLY_VM_MODULES" && pwd -P) || skip "no $TALLY_VM_MODULES"
BOOT=$(cd "$srcdir" && pwd -P)/scripts/vm/boot
TALLY=$(cd "${top_builddir:-.}" && pwd -P)/src/tally
cd "$T_TMP" || exit 1

# Uptimes go to files named after what had just happened.
cat >inside.sh <<END
cd "$T_TMP/\$1"
tally=$TALLY
cpu1=/sys/devices/system/cpu/cpu1/online
up() { cut -d ' ' -f 1 /proc/uptime >\$1; }
samples() { grep -q '"state": *"recording"' rec/status.json; }
# Works on each processor for 10 ms, ten times a second: sched_setaffinity(2) is 203, and
# refuses processors that are offline.
perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'sub now { clock_gettime(CLOCK_MONOTONIC) }
for (;;) {
	for (1, 2) {
		syscall 203, 0, 8, \$mask = pack "Q", \$_ and next;
		for (\$end = now() + 0.01; now() < \$end;) { }
	}
	select undef, undef, undef, 0.08;
}' &
busy=\$!
\$tally record --continuous -a -F 49 -o rec --switch-output=1h --keep-age 1h \\
	--keep-free 1k >err 2>&1 &
pid=\$!
i=0
until samples || [ \$i -ge 60 ]; do i=\$((i + 1)); sleep 0.5; done
sleep 1
echo 0 >\$cpu1; echo 1 >\$cpu1
up returned
sleep 3
echo 0 >\$cpu1
up offline
sleep 3
up onlining
echo 1 >\$cpu1
up online
sleep 3
up freezing
echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state
echo \$? >frozen
up thawed
sleep 3
up ahead
date -s '+5 hours' >date
sleep 3
up back
date -s '-10 hours' >>date
sleep 4
\$tally status rec >status
kill -TERM \$pid
wait \$pid
echo \$? >end
kill \$busy	# it holds the console
END
cat >look.py <<'END'
import glob, json, os, re, subprocess, sys
tally, folder = sys.argv[1:]
def up(name):
    with open(os.path.join(folder, name)) as f:
        return float(f.read()) * 1e9
def has(cpu, a, b):
    return any(c == cpu and a < t < b for t, c in samples)
samples, runs = [], []
for name in glob.glob(folder + '/rec/record-?.tally.*'):
    def said(*a):
        return subprocess.run([tally, *a, name], check=True, text=True,
                              capture_output=True).stdout
    header = json.loads(said('info', '--format=json'))['header']
    own = [(int(t), int(c)) for t, c in re.findall(
        r'^sample time_ns=(\d+) .* cpu=(\d+) ', said('dump'), re.M)]
    runs.append((min(own)[0], header['start_wall_ns']))
    samples += own
runs.sort()
s = 10**9
print('files', len(runs))
print('hours', *(round((b[1] - a[1] - (b[0] - a[0])) / 3600 / s)
                 for a, b in zip(runs, runs[1:])))
# a round of the recorder takes a quarter of a second, emulated more
print('returned', *(has(c, up('returned') + s, up('offline')) for c in (0, 1)))
print('offline', *(has(c, up('offline') + s, up('onlining')) for c in (0, 1)))
print('online', *(has(c, up('online') + s, up('freezing')) for c in (0, 1)))
print('thawed', *(has(c, up('thawed') + s, up('ahead')) for c in (0, 1)))
print('ahead', *(has(c, up('ahead') + s, up('back')) for c in (0, 1)))
print('back', *(has(c, up('back') + s, 1e18) for c in (0, 1)))
END

for tree in "$TREES"/*; do
	[ -d "$tree/boot" ] || continue
	v=${tree##*/}
	mkdir "$v"
	"$BOOT" -k "$tree" -w "$T_TMP" -t 300 -- sh "$T_TMP/inside.sh" "$v" \
		>"$v.log" 2>&1
	t_is "$v: boots" $? 0
	[ -s "$v/end" ] || { sed 's/^/# /' "$v.log"; continue; }
	t_is "$v: the recording ends well" "$(cat "$v/end")" 0
	python3 look.py "$TALLY" "$v" >"$v/seen" 2>&1
	# WHAT WORDS EXPECTED
	seen() { t_is "$v: $2" "$(sed -n "s/^$1 //p" "$v/seen")" "$3"; }
	seen returned "a processor that is back at once is sampled" "True True"
	seen offline "one that is offline is not" "True False"
	seen online "once it is back it is" "True True"
	t_is "$v: processes are frozen" "$(cat "$v/frozen")" 0
	seen thawed "thawed ones are sampled" "True True"
	seen ahead "sampled after the clock was set ahead" "True True"
	seen back "sampled after it was set back" "True True"
	seen files "a file for each time; none is too old" 3
	seen hours "the files' times follow the clock" "5 -10"
	t_like "$v: the status knows the duration" "$(cat "$v/status")" \
		'^state +recording, for [0-9]+ (s|min [0-9]+ s)$'
	grep -q True "$v/seen" || sed 's/^/# /' "$v/seen"
done
t_done
