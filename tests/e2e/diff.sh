#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally diff` of two versions of a program, built in two places.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
mkdir -p one/src two/src
cat >one/src/work.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) unsigned heavy(unsigned x)
{
	for (int i = 0; i < 4500; i++)
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
	return x;
}
__attribute__((noinline)) unsigned light(unsigned x)
{
	for (int i = 0; i < 3000; i++)
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
	return x;
}
__attribute__((noinline)) unsigned stale(unsigned x)
{
	for (int i = 0; i < 700; i++)
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
	return x;
}
__attribute__((noinline)) unsigned before(unsigned x)
{
	unsigned a[16] = { x, 1, 2 };

	for (int i = 0; i < 3600; i++)
		a[i & 15] = (a[(i + 3) & 15] >> (x & 7)) + i / (x | 1) + a[7];
	return a[x & 15];
}
__attribute__((noinline)) unsigned step(unsigned x)
{
	return heavy(x) + light(x) + stale(x) + before(x);
}
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += step(s);
	return s == 12345;
}
END
# lines are inserted above, heavy does three times as much, stale goes, fresh comes
# with other code, before has another name
awk '/heavy\(unsigned x\)/ && !done++ { print "/* new */"; print "/* lines */" }
{
	sub(/for .*4500/, "x += x / 3; for (int i = 0; i < 13500")
	sub(/i < 700/, "i < 2500")
	if (fresh && sub(/x \^= .*/, "x = x % 1021 * 31 + (x >> 3) % 7;"))
		fresh = 0
	fresh += /stale.unsigned x.$/
	gsub(/stale/, "fresh"); gsub(/before/, "after"); print
}' \
	one/src/work.c >two/src/work.c
flags='-O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls'
for side in one two; do
	# shellcheck disable=SC2086
	if ! ${CC:-cc} $flags -o $side/work "$T_TMP/$side/src/work.c" 2>cc.err
	then
		t_skip_all "diff" "no C compiler that works: $(head -n 1 cc.err)"
	fi
done
diff() { "$TALLY" diff --no-pager "$@"; }
for side in one two; do
	if ! "$TALLY" record -q -g -F 2000 --embed-source --repeat 3 \
		-o $side.tally -- $side/work 9000 2>rec.err; then
		t_skip_all "diff" "cannot record: $(head -n 1 rec.err)"
	fi
done

out=$(diff one.tally two.tally)
t_like "both sides are named" "$out" '^# old: one.tally: one/work 9000 \(3 runs\)'
t_like "how costs are normalised is said, and why" "$out" \
	'^# Normalised by run \(both sides are whole runs of a command\)'
# what changed little may be cut off
out=$(diff --top 0 --percent-limit 0 one.tally two.tally)
row() { echo "$out" | awk -v f="$1" '$NF == f || (NF > 2 && $(NF - 2) == f)'; }
t_like "what came is new" "$(row fresh)" '^ +0\.00 .* new '
t_like "what went is gone" "$(row stale)" '^ .* gone '
t_like "what has another name stands beside its old self" "$(row after)" \
	' after <- before$'
t_is "… and is one row" "$(echo "$out" | grep -c 'before$')" 1
t_like "what grew is more than noise" "$(row heavy)" '^ .*\+[0-9.]+%'
t_is "the most changed comes first" \
	"$(echo "$out" | sed -n '/OLD/{n;p}' | awk '{ print $NF }')" heavy
esc=$(printf '\033')
t_lacks "no escapes in a pipe" "$out" "$esc"
t_like "colours when asked for" "$(diff --color=always one.tally two.tally)" \
	"$esc\\[31m"
t_like "shares, where asked for" \
	"$(diff --normalise=total one.tally two.tally)" \
	'^# Normalised by total \(as requested\): % of all '
t_like "time, where asked for" "$(diff --normalise=time one.tally two.tally)" \
	'per second of recording'
t_lacks "a recording and itself: nothing is more than noise" \
	"$(diff one.tally one.tally --format=csv)" ',(grew|shrank|new|gone),'
t_is "source by path's end" "$(diff --by file one.tally two.tally |
	sed -n 's,.*/\([a-z]*/src/work.c\)$,\1,p')" two/src/work.c
