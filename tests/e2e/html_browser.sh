#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML page in a real browser: see html_browser.py.
. "$top_srcdir/tests/lib.sh"

browser="$top_srcdir/tests/e2e/html_browser.py"
made="$top_builddir/tests/workload/made_recording"
case $made in /*) ;; *) made=$PWD/$made;; esac
if ! why=$(python3 -B "$browser" --can 2>&1); then
	t_skip "the page in a browser" "$(echo "$why" | tail -n 1)"
	t_done; exit
fi
cp "$top_srcdir/tests/e2e/browser.py" "$browser" "$T_TMP/"
cd "$T_TMP" || exit 1
"$made" hostile hostile.tally && "$made" many many.tally 30000 4000 || exit 1
for f in hostile many; do
	"$TALLY" report --html -o $f.html $f.tally
	"$TALLY" report --format=json $f.tally >$f.json
done
# something with instructions and jumps
cost="$top_builddir/tests/workload/known_cost"
case $cost in /*) ;; *) cost=$OLDPWD/$cost;; esac
"$TALLY" record -o real.tally -F 2000 --embed-source -- "$cost" 0.7 \
	2>/dev/null >&2
"$TALLY" report --html -o real.html real.tally
"$TALLY" annotate --html -o one.html many.tally "$(
	"$TALLY" report --format=csv many.tally | sed -n 300p |
		sed 's/.*::\(work_[0-9]*\).*/*\1*/')"
"$TALLY" flamegraph --icicle -o begin.html many.tally
"$TALLY" flamegraph -o hostile.svg hostile.tally
python3 -B html_browser.py "$T_TMP" "${SCREENSHOTS:-$T_TMP}" >out 2>err
status=$?
# its lines are TAP already
sed 's/^/# /' err | tail -n 30
while IFS= read -r line; do
	case $line in
	"ok "*) t_ok "${line#ok }" 0;;
	"not ok "*) t_ok "${line#not ok }" 1;;
	*) echo "# $line";;
	esac
done <out
t_ok "the browser was driven to the end" $status
t_done
