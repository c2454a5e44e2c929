# SPDX-License-Identifier: GPL-2.0-or-later
"""Spins in functions that are called in many ways, and tells what it knows of
that itself: for each function that spins, the line of its loop, the chains of
callers (sys._getframe) and its processor time.

    python_scenes.py SECONDS FILE
"""
import asyncio
import functools
import json
import os
import re
import sys
import threading
import time

SECONDS, FILE = float(sys.argv[1]), sys.argv[2]
TRUTH = {}
TEXT = """
def spin_{0}(*unused):
    begin = time.thread_time()
    note('spin_{0}')
    end = begin + SLICE
    while time.thread_time() < end:
        sum = 0
        for i in range(20000): sum += i * i
    TRUTH['spin_{0}']['cpu'] += time.thread_time() - begin
"""
NAMES = ["plain", "recursion", "decorator", "comprehension", "generator",
         "yield_from", "asyncio", "exception", "with", "thread", "sorted",
         "json", "hook", "re", "reduce", "property", "init", "fork"]
SLICE = SECONDS / len(NAMES)


def note(name):
    frame = sys._getframe(1)
    t = TRUTH.setdefault(name, {"line": frame.f_lineno + 4, "cpu": 0,
                                "chains": []})
    chain = []
    frame = frame.f_back
    while frame:
        code = frame.f_code
        chain.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    if chain not in t["chains"]:
        t["chains"].append(chain)


for at, name in enumerate(NAMES):
    lines = "\n" * (1000 + 20 * at) + TEXT.format(name)
    exec(compile(lines, "made_" + name + ".py", "exec"))


def recurse(n):
    return recurse(n - 1) if n else spin_recursion()


def decorate(f):
    @functools.wraps(f)
    def wrapper(*args, **kw):
        return f(*args, **kw)
    return wrapper


@decorate
@decorate
def decorated():
    spin_decorator()


def generate():
    yield 1
    spin_generator()
    yield 2


def inner():
    yield 1
    spin_yield_from()


def outer():
    yield from inner()


async def task():
    await asyncio.sleep(0)
    await deeper()


async def deeper():
    await asyncio.sleep(0)
    spin_asyncio()


async def tasks():
    await asyncio.gather(task(), asyncio.sleep(0.01))


def fail():
    try:
        raise ValueError
    except ValueError:
        spin_exception()


class Guard:
    def __init__(self, spin=None):
        if spin:
            spin()

    def __enter__(self):
        return self

    def __exit__(self, *how):
        spin_with()
        return True

    @property
    def wanted(self):
        return spin_property()


def many_inits():
    for i in range(200):        # specialised after some
        Guard(spin_init if i == 199 else None)


def scenes():
    spin_plain()
    recurse(60)
    decorated()
    [spin_comprehension() for _ in range(1)]
    list(generate())
    list(outer())
    asyncio.run(tasks())
    fail()
    with Guard():
        raise KeyError
    t = threading.Thread(target=spin_thread, name="a thread")
    t.start()
    t.join()
    sorted([1], key=spin_sorted)
    json.dumps({"a": {1, 2}}, default=lambda o: spin_json())
    json.loads('{"a": 1}', object_hook=spin_hook)
    re.sub("a", lambda m: spin_re() or "", "bab")
    functools.reduce(lambda a, b: spin_reduce(), [1, 2])
    Guard().wanted
    many_inits()


def tell(path):
    with open(path, "w") as f:
        json.dump(TRUTH, f)


scenes()
child = os.fork()
if not child:
    TRUTH.clear()
    spin_fork()
    tell(FILE + ".child")
    os._exit(0)
os.waitpid(child, 0)
tell(FILE)