# two lines above are new: 5 is 7 now, and what was at 4 was changed
out=$(diff --by line --order=old one.tally two.tally)
t_like "lines are matched by text" "$out" 'work.c:7 \(was 5\)'
t_lacks "… so that no line of heavy is new or gone" \
	"$(echo "$out" | grep -E 'work.c:[4-7]')" ' (new|gone) '
diff --by line --format=json one.tally two.tally >lines.json
t_like "JSON has both numbers" "$(cat lines.json)" \
	'work.c","line":7,"old_line":5,'
for side in one two; do
	"$TALLY" record -q -o $side.plain.tally -- $side/work 1000
done
t_like "lines without text are matched by number, and that is said" \
	"$(diff --by line --source-map "$T_TMP=/nowhere" one.plain.tally \
		two.plain.tally 2>&1)" 'their lines are matched by number'
out=$(diff one.tally two.tally heavy --source)
t_like "source of both stands side by side" "$out" \
	' 5  +x \^= x << 13.* 7  +x \^= x << 13'
t_like "a changed line is marked" "$out" '4500; i\+\+\) +\| +[0-9]+ .*13500; i'
out=$(diff one.tally two.tally heavy --source -w 80)
t_like "below each other where there is no room" "$out" '^.*-    *4 .*4500'
diff -w 80 one.tally two.tally heavy --both >wide
t_narrow "80 columns" wide 80
out=$(diff one.tally two.tally -a | grep '^# [a-z]*: [0-9]')
t_like "without a name, what changed most comes first" \
	"$(echo "$out" | head -n 1)" '^# heavy: '
t_like "… and what is new" "$out" '^# fresh: 0 -> '
t_like "a function that was renamed stands beside its old self" \
	"$(diff one.tally two.tally after --source)" \
	' 24 +for .* 26 +for \(int i = 0; i < 3600'
t_like "… by its old name, too" \
	"$(diff one.tally two.tally before --source)" \
	' 24 +for .* 26 +for \(int i = 0; i < 3600'
t_like "one side's function is shown alone" \
	"$(diff one.tally two.tally fresh)" 'new side only'

if python3 -c 'import json' 2>/dev/null; then
	for side in one two; do
		"$TALLY" report --format=json -s symbol --no-inline \
			$side.tally >$side.json
		"$TALLY" annotate --format=json --both $side.tally heavy \
			>$side.heavy.json
	done
	diff --format=json -s symbol --no-inline one.tally two.tally >diff.json
	diff --format=json --normalise=total -s symbol --no-inline one.tally \
		two.tally >total.json
	diff --format=csv -s image,symbol,line one.tally two.tally >diff.csv
	diff --format=json --both one.tally two.tally heavy >heavy.json
	diff --svg -o flame.svg one.tally two.tally
	t_run "JSON has what both reports have, and nothing else" python3 - <<'END'
import json
old, new, d, share = (json.load(open(f)) for f in
                      ('one.json', 'two.json', 'diff.json', 'total.json'))
assert d['schema'] == 1 and d['header']['normalised_by'] == 'run'
sides = {'old': old, 'new': new}
def name(r):
    return r['id'].split(':', 2)[2]
def renamed(id):
    return id[:-6] + 'after' if id.endswith(':before') else id
# A function of the C library that has samples on one side only stands beside one of its
# name in another file that has some on the other.
ids = {}
for rep in sides.values():
    for r in rep['rows']:
        ids.setdefault((r['id'].split(':')[0], name(r)), set()).add(r['id'])
def everywhere(r):
    return len(ids[r['id'].split(':')[0], name(r)]) == 1
assert all(everywhere(r) for rep in sides.values() for r in rep['rows']
           if r['symbol'] in ('heavy', 'light', 'before', 'after', 'main'))
