#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The shape of the source tree; scripts/check-structure says what each check is.
. "$top_srcdir/tests/lib.sh"

check=$top_srcdir/scripts/check-structure

for c in layers cycles calls headers listed exits globals sizes spdx purpose; do
	sh "$check" -s "$top_srcdir" -b "$top_builddir" $c >"$T_TMP/out" 2>&1
	status=$?
	sed 's/^/# /' "$T_TMP/out"
	if [ $status -eq 77 ]; then
		t_skip "$c" "$(cat "$T_TMP/out")"
	else
		t_ok "$c" $status
	fi
done

# The checks themselves: each must find what it is there for.
bad=$T_TMP/bad
mkdir -p "$bad/src/base" "$bad/src/views" "$bad/src/odd" "$bad/include"

finds() { # NAME CHECK ERE
	out=$(sh "$check" -s "$bad" -b "$bad" "$2" 2>&1)
	status=$?
	t_like "$1" "$(printf '%s\n' "$out" | sed "s/^/$status /")" "^1 .*$3"
}

echo '#include "views/b.h"' >"$bad/src/base/a.c"
echo '#include "views/b.h"' >"$bad/src/odd/c.c"
echo '#include "a.h"' >"$bad/src/views/b.c"
printf 'struct s;\nint f(struct t *p, size_t n);\n' >"$bad/src/views/b.h"
finds "base including views is found" layers 'base may not include views/b.h'
finds "a folder without a rule is found" layers 'src/odd: no rule'
finds "an include without folder is found" layers 'write folder/file.h'
finds "a header that needs another is found" headers 'b.h: does not compile'
finds "an unlisted source is found" listed 'base/a.c: not in'
finds "a source without licence is found" spdx 'base/a.c: no SPDX'
finds "a source without a purpose is found" purpose 'base/a.c: no comment on line 2'
finds "a source without object is found" exits 'a.c: no object file'

echo '#include "base/a.h"' >"$bad/src/views/b.h"
finds "a circle of folders is found" cycles 'base includes views'
echo '#include "base/b.h"' >"$bad/src/base/a.h"
echo '#include "base/a.h"' >"$bad/src/base/b.h"
finds "a circle of headers is found" cycles 'base/a.h includes base/b.h'

rm -r "$bad/src"
mkdir -p "$bad/src/base"
{
	echo 'int f(int x)'; echo '{'
	i=0
	while [ $i -lt 98 ]; do echo '	x++;'; i=$((i + 1)); done
	echo '	return x;'; echo '}'
} >"$bad/src/base/a.c"
finds "a function of 102 lines is found" sizes 'f has 102 lines'

cat >"$bad/src/base/a.c" <<'END'
#include <stdlib.h>
int *seen(int x);
int *seen(int x)
{
	static int last;
	if (x < 0)
		exit(1);
	last = x;
	return &last;
}
END
if ${CC:-cc} -c "$bad/src/base/a.c" -o "$bad/src/base/a.o" 2>"$T_TMP/cc"; then
	finds "exit() is found" exits 'a.c: uses exit'
	finds "a static local variable is found" globals 'a.c: variable (seen[.])?last'
else
	t_skip "exit() and variables are found" "$(head -n 1 "$T_TMP/cc")"
fi

# Three files in a circle, and one that only calls them.
rm -r "$bad/src/base"
mkdir -p "$bad/src/base"
built=0
for f in a:b b:c c:a d:a; do
	{
		echo "int call_${f#*:}(int x);"
		echo "int call_${f%:*}(int x);"
		echo "int call_${f%:*}(int x) { return call_${f#*:}(x + 1) + 1; }"
	} >"$bad/src/base/${f%:*}.c"
	${CC:-cc} -c "$bad/src/base/${f%:*}.c" -o "$bad/src/base/${f%:*}.o" \
		2>"$T_TMP/cc" || built=1
done
if [ $built -eq 0 ]; then
	finds "a circle of .c files is found" calls \
		'circle: src/base/b.c calls src/base/c.c: call_c'
	t_lacks "a file outside of the circle is not part of it" "$out" 'base/d.c'
else
	t_skip "a circle of .c files is found" "$(head -n 1 "$T_TMP/cc")"
fi

t_done
