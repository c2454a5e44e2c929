#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line: help, errors, pipes, pager, colour.
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
status() { "$@" >/dev/null 2>err; echo $?; }

t_like "--version" "$("$TALLY" --version)" '^tally [0-9]+\.[0-9]+'
t_like "--help lists commands" "$("$TALLY" --help)" '^  report +'
t_is "help CMD is CMD --help" "$("$TALLY" help report)" \
	"$("$TALLY" report --help)"
t_is "no command is a mistake" "$(status "$TALLY")" 2
t_is "unknown command" "$(status "$TALLY" rceord)" 2
t_like "… offers the nearest" "$(cat err)" "did you mean 'record'"
t_is "unknown option" "$(status "$TALLY" report --srot x)" 2
t_like "… offers the nearest" "$(cat err)" "did you mean --sort"
t_is "unknown key" "$(status "$TALLY" report -s symbl)" 2
t_is "unknown format" "$(status "$TALLY" report --format yaml)" 2
t_is "no recording here" "$(status "$TALLY" report)" 1
t_like "… says how to make one" "$(cat err)" "tally record"
t_is "no such file" "$(status "$TALLY" report nothing.tally)" 1
t_like "… names it" "$(cat err)" 'nothing\.tally'
echo "this is no recording" >text.tally
t_is "not a recording" "$(status "$TALLY" report text.tally)" 1
t_is "… says no more of it" "$(cat err)" \
	"tally: text.tally: not a tally recording"
printf 'PERFILE2%099d' 0 >perf.data
status "$TALLY" report perf.data >/dev/null
t_like "a damaged recording of perf" "$(cat err)" "damaged at offset"
status "$TALLY" report "$TALLY" >/dev/null
t_like "a program" "$(cat err)" "tally record"
status "$TALLY" report . >/dev/null
t_like "a folder is called one" "$(cat err)" '\.: a folder'
: | status "$TALLY" report - >/dev/null
t_like "a pipe is called one" "$(cat err)" 'stdin: a pipe'
status "$TALLY" report --json >/dev/null
t_like "a value taken for an option" "$(cat err)" 'did you mean --format=json'
status "$TALLY" stat >/dev/null
t_like "nothing to count" "$(cat err)" 'nothing to observe: give a command'
t_is "list of no such event" "$("$TALLY" list no-such-event 2>&1)" \
	"tally: no event of that name; 'tally list --all' lists all events"
t_is "the commands of a first session come first" "$("$TALLY" --help |
	sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p' | head -n 4 |
	tr '\n' ' ')" 'record report annotate flamegraph '
: >empty.tally
t_is "an empty file" "$(status "$TALLY" info empty.tally)" 1
t_is "a folder" "$(status "$TALLY" dump .)" 1
t_lacks "commands are all described alike" "$("$TALLY" --help)" \
	'^  [a-z]+ +[A-Z]'
t_is "two files" "$(status "$TALLY" report a b)" 2
if [ -w /dev/full ]; then
	t_is "a full disk is reported" "$("$TALLY" --help 2>err >/dev/full
		echo $?)" 1
	t_like "… with the reason" "$(cat err)" 'No space left'
else
	t_skip "a full disk is reported" "no /dev/full here"
fi

if ! "$TALLY" record -q -o a.tally -- sh -c \
	'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' 2>rec.err; then
	t_skip_all "pipes and terminals" "cannot record here: $(head -n 1 rec.err)"
fi
t_is "-g=MODE, as the help shows it" "$("$TALLY" report -g=callees a.tally)" \
	"$("$TALLY" report --call-graph=callees a.tally)"
t_is "a file named for symbols must be there" \
	"$(status "$TALLY" symbolize --kallsyms nothing -o b.tally a.tally)" 1
t_like "… and is named" "$(cat err)" 'kallsyms nothing: No such file'
# A reader that goes away is no error and leaves no message.
for cmd in "report" "dump" "info"; do
	{ sleep 0.3; "$TALLY" $cmd a.tally 2>err; echo $? >rc; } | true
	t_is "tally $cmd into a closed pipe" "$(cat rc):$(cat err)" "0:"
done
t_is "a recording from standard input" "$("$TALLY" report - <a.tally)" \
	"$("$TALLY" report a.tally)"
t_lacks "no colour in a pipe" "$("$TALLY" report a.tally)" "$(printf '\033')"
t_like "colour when asked for" "$("$TALLY" report --color=always a.tally)" \
	"$(printf '\033')"

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	tty() { # CMD: its output on a terminal of 80 columns
		script -qec "stty cols 80 rows 24; $1" /dev/null | tr -d '\r'
	}
	esc=$(printf '\033')
	t_like "colour on a terminal" \
		"$(TERM=xterm PAGER=cat tty "$TALLY report --no-tui a.tally")" "$esc"
	t_lacks "NO_COLOR" "$(NO_COLOR=1 TERM=xterm PAGER=cat \
		tty "$TALLY report --no-tui a.tally")" "$esc"
	t_is "TALLY_PAGER goes before PAGER" "$(TALLY_PAGER='echo paged' \
		PAGER='echo wrong' tty "$TALLY report --no-tui a.tally")" paged
	t_like "a pager that is not there loses nothing" \
		"$(PAGER=/nowhere/pager tty "$TALLY report --no-tui a.tally")" SELF
	t_like "no pager that a dumb terminal cannot show" "$(unset PAGER
		TALLY_PAGER=; unset TALLY_PAGER
		TERM=dumb tty "$TALLY report a.tally </dev/null" |
		head -n 1)" '^# '
	no_pager="nor one that terminfo does not know, where less asks for a key"
	if TERM=no-such-terminal tty "$TALLY report --tui a.tally" |
		grep -q 'without ncurses'; then
		t_skip "$no_pager" "this tally was built without ncurses"
	else
		t_like "$no_pager" "$(unset TALLY_PAGER
			NO_COLOR=1 PAGER='echo paged' TERM=no-such-terminal \
			tty "$TALLY report a.tally" | head -n 1)" '^# '
	fi
	for term in xterm-ghostty no-such-terminal dumb ''; do
		t_like "text on a terminal called '$term'" \
			"$(NO_COLOR=1 PAGER=cat TERM=$term tty "$TALLY report a.tally
				echo status \$?" | tr '\n' ' ')" \
			'^# .* SELF .* status 0 $'
	done
	t_like "text on a terminal without a name" \
		"$(unset TERM; PAGER=cat tty "unset TERM; $TALLY report a.tally
			echo status \$?" | tr '\n' ' ')" \
		'^# .* SELF .* status 0 $'
	t_like "--tui says why not there" "$(TERM=xterm-ghostty \
		tty "$TALLY report --tui a.tally")" \
		'without ncurses|terminfo does not know .*\(TERM\)'
	t_like "--no-pager" "$(PAGER='echo paged' \
		tty "$TALLY report --no-pager a.tally")" SELF
	NO_COLOR=1 PAGER=cat tty "$TALLY report --no-tui \
		-s comm,image,symbol,line a.tally" >lines
	t_narrow "no line is wider than the terminal" lines 80
else
	t_skip "terminals" \
		"needs the program 'script' and terminals (/dev/pts)"
fi
t_done
