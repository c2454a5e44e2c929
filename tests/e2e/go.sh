#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of Go programs whose runtime switches from a goroutine's stack to the thread's.
T_ALONE=${T_ALONE:-1}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
# Another test needs the same parts of Go's own library, compiled.
GOCACHE=${TALLY_PROGRAMS:-$PWD}/gocache
HOME=$PWD GO111MODULE=off GOFLAGS='' GOTOOLCHAIN=local
export HOME GO111MODULE GOCACHE GOFLAGS GOTOOLCHAIN

# runtime.Stack writes the caller's stack in a function that systemstack runs.
cat >switch.go <<'X2'
package main

import (
	"os"
	"runtime"
	"time"
)

var buf [4096]byte
var write = runtime.Stack

//go:noinline
func direct(n int) int {
	if n > 0 {
		return direct(n-1) + 1
	}
	return runtime.Stack(buf[:], false)
}

//go:noinline
func indirect() int {
	return write(buf[:], false) + 1
}

func main() {
	how, done := os.Args[1], make(chan int)
	go func() {
		n := 0
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			for i := 0; i < 100; i++ {
				if how == "direct" {
					n += direct(3)
				} else {
					n += indirect()
				}
			}
		}
		done <- n
	}()
	<-done
}
X2

# shares FILE: of the samples in the function that systemstack runs, percent with the
# callers of runtime.Stack, and with these and nothing else down to the goroutine's
# first function
shares() {
	"$TALLY" export --format folded "$1" | tr -d '\r' |
		awk -v inner="$2" '
		!/;runtime\.Stack\.func1/ { next }
		{
			n = $NF
			all += n
			sub(/ [0-9]*$/, "")
			sub(/;runtime\.Stack\.func1.*/, "")
			sub(/.*;runtime\.goexit;/, "runtime.goexit;")
			if ($0 ~ /;runtime\.Stack;runtime\.systemstack$/) with += n
			if ($0 == "runtime.goexit;main.main.func1;" inner \
			    ";runtime.Stack;runtime.systemstack") whole += n
		}
		END { printf "%.0f %.0f\n", all ? 100 * with / all : 0,
			all ? 100 * whole / all : 0 }'
}
tried=
for go in go "${TALLY_PROGRAMS:-/nonexistent}/bin/go-other"; do
	command -v "$go" >/dev/null || continue
	tried=1
	root=$(dirname "$(dirname "$(readlink -f "$(command -v "$go")")")")
	v=$(GOROOT=$root "$go" version | sed -n 's/.*\(go1\.[0-9]*\).*/\1/p')
	GOROOT=$root "$go" build -o switch switch.go >build.log 2>&1 || {
		sed "s,^,# ," build.log
		t_skip "stacks of $v" "the program could not be built"
		continue
	}
	"$TALLY" record -q -g -o direct.tally -- ./switch direct >log 2>&1
	# shellcheck disable=SC2046
	set -- $(shares direct.tally 'main.direct;main.direct;main.direct;main.direct')
	t_near "$v: systemstack has its caller" "$1" 100 5
	t_near "$v: ... and all callers of that, down to the goroutine's first" "$2" 100 5
	"$TALLY" record -q -g -o indirect.tally -- ./switch indirect >log 2>&1
	# shellcheck disable=SC2046
	set -- $(shares indirect.tally main.indirect)
	t_near "$v: also one that was called by a pointer" "$2" 100 20
	t_lacks "$v: stacks end where Go's runtime begins them" \
		"$("$TALLY" info direct.tally)" \
		'return address is not code'
done
[ "$tried" ] || t_skip "stacks of Go programs" "go is not installed"

# C code runs on the thread's stack while the goroutine that called it waits.
mkdir c
cat >c/main.go <<'X2'
package main

/*
extern int wanted(int);
__attribute__((noinline)) static int inner(int n)
{
	int r = 1;
	for (int i = 0; i < n; i++)
		r = (r * 3 + i) % 1001;
	return r;
}
__attribute__((noinline)) static int outer(int n) { return inner(n) + 1; }
__attribute__((noinline)) static int callback(int n) { return wanted(n) + 1; }
*/
import "C"

//export wanted
func wanted(n C.int) C.int {
	r := C.int(1)
	for i := C.int(0); i < n; i++ {
		r = (r*7 + i) % 1009
	}
	return r
}

//go:noinline
func first(n C.int) C.int { return C.outer(n) + 1 }

//go:noinline
func second(n C.int) C.int { return C.callback(n) + 1 }

func main() {
	done := make(chan C.int)
	go func() { done <- first(60000000) + second(60000000) }()
	<-done
}
X2
# whole FILE FUNCTION CHAIN: percent of a function's samples with these callers
whole() {
	"$TALLY" export --format folded "$1" | tr -d '\r' |
		awk -v at=";$2" -v want="$3" '
		{ n = $NF; sub(/ [0-9]*$/, "") }
		index($0, at) && substr($0, length($0) - length(at) + 1) == at {
			all += n
			gsub(/_cgo_[0-9a-f]*_/, "_cgo_")
			sub(/^[^;]*;/, "")
			with += $0 ~ want ? n : 0
		}
		END { printf "%.0f\n", all ? 100 * with / all : 0 }'
}
if ! command -v go >/dev/null; then
	t_skip "callers of C in Go" "go is not installed"
elif ! go build -o calls c/main.go >build.log 2>&1; then
	sed "s,^,# ," build.log
	t_skip "callers of C in Go" "the program could not be built"
else
	"$TALLY" record -q -g -o calls.tally -- ./calls >log 2>&1
	t_near "a function of C has its callers in Go" \
		"$(whole calls.tally inner '^runtime.goexit;main.main.func1;main.first;main._Cfunc_outer;runtime.cgocall;runtime.asmcgocall;.*outer;inner$')" 100 10
	if go build -buildmode=pie -o calls_pie c/main.go >build.log 2>&1; then
		"$TALLY" record -q -g -o pie.tally -- ./calls_pie >log 2>&1
		t_near "the same in a program that runs at any address" \
			"$(whole pie.tally inner '^runtime.goexit;main.main.func1;main.first;main._Cfunc_outer;runtime.cgocall;runtime.asmcgocall;.*outer;inner$')" 100 10
	else
		t_skip "the same in a program that runs at any address" "$(tail -n 1 build.log)"
	fi
	t_near "a function of Go that C calls has its callers in Go" \
		"$(whole calls.tally main.wanted '^runtime.goexit;main.main.func1;main.second;main._Cfunc_callback;runtime.cgocall;runtime.systemstack_switch;.*;main.wanted$')" 100 10
fi
t_done
