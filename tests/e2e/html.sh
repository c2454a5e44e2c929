#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `tally report --html` and `tally flamegraph`: the contents of the files.
. "$top_srcdir/tests/lib.sh"

made="$top_builddir/tests/workload/made_recording"
if ! python3 -c 'import html.parser, zlib' 2>/dev/null; then
	t_skip_all "pages" "no python3 to read them with"
fi
check() { python3 -B "$top_srcdir/tests/e2e/html_check.py" "$@"; }
case $made in /*) ;; *) made=$PWD/$made;; esac
cd "$T_TMP" || exit 1
"$made" hostile hostile.tally || exit 1
"$made" many many.tally 20000 3000 || exit 1

for f in hostile many; do
	t_run "$f: a page is written" "$TALLY" report --html -o $f.html $f.tally
	"$TALLY" report --format=html $f.tally >again.html
	t_same "$f: … the same each time" $f.html again.html
	"$TALLY" report --format=json -s image,symbol $f.tally >$f.json
	t_run "$f: only the page's own script and style can run" \
		check policy $f.html
	t_run "$f: sums are those of the report" check sums $f.html $f.json
	"$TALLY" report --format=json -s symbol,tid $f.tally >tids.json
	t_run "$f: … by thread, too" check threads $f.html tids.json
	for how in "" --inverted --icicle; do
		rm -f $f.svg
		# shellcheck disable=SC2086 # one word or none
		"$TALLY" flamegraph $how -o $f.svg $f.tally
		t_run "$f: the SVG $how holds pictures and titles only" \
			check svg $f.svg $f.json
	done
done
"$TALLY" report --html --time 0,20% -o slice.html many.tally
"$TALLY" report --format=json --time 0,20% many.tally >slice.json
t_run "a slice of time" check sums slice.html slice.json

# Too much for a page: the smallest branches are summed, and it says so.
"$made" many large.tally 400000 60000
"$TALLY" report --html -o large.html large.tally
"$TALLY" report --format=json large.tally >large.json
t_run "a large recording fits in 3 MB" check size large.html 3000000
t_run "… and its functions' sums stay exact" check sums large.html large.json

"$TALLY" annotate --both --format=json --top 40 --percent-limit 0.1 \
	many.tally >lines.json
t_run "lines cost what annotate says" check lines many.html lines.json

# One function, however little it costs: the page opens there.
t_run "a page opened at a function" "$TALLY" annotate --html -o one.html \
	many.tally '*work_06399*'
t_run "… holds only what may run" check policy one.html
t_run "… and that function's lines" check begins one.html \
	'work_06399'

"$made" many other.tally 30000 3500
for f in hostile other; do
	o=many
	[ $f = other ] || o=hostile
	t_run "$f: a page of changes is written" \
		"$TALLY" diff --html -o diff-$f.html $o.tally $f.tally
	t_run "$f: … only its own script and style can run" \
		check policy diff-$f.html
	"$TALLY" diff --format=json $o.tally $f.tally >diff.json
	t_run "$f: … both sides have the samples of the diff" \
		check both diff-$f.html diff.json
done
t_like "what a page cannot compare by" \
	"$("$TALLY" diff --html -s comm many.tally other.tally 2>&1)" \
	'cannot be combined with --by'

printf 'x' >cut.tally
t_like "a file that is no recording" \
	"$("$TALLY" flamegraph cut.tally 2>&1)" '^tally: .*cut.tally'
t_like "keys do not go with a page" \
	"$("$TALLY" report --html -s line many.tally 2>&1)" 'sort.*the page itself'
t_like "nor does an unknown format" \
	"$("$TALLY" flamegraph --format=png many.tally 2>&1)" 'html or svg'
t_done
