# SPDX-License-Identifier: GPL-2.0-or-later
# tally addr2line takes the place of binutils' addr2line: same output for the
# same options, wherever both mean the same (doc/symbolizing-differences.md).
. "$top_srcdir/tests/lib.sh"

src=$(cd "$top_srcdir/tests/symbolize" && pwd)
cd "$T_TMP" || exit 1
status() { "$@" >/dev/null 2>err; echo $?; }
a2l() { "$TALLY" addr2line "$@"; }
# binutils leaves out inlined functions of clang's DWARF 5 (2.40): programs to
# compare with it are gcc's.
! command -v gcc >/dev/null || CC=gcc

$CC -O2 -g "$src/inlines.c" -o prog || exit 1
work=$(nm -S prog | sed -n 's/^\([0-9a-f]*\) \([0-9a-f]*\) [tT] work$/\1 \2/p')
start=${work% *} size=${work#* }
[ -n "$start" ] || exit 1

# Whole functions: behind a function's end binutils goes on with its name.
# Discriminators tell parts of a line apart; tally does not show them.
i=0
while [ $i -lt $((0x$size)) ]; do
	printf '0x%x\n' $((0x$start + i))
	i=$((i + 1))
done >addr

if command -v addr2line >/dev/null 2>&1; then
	binutils() { # OPTIONS
		addr2line -e prog "$@" | sed 's/ (discriminator [0-9]*)//'
	}
	same() { # OPTIONS
		binutils "$@" <addr >want
		a2l "$@" -e prog <addr >got
		[ -s want ] && cmp want got
	}
	for o in -f -i -fi -fia -fip -fipa -fis -a -p -pa -s -Cfi \
		--functions "--inlines --addresses" "-f --pretty-print" \
		--basenames "-fi --demangle" "-fi --demangle=auto" \
		"-fi -r" "-fi -R" "-fi -b elf64-x86-64"; do
		# shellcheck disable=SC2086 # several options
		t_run "as addr2line $o" same $o
	done
	# one address a line, whatever the line is
	same_lines() {
		printf "$1" >lines
		binutils -fia <lines >want
		a2l -e prog -fia <lines >got
		diff want got
	}
	t_run "an empty line" same_lines '\n'
	t_run "no line" same_lines ''
	t_run "what is no number" same_lines ',\nzz 12\n0x\n-1\n- 1\n;x\n'
	t_run "names" same_lines 'main\n main 12\nnosuch\nabc\n0xmain\n'
	t_run "names and offsets" same_lines \
		'work+0x4\nmain + 5 x\nwork-4\nwork+10\nwork+\nadd+1\nz+1\n'
	t_run "a number that is too large" same_lines 'fffffffffffffffff0\n'
	t_run "blanks and capitals" same_lines '0X10\n \tAbC\n'
	t_run "words behind a number" same_lines "$start work\\n"
	t_run "a line without end" same_lines "$start"
	t_run "a return before the end of line" same_lines "$start\\r\\n"
	t_run "a long line" same_lines "$(printf '%0250d' 1)\\n$start\\n"
	t_run "a NUL" same_lines "$start\\000 1\n"
	t_run "addresses outside of the program" same_lines \
		'0\n1\nffffffff\nfffffffffffffff\nffffffffffffffff\n'
	same_section() {
		binutils -fi -j "$1" 0 10 7fffffff >want
		a2l -e prog -fi -j "$1" 0 10 7fffffff >got
		diff want got
	}
	t_run "-j .text" same_section .text
	# Without DWARF: functions by symbols; local ones know their file.
	cat >plain.c <<-'EOF'
	static __attribute__((noinline)) int hidden(int x) { return x * 3 + 1; }
	int seen(int x) { return hidden(x) / 5 + hidden(x + 1); }
	int main(int c, char **v) { (void)v; return seen(c); }
	EOF
	same_symbols() {
		$CC -O1 -fno-inline -fno-ipa-cp plain.c -o plain &&
		nm plain | sed -n 's/ [tT] \(hidden\|seen\|main\)$//p' >at &&
			addr2line -e plain -fia <at >want &&
			a2l -e plain -fia <at >got || return 1
		diff want got && grep -qx 'plain\.c:?' got
	}
	t_run "functions without DWARF" same_symbols
	$CC -O2 -g -m32 "$src/inlines.c" -o prog32 2>/dev/null && {
		t_is "32-bit addresses" "$(a2l -e prog32 -a 10 123456789a)" \
			"$(addr2line -e prog32 -a 10 123456789a)"
	}
else
	t_skip "as addr2line" "addr2line (binutils) is not installed"
fi

# The command line.
a=0x$start
cp prog a.out
t_is "a.out is the default" "$(a2l -f $a)" "$(a2l -f -e prog $a)"
t_is "words are answered in their order" "$(a2l -e prog -fia $a 0 $a)" \
	"$(printf '%s\n' $a 0 $a | a2l -e prog -fia)"
printf '%s\n' '-e prog' "'-f' \"$a\"" >words
t_is "@FILE" "$(a2l @words)" "$(a2l -f -e prog $a)"
echo '@words -a' >more
t_is "@FILE in a file" "$(a2l @more)" "$(a2l -f -e prog $a -a)"
t_is "@FILE without end" "$(echo @loop >loop; status a2l @loop)" 2
t_is "a file that is not there" "$(status a2l -e nothing 1)" 1
t_like "… is named" "$(cat err)" 'nothing: .*No such file'
echo text >text
t_is "a file that is no program" "$(status a2l -e text 1)" 1
t_like "… is named" "$(cat err)" 'text: .*ELF'
t_is "a folder" "$(status a2l -e . 1)" 1
t_is "an empty file" "$(: >empty; status a2l -e empty 1)" 1
t_is "no such section" "$(status a2l -e prog -j .nothing 1)" 1
t_like "… is named" "$(cat err)" 'no section \.nothing'
t_is "no such style" "$(status a2l --demangle=x -e prog 1)" 2
t_like "--version" "$(a2l --version)" '^tally addr2line [0-9]'
ln -s "$TALLY" my-addr2line
t_is "by a link called …addr2line" "$(./my-addr2line -fia -e prog $a)" \
	"$(a2l -fia -e prog $a)"

# Names.
cat >names.cpp <<'EOF'
template <class T> struct box {
	T v; __attribute__((noinline)) T twice(T x) { return v * x + x; } };
int main(int c, char **) { box<int> b{c}; return b.twice(c); }
EOF
if ${CXX:-g++} -O1 -g names.cpp -o names 2>/dev/null; then
	at=$(nm names | sed -n 's/^\([0-9a-f]*\) . \(_ZN3boxI.*\)/\1 \2/p')
	fn=${at#* } at=${at% *}
	t_is "names of the linker" "$(a2l -fs -e names "$at")" "$fn
names.cpp:2"
	t_is "readable names" "$(a2l -Cfs -e names "$at")" \
		"$(c++filt "$fn")
names.cpp:2"
	# g++ gives templates of local types no linker's name in DWARF.
	local_type() {
		cat >local.cpp <<-'EOF'
		template <class F> __attribute__((noinline)) int apply(F f, int n)
		{ int s = 0; while (n-- > 0) s += f(n) * n; return s; }
		int main(int c, char **)
		{ return apply([c](int x) { return x ^ c; }, c); }
		EOF
		${CXX:-g++} -O1 -fno-ipa-cp -fno-ipa-sra -g local.cpp -o local ||
			return 1
		here=$(nm local | sed -n 's/^\([0-9a-f]*\) . \(_Z5apply.*\)/\1 \2/p')
		[ -n "$here" ] && a2l -fi -e local "${here% *}" | grep -qx "${here#* }"
	}
	t_run "functions of local types" local_type
	# Many at once, by two threads: one by one, and as c++filt says.
	filtered() {
		${CXX:-g++} -O2 -g "$src/inlines.cpp" -o names2 || return 1
		objdump -d --no-show-raw-insn -j .text names2 |
			sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p' >at
		[ "$(wc -l <at)" -gt 600 ] || return 1
		a2l -fi -e names2 <at | c++filt >want
		a2l -Cfi -e names2 <at >got
		diff want got && grep -q '(' got || return 1
		head -n 60 at | while read -r one; do
			a2l --short -fi -e names2 "$one"
		done >want
		a2l --short -fi -e names2 <at | head -n "$(wc -l <want)" >got
		diff want got
	}
	t_run "readable names of many addresses" filtered
	t_is "--demangle=none" "$(a2l --demangle=none -fs -e names "$at")" \
		"$(a2l -fs -e names "$at")"
	t_is "--short" "$(a2l --short -f -e names "$at" | head -n 1)" \
		"box<…>::twice(…)"
	t_like "--json" "$(a2l --json -e names "$at" 0)" \
		'"function":"box.*"linkage_name":"_ZN3box.*.*"line":2,'
else
	t_skip "names" "no C++ compiler"
fi

# Only the unit's language tells geo__area of Ada from one of C.
if ! command -v gnatmake >/dev/null 2>&1; then
	t_skip "names of Ada" "gnatmake is not installed"
else
	mkdir -p ada && cd ada || exit 1
	echo 'package Geo is function Area (N : Integer) return Integer; end;' \
		>geo.ads
	echo 'package body Geo is function Area (N : Integer) return Integer is
		begin return N * N; end; end;' >geo.adb
	echo 'int geo__volume(int n) { return n * n * n; }' >c.c
	echo 'with Geo; procedure Main is
		function Volume (N : Integer) return Integer;
		pragma Import (C, Volume, "geo__volume");
		begin if Geo.Area (3) + Volume (3) = 0 then raise Program_Error;
		end if; end;' >main.adb
	$CC -g -c c.c && gnatmake -q -g main.adb -o prog -largs c.o 2>log
	nm prog | sed -n 's/^\([0-9a-f]*\) T geo__\(area\|volume\)$/\1/p' >at
	cd ..
	t_is "names of Ada by the unit's language" \
		"$(a2l -Cf -e ada/prog <ada/at | sed -n 1~2p | sort)" \
		"geo.area
geo__volume"
	t_is "the same of many, by two threads" "$(for i in $(seq 300); do
		cat ada/at; done | a2l -Cf -e ada/prog | sed -n 1~2p | sort -u)" \
		"geo.area
geo__volume"
	t_like "and with --json" "$(a2l --json -e ada/prog <ada/at)" \
		'"function":"geo.area","linkage_name":"geo__area"'
fi

# Each of many small units has its own abbreviations (like libc6-dbg's): the last
# one is read as the first.  Only DWARF has these names.
units() {
	awk 'BEGIN {
		for (i = 1; i <= 1500; i++) {
			print ".text\n.Lf" i ": .skip 16"
			print ".section .debug_abbrev,\"\",%progbits"
			print ".La" i ": .byte 1,0x11,1,0x11,1,0x12,6,0,0"
			print ".byte 2,0x2e,0,3,8,0x11,1,0x12,6,0,0,0"
			print ".section .debug_info,\"\",%progbits"
			print ".long .Le" i " - .Ls" i "\n.Ls" i ": .short 4"
			print ".long .La" i "\n.byte 8,1\n.quad .Lf" i
			print ".long 16\n.byte 2\n.asciz \"u" i "\""
			print ".quad .Lf" i "\n.long 16\n.byte 0\n.Le" i ":"
		}
		print ".text\n.globl _start\n_start: .skip 16" }' >units.s
	$CC -c units.s -o units.o && $CC -nostdlib -static units.o -o units ||
		return 1
	i=1
	from=0x$(objdump -h units | awk '$2 == ".text" { print $4 }')
	while [ $i -le 1500 ]; do
		printf '0x%x\n' $((from + 16 * i - 8))
		i=$((i + 1))
	done >units.at
	seq 1500 | sed 's/^/u/' >want
	a2l -f -e units <units.at | sed -n 1~2p >got
	cmp want got
}
t_run "functions of 1,500 units" units

