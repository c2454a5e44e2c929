# SPDX-License-Identifier: GPL-2.0-or-later
# Names and extents of functions by ELF symbols, stubs and call frame information,
# in files of many linkers and forms; expected values from nm, objdump, readelf.
. "$top_srcdir/tests/lib.sh"

symcat=$top_builddir/tests/symbolize/symcat
src=$top_srcdir/tests/symbolize
symcat=$(cd "$(dirname "$symcat")" && pwd)/symcat
src=$(cd "$src" && pwd)
CC=${CC:-cc}
cd "$T_TMP" || exit 1

have() { command -v "$1" >/dev/null 2>&1; }

# Symbol, start and size of each address on standard input.
extents() { "$symcat" -x "$@" 2>>symcat.err | sed '/^$/d'; }
hex() { sed 's/^0*\([0-9a-f]\)/\1/'; }

# The functions of nm that have a size and share their address with none.
nm_functions() { # NM-ARGUMENTS…
	nm -S --defined-only "$@" 2>/dev/null |
	awk 'NF == 4 && $3 ~ /^[TtWi]$/ && $2 !~ /^0*$/ {
		sub(/^0+/, "", $1); sub(/^0+/, "", $2); sub(/@.*/, "", $4)
		n[$1]++; line[$1] = $4 " " $1 " " $2 }
	END { for (a in n) if (n[a] == 1) print line[a] }' | sort
}

same_functions() { # FILE NM-ARGUMENTS…
	file=$1
	nm_functions "$@" >want
	grep -q . want || return 1
	awk '{ print $2 }' want >addr
	extents "$file" <addr | sort >got
	diff want got
}

# Compiles once for all linkers.
build() { # OUT FLAGS…
	out=$1
	shift
	object=symbols
	for flag; do
		case $flag in
		-Wl,*|-fuse-ld=*|-no-pie|-rdynamic|-shared|-static*);;
		*) object=$object$flag;;
		esac
	done
	[ -f $object.o ] || $CC "$@" -c "$src/symbols.c" -o $object.o \
		>compile.log 2>&1 || return 1
	$CC "$@" $object.o -o "$out" >compile.log 2>&1
}

if ! build plain -O1; then
	cat compile.log
	exit 1
fi
strip -o bare plain
t_run "functions of .symtab as nm has them" same_functions plain
libc=$(ldd plain | sed -n 's/.*libc\.so[^/]*=> \([^ ]*\).*/\1/p')
t_run "functions of .dynsym as nm has them" same_functions "$libc" -D

# Aliases: the plain name, whatever its binding; the same after any link order.
aliases() {
	nm plain | sed -n 's/^\([0-9a-f]*\) . __say$/\1/p' | extents plain >got
	cat got
	grep -q '^say ' got
}
t_run "of aliases the plain name" aliases

# asm_first and asm_second have no size: their bytes go up to the next symbol, not
# further.
unsized() {
	a=$(nm plain | sed -n 's/^\([0-9a-f]*\) T asm_first$/\1/p')
	b=$(nm plain | sed -n 's/^\([0-9a-f]*\) T asm_second$/\1/p')
	c=$(nm -n plain | awk '$3 == "asm_second" { getline; print $1 }')
	printf '%x\n' $((0x$a + 20)) $((0x$b + 20)) | extents plain >got
	cat got
	sed -n 1p got | grep -q "^asm_first .* 15$" &&
		sed -n 2p got | grep -q \
			"^asm_second .* $(printf %x $((0x$c - 0x$b)))$"
}
t_run "symbols without size end where the next begins" unsized

