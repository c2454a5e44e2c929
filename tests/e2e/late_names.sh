#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally report --debuginfod`: the report comes first, then the names, within a budget,
# for the user's own recordings only, whatever the servers do.
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/e2e/debuginfod_program.sh"

# OPTIONS…: a report of a copy of the recording, from an empty cache; standard output in
# shown, standard error in said
report() {
	rm -rf cache
	cp first.tally a.tally
	again "$@"
}
again() { timeout 120 "$TALLY" report "$@" a.tally >shown 2>said; }
# OPTIONS…: the same on a terminal; all in shown
terminal() {
	rm -rf cache
	cp first.tally a.tally
	TERM=xterm script -qec "timeout 120 '$TALLY' report --no-tui --no-pager $* a.tally" \
		/dev/null </dev/null | tr -d '\r' >shown
}
names() { # which of the two functions have names in a.tally
	"$TALLY" report --no-pager a.tally | awk '$NF ~ /^(mix|inner)$/ { print $NF }' |
		sort | tr '\n' ' '
}
asked() { cat asked 2>/dev/null; }

"$TALLY" report first.tally >plain
report --debuginfod
t_is "without a server: exit status" $? 0
t_like "... and what to do" "$(cat said)" \
	'nothing is requested from debuginfod: no server is set up: DEBUGINFOD_URLS='
t_is "... the report is shown" "$(cmp plain shown && echo same)" same
for o in --debuginfod=0.5s --debuginfod=x --debuginfod-size=5M; do
	report "$o"
	t_is "$o alone: refused" $? 2
done
report --debuginfod --debuginfod-size=5k
t_is "a size below one MB: refused" $? 2

give pool/work.debug "$work" debuginfo
serve files
report
t_is "without the option nothing is asked" "$(asked | wc -l)" 0
report --debuginfod
t_is "with it: exit status" $? 0
t_is "... one report, of what was known" "$(cmp plain shown && echo same)" same
t_like "... the servers are named" "$(cat said)" \
	"^tally: asking debuginfod for debug files: $DEBUGINFOD_URLS \(DEBUGINFOD_URLS\)$"
t_like "... what came" "$(cat said)" '^tally: debuginfod: .*/work: [0-9.]+ [KM]B$'
t_like "... what did not" "$(cat said)" 'no server has files for 1 image$'
t_like "... and what is new" "$(cat said)" \
	'^tally: stored in the recording: the names? of [0-9]+ functions? (is|are) new: mix'
t_like "... that is to be seen in the next report" "$(cat said)" 'repeat the report'
t_is "... and is" "$(names)" "mix "
t_is "the image with the most samples is asked for first" \
	"$(asked | head -n 1 | grep -c "$work")" 1
cp asked before
again --debuginfod
t_is "again: no server is asked" "$(cmp asked before && echo same)" same
t_lacks "... nothing is new" "$(cat said)" 'stored|repeat'

report --debuginfod -o out.txt
t_like "a file is written again" "$(cat out.txt)" ' mix$'
report --debuginfod --html -o out.html
t_is "... a page, too" "$(python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import html_check
print("mix" in str(html_check.data("out.html")))' "$here")" True
report --debuginfod --format=json
t_is "JSON is one document" "$(python3 -c '
import json; print(len(json.load(open("shown"))["rows"]) > 0)')" True
if command -v script >/dev/null; then
	terminal --debuginfod --top 3
	t_is "a terminal shows two reports" "$(grep -c '^# *\./work\|SELF' shown)" 2
	t_is "... the second with names" "$(awk '/SELF/ { n++ }
		n == 1 && / mix$/ && !/tally/ { print "first" }
		n == 2 && / mix$/ { print "second" }' shown)" second
	t_like "... progress between them" "$(tr '\033' '\n' <shown)" \
		'fetching debug information of work \(1 of 2.*Ctrl-C stops'
else
	t_skip "on a terminal" "there is no script"
fi
t_is "the first recording is as it was" "$("$TALLY" report first.tally | cmp - plain &&
	echo same)" same