# 1 MB of hostile debug information whose names share their bytes: copies of them
# would take 2 GB.
shared_names() {
	awk 'BEGIN {
		print ".text\n.globl _start\n_start: .skip 2000"
		print ".section .debug_abbrev,\"\",%progbits"
		print ".byte 1,0x11,1,0x11,1,0x12,6,0,0"
		print ".byte 2,0x2e,0,3,0xe,0x11,1,0x12,6,0,0,0"
		print ".section .debug_info,\"\",%progbits"
		print ".long .Le - .Ls\n.Ls: .short 4\n.long .debug_abbrev"
		print ".byte 8,1\n.quad _start\n.long 2000"
		for (i = 0; i < 2000; i++)
			print ".byte 2\n.long .Ln+" i "\n.quad _start+" i "\n.long 1"
		print ".byte 0\n.Le:\n.section .debug_str,\"\",%progbits"
		print ".Ln: .fill 1048576,1,0x61\n.byte 0" }' >shared.s
	$CC -nostdlib -static shared.s -o shared || return 1
	from=0x$(objdump -h shared | awk '$2 == ".text" { print $4 }')
	i=0
	while [ $i -lt 2000 ]; do
		printf '0x%x\n' $((from + i))
		i=$((i + 1))
	done >shared.at
	a2l -f -e shared <shared.at | wc -c >size
	[ "$(cat size)" -gt 8000 ] && [ "$(cat size)" -lt 1000000 ]
}
t_run "names that share their bytes" shared_names

