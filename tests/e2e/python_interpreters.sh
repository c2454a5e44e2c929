#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of threads that run a subinterpreter of Python (python_interpreters.py): the
# inner ones below those that called it. TALLY_PYTHONS: further interpreters to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

# Stacks by thread, and those that are not as they must be.
judge() { # FILE
	"$TALLY" export --format=folded -i "$1" -o - | awk '
	{ sub(/ [0-9]+$/, ""); n = split($0, f, ";"); chain = ""; inside = 0
	  for (i = 2; i <= n; i++)
		if (f[i] ~ /^(caller|<module> \(<string>\)|between|in_sub|outside)$/)
			chain = chain " " f[i]
	  if (chain ~ /in_sub|between/ && chain != " caller <module> (<string>) between" &&
	      chain !~ /^ caller <module> \(<string>\) (between )?in_sub$/)
		wrong = wrong f[1] ":" chain ";"
	  if (chain ~ / outside/ && chain != " outside")
		wrong = wrong f[1] ":" chain ";"
	  if (chain ~ /in_sub$/)
		seen[f[1] ~ /^python/ ? "main" : f[1]] = 1 }
	END { printf "seen:%s%s%s\nwrong: %s\n", "main" in seen ? " main" : "",
		"other" in seen ? " other" : "", "own" in seen ? " own" : "",
		wrong ? wrong : "none" }'
}
check() { # HOW SEEN OPTION…
	how=$1 seen=$2
	shift 2
	"$TALLY" record -q -g "$@" -o i.tally "$python" \
		"$top_srcdir/tests/e2e/python_interpreters.py" 0.2
	t_ok "$how: records" $?
	got=$(judge i.tally)
	t_like "$how: seen in each thread" "$got" "^seen: $seen\$"
	t_like "$how: inner frames below their callers" "$got" '^wrong: none$'
}
# 3.8 and 3.9 keep no record of what their loop runs.
pythons=$(t_pythons 3.10 3.16 'try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters')
for python in $pythons; do
	check "$python" 'main other own' --source=timer
	if t_has ptrace; then
		# Up to 3.12 a state has the number of the thread that made it.
		check "$python by ptrace" 'main (other )?own' --source=ptrace
	fi
done
[ "$pythons" ] || t_skip "subinterpreters" "no interpreter that has them"
t_done
