#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of asyncio tasks, with a program in which each function runs in one task only
# (python_tasks.py). TALLY_PYTHONS: further interpreters to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer

program=$top_srcdir/tests/e2e/python_tasks.py
long=$(printf 'x%.0s' $(seq 120))
# Each function's samples, and how many of them have another task than its own.
judge() { # FILE
	"$TALLY" report --format=json -s task,symbol -i "$1" >rows.json
	"$python" - "$long" <<'END2'
import json, sys
own = {"in_main": "main", "in_plain": "plain, with comma", "in_accent": "héhé",
       "in_kanji": "作業🐍", "in_long": sys.argv[1], "in_renamed": "after",
       "in_generated": "Task-N", "in_mine": "mine", "in_thread": "in a thread",
       "in_python": "", "outside": ""}
if sys.version_info >= (3, 12):
    own["in_eager"] = "eager"
seen, wrong = {}, []
for row in json.load(open("rows.json", encoding="utf-8"))["rows"]:
    name, n = row["symbol"], row["total"]["samples"]
    if name in own:
        seen[name] = seen.get(name, 0) + n
        if row["task"] != own[name]:
            wrong.append(f"{name}: {n} in {row['task']}")
print("unseen:", ", ".join(sorted(set(own) - set(seen))) or "none")
print("wrong:", "; ".join(wrong) or "none")
END2
}
check() { # HOW OPTION…
	how=$1
	shift
	"$TALLY" record -q -g "$@" -o t.tally "$python" "$program" 0.04
	t_ok "$how: records" $?
	got=$(judge t.tally)
	t_like "$how: all functions are seen" "$got" '^unseen: none$'
	t_like "$how: each in its own task" "$got" '^wrong: none$'
}
pythons=$(t_pythons 3.8 3.14)
for python in $pythons; do
	check "$python" --source=timer
	if t_has ptrace; then
		check "$python by ptrace" --source=ptrace
	fi
done
if [ -z "$pythons" ]; then
	t_skip "tasks" "no interpreter whose tasks are known"
	t_done
fi

t_like "one task is selected" \
	"$("$TALLY" report --label task=mine -s task,symbol t.tally)" \
	' mine +in_mine$'
t_lacks "… and no other" \
	"$("$TALLY" report --label task=mine -s task,symbol t.tally)" 'in_plain'
t_like "the name stays in a merged recording" \
	"$("$TALLY" merge -o m.tally t.tally t.tally >/dev/null 2>&1
	"$TALLY" report -s task m.tally)" ' mine$'
"$TALLY" record -q -o n.tally "$python" -c 'for i in range(6000000): pass'
t_like "without asyncio there are none" \
	"$("$TALLY" report --format=csv -s task n.tally | sed -n 2p)" '^,'
t_done
