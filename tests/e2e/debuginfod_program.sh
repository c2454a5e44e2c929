# SPDX-License-Identifier: GPL-2.0-or-later
# For tests of debuginfod, after tests/lib.sh: a stripped program with a library, whose
# debug files are in pool/, their recording first.tally, and servers (bad_server.py).
# The rest of the test runs in $T_TMP.
unset DEBUGINFOD_URLS
here=$(cd "$top_srcdir/tests/e2e" && pwd)
bad_server=$here/bad_server.py
HOME=$T_TMP
export HOME
cd "$T_TMP" || exit 1
for p in python3 objcopy readelf; do
	command -v "$p" >/dev/null && continue
	t_skip_all "debuginfod" "there is no $p"
done
lib=
for d in /lib /usr/lib /lib64 /usr/lib64 /lib/* /usr/lib/*; do
	[ -e "$d/libdebuginfod.so.1" ] && lib=$d
done
[ -n "$lib" ] || t_skip_all "debuginfod" "there is no libdebuginfod.so.1"

cat >cold.c <<'END'
__attribute__((noinline)) static unsigned inner(unsigned x)
{
	for (int i = 0; i < 4000; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}
unsigned cold(unsigned x) { return inner(x) + 1; }
END
cat >work.c <<'END'
#include <stdlib.h>
unsigned cold(unsigned x);
static inline unsigned mix(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}
__attribute__((noinline)) static unsigned heavy(unsigned x) { return mix(x, 16000); }
int main(int argc, char **argv)
{
	unsigned s = 0;

	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		s += heavy(s) + cold(s);
	return s == 12345;
}
END
# $CC may hold options
# shellcheck disable=SC2086
if ! ${CC:-cc} -O1 -g -fPIC -shared -Wl,--build-id -o libcold.so cold.c 2>cc.err ||
   ! ${CC:-cc} -O1 -g -Wl,--build-id -o work work.c -L. -lcold -Wl,-rpath,"$PWD" \
	2>cc.err; then
	t_skip_all "debuginfod" "no C compiler that works: $(head -n 1 cc.err)"
fi
mkdir pool
for f in work libcold.so; do
	objcopy --only-keep-debug $f pool/$f.debug
	objcopy --strip-unneeded --remove-section=.debug_str $f
	cp $f pool/
done
id_of() { LC_ALL=C readelf -n "$1" | awk '/Build ID/ { print $3 }'; }
work=$(id_of work)
cold=$(id_of libcold.so)
if ! "$TALLY" record -q -F 2000 -o first.tally -- ./work 8000 2>rec.err; then
	t_skip_all "debuginfod" "cannot record here: $(head -n 1 rec.err)"
fi
DEBUGINFOD_CACHE_PATH=$PWD/cache
export DEBUGINFOD_CACHE_PATH
# With a size limit, elfutils 0.188 also prints to the descriptor -1, and glibc 2.36 then
# leaks a buffer.  The sanitizer's symbolizer would ask the servers.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

mkdir served
serve() { # HOW
	rm -f port asked
	python3 "$bad_server" "$1" &
	server=$!
	t_cleanup "kill $server 2>/dev/null"
	t_until test -s port
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
	export DEBUGINFOD_URLS
}
stop() {
	kill "$server"
	wait "$server" 2>/dev/null
	unset DEBUGINFOD_URLS
}
give() { # FILE BUILD-ID KIND
	cp "$1" "served/_buildid_$2_$3"
}
