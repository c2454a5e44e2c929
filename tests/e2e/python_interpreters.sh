#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of threads that run a subinterpreter of Python (python_interpreters.py): the
# inner ones below those that called it. TALLY_PYTHONS: further interpreters to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer

known() { # INTERPRETER: 3.8 and 3.9 keep no record of what their loop runs
	"$1" -c 'import sys, sysconfig
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters
sys.exit(not ((3, 10) <= sys.version_info < (3, 16) and
	 sys.implementation.name == "cpython" and
	 not sysconfig.get_config_var("Py_GIL_DISABLED")))' 2>/dev/null
}
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
tried=
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
for python in /usr/bin/python3 python3 ${TALLY_PYTHONS-$(
	ls -d "$HOME"/.pyenv/versions/3.*/bin/python3 2>/dev/null)}; do
	python=$(command -v "$python") && known "$python" || continue
	version=$("$python" -c 'import sys
print("%d.%d" % sys.version_info[:2])')
	case "$tried " in
	*" $version "*) continue;;
	esac
	tried="$tried $version"
	check "$python" 'main other own' --source=timer
	if t_has ptrace; then
		# Up to 3.12 a state has the number of the thread that made it.
		check "$python by ptrace" 'main (other )?own' --source=ptrace
	fi
done
[ "$tried" ] || t_skip "subinterpreters" "no interpreter that has them"
t_done
