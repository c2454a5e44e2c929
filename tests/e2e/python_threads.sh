#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of Python's threads, with a program in which each function runs in a thread of
# one name only (python_threads.py). TALLY_PYTHONS: further interpreters to try.
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer

program=$top_srcdir/tests/e2e/python_threads.py
# Each function's samples, and how many of them have another thread's name.
judge() { # FILE
	"$TALLY" report --format=json -s comm,symbol -i "$1" >rows.json
	"$python" - "$(basename "$python")" <<'END2'
import json, sys
program = sys.argv[1]
own = {"in_main": program, "in_plain": "plain, with comma", "in_accent": "héhé",
       "in_kanji": "作業🐍", "in_long": "x" * 120, "in_first": "first",
       "in_second": "second", "in_own": "kernel name", "in_daemon": "daemon",
       "in_generated": "Thread-N (in_generated)", "in_mine": "mine",
       "in_bare": program, "in_many": "many", "in_dict": "by dict",
       "in_cleared": "new dict", "in_empty": program, "in_broken": program}
if sys.version_info < (3, 10):
    own["in_generated"] = "Thread-N"
if sys.version_info >= (3, 14):
    # the kernel has the name that was set last
    own["in_cleared"], own["in_broken"] = "old dict", "broken"
seen, wrong = {}, []
for row in json.load(open("rows.json", encoding="utf-8"))["rows"]:
    name, n = row["symbol"], row["total"]["samples"]
    if name in own:
        seen[name] = seen.get(name, 0) + n
        # a name that is none leaves the one before, if there was a sample with it
        if row["comm"] != own[name] and (name, row["comm"]) != ("in_broken", "broken"):
            wrong.append(f"{name}: {n} in {row['comm']}")
print("unseen:", ", ".join(sorted(set(own) - set(seen))) or "none")
print("wrong:", "; ".join(wrong) or "none")
END2
}
# Each function runs for 15 samples of the slowest timer, of 4 ms.
check() { # HOW OPTION…
	how=$1
	shift
	"$TALLY" record -q -g "$@" -o t.tally "$python" "$program" 0.06
	t_ok "$how: records" $?
	got=$(judge t.tally)
	t_like "$how: all functions are seen" "$got" '^unseen: none$'
	t_like "$how: each in its own thread" "$got" '^wrong: none$'
}
pythons=$(t_pythons 3.8 3.16)
for python in $pythons; do
	check "$python" --source=timer
	if t_has ptrace; then
		check "$python by ptrace" --source=ptrace
	fi
done
t_done
