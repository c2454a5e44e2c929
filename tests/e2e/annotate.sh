#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally annotate`: lines against addr2line, instructions against objdump, sums
# against the report, and all of it without the program.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

mkdir "$T_TMP/build" "$T_TMP/build/src"
cd "$T_TMP/build" || exit 1
cat >src/mix.h <<'END'
static inline unsigned step(unsigned x)
{
	x = x * 1664525u + 1013904223u;
	return x ^ x >> 13;
}
static inline unsigned mix(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		if (x & 1)
			x = step(x);
		else
			x = step(x + i);
	return x;
}
END
cat >src/work.c <<'END'
#include <stdlib.h>
#include "mix.h"
__attribute__((noinline)) unsigned heavy(unsigned x)
{
	return mix(x, 9000);
}
__attribute__((noinline)) unsigned light(unsigned x)
{
	return mix(x, 3000) + 1;
}
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += heavy(s) + light(s);
	return s == 12345;
}
END
if ! ${CC:-cc} -O2 -g -o work "$PWD/src/work.c" 2>cc.err; then
	t_skip_all "annotate" "no C compiler that works: $(head -n 1 cc.err)"
fi
if ! "$TALLY" record --source=perf -q -F 2000 -o a.tally -- ./work 8000 2>rec.err; then
	t_skip_all "annotate" "cannot record here: $(head -n 1 rec.err)"
fi
if ! command -v python3 >/dev/null; then
	t_skip_all "annotate" "no python3 to read JSON with"
fi
annotate() { "$TALLY" annotate --no-pager "$@"; }

# Text.
out=$(annotate a.tally mix)
t_is "one function by line" $? 0
t_like "its share, interval and samples" "$out" \
	'^# mix in work: [0-9.]+% \([0-9.]+-[0-9.]+\), [0-9,]+ samples$'
t_like "who paid for the copies" "$out" \
	'^# paid by: [0-9.]+% inlined into heavy, [0-9.]+% inlined into light$'
t_like "the file" "$out" \
	"^# $T_TMP/build/src/mix.h \(this machine's file\)\$"
t_like "lines with their text" "$out" ' 8          for \(int i = 0; i < n; i\+\+\)$'
t_like "what was inlined at a line" "$(annotate a.tally heavy)" \
	'^ +[0-9.]+% +5          return mix\(x, 9000\);$'
t_like "the hottest function comes first" "$(annotate a.tally)" \
	'^# (mix|step) in work'
t_like "a file" "$(annotate a.tally mix.h)" "^# .*/src/mix.h: [0-9.]+% "
t_like "a line of a file" "$(annotate a.tally src/work.c:9)" '^# light in work'
t_like "a program" "$(annotate a.tally work)" '^# (mix|step) in work'
t_like "what there is not" "$(annotate a.tally nosuch 2>&1)" \
	"no function, source file or image .*'nosuch'"
annotate --format=xml a.tally >/dev/null 2>&1
t_is "a wrong option" $? 2

# JSON: sums, and lines as addr2line has them.
annotate --format=json a.tally >all.json
annotate --format=json a.tally heavy >heavy.json
"$TALLY" report --no-pager --format=json --no-inline -s symbol a.tally \
	>report.json
cat >check.py <<'END'
import json, subprocess, sys

def samples(entry, parts=('self', 'inlined')):
    return sum(c[p]['samples'] for c in entry.get('cost', ())
               for p in parts if p in c)

def sums():
    for name in 'all.json', 'heavy.json':
        for u in json.load(open(name))['units']:
            lines = [l for f in u['files'] for l in f['lines']]
            assert sum(map(samples, lines)) == samples(u) > 0, u['name']
            assert sum(map(samples, u['paid_by'])) == samples(u), u['name']
            for c in u['codes']:
                got = sum(map(samples, c['instructions']))
                assert got == samples(c) or not c['instructions'], c['symbol']

def report():
    rows = json.load(open('report.json'))['rows']
    want = [r['self']['samples'] for r in rows if r['symbol'] == 'heavy']
    unit = json.load(open('heavy.json'))['units'][0]
    assert [samples(unit)] == want, (samples(unit), want)
    assert [samples(unit['codes'][0])] == want

def codes():
    for u in json.load(open('all.json'))['units']:
        for c in u['codes']:
            if c['image'].endswith('/work') and c['instructions']:
                yield c

