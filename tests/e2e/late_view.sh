#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that come while the interactive view is shown (`tally report --debuginfod`).
. "$top_srcdir/tests/lib.sh"
skip() {
	t_skip_all "names for the interactive view" "$1"
}
t_terminal "names for the interactive view"
. "$top_srcdir/tests/e2e/debuginfod_program.sh"
case $("$TALLY" report --tui first.tally 2>&1 </dev/null) in
*"without ncurses"*) skip "this tally was built without ncurses";;
esac

# SCENE: tests of late_view.py, from an empty cache; they count in each scene anew
scene() {
	rm -rf cache gate asked
	cp first.tally a.tally
	"$python" "$here/late_view.py" "$TALLY" "$PWD/a.tally" "$1" >scene.out 2>&1
	while IFS= read -r line; do
		case $line in
		"ok "*) t_run "$1: ${line#*- }" true;;
		"not ok "*) t_fail "$1: ${line#*- }" "see above";;
		1..*) ended=$1;;
		*) echo "# ${line#\# }";;
		esac
	done <scene.out
	t_is "$1: all was tested" "$ended" "$1"
}
has() { "$TALLY" report --no-pager a.tally | grep -c " $1\$"; }
unfinished() { find cache -name '*.*' 2>/dev/null | wc -l; }
ended=

scene refused
give pool/work.debug "$work" debuginfo
give pool/libcold.so.debug "$cold" debuginfo
serve gate
scene keeps_place
t_is "the names are stored" "$(has mix) $(has inner)" "1 1"
scene says_what_is_new
scene other_page
scene replaced
stop
rm "served/_buildid_${cold}_debuginfo"
serve files
scene says_what_is_new
stop
serve mixed
scene first_comes_first
t_is "what came is stored" "$(has mix) $(has inner)" "1 0"
t_is "... no unfinished file stays in the cache" "$(unfinished)" 0
stop
serve silent
scene quits
t_is "... the recording is as it was" "$(cmp first.tally a.tally && echo same)" same
scene interrupted
scene killed
t_is "... the recording is as it was" "$(cmp first.tally a.tally && echo same)" same
stop
DEBUGINFOD_URLS=http://127.0.0.1:1
export DEBUGINFOD_URLS
scene failed
t_done