# Old versions of a function lose against today's; the version is not shown.
versions() {
	cat >v.c <<-'EOF'
	int zzz_new(int n) { return n + 1; }
	__asm__(".symver zzz_new,work@@V2\n.symver zzz_new,aaa@V1");
	EOF
	echo 'V1 { global: aaa; local: *; }; V2 { global: work; } V1;' >v.map
	$CC -O1 -shared -fPIC v.c -Wl,--version-script=v.map -o v.so || return 1
	strip -o vbare.so v.so
	at=$(nm -D v.so | sed -n 's/^\([0-9a-f]*\) T work@@V2$/\1/p')
	for f in v.so vbare.so; do
		echo "$at" | extents $f >got
		cat got
		grep -q "^work " got || return 1
	done
}
t_run "the version that is linked with today names the function" versions

# objdump names stubs too.  Its "foo@plt-0x10" is what stubs share, and of what the
# loader will choose it only knows the address.
stubs() { # FILE OBJDUMP
	"${2:-objdump}" -d -j .plt -j .plt.sec -j .plt.got "$1" 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\([^>*]*[^>*]\)>:$/\1 \2/p' |
		sed -e 's/@@*[A-Z][A-Za-z0-9_.]*@plt/@plt/' \
		    -e 's/ [^ ]*-0x[0-9a-f]*$/ .plt/' \
		    -e 's/ _PROCEDURE_LINKAGE_TABLE_$/ .plt/' \
		    -e 's/\$plt\(got\)*$/@plt/' | sort -u >want
	grep -q '@plt$' want || return 1
	awk '{ print $1 }' want | "$symcat" -x "$1" 2>/dev/null |
		awk 'NF == 3 { print $2, $1 }' | sort -u >got
	diff want got
}
try_stubs() { # NAME FLAGS…
	name=$1
	shift
	if build stubs "$@"; then
		t_run "$name" stubs stubs
	else
		t_skip "$name" "this machine cannot: $CC $*"
	fi
}
for l in bfd gold lld; do
	try_stubs "stubs: $l" -O1 -fuse-ld=$l
	try_stubs "stubs: $l, bound at start" -O1 -fuse-ld=$l -Wl,-z,now
	try_stubs "stubs: $l, branch tracking" -O1 -fcf-protection -fuse-ld=$l \
		-Wl,-z,ibtplt
	try_stubs "stubs: $l, 32 bit" -m32 -O1 -fuse-ld=$l
	try_stubs "stubs: $l, 32 bit, fixed address" -m32 -O1 -fuse-ld=$l -no-pie \
		-fno-pie
done
try_stubs "stubs: mold" -O1 -fuse-ld=mold
try_stubs "stubs: mold, 32 bit, fixed address" -m32 -O1 -fuse-ld=mold -no-pie \
	-fno-pie

# AArch64 by cross-linking; its compiler is clang, where it has that target.
aarch64_stubs() { # LINKER…
	"$@" -shared arm.o -o arm.so && stubs arm.so aarch64-linux-gnu-objdump
}
cat >arm.c <<'EOF'
int puts(const char *); int printf(const char *, ...);
int go(void) { puts("a"); return printf("b %d", puts("c")); }
EOF
if have aarch64-linux-gnu-objdump && have clang &&
   clang --target=aarch64-linux-gnu -O1 -fPIC -c arm.c -o arm.o 2>/dev/null; then
	t_run "stubs: AArch64" aarch64_stubs aarch64-linux-gnu-ld
	t_run "stubs: AArch64, branch targets" aarch64_stubs \
		aarch64-linux-gnu-ld -z force-bti -z pac-plt
	if have ld.lld; then
		t_run "stubs: AArch64, lld" aarch64_stubs ld.lld
	fi
else
	t_skip "stubs: AArch64" "no clang or binutils-aarch64-linux-gnu"
fi

