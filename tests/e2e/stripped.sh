#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stripped program has a row for each function, not for each address.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
cat >work.c <<'END'
#include <stdlib.h>
volatile unsigned sink;
#define PART(name, n) __attribute__((noinline, noclone)) static void name(void) \
	{ for (unsigned i = 0; i < n; i++) { sink += i * 3; sink ^= i; } }
PART(small, 100000)
PART(large, 300000)
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		small();
		large();
	}
	return 0;
}
END
if ! ${CC:-cc} -O1 -g -o full work.c 2>cc.err; then
	t_skip_all "stripped" "no C compiler that works: $(head -n 1 cc.err)"
fi
strip -o work full
if ! "$TALLY" record --source=perf -q -F 2000 -o a.tally -- ./work 400 2>rec.err; then
	t_skip_all "stripped" "cannot record here: $(head -n 1 rec.err)"
fi
start() { nm full | sed -n "s/^0*\\([0-9a-f]*\\) t $1\$/\\1/p"; }
small=work+0x$(start small)
large=work+0x$(start large)

"$TALLY" report -s symbol --image work a.tally >out
sed -n 's/.* \(work+0x[0-9a-f]*\) *$/\1/p' out >rows
t_is "the largest function comes first" "$(sed -n 1p rows)" "$large"
t_is "then the other one" "$(sed -n 2p rows)" "$small"
# main may have been hit, and no more: not one row for each address
t_ok "no other rows" "$([ -s rows ] && [ "$(wc -l <rows)" -le 3 ]; echo $?)"
t_like "its samples still count as without a name" "$(grep 'Unresolved' out)" \
	'Unresolved: [0-9.]+% .*work [0-9.]+%'
"$TALLY" report -s symbol --symbol "$large" a.tally >one
t_is "a function is found by its name" \
	"$(sed -n 's/.* \(work+0x[0-9a-f]*\) *$/\1/p' one)" "$large"
"$TALLY" dump a.tally >dump
t_ok "its extent is in the file" "$(grep -q "^symbol .*name=\"\" vaddr=0x$(
	start large) size=0x" dump; echo $?)"

# The names come when the file with them does.
id=$(readelf -n work | sed -n 's/.*Build ID: //p')
if [ -n "$id" ]; then
	dir=dbg/.build-id/$(echo "$id" | cut -c1-2)
	mkdir -p "$dir"
	objcopy --only-keep-debug full "$dir/$(echo "$id" | cut -c3-).debug"
	"$TALLY" symbolize --debug-dir "$PWD/dbg" a.tally >/dev/null 2>&1
	"$TALLY" report -s symbol --image work a.tally >out
	t_like "symbolized again, it has its name" "$(cat out)" ' large *$'
fi
t_done
