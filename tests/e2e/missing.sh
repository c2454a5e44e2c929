#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recording lacks, which command would help, and that it does help.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >work.c <<'END'
#include <stdlib.h>
static inline unsigned mix(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}
__attribute__((noinline)) unsigned heavy(unsigned x) { return mix(x, 9000); }
__attribute__((noinline)) unsigned light(unsigned x) { return mix(x, 3000); }
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += heavy(s) + light(s);
	return s == 12345;
}
END
need="${CC:-cc} -O2 -g -Wl,--build-id -o whole work.c"
if ! $need 2>cc.err || ! command -v objcopy >/dev/null ||
   ! command -v python3 >/dev/null; then
	t_skip_all "missing" "needs a C compiler, objcopy and python3"
fi
objcopy --only-keep-debug whole whole.debug
objcopy --strip-all whole work
id=$(readelf -n work | sed -n 's/.*Build ID: //p')
if ! "$TALLY" record --source=perf -q -F 2000 -o a.tally -- ./work 10000 2>rec.err; then
	t_skip_all "missing" "cannot record here: $(head -n 1 rec.err)"
fi

# JSON [EXPRESSION over m, the row of ./work]
row() {
	python3 -c '
import json, sys
d = json.load(sys.stdin)["header"]["missing"]
m = [x for x in d if x["path"].endswith("/work")]
m = m[0] if m else None
print(eval(sys.argv[1]))' "$1"
}

cp a.tally before.tally
text=$("$TALLY" report a.tally)
# A sample in _start, which is exported, makes the line one of two.
t_like "the report says what is missing below the table" \
	"$(echo "$text" | sed ':a;N;$!ba;s/\n#   / /g')" \
	'^# work: [0-9.]+% of samples unresolved.*stripped, no debug'
"$TALLY" report --format=json a.tally >a.json
t_is "JSON says why" "$(row 'm["lacks"], m["names_from"][-1:] != ["dwarf"]' \
	<a.json)" "(['symtab', 'dwarf'], True)"
t_is "and where the file should be" "$(row 'm["file"]' <a.json)" \
	"/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" |
		cut -c3-).debug"
t_is "a program of no package has no package" "$(row 'm["package"] == ""' \
	<a.json)" True
t_like "but advice" "$(row 'm["note"]' <a.json)" \
	'tally symbolize --debug-dir'
t_is "the same each time" "$("$TALLY" report --format=json a.tally)" \
	"$(cat a.json)"
t_like "tally info shows it with the image" "$("$TALLY" info a.tally)" \
	'-> compile with -g and do not strip'
t_lacks "--no-header is without it" \
	"$("$TALLY" report --no-header a.tally)" '^#'

# The debug file arrives.
dir=dbg/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$dir"
cp whole.debug "$dir/$(echo "$id" | cut -c3-).debug"
t_run "symbolize takes it in" "$TALLY" symbolize -q --debug-dir dbg a.tally
"$TALLY" report --format=json -s symbol,line a.tally >b.json
t_is "nothing is missing of it any more" "$(row 'm' <b.json)" None
t_is "functions have their names" "$("$TALLY" report --no-header --no-inline \
	--format=csv -s symbol a.tally | tail -n +2 | cut -d, -f1 |
	grep -x -e heavy -e light | sort | tr '\n' ' ')" "heavy light "
line=$(grep -n 'x = x' work.c | cut -d: -f1)
t_like "and their lines" "$("$TALLY" report --no-header -s symbol,line a.tally)" \
	"mix +[^ ]*work.c:($line|$((line - 1)))"

# The other ways in which a folder may hold it.
want=$("$TALLY" report --no-header -s symbol,line a.tally)
layout() { # NAME: the folder lay is ready
	cp before.tally l.tally
	"$TALLY" symbolize -q --debug-dir empty --debug-dir lay l.tally
	t_is "$1" "$("$TALLY" report --no-header -s symbol,line l.tally)" \
		"$want"
	rm -rf lay
}
mkdir -p empty "lay/$id"
cp whole.debug "lay/$id/debuginfo"
layout "a folder may be a cache of debuginfod"
mkdir -p "lay/$PWD"
cp whole "lay/$PWD/work"
layout "the unstripped program may lie at its path below"
mkdir lay
cp whole.debug lay/work.debug
layout "the debug file may lie there by its name"
mkdir lay
cp whole lay/another-name
cp work.c lay/aaa
cp work lay/work
layout "or under another name"
cp whole.debug lay
layout "or be named itself"
mkdir -p cache/debuginfod_client
mkdir "cache/debuginfod_client/$id"
cp whole.debug "cache/debuginfod_client/$id/debuginfo"
cp before.tally l.tally
XDG_CACHE_HOME=cache "$TALLY" symbolize -q l.tally
t_is "the user's cache of debuginfod is used" \
	"$("$TALLY" report --no-header -s symbol,line l.tally)" "$want"
"$TALLY" record -q -F 2000 --debug-dir dbg -o r.tally -- ./work 1000
t_like "record takes --debug-dir" \
	"$("$TALLY" report --no-header -s symbol,line r.tally)" 'mix .*work.c:'
"$TALLY" record -q -F 2000 --no-symbols -o r.tally -- ./work 1000
t_like "report too, when there are no symbols yet" "$("$TALLY" report \
	--no-header -s symbol,line --debug-dir dbg r.tally 2>&1)" \
	'mix .*work.c:'
at=$(nm whole | sed -n 's/ T heavy$//p')
t_is "addr2line too" "$("$TALLY" addr2line -f -e work --debug-dir empty \
	--debug-dir dbg "$at" | head -n 1)" heavy
t_like "a folder that is not there is reported" "$("$TALLY" symbolize \
	--debug-dir nowhere a.tally 2>&1)" 'nowhere.*No such file'
