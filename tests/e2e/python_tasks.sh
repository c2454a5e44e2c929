#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of asyncio tasks, with a program in which each function runs in one task only
# (python_tasks.py).
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer

. "$top_srcdir/tests/e2e/python_labels.sh"
labels_check task python_tasks.py 0.04 3.8 3.16
if [ -z "$python" ]; then
	t_skip "tasks" "no interpreter whose tasks are known"
	t_done
fi

t_like "one task is selected" \
	"$("$TALLY" report --label task=mine -s task,symbol t.tally)" \
	' mine +in_mine$'
t_lacks "… and no other" \
	"$("$TALLY" report --label task=mine -s task,symbol t.tally)" 'in_plain'
t_like "the name stays in a merged recording" \
	"$("$TALLY" merge -o m.tally t.tally t.tally >/dev/null 2>&1
	"$TALLY" report -s task m.tally)" ' mine$'
"$TALLY" record -q -o n.tally "$python" -c 'for i in range(6000000): pass'
t_like "without asyncio there are none" \
	"$("$TALLY" report --format=csv -s task n.tally | sed -n 2p)" '^,'
t_done
