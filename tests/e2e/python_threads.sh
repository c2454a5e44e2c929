#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of Python's threads, with a program in which each function runs in a thread of
# one name only (python_threads.py).
T_ALONE=1
. "$top_srcdir/tests/lib.sh"
t_needs timer
cd "$T_TMP" || exit 1

. "$top_srcdir/tests/e2e/python_labels.sh"
# Each function runs for 15 samples of the slowest timer, of 4 ms.
labels_check comm python_threads.py 0.06 3.8 3.16
[ "$python" ] || t_skip "threads" "no interpreter whose threads are known"
t_done
