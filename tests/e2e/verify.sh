#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --verify: names and lines compared with libdw, for recordings and files.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1

cat >prog.c <<'X'
#include <stdio.h>
static inline unsigned mix(unsigned x)
{
	return x * 1664525u + 1013904223u;
}
__attribute__((noinline)) unsigned work(unsigned x)
{
	for (unsigned i = 0; i < 200000000; i++)
		x ^= mix(x) >> 3;
	return x;
}
int main(int argc, char **argv)
{
	(void)argv;
	return printf("%u\n", work((unsigned)argc)) < 0;
}
X
# The same code and build-id, but its lines are 100 further down.
{ echo '#line 101 "prog.c"'; cat prog.c; } >other.c
build() { $CC -O2 -g -Wl,--build-id=0x0123456789abcdef -o "$1" "$2"; }
if ! { build prog prog.c && build other other.c; } >log 2>&1; then
	t_skip_all "a second opinion" "no program: $(tail -n 1 log)"
fi
nm prog | sed -n 's/^\([0-9a-f]*\) [tT] \(main\|work\)$/0x\1/p' >asked
"$TALLY" addr2line --verify -e prog <asked >verify 2>&1
status=$?
if grep -q 'without libdw\|libdw.so.1 cannot' verify; then
	t_skip_all "a second opinion" "$(cat verify)"
fi
t_is "libdw agrees on two functions" "$status" 0
t_is "… of which both were compared" "$(cat verify)" \
	"2 addresses: 2 the same by libdw, 0 explained, 0 different"

t_run "a recording is made" "$TALLY" record -q -o p.tally -- ./prog
cp p.tally before.tally
t_run "libdw agrees on all of a recording" sh -c '
	"$TALLY" symbolize --verify p.tally >verify 2>&1 || {
		cat verify; exit 1; }
	grep -Eq "^[0-9,]+ addresses: ([1-9][0-9,]*) the same" verify || {
		cat verify; exit 1; }'
t_same "… which does not change" p.tally before.tally
mv prog saved && mv other prog
"$TALLY" symbolize --verify p.tally >verify 2>&1
t_is "another answer is exit status 1" $? 1
t_run "… and shown with both answers" sh -c '
	grep -A2 "^[^ ]*/prog 0x[0-9a-f]*: another line$" verify | head -n 3 >one
	t=$(sed -n "s/^    tally  work [^ ]*prog.c:\([0-9]*\)$/\1/p
		s/^    tally  mix [^ ]*prog.c:\([0-9]*\) < .*/\1/p" one)
	l=$(sed -n "s/^    libdw  work [^ ]*prog.c:\([0-9]*\)$/\1/p
		s/^    libdw  mix [^ ]*prog.c:\([0-9]*\) < .*/\1/p" one)
	cat one; [ -n "$t" ] && [ "$l" = $((t + 100)) ]'
mv saved prog

$CC -O1 -g -Wl,--build-id=0xfedcba -o third prog.c && mv prog saved &&
	mv third prog
"$TALLY" symbolize --verify p.tally >verify 2>&1
t_like "another file at the path is not compared, which is said" \
	"$(cat verify)" '/prog: [1-9][0-9]* addresses not compared: another file'
mv saved prog

# Debug information that came after the recording is no mistake of tally's.
objcopy --only-keep-debug prog prog.debug
objcopy --strip-all --add-gnu-debuglink=prog.debug prog stripped
mv prog.debug away
"$TALLY" record -q -o s.tally -- ./stripped >/dev/null
mv away prog.debug
"$TALLY" symbolize --verify s.tally >verify 2>&1
t_ok "debug files that arrived later are explained" $?
t_run "… and counted" grep -Eq '[1-9][0-9]* explained, 0 different' verify

# Hostile debug information costs a message at most.
python3 - prog <<'X' 2>log
import random, subprocess, sys
good = open('prog', 'rb').read()
r = random.Random(7)
lines = subprocess.run(['readelf', '-SW', 'prog'], stdout=subprocess.PIPE,
                       text=True).stdout.splitlines()
parts = [l.replace('[ ', '[').split() for l in lines if ' .debug_' in l]
for i in range(40):
    bad = bytearray(good)
    for _ in range(8):
        p = r.choice(parts)
        at, n = int(p[4], 16), int(p[5], 16)
        bad[at + r.randrange(n)] = r.randrange(256)
    open('bad%d' % i, 'wb').write(bad)
X
odd=
for f in bad*; do
	timeout 60 "$TALLY" addr2line --verify -e "$f" <asked >verify 2>&1
	case $? in 0|1) ;; *) odd="$odd $f:$?";; esac
	tail -n 1 verify | grep -q '^2 addresses: ' || odd="$odd $f"
done
t_none "damaged debug information is compared or refused" "$odd"
t_done
