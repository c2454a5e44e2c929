#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally symbolize --debuginfod`: debug files, alternate files and programs from a real
# debuginfod server, and what servers that are slow, wrong or silent do to it.
. "$top_srcdir/tests/lib.sh"

. "$top_srcdir/tests/e2e/debuginfod_program.sh"

# OPTIONS…: a copy of the recording, from an empty cache; standard error in out
symbolize() {
	rm -rf cache
	cp first.tally a.tally
	timeout 120 "$TALLY" symbolize "$@" a.tally >out 2>&1
}
# FUNCTION: whether a.tally has samples of it, and its source file
has() {
	"$TALLY" report --format=json a.tally | python3 -c '
import json, sys
print(any(r["id"].endswith(".c:" + sys.argv[1])
          for r in json.load(sys.stdin)["rows"]))' "$1"
}

symbolize --debuginfod
t_is "without a server: exit status" $? 2
t_like "... and what to do" "$(cat out)" \
	'no server is set up: DEBUGINFOD_URLS=https://.* tally symbolize --debuginfod'
t_is "... and the recording is as it was" "$(cmp first.tally a.tally && echo same)" same
DEBUGINFOD_URLS=http://127.0.0.1:1 symbolize --verify --debuginfod
t_is "with --verify: refused" $? 2
for t in 0 x 0.5s -1; do
	DEBUGINFOD_URLS=http://127.0.0.1:1 symbolize --debuginfod=$t
	t_like "the time $t" "$(cat out)" 'use a time from one second on'
done
t_is "the names are missing at first" "$(has mix) $(has inner)" "False False"

# --- a server of files
give pool/work.debug "$work" debuginfo
serve files
symbolize --debuginfod
t_is "a file that is there and one that is not: exit status" $? 0
t_like "... the server is named" "$(cat out)" \
	"^tally: asking debuginfod for debug files: $DEBUGINFOD_URLS \(DEBUGINFOD_URLS\)$"
t_like "... and what was got" "$(cat out)" '^tally: debuginfod: .*/work: [0-9.]+ [KM]B$'
t_like "... and what was not" "$(cat out)" \
	'^tally: debuginfod: .*/libcold.so: no debuginfod server has it$'
t_is "... the first has names and lines" "$(has mix) $(has inner)" "True False"
t_is "... the one with the most samples was asked for first" \
	"$(grep -n "$work/debuginfo\|$cold/debuginfo" asked | head -n 1 |
		grep -c "^1:.*$work")" 1
cp asked before
timeout 60 "$TALLY" symbolize --debuginfod a.tally >out 2>&1
t_is "what no server has is not asked for again" "$(cmp before asked && echo same)" same
t_lacks "... nor is what is there" "$(cat out)" 'debuginfod: .*/work'
symbolize -q --debuginfod
t_lacks "-q: no word of files" "$(cat out)" 'tally: debuginfod:'

# The debug file of another build: its names would be wrong.
give pool/libcold.so.debug "$work" debuginfo
symbolize --debuginfod
t_is "a file of another build is not used" "$(has mix)" False
head -c 3000 /dev/urandom >noise
give noise "$work" debuginfo
symbolize --debuginfod
t_is "nor is noise: exit status" $? 0
t_is "... names" "$(has mix)" False

# A program that is gone, and has no names without its file.
give pool/work.debug "$work" debuginfo
give pool/work "$work" executable
mv work elsewhere
symbolize --debuginfod
t_is "a program that is gone" "$(has mix)" True
cp pool/libcold.so work
symbolize --debuginfod
t_is "a program that was replaced" "$(has mix)" True
cp elsewhere work

# An alternate file (dwz).
if command -v dwz >/dev/null; then
	cp pool/work.debug w.debug
	cp pool/libcold.so.debug c.debug
	if dwz -m common.debug -M /usr/lib/debug/.dwz/tally-test.debug w.debug c.debug \
		2>dwz.err && [ -s common.debug ]; then
		give w.debug "$work" debuginfo
		give c.debug "$cold" debuginfo
		give common.debug "$(id_of common.debug)" debuginfo
		: >asked
		symbolize --debuginfod
		t_is "an alternate file" "$(has mix) $(has inner)" "True True"
		t_is "... was asked for once for each" \
			"$(grep -c "$(id_of common.debug)" asked)" 1
	else
		t_skip "an alternate file" "dwz: $(head -n 1 dwz.err)"
	fi
else
	t_skip "an alternate file" "there is no dwz"
fi
stop

# --- servers that are slow
serve silent
start=$(date +%s)
symbolize --debuginfod
t_is "a server that does not answer: exit status" $? 0
t_like "... is given up" "$(tr '\n' ' ' <out)" \
	'no answer from debuginfod.*more images? (was|were) not asked for'
t_run "... after ten seconds for all files, not for each" \
	test $(($(date +%s) - start)) -lt 60
t_is "... and asked once" "$(wc -l <asked)" 1
stop
serve flood
symbolize --debuginfod=2s
t_like "the time that was given" "$(tr '\n' ' ' <out)" 'debuginfod: it took 2 s'
stop
serve drip
cp first.tally a.tally
rm -rf cache
timeout 60 python3 -c '
import signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                      signal.default_int_handler))
for i in range(300):
    time.sleep(0.1)
    try:
        if open("asked").read():
            break
    except OSError:
        pass
time.sleep(0.3)
p.send_signal(signal.SIGINT)
print(p.communicate()[1], p.returncode)' "$TALLY" symbolize --debuginfod a.tally >out 2>&1
t_like "Ctrl-C ends the requests, not the command" "$(tr '\n' ' ' <out)" \
	'debuginfod: interrupted; .*addresses have names now.* 0 $'
t_lacks "... and the recording is whole" \
	"$("$TALLY" info --format=json a.tally)" \
	'"damaged":[1-9]|"incomplete":true'
stop

# --- a real server
if ! command -v debuginfod >/dev/null; then
	t_skip "a real server" "there is no debuginfod (Debian: debuginfod)"
	t_done
	exit 0
fi
python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])' >port
debuginfod -p "$(cat port)" -d :memory: -F -t 1 "$PWD/pool" >server.log 2>&1 &
server=$!
t_cleanup "kill $server 2>/dev/null"
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
export DEBUGINFOD_URLS
answers() {
	python3 -c '
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=5).read()' "$1" 2>/dev/null
}
if ! t_until answers "$DEBUGINFOD_URLS/buildid/$work/debuginfo" ||
   ! t_until answers "$DEBUGINFOD_URLS/buildid/$cold/debuginfo"; then
	t_skip "a real server" "the server does not serve: $(tail -n 1 server.log)"
	t_done
	exit 0
fi
symbolize --debuginfod
t_is "a real server" "$(has mix) $(has inner)" "True True"
rm -rf cache
cp first.tally a.tally
timeout 120 "$TALLY" report --debuginfod a.tally >shown 2>out
t_is "... after a report" "$(has mix) $(has inner)" "True True"
rm work libcold.so
symbolize --debuginfod
t_is "... and programs that are gone" "$(has mix) $(has inner)" "True True"
rm -rf cache
cp first.tally a.tally
timeout 120 "$TALLY" report --debuginfod a.tally >shown 2>out
t_is "... after a report, too" "$(has mix) $(has inner)" "True True"
t_done
