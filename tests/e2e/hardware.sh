#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of K8 and P6 processors on any machine: what `tally list` tells of
# them.  Numbers by hand from AMD's BKDG chapter 10, pmc.k8(3) and the P6 lists.
. "$top_srcdir/tests/lib.sh"

names() { # ARGS… of list, one name a line
	"$TALLY" list --format=json "$@" |
		python3 -c 'import json, sys
for e in json.load(sys.stdin)["events"]: print(e["name"])'
}

if command -v python3 >/dev/null; then
	t_is "list k8 has its 89 events" "$(names k8 | sort -u | wc -l)" 89
	t_is "list p6 has its 68 events" "$(names p6 | sort -u | wc -l)" 68
	t_is "words choose by mask" "$(names k8 page-hit)" \
		k8-nb-memory-controller-page-access-event
	t_is "words choose by code" "$(names P6 C1h)" FLOPS
	t_run "JSON tells masks and counters" python3 -c '
import json, subprocess, sys
def one(name):
    out = subprocess.check_output([sys.argv[1], "list", "--format=json", name])
    (event,) = json.loads(out)["events"]
    return event
e = one("L2_LD")
assert e["event"] == "0x29" and e["default_mask"] == "0xf", e
assert {n: m["bits"] for m in e["masks"] for n in m["names"]} == {
    "m": "0x8", "e": "0x4", "s": "0x2", "i": "0x1", "mesi": "0xf"}, e
assert e["counters"] == [0, 1], e
assert {"L2_LD", "PP_L2_LD"} <= set(e["names"]), e
e = one("PP_DIV")
assert e["counters"] == [1] and e["speculation"] == "speculative", e
e = one("k8-fr-retired-branches")
assert e["speculation"] == "retired" and not e["northbridge"], e
assert e["generic"] == "branches" and len(e["documents"]) == 2, e
assert one("k8:0xe0")["northbridge"]
' "$TALLY"
else
	t_skip "list k8 and p6 as JSON" "no python3"
fi

out=$("$TALLY" list dc-misses)
t_like "an alias explains its event" "$out" '^k8-dc-miss: event 0x41'
t_like "its note is told" "$out" 'streaming store'
t_like "a pinned event says so" "$("$TALLY" list PP_FLOPS)" 'counter 0 only'
t_like "masks are shown in the list" "$("$TALLY" list k8 'system read')" \
	'exclusive=0x01 modified=0x02 shared=0x04'
t_like "the kernel's names stay the kernel's" \
	"$("$TALLY" list --all branches 2>&1)" 'hardware:'
t_like "a misspelt name is helped" "$("$TALLY" list k8-dc-mis 2>&1)" \
	'did you mean k8-dc-miss\?'

t_done
