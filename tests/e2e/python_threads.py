# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads of threading.Thread that each run a function of their own.  A function in_X()
runs only while its thread has the name that EXPECTED has.  Nothing else takes time."""
import _thread
import ctypes
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
from python_spin import spinners  # noqa: E402

PROGRAM = os.path.basename(sys.executable)
EXPECTED = {
    "in_main": PROGRAM, "in_plain": "plain, with comma", "in_accent": "héhé",
    "in_kanji": "作業🐍", "in_long": "x" * 120, "in_first": "first",
    "in_second": "second", "in_own": "kernel name", "in_daemon": "daemon",
    "in_generated": "Thread-N (in_generated)", "in_mine": "mine", "in_bare": PROGRAM,
    "in_many": "many", "in_dict": "by dict", "in_cleared": "new dict",
    "in_empty": PROGRAM,
    # a name that is none leaves the one before, if there was a sample with it
    "in_broken": [PROGRAM, "broken"],
}
if sys.version_info < (3, 10):
    EXPECTED["in_generated"] = "Thread-N"
if sys.version_info >= (3, 14):
    # the kernel has the name that was set last
    EXPECTED["in_cleared"], EXPECTED["in_broken"] = "old dict", "broken"
globals().update(spinners(EXPECTED))
ended = []


class Mine(threading.Thread):
    """Attributes before those of Thread, and one that is named like its own."""

    def __init__(self, **more):
        for i in range(9):
            setattr(self, f"first_{i}", i)
        super().__init__(**more)
        self.more = "more"

    def run(self):
        in_mine()


class Slots(Mine):
    __slots__ = ("one", "two")


def settle():
    """By ptrace the kernel's names, which 3.14 sets, are read five times a second."""
    time.sleep(0.3)


def renamed():
    thread = threading.current_thread()
    thread.name = "first"
    in_first()
    thread.name = "second"
    settle()
    in_second()
    for i in range(200):
        thread.name = f"name {i}"
    thread.name = "first"
    settle()
    in_first()


def own():
    """The kernel's name is one of its own."""
    ctypes.CDLL(None).prctl(15, b"kernel name", 0, 0, 0)
    settle()
    in_own()


def bare():
    in_bare()
    ended.append(1)


def many():
    """Has more attributes than fit into an object's own array."""
    thread = threading.current_thread()
    for i in range(200):
        setattr(thread, f"attribute_{i}", i)
    in_many()


def by_dict():
    """Has a dict: vars() makes one."""
    vars(threading.current_thread())["more"] = 1
    in_dict()


def cleared():
    """Has a new dict."""
    thread = threading.current_thread()
    thread.__dict__ = dict(thread.__dict__, _name="new dict")
    in_cleared()


def broken():
    """Has a name that is none, for a while."""
    thread = threading.current_thread()
    name = thread._name
    thread._name = 7
    in_broken()
    thread._name = name


def run(target, name=None, daemon=False):
    thread = threading.Thread(target=target, name=name, daemon=daemon)
    thread.start()
    thread.join()


run(in_plain, "plain, with comma")
run(in_accent, "héhé")
run(in_kanji, "作業🐍")
run(in_long, "x" * 10240)
run(in_generated)
run(renamed, "before")
run(own, "not shown")
run(in_daemon, "daemon", True)
run(many, "many")
run(by_dict, "by dict")
run(cleared, "old dict")
empty = threading.Thread(target=in_empty)
empty.name = ""
empty.start()
empty.join()
run(broken, "broken")
mine = Mine(name="mine")
mine.start()
mine.join()
mine = Slots(name="mine")
mine.start()
mine.join()
_thread.start_new_thread(bare, ())
while not ended:
    time.sleep(0.01)
in_main()
