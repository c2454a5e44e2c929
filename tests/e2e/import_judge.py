#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what tally and perf say of one perf.data.

    import_judge.py PERF TALLY FILE [COMM]

Samples and weights of each event, command, image and function must be equal; with
COMM, those of that command.  Names of one address are one function: perf and tally
choose different ones of them.  Functions of libc without symbols that tally knows by
their code (STARTS) have no names in perf.  Samples whose command perf does not know
(":TID") may have one in tally's report: the last that a record gives the thread's
process.  Exit status 1, and the rows that differ, where they do; 3 where perf aborts
because of marks of build-ids where there are none, or is killed by a signal.  The last
line says how many rows and samples there are.
"""
import csv
import os
import re
import subprocess
import sys


STARTS = {'_start', '_dl_start', '_dl_start_user', '_dl_init', '_dl_fini', 'clone3',
          'start_thread', '__libc_start_call_main'}


def output(*command):
    # perf 6.1 ends by SIGSEGV now and then
    for _ in range(3):
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           check=False)
        if command[0] == sys.argv[2] or r.returncode >= 0:
            break
    if b'build-id.c' in r.stderr:
        print('perf aborts')
        sys.exit(3)
    if r.returncode < 0 and command[0] != sys.argv[2]:
        print('perf is killed by signal', -r.returncode)
        sys.exit(3)
    if r.returncode:
        sys.exit('%s: %s' % (' '.join(command), r.stderr.decode()[-500:]))
    return r.stdout.decode('utf-8', 'replace')


class Names:
    """The first of the names that an address has."""
    def __init__(self, paths):
        self.paths = paths
        self.of = {}

    @staticmethod
    def first(pairs):
        at, out = {}, {}
        for address, name in pairs:
            at.setdefault(address, name)
            out.setdefault(name, at[address])
        return out

    def kernel(self):
        pairs = []
        with open('/proc/kallsyms', encoding='utf-8') as f:
            for line in f:
                address, kind, name = line.split()[:3]
                if kind in 'tTwW' and address.strip('0'):
                    pairs.append((address, name))
        return self.first(pairs)

    def image(self, image):
        """Of the file and of its debug file, where it has one."""
        path = self.paths.get(image, '')
        if image == '[kernel]':
            return self.kernel()
        if not os.path.isfile(path):
            return {}
        files = [path]
        notes = subprocess.run(['readelf', '-n', path], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=False)
        m = re.search(rb'Build ID: ([0-9a-f]{2})([0-9a-f]+)', notes.stdout)
        if m:
            debug = '/usr/lib/debug/.build-id/%s/%s.debug' % (
                m.group(1).decode(), m.group(2).decode())
            files += [debug] * os.path.isfile(debug)
        pairs = []
        for f in files:
            table = subprocess.run(['readelf', '-sW', f], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, check=False)
            for line in table.stdout.decode('utf-8', 'replace').splitlines():
                w = line.split()
                if len(w) >= 8 and w[3] in ('FUNC', 'IFUNC', 'NOTYPE') and \
                   w[6] != 'UND':
                    pairs.append((int(w[1], 16), plain(w[7])))
        return self.first(pairs)

    def one(self, image, name):
        if name == '?':
            return name
        if image not in self.of:
            self.of[image] = self.image(image)
        if name in STARTS and name not in self.of[image]:
            return '?'
        return self.of[image].get(name, name)


def plain(name):
    """Without version, and without the mark of a copy for a special case.  perf 6.1
    takes names of the linkage table from the wrong rows."""
    if name.endswith('@plt'):
        return '@plt'
    return re.sub(r'\.(constprop|isra|part)\.[0-9]+', '', name.split('@')[0])


def add(rows, event, comm, image, symbol, samples, weight):
    image = {'[kernel.kallsyms]': '[kernel]', '[vdso]': '?', '[unknown]': '?',
             '': '?'}.get(image, image)
    if image != '[kernel]':
        symbol = plain(symbol)
    if image == '?' or '+0x' in symbol or \
       re.match(r'0x[0-9a-f]+$|\[unknown\]|\[vdso\]', symbol):
        symbol = '?'
    count(rows, (event, comm, image, symbol), samples, weight)


def count(rows, key, samples, weight):
    old = rows.get(key, (0, 0))
    rows[key] = (old[0] + samples, old[1] + weight)


def rename(rows, other, names):
    """Gives the functions of rows that are not the same in other one name for each
    address.  Rows that are the same need no tables of symbols, which take long to
    read."""
    out = {}
    for key, (samples, weight) in rows.items():
        if other.get(key) != (samples, weight):
            key = key[:3] + (names.one(key[2], key[3]),)
        count(out, key, samples, weight)
    return out


def of_tally(tally, path, paths):
    rows = {}
    text = output(tally, 'report', '--no-inline', '--format=csv', '-s',
                  'comm,image,symbol', path)
    for row in csv.DictReader(text.splitlines()):
        samples = int(row['self_samples'])
        # Other programs of the machine may have a file of this name, too.
        image = re.sub(r' \[[0-9a-f]{8}\]$', '', os.path.basename(row['image']))
        paths.setdefault(image, row['image'])
        if samples:
            add(rows, row.get('event', ''), row['comm'], image,
                row['symbol'], samples, int(row['self_weight']))
    return rows


def of_perf(perf, path):
    rows, event = {}, ''
    text = output(perf, 'report', '-i', path, '--stdio', '-g', 'none', '--no-inline',
                  '--no-children', '--no-group', '-n', '--percent-limit', '0',
                  '-F', 'sample,period,comm,dso,sym', '-t', '|')
    several = text.count('\n# Samples: ') > 1
    for line in text.splitlines():
        m = re.match(r"# Samples: .* of events? '(.*)'$", line)
        if m:
            event = m.group(1)
        words = [w.strip() for w in line.split('|', 4)]
        if line.startswith('#') or len(words) < 5:
            continue
        add(rows, event if several else '', words[2], words[3],
            re.sub(r'^\[.\] ', '', words[4]), int(words[0]), int(words[1]))
    return rows


def command_of_threads(perf, path):
    """By thread, the last command that a record gives its process."""
    process, command = {}, {}
    text = output(perf, 'script', '-i', path, '--show-task-events', '-F', 'pid,tid')
    for line in text.splitlines():
        m = re.search(r'PERF_RECORD_COMM[^:]*: (.*):([0-9]+)/([0-9]+)$', line)
        if m:
            command[m.group(2)] = m.group(1)
            process[m.group(3)] = m.group(2)
        elif re.match(r' *[0-9]+/[0-9]+', line):
            pid, tid = re.findall('[0-9]+', line)[:2]
            process[tid] = pid
    return {tid: command.get(pid) for tid, pid in process.items()}


def name_threads(mine, theirs, perf, path):
    """Where perf knew no command yet and tally does, as a killed recorder's last records
    lack some: moves perf's samples to that command, as many as tally has more of it."""
    unnamed = [k for k in theirs if re.fullmatch(':[0-9]+', k[1]) and
               theirs[k] != mine.get(k)]
    known = command_of_threads(perf, path) if unnamed else {}
    for k in unnamed:
        named = (k[0], known.get(k[1][1:])) + k[2:]
        has, wants = theirs.get(named, (0, 0)), mine.get(named, (0, 0))
        rest = mine.get(k, (0, 0))
        move = [min(wants[i] - has[i], theirs[k][i] - rest[i]) for i in (0, 1)]
        if min(move) > 0:
            theirs[named] = has[0] + move[0], has[1] + move[1]
            theirs[k] = theirs[k][0] - move[0], theirs[k][1] - move[1]
        if theirs[k] == (0, 0):
            del theirs[k]


def main():
    perf, tally, path = sys.argv[1:4]
    paths = {}
    mine = of_tally(tally, path, paths)
    theirs = of_perf(perf, path)
    names = Names(paths)
    mine, theirs = rename(mine, theirs, names), rename(theirs, mine, names)
    name_threads(mine, theirs, perf, path)
    if len(sys.argv) > 4:
        mine, theirs = ({k: v for k, v in rows.items() if k[1] == sys.argv[4]}
                        for rows in (mine, theirs))
    bad = [k for k in sorted(set(mine) | set(theirs))
           if mine.get(k) != theirs.get(k)]
    for k in bad:
        print(' '.join(k), 'perf:', theirs.get(k), 'tally:', mine.get(k))
    samples = sum(v[0] for v in theirs.values())
    print('%d rows, %d samples' % (len(theirs), samples))
    return bool(bad) or samples < 2


sys.exit(main())