# Answers come as the questions do, while the other side waits.
if command -v python3 >/dev/null 2>&1; then
	cat >ask.py <<'EOF'
import os, select, subprocess, sys
p = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, bufsize=0)
def ask(text):
    p.stdin.write(text.encode())
    got = b''
    while got.count(b'\n') < 3 * text.count('\n'):
        if not select.select([p.stdout], [], [], 30)[0]:
            sys.exit('no answer to %r after %r' % (text, got))
        piece = os.read(p.stdout.fileno(), 65536)
        if not piece:
            sys.exit('ended after %r' % got)
        got += piece
    return got.decode().split('\n')[:-1]
for i in range(20):
    got = ask(sys.argv[1] + '\n')
    assert got[0] == '0x%016x' % int(sys.argv[1], 16) and len(got) == 3, got
    # perf's: an address and a line that marks its answer's end
    got = ask(sys.argv[1] + '\n,\n')
    assert got[3:] == ['0x' + 16 * '0', '??', '??:0'], got
p.stdin.write(sys.argv[1].encode()[:4])     # half of a question is none
assert not select.select([p.stdout], [], [], 0.3)[0]
assert len(ask(sys.argv[1][4:] + '\n')) == 3
p.stdin.close()
sys.exit(p.wait())
EOF
	t_run "one question at a time" python3 ask.py "$a" \
		"$TALLY" addr2line -e prog -f -a
