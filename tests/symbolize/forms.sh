# SPDX-License-Identifier: GPL-2.0-or-later
# Debug information spread over several files: split DWARF (.dwo, .dwp) and dwz's
# alternate files.  Our frames must be those of llvm-symbolizer all over
# .text: in the same files, or where it cannot read them in the whole program.
# TALLY_TESTS=long tries every form of each compiler with both versions of DWARF.
. "$top_srcdir/tests/lib.sh"

symcat=$(cd "$top_builddir/tests/symbolize" && pwd)/symcat
src=$(cd "$top_srcdir/tests/symbolize" && pwd)
CXX=${CXX:-c++}
. "$src/compare.sh"
cd "$T_TMP" || exit 1

if [ "$other" != llvm-symbolizer ]; then
	t_skip_all "split and alternate files" "llvm-symbolizer is not installed"
fi

# Frames of the program by the other tool, without its guesses from STT_FILE.
want() { # PROGRAM OUT
	text_addresses "$1" 3 >"$1.addr" && dwarf_only "$1" &&
		expected "$1.dwarf" <"$1.addr" >"$2"
}

got() { # PROGRAM OUT OPTION…
	prog=$1 out=$2
	shift 2
	[ -e "$prog.dwarf" ] || dwarf_only "$prog"
	[ ! -e "$prog.dwp" ] || cp "$prog.dwp" "$prog.dwarf.dwp"
	"$symcat" -p "$@" "$prog.dwarf" <"$prog.addr" 2>err | no_start >"$out"
}

same() { # WANT GOT
	grep -q square "$1" || { echo "no functions in $1"; return 1; }
	diff "$1" "$2" | head -n 20
	cat err
	cmp "$1" "$2"
}

# ---- split DWARF ----

make_split() { # COMPILER FLAGS…
	rm -rf w && mkdir w && cd w || return 1
	for f in two_a two_b; do
		"$@" -gsplit-dwarf -c "$src/$f.cpp" -o $f.o || return 1
	done
	"$1" two_a.o two_b.o -o prog && test -s two_a.dwo && want prog full
}

pack() { # DWARF-VERSION; binutils' dwp knows version 4 only, llvm's both
	for p in $([ "$1" = 4 ] && echo dwp) llvm-dwp; do
		# LLVM 14's does not end with DWARF 5 of g++
		{
			(ulimit -t 2; timeout 60 $p -o prog.dwp two_?.dwo)
		} 2>/dev/null && return
	done
	rm -f prog.dwp
	return 1
}

