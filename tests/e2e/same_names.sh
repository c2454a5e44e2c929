#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Different functions with one name, and different images with one file name, are
# different rows in every view.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cc=${CC:-cc}
# make_part FILE FUNCTION TIMES: a static process() that does TIMES the work
make_part() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<END
#ifndef HOW
#define HOW __attribute__((noinline))
#endif
static HOW unsigned process(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n * $3; i++) {
		x = x * 1103515245 + 12345;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
unsigned $2(unsigned n)
{
	return process(n) + 1;
}
END
}
make_part a.c run_a 3
make_part b.c run_b 1
make_part x/util.c run_a 3
make_part y/util.c run_b 1
cat >main.c <<'END'
unsigned run_a(unsigned), run_b(unsigned);
int main(void)
{
	unsigned s = 0;

	for (int i = 0; i < 400; i++)
		s += run_a(200000) + run_b(200000);
	return s == 42;
}
END
if ! $cc -O2 -g -o dwarf main.c a.c b.c 2>cc.err; then
	t_skip_all "equal names" "no working compiler: $(head -n 1 cc.err)"
fi
if ! "$TALLY" record -q -F 2000 -o dwarf.tally -- ./dwarf 2>rec.err; then
	t_skip_all "equal names" "cannot record here: $(head -n 1 rec.err)"
fi

# csv FILE OPTION…: rows of the program itself, as "symbol|image|self samples"
csv() {
	f=$1; shift
	"$TALLY" report --no-header --format csv "$@" "$f" | tr -d '\r' |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ print $c["symbol"] "|" $c["image"] "|" $c["self_samples"] }'
}
# thrice NAME ROWS ONE OTHER: row ONE has about three times what OTHER has, and
# both together nearly all that is called process.
thrice() {
	got=$(printf '%s\n' "$2" | awk -F'|' -v a="$3" -v b="$4" '
		$1 == a { x += $3 } $1 == b { y += $3 }
		$1 ~ /^process([ (]|$)/ { all += $3 }
		END { r = x + y ? x / (x + y) : 0
		# what chance does, where there are few samples
		d = all ? 4 * sqrt(.1875 / all) : 0; if (d < .07) d = .07
		print (all >= 300 && all == x + y && r > .75 - d && r < .75 + d) ?
			"yes" : "no: " x "+" y " of " all }')
	[ "$got" = yes ] || printf '%s\n' "$2" | head -n 10 | sed 's/^/# /'
	t_is "$1" "$got" yes
}

thrice "with debug information: by file" "$(csv dwarf.tally)" \
	"process (a.c)" "process (b.c)"
thrice "… also where rows are functions alone" \
	"$(csv dwarf.tally -s symbol,image)" "process (a.c)" "process (b.c)"
# make FILE FLAGS SOURCES
build() {
	out=$1; shift
	$cc "$@" -o "$out" 2>cc.err && "$TALLY" record -q -F 2000 -o "$out.tally" \
		-- "./$out" 2>rec.err
}
build inlined -O2 -g -DHOW=inline main.c a.c b.c
thrice "inlined: by file" "$(csv inlined.tally)" \
	"process (a.c)" "process (b.c)"
# The others have hardly a sample of their own.
t_is "… every other name is as it was" "$(csv inlined.tally |
	sed -n 's/^\(run_[^|]*\)|.*/\1/p' | sort | tr '\n' ' ')" "run_a run_b "
build bare -O2 main.c a.c b.c
thrice "without debug information: by the symbol table's file" \
	"$(csv bare.tally)" "process (a.c)" "process (b.c)"
build paths -O2 -g main.c x/util.c y/util.c
thrice "files of one name: by what differs in their paths" \
	"$(csv paths.tally)" "process (x/util.c)" "process (y/util.c)"
build addresses -O2 main.c x/util.c y/util.c
a=$(nm addresses | sed -n 's/^0*\([0-9a-f]*\) t process$/0x\1/p' | sort)
if [ "$(echo "$a" | wc -l)" = 2 ]; then
	thrice "nothing else is known: by address" "$(csv addresses.tally)" \
		"process (util.c+$(echo "$a" | head -n 1))" \
		"process (util.c+$(echo "$a" | tail -n 1))"
fi
if command -v clang >/dev/null; then
	cc=clang build lines -O2 -gline-tables-only -DHOW=inline main.c a.c b.c
	thrice "line tables alone: by file" "$(csv lines.tally)" \
		"process (a.c)" "process (b.c)"
else
	t_skip "line tables alone: by file" "there is no clang here"
fi

# Both from one header, at one line, and out of line in each: one function.
cat >head.h <<'END'
static __attribute__((noinline)) unsigned process(unsigned n)
{
	unsigned x = n;

	for (unsigned i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(x));
	return x;
}
END
mkdir -p sub
for i in a b; do
	printf '#include "../head.h"\nunsigned run_%s(unsigned n) { %s }\n' \
		$i 'return process(n) + 2;' >sub/$i.c
done
build header -O2 -g -Isub/.. main.c sub/a.c "$T_TMP/sub/../sub/b.c"
t_is "a header's function with two copies is one row" \
	"$(csv header.tally | grep -c '^process')" 1
t_like "… of that name alone" "$(csv header.tally)" '^process\|'

# --- filters, annotate ---
for one in 'process (b.c)' 'b.c:process'; do
	t_is "--symbol '$one' means one of them" \
		"$(csv dwarf.tally --symbol "$one" | cut -d'|' -f1)" \
		"process (b.c)"
	t_like "annotate '$one', too" "$("$TALLY" annotate dwarf.tally "$one" |
		grep '^# process')" '^# process \(b\.c\) in dwarf'
	t_is "… and no other" "$("$TALLY" annotate dwarf.tally "$one" |
		grep -c '^# process')" 1
