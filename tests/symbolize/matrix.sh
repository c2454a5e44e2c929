# SPDX-License-Identifier: GPL-2.0-or-later
# Small real programs of many compilers, linkers and forms of debug information.
#
# Each row makes `prog`, the file that is asked, and `ref`, the file that tells
# what is right: prog itself, or a build of the same code without the form that
# is tried.  At many addresses of every function of ours
#	- inlined functions, files, lines and columns are those that
#	  llvm-symbolizer finds in ref,
#	- the function that really exists has a name that nm gives it,
#	- libdw agrees, as `tally addr2line --verify` compares (where it was built
#	  with libdw).
# A row is shell code; rows run side by side.  `row skip WHY` when a tool lacks.
# llvm-symbolizer is asked once for all rows, when all are made: its start takes
# longer than its answers.
#
# TALLY_TESTS=long tries every level of optimization with every compiler and form.
if [ "${1-}" != row ]; then
	. "$top_srcdir/tests/lib.sh"
	here=$PWD
	M_SYMCAT=$(cd "$top_builddir" && pwd)/tests/symbolize/symcat
	M_SRC=$(cd "$top_srcdir/tests/symbolize/matrix" && pwd)
	M_SELF=$(cd "$top_srcdir/tests/symbolize" && pwd)/matrix.sh
	M_TOP=$T_TMP
	export M_SYMCAT M_SRC M_SELF M_TOP
	export LC_ALL=C
fi

have() { command -v "$1" >/dev/null 2>&1; }
nm() { "$NM" "$@"; }

# ---- one row, in its own folder -----------------------------------------

need() {
	for tool; do have "$tool" || lack "$tool is not installed"; done
}
lack() {
	echo "skip $*" >result
	exit 0
}
# The compiler or linker cannot do that: not ours to judge.
can() {
	timeout 60 "$@" >can.log 2>&1 || lack "it cannot: $(basename "$1") …" \
		"$(grep -v '^ ' can.log | head -n 1 | tr '#' ' ' | cut -c1-70)"
}

# addr: "ADDRESS NAME" of our functions in the file, every third byte.
# asked: the addresses.
addresses() { # FILE [nm options]
	nm -S --defined-only "$@" 2>/dev/null | awk '
	function hex(t,  i, v) {
		v = 0
		for (i = 1; i <= length(t); i++)
			v = v * 16 + index("0123456789abcdef",
					   substr(t, i, 1)) - 1
		return v
	}
	$3 ~ /^[tTwWi]$/ && $4 ~ /^_.*2mx|\$mx|_mx_|^mx_|^main\.|camlMx|^main$/ {
		name = $0
		sub(/^[^ ]* [^ ]* [^ ]* /, "", name)
		sub(/@.*/, "", name)
		a = hex($1); n = hex($2)
		if (n > 3000) n = 3000
		for (i = 0; i < n; i += 3)
			printf "0x%x %s\n", a + i, name
	}' | sort -u | awk '
	{ print >"addr" }
	$1 != last { print $1 >"asked"; last = $1; n++ }
	END { if (n < 30) { print "only " n + 0 " addresses"; exit 1 } }'
}

# The last name of each answer, by address: is it one of nm's?
check_names() {
	awk '
	FILENAME == "addr" {
		a = $1; sub(/^[^ ]* /, ""); ok[a, $0] = 1; next
	}
	FILENAME == "asked" { asked[++n] = $1; next }
	FNR == 1 { k = 1; line = 0 }
	/^$/ {
		if (!((asked[k], name) in ok)) {
			print asked[k] ": " name " is no name of nm"; bad = 1
		}
		k++; line = 0; next
	}
	line++ % 2 == 0 { name = $0 }
	END { if (k != n + 1) { print k - 1 " answers of " n; bad = 1 } exit bad }
	' addr asked ours
}