for side, rep in sides.items():
    # clones count as one function in a diff
    want = {r['id']: r for r in rep['rows']
            if '.' not in name(r) and not name(r).startswith('0x') and
            everywhere(r)}
    for x, divisor in ((d, 3), (share, None)):
        got = {r['id']: r for r in x['rows']}
        assert len(got) == len(x['rows'])
        for kind in ('self', 'total'):
            all = sum(r['self']['weight'] for r in rep['rows'])
            for id, r in want.items():
                g = got[renamed(id)][kind][side]
                assert g['samples'] == r[kind]['samples'], (id, g, r)
                assert g['weight'] == r[kind]['weight']
                cost = g['weight'] / divisor if divisor else \
                    100 * g['weight'] / all
                assert abs(cost - g['cost']) < 1e-3, (id, cost, g)
        all_names = {name(r).split('.')[0] for r in rep['rows']}
        all_names |= {'after'}
        # what has no name (the C library without its debug file) is one row
        if any('+0x' in r['symbol'] for r in rep['rows']):
            all_names.add('[no name]')
        for r in x['rows']:
            assert name(r) in all_names or '.' in name(r) or \
                r['total'][side]['samples'] == 0, r
for r in d['rows']:
    s = r['self']
    assert abs(s['new']['cost'] - s['old']['cost'] - s['change']) < 1e-3
    assert s['low'] <= s['change'] <= s['high']
rows = {r['symbol']: r for r in d['rows']}
assert rows['fresh']['status'] == 'new' and rows['stale']['status'] == 'gone'
# held against its old self, which has no row
assert 'before' not in rows
assert rows['after']['moved_from'] == 'before'
assert not any('moved_from' in r or 'moved_to' in r
               for f, r in rows.items() if f != 'after')
# heavy does three times the work: far beyond any noise, within a few intervals
h = rows['heavy']['self']
assert h['beyond_noise'] and h['q'] < 0.05
assert abs(h['change'] - 2 * h['old']['cost']) < 4 * (h['high'] - h['low'])
END
	t_run "CSV parses" python3 - <<'END'
import csv
rows = list(csv.reader(open('diff.csv', newline='')))
assert rows[0][:5] == ['image', 'symbol', 'file', 'line', 'event'], rows[0]
assert all(len(r) == len(rows[0]) for r in rows) and len(rows) > 5
END
	t_run "lines and instructions add up to both annotations" python3 - <<'END'
import json
d = json.load(open('heavy.json'))
unit, = d['units']
def total(parts, side):
    return sum(c[side]['samples'] for p in parts for c in p['cost'])
for side, f in (('old', 'one'), ('new', 'two')):
    a = json.load(open(f + '.heavy.json'))['units'][0]
    want = sum(c[k]['samples'] for c in a['cost']
               for k in ('self', 'inlined') if k in c)
    lines = [l for x in unit['files'] for l in x['lines']]
    assert want and total(lines, side) == want, (want, total(lines, side))
    want = {(l['line'], sum(c[k]['samples'] for c in l['cost']
                            for k in ('self', 'inlined') if k in c))
            for x in a['files'] for l in x['lines'] if l.get('cost')}
    got = {(l[side]['line'], sum(c[side]['samples'] for c in l['cost']))
           for l in lines if side in l}
    assert want <= got, (want, got)
    for code in a['codes']:
        if not code.get('missing'):
            want = sum(c['self']['samples'] for c in code['cost'])
            insns = [i for x in unit['codes'] for i in x['instructions']]
            assert total(insns, side) == want
for l in lines:
    if l['how'] == 'same' and 'source' in l['old']:
        assert l['old']['source'] == l['new']['source']
        # the first stands above those that were inserted
        assert l['old']['line'] + 2 == l['new']['line'] or \
            l['old']['line'] == l['new']['line'] == 1
END
	diff --html -o both.html one.tally two.tally
	t_run "a page pairs the same lines and instructions" python3 -B \
		"$top_srcdir/tests/e2e/html_check.py" pairs both.html heavy.json
	t_run "… those of a renamed function, too" \
		python3 -B - "$top_srcdir/tests/e2e" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import html_check
lines = html_check.data('both.html')['meta']['lines']
names = [c['symbol'] for c in lines['codes']]
pairs = {(names[p[0]], names[p[1]]) for p in lines['code_pairs']}
assert ('before', 'after') in pairs and ('heavy', 'heavy') in pairs, pairs
paired = {i for p in lines['code_pairs'] for i in p[:2]}
left = [{c['symbol'] for i, c in enumerate(lines['codes'])
         if i not in paired and c['side'] == side} for side in (0, 1)]
assert not left[0] & left[1], left
END
	t_run "the picture is XML without scripts and says figures" python3 - <<'END'