# A function without name is known by its extent, as readelf shows the FDEs.
frame_extents() { # FILE
	readelf --debug-dump=frames "$1" 2>/dev/null | sed -n \
		's/.*FDE.*pc=0*\([0-9a-f]*\)\.\.0*\([0-9a-f]*\).*/\1 \2/p' |
		sort -u >fdes
	grep -q . fdes || return 1
	# in the middle: the address itself is not what is looked up
	while read -r lo hi; do
		printf '%x - %s %x\n' $(((0x$lo + 0x$hi) / 2)) "$lo" \
			$((0x$hi - 0x$lo))
	done <fdes >all
	awk '{ print $1 }' all | extents "$1" >got
	# those that have a name after all are not asked here
	paste -d' ' all got | awk '$5 == "-" { n++
		if ($3 != $6 || $4 != $7) { print; bad = 1 } }
		END { print n + 0, "functions without name"
		      exit bad || !n }'
}
t_run "functions of a stripped file by .eh_frame" frame_extents bare
frames_without_table() {
	objcopy -R .eh_frame_hdr bare nohdr && frame_extents nohdr
}
t_run "… without .eh_frame_hdr" frames_without_table
try_frames() { # NAME FLAGS…
	name=$1
	shift
	if build framed "$@"; then
		strip framed
		t_run "$name" frame_extents framed
	else
		t_skip "$name" "this machine cannot: $CC $*"
	fi
}
for l in gold lld mold; do
	try_frames "… linked by $l" -O1 -fuse-ld=$l
done
try_frames "… 32 bit" -O1 -m32 -fasynchronous-unwind-tables
debug_frame() {
	build dframe -O1 -g -fno-asynchronous-unwind-tables \
		-fno-unwind-tables || return 1
	objcopy --strip-all --keep-section=.debug_frame dframe dbare
	at=$(nm -S dframe | sed -n 's/ t hidden_work$//p')
	[ -n "$at" ] || return 1
	# shellcheck disable=SC2086 # address and size
	set -- $at
	printf '%x\n' $((0x$1 + 5)) | extents dbare >got
	cat got
	test "$(cat got)" = "- $(printf '%x %x' 0x"$1" 0x"$2")"
}
t_run "functions by .debug_frame" debug_frame

# The way distributions make .gnu_debugdata (gdb manual, "MiniDebugInfo").
mini_debug() {
	build mini -O1 -rdynamic || return 1
	cp mini full
	nm -D mini --format=posix --defined-only | awk '{ print $1 }' |
		sed 's/@.*//' | sort >dynsyms
	nm mini --format=posix --defined-only |
		awk '$2 == "T" || $2 == "t" || $2 == "D" { print $1 }' | sort \
		>funcsyms
	comm -13 dynsyms funcsyms >keep
	grep -qx hidden_work keep && ! grep -qx main keep || return 1
	objcopy --only-keep-debug mini mini.debug
	objcopy -S --remove-section .gdb_index --remove-section .comment \
		--keep-symbols=keep mini.debug mini.small
	strip --strip-all -R .comment mini
	xz -9e mini.small
	objcopy --add-section .gnu_debugdata=mini.small.xz mini
	nm_functions full | grep -E '^(hidden|exported|main)' >want
	awk '{ print $2 }' want | extents mini | sort >got
	diff want got && test "$(wc -l <want)" -ge 4
}
echo junk >junk.xz
objcopy --add-section .gnu_debugdata=junk.xz bare junk
echo 1000 | "$symcat" junk >/dev/null 2>junk.err
if grep -q 'built without' junk.err; then
	t_like ".gnu_debugdata: said when not built in" "$(cat junk.err)" \
		"liblzma-dev"
elif have xz; then
	t_run "names from .gnu_debugdata and .dynsym together" mini_debug
	mini_damaged() {
		head -c 500 mini.small.xz >cut.xz
		objcopy --update-section .gnu_debugdata=cut.xz mini minicut
		echo 1000 | "$symcat" -x minicut 2>&1
	}
	t_like "damaged .gnu_debugdata is named" "$(mini_damaged)" \
		"unreadable: .gnu_debugdata"
else
	t_skip "names from .gnu_debugdata" "no xz"
fi

