# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by shell tests: TAP output, a scratch folder that goes away.
#
#	t_run NAME CMD…		passes when CMD succeeds; its output is shown if not
#	t_ok NAME STATUS	passes when STATUS is 0
#	t_is NAME GOT WANT	passes when both are equal and not empty
#	t_like NAME TEXT ERE	passes when a line of TEXT matches
#	t_lacks NAME TEXT ERE	passes when TEXT is not empty and no line matches
#	t_none NAME TEXT	passes when TEXT is empty: a list of what is wrong
#	t_same NAME FILE FILE	passes when both are equal and not empty
#	t_near NAME GOT WANT TOLERANCE
#				passes when two positive numbers are that near
#	t_narrow NAME FILE N	passes when FILE has lines, none beyond N columns
#	t_skip NAME REASON
#	t_skip_all NAME REASON	ends the test, skipped
#	t_needs SOURCE		ends the test, skipped, where this source of samples
#				cannot record
#	t_driven NAME CMD…	counts the lines "ok WHAT" and "not ok WHAT" that CMD
#				prints; passes itself when CMD succeeds
#	t_terminal NAME		sets $python to one that can drive a terminal, or ends the
#				test, skipped
#	t_until CMD…		waits until CMD succeeds; fails after a minute
#	t_settings [-s]		waits for tests that change the machine's settings
#	t_long			succeeds with TALLY_TESTS=long: all combinations are wanted
#	t_sanitized		succeeds where tally has sanitizers
#	t_no_zydis		succeeds where annotated code, from standard input, says
#				that tally was built without Zydis
#	nm …			$NM: the nm that starts fast
#	t_cleanup CMD…		runs the words as shell text at the end, however
#				the test ends, last first
#	t_done			prints the plan; last line of every test
#
# No check may pass where what it checks is absent, because the recorder failed or
# a tool is missing.  Therefore only t_none takes an empty text: it is for the
# output of a program that looked at something and says so otherwise.
#
# A test that sets T_ALONE before judges shares of time: tests/lane keeps other such
# tests away meanwhile (T_ALONE=1), or all but one (T_ALONE=2), also under make -j.
if [ "${T_LANE-}" != held ]; then
	t_kind=beside
	case ${T_ALONE-} in 1) t_kind=alone;; 2) t_kind=pair;; esac
	exec sh "${top_srcdir:-$srcdir}/tests/lane" $t_kind sh "$0" "$@"
fi
T_COUNT=0
T_TMP=$(mktemp -d "${TMPDIR:-/tmp}/tally-test.XXXXXX") || exit 1
T_CLEANUP=:
# What a test mounted below its folder goes first: nothing in there is ours.
t_end() {
	trap '' HUP INT PIPE QUIT TERM
	eval "$T_CLEANUP"
	cd /
	awk -v d="$T_TMP/" 'index($5, d) == 1 { print $5 }' \
		/proc/self/mountinfo 2>/dev/null | sort -r |
	while read -r t_mount; do umount -l "$t_mount"; done
	rm -rf --one-file-system "$T_TMP"
}
trap t_end EXIT
trap 'exit 1' HUP INT PIPE QUIT TERM

t_long() { [ "${TALLY_TESTS-}" = long ]; }
# Plain nm loads all of LLVM where that has left a plugin for it.
NM=$(command -v gcc-nm || echo nm)
export NM
nm() { "$NM" "$@"; }
t_no_zydis() { tr -s '# \n' ' ' | grep -q 'without Zydis'; }
t_sanitized() { nm "$TALLY" 2>/dev/null | grep -q __asan_init; }