import re, xml.dom.minidom
x = xml.dom.minidom.parse('flame.svg')
assert not x.getElementsByTagName('script')
t = [n.firstChild.data for n in x.getElementsByTagName('title')]
assert t[0].startswith('all\n') and re.search(r'^95%: ', t[0], re.M)
names = [s.split('\n')[0] for s in t]
assert 'heavy' in names and 'fresh' in names and 'stale' in names
assert '(gone)' in t[names.index('stale')], t[names.index('stale')]
END
else
	t_skip "JSON, CSV and SVG" "python3 is not installed"
fi

# one by one: the runs of all recordings of a side together
for side in one two; do
	for i in 1 2 3; do
		"$TALLY" record -q -g -F 2000 -o $side-$i.tally -- $side/work \
			2000 2>/dev/null
	done
done
several() { diff --baseline one-*.tally --new two-*.tally "$@"; }
out=$(several)
t_like "several recordings a side: the first and how many" "$out" \
	'^# old: one-1.tally and 2 more: one/work 2000 \(3 runs\)'
# Comments that go over several lines in one.
comments() { sed -n 's/^#  *//p' | tr '\n' ' '; }
t_like "… in the mean run" "$(echo "$out" | comments)" ': [^:]* per run All of '
t_like "… or in the median one" "$(several --average=median | comments)" \
	': [^:]* in the median run All of '
t_like "… and the function behind them" "$(several heavy)" '^# heavy: '
t_like "… or before them" "$(diff heavy --baseline one-*.tally \
	--new two-*.tally)" '^# heavy: '
t_like "both sides are wanted" "$(diff --baseline one-*.tally 2>&1)" \
	'requires the new side, too: --new FILE'
if python3 -c 'import json' 2>/dev/null; then
	for side in one two; do
		for i in 1 2 3; do
			"$TALLY" report --format=json -s symbol --no-inline \
				$side-$i.tally >$side-$i.json
		done
	done
	several --format=json -s symbol --no-inline >several.json
	t_run "samples of all recordings add up" python3 - <<'END'
import json
d = {r['symbol']: r for r in json.load(open('several.json'))['rows']}
for side, name in (('one', 'old'), ('two', 'new')):
    want = {}
    for i in (1, 2, 3):
        for r in json.load(open('%s-%d.json' % (side, i)))['rows']:
            # names of the kernel may be those of two functions
            f = 'after' if r['symbol'] == 'before' else r['symbol']
            if f in ('heavy', 'light', 'after', 'main'):
                w = want.setdefault(f, [0, 0])
                w[0] += r['self']['weight']
                w[1] += r['total']['weight']
    assert want['heavy'][0] > 0
    for f, (own, total) in want.items():
        assert d[f]['self'][name]['weight'] == own, (f, own, d[f])
        assert d[f]['total'][name]['weight'] == total, (f, total, d[f])
        assert abs(d[f]['self'][name]['cost'] - own / 3) < 1e-3
END
fi

# Functions that cost page faults, which are the same in each run.
faults='-q -e page-faults -c 1'
# shellcheck disable=SC2086 # words
"$TALLY" record $faults -o probe.tally -- true 2>no_faults || faults=
cat >pages.h <<'END'
#include <stdlib.h>
#include <sys/mman.h>
enum { SIZE = 4096 * 4096 };
static unsigned char *area;
__attribute__((noinline)) static unsigned char *fresh(void)
{
	if (!area) {
		area = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(area, SIZE, MADV_NOHUGEPAGE);
	}
	madvise(area, SIZE, MADV_DONTNEED);
	return area;
}
END
# Code that is in a function now and was in another before, and two functions of one
# file that cost each other's faults with the code they had.
cat >into.c <<'END'
#include "pages.h"
#ifdef INLINED
#define PART static inline __attribute__((always_inline))
#else
#define PART __attribute__((noinline))
#endif
PART unsigned part(unsigned x)
{
	unsigned char *a = fresh();

	for (int i = 0; i < 1000; i++)
		x += a[i * 4096l + (x & 7)] = (unsigned char)(i / (x | 1) + (x >> 5));
	return x;
}
__attribute__((noinline)) unsigned whole(unsigned x)
{
	unsigned char *a = fresh();

	for (int i = 0; i < 1200; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		a[i * 4096l] = (unsigned char)x;
	}
	return x + part(x);
}
__attribute__((noinline)) unsigned rose(unsigned x, int n)
{
	unsigned char *a = fresh();

	for (int i = 0; i < n; i++) {
		x ^= x << 7, x += x >> 9, x ^= x << 8;
		a[i * 4096l] = (unsigned char)x;
	}
	return x;
}
__attribute__((noinline)) unsigned fell(unsigned x, int n)
{
	unsigned char *a = fresh();

	for (int i = 0; i < n; i++) {
		x += x << 11, x ^= x >> 3, x += x << 15;
		a[i * 4096l] = (unsigned char)x;
	}
	return x;
}
int main(int argc, char **argv)
{
	return whole(argc) + rose(argc, atoi(argv[1])) + fell(argc, atoi(argv[2])) == 12345;
}
END
# shellcheck disable=SC2086
if [ -z "$faults" ]; then
	t_skip "code that moved" "$(head -n 1 no_faults)"