try_split() { # NAME VERSION COMPILER FLAGS…
	name=$1 version=$2
	shift 2
	if ! (make_split "$@") >log 2>&1; then
		t_skip "$name" "this compiler cannot: $*"
		return
	fi
	cd w || exit 1
	got prog ours
	t_run "$name: .dwo files" same full ours
	got prog ours -n 7
	t_run "$name: .dwo files, few at a time" same full ours

	mkdir other dbg && mv two_a.dwo two_b.dwo other
	got prog ours
	# the other tool names no function without .dwo, except from what
	# -fsplit-dwarf-inlining leaves in the program; lines are there
	want prog none
	t_same "$name: lines without .dwo files" none ours
	t_like "$name: they are named" "$(cat err)" \
		"missing: 2 split units, first $PWD/two_[ab].dwo"

	# beside the binary, and below the debug folder
	mkdir bin && cp prog bin/ && cp prog.addr bin/prog.addr
	cp other/*.dwo bin/
	(cd bin && got prog ../ours; cp err ..)
	t_run "$name: beside the binary" same full ours
	rm bin/*.dwo
	mkdir -p "dbg$PWD" && cp other/*.dwo "dbg$PWD"
	got prog ours -D "$PWD/dbg"
	t_run "$name: in the debug folder" same full ours

	# a file of other code
	cp other/two_a.dwo two_b.dwo && cp other/two_b.dwo two_a.dwo
	got prog ours
	t_same "$name: files of other code are not used" none ours
	cp other/*.dwo .

	if pack "$version"; then
		rm -f two_?.dwo prog.dwarf.dwp
		got prog ours
		t_run "$name: .dwp file" same full ours
	else
		t_skip "$name: .dwp file" "no dwp that can read this here"
	fi
	cd ..
}

for v in 4 5; do
	for form in "g++ -O2" "g++ -O2 -fdebug-types-section" "clang++ -O2" \
		"clang++ -O2 -fsplit-dwarf-inlining" \
		"clang++ -O0 -fdebug-types-section"; do
		case "${TALLY_TESTS-} $v $form" in
		long*|" "[45]" g++ -O2 "*|" 4 clang++ -O2"|" 5 clang++ -O2 "*|" 5 "*-O0*);;
		*) continue;;
		esac
		# shellcheck disable=SC2086 # a list of words
		try_split "$form, DWARF $v" $v $form -gdwarf-$v
	done
done
try_split "g++ 64-bit DWARF" 5 g++ -O2 -gdwarf-5 -gdwarf64
try_split "g++ -O0" 5 g++ -O0 -gdwarf-5

# More .dwo files than stay open, asked for at once and again line by line.
# One is compiled; the others are copies with names and an ID of their own.
many_dwo() {
	rm -rf m && mkdir m && cd m || return 1
	echo 'int square000(int n) { return n * n; }' >u000.c
	echo 'int main(void) { return 0; }' >main.c
	gcc -O1 -gdwarf-5 -gsplit-dwarf -c u000.c main.c || return 1
	python3 - <<-'EOF' || return 1
	import re
	files = {e: open('u000' + e, 'rb').read() for e in ('.o', '.dwo')}
	# version, split unit, size of addresses, abbreviations, ID
	old = re.search(rb'\x05\0\x05\x08\0{4}(.{8})', files['.dwo'], re.S).group(1)
	for i in range(1, 140):
	    for e, data in files.items():
	        assert data.count(old) == 1 and b'square000' in data
	        data = data.replace(old, old[:6] + i.to_bytes(2, 'little'))
	        for name in (b'square', b'u'):
	            data = data.replace(name + b'000', name + b'%03d' % i)
	        open('u%03d' % i + e, 'wb').write(data)
	EOF
	gcc ./*.o -o prog || return 1
	want prog full && got prog ours && same full ours &&
		grep -q square139 full || return 1
	# few at a time: other paths through the reader
	"$symcat" -p -n 5 prog.dwarf <prog.addr | no_start >few && cmp full few
}
if have gcc && have python3; then
	t_run "many .dwo files" many_dwo
	cd "$T_TMP" || exit 1
else
	t_skip "many .dwo files" "no gcc or no python3 is installed"
fi

# ---- dwz ----

if ! command -v dwz >/dev/null; then
	t_skip_all "alternate files" "dwz is not installed"
fi

# dwz shares what two files have in common: the same units in another order.
make_dwz() { # VERSION
	rm -rf z && mkdir z && cd z || return 1
	"$CXX" -O2 "-gdwarf-$1" -c "$src/two_a.cpp" "$src/two_b.cpp" &&
	"$CXX" -Wl,--build-id=sha1 two_a.o two_b.o -o one &&
	"$CXX" -Wl,--build-id=sha1 two_b.o two_a.o -o two && want one full
}

frames() { # PROGRAM OPTION…: of the program as it is
	prog=$1
	shift
	"$symcat" -p "$@" "$prog" <one.addr 2>err | no_start >raw
	# names as DWARF has them: the whole program's .symtab is there too
	same full raw
}

try_dwz() { # VERSION
	v=$1
	if ! (make_dwz "$v") >log 2>&1; then
		t_skip "dwz DWARF $v" "this compiler cannot: $CXX -gdwarf-$v"
		return
	fi
	cd z || exit 1
	objcopy --strip-all --keep-section='.debug*' one one.bare
	mv one.bare one && cp one whole
	if dwz -o single one 2>/dev/null; then
		t_run "dwz DWARF $v: one file" frames single
	else
		t_skip "dwz DWARF $v: one file" "dwz failed"
	fi
	cp two two.whole
	if ! dwz -m common.debug one two 2>log ||
	   ! readelf -SW one | grep -q debugaltlink; then
		t_skip "dwz DWARF $v: alternate file" "dwz failed"
		cd ..
		return
	fi
	t_run "dwz DWARF $v: alternate file" frames one
	mkdir sub && cp one sub/
	t_run "dwz DWARF $v: it is needed" t_not frames sub/one
	mv raw none
	t_like "dwz DWARF $v: it is named" "$(cat err)" \
		"missing alternate file: $PWD/sub/common.debug"
	cp common.debug sub/
	t_run "dwz DWARF $v: path from the file" frames sub/one
	id=$(readelf -n common.debug | sed -n 's/.*Build ID: //p')
	mkdir -p "dbg/.build-id/$(echo "$id" | cut -c1-2)"
	mv sub/common.debug "dbg/.build-id/$(echo "$id" | cut -c1-2)/$(
		echo "$id" | cut -c3-).debug"
	t_run "dwz DWARF $v: by build-id" frames sub/one -D "$PWD/dbg"
	cp whole one.2 && cp two.whole two.2
	dwz -m sub/common.debug whole two.whole 2>log
	dwz -m sub/other.debug two.2 two 2>log
	cp two.2 sub/common.debug
	t_not frames sub/one
	t_same "dwz DWARF $v: other files are not used" none raw
	if dwz --dwarf-5 -m sup.debug one.2 two.2 2>log &&
	   readelf -SW one.2 | grep -q debug_sup; then
		t_run "dwz DWARF $v: supplementary file" frames one.2
	else
		t_skip "dwz DWARF $v: supplementary file" \
			"this dwz cannot: $(cat log)"
	fi
	cd ..
}
t_not() { ! "$@" >/dev/null; }

try_dwz 4
try_dwz 5
t_done
