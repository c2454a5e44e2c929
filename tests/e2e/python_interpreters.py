# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs subinterpreters in several threads: one made by the main thread, which it and
another thread run, and one made by its thread.  in_sub() runs below caller() only."""
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

PART = float(sys.argv[1])
INNER = f"""
import time
def in_sub():
    end = time.thread_time() + {PART}
    while time.thread_time() < end:
        for i in range(20000):
            pass
def between():
    in_sub()
between()
"""


def outside():
    end = time.thread_time() + PART
    while time.thread_time() < end:
        for i in range(20000):
            pass


def caller(interpreter):
    interpreters.run_string(interpreter, INNER)


def other():
    caller(first)
    outside()


def own():
    interpreter = interpreters.create()
    caller(interpreter)
    interpreters.destroy(interpreter)


first = interpreters.create()
caller(first)
outside()
for work in other, own:
    thread = threading.Thread(target=work, name=work.__name__)
    thread.start()
    # two states of the main thread, one of which another thread runs
    outside()
    thread.join()
