#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of Go programs whose runtime switches from a goroutine's stack to the thread's.
T_ALONE=${T_ALONE:-1}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
HOME=$PWD GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS='' GOTOOLCHAIN=local
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
t_done