# Files of other code are never used.
sed 's/9000/9001/' work.c >other.c
${CC:-cc} -O2 -g -Wl,--build-id -o other other.c
mkdir -p "lay/$PWD"
cp other "lay/$PWD/work"
cp other lay/work.debug
cp before.tally l.tally
"$TALLY" symbolize -q --debug-dir lay l.tally
"$TALLY" report --format=json l.tally >l.json
t_is "a file with another build-id is not used" \
	"$(row '"dwarf" in m["lacks"]' <l.json)" True
rm -rf lay

# Once there, names stay when the debug file goes.
"$TALLY" symbolize -q a.tally
"$TALLY" report --format=json -s symbol,line a.tally >c.json
t_is "symbolizing without the debug file keeps its names" "$(cat c.json)" \
	"$(cat b.json)"

# Packages: the same answer as dpkg's own.
if command -v dpkg-query >/dev/null && [ -d /var/lib/dpkg/info ]; then
	python3 - <<'END' >dpkg.out 2>&1
import json, os, random, subprocess, sys

# Recorded system-wide: whatever ran; asked of dpkg: who owns it.
tally = os.environ['TALLY']
cmd = ('git --version; perl -e 1; bash -c :; sort /dev/null; sed q /dev/null; '
       'gcc --version; tar --version; gzip -V; xz -V; awk 1 /dev/null') 
subprocess.run([tally, 'record', '-q', '-F', '20000', '-o', 'p.tally', '--',
                'sh', '-c', 'for i in 1 2 3; do ' + cmd + '; done'],
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
out = subprocess.run([tally, 'report', '--format=json', 'p.tally'],
                     stdout=subprocess.PIPE).stdout
owners = {}
missing = [m for m in json.loads(out)['header']['missing']
           if m['path'].startswith('/usr/') and m['lacks']]
paths = [q for m in missing
         for q in (m['path'], m['path'].replace('/usr/', '/', 1))]
# one question, as each reads the lists of all packages
r = subprocess.run(['dpkg-query', '-S'] + paths, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL, text=True) if paths else None
for line in r.stdout.splitlines() if r else ():
    if not line.startswith('diver'):
        packages, path = line.rsplit(': ', 1)
        owners.setdefault(path, set()).update(
            n.split(':')[0].strip() for n in packages.split(','))
for m in missing:
    p = m['path']
    names = owners.get(p, set()) | owners.get(p.replace('/usr/', '/', 1), set())
    got = m['package']
    if not names:
        good = not got
    else:
        good = any(got in (n + '-dbgsym', n + '-dbg') or
                   ('python' in n and n.split('-')[0].replace('libpy', 'py') +
                    '-dbg' == got) for n in names)
    if not good:
        print('not ok', p, got, names)
        sys.exit(1)
print('ok', len(missing)) if missing else print('none')
END
	case $(cat dpkg.out) in
	ok*) t_ok "packages are those that dpkg-query names: $(cat dpkg.out)" 0;;
	none) t_skip "packages are those that dpkg-query names" \
		"every program that ran has its debug file";;
	*) sed 's/^/# /' dpkg.out
		t_ok "packages are those that dpkg-query names" 1;;
	esac
else
	t_skip "packages are those that dpkg-query names" "no dpkg here"
fi

# One library after the other, each opened once.
mkdir libs
{
	echo '#include <dlfcn.h>'
	echo '#include <stdio.h>'
	echo 'int main(void) { for (int i = 0; i < 16; i++) { char s[40];'
	echo 'sprintf(s, "./libs/l%d.so", i); void *h = dlopen(s, RTLD_NOW);'
	echo 'unsigned (*f)(unsigned) = h ? dlsym(h, "work") : 0;'
	echo 'if (!f) return 1; for (int k = 0; k < 800; k++) f(k); }'
	echo 'return 0; }'
} >many.c
i=0
while [ $i -lt 16 ]; do
	printf '%s\n' "unsigned in$i(unsigned x);" "__attribute__((noinline))" \
		"unsigned in$i(unsigned x) { for (int i = 0; i < 9000; i++)" \
		"x = (x ^ x >> 7) * 1664525u + $i; return x; }" \
		"unsigned work(unsigned x); unsigned work(unsigned x)" \
		"{ return in$i(x) + 1; }" >libs/l$i.c
	${CC:-cc} -O2 -g -shared -fPIC -o libs/l$i.so libs/l$i.c
	i=$((i + 1))
done
${CC:-cc} -O1 -o many many.c -ldl
"$TALLY" record -q --user -F 2000 --no-symbols -o m.tally -- ./many
t_is "every library has its own function" "$("$TALLY" report --no-header \
	--format=csv -s image,symbol m.tally 2>/dev/null | cut -d, -f1,2 |
	sed -n 's|^.*/l\([0-9]*\).so,in\([0-9]*\)$|\1 \2|p' |
	awk '$1 == $2' | sort -u | wc -l)" 16
if command -v strace >/dev/null &&
   strace -f -o trace -e trace=openat,open "$TALLY" symbolize -q \
	-o m2.tally m.tally 2>/dev/null; then
	t_is "each image is opened once" "$(grep -o 'libs/l[0-9]*\.so"' trace |
		sort | uniq -c | awk '{ print $1 }' | sort -u)" 1
else
	t_skip "each image is opened once" "no strace that works"
fi
# Whichever thread reads which image: the same bytes.
for n in 1 2 3; do
	"$TALLY" symbolize -q -o s$n.tally m.tally
done
t_same "the file is the same each time" s1.tally s2.tally
taskset -c 0 "$TALLY" symbolize -q -o s4.tally m.tally
t_same "and with one processor" s1.tally s4.tally
t_same "and once more with all" s1.tally s3.tally
t_done
