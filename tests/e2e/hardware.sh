#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of K8 and P6 processors on any machine: what `tally list` says about them and
# how `tally encode` encodes them. The numbers were taken by hand from AMD's BKDG
# chapter 10, pmc.k8(3) and the P6 lists.
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
	t_run "JSON has masks and counters" python3 -c '
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
t_like "its note is reported" "$out" 'streaming store'
t_like "a pinned event says so" "$("$TALLY" list PP_FLOPS)" 'counter 0 only'
t_like "masks are shown in the list" "$("$TALLY" list k8 'system read')" \
	'exclusive=0x01 modified=0x02 shared=0x04'
t_like "the kernel's names stay the kernel's" \
	"$("$TALLY" list --all branches 2>&1)" 'hardware:'
t_like "a misspelt name is helped" "$("$TALLY" list k8-dc-mis 2>&1)" \
	'did you mean k8-dc-miss\?'

encode() { # ARGS… of encode; the exit status behind what it says
	"$TALLY" encode "$@" 2>&1
	echo "status $?"
}

# PerfEvtSel by hand: USR, OS, INT and EN are 530000h (BKDG 10.2).
out=$(encode --pmu k8 --period 100000 k8-bu-cpu-clk-unhalted)
t_like "the event select register" "$out" 'PerfEvtSel0 +MSR 0xc0010000 +0x00530076'
t_like "the preload, 2^48 - 100000" "$out" 'MSR 0xc0010004 +0xfffffffe7960'
t_like "northbridge counters are reported" \
	"$(encode --pmu k8 -c 1k --no-int dc-miss k8:0xe0)" \
	'may not use counter 1 meanwhile'
t_like "an empty mask is noted" "$(encode --pmu k8 k8:0x42:0)" \
	'note: mask 0 selects nothing'
out=$(encode --pmu p6 BUS_TRAN_MEM:SELF)
t_lacks "but not where 0 is a choice" "$out" note
t_like "… which is a choice" "$out" PerfEvtSel0
if command -v python3 >/dev/null; then
	t_run "JSON of two events of the P6" python3 -c '
import json, subprocess, sys
out = subprocess.check_output([sys.argv[1], "encode", "--pmu", "p6",
    "--period", "1k", "--format=json", "INST_RETIRED", "FLOPS"])
assert json.loads(out) == {"pmu": "p6", "events": [
    {"spec": "INST_RETIRED", "name": "INST_RETIRED", "event": "0xc0",
     "umask": "0x0", "counter": 1, "allowed": [0, 1], "evtsel": "0x1300c0",
     "preload": "0xfffffffc18", "msr_evtsel": "0x187", "msr_ctr": "0xc2"},
    {"spec": "FLOPS", "name": "FLOPS", "event": "0xc1",
     "umask": "0x0", "counter": 0, "allowed": [0], "evtsel": "0x5300c1",
     "preload": "0xfffffffc18", "msr_evtsel": "0x186", "msr_ctr": "0xc1"}],
    "shared": {"evtsel0": "0x5300c1", "msr_evtsel0": "0x186"}}, out
' "$TALLY"
else
	t_skip "JSON of two events of the P6" "no python3"
fi

t_is "a metric is its events" \
	"$(encode --pmu k8 --no-int k8-interrupts-masked | grep PerfEvtSel |
		awk '{ print $4 }' | tr '\n' ' ')" "0x004300cd 0x004700cd "

refused() { # WHAT ERE ARGS… of encode
	what=$1 ere=$2
	shift 2
	out=$(encode "$@")
	t_like "refused: $what" "$(echo "$out" | tr '\n' ' ')" "$ere.*status 2"
	[ "$("$TALLY" encode "$@" 2>/dev/null | wc -c)" -eq 0 ] ||
		t_ok "nothing is printed: $what" 1
}
refused "an unknown event" 'no event "nonsense"' --pmu k8 nonsense
refused "an unknown qualifier" 'unknown qualifier' --pmu k8 dc-miss,fast
refused "a mask that is not there" 'takes no mask' --pmu k8 dc-miss,mask=1
refused "paths that are not there" 'not a sum' --pmu k8 k8:0xe9:0x68
refused "count above 3" 'at most 3' --pmu k8 dc-miss,count=4
refused "inv without count" 'inv without count' --pmu p6 L2_LD,inv
refused "MESI mask 0" 'counts nothing' --pmu p6 p6:0x29:0
refused "one counter for two" 'counter 0 only' --pmu p6 FLOPS CYCLES_DIV_BUSY
refused "too many events" '2 counters' --pmu p6 L2_LD L2_ST L2_RQSTS
refused "period 0" 'at least 1' --pmu k8 --period 0 dc-miss
refused "a period beyond K8" '2\^47' --pmu k8 --period 140737488355329 dc-miss
refused "a period beyond P6" '2\^31' --pmu p6 --period 2147483649 L2_LD
refused "a period beyond numbers" 'too large' --pmu k8 -c 99999999999999999999 dc-miss
refused "a period of letters" 'not a whole number' --pmu k8 --period fast dc-miss
refused "an event of the other" 'event of k8, not of p6' --pmu p6 k8-dc-miss
refused "another processor" 'k8 or p6' --pmu k9 dc-miss
refused "no event" 'no event given' --pmu k8

if ! grep -Eq 'ven0002fam000F|ven0000fam0006mod000[1-D]' \
	/sys/devices/system/cpu/modalias 2>/dev/null; then
	t_like "record offers the kernel's nearest event" \
		"$("$TALLY" record -e k8-dc-miss,usr -o "$T_TMP/x" true 2>&1
		   echo "status $?")" 'L1-dcache-load-misses'
else
	t_skip "record offers the kernel's nearest event" "a K8 or P6 machine"
fi

t_done
