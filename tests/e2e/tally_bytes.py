# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of recordings, as in tally-format(5), for what no recorder writes."""
import struct
import zlib


def uleb(v):
    out = b''
    while v >= 128:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def sleb(v):
    out = b''
    while not -64 <= v < 64:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v & 127])


def section(kind, body):
    return uleb(kind) + uleb(len(body)) + body


def rows(kind, first, count, *columns):
    """A table; the bytes of each column."""
    return section(kind, uleb(first) + uleb(count) + uleb(len(columns)) +
                   b''.join(uleb(len(c)) + c for c in columns))


class File:
    """The header and chunks of a file."""

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

    def write(self, path):
        with open(path, 'wb') as f:
            f.write(b''.join(self.parts))
