# SPDX-License-Identifier: GPL-2.0-or-later
# Every byte of .text of programs compiled in many ways: our frames must be those
# of llvm-symbolizer or, where that is missing, of addr2line (binutils).
# TALLY_TESTS=long tries every level of optimization with every version of DWARF,
# and damages files at twice as many places.
. "$top_srcdir/tests/lib.sh"

symcat=$top_builddir/tests/symbolize/symcat
src=$top_srcdir/tests/symbolize
CXX=${CXX:-c++}
cd "$T_TMP" || exit 1
symcat=$(cd "$OLDPWD" && cd "$(dirname "$symcat")" && pwd)/symcat
src=$(cd "$OLDPWD" && cd "$src" && pwd)

. "$src/compare.sh"

same_frames() { # FILE STEP
	text_addresses "$1" "$2" >"$1.addr"
	dwarf_only "$1" || return 1
	ours "$1.dwarf" <"$1.addr" >"$1.ours" || return 1
	expected "$1.dwarf" <"$1.addr" >"$1.want" || return 1
	# a comparison of nothing with nothing is no test
	grep -q square "$1.ours" || grep -q count "$1.ours" || return 1
	diff "$1.want" "$1.ours" | head -n 20
	cmp "$1.want" "$1.ours" || return 1
	# few addresses at a time are read in another way
	ours -n 9 "$1.dwarf" <"$1.addr" | cmp - "$1.ours" || return 1
	# and the full names of C++
	[ "$2" = 3 ] || return 0
	"$symcat" -n 9 "$1.dwarf" <"$1.addr" >"$1.few" &&
		"$symcat" "$1.dwarf" <"$1.addr" | cmp - "$1.few"
}

try() { # NAME STEP COMPILER FLAGS… SOURCE
	name=$1 step=$2
	shift 2
	if [ -z "$other" ]; then
		t_skip "$name" "neither llvm-symbolizer nor addr2line is installed"
	elif ! "$@" -o prog >compile.log 2>&1; then
		t_skip "$name" "this compiler cannot: $*"
	else
		t_run "$name" same_frames prog "$step"
	fi
}

# What addr2line 2.40 reads wrongly or not at all.
try_llvm() {
	if [ "$other" = llvm-symbolizer ]; then try "$@"; else
		t_skip "$1" "llvm-symbolizer is not installed"
	fi
}

c=$src/inlines.c
for v in 2 3 4 5; do
	for o in 0 1 2 3 s; do
		# each level once or twice, each version twice
		case ${TALLY_TESTS-}$v$o in
		long*|20|2s|31|33|40|42|52|5s);;
		*) continue;;
		esac
		try "DWARF $v -O$o" 1 $CC "-O$o" "-gdwarf-$v" "$c"
	done
done
# clang's strict DWARF 2 has functions in pieces that only DWARF 3 can say: its
# units name no ranges at all, and llvm-symbolizer 14 gives up there.
try_llvm "DWARF 2 strict" 1 gcc -O2 -gdwarf-2 -gstrict-dwarf "$c"
try_llvm "64-bit DWARF" 1 $CC -O2 -gdwarf64 -gdwarf-5 "$c"
try "32-bit code" 1 $CC -O2 -g -m32 "$c"
try "compressed sections, not position-independent" 1 $CC -O2 -g -gz=zlib \
	-no-pie -fno-pie "$c"
try "a section for each function, no column numbers" 1 $CC -O2 -g \
	-ffunction-sections -Wl,--gc-sections -gno-column-info "$c"
try_llvm "link-time optimization" 1 $CC -O2 -g -flto "$c"
try "lld" 1 $CC -O2 -g -fuse-ld=lld "$c"
try "gold" 1 $CC -O2 -g -fuse-ld=gold "$c"
for f in "-O0 -gdwarf-4" "-O3 -gdwarf-5 -fdebug-types-section"; do
	# shellcheck disable=SC2086 # a list of words
	try_llvm "C++ $f" 3 "$CXX" $f "$src/inlines.cpp"
done
if have clang; then
	try_llvm "clang DWARF 4 -O0" 1 clang -O0 -gdwarf-4 "$c"
	try_llvm "clang DWARF 5 -O2" 1 clang -O2 -gdwarf-5 "$c"
	try_llvm "clang, lld, folded functions" 1 clang -O2 -g -fuse-ld=lld \
		-ffunction-sections -Wl,--icf=all -Wl,--gc-sections "$c"
else
	t_skip "clang" "clang is not installed"
fi
if have clang++; then
	try_llvm "clang++ -O2" 3 clang++ -O2 -g "$src/inlines.cpp"
fi

# Linkers may leave holes between units: lengths of 0 (gas writes them here).
holes_like_whole() {
	$CC -O1 -g -S "$c" -o whole.s && $CC whole.s -o prog || return 1
	awk '{ print } /\.section[ \t]+\.debug_info/ && !n++ {
		print "\t.long 0, 0" }' whole.s >holes.s
	$CC holes.s -o holes || return 1
	same_frames prog 1 || return 1
	# the other tool stops at the first hole
	"$symcat" holes <prog.addr >holes.ours
	"$symcat" prog <prog.addr | diff - holes.ours
}
if [ "$other" = llvm-symbolizer ]; then
	t_run "holes between units" holes_like_whole
else
	t_skip "holes between units" "llvm-symbolizer is not installed"
fi

# Separate debug files: same frames as in the whole file.
$CC -O2 -g -Wl,--build-id=sha1 "$c" -o whole || exit 1
text_addresses whole 1 >addr
"$symcat" whole <addr >want
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
dir=dbg/.build-id/$(echo "$id" | cut -c1-2)
file=$dir/$(echo "$id" | cut -c3-).debug
mkdir -p "$dir" lib/.debug