elif ${CC:-cc} $flags -g0 -o into.old into.c &&
     ${CC:-cc} $flags -g0 -DINLINED -o into.new into.c; then
	"$TALLY" record $faults --repeat 8 -o old.into.tally -- ./into.old 1500 3000
	"$TALLY" record $faults --repeat 8 -o new.into.tally -- ./into.new 3000 1500
	out=$(diff --top 0 old.into.tally new.into.tally)
	t_like "code that another function has now moved there" "$(row whole)" \
		' moved .* whole +<- part$'
	t_like "a function that has the code that it had grew" "$(row rose)" \
		' \+[0-9.]+% .* rose$'
	out=$("$TALLY" check --baseline old.into.tally --new new.into.tally)
	t_like "… so it is to a check" "$(echo "$out" | head -n 1)" \
		'^regressed: rose \+'
	t_like "… to which code moved, too" "$(echo "$out" | grep -A 1 ' whole ')" \
		'^ +moved from part$'
else
	t_skip "code that moved" "it cannot be built here"
fi

# Equal functions that GCC folds into one, until a change makes one of them differ.  In
# a header, only their code relates them.
cat >twins.h <<'END'
#define TWIN(name, number) \
__attribute__((noinline)) static unsigned name(unsigned x, int n) \
{ \
	unsigned char *a = fresh(); \
 \
	for (int i = 0; i < n; i++) \
		x += a[i * 4096l + (x & 7)] = x * number; \
	return x; \
}
END
cat >fold.c <<'END'
#include "pages.h"
#include "twins.h"
TWIN(twin_first, 12345u)
TWIN(twin_other, NUMBER)
__attribute__((noinline)) static unsigned alone(unsigned x, int n)
{
	volatile unsigned char *a = fresh();

	for (int i = 0; i < n; i++)
		a[i * 4096l] = 1;
	return x;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]);

	return twin_first(argc, n) + twin_other(argc, n) + alone(argc, n) == 12345;
}
END
# shellcheck disable=SC2086
if [ -z "$faults" ]; then
	t_skip "folded functions" "$(head -n 1 no_faults)"
elif ${CC:-cc} $flags -fipa-icf -fno-ipa-cp -DNUMBER=12345u -o folded fold.c &&
     ${CC:-cc} $flags -fipa-icf -fno-ipa-cp -DNUMBER=12347u -o apart fold.c &&
     [ "$(nm folded | awk '/ twin_/ { print $1 }' | sort -u | wc -l)" = 1 ] &&
     [ "$(nm apart | awk '/ twin_/ { print $1 }' | sort -u | wc -l)" = 2 ]; then
	for turn in 1 2 3 4 5 6 7 8; do
		for side in folded apart; do
			"$TALLY" record $faults -o $side.$turn.tally -- ./$side 100$turn
		done
	done
	folded=$(echo folded.?.tally) apart=$(echo apart.?.tally)
	# shellcheck disable=SC2086 # lists
	"$TALLY" check --require-mde off --total-threshold off \
		--baseline $folded --new $apart >out
	t_is "functions that are no longer folded are not new costs" $? 0
	t_like "… and are reported" "$(cat out)" '^ +moved from twin_'
	# shellcheck disable=SC2086
	"$TALLY" check --require-mde off --total-threshold off \
		--baseline $apart --new $folded >out
	t_is "nor is one with the cost of both" $? 0
	t_like "… which is reported" "$(cat out)" '^ +moved from twin_'
	# shellcheck disable=SC2086
	out=$(diff --top 0 --baseline $folded --new $apart)
	t_like "a diff knows, too" "$(echo "$out" | grep twin_)" ' moved .*<- twin_'