# Frames without the outermost name: folded and aliased ones have several, and
# nm has judged it.  A file that only the symbol table guesses (a name without
# folder or line, by LLVM 15 and later) is none.
frames() {
	awk '
	/^$/ {
		if (l[n] ~ /^[^\/]*:0:0$/)
			l[n] = "??:0:0"
		for (i = 1; i < n; i += 2)
			print (i == n - 1 ? "outermost" : l[i]) "\n" l[i + 1]
		print ""; n = 0; next
	}
	{ l[++n] = $0 }'
}

# libdw's answers differ in nothing that tally does not explain.
second_opinion() {
	[ "${libdw-}" != no ] || return 0
	"$TALLY" addr2line --verify ${dir:+--debug-dir "$dir"} -e prog <asked \
		>verify 2>&1 && return
	tail -n 20 verify
	return 1
}

# How rows say what they expect: `lines=no` only names are known, `dir=` debug
# folder, `nm=-D` names from the dynamic table.
judge() {
	[ -f ref ] || ln -s prog ref
	addresses ref ${nm-} || return 1
	"$M_SYMCAT" -pe ${dir:+-D "$dir"} prog <asked >ours || return 1
	check_names >bad || { head -n 5 bad; return 1; }
	second_opinion || return 1
	[ "${lines-}" != no ] || return 0
	have llvm-symbolizer || lack "llvm-symbolizer is not installed"
	frames <ours >got
	sed "s|^|$PWD/ref |" asked >question
	echo "${inlines-no}" >inlines
}

same_code() { # FILE FILE
	for f; do
		objcopy -O binary -j .text "$f" "$(basename "$f").text"
	done
	cmp -s "$(basename "$1").text" "$(basename "$2").text" ||
		lack "the two builds are not the same code"
}

cxx() { # COMPILER FLAGS…: prog of our two units
	c=$1; shift
	need "$c"
	can "$c" -std=c++14 -fno-rtti "$@" -c "$M_SRC/mx.cpp"
	can "$c" -std=c++14 -fno-rtti "$@" -c "$M_SRC/mx2.cpp"
	# as C: without the C++ library, see mx2.cpp; by gcc, which starts faster
	l=gcc
	for f; do
		case $c,$f in
		clang*,-flto*) l="clang $*"; break;;
		*,-flto*) l="gcc $*"; break;;
		*,-m32|*,-fuse-ld=*|*,-fsanitize=*|*,-Wl,*) l="$l $f";;
		esac
	done
	# shellcheck disable=SC2086 # a list of words
	can $l mx.o mx2.o -o prog
}

