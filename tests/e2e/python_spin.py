# SPDX-License-Identifier: GPL-2.0-or-later
"""For programs whose functions run under one label each (python_labels.sh): the name of
a task, of a thread.  Such a program's argument is the CPU time that each call of a
function takes.  Without it, the program prints what is expected, and ends."""
import json
import sys
import time


def spinners(expected):
    """Makes a function of each name.  `expected` has its label, or several."""
    if len(sys.argv) < 2:
        json.dump({name: [labels] if isinstance(labels, str) else labels
                   for name, labels in expected.items()}, sys.stdout)
        sys.exit()
    made = {"time": time, "PART": float(sys.argv[1])}
    for name in expected:
        body = f"""def {name}(clock=time.thread_time):
    end = clock() + PART
    while clock() < end:
        for i in range(20000):
            pass
"""
        exec(compile(body, sys.argv[0], "exec"), made)
    return {name: made[name] for name in expected}