else
	t_skip "folded functions" "the compiler folds none"
fi

# Two functions of one shape, in different files and with other callers: that one is no
# longer called explains nothing of the other.
for shape in "rows 7 12345u 13 6" "keys 15 54321u 11 5"; do
	# shellcheck disable=SC2086 # words
	set -- $shape
	cat >$1.c <<-END
	#include "pages.h"
	__attribute__((noinline)) unsigned touch_$1(unsigned x, int n)
	{
		unsigned char *a = fresh();

		for (int i = 0; i < n; i++) {
			x += a[i * 4096l + (x & $2)] = x * $3;
			x ^= x >> $4;
			x += x << $5;
		}
		return x;
	}
	__attribute__((noinline)) unsigned $1(unsigned x, int n)
	{
		return touch_$1(x, n) + 1;
	}
	END
done
cat >shapes.c <<'END'
#include <stdlib.h>
unsigned rows(unsigned x, int n), keys(unsigned x, int n);
int main(int argc, char **argv)
{
	unsigned x = rows(argc, atoi(argv[1]));

	return keys(x, atoi(argv[2])) == 12345;
}
END
# shellcheck disable=SC2086
if [ -z "$faults" ]; then
	t_skip "functions of one shape" "$(head -n 1 no_faults)"
elif ${CC:-cc} $flags -o shapes shapes.c rows.c keys.c; then
	for turn in 1 2 3 4 5 6; do
		"$TALLY" record $faults -o calls.$turn.tally -- ./shapes 60$turn 20$turn
		"$TALLY" record $faults -o keys.$turn.tally -- ./shapes 0 80$turn
	done
	# shellcheck disable=SC2046,SC2086 # lists
	"$TALLY" check --require-mde off --baseline $(echo calls.?.tally) \
		--new $(echo keys.?.tally) >out
	t_like "a function that is called more often has no code of one that is not called" \
		"$? $(head -n 1 out)" '^1 regressed: touch_keys \+'
else
	t_skip "functions of one shape" "they cannot be built here"
fi

# a check of the same programs, without debug information and stacks: the code
# says what moved, and which instruction is which
for side in one two; do
	cp $side/work $side/bare && strip -g $side/bare
done
# … and one whose renamed function does three times as much, and heavy no more than
# before: where most of the cost grows alike, that may be the machine
mkdir three
sed '/unsigned after/,/^}/s/3600/10800/; s/i < 13500/i < 4500/' two/src/work.c \
	>three/work.c
# shellcheck disable=SC2086
${CC:-cc} $flags -g0 -o three/bare three/work.c
for side in one two three; do
	"$TALLY" record -q -F 2000 --repeat 8 -o $side.bare.tally -- \
		$side/bare 3000 2>/dev/null
done
if python3 -c 'import json' 2>/dev/null; then
	for by in line function; do
		"$TALLY" check --by $by --warn-only --baseline one.tally \
			--new two.tally --format none --json $by.check.json
	done
	# two lines above are new: 5 is 7 now
	t_run "a check by line knows lines by their text" python3 - <<'END'
import json
rows = {r['line']: r for r in json.load(open('line.check.json'))['rows']
        if r['function'] == 'heavy'}
assert rows[7]['base'] > 0 and rows[7]['new'] > 2 * rows[7]['base'], rows
assert rows[7]['status'] == 'regressed', rows[7]
# 5 is another line now, and has neither the old one's cost nor is it gone
assert 5 not in rows, rows[5]
END
	t_run "… also those of a function that gained" python3 - <<'END'
import json
row, = [r for r in json.load(open('function.check.json'))['rows']
        if r['function'] == 'heavy']
