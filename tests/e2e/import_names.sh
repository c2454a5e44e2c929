#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles that hold names, of perf script and pprof: what their own tools count.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1
PERF=${PERF:-perf}

cat >text <<'END'
# a remark
Web Content 10/12 [003] 5.000001:     250000 cpu-clock:u: 
	            1010 inner(int)+0x10 (inlined)
	            1010 outer+0x10 (/usr/bin/x (deleted))
  x.c:12
	            2020 main+0x20 (/usr/bin/x)

Web Content 10/12 [003] 5.000252:     250000 cpu-clock:u: 
	            1018 outer+0x18 (/usr/bin/x (deleted))
	            2020 main+0x20 (/usr/bin/x)

   other 7 6.5:     500000 cpu-clock:u:      7f00 operator()(int) const+0x1 (/lib/a.so)
END
column() { # FILE KEY
	"$TALLY" report --format=json -s "$2" "$1" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
	s, t = row["self"], row["total"]
	print(row[sys.argv[1]], s["samples"], s["weight"], t["weight"])
' "$2" | sort
}
t_is "perf script: names, with blanks, too" "$(column text comm)" \
	"Web Content 2 500000 500000
other 1 500000 500000"
t_is "functions, and callers" "$(column text symbol)" \
	"inner(int) 1 250000 250000
main 0 0 500000
operator()(int) const 1 500000 500000
outer 1 250000 500000"
t_like "lines" "$("$TALLY" report --format=csv -s line text)" '^x.c,12,'
t_is "processes" "$(column text pid)" "10 2 500000 500000
7 1 500000 500000"
printf 'prog 7 6.5: cycles:\nnonsense\n' >odd
t_run "lines that make no sense are told" "$TALLY" import -o odd.tally odd
"$TALLY" import -o odd.tally odd 2>err
t_like "with their number" "$(cat err)" '1 records? of other kinds skipped'

# --- what perf itself says of the same samples
"$PERF" record -q -g -e cpu-clock:u -F 2000 -o p.data \
	awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i % 7 }' >/dev/null 2>&1
if [ -s p.data ]; then
	"$PERF" script -i p.data >p.txt 2>/dev/null
	"$PERF" report -q -i p.data --stdio -g none --no-children -n \
		--percent-limit 0 -F sample,period,comm -t '|' 2>/dev/null |
		sed 's/ *| */|/g; s/^ *//; s/ *$//' | grep '|' |
		awk -F'|' '{ print $3, $1, $2, $2 }' | sort >want
	t_is "perf script of a recording: totals of perf report" \
		"$(column p.txt comm)" "$(cat want)"
	t_run "it becomes a recording" "$TALLY" import -o p.tally p.txt
	t_run "that can be compared" "$TALLY" diff p.tally p.txt
else
	t_skip "perf script of a recording" "perf is not here or may not record"
fi

# --- pprof, written by Go and counted by its tool
if command -v go >/dev/null; then
	cat >spin.go <<'END'
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

var sum int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		sum += i
	}
}

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
		leaf(1000000)
	}
	pprof.StopCPUProfile()
	f.Close()
}
END
	HOME=$T_TMP GOCACHE=$T_TMP/cache GO111MODULE=off go build -o spin spin.go
	./spin go.pb.gz
	go tool pprof -top -unit=ns -nodefraction=0 -nodecount=1000 go.pb.gz \
		>top 2>/dev/null
	t_is "pprof by Go: flat and cumulative time of functions" \
		"$(column go.pb.gz symbol | awk '/^main\./ { print $1, $3, $4 }')" \
		"$(awk '$6 ~ /^main\./ { sub(/ns/, "", $1); sub(/ns/, "", $4)
			print $6, $1, $4 }' top | sort)"
	t_is "samples are as many as it says" \
		"$(column go.pb.gz pid | awk '{ n += $2 } END { print n }')" \
		"$(go tool pprof -top -unit=count -sample_index=samples \
			-nodefraction=0 -nodecount=1000 go.pb.gz 2>/dev/null |
			awk '/flat%/ { on = 1; next } on { n += $1 } END { print n }')"
	gunzip -c go.pb.gz >go.pb
	t_is "also when it is not compressed" "$(column go.pb symbol)" \
		"$(column go.pb.gz symbol)"
	head -c 200 go.pb >cut
	"$TALLY" import -o cut.tally cut 2>err
	t_is "a cut one is an error" $? 1
	t_like "that says so" "$(cat err)" 'damaged pprof'
	t_none "and leaves nothing" "$(ls cut.tally 2>/dev/null)"
else
	t_skip "pprof by Go" "no go here"
fi

if [ "$(id -u)" -eq 0 ]; then
	printf 'a 1 1.0: 1 cpu-clock:\n\t10 main+0x0 (/bin/a)\n\n' >theirs
	chown 65534 theirs
	"$TALLY" report theirs >out 2>err
	t_like "another user's names no file of ours to open" "$? $(cat err)" \
		"^1 tally: theirs belongs to another user, .*--trust-recording"
	t_run "unless one wants that" "$TALLY" import -q --trust-recording \
		-o theirs.tally theirs
fi
t_done