t_result() { # STATUS NAME
	T_COUNT=$((T_COUNT + 1))
	if [ "$1" -eq 0 ]; then echo "ok $T_COUNT - $2"; else
		echo "not ok $T_COUNT - $2"; fi
}
t_ok() { t_result "$2" "$1"; }
t_run() {
	t_name=$1; shift
	if "$@" >"$T_TMP/.run" 2>&1; then t_result 0 "$t_name"; else
		t_status=$?
		sed 's/^/# /' "$T_TMP/.run" | tail -n 40
		echo "# exit status $t_status"
		t_result 1 "$t_name"
	fi
}
# Fails, and says why.
t_fail() { # NAME REASON
	printf '%s\n' "$2" | tail -n 40 | sed 's/^/# /'
	t_result 1 "$1"
}
t_is() {
	if [ -z "$3" ]; then t_fail "$1" "nothing to compare with; got: $2"
	elif [ "$2" = "$3" ]; then t_result 0 "$1"
	else t_fail "$1" "got:  $2
want: $3"; fi
}
t_like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then t_result 0 "$1"; else
		printf '%s\n' "$2" | tail -n 40 | sed 's/^/# got: /'
		t_fail "$1" "want: $3"
	fi
}
t_lacks() {
	t_hits=$(printf '%s\n' "$2" | grep -E -e "$3")
	t_status=$?
	if [ -z "$2" ]; then t_fail "$1" "nothing to look into"
	elif [ $t_status -eq 1 ]; then t_result 0 "$1"
	else t_fail "$1" "unwanted: $3
$t_hits"; fi
}
t_none() {
	if [ -z "$2" ]; then t_result 0 "$1"; else t_fail "$1" "$2"; fi
}
t_same() {
	if ! [ -s "$2" ] || ! [ -s "$3" ]; then
		t_fail "$1" "nothing to compare: $(wc -c "$2" "$3" 2>&1)"
	elif cmp "$2" "$3" >"$T_TMP/.run" 2>&1; then t_result 0 "$1"
	else t_fail "$1" "$(cat "$T_TMP/.run"; diff "$2" "$3" | head -n 20)"; fi
}
t_near() {
	if awk -v g="$2" -v w="$3" -v t="$4" 'BEGIN { g += 0; w += 0
		exit !(g > 0 && w > 0 && g >= w - t && g <= w + t) }'
	then t_result 0 "$1"; else
		t_fail "$1" "got $2, want $3 ± $4"
	fi
}
# One byte of each character is left to count.
t_narrow() {
	if ! [ -s "$2" ]; then t_fail "$1" "$2 is empty"; else
		t_none "$1" "$(LC_ALL=C tr -d '\200-\277' <"$2" |
			LC_ALL=C awk -v n="$3" 'length($0) > n')"
	fi
}
t_skip() {
	T_COUNT=$((T_COUNT + 1))
	echo "ok $T_COUNT - $1 # SKIP $2"
}
t_skip_all() { t_skip "$@"; t_done; exit 0; }
t_driven() {
	t_name=$1
	shift
	"$@" >"$T_TMP/.driven" 2>"$T_TMP/.driven.err"
	t_status=$?
	sed 's/^/# /' "$T_TMP/.driven.err" | tail -n 30
	while IFS= read -r t_line; do
		case $t_line in
		"ok "*) t_ok "${t_line#ok }" 0;;
		"not ok "*) t_ok "${t_line#not ok }" 1;;
		*) echo "# $t_line";;
		esac
	done <"$T_TMP/.driven"
	t_ok "$t_name" $t_status
}
t_terminal() { # NAME
	python=
	for t_python in /usr/bin/python3 python3; do
		"$t_python" -c 'import pyte' 2>/dev/null && python=$t_python && break
	done
	[ -n "$python" ] ||
		t_skip_all "$1" "no python3 with pyte (Debian: python3-pyte)"
	command -v ps >/dev/null ||
		t_skip_all "$1" "there is no ps (Debian: procps)"
	"$python" -c 'import pty, os; os.close(pty.openpty()[0])' 2>/dev/null ||
		t_skip_all "$1" "no pseudo terminals here"
}
# Prints an interpreter of each version of CPython from LOW on and below HIGH that is
# here and that runs CODE.  TALLY_PYTHONS may name others than the user's.
t_pythons() { # LOW HIGH [CODE]
	t_versions=
	for t_python in /usr/bin/python3 python3 ${TALLY_PYTHONS-$(
		ls -d "$HOME"/.pyenv/versions/3.*/bin/python3 \
			/usr/bin/python3.[0-9]* 2>/dev/null)}; do
		t_python=$(command -v "$t_python") || continue
		t_version=$("$t_python" -c "${3-}
import sys, sysconfig
low, high = (tuple(map(int, a.split('.'))) for a in sys.argv[1:])
sys.exit(not (low <= sys.version_info[:2] < high and
	      sys.implementation.name == 'cpython' and
	      not sysconfig.get_config_var('Py_GIL_DISABLED')) or
	 print('%d.%d' % sys.version_info[:2]))" "$1" "$2" 2>/dev/null) || continue
		case "$t_versions " in
		*" $t_version "*) continue;;
		esac
		t_versions="$t_versions $t_version"
		echo "$t_python"
	done
}
t_has() { # SOURCE
	"$TALLY" record --source="$1" -q -o "$T_TMP/probe.tally" -- true \
		2>"$T_TMP/probe.err"
}
t_needs() {
	t_has "$1" && return
	t_skip_all "recording by $1" "$(head -n 1 "$T_TMP/probe.err")"
}
t_until() {
	t_tries=600
	until "$@" 2>/dev/null; do
		t_tries=$((t_tries - 1))
		[ $t_tries -gt 0 ] || return 1
		sleep 0.1
	done
}
# BPF programs report switches and wakeups of root; without the right to load them, records
# of perf events do.  Sets bpf to why programs are not possible, or to nothing, and no_bpf to
# what runs a command without that right.
t_bpf() {
	no_bpf=
	bpf='not as this user'
	[ "$(id -u)" -eq 0 ] || return 0
	no_bpf='setpriv --bounding-set=-bpf,-sys_admin'
	bpf=
	# CAP_PERFMON and CAP_BPF
	[ $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 38 & 3)) -eq 3 ] ||
		bpf='CAP_BPF or CAP_PERFMON is missing'
	[ -e /sys/kernel/btf/vmlinux ] || bpf='the kernel has no type information'
}

t_cleanup() { T_CLEANUP="$*; $T_CLEANUP"; }
# From here on no other test changes settings of the machine (with descriptor 9).
# -s: this test does not change them either.
t_settings() { # [-s]
	if command -v flock >/dev/null &&
		[ -r /proc/sys/kernel/perf_event_paranoid ]; then
		exec 9</proc/sys/kernel/perf_event_paranoid
		flock -n ${1--x} 9 && return
		echo "# waits for a test that changes the machine's settings"
		flock -w 600 ${1--x} 9 || echo "# it did not end; going on"
	fi
}
t_done() { echo "1..$T_COUNT"; }