def calls():
    rows = json.load(open('stacks.json'))['rows']
    want = {r['symbol']: r['total']['samples'] for r in rows}
    units = json.load(open('calls.json'))['units']
    assert [u['name'] for u in units] == ['main']
    for u in units:
        lines = {l['line']: l for f in u['files'] for l in f['lines']
                 if f['file'].endswith('.c')}
        called = {n: samples(l, ['called']) for n, l in lines.items()}
        if u['name'] == 'main':
            # A sample in atoi or in the kernel belongs to the lines beside.
            source = open('src/work.c').read().splitlines()
            at, = (n for n, text in enumerate(source, 1)
                   if 'heavy(s) + light(s)' in text)
            assert called[at] >= want['heavy'] + want['light']
            assert max(called, key=called.get) == at
        if u['name'] in ('main', 'heavy', 'light'):
            assert samples(u, ['self', 'inlined', 'called']) == want[u['name']]

# Of two tools one must agree: addr2line leaves calls from line 0 out.
def lines():
    insns = [i for c in codes() for i in c['instructions']]
    assert insns
    told = [{} for i in insns]
    for tool in sys.argv[3:]:
        out = subprocess.run([tool, '-aife', sys.argv[2]] +
                             [i['vaddr'] for i in insns], check=True,
                             capture_output=True, text=True).stdout.splitlines()
        at = 0
        for answers in told:
            assert out[at].startswith('0x'), out[at]
            place = out[at + 2].split(' (disc')[0].replace(':?', ':0')
            answers[out[at + 1], place] = tool
            at += 1
            while at < len(out) and not out[at].startswith('0x'):
                at += 1
    for i, answers in zip(insns, told):
        place = '%s:%d' % (i['file'], i['line'])
        assert any(p == place and i.get('inlined', f) == f
                   for f, p in answers), (i, answers)

def bounds():
    for c in codes():
        out = subprocess.run(['objdump', '-d', '--no-show-raw-insn',
                              '--start-address=' + c['vaddr'],
                              '--stop-address=%d' % (int(c['vaddr'], 16) +
                                                     c['size']), 'work'],
                             check=True, capture_output=True, text=True).stdout
        want = [int(l.split(':')[0], 16) for l in out.splitlines()
                if l.startswith(' ') and ':\t' in l]
        got = [int(i['vaddr'], 16) for i in c['instructions']]
        assert want and got == want, (c['symbol'], want, got)

globals()[sys.argv[1]]()
END
t_run "lines, copies and instructions add up" python3 check.py sums
t_run "a function's samples are the report's" python3 check.py report
"$TALLY" record --source=perf -q -g -F 2000 -o c.tally -- ./work 4000
annotate --format=json --top 0 --percent-limit 0 c.tally main >calls.json
"$TALLY" report --no-pager --format=json --percent-limit 0 -g -s symbol \
	c.tally >stacks.json
t_run "what a line called" python3 check.py calls
t_like "… as text" "$(annotate c.tally main)" \
	'^# main in work: .*% including callees'
t_lacks "… no such column without stacks" \
	"$(annotate a.tally heavy)" CALLS
if ! grep -q '"text":' all.json; then
	t_skip "lines of instructions" "this tally was built without Zydis"
elif command -v addr2line >/dev/null; then
	t_run "lines and inlined functions as addr2line has them" \
		python3 check.py lines work addr2line \
		$(command -v llvm-addr2line || true)
	t_run "instructions begin where objdump has them" \
		python3 check.py bounds
	asm=$(annotate a.tally heavy --asm --all)
	t_like "a loop has a bracket" "$asm" '┏.*> +[0-9a-f]+  '
	t_like "jumps have a target in the function" "$asm" \
		' j[a-z]+ 0x[0-9a-f]+ <\+0x[0-9a-f]+>'
	t_like "precision is reported" "$asm" '^# .*(precise|interrupts)'
	t_like "instructions below their line" "$(annotate a.tally heavy --both)" \
		'^ +[~0-9].* +[0-9a-f]{4,}  [a-z]+ '
	t_like "AT&T syntax" "$(annotate a.tally heavy --asm -M att --all)" \
		'%e[a-d]x'
else
	t_skip "lines of instructions" "addr2line (binutils) is not installed"
fi

# Without the program, and without the source.
annotate a.tally --both >before
cp work work.kept
mv work gone
annotate a.tally --both >after
t_same "the program is not needed" before after
mv gone work
if grep -q '"text":' all.json; then
	"$TALLY" record -q --no-symbols -o none.tally -- ./work 1000
	t_like "code from the program where the recording has none" \
		"$(annotate none.tally heavy --asm --all 2>&1)" \
		' +[0-9a-f]{4,}  ret'
fi