# Section headers cut off, as sstrip does: what the loader sees is left.
headerless() { # FILE BITS
	if [ "$2" = 64 ]; then sh=40 counts=60; else sh=32 counts=48; fi
	head -c 8 /dev/zero | dd of="$1" bs=1 seek=$sh conv=notrunc \
		count=$(($2 / 8)) 2>/dev/null
	head -c 4 /dev/zero | dd of="$1" bs=1 seek=$counts conv=notrunc 2>/dev/null
}
no_headers() { # BITS FLAGS…
	bits=$1
	shift
	build sect -O1 -rdynamic "$@" || return 1
	strip sect
	nm_functions -D sect >want
	cp sect nosect
	headerless nosect "$bits"
	readelf -S nosect 2>&1 | grep -q 'no sections' || return 1
	awk '{ print $2 }' want | extents nosect | sort >got
	grep -q '^exported_work ' want && diff want got
}
t_run "no section headers: names of the dynamic section" no_headers 64
t_run "… by the old hash table" no_headers 64 -Wl,--hash-style=sysv
if build m32 -m32; then
	t_run "… 32 bit" no_headers 32 -m32
fi
no_header_frames() {
	cp bare nosect
	readelf --debug-dump=frames bare >frames
	headerless nosect 64
	sed -n 's/.*FDE.*pc=0*\([0-9a-f]*\)\.\.0*\([0-9a-f]*\).*/\1 \2/p' frames >fdes
	while read -r lo hi; do
		echo "- $lo $(printf %x $((0x$hi - 0x$lo)))"
	done <fdes | sort -u >want
	cut -d' ' -f1 fdes | extents nosect | sort -u >got
	cat got
	# those that have a name after all are not asked here
	test "$(grep -c '^- ' got)" -ge 4 && ! grep '^- ' got | comm -23 - want | grep .
}
t_run "… functions by PT_GNU_EH_FRAME" no_header_frames

# Sections compressed with zstd: the same answers.
zstd() {
	nm zplain | awk '$2 ~ /^[tT]$/ { print $1 }' >addr
	"$symcat" zplain <addr >want
	grep -q symbols.c want || return 1
	"$symcat" zstd <addr >got && diff want got
}
if build zplain -O2 -g &&
   objcopy --compress-debug-sections=zstd zplain zstd 2>/dev/null &&
   readelf -t zstd | grep -q ZSTD; then
	echo 1 | "$symcat" zstd >/dev/null 2>err
	if grep -q 'built without' err; then
		t_like "zstd: said when not built in" "$(cat err)" "libzstd-dev"
	else
		t_run "sections compressed with zstd" zstd
	fi
else
	t_skip "sections compressed with zstd" "this objcopy cannot"
fi

# Layouts in which addresses are not file offsets.
layout() {
	same_functions lay || return 1
	at=$(nm lay | sed -n 's/^\([0-9a-f]*\) t hidden_work$/\1/p')
	echo "$at" | "$symcat" lay | grep -q 'symbols.c:2[0-9]:'
}
try_layout() { # NAME FLAGS…
	name=$1
	shift
	if build lay -g "$@"; then
		t_run "layout: $name" layout
	else
		t_skip "layout: $name" "this machine cannot: $CC $*"
	fi
}
try_layout "lld" -O1 -fuse-ld=lld
try_layout "mold" -O1 -fuse-ld=mold
try_layout "gold, fixed address" -O1 -fuse-ld=gold -no-pie -fno-pie
try_layout "2 MB pages" -O1 -Wl,-z,max-page-size=0x200000
try_layout "2 MB pages, lld" -O1 -fuse-ld=lld -Wl,-z,max-page-size=0x200000
try_layout "one segment for code and data" -O1 -Wl,-z,noseparate-code
try_layout "static" -O1 -static
try_layout "static-PIE" -O1 -static-pie -fPIE
try_layout "an address of its own" -O1 -no-pie -fno-pie -Wl,-Ttext=0x7000000
prelinked() {
	build pre.so -shared -fPIC -O1 -g -Wl,-Ttext-segment=0x3f000000 || return 1
	readelf -lW pre.so | grep -q 'LOAD .*0x0*3f00' || return 1
	same_functions pre.so && strip -o prebare.so pre.so &&
		same_functions prebare.so -D
}
t_run "layout: a library with an address of its own" prelinked
two_text() {
	cat >two.c <<-'EOF'
	__attribute__((section(".far"), noinline)) int far(int n) { return n * n; }
	int main(int n, char **v) { (void)v; return far(n); }
	EOF
	$CC -O1 -g -no-pie -fno-pie two.c -o two -Wl,--section-start=.far=0x9000000 \
		2>/dev/null || return 1
	test "$(readelf -lW two | grep -c 'LOAD.*R E')" -ge 2 || return 1
	echo 9000000 | extents two | grep '^far 9000000 '
}
t_run "layout: two executable segments" two_text

