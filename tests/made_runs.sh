# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Made-up recordings of runs for tests of what compares them.  To be sourced, with
# $make set to tests/check/make_recording.

# Describes runs of seven functions with some noise, one for each line FILE SEED START
# of its input; lines of awk in SCRIPT change n[FUNCTION] (samples) and set `extra`,
# lines to add.
describe() { # [SCRIPT]
	awk '
	function rnd() {
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}
	function noise(x,	i, s) {
		for (i = 0; i < 12; i++)
			s += rnd()
		return int(x + (s - 6) * (sqrt(x) * 0.7 + x * 0.005) + 0.5)
	}
	{
		seed = $2
		start = $3
		delete n
		extra = ""
		split("parse lex emit hash copy sort look", f, " ")
		split("2500 1250 750 400 250 150 100", c, " ")
		for (i = 1; i <= 7; i++)
			n[f[i]] = c[i]
		image = "/usr/bin/app"
		event = "cpu-clock 4999 200040 ns"
		cpu = "Fast"; status = 0; written = ""
		for (i = 1; i <= 20; i++)
			rnd()
		'"${1-}"'
		print "file " $1
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
	}'
}

# record FILE SEED START [SCRIPT]; leaves its description as `spec`.
record() {
	echo "$1 $2 $3" | describe "${4-}" | sed 1d >spec && "$make" "$1" <spec
}

# side NAME FIRST COUNT [SCRIPT]: NAME-1.tally …
side() {
	for i in $(seq 1 "$3"); do
		echo "$1-$i.tally $(($2 * 7919 + i * 104729))" \
			"$((1700000000 + i * 10 + $2))000000000"
	done | describe "${4-}" >spec && "$make" <spec || exit 1
}
