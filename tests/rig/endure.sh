# SPDX-License-Identifier: GPL-2.0-or-later
# What inside-endure.sh must have left; sourced by run.

check_endure() {
	sed 's/^/# /' memory nmis
	for f in walk hostile reload; do
		[ ! -s $f ] || sed "s/^/# $f: /" $f
	done
	[ $STEPS = 0 ] ||
		t_like "$w: two recordings, perf, sleep and processors in any order" \
			"$(cat walk)" "^$STEPS steps: [1-9][0-9]* started"
	[ $CALLS = 0 ] || t_like "$w: misused by three users" "$(cat hostile)" \
		"^$CALLS calls: 3 users"
	[ $LOADS = 0 ] || t_like \
		"$w: loaded, and unloaded when its user was killed" "$(cat reload)" \
		"^$LOADS rounds: $LOADS killed"
	[ ! -e leaks ] || t_none "$w: kmemleak finds nothing" "$(cat leaks)"
	[ ! -e locks ] || t_is "$w: lockdep is on, from start to end" "$(cat locks)" "1
1"
	check_log
}
