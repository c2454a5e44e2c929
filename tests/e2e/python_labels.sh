# SPDX-License-Identifier: GPL-2.0-or-later
# Judges a label of samples by a program in which each function runs under one label
# only, and which says which (python_spin.py). Sets $python to the first interpreter, or
# to nothing if there is none, and leaves the last recording, t.tally.
# TALLY_PYTHONS: further interpreters to try.

# How many samples of each function have another label than its own.
labels_judge() { # LABEL
	"$TALLY" report --format=json -s "$1,symbol" -i t.tally >rows.json
	"$python" "$program" >expected.json
	"$first" - "$1" <<'END2'
import json, sys
rows, expected = (json.load(open(name, encoding="utf-8"))
                  for name in ("rows.json", "expected.json"))
seen, wrong = set(), []
for row in rows["rows"]:
    name, label = row["symbol"], row[sys.argv[1]]
    if name in expected:
        seen.add(name)
        if label not in expected[name]:
            wrong.append(f"{name}: {row['total']['samples']} in {label}")
print("unseen:", ", ".join(sorted(set(expected) - seen)) or "none")
print("wrong:", "; ".join(wrong) or "none")
END2
}
labels_record() { # LABEL HOW SECONDS OPTION…
	label=$1 how=$2 seconds=$3
	shift 3
	# On a busy machine the recorder may get no processor for as long as a function
	# takes, but not three times.
	for try in 1 2 3; do
		"$TALLY" record -q -g "$@" -o t.tally "$python" "$program" "$seconds"
		status=$?
		got=$(labels_judge "$label")
		case "$status$got" in 0unseen:\ none*) break;; *wrong:\ none) ;; *) break;; esac
		echo "# try $try: $got" | tr '\n' ' '
		echo
	done
	t_ok "$how: records" $status
	t_like "$how: all functions are seen" "$got" '^unseen: none$'
	t_like "$how: each under its own label" "$got" '^wrong: none$'
}
labels_check() { # LABEL PROGRAM SECONDS LOW HIGH: for versions of Python, as t_pythons
	program=$top_srcdir/tests/e2e/$2 first=
	for python in $(t_pythons "$4" "$5"); do
		: "${first:=$python}"
		labels_record "$1" "$python" "$3" --source=timer
		if t_has ptrace; then
			labels_record "$1" "$python by ptrace" "$3" --source=ptrace
		fi
	done
	python=$first
}
