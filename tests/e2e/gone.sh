#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Many short-lived programs: the recorder closes deleted files, and others if there are
# too many, without losing any of their names.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
command -v python3 >/dev/null || {
	t_skip_all "programs that are gone" "there is no python3"
}
cat >work.c <<'END'
#include <time.h>
static volatile unsigned long sink;
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* 8 ms from here on: what comes before main() may take longer. */
__attribute__((noinline)) void work_0000(void)
{
	long long end = now() + 8000000;

	do {
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
	} while (now() < end);
}
int main(void)
{
	work_0000();
	return 0;
}
END
id=0102030405060708090a0b0c0d0e0f1011121314
if ! ${CC:-cc} -O1 -g -Wl,--build-id=0x$id -o work work.c 2>cc.err; then
	t_skip_all "programs that are gone" "cannot compile: $(head -n 1 cc.err)"
fi
# Each program differs in its function's name and its build-id.  They are deleted a
# while after they have ended, so that a busy recorder gets to open them.
cat >many.py <<'END'
import os, subprocess, sys, time
count, ident, out = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), sys.argv[3]
kept = len(sys.argv) > 4
work = open('work', 'rb').read()
assert ident in work and b'work_0000' in work
most = 0
for i in range(count + 60):
    began = time.monotonic()
    if i < count:
        own = work.replace(b'work_0000', b'work_%04d' % i)
        own = own.replace(ident, ident[:16] + i.to_bytes(4, 'big'))
        with open('p%d' % i, 'wb') as f:
            f.write(own)
        os.chmod('p%d' % i, 0o755)
        subprocess.run(['./p%d' % i], check=True)
    if i >= 60 and not kept:
        os.unlink('p%d' % (i - 60))
    most = max(most, len(os.listdir('/proc/%d/fd' % os.getppid())))
    time.sleep(max(0, began + 0.02 - time.monotonic()))
with open(out, 'w') as f:
    print(most, file=f)
END
names() { # FILE: the programs' functions that have samples
	"$TALLY" report --format=csv --no-header -s symbol --percent-limit 0 \
		"$1" 2>names.err | grep -o '^"*work_[0-9][0-9]*' | tr -d '"' | sort -u
}
t_run "few programs are recorded" timeout 60 "$TALLY" record -q --source=perf -g -F 2500 \
	-o few.tally -- python3 many.py 3 $id few.fds
t_is "all have names" "$(names few.tally | wc -l)" 3
t_run "many programs are recorded" timeout 120 "$TALLY" record -q --source=perf -g -F 2500 \
	-o many.tally -- python3 many.py 300 $id many.fds
t_is "all of them are deleted" "$(find . -name "p[0-9]*" | wc -l)" 0
t_is "all have names" "$(names many.tally | wc -l)" 300
more=$(($(cat many.fds) - $(cat few.fds)))
t_is "the recorder held few of them open ($more)" \
	"$([ "$more" -lt 220 ] && echo yes)" yes
# Up to 256 files that are not deleted stay open (image_closer.c), plus those that come
# between two checks: 25 in half a second, more if the recorder is late.
t_run "programs that remain are recorded" timeout 240 "$TALLY" record -q --source=perf \
	-g -F 2500 -o kept.tally -- python3 many.py 500 $id kept.fds keep
t_is "all of these have names" "$(names kept.tally | wc -l)" 500
more=$(($(cat kept.fds) - $(cat few.fds)))
t_is "the recorder held not all of these open ($more)" \
	"$([ "$more" -lt 430 ] && echo yes)" yes
rm -f p[0-9]*
"$TALLY" annotate --asm --all many.tally work_0007 >text 2>&1
if t_no_zydis <text; then
	t_skip "functions of deleted programs have their instructions" \
		"built without Zydis"
else
	t_like "functions of deleted programs have their instructions" \
		"$(cat text)" ' call 0x'
fi
t_done