done
t_is "--symbol process means both" \
	"$(csv dwarf.tally --symbol process | wc -l)" 2
t_is "annotate process shows both" "$("$TALLY" annotate dwarf.tally process |
	sed -n 's/^# \(process ([ab].c)\) in.*/\1/p' | sort | tr '\n' ' ')" \
	"process (a.c) process (b.c) "

# --- trees and pictures ---
t_is "callers: each has its own" "$("$TALLY" report --no-header -g callers \
	inlined.tally --symbol process | awk '/process \(/ { f = $4 $5 }
	/run_[ab]$/ { print f, $NF }' | sort)" \
	"process(a.c) run_a
process(b.c) run_b"
t_is "callees: each below its own" "$("$TALLY" report --no-header -g callees \
	-s comm inlined.tally | sed 's/ (inlined)//' |
	awk '/run_[ab]$/ { f = $NF } / process \(/ { print f, $NF }' | sort)" \
	"run_a (a.c)
run_b (b.c)"
"$TALLY" flamegraph --format svg -o flame.svg inlined.tally
t_is "a flame graph has both" "$(grep -o '<title>process ([ab].c)' flame.svg |
	sort | tr '\n' ' ')" \
	"<title>process (a.c) <title>process (b.c) "
t_is "JSON names them for good" "$("$TALLY" report --format json dwarf.tally |
	grep -o '"id":"dwarf:[ab].c:process"' | sort | tr '\n' ' ')" \
	'"id":"dwarf:a.c:process" "id":"dwarf:b.c:process" '

t_is "… branches of trees, too" "$("$TALLY" report --format json -g callees \
	-s comm dwarf.tally | tr '{' '\n' |
	grep -o '"id":"dwarf:[ab].c:process"' | sort -u | tr '\n' ' ')" \
	'"id":"dwarf:a.c:process" "id":"dwarf:b.c:process" '

# --- two builds: only b.c's process does more, four times as much ---
# Both sides are recorded in turns, so that a machine that gets busier meanwhile
# makes neither of them slower.  What it still does to the other function is small
# beside that.
mkdir -p old/src new/src
for side in old new; do
	make_part $side/src/a.c run_a 3
	make_part $side/src/b.c run_b $([ $side = old ] && echo 1 || echo 4)
	sed 's/i < 400/i < 150/' main.c >$side/src/main.c
	for g in "" -g; do
		(cd $side/src && $cc -O2 $g -o ../prog$g main.c a.c b.c)
	done
