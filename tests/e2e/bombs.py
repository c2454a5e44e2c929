#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small recordings that want much memory: bombs.py KIND FILE [less].

Chunks and sections as in tally-format(5)."""
import struct
import sys
import zlib

TABLES, SAMPLES = 1, 2
STRINGS, ENVS, EVENTS, RUNS, THREADS, IMAGES, LOCS, NODES = range(1, 9)
EVENT = 13      # columns of a row
BATCH = 8192    # samples of a chunk
LESS = len(sys.argv) > 3        # for sanitizers, which take ten times as long


def uleb(v):
    out = b''
    while v >= 128:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def section(kind, body):
    return uleb(kind) + uleb(len(body)) + body


def rows(kind, first, count, *columns):
    """The bytes of each column."""
    return section(kind, uleb(first) + uleb(count) + uleb(len(columns)) +
                   b''.join(uleb(len(c)) + c for c in columns))


def zeros(kind, first, count, columns):
    return rows(kind, first, count, *[bytes(count)] * columns)


class File:
    def __init__(self):
        head = b'\x89TLY\r\n\x1a\n' + struct.pack('<HHI12x', 1, 0, 32)
        self.parts = [head + struct.pack('<I', zlib.crc32(head))]
        self.seq = 0

    def chunk(self, kind, payload, nrows=0, packed=True):
        raw = len(payload)
        if packed:
            payload = zlib.compress(payload, 9)
        head = struct.pack('<IIHBBIIII', 0x43594c54, self.seq, kind, packed,
                           0, len(payload), raw, nrows, zlib.crc32(payload))
        self.parts += [head, struct.pack('<I', zlib.crc32(head)), payload]
        self.seq += 1

    def basics(self, events=1):
        """One run, thread, image and location."""
        self.chunk(TABLES, zeros(RUNS, 0, 1, 7) +
                   zeros(EVENTS, 0, events, EVENT) + zeros(THREADS, 0, 1, 6) +
                   zeros(IMAGES, 0, 1, 6) + zeros(LOCS, 0, 1, 2))

    def samples(self, times, stack):
        """Batches of samples at one time each; `stack`: their column."""
        def const(v):
            return bytes([0, 0]) + uleb(len(uleb(v))) * 2 + uleb(v)

        zero = zlib.compress(bytes(BATCH), 9)
        time = bytes([1, 1]) + uleb(BATCH) + uleb(len(zero)) + zero
        for i in range(times):
            self.chunk(SAMPLES, uleb(1) + uleb(0) + time + const(0) * 3 +
                       const(1) + stack(i), BATCH, packed=False)

    def write(self, path):
        with open(path, 'wb') as f:
            f.write(b''.join(self.parts))


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


def nodes(f, n=1 << 19 if LESS else 1 << 20):
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
    f.samples(800 if LESS else 3000, lambda i: bytes([0, 0, 1, 1, 0]))


def main():
    f = File()
    globals()[sys.argv[1]](f)
    f.write(sys.argv[2])


main()
