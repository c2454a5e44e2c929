# SPDX-License-Identifier: GPL-2.0-or-later
# The full names of functions that really exist, against nm -C: lambdas, operators,
# local classes, coroutines, conversion functions, templates of these.
# TALLY_TESTS=long compiles with all flags by each compiler, otherwise by one.
. "$top_srcdir/tests/lib.sh"

tally=$(cd "$top_builddir/src" && pwd)/tally
src=$(cd "$top_srcdir/tests/symbolize" && pwd)
cd "$T_TMP" || exit 1

# Compares addresses all over the program `o` with libdw.
libdw_agrees() { # WHAT
	readelf -SW o | sed -n 's/^.* \.text  *PROGBITS  *//p' >text
	read -r start _ size _ <text
	at=$((0x$start))
	while [ $at -lt $((0x$start + 0x$size)) ]; do
		printf '0x%x\n' $at
		at=$((at + 5))
	done >asked
	"$tally" addr2line --verify -e o <asked >verify 2>&1
	status=$?
	if grep -q 'without libdw\|libdw.so.1 cannot' verify; then
		t_skip "$1" "$(head -n 1 verify)"
		return
	fi
	grep -A2 -E ' 0x[0-9a-f]+: (another|only) ' verify | cut -c 1-200 |
		head -n 3 | sed 's/^/# /'
	t_is "$1" $status 0
	t_is "… on each of them" "$(tail -n 1 verify | sed 's/ addresses: .*//;
		s/,//g')" "$(wc -l <asked)"
}

for cxx in g++ clang++; do
	for flags in '-std=c++20 -O0' '-std=c++20 -O2' '-std=c++20 -O3' \
		'-std=c++17 -O1 -gdwarf-4' '-std=c++17 -O2 -g1'; do
		case "${TALLY_TESTS-} $cxx $flags" in
		long*|" g++ "*-O[03]|" g++ "*-O1*|" clang++ "*-O2*);;
		*) continue;;
		esac
		what="$cxx $flags: names as nm -C says"
		# shellcheck disable=SC2086 # lists of words
		if ! command -v $cxx >/dev/null; then
			t_skip "$what" "no $cxx is installed"
		elif $cxx -w -pthread -g $flags "$src/outermost.cpp" -o o \
				2>log; then
			t_run "$what" python3 "$src/outermost.py" "$tally" o
			libdw_agrees "$cxx $flags: libdw agrees"
		else
			sed 's/^/# /' log | head -n 5
			t_ok "$what: compiled" 1
		fi
	done
done

# Identical code that the linker folded: the line is that of the named function.
what='clang++ and gold, folded code'
if ! command -v clang++ >/dev/null || ! command -v ld.gold >/dev/null; then
	t_skip "$what" 'no clang++ or no gold is installed'
elif clang++ -std=c++17 -w -pthread -g -O2 -ffunction-sections -fuse-ld=gold \
		-Wl,--icf=all "$src/outermost.cpp" -o o 2>log; then
	libdw_agrees "$what: libdw agrees"
	t_run "… without an explanation" grep -q ', 0 explained, ' verify
else
	sed 's/^/# /' log | head -n 5
	t_ok "$what: compiled" 1
fi

# What the compiler made itself has no parameters in its name.
what='the constructor of a file, without symbols'
if ! command -v g++ >/dev/null; then
	t_skip "$what" 'no g++ is installed'
else
	echo 'int made(); int n = made();' >init.cpp
	if g++ -g -O2 -fPIC -shared init.cpp -o init 2>log &&
		objcopy -w -N '*' init init.nosym; then
		at=$(nm init | sed -n 's/ t _GLOBAL__sub_I_init.cpp$//p')
		t_is "$what" "$(echo "0x$at" | "$tally" addr2line -fiCe \
			init.nosym | tail -n 2 | head -n 1)" _GLOBAL__sub_I_init.cpp
	else
		sed 's/^/# /' log | head -n 5
		t_ok "$what: compiled" 1
	fi
fi

# gdc writes no linkage name for nested functions.
what='a nested function of D has the name of its symbol'
if ! command -v gdc >/dev/null; then
	t_skip "$what" 'no gdc is installed'
else
	cat >nested.d <<'END'
module nested;
extern (C) int rand();
extern (C) int main(int argc, char** argv)
{
	int step(int n) { return n * rand() + argc; }
	return step(argc) + step(3);
}
END
	if gdc -g -O0 nested.d -o nested 2>log; then
		nm nested | sed -n 's/ t \(_D.*4step.*\)$/ \1/p' >symbol
		read -r at name <symbol
		t_is "$what" "$(echo "0x$at" | "$tally" addr2line -fe nested |
			head -n 1)" "$name"
	else
		sed 's/^/# /' log | head -n 5
		t_ok "$what: compiled" 1
	fi
fi
t_done
