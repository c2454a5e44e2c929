# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Made-up recordings of runs for tests of what compares them.  To be sourced, with
# $make set to tests/check/make_recording.

# record FILE SEED START [SCRIPT]: a run of seven functions with some noise; lines
# of awk in SCRIPT change n[FUNCTION] (samples) and add lines with put().
record() {
	awk -v seed="$2" -v start="$3" '
	function rnd() {
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}
	function noise(x,	i, s) {
		for (i = 0; i < 12; i++)
			s += rnd()
		return int(x + (s - 6) * (sqrt(x) * 0.7 + x * 0.005) + 0.5)
	}
	BEGIN {
		split("parse lex emit hash copy sort look", f, " ")
		split("2500 1250 750 400 250 150 100", c, " ")
		for (i = 1; i <= 7; i++)
			n[f[i]] = c[i]
		image = "/usr/bin/app"
		event = "cpu-clock 4999 200040 ns"
		cpu = "Fast"; status = 0; written = ""
		for (i = 1; i <= 20; i++)
			rnd()
		'"${4-}"'
		print "env cpu " cpu
		print "env kernel 6.1"
		print "event " event
		print "run " start " " status " " written
		for (i = 1; i <= 7; i++) {
			k = noise(n[f[i]])
			print "hit " int(k / 2), image, f[i],
			      "/src/" f[i] ".c 10 main"
			print "hit " k - int(k / 2), image, f[i],
			      "/src/" f[i] ".c 12 main"
		}
		print extra
	}' </dev/null >spec && "$make" "$1" <spec
}

# side NAME FIRST COUNT [SCRIPT]: NAME-1.tally …
side() {
	for i in $(seq 1 "$3"); do
		record "$1-$i.tally" $(($2 * 7919 + i * 104729)) \
			"$((1700000000 + i * 10 + $2))000000000" "${4-}" ||
			exit 1
	done
}
