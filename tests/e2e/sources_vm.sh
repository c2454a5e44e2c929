#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An unprivileged user on Debian's own kernels, in virtual machines: with
# kernel.perf_event_paranoid at 3 and every kernel.yama.ptrace_scope. TALLY_VM_MODULES
# is a folder made by scripts/vm/get-module-kernels.
srcdir=${srcdir:-.}
. "$srcdir/tests/lib.sh"
name='sources without rights in virtual machines'
skip() { t_skip_all "$name" "$1"; }
[ -n "${TALLY_VM_MODULES-}" ] ||
	skip "no TALLY_VM_MODULES: see scripts/vm/get-module-kernels"
for tool in qemu-system-x86_64 busybox setpriv gcc; do
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

cat >inside.sh <<END
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
		../static spin 2 2>static.\$scope.err
	echo \$? >static.\$scope.status
	nobody ../tally record -g -o program.\$scope.tally -- \
		../program spin 2 2>program.\$scope.err
	echo \$? >program.\$scope.status
	setpriv --reuid 64321 --regid 64321 --clear-groups \
		../program spin 60 &
	pid=\$!
	until grep -q '(program)' /proc/\$pid/stat; do sleep 0.1; done
	[ \$scope -ne 0 ] || sleep 2	# the others refuse to attach
	nobody ../tally record -g -o run.\$scope.tally -p \$pid \
		--duration 2 2>run.\$scope.err
	echo \$? >run.\$scope.status
	kill \$pid
done
echo 1 >\$yama 2>/dev/null
for f in *.tally; do
	../tally report --no-pager --percent-limit 0 \$f >\$f.text 2>&1
done
sync
END
# Of the samples that a slow machine had time for.  Most of an emulated program's time is
# that of its start.
share() {
	awk -v s=work_long '$NF == s { n += $1 } /\[not sampled\]$/ { missed += $1 }
		END { printf "%d\n", missed < 100 ? 100 * n / (100 - missed) : 0 }' "$1"
}
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; echo $?; }

for tree in "$TREES"/*; do
	[ -d "$tree/boot" ] || continue
	v=${tree##*/}
	mkdir -m 777 "$v"
	"$BOOT" -k "$tree" -w "$T_TMP" -t 1000 -- sh "$T_TMP/inside.sh" "$v" \
		>"$v.log" 2>&1
	t_is "$v: boots" $? 0
	[ -s "$v/doctor.status" ] || { sed 's/^/# /' "$v.log"; continue; }
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
done
t_done