done
for g in "" -g; do
	for i in 1 2 3; do
		for side in old new; do
			"$TALLY" record -q -F 2000 -o $side$g.$i.tally -- $side/prog$g
		done
	done
done
# sides COMMAND PROG OPTION…: COMMAND on the recordings of both builds
sides() {
	how=$1 g=$2; shift 2
	"$TALLY" "$how" "$@" --baseline old$g.[123].tally \
		--new new$g.[123].tally
}
# ratios OLD NEW: of JSON with an object a line: each process and whether its cost,
# between the numbers that OLD and NEW precede, is the same, within what a busy
# machine does, or about four times as much
ratios() {
	sed -n "s/.*\"\(process ([ab].c)\)\".*$1\([0-9.]*\).*$2\([0-9.]*\).*/\1 \2 \3/p" |
		awk '{ r = $3 > 0 ? $4 / $3 : 0
		print $1, $2, (r > .6 && r < 1.6 ? "same" :
			r > 2.5 && r < 6.4 ? "fourfold" : r) }' |
		sort | tr '\n' ' '
}
for g in "" -g; do
	t_is "diff $g: the one that grew is first" \
		"$(sides diff "$g" --no-header |
		sed -n '2s/^  *[0-9].*  \(process.*\)/\1/p')" "process (b.c)"
	out=$(sides diff "$g" --format json --percent-limit 0 --top 0)
	t_is "… and the other did not" "$(echo "$out" | ratios \
		'"self":.*"old":{[^}]*"cost":' '"new":{[^}]*"cost":')" \
		"process (a.c) same process (b.c) fourfold "
	t_is "… both are on both sides" "$(echo "$out" |
		grep '"symbol":"process' | grep -vc '"samples":0')" 2
done
sides diff -g --svg -o diff.svg
t_is "its picture has both" "$(grep -o '<title>process ([ab].c)' diff.svg |
	sort | tr '\n' ' ')" "<title>process (a.c) <title>process (b.c) "
t_is "annotated side by side: the one that grew" "$(sides diff -g \
	--annotate 2>/dev/null |
	sed -n 's/^# \(process ([ab].c)\).*/\1/p' | head -n 1)" "process (b.c)"

for g in "" -g; do
	sides check "$g" --json check.json >check.out 2>&1
	t_is "check $g: fails" $? 1
	t_like "… names the one that got slower" "$(cat check.out)" \
		'process \(b\.c\)'
	t_is "… for what it does" "$(tr '{' '\n' <check.json |
		sed -n 's/.*"function":"\(process (b.c)\)".*"status":"\([a-z]*\)".*/\2/p')" \
		regressed
	t_is "… and tests both" "$(tr '{' '\n' <check.json |
		ratios '"base":' '"new":')" \
		"process (a.c) same process (b.c) fourfold "
done

# --- images ---
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	unsigned (*f[2])(unsigned) = { 0, 0 }, s = 0;

	for (int i = 0; i < 2; i++) {
		void *lib = dlopen(argv[argc - 2 + i], RTLD_NOW | RTLD_LOCAL);

		*(void **)&f[i] = lib ? dlsym(lib, "run") : NULL;
		if (!f[i])
			return puts(dlerror());
	}
	for (int i = 0; i < 400; i++)
		s += f[0](200000) + f[1](200000);
	return s == 42;
}
END
make_part one/x.c run 3
make_part two/x.c run 1
for g in "" -g; do
	for d in one two; do
		$cc -O2 $g -shared -fPIC -o $d/libx.so $d/x.c
	done
	$cc -O2 -o load load.c -ldl &&
		"$TALLY" record -q -F 2000 -g -o libs$g.tally -- \
			./load one/libx.so two/libx.so
	thrice "two libraries of one name, $g: rows of each" \
		"$(csv libs$g.tally | sed 's,|[^|]*/\(...\)/libx.so,(\1)|,')" \
		"process(one)" "process(two)"
	t_is "… told apart in the table" "$("$TALLY" report --no-header \
		libs$g.tally | sed -n 's/.*% *\(.*libx.so\)  *process$/\1/p' |
		sort | tr '\n' ' ')" "one/libx.so two/libx.so "
	t_is "… and where images have no column" "$("$TALLY" report \
		--no-header -s symbol libs$g.tally |
		sed -n 's/.*%  \(process.*\)$/\1/p' | sort | tr '\n' '|')" \
		"process (one/libx.so)|process (two/libx.so)|"
	t_is "… --symbol knows the name" "$("$TALLY" report --no-header \
		-s symbol --symbol 'process (two/libx.so)' libs$g.tally |
		grep -c '%.*process (two')" 1