line, = [l for l in row['lines'] if l['line'] == 7]
assert 0 < line['base'] < line['new'] / 2, row['lines']
END
	# two files of one name; one recording of a build lacks the lines of another
	mkdir -p same.old/x same.old/y
	for dir in x y; do
		printf '%s\n' "unsigned spin_$dir(unsigned n)" "{" \
			"	unsigned s = 1;" "	for (unsigned i = 0; i < n; i++)" \
			"		s = s * 31 + i;" "	return s;" "}" \
			>same.old/$dir/util.c
	done
	printf '%s\n' 'unsigned spin_x(unsigned n), spin_y(unsigned n);' \
		'int main(int n, char **v) {' \
		'	unsigned s = n < 2 || *v[1] == 120 ? spin_x(100000000) : 0;' \
		'	return (n < 2 || *v[1] == 121 ? s + spin_y(100000000) : s) & 1;' \
		'}' >same.old/main.c
	cp -r same.old same.new
	sed -i '1i /* one */\n/* two */' same.new/?/util.c
	for side in old new; do
		(cd same.$side && ${CC:-cc} -O1 -g -o work main.c x/util.c y/util.c)
	done
	for dir in x y; do
		"$TALLY" record -q -F 2000 -o same.$dir.tally -- same.old/work $dir
	done
	"$TALLY" record -q -F 2000 -o same.new.tally -- same.new/work
	"$TALLY" check --by line --warn-only --baseline same.x.tally same.y.tally \
		--new same.new.tally --format none --json same.json
	t_run "… and those of files with one name" python3 - <<'END'
import json
rows = [r for r in json.load(open('same.json'))['rows']
        if r.get('function', '').startswith('spin_')]
assert {r['function'] for r in rows} == {'spin_x', 'spin_y'}, rows
assert all(r['base'] > 0 and r['new'] > 0 for r in rows), rows
END
	"$TALLY" record -q -F 2000 --repeat 3 -o old.gone.tally -- one/work 2000
	mv one/src/work.c one/src/away
	t_like "… and says where it cannot" "$("$TALLY" check --by line \
		--warn-only --baseline old.gone.tally --new two.tally 2>&1)" \
		'^note: lines of 1 source file are matched by number'
	mv one/src/away one/src/work.c
fi
if python3 -c 'import json' 2>/dev/null && objdump --version >/dev/null 2>&1
then
	for side in two three; do
		"$TALLY" check --baseline one.bare.tally --new $side.bare.tally \
			--format none --json $side.check.json
	done
	objdump -d --no-show-raw-insn -M intel two/bare >two.dis
	t_run "a check knows moved code without debug information" python3 - <<'END'
import json
rows = {r['function']: r for r in json.load(open('two.check.json'))['rows']}
assert 'before' not in rows
assert rows['after']['moved_from'] == 'before'
# tested like any other function: an estimate with an interval
after = rows['after']
assert after['base'] > 0 and after['low'] < after['ratio'] < after['high']
assert .6 < after['ratio'] < 1.6, after
# other code than what is gone
assert rows['fresh']['status'] == 'new' and rows['fresh']['fails']
assert rows['stale']['status'] == 'gone'
END
	t_run "… and what got slower under its new name" python3 - <<'END'
import json
rows = {r['function']: r for r in json.load(open('three.check.json'))['rows']}
after = rows['after']
assert after['status'] == 'regressed' and after['fails'], after
assert after['moved_from'] == 'before' and after['base'] > 0
assert 2 < after['ratio'] < 4.5, after
END
	t_like "… says so" "$("$TALLY" check --baseline one.bare.tally \
		--new three.bare.tally)" 'regressed, was before'
	t_like "… in a diff, too" "$(diff --top 0 one.bare.tally \
		three.bare.tally)" '\+[0-9.]+% .* after <- before'
	t_run "… and the instructions that gained, in the new code" python3 - <<'END'
import json, re
row, = [r for r in json.load(open('two.check.json'))['rows']
        if r['function'] == 'heavy']
code, at = {}, None
for l in open('two.dis'):
    m = re.match(r'([0-9a-f]+) <(.*)>:', l)
    if m:
        at = int(m[1], 16) if m[2] == 'heavy' else None
    m = re.match(r' *([0-9a-f]+):\t(\S+)', l)
    if m and at is not None:
        code[int(m[1], 16) - at] = m[2]
both = 0
for i in row['instructions']:
    assert i['symbol'] == 'heavy'
    if i['new'] > 0:
        assert i['text'].split()[0] == code[i['offset']], (i, code)
        both += i['base'] > 0
