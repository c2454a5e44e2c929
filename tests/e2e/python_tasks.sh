#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of asyncio tasks, with a program in which each function runs in one task only
# (python_tasks.py).
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

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

# Tasks that keep the loop waiting, and a loop that waits for tasks.
cat >naps.py <<'END2'
import asyncio, time
def nap_first():
    time.sleep(0.6)
def nap_second():
    time.sleep(0.6)
async def run(nap):
    nap()
async def main():
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(run(nap)) for nap in (nap_first, nap_second)]
    for task, name in zip(tasks, ("first", "second")):
        task.set_name(name)
    await asyncio.gather(*tasks)
    await asyncio.sleep(0.6)
asyncio.run(main())
END2
tasks_of() { # FUNCTION: those in which it waited
	"$TALLY" report --format=json -e blocked -s task,symbol naps.tally |
		"$python" -c 'import json, sys
print(*(row["task"] or "none" for row in json.load(sys.stdin)["rows"]
        if row["symbol"].split(".")[-1] == sys.argv[1]))' "$1"
}
for source in timer perf; do
	if ! t_has $source; then
		t_skip "waits of tasks by $source" "cannot be recorded here"
		continue
	fi
	"$TALLY" record -q --wait --source=$source -o naps.tally "$python" naps.py
	t_ok "waits by $source: recorded" $?
	t_is "waits by $source: the first task's are its own" "$(tasks_of nap_first)" first
	t_is "waits by $source: … and the second one's" "$(tasks_of nap_second)" second
	t_is "waits by $source: the loop waits in no task" "$(tasks_of select)" none
done
t_done
