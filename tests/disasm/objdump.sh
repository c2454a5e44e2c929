#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions as objdump sees them: their bounds and what they are.
# TALLY_TESTS=long compiles the vector instructions with -O2.
. "$top_srcdir/tests/lib.sh"

cmp=$top_builddir/tests/disasm/disasmcmp

compare() { # NAME FILE
	if objdump -d -w -M intel "$2" >"$T_TMP/text" 2>/dev/null; then
		"$cmp" -i -v 2 <"$T_TMP/text" >"$T_TMP/out"
		t_ok "$1: the same bounds" $?
		sed 's/^/# /' "$T_TMP/out" | head -n 20
		t_run "$1: at least 99.9 % the same text" awk '
			/instructions,/ { n = $1; texts = $6 }
			END { exit !(n > 1000 && texts * 1000 <= n) }
		' "$T_TMP/out"
	else
		t_skip "$1" "objdump cannot read $2"
	fi
}

case $(uname -m) in
x86_64) ;;
*) t_skip_all "objdump" "only x86 is disassembled";;
esac
if ! command -v objdump >/dev/null; then
	t_skip_all "objdump" "objdump (binutils) is not installed"
fi
compare "a program" "$(readlink -f "$(command -v sh)")"
# Of the same intrinsics -O1 makes code in half the time of -O2.
set --
t_long || set -- -O1 -fno-asynchronous-unwind-tables
if command -v python3 >/dev/null && command -v gcc >/dev/null &&
	"$top_srcdir/scripts/bench/avx512-program" "$T_TMP/avx.o" gcc "$@" \
		>"$T_TMP/log" 2>&1; then
	compare "AVX-512" "$T_TMP/avx.o"
else
	t_skip "AVX-512" "no python3, or no gcc that knows AVX-512"
fi
t_done