objcopy --only-keep-debug whole "$file"
objcopy --strip-all whole bare
"$symcat" -D "$PWD/dbg" bare <addr >got
t_same "debug file by build-id" want got

$CC -O1 -g -Wl,--build-id=sha1 "$c" -o other
objcopy --only-keep-debug other "$file"
"$symcat" -D "$PWD/dbg" bare <addr >got 2>err
t_lacks "a debug file of other code is not used" "$(cat got)" 'inlines\.c'
t_like "the missing file is named" "$(cat err)" "missing: .*/$file"
rm -r dbg

# prelink(8) moved the library after its debug file was made.
for at in 0 30000000; do
	$CC -shared -fPIC -O2 -g -Wl,--build-id=0xabcdef01 \
		-Wl,-Ttext-segment=0x$at "$c" -o lib$at.so || exit 1
done
text_addresses lib0.so 1 >addr
"$symcat" lib0.so <addr >want
mkdir -p dbg/.build-id/ab
objcopy --only-keep-debug lib0.so dbg/.build-id/ab/cdef01.debug
objcopy --strip-all lib30000000.so moved.so
while read -r a; do
	printf '%x\n' $((a + 0x30000000))
done <addr >moved.addr
"$symcat" -D "$PWD/dbg" moved.so <moved.addr >got
t_same "the debug file of a library that was moved" want got
rm -r dbg

$CC -O2 -g -Wl,--build-id=none "$c" -o noid
text_addresses noid 1 >addr
"$symcat" noid <addr >want
objcopy --only-keep-debug noid lib/whole.debug
objcopy --strip-all --add-gnu-debuglink=lib/whole.debug noid lib/bare
"$symcat" -D "$PWD/none" lib/bare <addr >got
t_same "debug link in the same folder" want got
mv lib/whole.debug lib/.debug/
"$symcat" -D "$PWD/none" lib/bare <addr >got
t_same "debug link in .debug" want got
mkdir -p "dbg$PWD/lib" && mv lib/.debug/whole.debug "dbg$PWD/lib/"
"$symcat" -D "$PWD/dbg" lib/bare <addr >got
t_same "debug link below the debug folder" want got
printf 'x' >>"dbg$PWD/lib/whole.debug"
"$symcat" -D "$PWD/dbg" lib/bare <addr >got
t_lacks "debug link with a wrong CRC" "$(cat got)" 'inlines\.c'

# Damaged at any byte: an answer or an error, never a crash.
damage() {
	size=$(wc -c <whole) i=0 times=30
	if t_long; then times=60; fi
	head -n 64 addr >few
	while [ $i -lt $times ]; do
		cp whole hurt
		at=$((size * i / times + i % 13))
		printf '\377\377\377\377\377\377\377\377' |
			dd of=hurt bs=1 seek=$at conv=notrunc 2>/dev/null
		"$symcat" hurt <few >/dev/null 2>&1
		[ $? -le 1 ] || { echo "byte $at"; return 1; }
		head -c $at whole >hurt
		"$symcat" hurt <few >/dev/null 2>&1
		[ $? -le 1 ] || { echo "cut at $at"; return 1; }
		i=$((i + 1))
	done
}
# _init has no size and ends with its section; the PLT behind it is not _init.
plt() {
	echo 'int puts(const char *); int main(void) { return puts("x"); }' >plt.c
	$CC -O1 -o plt plt.c && nm plt | grep -q ' T _init$' &&
		at=$(readelf -SW plt | sed -n 's/.* \.plt  *PROGBITS *\([0-9a-f]*\).*/\1/p')
	[ -n "$at" ] || return 1
	printf '%x\n' $((0x$at)) $((0x$at + 16)) | "$symcat" plt >got
	cat got
	[ -s got ] && ! grep -q _init got
}
t_run "the PLT is not _init" plt
# g++ gives these no linkage name in DWARF; nm has it.
anonymous() {
	cat >anon.cpp <<-'EOF'
	namespace { struct box { int v;
		__attribute__((noinline)) int open(int n) { return v * n; } }; }
	int main(int c, char **) { box b{c}; return b.open(c); }
	EOF
	${CXX:-g++} -g -O1 -fno-ipa-cp -fno-ipa-sra -o anon anon.cpp || return 1
	at=$(nm anon | sed -n 's/^\([0-9a-f]*\) t \(_ZN.*box4open.*\)/\1 \2/p')
	[ -n "$at" ] || return 1
	echo "${at% *}" | "$symcat" anon >got
	cat got
	grep -qx "${at#* }" got
}
t_run "functions of anonymous namespaces" anonymous
# clang gives no linkage names where only lines are wanted; nm has them.
lines_only() {
	cat >lines.cpp <<-'EOF'
	template <class T> __attribute__((noinline)) T twice(T n)
	{ return n + n; }
	struct box { int v; __attribute__((noinline)) ~box(); };
	box::~box() { __asm__ volatile("" : : "r"(v)); }
	int main(int c, char **) { box b{ c }; return twice(b.v); }
	EOF
	clang++ -gline-tables-only -O1 -o lines lines.cpp || return 1
	for name in _Z5twice _ZN3boxD2; do
		at=$(nm lines | sed -n "s/^\([0-9a-f]*\) . $name.*/\1/p")
		[ -n "$at" ] || { nm lines; return 1; }
		echo "$at" | "$symcat" lines >got
		cat got
		# a destructor has several names
		nm lines | sed -n "s/^$at . //p" >names
		grep -qxF -f names got || return 1
	done
}
if have clang++; then
	t_run "only line tables" lines_only
else
	t_skip "only line tables" "clang++ is not installed"
fi
t_run "damaged files" damage
t_done
