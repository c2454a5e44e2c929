#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames of Python: functions, files and lines against what the program itself says
# of them (python_scenes.py).  TALLY_PYTHONS: further interpreters to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer

e2e=$top_srcdir/tests/e2e
known() { # INTERPRETER: is it one whose frames are known?
	"$1" -c 'import sys, sysconfig
sys.exit(not ((3, 11) <= sys.version_info < (3, 16) and
	 sys.implementation.name == "cpython" and
	 not sysconfig.get_config_var("Py_GIL_DISABLED")))' 2>/dev/null
}
first=
for python in /usr/bin/python3 python3 ${TALLY_PYTHONS-}; do
	python=$(command -v "$python") && known "$python" || continue
	[ -z "$first" ] || case " ${TALLY_PYTHONS-} " in
	*" $python "*) ;;
	*) continue;;
	esac
	first=${first:-$python}
	t_run "$python: records" timeout 120 "$TALLY" record -o s.tally \
		"$python" "$e2e/python_scenes.py" 2 truth.json
	"$TALLY" export --format=firefox -i s.tally -o s.json
	got=$("$first" "$e2e/python_check.py" s.json truth.json truth.json.child)
	echo "$got" | sed 's/^/# /'
	value() { echo "$got" | awk -v n="$1" '$1 == n { print $2 }'; }
	t_is "$python: all that spin are seen" "$(value unseen)" none
	t_is "$python: no eval loop beside its frames" "$(value loops)" 0
	t_run "$python: 99 % of samples have the right chain and lines" \
		awk -v v="$(value right)" 'BEGIN { exit !(v >= 99) }'
	t_run "$python: 98 % are in the line of the loop" \
		awk -v v="$(value loop-line)" 'BEGIN { exit !(v >= 98) }'
	t_run "$python: shares of time are the program's own" \
		awk -v v="$(value off)" 'BEGIN { exit !(v != "" && v <= 4) }'
done
if [ -z "$first" ]; then
	t_skip "Python" "no interpreter whose frames are known"
	t_done
fi

cat >app.py <<'END2'
#!/usr/bin/env python3
import time
def cheap():
    return sum(range(1000))
def dear():
    total = 0
    for i in range(100000): total += i
    return total
end = time.process_time() + 0.6
while time.process_time() < end:
    dear()
    cheap()
END2
said=$("$TALLY" record -o a.tally "$first" app.py 2>&1)
t_like "says which source it chose" "$said" 'a Python program: .*timers in the program'
t_is "says so in one line" "$(echo "$said" | grep -c 'a Python program')" 1
report=$("$TALLY" report -i a.tally)
t_like "functions in the report" "$report" '\[python\] +dear$'
t_lacks "no torn chains" "$report" "interpreter's frames"
json=$("$TALLY" report --format=json -i a.tally)
t_like "and in JSON" "$json" '"dear"'
notes=$("$TALLY" annotate -i a.tally dear)
t_like "source lines with costs" "$notes" '^ *[0-9.]+% .* 7      for i in range'
t_like "flame graph" "$("$TALLY" flamegraph -i a.tally)" 'dear'
t_run "a page" "$TALLY" report --html -o a.html -i a.tally
t_run "another one" "$TALLY" record -q -o b.tally "$first" app.py
t_like "diff by function" "$("$TALLY" diff a.tally b.tally 2>&1)" 'dear'

chmod +x app.py
said=$("$TALLY" record -o c.tally env A=b ./app.py 2>&1)
t_like "through env and #!" "$said" 'a Python program'
said=$("$TALLY" record --call-graph=none -o c.tally "$first" app.py 2>&1)
t_lacks "not where stacks are unwanted" "$said" 'a Python program'
said=$("$TALLY" record -e cpu-clock -g -o c.tally "$first" app.py 2>&1)
t_lacks "not where an event is asked for" "$said" 'a Python program'
t_done
