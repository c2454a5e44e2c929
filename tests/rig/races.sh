# SPDX-License-Identifier: GPL-2.0-or-later
# What inside-races.sh must have left; sourced by run.

# Events that were counted in a nanosecond of the program's own time.
speed() { # FILE EVENT
	dumped "$1" | awk -v e="event=$2" '
		/^run / && match($0, /user_ns=[0-9]+/) {
			user = substr($0, RSTART + 8, RLENGTH - 8) }
		/^stat / && index($0, e) && match($0, / value=[0-9]+/) {
			v = substr($0, RSTART + 7, RLENGTH - 7) }
		END { printf "%.3f\n", user ? v / user : -1 }'
}

# Time that the host takes from this machine counts for whoever was running:
# shares are rough here.
check_races() {
	t_like "$w: the kernel itself sees the counters" "$(cat boot)" "$driver"
	near "$w: the right shares" "$(share user.tally cost_50)" 50 12
	near "$w: … at a rate" "$(share rate.tally cost_25)" 25 10
	near "$w: a cycle a nanosecond" "$(speed user.tally 0)" 1 0.15
	near "$w: … two events at once" "$(speed two.tally 0)" 1 0.15
	near "$w: … an instruction every second one" \
		"$(speed two.tally 1)" 0.5 0.08
	bridges='cpu=0,event=0 cpu=0,event=1 cpu=1,event=1 '
	[ $siblings = 0-1 ] ||
		bridges='cpu=0,event=0 cpu=0,event=1 cpu=1,event=0 cpu=1,event=1 '
	[ $cpu != k8 ] || t_is "$w: events of a northbridge on one core of it" \
		"$(cat siblings) $(dumped bridge.tally | sed -n \
		's/^sample.* \(cpu=.\) \(event=.\).*/\1,\2/p' | sort -u |
		tr '\n' ' ')" "$siblings $bridges"
	check_unwound unwound.tally 'counters' 30
	[ $cpu != k8 ] || check_unwound own-unwound.tally \
		"the kernel's own events" 30
	check_known_waits "$w: while counters overflow" waits 15
	check_full
	t_like "$w: the ceiling holds" "$(cat fast)" 'throttled'
	t_is "$w: started and stopped" "$(cat cycles)" 30
	[ ! -s registers ] || t_is "$w: killed recorders leave counters off" \
		"$(cat registers)" "$(cat registers.before)"
	t_ok "$w: a processor went and came" "$([ "$(dumped plugged.tally |
		grep -c '^sample .* cpu=1 ')" -gt 100 ]; echo $?)"
	for f in came tree; do
		t_ok "$w: what starts on a processor that came has a name ($f)" \
			"$([ "$(samples $f.tally --comm known_cost -C 1 \
			--image known_cost)" -gt 100 ]; echo $?)"
		near "$w: … and functions" "$(share $f.tally cost_50)" 50 12
	done
	t_like "$w: perf counts afterwards" "$(cat perf)" '[0-9] +cycles'
	grep -v '^at ' walk | sed 's/^/# /'
	t_like "$w: two recordings, perf, sleep and processors in any order" \
		"$(cat walk)" "^$STEPS steps: [1-9][0-9]* started"
	check_log
}