# --- Recordings that are not the user's own: no server hears of them.
: >asked
python3 -B "$here/stranger.py" names b.tally 1700000000 "$PWD/work" 0x1149
cp b.tally a.tally
again --debuginfod
t_is "a recording of unknown origin: exit status" $? 0
t_like "... is refused" "$(cat said)" \
	'not known who made the recording.*--trust-recording'
cp first.tally a.tally
ln -s a.tally link.tally
timeout 60 "$TALLY" report --debuginfod link.tally >shown 2>said
t_like "one that cannot be replaced" "$(cat said)" 'names could not be stored'
"$TALLY" export --format=pprof -o a.pb.gz a.tally
timeout 60 "$TALLY" report --debuginfod --trust-recording a.pb.gz >shown 2>said
t_like "one of another profiler" "$(cat said)" 'tally import'
if [ "$(id -u)" = 0 ] && unshare -u true 2>/dev/null; then
	timeout 60 unshare -u sh -c 'hostname tally-elsewhere 2>/dev/null ||
		echo tally-elsewhere >/proc/sys/kernel/hostname
		"$0" report --debuginfod a.tally' "$TALLY" >shown 2>said
	t_like "one of another machine" "$(cat said)" 'made on another machine, '
else
	t_skip "one of another machine" "not root"
fi
if [ "$(id -u)" = 0 ]; then
	chown 12345 a.tally
	again --debuginfod
	t_like "one of another user" "$(cat said)" 'belongs to another user'
	t_is "... no server was asked" "$(asked | wc -l)" 0
	rm -rf cache
	again --debuginfod --trust-recording
	t_like "... unless the user trusts it" "$(cat said)" 'stored in the recording'
else
	t_skip "one of another user" "not root"
	t_is "... no server was asked" "$(asked | wc -l)" 0
fi

# --- Files that are wrong, or too large.
give pool/libcold.so.debug "$work" debuginfo
report --debuginfod
t_like "a file of another build" "$(cat said)" '/work: .*, the server sent a file of another build$'
t_is "... gives no names" "names: $(names)" "names: "
head -c 3000000 /dev/urandom >noise
give noise "$work" debuginfo
give pool/libcold.so.debug "$cold" debuginfo
report --debuginfod
t_is "noise: exit status" $? 0
t_is "... and the other file is used" "$(names)" "inner "
head -c 60000000 /dev/zero >noise
give noise "$work" debuginfo
report --debuginfod --debuginfod-size=20M
t_like "a file beyond the budget is left out" "$(cat said)" \
	'/work: debuginfod: more than the 20.0 MB that are left of 20 MB'
t_is "... a smaller one is not" "$(names)" "inner "
t_is "... and is all that is in the cache" "$(find cache -size +500k | wc -l)" 0
stop

# --- Servers that fail.
DEBUGINFOD_URLS=http://127.0.0.1:1
export DEBUGINFOD_URLS
report --debuginfod
t_is "a server that is away: exit status" $? 0
t_is "... the report is shown" "$(cmp plain shown && echo same)" same
t_like "... and why there is no more" "$(cat said)" 'Connection refused'
t_is "... the recording is as it was" "$(cmp first.tally a.tally && echo same)" same
unset DEBUGINFOD_URLS
for status in 404 500 503; do
	serve $status
	report --debuginfod
	t_is "status $status: the report is shown" "$(cmp plain shown && echo same)" same
	t_like "... no server has it" "$(cat said)" 'no server has files for 2 images'
	cp asked before
	again --debuginfod
	t_is "... it is not asked again for a while" "$(cmp asked before && echo same)" same
	stop
