#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of 40 machines merged into one: the same bytes in any order and grouping;
# hosts, services and labels as keys and filters; a canary compared with the rest.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
made=$top_builddir/tests/workload/made_recording
HOSTS=40 SAMPLES=600 STACKS=30

mkdir hosts
"$made" hosts hosts $HOSTS $SAMPLES $STACKS || exit 1
merge() { "$TALLY" merge -q "$@" 2>err; }

t_run "recordings are merged" merge hosts/*.tally -o all.tally

# any order, any groups
merge $(ls -r hosts/*.tally) -o reverse.tally
t_same "their order does not matter" all.tally reverse.tally
merge hosts/host000*.tally -o a.tally
merge hosts/host001*.tally -o b.tally
merge hosts/host00[23]*.tally -o c.tally
merge c.tally a.tally -o ca.tally
merge b.tally ca.tally -o groups.tally
t_same "nor do groups" all.tally groups.tally
merge all.tally -o once.tally
t_same "nor does merging again" all.tally once.tally

# A reader that knows the page only, too, finds the sum of the parts in the whole.
PY=python3
sums() { for f; do $PY "$top_srcdir/tests/e2e/format_reader.py" "$f"; done |
	awk '{ w[$3] += $1 } END { for (n in w) print w[n], n }' | LC_ALL=C sort; }
sums hosts/*.tally >parts.txt
sums all.tally >whole.txt
t_same "weights of all functions are the sums of the parts" parts.txt whole.txt
t_is "all samples are counted" "$("$TALLY" report --format=csv -s event all.tally |
	sed -n 2p | cut -d, -f2)" $((HOSTS * SAMPLES))

# Many samples have few stacks, whose sums the file contains, too.  What is read from them
# is what the samples say.
rows() { $PY "$top_srcdir/tests/e2e/format_reader.py" "$@"; }
rows all.tally --samples >samples.txt
rows all.tally --sums >stored.txt
t_same "the file has sums by event and stack" samples.txt stored.txt
t_is "each once" "$(sort -u -k 1,2 stored.txt | wc -l)" "$(wc -l <stored.txt)"
t_lacks "two recordings with many stacks have none" \
	"$(merge hosts/host000[12].tally -o two.tally
	"$TALLY" dump --only chunks two.tally)" 'kind=sums'
"$TALLY" symbolize -o again.tally all.tally >/dev/null 2>&1
rows again.tally --sums >again.txt
t_same "a copy with other symbols has them" stored.txt again.txt
# where samples are missing, the sums would count them
offset() { "$TALLY" dump --only chunks "$1" | sed -n "s/^chunk offset=\([0-9]*\) .*kind=$2 .*/\1/p" |
	head -1; }
flip() { cp all.tally "$1"
	printf '\377' | dd of="$1" bs=1 seek=$(($(offset all.tally $2) + 40)) conv=notrunc 2>/dev/null; }
count() { "$TALLY" report --format=csv -s "$2" "$1" 2>err | sed 1d |
	awk -F, '{ n += $(NF - 1) } END { print n + 0 }'; }
for kind in samples sums; do
	flip $kind.tally $kind
	t_is "damaged $kind: a report counts as one by thread" "$(count $kind.tally event)" \
		"$(count $kind.tally comm)"
	t_is "… and says that $kind are damaged" "$("$TALLY" report --format=text $kind.tally 2>&1 |
		grep -c '1 damaged part')" 1
done

csv() { "$TALLY" report --format=csv "$@" all.tally | sed 1d; }
t_is "each machine is a row" "$(csv -s host | wc -l)" $HOSTS
t_is "services come from control groups" \
	"$(csv -s service | cut -d, -f1 | LC_ALL=C sort | tr '\n' ' ')" "app db kernel "
t_is "labels are keys" "$(csv -s label | cut -d, -f1,2 | LC_ALL=C sort | tr '\n' ' ')" \
	"canary=no,$(((HOSTS - 1) * SAMPLES)) canary=yes,$SAMPLES "
t_is "a filter by label" "$(csv -s event --label canary=yes | cut -d, -f2)" $SAMPLES
t_is "a filter by host and not by label" "$(csv -s event --label 'canary!=yes' \
	--label 'host=host000?' | cut -d, -f2)" $((9 * SAMPLES))
"$TALLY" report --label canry=yes all.tally >out 2>err
t_is "an unknown label is an error" "$? $(grep -c 'no label canry' err)" "2 1"

"$TALLY" export --label canary=yes --format=folded -o one.folded all.tally
t_is "exports follow it" "$(awk '{ n += $NF } END { print n }' one.folded)" \
	"$(awk '{ n += $NF } END { print n }' <<END
$("$TALLY" export --format=folded hosts/host0000.tally)
END
)"

# the canary against the rest
"$TALLY" diff --format=json --old-label 'canary!=yes' --new-label canary=yes \
	all.tally >diff.json 2>err
t_is "a diff of labels in one recording" "$($PY -c '
import json
d = json.load(open("diff.json"))
print(*[d["header"][s]["runs"] for s in ("old", "new")])' 2>&1)" "$((HOSTS - 1)) 1"
"$TALLY" check --baseline all.tally --old-label 'host=host001*' --new all.tally \
	--new-label 'host=host002*' >out 2>err
t_is "a check of labels" "$? $(grep -c '10 baseline runs.*10 new runs' out)" "0 1"
"$TALLY" diff --old-label canary=x --new-label canary=yes all.tally >out 2>err
t_is "a side without samples is an error" \
	"$? $(grep -c 'nothing has the label canary=x' err)" "2 1"

# what cannot be merged
"$TALLY" merge hosts/host0000.tally 2>err
t_is "no output is an error" "$? $(grep -c -e '-o FILE' err)" "2 1"
"$TALLY" merge -o x.tally 2>err
t_is "no input is an error" "$?" 2
echo text >text
"$TALLY" merge hosts/host0000.tally text -o x.tally 2>err
t_is "another file is an error, and nothing is left" "$? $(ls x.tally* 2>/dev/null)" "1 "
"$TALLY" merge hosts/host0000.tally -o text 2>err
t_is "another file is not overwritten" "$? $(cat text)" "2 text"
head -c 1500 hosts/host0001.tally >cut.tally
"$TALLY" merge -q hosts/host0000.tally cut.tally -o x.tally 2>err
t_is "a damaged one is reported" "$? $(grep -c cut.tally err)" "0 1"
t_done
