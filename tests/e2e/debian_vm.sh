#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's own kernels, each in a virtual machine.  An unprivileged user, with
# kernel.perf_event_paranoid at 3 and every kernel.yama.ptrace_scope; then root, who
# records continuously: processors that go offline and return, frozen processes, and
# steps of the clock.  TALLY_VM_MODULES is a folder made by scripts/vm/get-module-kernels.
# scripts/vm/systemd-check tries the systemd unit.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
name="Debian's kernels in virtual machines"
skip() { t_skip_all "$name" "$1"; }
[ -n "${TALLY_VM_MODULES-}" ] ||
	skip "no TALLY_VM_MODULES: see scripts/vm/get-module-kernels"
for tool in qemu-system-x86_64 busybox setpriv gcc python3 perl; do
	command -v $tool >/dev/null || skip "no $tool here"
done
TREES=$(cd "$TALLY_VM_MODULES" && pwd -P) || skip "no $TALLY_VM_MODULES"
BOOT=$(cd "$srcdir" && pwd -P)/scripts/vm/boot
PROGRAM=$(cd "$srcdir" && pwd -P)/tests/e2e/ptrace_program.c
TALLY=$(cd "${top_builddir:-.}" && pwd -P)/src/tally
cd "$T_TMP" || exit 1
chmod 777 .
gcc -O1 -g -D_GNU_SOURCE -o program "$PROGRAM" -lpthread || exit 1
gcc -static -O1 -g -D_GNU_SOURCE -o static "$PROGRAM" -lpthread || exit 1
cp "$TALLY" tally

cat >sources.sh <<END
cd "$T_TMP/\$1"
nobody() { setpriv --reuid 64321 --regid 64321 --clear-groups "\$@"; }
yama=/proc/sys/kernel/yama/ptrace_scope
level=/proc/sys/kernel/perf_event_paranoid
uname -r >release
cat \$yama >yama
echo 3 >\$level
cat \$level >level
echo 1 >\$yama
nobody ../tally doctor --no-pager >doctor
echo \$? >doctor.status
for scope in 0 1 2 3; do
	echo \$scope >\$yama
	nobody ../tally record -g -o static.\$scope.tally -- \
		../static spin 1 2>static.\$scope.err
	echo \$? >static.\$scope.status
	nobody ../tally record -g -o program.\$scope.tally -- \
		../program spin 1 2>program.\$scope.err
	echo \$? >program.\$scope.status
	setpriv --reuid 64321 --regid 64321 --clear-groups \
		../program spin 60 &
	pid=\$!
	until grep -q '(program)' /proc/\$pid/stat; do sleep 0.1; done
	[ \$scope -ne 0 ] || sleep 1	# the others refuse to attach
	nobody ../tally record -g -o run.\$scope.tally -p \$pid \
		--duration 1 2>run.\$scope.err
	echo \$? >run.\$scope.status
	kill \$pid
done
echo 1 >\$yama 2>/dev/null
for f in *.tally; do
	../tally report --no-pager --percent-limit 0 \$f >\$f.text 2>&1
done
sync
END
# Uptimes go to files named after what had just happened.
cat >continuous.sh <<END
cd "$T_TMP/\$1"
tally=../tally
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

# Of the samples that a slow machine had time for.  Most of an emulated program's time is
# that of its start.
share() {
	awk -v s=work_long '$NF == s { n += $1 } /\[not sampled\]$/ { missed += $1 }
		END { printf "%d\n", missed < 100 ? 100 * n / (100 - missed) : 0 }' "$1"
}
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; echo $?; }

check_sources() {
	cd "$v" || exit 1
	t_is "$v: the level is 3" "$(cat level)" 3
	t_is "$v: the doctor finds a way" "$(cat doctor.status)" 0
	t_like "$v: says what perf needs" "$(cat doctor)" \
		'paranoid is 3 and CAP_'
	t_like "$v: and what Yama forbids" "$(cat doctor)" \
		'fix: .*sysctl kernel.yama.ptrace_scope=0'
	for scope in 0 1; do
		t_is "$v: scope $scope: a static program" \
			"$(cat static.$scope.status)" 0
		t_like "$v: by ptrace, and why" "$(cat static.$scope.err)" \
			'^tally: recording by ptrace instead: .*perf_event_paranoid'
		n=$(share static.$scope.tally.text)
		t_ok "$v: scope $scope: all is seen ($n%)" \
			"$(within "$n" 10 98)"
	done
	for scope in 0 1 2 3; do
		t_is "$v: scope $scope: a dynamic program" \
			"$(cat program.$scope.status)" 0
		t_ok "$v: scope $scope: is seen" "$(within \
			"$(share program.$scope.tally.text)" 10 99)"
	done
	t_is "$v: scope 0 lets attach" "$(cat run.0.status)" 0
	n=$(share run.0.tally.text)
	t_ok "$v: to see it ($n%)" "$(within "$n" 10 99)"
	t_is "$v: scope 1 does not" "$(cat run.1.status)" 1
	t_like "$v: and is named with the fix" "$(cat run.1.err)" \
		'ptrace_scope is 1, which allows only .*sudo sysctl kernel.yama.ptrace_scope=0'
	t_is "$v: scope 2 allows nothing" \
		"$(cat static.2.status run.2.status | tr '\n' ' ')" '1 1 '
	t_like "$v: and is named" "$(cat static.2.err)" \
		'ptrace_scope is 2 and CAP_SYS_PTRACE is missing .sudo sysctl kernel.yama.ptrace_scope=1'
	t_is "$v: nor scope 3" \
		"$(cat static.3.status run.3.status | tr '\n' ' ')" '1 1 '
	t_like "$v: until the next boot" "$(cat static.3.err)" \
		'ptrace_scope is 3, until the next boot'
	cd ..
}
check_continuous() {
	t_is "$v: the recording ends well" "$(cat "$v/end")" 0
	[ -s "$v/end" ] || return
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
}

for tree in "$TREES"/*; do
	[ -d "$tree/boot" ] || continue
	v=${tree##*/}
	mkdir -m 777 "$v"
	"$BOOT" -u -k "$tree" -w "$T_TMP" -t 1300 -- sh -c \
		'sh ./sources.sh "$1"; exec sh ./continuous.sh "$1"' sh "$v" >"$v.log" 2>&1
	t_is "$v: boots" $? 0
	if [ -s "$v/doctor.status" ]; then
		check_sources
	else
		sed 's/^/# /' "$v.log"
	fi
	check_continuous
done
t_done
