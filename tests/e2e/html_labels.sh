#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Labels in the HTML page of merged recordings: the numbers of the page, and in a real
# browser those of each selection (label_browser.py), against the report.
# TALLY_TESTS=long: also machines that do not fit in a page.
# SCREENSHOTS: a folder for pictures of the pages, which are taken only then.
. "$top_srcdir/tests/lib.sh"

made=$top_builddir/tests/workload/made_recording
case $made in /*) ;; *) made=$PWD/$made;; esac
if ! python3 -c 'import html.parser, zlib' 2>/dev/null; then
	t_skip_all "labels of pages" "no python3 to read them with"
fi
check() { python3 -B "$top_srcdir/tests/e2e/html_check.py" "$@"; }
cp "$top_srcdir/tests/e2e/browser.py" "$top_srcdir/tests/e2e/label_browser.py" \
	"$T_TMP/"
cd "$T_TMP" || exit 1
mkdir few lots
"$made" labels few 20 && "$made" labels lots 10000 || exit 1
"$TALLY" merge -q few/*.tally -o few.tally
"$TALLY" merge -q lots/*.tally -o lots.tally
cp few/run0.tally one.tally
"$made" many plain.tally 2000 100
for f in few lots one plain; do
	"$TALLY" report --html -o $f.html $f.tally
done
"$TALLY" diff --html --old-label 'canary!=yes' --new-label canary=yes \
	-o diff.html few.tally

for f in few lots; do
	t_run "$f: only the page's own script and style can run" \
		check policy $f.html
	"$TALLY" report --format=json -s image,symbol $f.tally >$f.json
	t_run "$f: sums are those of the report" check sums $f.html $f.json
	for k in host service task cgroup; do
		"$TALLY" report --format=json -s $k $f.tally >$k.json
		t_run "$f: … by $k, too" check label $f.html $k $k.json
	done
done
"$TALLY" report --html --label team=web -o web.html few.tally
"$TALLY" report --format=json --label team=web -s host few.tally >web.json
t_run "a page of a selection has its labels only" \
	check label web.html host web.json
"$TALLY" merge -q few.tally -o again.tally
"$TALLY" report --html -o again.html again.tally
t_same "merging again leaves the page as it is" few.html again.html

if t_long; then
	mkdir many
	"$made" hosts many 1000 3000 3000
	"$TALLY" merge -q many/*.tally -o large.tally
	"$TALLY" report --html -o large.html large.tally
	t_run "a thousand machines fit in 3 MB" check size large.html 3000000
	for k in host service; do
		"$TALLY" report --format=json -s $k large.tally >$k.json
		t_run "… the rarest are summed, others are exact: $k" \
			check label large.html $k $k.json
	done
	rm -rf many
fi

if ! why=$(python3 -B label_browser.py --can 2>&1); then
	t_skip "labels in a browser" "$(echo "$why" | tail -n 1)"
	t_done
fi
export TALLY
t_driven "the browser was driven to the end" python3 -B label_browser.py "$T_TMP" \
	${SCREENSHOTS:+"$SCREENSHOTS"}
t_done