done
serve flood
report --debuginfod=2s
t_like "the time that was given" "$(cat said)" 'debuginfod.* it took 2 s'
stop
rm -f served/*
give pool/work.debug "$work" debuginfo
serve files
again --debuginfod
t_is "... and the file is requested again" "$(names)" "mix "
stop

serve drip
report --debuginfod
t_like "a server that sends next to nothing is given up" "$(cat said)" \
	'no answer from debuginfod.*1 more image was not asked for'
stop

# HOW SIGNAL: starts a report, and sends it a signal once a server was asked for the
# second image (1: the first).  Standard output until then is in early.
cat >interrupt.py <<'E'
import os, signal, subprocess, sys, time
n = int(sys.argv[1])
p = subprocess.Popen(sys.argv[2:], stdout=open('early', 'w'), stderr=subprocess.PIPE,
                     text=True, preexec_fn=lambda: signal.signal(
                         signal.SIGINT, signal.default_int_handler))
for i in range(600):
    time.sleep(0.1)
    if os.path.exists('asked') and len(open('asked').readlines()) >= n:
        break
running = p.poll() is None
early = open('early').read() == open('plain').read()
time.sleep(0.3)
p.send_signal(signal.SIGINT)
said = p.communicate()[1]
print(said, 'early' if early and running else 'late', p.returncode)
E
interrupt() { # N
	rm -rf cache asked
	cp first.tally a.tally
	timeout 100 python3 interrupt.py "$1" "$TALLY" report --debuginfod a.tally >said
}
left() { find cache -name '*.*' | wc -l; }
for how in silent drip; do
	serve $how
	interrupt 1
	t_like "$how: the report does not wait for the server; Ctrl-C ends the requests" \
		"$(tr '\n' ' ' <said)" \
		'debuginfod: interrupted; 1 more image was not asked for.* early 0 $'
	t_is "... the recording is as it was" "$(cmp first.tally a.tally && echo same)" same
	t_is "... no unfinished file stays in the cache" "$(left)" 0
	stop
	# libdebuginfod would remember for ten minutes that no server has it
	rm -f served/*
	give pool/work.debug "$work" debuginfo
	serve files
	again --debuginfod
	t_is "... and the file is requested again" "$(names)" "mix "
	stop
done
serve mixed
interrupt 2
t_like "Ctrl-C keeps what came" "$(tr '\n' ' ' <said)" \
	'debuginfod: interrupted.*stored in the recording.* 0 $'
t_is "... the names are there" "$(names)" "mix "
t_lacks "... and the recording is whole" \
	"$("$TALLY" info --format=json a.tally)" \
	'"damaged":[1-9]|"incomplete":true'

# A recording that is made meanwhile does not get the old one's names.
rm -rf cache asked
cp first.tally a.tally
timeout 100 python3 - "$TALLY" >said <<'E'
import os, shutil, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], 'report', '--debuginfod', 'a.tally'],
                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(
                         signal.SIGINT, signal.default_int_handler))
for i in range(600):
    time.sleep(0.1)
    if os.path.exists('asked') and len(open('asked').readlines()) >= 2:
        break
shutil.copy('first.tally', 'new')
os.rename('new', 'a.tally')
p.send_signal(signal.SIGINT)
print(p.communicate()[1], p.returncode)
E
t_like "a recording that was replaced meanwhile" "$(tr '\n' ' ' <said)" \
	'replaced meanwhile: the names are not stored.* 1 $'
t_is "... is as it was" "$(cmp first.tally a.tally && echo same)" same
stop

# --- A cache that is full.
head -c 3000000 /dev/urandom >noise
give noise "$cold" debuginfo
serve files
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	rm -rf cache
	mkdir cache
	cp first.tally a.tally
	timeout 100 unshare -m sh -c 'mount -t tmpfs -o size=512k tally cache &&
		"$0" report --debuginfod a.tally && find cache -name "*.*" >unfinished' \
		"$TALLY" >shown 2>said
	t_is "a full disk: exit status" $? 0
	t_is "... the report is shown" "$(cmp plain shown && echo same)" same
	t_is "... names that came are stored" "$(names)" "mix "
	t_is "... no unfinished file stays" "$(wc -l <unfinished)" 0
else
	t_skip "a full disk" "not root"
fi
rm -rf cache
cp first.tally a.tally
timeout 100 sh -c 'ulimit -f 1000; "$0" report --debuginfod a.tally' "$TALLY" >shown 2>said
t_is "a process that dies: exit status" $? 0
t_is "... the report is shown" "$(cmp plain shown && echo same)" same
t_is "... names that came are stored" "$(names)" "mix "
stop
t_done