done
# One path, two builds: the second takes the place of the first.
cat >again.sh <<'END'
./work
mv other work
./work
END
cat >whole.c <<'END'
unsigned run(unsigned n);
int main(void)
{
	unsigned s = 0;

	for (int i = 0; i < 400; i++)
		s += run(200000);
	return s == 42;
}
END
$cc -O2 -g -Wl,--build-id -o work whole.c one/x.c &&
	$cc -O2 -g -Wl,--build-id -o other whole.c two/x.c
ids=$(for f in work other; do readelf -n $f |
	sed -n 's/.*Build ID: \(........\).*/\1/p'; done)
if [ "$(echo "$ids" | wc -l)" = 2 ] &&
	"$TALLY" record -q -F 2000 -o again.tally -- sh again.sh; then
	first=$(echo "$ids" | head -n 1) second=$(echo "$ids" | tail -n 1)
	thrice "two builds at one path: rows of each" \
		"$(csv again.tally | sed 's,|[^|]*/work \[\(.*\)\]|,(\1)||,')" \
		"process($first)" "process($second)"
	t_is "… told apart in the table" "$("$TALLY" report --no-header \
		again.tally | sed -n 's/.*% *\(work \[[^]]*\]\)  *process$/\1/p' |
		sort | tr '\n' ' ')" "$(printf '%s\n' "work [$first]" \
		"work [$second]" | sort | tr '\n' ' ')"
else
	t_skip "two builds at one path" "no build-ids here"
fi
# Instances of one template: the short names keep what differs.
cat >instances.cpp <<'END'
template <class T> struct Box { };
template <class T, int N> __attribute__((noinline)) void apply(T)
{
	for (long i = 0; i < 20000000; i++)
		__asm__ volatile("" :: "r"(N));
}
int main()
{
	apply<Box<int>, 1>({});
	apply<Box<int>, 2>({});
	apply<Box<long>, 1>({});
}
END
if ${CXX:-c++} -O1 -g instances.cpp -o instances 2>err &&
	"$TALLY" record -q -F 2000 -o i.tally ./instances; then
	want='apply<Box<int>, 1>(…)
apply<Box<int>, 2>(…)
apply<Box<long>, …>(…)'
	rows() { grep -o 'apply<[^|]*>(…)' | LC_ALL=C sort -u; }
	t_is "instances of a template" \
		"$("$TALLY" report --no-header i.tally | rows)" "$want"
	t_is "… in a diff" "$("$TALLY" diff i.tally i.tally | rows)" "$want"
	t_is "… above their lines" \
		"$("$TALLY" annotate i.tally | grep '^#' | rows)" "$want"
	t_like "… with whole names when wanted" \
		"$("$TALLY" report --no-header --full-names i.tally)" \
		'apply<Box<long>, 1>\(Box<long>\)'
	"$TALLY" report --html -o i.html i.tally
	python3 "$top_srcdir/tests/e2e/html_check.py" short i.html >i.short
	t_is "… in the page" "$(rows <i.short)" "$want"
else
	t_skip "instances of a template" "$(head -n 1 err)"
fi
# Two programs of one name at two places.
mkdir -p left right
$cc -O2 -g -o left/prog whole.c one/x.c
$cc -O2 -g -o right/prog whole.c two/x.c
"$TALLY" record -q -F 2000 -o progs.tally -- sh -c 'left/prog; right/prog'
t_is "two programs of one name" "$("$TALLY" report --no-header progs.tally |
	sed -n 's/.*% *\(.*prog\)  *process$/\1/p' | sort | tr '\n' ' ')" \
	"left/prog right/prog "
t_done
