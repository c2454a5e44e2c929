#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles that contain names, from perf script, pprof and the Firefox Profiler:
# compared with the counts of their own tools.
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
printf 'prog 7 6.5: 10 cycles:\n\t10 f+0x1 (/x)\n  /home/my own/f.c:3\n\t20 main+0x2 (/x)\n\n' >blanks
t_is "a source file's name may contain blanks: its callers follow" \
	"$(column blanks symbol)$("$TALLY" report --format=csv -s line blanks |
		grep -o '^/home/my own/f.c,3')" "f 1 10 10
main 0 0 10/home/my own/f.c,3"
printf 'a 7 6.4: PERF_RECORD_COMM: a:7/7\nprog 7 6.5: 10 cycles:\n\t10 f+0x1 (/x)\n\n' >task
t_is "records of other kinds are no samples" "$(column task event)" "cycles 1 10 10"
printf 'prog 7 6.5: cycles:\nnonsense\n' >odd
t_run "lines that make no sense are reported" "$TALLY" import -o odd.tally odd
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

# --- the Firefox Profiler: tables of the profile, which newer versions have …
python3 - <<'END'
import gzip
import json
nothing = [None] * 4
tables = {
	'stackTable': {'length': 4, 'prefix': [None, 0, 1, 2], 'frame': [0, 1, 2, 3]},
	'frameTable': {'length': 4, 'address': [4096, 4112, 4112, -1],
		'inlineDepth': [0, 0, 1, 0], 'func': [0, 1, 2, 3],
		'line': [7, 12, 3, None], 'column': nothing},
	'funcTable': {'length': 4, 'name': [0, 1, 2, 3], 'resource': [0, 0, 0, 1],
		'fileName': [4, 4, 5, None], 'lineNumber': [5, 10, 2, None]},
	'resourceTable': {'length': 2, 'lib': [0, 1], 'name': [0, 0]},
	'stringArray': ['main', 'outer', 'inner<int>("x")', 'tick', 'x.c', 'x.h'],
}
meta = {'interval': 0.25, 'startTime': 1.7e12, 'product': 'prog', 'version': 31}
libs = [{'name': 'prog', 'path': '/usr/bin/prog'}, {'name': 'a.so'}]
one = {'name': 'ma\u00efn', 'pid': '10', 'tid': 12, 'samples': {
	'stack': [3, 3, None, 1], 'timeDeltas': [1.5, 0.25, 0.25, 1e0],
	'weight': None, 'weightType': 'samples'}}
two = {'name': 'other', 'pid': '11.1', 'tid': '11', 'samples': {
	'stack': [2, 0], 'time': [10, 20], 'weight': [3, 1]}}
new = {'meta': meta, 'libs': libs, 'threads': [one, two], 'shared': tables}
open('new.json', 'w').write(json.dumps(new))
# … or of each thread, packed
old = {'meta': meta, 'libs': libs, 'threads': [
	{**one, **tables}, {**tables, **two}]}
gzip.open('old.json.gz', 'wt').write(json.dumps(old))
tables['stackTable'] = {'length': 4, 'prefixOffset': [0, 1, 1, 1],
	'frame': [0, 1, 2, 3]}
open('newest.json', 'w').write(json.dumps(new))
tables['stackTable'] = {'prefix': [None, 2, 1, 2], 'frame': [0, 1, 2, 3]}
open('circle.json', 'w').write(json.dumps(new))
END
for file in new.json newest.json old.json.gz; do
	t_is "Firefox Profiler, $file: functions, 0.25 ms a sample" \
		"$(column $file symbol)" 'inner<int>("x") 3 750000 1250000
main 1 250000 1750000
outer 1 250000 1500000
tick 2 500000 500000'
	t_is "$file: threads" "$(column $file comm)" "maïn 3 750000 750000
other 4 1000000 1000000"
	t_is "$file: images" "$(column $file image)" "/usr/bin/prog 5 1250000 1750000
a.so 2 500000 500000"
	t_is "$file: lines" "$("$TALLY" report --format=csv -s line $file 2>err |
		cut -d, -f1-3 | grep x)" "x.h,3,3
x.c,7,1
x.c,12,1"
done
head -c 700 new.json >cut.json
for file in cut circle; do
	"$TALLY" import -o $file.tally $file.json 2>err
	t_is "$file is an error" $? 1
	t_like "with its place" "$(cat err)" 'damaged profile at offset [0-9]+'
done
if [ -s p.tally ]; then
	"$TALLY" export --format=firefox -o - p.tally >p.json
	t_is "a recording as such a profile has the same threads" \
		"$(column p.json comm)" "$(column p.tally comm)"
	t_is "… and functions" "$(column p.json symbol)" "$(column p.tally symbol)"
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
