#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what a stranger may send.  Recordings are as in tally-format(5), programs as in
elf(5).

stranger.py sources FILE REVISION PATH…
	a recording made in a commit; each function's line 1 is that of a path
stranger.py code FILE START PROGRAM ADDRESS SIZE
	a recording, begun START seconds after 1970, whose symbol table says that
	PROGRAM has its function main there
stranger.py names FILE START PROGRAM ADDRESS
	a recording without names, of a sample there
stranger.py program FILE TYPE FLAGS SIZE
	a program of 256 bytes of code at 0x1000, in a segment with these flags, whose
	symbol main has this size
"""
import struct
import sys

from tally_bytes import File, rows, section, sleb, uleb

NONE = 2**32 - 1
TABLES, SAMPLES, SYMBOLS, CODE, END = range(1, 6)
# The types of the columns of each table.
COLUMNS = {2: 'puu', 3: 'u' * 13, 4: 'upuuuuu', 5: 'uddudduu', 6: 'uuuiuu',
           7: 'ud', 8: 'br', 20: 'udddd', 21: 'dddub', 22: 'o', 23: 'uddu',
           26: 'u' * 6, 27: 'udo'}
# mov $0x1234567, %eax
CODE_BYTES = b'\xb8\x67\x45\x23\x01'


def column(kind, values, first):
    out, last, most = b'', 0, 0
    for i, v in enumerate(values):
        if kind == 'u':
            out += uleb(v)
        elif kind == 'p':
            out += uleb((v + 1) % 2**32)
        elif kind == 'd':
            out += sleb(v - last)
            last = v
        elif kind == 'o':
            out += uleb(0 if v == NONE else
                        1 + (2 * (v - last) if v >= last
                             else 2 * (last - v) - 1))
            last = last if v == NONE else v
        elif kind == 'r':
            out += uleb(v - most - 1 if most < v <= most + 64 else v + 64)
            most = max(most, v)
        elif kind == 'b':
            out += uleb(0 if v == NONE else first + i - v)
        elif kind == 'i':
            out += bytes([len(v)]) + v
    return out


def table(kind, values, first=0):
    letters = COLUMNS[kind][:len(values[0])]
    columns = [column(c, [v[i] for v in values], first)
               for i, c in enumerate(letters)]
    return rows(kind, first, len(values), *columns)


class Recording(File):
    """One run, one event, one thread, and one image with samples."""

    def __init__(self, start, program):
        super().__init__()
        self.strings = ['', '[damaged]']
        self.rows = {k: [] for k in COLUMNS}
        self.codes = []
        cycles = self.str('cycles')
        self.add(3, cycles, cycles, 0, 0, 0, 0, 0, 0, 0, 0, 0, 999, 0)
        self.add(4, self.str('prog'), 0, 1000, 2 * 10**9, start * 10**9, 10**9,
                 0)
        self.add(5, 0, 10, 10, self.str('prog'), 1, 1000, 0, 0)
        self.add(6, self.str(program), 0, 0, b'', 0, 0)

    def str(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def add(self, kind, *row):
        self.rows[kind].append(row)
        return len(self.rows[kind]) - 1

    def location(self, address, frame=None):
        """Adds a location, and a stack of it alone."""
        self.add(8, 0, self.add(7, 0, address))
        if frame is not None:
            self.add(22, frame)

    def function(self, name, path, address, size):
        name, path = self.str(name), self.str(path)
        frame = self.add(21, self.add(20, 0, name, path, 1, 0), path, 1, 0,
                         NONE)
        self.add(23, 0, name, address, size)
        self.location(address, frame)

    def tables(self, kinds):
        return b''.join(table(k, self.rows[k], k == 8) for k in kinds
                        if self.rows[k])

    def write(self, path):
        new = [s.encode() for s in self.strings[2:]]
        self.chunk(TABLES, section(1, uleb(2) + uleb(len(new)) + b''.join(
            uleb(len(s)) for s in new) + b''.join(new)) +
            self.tables(range(2, 9)))
        samples = [(i * 1000, 0, 0, 0, 1000000, 1 + i % len(self.rows[8]))
                   for i in range(50 * len(self.rows[8]))]
        body = uleb(1) + uleb(1000)
        for c in range(6):
            deltas = column('d', [s[c] for s in samples], 0)
            body += bytes([1, 0]) + uleb(len(deltas)) * 2 + deltas
        self.chunk(SAMPLES, body, len(samples), packed=False)
        if self.rows[22]:
            self.chunk(SYMBOLS, self.tables([20, 21, 22, 23, 26, 27]))
        if self.codes:
            self.chunk(CODE, section(25, uleb(len(self.codes)) + b''.join(
                uleb(0) + uleb(at) + uleb(len(c)) for at, c in self.codes) +
                b''.join(c for _, c in self.codes)))
        self.chunk(END, section(30, uleb(len(samples)) + uleb(self.seq)),
                   packed=False)
        super().write(path)


def sources(file, revision, *paths):
    r = Recording(1700000000, '/no/such/program')
    r.add(2, NONE, r.str('revision'), r.str(revision))
    for i, path in enumerate(paths):
        at = 0x1000 * (i + 1)
        r.function('f%d' % i, path, at, 16)
        r.add(27, 0, at, i)
        r.add(27, 0, at + 16, NONE)
        r.codes.append((at, b'\x90' * 16))
    r.write(file)


def code(file, start, program, address, size):
    r = Recording(int(start), program)
    r.function('main', 'a.c', int(address, 0), int(size))
    r.add(26, 0, 1, 0, 0, 0, 62)
    r.write(file)


def names(file, start, program, address):
    r = Recording(int(start), program)
    r.location(int(address, 0))
    r.write(file)


def program(file, kind, flags, size):
    text = CODE_BYTES * 51 + b'\xc3'
    symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, 0x1000,
                                      int(size))
    names_at = 0x100 + len(text)
    names = b'\0main\0.text\0.symtab\0.strtab\0'
    symbols_at = names_at + 32
    sections_at = symbols_at + len(symbols)
    data = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', int(kind), 62, 1,
                       0x1000, 64, sections_at, 0, 64, 56, 1, 64, 4, 3)
    data += struct.pack('<IIQQQQQQ', 1, int(flags), 0x100, 0x1000, 0x1000,
                        len(text), len(text), 1)
    data = data.ljust(0x100, b'\0') + text + names.ljust(32, b'\0') + symbols
    # SHF_ALLOC, and SHF_EXECINSTR like the segment
    allocated = 2 | (4 if int(flags) & 1 else 1)
    for s in ((0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
              (6, 1, allocated, 0x1000, 0x100, len(text), 0, 0, 1, 0),
              (12, 2, 0, 0, symbols_at, len(symbols), 3, 1, 8, 24),
              (20, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)):
        data += struct.pack('<IIQQQQIIQQ', *s)
    with open(file, 'wb') as f:
        f.write(data)


globals()[sys.argv[1]](*sys.argv[2:])
