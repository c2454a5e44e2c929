#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally report` and related commands on the recording of a real program.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static inline unsigned mix(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}
__attribute__((noinline)) unsigned heavy(unsigned x) { return mix(x, 9000); }
__attribute__((noinline)) unsigned light(unsigned x) { return mix(x, 3000); }
__attribute__((noinline)) unsigned again(int d, unsigned x)
{
	return d ? again(d - 1, x) + light(x) : heavy(x);
}
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += again(2, s);
	return s == 12345;
}
END
if ! ${CC:-cc} -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-o work work.c 2>cc.err; then
	t_skip_all "report" "no C compiler that works: $(head -n 1 cc.err)"
fi
if ! "$TALLY" record --source=perf -q -g -F 2000 -o a.tally -- ./work 20000 2>rec.err; then
	t_skip_all "report" "cannot record here: $(head -n 1 rec.err)"
fi
report() { "$TALLY" report --no-pager "$@"; }

out=$(report a.tally)
t_like "the truth comes first" "$(echo "$out" | head -n 1)" '^# \./work 20000, '
t_like "samples wanted and lost are reported" "$out" \
	'^#.* samples of [0-9,]+ expected at 2000 Hz, 0 lost|samples of [0-9,]+$'
t_like "the inlined function is on top" \
	"$(echo "$out" | sed -n '/SELF/{n;p}')" ' work +mix$'
t_is "no inline: heavy takes what was inlined" \
	"$(report --no-inline a.tally -s symbol --no-header |
		awk 'NR == 2 { print $3 }')" heavy
t_like "line keys name file and line" "$(report a.tally -s symbol,line)" \
	'mix +.*work\.c:[67]'
out=$(report a.tally -g --top 1)
t_like "callers of the hot function" "$out" '^ +[0-9.]+%    heavy'
t_like "recursion is one branch" "$out" '^ +again \(recursive\)$'
out=$(report a.tally -g callees --symbol main)
t_like "callees start at the focus" "$out" '^ .* work +main$'
t_like "heavy is called by again" "$out" '^ +([0-9.]+% +)*heavy$'
t_is "-g callers in two words" "$(report -g callers a.tally)" "$(report -g a.tally)"
# perf's callers begin with the outermost frame, its callees with the hot function.
for words in caller callee graph,0.5,caller,function,percent fractal,0.5,callee folded
do
	t_like "-g $words is perf's, which is answered" "$(report -g $words a.tally 2>&1
		echo "status $?")" "'$words': use callers .*callee.* callees .*caller"
done
t_like "… with the option that hides small branches" \
	"$(report -g graph,2,caller a.tally 2>&1)" '--percent-limit'

# Shares: 9000 of 15000 steps are heavy's.  99.99% interval of a binomial share.
if python3 -c 'import json' 2>/dev/null; then
	report --format=json -s symbol,image,line a.tally >a.json
	report --format=json -s symbol,image,line a.tally >b.json
	t_same "JSON is the same each time" a.json b.json
	report --format=json -s symbol --no-inline a.tally >c.json
	t_run "JSON has the schema, and shares are right" python3 - <<'END'
import json, math
d = json.load(open('a.json'))
assert list(d) == ['schema', 'header', 'rows'] and d['schema'] == 1
r = d['rows'][0]
assert list(r) == ['symbol', 'image', 'file', 'line', 'id', 'self', 'total'], r
assert list(r['self']) == ['samples', 'weight', 'percent']
got = d['header']['samples']['got']
assert sum(r['self']['samples'] for r in d['rows']) == got
assert abs(sum(r['self']['percent'] for r in d['rows']) - 100) < 0.01
d = json.load(open('c.json'))
rows = {r['symbol']: r for r in d['rows']}
h = rows['heavy']['self']['samples']
n = h + rows['light']['self']['samples']
assert abs(h / n - 0.6) < 4 * math.sqrt(0.24 / n) + 0.005, (h, n)
assert rows['again']['total']['samples'] <= got
assert rows['main']['total']['percent'] > 90
END
	report --format=csv -s comm,symbol,line a.tally >a.csv
	t_run "CSV parses" python3 - <<'END'
import csv
rows = list(csv.reader(open('a.csv', newline='')))
assert rows[0][:4] == ['comm', 'symbol', 'file', 'line'], rows[0]
assert all(len(r) == len(rows[0]) for r in rows) and len(rows) > 3
END
	t_run "tree as JSON" sh -c '"$TALLY" report --format=json -g callees \
		a.tally | python3 -c "import json, sys
d = json.load(sys.stdin)
assert d[\"rows\"][0][\"children\"]"'
	t_run "info as JSON" sh -c '"$TALLY" info --format=json a.tally |
		python3 -m json.tool'
else
	t_skip "JSON and CSV" "python3 is not installed"
fi

t_is "filters that nothing passes give no row" \
	"$(report --comm nobody a.tally --no-header)" \
	"# no sample passes the filters"
t_like "a slice says how much it is" "$(report --time 10%,20% a.tally)" \
	'^# Selected: [0-9,]+ of [0-9,]+ samples'
t_like "--top tells what is hidden" "$(report --top 1 --percent-limit 0 a.tally)" \
	'^# [0-9,]+ more rows are beyond --top 1'
rows=$(report --no-header --percent-limit 0 a.tally | grep -c '^ *[0-9]')
t_like "… or that it is one row" \
	"$(report --top $((rows - 1)) --percent-limit 0 a.tally)" \
	'^# 1 more row is beyond --top [0-9]+'
report -w 80 -g a.tally >wide
t_narrow "80 columns" wide 80
report -o out.txt a.tally
t_is "-o writes the same" "$(cat out.txt)" "$(report a.tally)"

# Symbols later.
"$TALLY" record -q -o raw.tally --no-symbols -- ./work 6000
out=$(report raw.tally 2>&1)
t_like "a file without symbols is resolved on reading" "$out" ' work +mix$'
t_like "… and that is said" "$out" "contains no symbols"
cp work work.gone; mv raw.tally raw2.tally
t_run "symbolize stores them" "$TALLY" symbolize raw2.tally
rm work
t_like "the program is needed no more" "$(report raw2.tally 2>&1)" ' work +mix$'
t_none "nothing to say then" "$(report raw2.tally 2>&1 >/dev/null)"
t_run "dump counts as many samples as info" sh -c '
	[ "$("$TALLY" dump --only samples a.tally | wc -l)" = \
	"$("$TALLY" info a.tally |
		awk "\$1 == \"samples\" && NF == 2 { gsub(/,/, \"\"); print \$2 }")" ]'
t_like "dump shows stacks" "$("$TALLY" dump --only samples -g a.tally |
	head -n 3000)" '^  0x[0-9a-f]+ again \(.*/work\)'
t_done