# the old code begins otherwise, so that all of it lies elsewhere
assert both >= 3, row['instructions']
END
else
	t_skip "code of a check" "python3 or objdump is not installed"
fi

# each side's source as it was in the commit that was recorded
if git --version >/dev/null 2>&1; then
	mkdir tree
	(cd tree && git init -q . && git config user.email a@example.org &&
		git config user.name a) || exit 1
	for side in one two; do
		cp $side/src/work.c tree/work.c
		# shellcheck disable=SC2086
		(cd tree && git add work.c && git commit -q -m $side &&
			${CC:-cc} $flags -o ../$side/tree "$T_TMP/tree/work.c" &&
			"$TALLY" record -q -F 2000 -o ../$side.git.tally -- \
				../$side/tree 3000) 2>git.err
	done
	# the tree has moved on, and its files are newer than both programs
	sleep 1
	(cd tree && echo '/* nothing */' >work.c && git commit -qam three)
	out=$(diff --source one.git.tally two.git.tally heavy 2>&1)
	t_like "sources of both commits stand side by side" "$out" \
		'4500; i\+\+\) +\| +[0-9]+ .*13500; i'
	t_like "… and where they are from" "$out" \
		"old: .*git $(git -C tree rev-parse HEAD~2 | cut -c 1-12):work.c"
	t_like "… and the new one" "$out" \
		"new: .*git $(git -C tree rev-parse HEAD~1 | cut -c 1-12):work.c"
	mv tree elsewhere
	t_like "… also where the repository is elsewhere" \
		"$(diff --source --repo elsewhere one.git.tally two.git.tally \
			heavy 2>&1)" '4500; i\+\+\) +\| +[0-9]+ .*13500; i'
	# 1 where the page of a check holds the loop of both sides' source
	loops_of() { # OPTIONS
		"$TALLY" check --warn-only --format none --html check.html \
			"$@" --baseline one.git.tally --new two.git.tally &&
		python3 - "$top_srcdir/tests/e2e" <<-'END'
		import base64, sys, zlib
		sys.path.insert(0, sys.argv[1])
		import html_check
		d = zlib.decompress(base64.b64decode(''.join(
		    html_check.parse('check.html')[0].texts['data'])))
		print(int(b' 4500; i++)' in d and b' 13500; i++)' in d))
		END
	}
	if command -v python3 >/dev/null; then
		t_is "… and on the page of a check" \
			"$(loops_of --repo elsewhere)" 1
		t_is "… which has none without it" "$(loops_of)" 0
	else
		t_skip "sources of commits on a check's page" \
			"python3 is not installed"
	fi
	t_like "… and without it there is none" \
		"$(diff --source one.git.tally two.git.tally heavy 2>&1)" \
		'not found|No such file|cannot'
else
	t_skip "sources of commits" "git is not installed"
fi

t_is "one recording is not enough" \
	"$(diff one.tally 2>&1 >/dev/null; echo $?)" \
	"$(printf '%s\n2' "tally: name an old and a new recording and at most one function: tally diff OLD NEW [SYMBOL], or --baseline OLD... --new NEW... for several on each side")"
t_is "a recording counts once" \
	"$(diff --baseline one.tally one.tally --new two.tally 2>&1 >/dev/null; echo $?)" \
	"$(printf '%s\n2' "tally: one.tally is named twice")"
for bad in nan ''; do
	t_is "a syntax there is not: '$bad'" \
		"$(diff --syntax="$bad" one.tally two.tally 2>&1; echo $?)" \
		"$(printf "tally: --syntax '%s': use intel or att\n2" "$bad")"
done
t_like "processes have no counterpart" \
	"$(diff --by pid one.tally two.tally 2>&1)" 'comm compares them by name'
if "$TALLY" record -q -F 500 -e cpu-clock:u -o user.tally -- one/work 2000; then
	out=$(diff user.tally two.tally)
	t_like "sides without stacks are reported" "$out" \
		'^# Only the new side was recorded with call stacks'
	t_like "other modes are other events: shares only" "$out" \
		'^# Normalised by total \(the sides measured different events'
fi
head -c 3000 two.tally >cut.tally
t_like "a cut recording is compared as far as it goes" \
	"$(diff one.tally cut.tally 2>/dev/null | comments)" \
	'cut.tally: recording did not end properly.* Normalised by time .* All of '
t_done
