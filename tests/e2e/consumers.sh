#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exports, opened by the programs they are meant for: speedscope in a browser, the
# Firefox Profiler's command line, protoc with the published definitions, BOLT, and the
# compilers of LLVM and Go. TALLY_PROGRAMS is a folder made by scripts/get-programs,
# with those that Debian does not package.
# shellcheck disable=SC1091
. "$top_srcdir/tests/lib.sh"
t_needs auto
cd "$T_TMP" || exit 1
here=$top_srcdir/tests/e2e
case $here in /*) ;; *) here=$OLDPWD/$here;; esac
npm=${TALLY_PROGRAMS:-/nonexistent}/npm/node_modules
not_here="scripts/get-programs gets it for scripts/test"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned table[256];

__attribute__((noinline)) static unsigned step(unsigned x)
{
	if (x % 16 == 0)
		table[x & 255] += x * 3;
	else
		table[x >> 8 & 255] ^= x;
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}
__attribute__((noinline)) unsigned stir(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + (unsigned)i;
	return x;
}
static void *second(void *p)
{
	*(unsigned *)p = stir(3, 200000000);
	return p;
}
int main(int argc, char **argv)
{
	unsigned x = 1, y = 0;
	long n = argc > 1 ? atol(argv[1]) : 100;
	pthread_t t;

	if (n > 1000000)
		pthread_create(&t, NULL, second, &y);
	for (long i = 0; i < n; i++)
		x = step(x);
	if (n > 1000000)
		pthread_join(t, NULL);
	x = stir(x, (int)n / 4);
	for (int i = 0; i < 256; i++)
		x += table[i];
	printf("%u %d\n", x, y == 1);
	return 0;
}
END
t_run "a program is compiled" gcc -O2 -g -pthread -Wl,--emit-relocs -o prog prog.c
t_run "it is recorded" timeout 60 "$TALLY" record -q -g -F 2000 -e cpu-clock -o p.tally -- \
	./prog 150000000
"$TALLY" report --format=json --percent-limit=0 p.tally >report.json
for f in speedscope folded pprof cpuprofile chrome firefox otlp go-pgo llvm bolt; do
	"$TALLY" export --format=$f -o p.$f p.tally || exit 1
done

# --- speedscope, offline, in a browser
if [ ! -d "$npm/speedscope" ]; then
	t_skip "speedscope" "$not_here"
elif ! why=$(python3 -B "$here/html_browser.py" --can 2>&1); then
	t_skip "speedscope" "$(echo "$why" | tail -n 1)"
else
	for f in speedscope folded pprof cpuprofile chrome; do
		t_run "speedscope opens $f, its times are the report's" \
			python3 -B "$here/consumers.py" speedscope \
			"$npm/speedscope/dist/release/index.html" report.json p.$f
	done
fi

# --- the Firefox Profiler
cli=$npm/@firefox-devtools/profiler-cli/dist/profiler-cli.js
if [ ! -f "$cli" ]; then
	t_skip "the Firefox Profiler" "$not_here"
elif ! HOME=$T_TMP node "$cli" --version >/dev/null 2>&1; then
	t_skip "the Firefox Profiler" "no Node.js that runs it: Debian 13's or newer"
else
	T_CLEANUP="HOME=$T_TMP node $cli stop --all >/dev/null 2>&1; $T_CLEANUP"
	t_run "the Firefox Profiler opens firefox, its times are the report's" \
		env HOME="$T_TMP" python3 -B "$here/consumers.py" firefox "$cli" \
		report.json p.firefox
fi

# --- protoc, by the published definitions
if command -v protoc >/dev/null; then
	known() { # MESSAGE FILE
		protoc -I "$top_srcdir/tests/push" --decode="tallytest.$1" profiles.proto \
			<"$2" >decoded 2>protoc.err || cat protoc.err
		grep -E '^ *[0-9]+(:| \{)' decoded	# fields without a name
	}
	gzip -dc p.pprof >p.raw
	for m in "Profile p.raw" "ExportRequest p.otlp"; do
		# shellcheck disable=SC2086
		set -- $m
		t_none "protoc knows each field of $2" "$(known "$1" "$2")"
		t_like "and finds names in $2" "$(cat decoded)" '^ *string_table: "stir"'
	done
else
	t_skip "protoc" "no protoc here"
fi

# --- BOLT
bolt=
for v in 16 17 18 19 20 21; do
	command -v llvm-bolt-$v >/dev/null && bolt=llvm-bolt-$v
done
if [ -n "$bolt" ] && [ "$(uname -m)" = x86_64 ]; then
	t_run "BOLT takes the profile" $bolt prog -o prog.bolt -data=p.bolt \
		-reorder-blocks=ext-tsp -reorder-functions=hfsort -split-functions
	$bolt prog -o prog.bolt -data=p.bolt -reorder-blocks=ext-tsp >bolt.out 2>&1
	t_like "it finds functions of the profile, also static ones" "$(cat bolt.out)" \
		'BOLT-INFO: [2-9] out of [0-9]+ functions .* have non-empty execution profile'
	t_is "and its program does the same" "$(./prog.bolt 100000)" "$(./prog 100000)"
	if timeout 60 "${PERF:-perf}" record -q -N --buildid-mmap -e cpu-clock \
		-o b.data ./prog 30000000 >out 2>err &&
	   $bolt -aggregate-only -nl -p b.data -o perf2bolt.fdata prog >out 2>err &&
	   "$TALLY" export --format=bolt -o b.fdata b.data; then
		t_none "all that perf2bolt finds in a perf.data is in ours" \
			"$(tail -n +2 perf2bolt.fdata | sort >want
			sort b.fdata | comm -13 - want)"
		t_like "which is something" "$(cat want)" '^1 step/1 [0-9a-f]+ [0-9]+$'
		cat >stubs.c <<'END'
#include <stdlib.h>
int main(void)
{
	long s = 0;

	for (long i = 0; i < 300000000; i++)
		s += labs(i);
	return s == 3;
}
END
		gcc -O2 -fno-builtin -Wl,--emit-relocs -o stubs stubs.c
		timeout 60 "${PERF:-perf}" record -q -N --buildid-mmap -e cpu-clock -F 4000 \
			-o s.data ./stubs 2>err
		$bolt -aggregate-only -nl -p s.data -o stubs.fdata stubs >out 2>err
		"$TALLY" export --format=bolt -o s.fdata s.data
		t_is "stubs of the linker have the names that it gives them" \
			"$(grep '@' s.fdata)" "$(grep '@PLT' stubs.fdata)"
	else
		t_skip "perf2bolt" "perf may not record, or BOLT read it, here"
	fi
else
	t_skip "BOLT" "no llvm-bolt here"
fi

# --- LLVM: each release that is here
for v in 14 16 19; do
	if ! command -v llvm-profdata-$v >/dev/null || ! command -v clang-$v >/dev/null; then
		continue
	fi
	t_run "llvm-profdata $v merges" llvm-profdata-$v merge --sample -o p.profdata p.llvm
	t_like "and shows functions" "$(llvm-profdata-$v show --sample p.profdata)" \
		'^Function: stir: [1-9]'
	clang-$v -O2 -g -fdebug-info-for-profiling -fprofile-sample-use=p.profdata -Wall \
		-pthread -S -emit-llvm -o prog.ll prog.c 2>clang.err
	t_is "clang $v takes it without a word" "$?:$(cat clang.err)" "0:"
	t_like "and weighs branches by it" "$(cat prog.ll)" '"branch_weights", i32 [0-9]+, i32'
	clang-$v -O2 -g -fprofile-sample-use=p.profdata -pthread -o prog.$v prog.c 2>clang.err
	t_is "its program does the same" "$(./prog.$v 100000)" "$(./prog 100000)"
	seen=1
done
[ -n "${seen-}" ] || t_skip "LLVM" "no clang-N and llvm-profdata-N here"

# --- Go, which can inline what is hot across an interface since 1.22
go=
for g in "${TALLY_PROGRAMS:-/nonexistent}/bin/go-other" go; do
	command -v "$g" >/dev/null || continue
	version=$("$g" version | sed 's/.*go1\.\([0-9]*\).*/\1/')
	[ "$version" -lt 22 ] || { go=$g; break; }
