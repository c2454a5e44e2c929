#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of recordings, written from tally-format(5) alone:

    format_reader.py FILE [EVENT]

prints for each function "WEIGHT SAMPLES NAME" of one event (row 0 of EVENTS),
most first; addresses without a function are named [unresolved].  With "--tables"
in the place of EVENT it prints the number of rows of each table, with "--samples" or
"--sums" "EVENT STACK WEIGHT SAMPLES" from chunks of this kind.
"""
import struct
import sys
import zlib

NONE, MARK = 2 ** 32 - 1, 4294967280
# The page's columns: name of a table, and a letter for each of its columns.
TABLES = {2: ('ENVS', 'puu'), 3: ('EVENTS', 'u' * 13), 4: ('RUNS', 'upuuuuu'),
          5: ('THREADS', 'uddudd'), 6: ('IMAGES', 'uuuiuu'), 7: ('LOCS', 'ud'),
          8: ('NODES', 'br'), 9: ('LOSSES', 'uppudu'), 10: ('STATS', 'uuuuuu'),
          11: ('ENDS', 'dup'), 12: ('WAIT_KINDS', 'du'), 20: ('FUNCS', 'udddd'),
          21: ('FRAMES', 'dddub'), 22: ('LOC_FRAMES', 'o'), 23: ('SYMBOLS', 'uddu'),
          26: ('SOURCES', 'uuuuuu'), 27: ('LINES', 'udo')}
# Tables that version 1.0 got after its first files: shown if they have rows.
LATER = ('WAIT_KINDS',)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise ValueError('cut short')
        return self.data[self.at - n:self.at]

    def left(self):
        return len(self.data) - self.at

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def sleb(self):
        start, value = self.at, self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value


def recent(code, most):
    """The value of a code r, and the largest value now."""
    value = most + 1 + code if code < 64 else code - 64
    return value, max(most, value) if value < MARK else most


def column(letter, data, first, count):
    c, last, most, values = Bytes(data), 0, 0, []
    for i in range(first, first + count):
        if letter == 'u':
            value = c.uleb()
        elif letter == 'p':
            value = (c.uleb() - 1) % 2 ** 32
        elif letter == 'd':
            value = last = (last + c.sleb()) % 2 ** 64
        elif letter == 'o':
            z = c.uleb() - 1
            if z >= 0:
                last += -(z + 1) // 2 if z & 1 else z // 2
            value = last if z >= 0 else NONE
        elif letter == 'r':
            value, most = recent(c.uleb(), most)
        elif letter == 'b':
            value = c.uleb()
            value = i - value if value else NONE
        else:
            value = c.take(c.take(1)[0])
        values.append(value)
    return values


class Recording:
    def __init__(self, path):
        with open(path, 'rb') as f:
            data = f.read()
        magic, major, _, size, crc = struct.unpack('<8sHHI12xI', data[:32])
        if magic != b'\x89TLY\r\n\x1a\n' or major != 1 or crc != zlib.crc32(data[:28]):
            raise ValueError('not a recording of version 1, or damaged')
        self.strings = ['', '[damaged]']
        self.rows = {name: [] for name, _ in TABLES.values()}
        self.rows['NODES'] = [None]
        self.samples, self.sums, at = [], [], size
        while at + 32 <= len(data):
            _, _, kind, codec, stored, _, count, crc, own = struct.unpack(
                '<4sIHBxIIIII', data[at:at + 32])
            payload = data[at + 32:at + 32 + stored]
            if own != zlib.crc32(data[at:at + 28]) or crc != zlib.crc32(payload):
                break
            at += 32 + stored
            payload = Bytes(zlib.decompress(payload) if codec else payload)
            if kind == 2:
                self.add_samples(self.samples, payload, count)
            elif kind == 6:
                self.add_samples(self.sums, payload, payload.uleb())
            elif kind in (1, 3):
                while payload.left():
                    section = payload.uleb()
                    self.add_section(section, Bytes(payload.take(payload.uleb())))

    def add_section(self, kind, c):
        if kind in (24, 25, 28):
            return      # IMAGE_NOTES, CODES and TEXTS are no tables
        first, count = c.uleb(), c.uleb()
        if kind == 1:
            lengths = [c.uleb() for _ in range(count)]
            self.strings += [c.take(n).decode('utf-8', 'replace') for n in lengths]
        if kind not in TABLES:
            return
        name, letters = TABLES[kind]
        got = [c.take(c.uleb()) for _ in range(c.uleb())]
        self.rows[name][first:first + count] = list(zip(*(
            column(letter, one, first, count) for letter, one in zip(letters, got))))

    def add_samples(self, rows, c, count):
        tick, base, columns = c.uleb(), c.uleb(), []
        while len(columns) < 7 and c.left():
            code, codec = c.take(2)
            c.uleb()
            data = c.take(c.uleb())
            b = Bytes(zlib.decompress(data) if codec else data)
            most = b.uleb() if code in (0, 3) else 0
            if code == 0:
                values = [most] * count
            elif code == 1:
                values = column('d', b.data, 0, count)
            else:
                planes = [b.take(count) for _ in range(b.take(1)[0])]
                values = [sum(p[i] << 8 * k for k, p in enumerate(planes))
                          for i in range(count)]
            if code == 3:
                for i, z in enumerate(values):
                    values[i], most = recent(z, most)
            columns.append(values)
        columns[0] = [base + t * tick for t in columns[0]]
        rows += zip(*(columns + [[0] * count] * (7 - len(columns))))

    def function(self, node):
        loc = self.rows['NODES'][node][1] if node else MARK
        frames = self.rows['LOC_FRAMES']
        frame = frames[loc][0] if loc < len(frames) else NONE
        if frame == NONE:
            return '[unresolved]'
        return self.strings[self.rows['FUNCS'][self.rows['FRAMES'][frame][0]][1]]


def by_stack(rows):
    sums = {}
    for _, _, _, event, weight, stack, more in rows:
        cost = sums.setdefault((event, stack), [0, 0])
        cost[:] = cost[0] + weight, cost[1] + more + 1
    return '\n'.join('%d %d %d %d' % (*k, *v) for k, v in sorted(sums.items()))


def main():
    r = Recording(sys.argv[1])
    if sys.argv[2:] == ['--tables']:
        return print('\n'.join('%s %d' % (k, len(v)) for k, v in r.rows.items()
                               if v or k not in LATER))
    if sys.argv[2:] in (['--samples'], ['--sums']):
        return print(by_stack(r.sums if sys.argv[2] == '--sums' else r.samples))
    event, by_name = int((sys.argv[2:] or [0])[0]), {}
    for _, _, _, of, weight, stack, _ in r.samples:
        if of == event:
            cost = by_name.setdefault(r.function(stack), [0, 0])
            cost[:] = cost[0] + weight, cost[1] + 1
    for name, cost in sorted(by_name.items(), key=lambda kv: (-kv[1][0], kv[0])):
        print(*cost, name)


main()
