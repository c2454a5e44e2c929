#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole commands with a failing allocation, also in their libraries: each does the same
# as with enough memory, or reports once that memory ran out and exits with status 4.
# Each allocation fails once; with sanitizers, two for each place do (TALLY_TESTS=long: for
# longer).
. "$top_srcdir/tests/lib.sh"

unset DEBUGINFOD_URLS
failing=$top_builddir/tests/cli/failing
case $failing in /*) ;; *) failing=$PWD/$failing;; esac
cost=$top_builddir/tests/workload/known_cost
case $cost in /*) ;; *) cost=$PWD/$cost;; esac
cd "$T_TMP" || exit 1
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
# small, and with kernel, threads, callers, lines and code in it
for f in a b; do
	"$TALLY" record -q -g -F 500 -o $f.tally -- \
		sh -c '"$0" 0.1; "$0" 0.1' "$cost" 2>rec.err && continue
	t_skip_all "failing allocations" "cannot record: $(head -n 1 rec.err)"
done
# Another allocation of the same place fails in the same way, and a run with a sanitizer
# takes 20 times as long.
all=-a seconds=6
if t_sanitized; then
	all='' seconds=$(t_long && echo 5 || echo 1)
fi
fails() { # all|places COMMAND…: at each allocation, or at two for each place
	which=''
	[ $1 = places ] || which=$all
	shift
	out=$("$failing" $which -b $seconds ${keys:+-k "$keys"} "$@" 2>&1)
	t_like "$*${keys:+ in a terminal}" "$?:$out" \
		"^0:[1-9][0-9]* runs of [1-9][0-9]* allocations, status $ends\$"
}
keys='' ends=0
fails all report --no-tui a.tally
fails all report --no-tui -g a.tally
fails all report --no-tui -g=callees --children a.tally
fails all report --no-tui -s comm,pid,line a.tally
fails all report --format=json a.tally
fails all report --format=csv a.tally
fails all report --html -o /dev/stdout a.tally
fails all annotate --no-pager --both --top 2 a.tally
fails all annotate --format=json --top 2 a.tally
fails all diff --no-pager a.tally b.tally
fails all diff --no-pager --both --top 1 a.tally b.tally
fails all diff --html -o /dev/stdout a.tally b.tally
fails all check --warn-only --baseline a.tally --new b.tally
fails all check --warn-only --html /dev/stdout --json /dev/stdout \
	--baseline a.tally --new b.tally
for i in 1 2 3 4 5 6; do
	"$TALLY" history add --store store --commit $i a.tally >/dev/null
done
fails all history --store store
fails all history --store store --json /dev/stdout
fails all history --store store --html /dev/stdout
fails all history --store store --commit 1 add a.tally
fails all check --warn-only --history store --commit new --new b.tally
for f in folded otlp firefox; do
	fails all export --format=$f -o /dev/stdout a.tally
done
fails all merge -q -o m.tally a.tally b.tally
fails places import -q -o i.tally \
	"$top_srcdir/tests/fuzz/corpus/perf_data/packed"
fails all dump a.tally
fails all info a.tally
fails all flamegraph --format=svg a.tally
fails all addr2line -fie "$cost" 0x1190
fails all list metrics
fails all list
fails all encode --pmu k8 dc-misses,usr
fails all help record
# What libdw allocates is another process's.
if "$TALLY" addr2line --verify -fie "$cost" 0x1190 >verify.out 2>&1; then
	fails all addr2line --verify -fie "$cost" 0x1190
	fails all symbolize --verify a.tally
else
	t_skip "a second opinion" "$(tail -n 1 verify.out)"
fi
cat >server.py <<'END'
import http.server
class Taken(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Taken)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 server.py >port 2>server.err &
t_cleanup kill $!
if t_until [ -s port ] && "$TALLY" push -q --retry-for 1s \
	pyroscope+http://127.0.0.1:$(cat port) a.tally 2>push.err; then
	fails places push -q --retry-for 1s \
		pyroscope+http://127.0.0.1:$(cat port) a.tally
else
	t_skip "failing allocations of push" "$(cat server.err push.err)"
fi
# These look at much, or start programs, which takes longer than what they allocate
# for.
cp a.tally c.tally
fails places symbolize c.tally
fails all stat -o /dev/null -- true
fails all record -q -o r.tally -- true
fails all record -q --source=timer -g -o r.tally -- true
# of busy threads
fails places record -q -g -F 2000 -o r.tally -- "$cost" 0.05 2
fails places record -q --source=timer -g -F 2000 -o r.tally -- "$cost" 0.05 2
"$cost" 60 & busy=$!
if "$TALLY" record --continuous -q -p $busy --duration 0.2 -o always 2>err; then
	ends=3	# it does not run any more
	fails all status always
	fails all status --format=json always
	ends=0
else
	t_skip "the state of a continuous recording" "$(tail -n 1 err)"
fi
kill $busy
fails places doctor
# Rows, callers, code, source, a search, the searched page as a file, the menu of kinds,
# help.
keys='jj
asn	/main
P?qqqmjj
qqqqqqqqqq'
if "$TALLY" report --tui a.tally 2>&1 </dev/null |
	grep -q 'without ncurses'; then
	t_skip "the terminal view" "built without ncurses"
else
	fails all report --tui a.tally
	fails all list metrics
fi

# A program whose file does not fit into tally's address space, but whose segments fit
# into its own.
cp "$cost" large && truncate -s 8G large 2>truncate.err
if t_sanitized; then
	t_skip "a file that cannot be mapped" "sanitizers take all of the address space"
elif [ -s truncate.err ]; then
	t_skip "a file that cannot be mapped" "$(cat truncate.err)"
else
	said=$( (ulimit -v 4000000
		"$TALLY" record -q -o large.tally -- ./large 0.1 2>&1 >/dev/null) )
	t_is "a file that cannot be mapped is reported once" "$?:$said" \
		'4:tally: out of memory'
	said=$("$TALLY" info large.tally 2>&1)
	t_like "the recording has the reason" "$said" \
		'large: cannot map: Cannot allocate memory'
	t_lacks "and no other" "$said" 'not an ELF'
fi

# Recording that fails in its middle leaves a file that says so.
n=200 cut=
while [ -z "$cut" ] && [ $n -lt 1500 ]; do
	n=$((n + 20))
	rm -f cut.tally
	"$failing" -n $n record -q -g -F 4000 -o cut.tally -- "$cost" 0.2 \
		>/dev/null 2>&1
	"$TALLY" info --format=json cut.tally 2>/dev/null |
		grep -q '"complete":false' && cut=$n
done
"$TALLY" report --no-tui cut.tally >cut.txt 2>&1
t_like "memory that ends while recording is told by the file" \
	"${cut:-none cut}: $(cat cut.txt)" 'did not end properly'
t_done
