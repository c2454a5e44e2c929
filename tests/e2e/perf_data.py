#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes other perf.data files of one that perf wrote here, by the format's document
(Linux: tools/perf/Documentation/perf.data-file-format.txt and
include/uapi/linux/perf_event.h).

	perf_data.py swap IN OUT	as a machine of the other byte order writes it
	perf_data.py swap32 IN OUT	the same of 32 bits
	perf_data.py defer IN OUT	the user part of chains in records of its own
	perf_data.py offcpu IN OUT	with samples of an event "offcpu-time"
	perf_data.py others IN OUT	with records of kinds that say nothing of samples
	perf_data.py kernel IN OUT	of a kernel with the build-id abab…
	perf_data.py flag IN OUT	with the flag of build-ids in mappings without them
	perf_data.py guest IN OUT	each fifth sample by a guest's user program
	perf_data.py branch IN OUT	with two branches in each sample
	perf_data.py sources IN OUT	with data sources in each second sample
	perf_data.py attrs IN OUT SIZE	with descriptions of events of SIZE bytes
	perf_data.py poke IN OUT	with changes of the kernel's code
	perf_data.py trace IN OUT	with traces behind records, which look like records
	perf_data.py mend IN OUT	of a recorder that was killed: with its data's size
"""
import struct
import sys

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW = (
    1 << i for i in range(11))
BRANCH, REGS, STACK = 1 << 11, 1 << 12, 1 << 13
IDENTIFIER = 1 << 16
USER = (1 << 64) - 512
DEFERRED = (1 << 64) - 640


class Attr:
    def __init__(self, raw):
        (self.type, self.size, self.config, self.period, self.sample_type,
         self.read_format, self.flags) = struct.unpack_from('<IIQQQQQ', raw)
        self.raw = raw
        self.regs, = struct.unpack_from('<Q', raw, 80)


class File:
    def __init__(self, path):
        b = self.b = open(path, 'rb').read()
        assert b[:8] == b'PERFILE2'
        (self.size, self.entry, at, n, self.data, self.data_size, self.types,
         self.types_size) = struct.unpack_from('<8Q', b, 8)
        self.bits = struct.unpack_from('<4Q', b, 72)
        self.attrs = at, n
        self.events = []
        for i in range(at, at + n, self.entry):
            off, size = struct.unpack_from('<QQ', b, i + self.entry - 16)
            ids = struct.unpack_from('<%dQ' % (size // 8), b, off)
            self.events.append((Attr(b[i:i + self.entry - 16]), ids, off))
        self.features = []
        table = self.data + self.data_size
        for bit in range(256):
            if self.bits[bit // 64] >> bit % 64 & 1:
                off, size = struct.unpack_from('<QQ', b, table)
                self.features.append((bit, b[off:off + size]))
                table += 16

    def records(self):
        at = self.data
        while at < self.data + self.data_size:
            size, = struct.unpack_from('<H', self.b, at + 6)
            yield self.b[at:at + size]
            at += size

    def event_of(self, body):
        if len(self.events) == 1:
            return self.events[0][0]
        want, = struct.unpack_from('<Q', body)
        for a, ids, _ in self.events:
            assert a.sample_type & IDENTIFIER
            if want in ids:
                return a
        return None

    def write(self, path, records):
        """With other records: what stands behind them moves."""
        data = b''.join(records)
        head = bytearray(self.b[:self.data])
        struct.pack_into('<Q', head, 48, len(data))
        at = self.data + len(data) + 16 * len(self.features)
        table = b''
        for _, body in self.features:
            table += struct.pack('<QQ', at, len(body))
            at += len(body)
        with open(path, 'wb') as f:
            f.write(bytes(head) + data + table +
                    b''.join(body for _, body in self.features))


class Turn:
    """Turns numbers of a bytearray from `at` on."""
    def __init__(self, b, at=0):
        self.b, self.at = b, at

    def num(self, *sizes):
        v = 0
        for n in sizes:
            raw = self.b[self.at:self.at + n]
            v = int.from_bytes(raw, 'little')
            self.b[self.at:self.at + n] = raw[::-1]
            self.at += n
        return v


def swap_flags(b, at):
    """Fields of bits are laid out from the most significant bit on.  The only one of
    two bits is precise_ip, behind fifteen of one."""
    v = int.from_bytes(b[at:at + 8], 'little')
    fields = [(i, 1) for i in range(15)] + [(15, 2)] + [
        (i, 1) for i in range(17, 64)]
    out = 0
    for low, width in fields:
        out |= (v >> low & (1 << width) - 1) << 64 - low - width
    b[at:at + 8] = out.to_bytes(8, 'big')


def swap_attr(raw):
    b = bytearray(raw)
    t = Turn(b)
    t.num(4, 4, 8, 8, 8, 8)
    swap_flags(b, t.at)
    t.at += 8
    t.num(4, 4, 8, 8, 8, 8, 4, 4)
    if len(b) >= 104:
        t.num(8)
    if len(b) >= 112:
        t.num(4, 2, 2)
    if len(b) >= 120:
        t.num(4, 4)
    while len(b) - t.at >= 8:
        t.num(8)
    return bytes(b)


def swap_sample(b, a):
    t, kind = Turn(b, 8), a.sample_type
    for bit in (IDENTIFIER, IP):
        t.num(*[8] * bool(kind & bit))
    if kind & TID:
        t.num(4, 4)
    for bit in (TIME, ADDR, ID, STREAM):
        t.num(*[8] * bool(kind & bit))
    if kind & CPU:
        t.num(4, 4)
    if kind & PERIOD:
        t.num(8)
    assert not kind & (READ | BRANCH)
    if kind & CHAIN:
        t.num(*[8] * t.num(8))
    if kind & RAW:
        t.at += t.num(4)
    if kind & REGS and t.num(8):
        t.num(*[8] * bin(a.regs).count('1'))
    if kind & STACK:
        n = t.num(8)
        t.at += n
        if n:
            t.num(8)


def trailer(f):
    kind = f.events[0][0].sample_type
    return ([4, 4] * bool(kind & TID) + [8] * bool(kind & TIME) +
            [8] * bool(kind & ID) + [8] * bool(kind & STREAM) +
            [4, 4] * bool(kind & CPU) + [8] * bool(kind & IDENTIFIER))


def swap_record(f, raw):
    b = bytearray(raw)
    kind, misc, size = struct.unpack_from('<IHH', b)
    if kind == 9:
        swap_sample(b, f.event_of(raw[8:]))
    else:
        plan = {1: [4, 4, 8, 8, 8], 2: [8, 8], 3: [4, 4], 4: [4, 4, 4, 4, 8],
                5: [8, 8, 8], 6: [8, 8, 8], 7: [4, 4, 4, 4, 8],
                10: [4, 4, 8, 8, 8] + ([-24] if misc & 1 << 14 else
                                       [4, 4, 8, 8]) + [4, 4],
                13: [8], 17: [8, 4, 2, 2], 18: [2, 2, 4], 14: [], 15: [4, 4],
                16: [4, 4, 8], 19: [8], 20: [8, 2, 2]}
        t = Turn(b, 8)
        if kind >= 64:
            if kind in (73, 74):	# lists of threads and processors
                return b''
            assert kind in (68, 69, 78, 79, 82), kind
            t.num(*[8] * (2 if kind == 78 else (size - 8) // 8))
        else:
            for n in plan[kind]:
                if n < 0:
                    t.at -= n
                else:
                    t.num(n)
            tail = trailer(f)
            Turn(b, size - sum(tail)).num(*tail)
    Turn(b).num(4, 2, 2)
    return bytes(b)


def swap_strings(b, t, n):
    for _ in range(n):
        t.at += t.num(4)


def swap_feature(f, bit, raw):
    b = bytearray(raw)
    t = Turn(b)
    if bit == 2:
        while t.at < len(b):
            begin = t.at
            t.num(4, 2)
            size = t.num(2)
            t.num(4)
            t.at = begin + size
    elif bit in (3, 4, 5, 6, 8, 9):
        swap_strings(b, t, 1)
    elif bit == 7:
        t.num(4, 4)
    elif bit == 10:
        t.num(8)
    elif bit == 11:
        swap_strings(b, t, t.num(4))
    elif bit == 12:
        n, size = t.num(4), None
        size = t.num(4)
        for _ in range(n):
            b[t.at:t.at + size] = swap_attr(b[t.at:t.at + size])
            t.at += size
            ids = t.num(4)
            swap_strings(b, t, 1)
            t.num(*[8] * ids)
    elif bit == 29:
        t.num(4, 4, 8, 8)
    else:
        return None
    return bytes(b)


def swap(f, out, word=64):
    features = [(bit, swap_feature(f, bit, body)) for bit, body in f.features]
    features = [x for x in features if x[1] is not None]
    bits = [0] * 4
    for bit, _ in features:
        bits[bit // 64] |= 1 << bit % 64
    head = bytearray(b'2ELIFREP' + f.b[8:f.data])
    Turn(head, 8).num(*[8] * 8)
    # a bitmap of the writer's words
    bits = sum(v << 64 * i for i, v in enumerate(bits))
    for i in range(0, 256, word):
        head[72 + i // 8:72 + (i + word) // 8] = (
            bits >> i & (1 << word) - 1).to_bytes(word // 8, 'big')
    at, n = f.attrs
    for i in range(at, at + n, f.entry):
        end = i + f.entry - 16
        head[i:end] = swap_attr(bytes(head[i:end]))
        Turn(head, end).num(8, 8)
    for _, ids, off in f.events:
        Turn(head, off).num(*[8] * len(ids))
    data = b''.join(swap_record(f, r) for r in f.records())
    struct.pack_into('>Q', head, 48, len(data))
    at = f.data + len(data) + 16 * len(features)
    table = b''
    for _, body in features:
        table += struct.pack('>QQ', at, len(body))
        at += len(body)
    with open(out, 'wb') as o:
        o.write(bytes(head) + data + table + b''.join(x[1] for x in features))


def swap32(f, out):
    swap(f, out, 32)


def chain_at(a):
    """Offset of the chain in a sample."""
    kind = a.sample_type
    return 8 + 8 * sum(bool(kind & bit) for bit in (
        IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD))


def sample_ids(a, raw):
    kind, at = a.sample_type, 8
    at += 8 * bool(kind & IDENTIFIER) + 8 * bool(kind & IP)
    pid, tid, time = struct.unpack_from('<IIQ', raw, at)
    return pid, tid, time


def id_trailer(f, pid, tid, time, event_id):
    kind = f.events[0][0].sample_type
    out = b''
    if kind & TID:
        out += struct.pack('<II', pid, tid)
    if kind & TIME:
        out += struct.pack('<Q', time)
    if kind & ID:
        out += struct.pack('<Q', event_id)
    if kind & STREAM:
        out += struct.pack('<Q', event_id)
    if kind & CPU:
        out += struct.pack('<II', 0, 0)
    if kind & IDENTIFIER:
        out += struct.pack('<Q', event_id)
    return out


def defer(f, out):
    """Cookies are unlike, but each third is used by two threads at once; of each
    tenth chain the user part never comes."""
    records, cookie = [], 1000
    made = cut = 0
    for r in f.records():
        kind, misc, size = struct.unpack_from('<IHH', r)
        if kind != 9:
            records.append(r)
            continue
        a = f.event_of(r[8:])
        at = chain_at(a)
        n, = struct.unpack_from('<Q', r, at)
        ips = struct.unpack_from('<%dQ' % n, r, at + 8)
        if USER not in ips:
            records.append(r)
            continue
        pid, tid, time = sample_ids(a, r)
        cut_at = ips.index(USER)
        cookie += made % 3 != 0
        new = list(ips[:cut_at]) + [DEFERRED, cookie]
        rest = r[at + 8 + 8 * n:]
        body = r[8:at] + struct.pack('<%dQ' % (len(new) + 1), len(new), *new) + rest
        records.append(struct.pack('<IHH', 9, misc, 8 + len(body)) + body)
        made += 1
        if made % 10 == 0:
            cut += 1
            cookie += 1
            continue
        user = ips[cut_at:]
        body = struct.pack('<QQ%dQ' % len(user), cookie, len(user), *user)
        body += id_trailer(f, pid, tid, time + 1, f.events[0][1][0]
                           if f.events[0][1] else 0)
        records.append(struct.pack('<IHH', 22, 2, 8 + len(body)) + body)
        cookie += 1
    f.write(out, records)
    print(made, cut)


def offcpu(f, out):
    """A wait for each of the first ten chains, 7 ms long, told by raw data."""
    i, event = next((i, e) for i, e in enumerate(f.events)
                    if e[0].type == 1 and e[0].config == 10)
    event[0].sample_type |= RAW
    b = bytearray(f.b)
    struct.pack_into('<Q', b, f.attrs[0] + i * f.entry + 24, event[0].sample_type)
    f.b = bytes(b)
    records, n = [], 0
    for r in f.records():
        records.append(r)
        if struct.unpack_from('<I', r)[0] != 9 or n == 10:
            continue
        a = f.event_of(r[8:])
        at = chain_at(a)
        count, = struct.unpack_from('<Q', r, at)
        ips = struct.unpack_from('<%dQ' % count, r, at + 8)
        if USER not in ips:
            continue
        ips = ips[ips.index(USER):]
        pid, tid, time = sample_ids(a, r)
        raw = struct.pack('<IIQQ%dQQ' % len(ips), pid, tid, 7000000, len(ips),
                          *ips, 0)
        raw += b'\0' * 4	# the size that stands before makes 8 whole
        e, body = event[0].sample_type, b''
        assert e & RAW and e & IDENTIFIER
        body = struct.pack('<Q', event[1][0])
        for bit, text in ((IP, struct.pack('<Q', 0)),
                          (TID, struct.pack('<II', 0, 0)),
                          (TIME, struct.pack('<Q', time)),
                          (ADDR, b'\0' * 8), (ID, b'\0' * 8),
                          (STREAM, b'\0' * 8), (CPU, b'\0' * 8),
                          (PERIOD, struct.pack('<Q', 1)),
                          (CHAIN, struct.pack('<Q', 0)),
                          (RAW, struct.pack('<I', len(raw)) + raw)):
            body += text if e & bit else b''
        records.append(struct.pack('<IHH', 9, 2, 8 + len(body)) + body)
        n += 1
    f.write(out, records)
    print(n)


def others(f, out):
    records = list(f.records())
    extra = []
    for kind, body in ((6, b'\0' * 24), (11, b'\0' * 24), (12, b'\0' * 8),
                       (14, b''), (15, b'\0' * 8),
                       (16, struct.pack('<IIQ', 1, 1, 1) + b'\0' * 16),
                       (18, b'\0' * 16), (19, struct.pack('<Q', 7) + b'/a/b\0\0\0\0'),
                       (20, b'\0' * 16), (21, b'\0' * 8)):
        body += id_trailer(f, 1, 1, 1, 0)
        extra.append(struct.pack('<IHH', kind, 0, 8 + len(body)) + body)
    f.write(out, records + extra)
    print(len(extra))


def kernel(f, out):
    body = bytearray(dict(f.features)[2])
    at = 0
    while at < len(body):
        size, = struct.unpack_from('<H', body, at + 6)
        if body[at + 36:at + size].split(b'\0')[0] == b'[kernel.kallsyms]':
            body[at + 12:at + 32] = b'\xab' * 20
        at += size
    f.features = [(bit, bytes(body) if bit == 2 else x) for bit, x in f.features]
    f.write(out, list(f.records()))


def flag(f, out):
    """As Linux 6.18 writes them while another recorder asks for build-ids."""
    assert not any(a.flags >> 34 & 1 for a, _, _ in f.events)
    records, n = [], 0
    for r in f.records():
        kind, misc, size = struct.unpack_from('<IHH', r)
        if kind == 10 and not misc & 1 << 14:
            r = struct.pack('<IHH', kind, misc | 1 << 14, size) + r[8:]
            n += 1
        records.append(r)
    f.write(out, records)
    print(n)


def guest(f, out):
    records, n, made = [], 0, 0
    for r in f.records():
        kind, misc, size = struct.unpack_from('<IHH', r)
        if kind == 9:
            n += 1
            if n % 5 == 0:
                r = struct.pack('<IHH', kind, misc & ~7 | 5, size) + r[8:]
                made += 1
        records.append(r)
    f.write(out, records)
    print(made)


def branch(f, out):
    """Fields behind the branches follow them: registers, copies of stacks."""
    b = bytearray(f.b)
    for i, (a, _, _) in enumerate(f.events):
        assert not a.sample_type & BRANCH
        at = f.attrs[0] + i * f.entry
        struct.pack_into('<Q', b, at + 24, a.sample_type | BRANCH)
        struct.pack_into('<Q', b, at + 72, 1 << 3 | 1)	# any, of user code
    f.b = bytes(b)
    records, n = [], 0
    for r in f.records():
        kind, misc, size = struct.unpack_from('<IHH', r)
        if kind == 9:
            a = f.event_of(r[8:])
            at = chain_at(a)
            if a.sample_type & CHAIN:
                at += 8 + 8 * struct.unpack_from('<Q', r, at)[0]
            assert not a.sample_type & (RAW | READ)
            extra = struct.pack('<7Q', 2, 0x401000, 0x401100, 1, 0x401200,
                                0x401300, 2)
            r = struct.pack('<IHH', kind, misc, size + len(extra)) + \
                r[8:at] + extra + r[at:]
            n += 1
        records.append(r)
    f.write(out, records)
    print(n)


def sources(f, out):
    """Each second sample loaded from the first cache.  The source is the last word of
    samples without later fields."""
    a = f.events[0][0]
    assert a.sample_type & 1 << 15 and not a.sample_type >> 18 & ~(1 << 6)
    records, n, made = [], 0, 0
    for r in f.records():
        kind, = struct.unpack_from('<I', r)
        if kind == 9:
            n += 1
            if n % 2:
                r = r[:-8] + struct.pack('<Q', 1 << 1 | (2 | 8) << 5)
                made += 1
        records.append(r)
    f.write(out, records)
    print(made)


def attrs(f, out, size):
    """The sizes of all kernels so far are those of PERF_ATTR_SIZE_VER0 to 9."""
    size, table = int(size), b''
    at, n = f.attrs
    for i in range(at, at + n, f.entry):
        raw, ids = f.b[i:i + f.entry - 16], f.b[i + f.entry - 16:i + f.entry]
        assert size >= 96 or not any(raw[max(size, 72):96]), 'fields that matter'
        raw = bytearray(raw[:size].ljust(size, b'\0'))
        struct.pack_into('<I', raw, 4, size)
        table += bytes(raw) + ids
    b = bytearray(f.b)
    struct.pack_into('<3Q', b, 16, size + 16, len(b), len(table))
    with open(out, 'wb') as o:
        o.write(b + table)


def after_samples(f, out, make):
    """Puts the records make(sample, tid, trailer, number) after each tenth sample."""
    records, samples = [], 0
    for r in f.records():
        records.append(r)
        if struct.unpack_from('<I', r)[0] != 9:
            continue
        samples += 1
        if samples % 10:
            continue
        pid, tid, time = sample_ids(f.event_of(r[8:]), r)
        ids = f.events[0][1]
        records += make(r, tid, id_trailer(f, pid, tid, time, ids[0] if ids else 0),
                        samples // 10 - 1)
    f.write(out, records)
    print(samples // 10)


def poke(f, out):
    """PERF_RECORD_TEXT_POKE: jumps in place of nops."""
    def make(_, _tid, trailer, number):
        for i, n in enumerate((1, 2, 5, 8)):
            body = struct.pack('<QHH', 0xffffffff81000000 + 16 * (4 * number + i), n, n)
            body += b'\x90' * n + b'\xe9' * n
            body += bytes(-len(body) % 8) + trailer
            yield struct.pack('<IHH', 20, 1, 8 + len(body)) + body
    after_samples(f, out, make)


def trace(f, out):
    """PERF_RECORD_AUX and PERF_RECORD_AUXTRACE.  The size of the latter does not
    count the trace behind it, which is the sample again."""
    def make(r, tid, trailer, number):
        body = struct.pack('<QQQ', number * len(r), len(r), 0) + trailer
        yield struct.pack('<IHH', 11, 0, 8 + len(body)) + body
        yield struct.pack('<IHHQQQIIII', 71, 0, 48, len(r), number * len(r), 0, 0,
                          tid, 0, 0) + r
    after_samples(f, out, make)


def mend(path, out):
    """The records that are whole; what stands behind them was not written."""
    b = bytearray(open(path, 'rb').read())
    at, = struct.unpack_from('<Q', b, 40)
    begin = at
    assert struct.unpack_from('<Q', b, 48)[0] == 0, 'the recorder was not killed'
    while at + 8 <= len(b):
        size, = struct.unpack_from('<H', b, at + 6)
        if size < 8 or at + size > len(b):
            break
        at += size
    struct.pack_into('<Q', b, 48, at - begin)
    b[72:104] = bytes(32)
    with open(out, 'wb') as f:
        f.write(b[:at])


if __name__ == '__main__':
    if sys.argv[1] == 'mend':
        mend(sys.argv[2], sys.argv[3])
        sys.exit(0)
    {'swap': swap, 'swap32': swap32, 'defer': defer, 'offcpu': offcpu,
     'others': others, 'attrs': attrs, 'poke': poke, 'trace': trace, 'sources': sources,
     'flag': flag, 'guest': guest, 'branch': branch, 'kernel': kernel}[sys.argv[1]](File(sys.argv[2]), *sys.argv[3:])