# Objects and programs that many rows start from.
common() (
	mkdir "$M_TOP/common" && cd "$M_TOP/common" || exit 1
	for pic in PIC pie no-pie; do
		mkdir $pic && for u in mx mx2; do
			g++ -std=c++14 -fno-rtti -O2 -g -ffunction-sections -f$pic \
				-c "$M_SRC/$u.cpp" -o $pic/$u.o || exit 1
		done
	done
	gcc -pie pie/*.o -Wl,--build-id=sha1 -o whole &&
		g++ -std=c++14 -fno-rtti -O1 -g "$M_SRC"/*.cpp -o whole2
)
whole() { # prog and ref: the same PIE
	need g++
	cp "$M_TOP/common/whole" prog
	cp prog ref
	inlines=yes
}
link() { # LINKER FLAGS…
	l=$1; shift
	need g++ "ld.$l"
	pic=pie
	case " $* " in
	*" -no-pie "*) pic=no-pie;;
	*" -shared "*) pic=PIC;;
	esac
	can gcc "-fuse-ld=$l" "$@" "$M_TOP/common/$pic/mx.o" \
		"$M_TOP/common/$pic/mx2.o" -o prog
	inlines=yes
}

if [ "${1-}" = row ]; then
	cd "$M_TOP/rows/$2" || exit 1
	. ./code >log 2>&1 || { echo "fail" >result; exit 0; }
	if judge >>log 2>&1; then
		echo ok >result
	else
		[ -f result ] || echo fail >result
	fi
	exit 0
fi

# ---- the rows ------------------------------------------------------------

count=0
row() { # NAME CODE
	count=$((count + 1))
	mkdir -p "$M_TOP/rows/$count" || exit 1
	echo "$1" >"$M_TOP/rows/$count/name"
	echo "$2" >"$M_TOP/rows/$count/code"
}

# Each form with each compiler, and with each level of optimization by one of them.
for c in g++ clang++; do
	o=0
	[ $c = g++ ] || o=2
	for g in -g0 -g1 "-g3 -gdwarf-4" -gdwarf-2 -gdwarf-3 -gdwarf-5; do
		lines=yes
		[ "$g" != -g0 ] || lines=no
		o=$((2 - o))
		row "$c -O$o $g" "lines=$lines; cxx $c -O$o $g"
		t_long || continue
		row "$c -O$((2 - o)) $g" "lines=$lines; cxx $c -O$((2 - o)) $g"
	done
	# libdw 0.192 does not find the line tables of 64-bit DWARF by clang 19
	libdw=yes
	[ $c = g++ ] || libdw=no
	row "$c -O2 -gdwarf64" "libdw=$libdw; cxx $c -O2 -g -gdwarf64"
	row "$c -O2 -gz=zstd" "cxx $c -O2 -g -gz=zstd"
	row "$c -O3 -gz=zlib" "inlines=yes; cxx $c -O3 -g -gz=zlib"
	row "$c -Os -gno-column-info" \
		"inlines=yes; cxx $c -Os -g -gno-column-info"
	row "$c -Og -fdebug-types-section" "cxx $c -Og -g -fdebug-types-section"
	row "$c -O2 -flto" "inlines=yes; cxx $c -O2 -g -flto"
	row "$c -O2 -m32" "inlines=yes; cxx $c -O2 -g -m32"
done
row "clang++ -flto=thin" "inlines=yes
	cxx clang++ -O2 -g -flto=thin -fuse-ld=lld"
row "clang++ -fsplit-dwarf-inlining" \
	"cxx clang++ -O2 -g -gsplit-dwarf -fsplit-dwarf-inlining"
row "g++ sections for functions, gc" \
	"cxx g++ -O2 -g -ffunction-sections -Wl,--gc-sections"
row "g++ -O2 -g -fsanitize=undefined" "cxx g++ -O2 -g -fsanitize=undefined"

for l in bfd gold lld mold; do
	# each kind of program and each option once; gold knows neither static-PIE
	# nor separate code
	row "$l -pie, gc-sections" "link $l -pie -Wl,--gc-sections"
	row "$l -no-pie, relocations kept" "link $l -no-pie -Wl,--emit-relocs"
	row "$l -static, compressed" \
		"link $l -static -no-pie -Wl,--compress-debug-sections=zlib"
	row "$l -static-pie, separate code" \
		"link $l -static-pie -Wl,-z,separate-code"
	row "$l -shared, large pages" \
		"link $l -shared -Wl,-z,max-page-size=0x200000"
done
for l in bfd lld mold; do
	row "$l, compressed by zstd" "link $l -pie -Wl,--compress-debug-sections=zstd
		objcopy --decompress-debug-sections prog ref"
done
row "bfd, code not separate" "link bfd -pie -Wl,-z,noseparate-code"
for l in gold lld mold; do
	row "$l, same code folded" "link $l -pie -Wl,--icf=all"
done

row "clang++, lld, same code folded" "inlines=yes
	cxx clang++ -O2 -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all"

# split DWARF: the same code with whole DWARF tells what is right
# (forms.sh tries more of it, but asks llvm-symbolizer for the same files)
row "clang++ split DWARF 4" "inlines=yes
	cxx clang++ -O2 -g -gdwarf-4; mv prog ref; rm *.o
	cxx clang++ -O2 -g -gdwarf-4 -gsplit-dwarf
	ls *.dwo && same_code prog ref"
row "clang++ split DWARF 5 in .dwp" "inlines=yes; need llvm-dwp
	cxx clang++ -O2 -g -gdwarf-5; mv prog ref; rm *.o
	cxx clang++ -O2 -g -gdwarf-5 -gsplit-dwarf
	can llvm-dwp -e prog -o prog.dwp
	rm *.dwo && same_code prog ref"
row "g++ split DWARF 4 in .dwp by binutils" "inlines=yes; need dwp
	cxx g++ -O2 -g -gdwarf-4; mv prog ref; rm *.o
	cxx g++ -O2 -g -gdwarf-4 -gsplit-dwarf
	can dwp -e prog -o prog.dwp
	rm *.dwo && same_code prog ref"
row "g++ split DWARF 4, type units" "inlines=yes
	cxx g++ -O2 -g -gdwarf-4; mv prog ref; rm *.o
	cxx g++ -O2 -g -gdwarf-4 -gsplit-dwarf -fdebug-types-section
	same_code prog ref"
row "g++ split DWARF 5, stripped, debug file" "inlines=yes
	cxx g++ -O2 -g; mv prog ref; rm *.o
	cxx g++ -O2 -g -gsplit-dwarf; same_code prog ref
	objcopy --only-keep-debug prog prog.debug
	objcopy --strip-all --add-gnu-debuglink=prog.debug prog"

# what happens to files after they are linked
row "strip -g: symbols only" "lines=no; whole; strip -g prog"
row "stripped, dynamic symbols" "lines=no nm=-D; need g++
	can gcc -rdynamic -pie \$M_TOP/common/pie/*.o -o prog; strip prog"
row "debug file by debuglink" "whole
	objcopy --only-keep-debug prog prog.debug
	objcopy --strip-all --add-gnu-debuglink=prog.debug prog"
row "debug file by build-id" "whole; dir=\$PWD/d
	id=\$(readelf -n prog | sed -n 's/.*Build ID: //p')
	f=d/.build-id/\$(echo \$id | cut -c1-2)/\$(echo \$id | cut -c3-).debug
	mkdir -p \$(dirname \$f)
	objcopy --only-keep-debug prog \$f && strip prog"
row "debug file by eu-strip" "need eu-strip; whole
	eu-strip -f prog.debug prog"
for z in zlib zlib-gnu zlib-gabi zstd; do
	row "objcopy --compress-debug-sections=$z" "whole
		can objcopy --compress-debug-sections=$z prog"
	row "debug file compressed by $z" "whole
		can objcopy --only-keep-debug --compress-debug-sections=$z \
			prog prog.debug
		objcopy --strip-all --add-gnu-debuglink=prog.debug prog"
done
row "eu-elfcompress" "need eu-elfcompress; whole; can eu-elfcompress prog"
row "llvm-objcopy" "need llvm-objcopy; whole
	can llvm-objcopy --only-keep-debug prog prog.debug
	can llvm-objcopy --strip-all --add-gnu-debuglink=prog.debug prog"
row "dwz" "need dwz; whole; can dwz prog"
row "dwz, DWARF 4" "need dwz; cxx g++ -O2 -g -gdwarf-4
	cp prog ref; can dwz prog"
row "dwz --odr" "need dwz; whole; can dwz --odr prog"
row "dwz, two files with one common" "need dwz; whole
	cp \$M_TOP/common/whole2 second; can dwz -m common.dwz prog second
	[ -f common.dwz ]"
row "dwz, two debug files with one common" "need dwz; whole
	cp \$M_TOP/common/whole2 second; dir=\$PWD/d
	id=\$(readelf -n prog | sed -n 's/.*Build ID: //p')
	f=d/.build-id/\$(echo \$id | cut -c1-2)/\$(echo \$id | cut -c3-).debug
	mkdir -p \$(dirname \$f) d/.dwz
	objcopy --only-keep-debug prog \$f
	objcopy --only-keep-debug second second.debug
	can dwz -m d/.dwz/common -M ../../.dwz/common \$f second.debug
	strip prog && [ -f d/.dwz/common ]"
# .gnu_debugdata as Fedora's find-debuginfo makes it
row "names in .gnu_debugdata" "lines=no; need xz; whole
	nm -D prog --format=posix --defined-only | awk '{ print \$1 }' | sort >dyn
	nm prog --format=posix --defined-only |
		awk '\$2 ~ /[TtDdWw]/ { print \$1 }' | sort >all
	comm -13 dyn all >keep
	objcopy --only-keep-debug prog d
	objcopy -S --remove-section .gdb_index --remove-section .comment \
		--keep-symbols=keep d mini
	strip prog && xz mini && objcopy --add-section .gnu_debugdata=mini.xz prog"

# languages
row "rustc opt-level 0" "need rustc
	can rustc -g -Copt-level=0 \$M_SRC/mx.rs -o prog"
row "rustc opt-level 2, v0 names" "need rustc
	can rustc -g -Copt-level=2 -Csymbol-mangling-version=v0 \
		\$M_SRC/mx.rs -o prog"
for o in 0 2; do
	row "gfortran -O$o" "need gfortran
		can gfortran -g -O$o \$M_SRC/mx.f90 -o prog"
	row "gnat -O$o" "need gnatmake
		can gnatmake -q -g -O$o \$M_SRC/mx_main.adb -I\$M_SRC -o prog"
	row "gdc -O$o" "need gdc
		can gdc -g -O$o \$M_SRC/mx.d -o prog"
done
row "rustc, stripped debug info" "lines=no; need rustc
	can rustc -O -Cstrip=debuginfo \$M_SRC/mx.rs -o prog"
row "rustc, thin LTO" "need rustc
	can rustc -g -O -Clto=thin --cfg bare -Cpanic=abort -Clink-arg=-lc \
		\$M_SRC/mx.rs -o prog"
row "go" "need go; HOME=\$PWD GO111MODULE=off; export HOME GO111MODULE
	GOCACHE=\$M_TOP/gocache; export GOCACHE
	can go build -o prog \$M_SRC/mx.go"
row "go, not optimized" "need go; HOME=\$PWD GO111MODULE=off
	GOCACHE=\$M_TOP/gocache; export HOME GO111MODULE GOCACHE
	can go build -gcflags='-N -l' -o prog \$M_SRC/mx.go"
row "ocamlopt" "need ocamlopt; cp \$M_SRC/mx.ml .
	can ocamlopt -g mx.ml -o prog"

have g++ && common
seq "$count" | xargs -P "${M_JOBS:-$(nproc)}" -n 1 sh "$M_SELF" row

# "ROW" before each answer, then the frames that are wanted.
answers() {
	cat rows/*/question >questions 2>/dev/null || return
	llvm-symbolizer --no-demangle --inlines --functions=linkage <questions |
		frames >answers
	awk '
	FILENAME == "questions" {
		match($1, "rows/[0-9]*")
		row[++n] = substr($1, RSTART, RLENGTH)
		next
	}
	FNR == 1 { k = 1 }
	{ print >(row[k] "/want"); lines++ }
	tolower($0) ~ /mx[_a-z0-9]*\.[a-z0-9]*:[1-9]/ { known++ }
	/^$/ {
		asked++
		dir = row[k++]
		if (row[k] == dir)
			next
		# nothing can be judged by a reference that knows nothing
		if (known < 20)
			print "the reference knows no lines" >(dir "/bad")
		getline inlines <(dir "/inlines")
		if (inlines == "yes" && lines <= 3 * asked)
			print "the reference knows no inlined functions" \
				>(dir "/bad")
		close(dir "/want"); close(dir "/bad"); close(dir "/inlines")
		asked = known = lines = 0
	}
	' questions answers
}
cd "$M_TOP" || exit 1
answers
i=1
while [ $i -le "$count" ]; do
	cd "$M_TOP/rows/$i" || exit 1
	name=$(cat name)
	read -r what why <result || what=fail
	if [ "$what" = ok ] && [ -f question ]; then
		cmp -s want got || diff want got 2>&1 | head -n 20 >>bad
		[ ! -s bad ] || { what=fail; mv bad log; }
	fi
	case $what in
	skip) t_skip "$name" "$why";;
	ok) t_ok "$name" 0;;
	*)	sed 's/^/# /' log | tail -n 25
		t_ok "$name" 1;;
	esac
	i=$((i + 1))
done
cd "$here" || exit 1
t_done
