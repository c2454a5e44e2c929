#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small recordings that want much memory: bombs.py KIND FILE [less].

Chunks and sections as in tally-format(5)."""
import gzip
import struct
import sys
import zlib

import tally_bytes
from tally_bytes import rows, section, sleb, uleb

TABLES, SAMPLES = 1, 2
SYMBOLS, CODE = 3, 4
STRINGS, ENVS, EVENTS, RUNS, THREADS, IMAGES, LOCS, NODES = range(1, 9)
FUNCS, FRAMES, LOC_FRAMES, SYMBOL_ROWS, _, CODES, SOURCES = range(20, 27)
EVENT = 13      # columns of a row
BATCH = 8192    # samples of a chunk
LESS = len(sys.argv) > 3        # for sanitizers, which take ten times as long


LONG = b'A' * (1 << 20)


def zeros(kind, first, count, columns):
    return rows(kind, first, count, *[bytes(count)] * columns)


class File(tally_bytes.File):
    def basics(self, events=1):
        """One run, thread, image and location."""
        self.chunk(TABLES, zeros(RUNS, 0, 1, 7) +
                   zeros(EVENTS, 0, events, EVENT) + zeros(THREADS, 0, 1, 6) +
                   zeros(IMAGES, 0, 1, 6) + zeros(LOCS, 0, 1, 2))

    def samples(self, times, stack, n=BATCH):
        """Batches of n samples at one time each; `stack`: their column."""
        def const(v):
            return bytes([0, 0]) + uleb(len(uleb(v))) * 2 + uleb(v)

        zero = zlib.compress(bytes(n), 9)
        time = bytes([1, 1]) + uleb(n) + uleb(len(zero)) + zero
        for i in range(times):
            self.chunk(SAMPLES, uleb(1) + uleb(0) + time + const(0) * 3 +
                       const(1) + stack(i), n, packed=False)

    def each(self, first, step, n):
        """A sample of each of n nodes."""
        for at in range(0, n, BATCH):
            k = min(BATCH, n - at)
            # differences from the row before
            stack = sleb(first + step * at) + sleb(step) * (k - 1)
            packed = zlib.compress(stack, 9)
            self.samples(1, lambda i: bytes([1, 1]) + uleb(len(stack)) +
                         uleb(len(packed)) + packed, k)

def strings(f):
    """Empty strings, which all get names of their own."""
    n = 1 << 20
    for i in range(2):
        f.chunk(TABLES, section(STRINGS, uleb(i * n + 2) + uleb(n) + bytes(n)))


def events(f):
    n = 1 << 20
    f.chunk(TABLES, zeros(EVENTS, 0, n, EVENT))


def gaps(f):
    """After damage rows may be missing: equal chunks, each with a gap."""
    f.chunk(TABLES, b'')
    f.parts[-1] = b'x' * len(f.parts[-1])
    for i in range(20):
        f.chunk(TABLES, zeros(EVENTS, (i + 1 << 20) - 1, 1, EVENT),
                packed=False)


def nodes(f, n=1 << 18 if LESS else 1 << 20):
    """One stack, with a sample in each of its frames."""
    f.basics()
    # parent: one row up; location: 0, which is no new one
    f.chunk(TABLES, rows(NODES, 1, n, b'\x01' * n, b'\x40' * n))
    new = zlib.compress(b'\x01' + bytes(BATCH), 9)

    def stack(i):
        # the largest so far, then new ones: one plane of zeros
        first = uleb(i * BATCH)
        packed = zlib.compress(first + b'\x01' + bytes(BATCH), 9)
        return (bytes([3, 1]) + uleb(len(first) + 1 + BATCH) +
                uleb(len(packed)) + packed)

    f.samples(n // BATCH - 1, stack)


def wide(f):
    """Many events, many locations: a table of both would be large."""
    f.basics(100000)
    f.chunk(TABLES, rows(LOCS, 1, 100000, bytes(100000), b'\x01' * 100000))


def lanes(f):
    """Many events, many threads: a table of both would be large."""
    f.basics(100000)
    f.chunk(TABLES, zeros(THREADS, 1, 100000, 6))
    f.samples(1, lambda i: bytes([0, 0, 1, 1, 0]))


def samples(f):
    """Equal samples: little to store, much to print."""
    f.basics()
    f.samples(400 if LESS else 3000, lambda i: bytes([0, 0, 1, 1, 0]))


def functions(f, n, names, name, path, size=16, below=False):
    """n functions of one line and `size` bytes, each sampled once.  `name` and `path`:
    their columns, ids of `names` from 2 on.  `below`: each is called by the one
    before."""
    place = sleb(1 << 20) + sleb(size) * (n - 1)
    up = b'\0' + b'\1' * (n - 1)
    f.chunk(TABLES, section(STRINGS, uleb(2) + uleb(len(names)) + b''.join(
        uleb(len(t)) for t in names) + b''.join(names)))
    f.basics()
    # the parent is so many rows up, for no callers node 0; the location is the next one
    parents = b'\1' * n if below else b''.join(map(uleb, range(1, n + 1)))
    f.chunk(TABLES, rows(LOCS, 1, n, bytes(n), place) +
            rows(NODES, 1, n, parents, bytes(n)))
    f.chunk(SYMBOLS, rows(FUNCS, 0, n, bytes(n), name, path, up, bytes(n)) +
            rows(FRAMES, 0, n, up, path, up, bytes(n), bytes(n)) +
            rows(LOC_FRAMES, 0, n + 1, b'\0\1' + b'\3' * (n - 1)) +
            rows(SYMBOL_ROWS, 0, n, bytes(n), name, place, uleb(size) * n))
    f.each(1, 1, n)


def same(value, n):
    """A column of differences that has one value in all rows."""
    return sleb(value) + bytes(n - 1)


def names(f):
    """One long name of many functions."""
    functions(f, 4000, [LONG], same(2, 4000), bytes(4000))


def files(f):
    """Many functions in one file with a long name."""
    functions(f, 4000, [LONG], bytes(4000), same(2, 4000))


def paths(f):
    """Many images with one long name."""
    n = 3000
    ids = b''.join(map(uleb, range(1, n + 1)))
    builds = b''.join(b'\2' + struct.pack('<H', i) for i in range(n))
    f.chunk(TABLES, section(STRINGS, uleb(2) + uleb(1) + uleb(len(LONG)) + LONG))
    f.basics()
    f.chunk(TABLES, rows(IMAGES, 1, n, b'\2' * n, bytes(n), bytes(n), builds,
                         bytes(n), bytes(n)) +
            rows(LOCS, 1, n, ids, bytes(n)) + rows(NODES, 1, n, ids, bytes(n)))
    f.each(1, 1, n)


def branches(f):
    """Long names, few enough for their functions, in many stacks."""
    n, m = 600, 40000
    functions(f, n, [b'%d' % i + LONG[:1 << 14] for i in range(n)],
              sleb(2) + b'\1' * (n - 1), bytes(n))
    # pairs: one below the root, one below that
    locs = [(1 + i // n % n, 1 + i % n) for i in range(m)]
    f.chunk(TABLES, rows(
        NODES, n + 1, 2 * m,
        b''.join(uleb(n + 1 + 2 * i) + b'\1' for i in range(m)),
        b''.join(uleb(64 + a) + uleb(64 + b) for a, b in locs)))
    f.each(n + 2, 2, m)


def code(f):
    """A function of instructions of one byte each (x86's nop)."""
    n = 1 << 21 if LESS else 12 << 20
    functions(f, 1, [b'hot'], sleb(2), sleb(0), n)
    zero = bytes(1)
    # the machine (EM_X86_64) is the last column
    f.chunk(SYMBOLS, rows(SOURCES, 0, 1, zero, b'\x1f', zero, zero, zero, b'\x3e'))
    f.chunk(CODE, section(CODES, uleb(1) + uleb(0) + uleb(1 << 20) + uleb(n) +
                          b'\x90' * n))


def deep(f):
    """One stack of many functions, with a sample in each."""
    n = 1500 if LESS else 60000
    functions(f, n, [b'f%d' % i for i in range(n)] + [b'a.c'],
              sleb(2) + b'\1' * (n - 1), same(n + 2, n), below=True)


MANY = 10000000 if LESS else 20000000


def pprof(f, number):
    """A packed profile of pprof that ends in empty messages: a row for two bytes."""
    kind = b'\x0a\x04\x08\1\x10\2'        # sample_type: strings 1 and 2
    strings = b'\x32\0\x32\1n\x32\5count'
    sample = b'\x12\6\x0a\1\1\x12\1\1'     # of location 1, value 1
    location = b'\x22\2\x08\1'
    f.parts = [gzip.compress(kind + strings + location + sample +
                             bytes([number << 3 | 2, 0]) * MANY)]


def pprof_mappings(f):
    pprof(f, 3)


def pprof_locations(f):
    pprof(f, 4)


def pprof_functions(f):
    pprof(f, 5)


def pprof_strings(f):
    pprof(f, 6)


def firefox(f):
    """A packed profile of the Firefox Profiler with a long column."""
    f.parts = [gzip.compress(
        b'{"meta":{"version":24,"interval":1,"startTime":0},"threads":[{"name":"a",'
        b'"pid":1,"tid":1,"stackTable":{"prefix":[' + b'0,' * MANY + b'0]}}]}')]


def main():
    f = File()
    globals()[sys.argv[1]](f)
    f.write(sys.argv[2])


main()