done
if [ -n "$go" ]; then
	mkdir gopro && cd gopro || exit 1
	cat >main.go <<'END'
package main

import "os"

type shape interface{ area(x uint64) uint64 }
type square struct{ n uint64 }
type circle struct{ n uint64 }

func (s square) area(x uint64) uint64 { return x*s.n ^ x>>7 }

//go:noinline
func (c circle) area(x uint64) uint64 { return x + c.n }

//go:noinline
func hot(s shape, x uint64) uint64 {
	for i := uint64(0); i < 400; i++ {
		x = s.area(x) + i
	}
	return x
}

func main() {
	var x uint64
	s := shape(square{3})
	if len(os.Args) > 1 {
		s = circle{4}
	}
	for i := 0; i < 400000; i++ {
		x = hot(s, x)
	}
	println(x)
}
END
	printf 'module prog\ngo 1.21\n' >go.mod
	GOCACHE=${TALLY_PROGRAMS:-$T_TMP}/gocache GOPATH=$T_TMP/gopath GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
	export GOCACHE GOPATH GOTOOLCHAIN GOFLAGS
	T_CLEANUP="chmod -R u+w '$T_TMP/gopath' 2>/dev/null; $T_CLEANUP"
	t_run "a Go program is compiled" "$go" build -o prog .
	t_run "and recorded" "$TALLY" record -q -g -e cpu-clock -o g.tally ./prog
	"$TALLY" export --format=go-pgo -o default.pgo g.tally
	# -pgo=default.pgo compiles all of Go's own library by the profile, too.
	"$go" build -pgo=off -gcflags="-m -pgoprofile=$PWD/default.pgo" \
		-o prog2 . >go.out 2>&1
	t_like "Go's compiler optimizes by the profile" "$(cat go.out)" \
		'PGO devirtualizing interface call s\.area to square\.area'
	t_is "its program does the same" "$(./prog2 2>&1)" "$(./prog 2>&1)"
	cd "$T_TMP" || exit 1
else
	t_skip "Go's compiler" "no Go since 1.22 here: $not_here"
fi
t_skip "Perfetto's trace_processor" "neither Debian nor npm has it"
t_done