# A whole program: the code that the recording holds, and that of functions too
# cold for it from the program, as when each is named.
awk 'BEGIN {
	n = 150
	print "volatile unsigned v;\n#define STEP(k) v = v * k + 1;"
	print "#define STEPS(k) STEP(k) STEP(k) STEP(k) STEP(k) STEP(k)"
	for (i = 0; i < n; i++) {
		printf "__attribute__((noinline)) void cold%d(void)\n{\n", i
		print "\tSTEPS(3)\n\tSTEPS(7)\n\tSTEPS(11)\n\tSTEPS(13)\n}"
	}
	print "__attribute__((noinline)) void hot(void)"
	print "{\n\tfor (int i = 0; i < 6000; i++)"
	print "\t\t__asm__ volatile(\"\");\n}"
	print "int main(void)\n{\n\tfor (int k = 0; k < 9000; k++) {\n\t\thot();"
	for (i = 0; i < n; i++)
		printf "\t\tcold%d();\n", i
	print "\t}\n}"
}' >src/many.c
cat >many.py <<'END'
import json, subprocess, sys

def codes(*words):
    out = subprocess.run([sys.argv[1], 'annotate', '--no-pager', '--both',
                          '--format=json', *words], check=True,
                         capture_output=True, text=True).stdout
    return {c['symbol']: c for u in json.loads(out)['units']
            for c in u['codes'] if c['image'].endswith('/many')}

every = codes('many.tally', 'many')
assert len(every) > 30, len(every)
assert all(c['instructions'] for c in every.values()), [
    n for n, c in every.items() if not c['instructions']]
cold = [n for n in every if n.startswith('cold')][-1]
for name in 'hot', cold:
    one = codes('many.tally', name)[name]
    assert any(i.get('line') for i in one['instructions']), name
    assert every[name] == one, name
END
if ! grep -q '"text":' all.json; then
	t_skip "a whole program" "this tally was built without Zydis"
elif ${CC:-cc} -O1 -g -o many src/many.c &&
     "$TALLY" record --source=perf -q -F 2000 -o many.tally -- ./many; then
	t_run "a program's functions have the code that each has alone" \
		python3 many.py "$TALLY"
else
	t_fail "a program of many functions is recorded" "cc or tally failed"
fi
touch -d '+1 minute' src/mix.h
t_like "a newer source is reported" "$(annotate a.tally mix)" \
	'^# warning: the source is newer'
"$TALLY" symbolize -q --embed-source -i a.tally -o b.tally 2>err
mv "$T_TMP/build" "$T_TMP/moved"
cd "$T_TMP/moved" || exit 1
t_like "source from the recording" "$(annotate b.tally mix)" \
	' 8          for \(int i = 0'
t_like "… says so" "$(annotate b.tally mix)" 'mix.h \(from the recording\)'
# Comments that go over several lines in one.
whole() { annotate "$@" | sed -n -e '/no source/,/^[^#]/p' | sed 's/^#  *//' |
	tr '\n' ' '; }
t_like "no source is reported" "$(annotate a.tally mix)" 'no source: it is not below'
t_like "… and what can be shown" "$(whole a.tally mix)" \
	'--asm shows its instructions'
t_lacks "… if it is not" "$(whole a.tally mix --both)" 'asm shows'
t_like "--source-map" \
	"$(annotate a.tally mix --source-map "$T_TMP/build=$T_TMP/moved")" \
	' 8          for \(int i = 0'
annotate b.tally --both mix >one
rm -rf src work
annotate b.tally --both mix >two
t_same "a recording with source needs no file" one two

# What hostile files hold: the worst next to the loop, which every compiler gives
# code; around it, others show other lines.
mkdir src
for i in 1 2 3 4 5 6; do printf '\033[31mred\n'; done >src/mix.h
printf '\033]0;title\007\nx\n\342\200\256evil\n%05000d\n' 7 >>src/mix.h
for i in 11 12 13 14 15; do printf '\033[31mred\n'; done >>src/mix.h
annotate a.tally mix --all --source-map "$T_TMP/build=$T_TMP/moved" >out
# the mark is a right-to-left override, E2 80 AE; in C, bytes are characters
t_is "no escape or mark comes through" \
	"$(LC_ALL=C tr -cd '\033\007\256' <out | wc -c)" 0
t_is "their lines do" "$(grep -c ' 7  .*title' out) $(grep -c ' 9  .*evil' out
	) $(grep -c ' 10  00000' out) $(grep -c ' 6  .*red' out)" '1 1 1 1'
t_run "no endless line" awk 'length > 1300 { exit 1 } END { exit !NR }' out
annotate a.tally mix --format=json \
	--source-map "$T_TMP/build=$T_TMP/moved" >out
t_run "JSON stays JSON" python3 -m json.tool out /dev/null
head -c 5000 /dev/zero >src/mix.h
t_like "a binary file is no source" \
	"$(annotate a.tally mix --source-map "$T_TMP/build=$T_TMP/moved")" \
	'no source: it is not a text file'
t_done
