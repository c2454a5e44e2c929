# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by shell tests: TAP output, a scratch folder that goes away.
#
#	t_run NAME CMD…		passes when CMD succeeds; its output is shown if not
#	t_ok NAME STATUS	passes when STATUS is 0
#	t_is NAME GOT WANT	passes when both are equal
#	t_like NAME TEXT ERE	passes when TEXT matches
#	t_skip NAME REASON
#	t_until CMD…		waits until CMD succeeds; fails after a minute
#	t_settings		waits for tests that change the machine's settings
#	t_cleanup CMD…		runs the words as shell text at the end, however
#				the test ends, last first
#	t_done			prints the plan; last line of every test
#
# A test that sets T_ALONE=1 before runs beside no other such test, also under
# make -j: those that record judge shares of time.
if [ "${T_ALONE-}" = 1 ] && command -v flock >/dev/null; then
	T_ALONE=held
	export T_ALONE
	exec flock -o "${top_builddir:-.}/tests/alone.lock" sh "$0" "$@"
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
t_is() {
	if [ "$2" = "$3" ]; then t_result 0 "$1"; else
		printf '%s\n' "got:  $2" "want: $3" | sed 's/^/# /'
		t_result 1 "$1"
	fi
}
t_like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then t_result 0 "$1"; else
		printf '%s\n' "$2" | tail -n 40 | sed 's/^/# got: /'
		echo "# want: $3"
		t_result 1 "$1"
	fi
}
t_skip() {
	T_COUNT=$((T_COUNT + 1))
	echo "ok $T_COUNT - $1 # SKIP $2"
}
t_until() {
	t_tries=600
	until "$@" 2>/dev/null; do
		t_tries=$((t_tries - 1))
		[ $t_tries -gt 0 ] || return 1
		sleep 0.1
	done
}
t_cleanup() { T_CLEANUP="$*; $T_CLEANUP"; }
# From here on no other test changes settings of the machine (with descriptor 9).
t_settings() {
	if command -v flock >/dev/null &&
		[ -r /proc/sys/kernel/perf_event_paranoid ]; then
		exec 9</proc/sys/kernel/perf_event_paranoid
		flock -w 600 9
	fi
}
t_done() { echo "1..$T_COUNT"; }