# Relocatable files: code from 0, and DWARF relocated.
objects() { # COMPILER…
	"$@" -c -g -O2 "$src/inlines.c" -o rel.o || return 1
	text=$(nm rel.o | awk '$2 ~ /^[tT]$/ { print $1 }')
	echo "$text" | "$symcat" rel.o >got || return 1
	echo "$text" | sed 's/^/0x/' |
		xargs llvm-symbolizer --no-demangle -e rel.o >want || return 1
	diff want got && grep -q never_called got
}
many_sections() {
	$CC -c -g -O1 -ffunction-sections "$src/symbols.c" -o sect.o || return 1
	# code sections one after another, each at its alignment
	readelf -SW sect.o | sed -n 's/^ *\[ *[0-9]*\]//p' |
		awk 'function num(t,  i, v) { v = 0
			for (i = 1; i <= length(t); i++) v = v * 16 + \
				index("0123456789abcdef", substr(t, i, 1)) - 1
			return v }
		$2 == "PROGBITS" && $7 == "AX" { a = $10
			at = int((at + a - 1) / a) * a
			if ($1 == ".text.hidden_work") printf "%x\n", at
			at += num($5) }' >addr
	grep -q . addr || return 1
	"$symcat" -e sect.o <addr >got
	cat got
	sed -n 1p got | grep -qx hidden_work &&
		sed -n 2p got | grep -q 'symbols.c:2[0-9]:'
}
if have llvm-symbolizer; then
	one_text=-Dcold=noinline	# clang has no option for it
	if $CC -dM -E - </dev/null | grep -q __clang__; then :; else
		one_text='-fno-reorder-functions
			-fno-reorder-blocks-and-partition'
	fi
	# shellcheck disable=SC2086 # two options
	t_run "relocatable file" objects $CC $one_text
	# shellcheck disable=SC2086
	t_run "relocatable file, 32 bit" objects $CC -m32 $one_text
	if have clang; then
		t_run "relocatable file of clang" objects clang -Dcold=noinline
	fi
	if clang --target=aarch64-linux-gnu -c -O1 arm.c -o arm.o 2>/dev/null
	then
		aarch64_object() {
			clang --target=aarch64-linux-gnu -g -O1 -c arm.c -o arm.o
			"$symcat" arm.o <<-'EOF' | tee got
			0
			8
			EOF
			llvm-symbolizer --no-demangle -e arm.o 0 8 | diff - got
		}
		t_run "relocatable file, AArch64" aarch64_object
	fi
fi
t_run "relocatable file, a section for each function" many_sections

# More sections than e_shnum can say (gABI: SHN_XINDEX).
huge() {
	awk 'BEGIN { for (i = 0; i < 66000; i++) {
		print ".section .text.f" i ",\"ax\""
		if (i % 500 == 0 || i == 65999)
			print ".globl f" i "\n.type f" i ",@function\n" \
			      ".size f" i ", 1\nf" i ":"
		print "ret" } }' | as -o huge.o - || return 1
	# .text is first and empty; each section holds one byte
	printf '%x\n' 0 65999 65500 | extents huge.o >got
	cat got
	test "$(cut -d' ' -f1 got | tr '\n' ' ')" = "f0 f65999 f65500 "
}
t_run "66,000 sections" huge
t_done