else
	t_skip "one question at a time" "python3 is not installed"
fi
# perf report asks an addr2line that it finds in PATH (or by --addr2line) for the
# lines of samples and the inlined frames of their stacks.
cat >busy.c <<'EOF'
static inline unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
static inline unsigned turn(unsigned x, int n)
{
	while (n-- > 0)
		x = step(x) ^ x >> 7;
	return x;
}
__attribute__((noinline)) unsigned work(unsigned x) { return turn(x, 100000); }
int main(void)
{
	unsigned x = 1;
	for (int i = 0; i < 3000; i++)
		x = work(x);
	return x == 42;
}
EOF
mkdir -p bin home && ln -sf "$TALLY" bin/addr2line
perf_report() { # OPTIONS: the frames; equal branches have no order
	HOME=$T_TMP/home perf report -f -i busy.data --stdio --no-children \
		"$@" 2>/dev/null | sed -e '/^#/d' -e 's/ (discriminator [0-9]*)//' \
		-e 's/[0-9.]*%//g' -e 's/[-| ]*//' -e 's/ *$//' | sort -u
}
perf_same() { # OPTIONS
	PATH=$T_TMP/bin:$PATH perf_report "$@" >got
	perf_report "$@" >want
	diff want got && grep -q "$look" got
}
if ! command -v perf >/dev/null 2>&1 || ! command -v addr2line >/dev/null; then
	t_skip "in the place of perf's addr2line" "perf or addr2line is not installed"
elif ! { $CC -O2 -g busy.c -o busy && perf record -q -N -B -e cpu-clock:u \
	-F 300 --call-graph dwarf,1024 -o busy.data ./busy; } >rec.log 2>&1; then
	t_skip "in the place of perf's addr2line" \
		"perf cannot record here: $(tail -n 1 rec.log)"
else
	look=busy.c: t_run "perf report, lines" perf_same -g none -s sym,srcline
	look='turn (inlined)' t_run "perf report, inlined frames" \
		perf_same -g caller,0.5,callee,function
fi
{ yes "$a" | a2l -fi -e prog 2>err; echo $? >rc; } | head -c 100 >read
t_is "a reader that goes away" "$(wc -c <read):$(cat rc):$(cat err)" "100:0:"
many() {
	for k in 1 2 3 4 5 6 7 8 9 10; do cat addr; done >some
	for k in 1 2 3 4 5 6 7 8 9 10; do cat some; done >lots
	for k in 1 2 3 4 5 6 7 8 9 10; do cat lots; done >lots.10
	a2l -fi -e prog <addr >one && [ -s one ] || return 1
	for k in $(seq 1000); do cat one; done >want
	a2l -fi -e prog <lots.10 >got
	cmp want got
}
t_run "more addresses than one batch" many
# A call of b in two pieces, of which DWARF 2 has the range of the first only; a is
# inlined into the second.
t_is "what is inlined into a piece of a call that has no range" \
	"$(a2l -fi -e "$top_srcdir/tests/fuzz/corpus/elf/c-dwarf2" 0x240 |
		sed -n 'p;n' | tr '\n' ' ')" "a b c "
t_done
