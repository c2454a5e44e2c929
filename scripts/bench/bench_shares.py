# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of functions by timers inside the program (and by ptrace, where those
cannot get in) beside perf's, program by program.

Neither source sees all that perf sees, so both sides are held to what all can
know: a sample anywhere in a system call, or at the instruction behind one (where
perf's interrupt comes when it had to wait), is the kernel's; one in a page fault
or an interrupt is of the instruction where that broke in; from execve until the
loader hands over it is the start's.  Each process begins perf's period anew, so
its first millisecond is in perf's count and never in a sample: what perf counted
and has no sample goes to the starts as well.  What timers never see, the kernel's
work at the end of a process, is left out on both sides, and its share of perf's
samples said.  What is apart is given in standard errors: of drawing so many samples, or,
where larger, of how much shares differ between the runs of one source."""
import math
import os
import re
import statistics
import struct
import subprocess

from bench_lib import TOP, Failed

LIMIT = 4		# standard errors, of some 20 functions a program
LEAST = 0.01		# shares below are too few samples to tell
FRAME = re.compile(r'  0x([0-9a-f]+) (.*?) \((/[^()]*|\[[^\]]*\])\)(?: [^()]*)?$')
SAMPLE = re.compile(r'sample .* weight=(\d+) ')
START = re.compile('execve|load_elf|exec_binprm|begin_new_exec')
END = re.compile('^(do_exit|do_group_exit|exit_mm.*|__x64_sys_exit.*)$')
SYSTEM_CALL = ('entry_SYSCALL', 'do_syscall_64', 'ret_from_fork')

PYTHON = ('import json\n'
          'def f(n):\n'
          ' return g(n - 1) if n else len(json.dumps({str(i): i for i in '
          'range(300)}))\n'
          'def g(n):\n'
          ' return f(n)\n'
          'print(sum(f(i %% 30) for i in range(%d)))')
NODE = '''
function sort(n) { const a = []; for (let i = 0; i < n; i++)
  a.push((i * 7919) %% 10007); return a.sort((x, y) => x - y)[n >> 1]; }
function text(n) { let s = ''; for (let i = 0; i < n; i++)
  s += JSON.stringify({ i, t: 'x'.repeat(i %% 17) }); return s.length; }
function match(n) { let k = 0; const t = 'ab'.repeat(200) + 'c';
  for (let i = 0; i < n; i++) k += /(a|b)*c/.test(t) ? 1 : 0; return k; }
let s = 0;
for (let i = 0; i < %d; i++) s += sort(3000) + text(2000) + match(60);
console.log(s);
'''
GO = '''package main

import ("fmt"; "os"; "sort"; "strconv"; "strings")

func words(n int) int {
	m := map[string]int{}
	for i := 0; i < n; i++ { m[strconv.Itoa(i*7919%1009)] += i }
	k := make([]string, 0, len(m))
	for w := range m { k = append(k, w) }
	sort.Strings(k)
	return len(strings.Join(k, ","))
}

func primes(n int) int {
	c := 0
	for i := 2; i < n; i++ {
		p := true
		for d := 2; d*d <= i; d++ { if i%d == 0 { p = false; break } }
		if p { c++ }
	}
	return c
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	s := 0
	for i := 0; i < n; i++ { s += words(20000) + primes(20000) }
	fmt.Println(s)
}
'''
UNIT = '''#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <pthread.h>
struct s%(n)d { long k; char t[64]; double d; };
static int by_k(const void *a, const void *b)
{ const struct s%(n)d *x = a, *y = b; return (x->k > y->k) - (x->k < y->k); }
%(more)s
long unit%(n)d(long n)
{
	struct s%(n)d *v = calloc(n, sizeof *v);
	long r = 0;
	for (long i = 0; i < n; i++) {
		v[i].k = i * %(n)d %% 101;
		snprintf(v[i].t, sizeof v[i].t, "%%ld", i);
		v[i].d = sqrt(i + %(n)d.0);
	}
	qsort(v, n, sizeof *v, by_k);
	for (long i = 0; i < n; i++)
		r += v[i].k + (long)strlen(v[i].t) + (long)v[i].d;
	free(v);
	return r;
}
'''
MORE = '''static long f%(i)d(long a, long b)
{
	long s = 0;
	for (long i = 0; i < a; i++)
		for (long j = 0; j < b; j++)
			s += (i ^ j) %% (%(i)d + 3) ? i * j : s >> 3;
	switch (s %% 7) { case 0: return s; case 1: return s * a;
	case 2: return s - b; case 3: return a / (b | 1); default: return ~s; }
}
'''


def _write(path, text):
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)


def _project(tools, units):
    """A small project of C files; the command that builds all of it again."""
    folder = os.path.join(tools.work, 'project')
    os.makedirs(folder, exist_ok=True)
    objects = ['unit%d.o' % n for n in range(units)]
    for n in range(units):
        _write(os.path.join(folder, 'unit%d.c' % n), UNIT % {
            'n': n + 1, 'more': ''.join(MORE % {'i': i} for i in range(12))})
    _write(os.path.join(folder, 'main.c'), ''.join(
        'long unit%d(long);\n' % (n + 1) for n in range(units)) +
        'int main(void) { return (int)(' + ' + '.join(
            'unit%d(99)' % (n + 1) for n in range(units)) + ') & 1; }\n')
    _write(os.path.join(folder, 'Makefile'), (
        'all: clean\n\t@$(MAKE) -s prog\n'
        'clean:\n\t@rm -f *.o prog\n'
        'prog: main.o %s\n\t@$(CC) -o $@ $^ -lm\n'
        '%%.o: %%.c\n\t@n=`echo $< | wc -c`; $(CC) -O2 -g -c -o $@ $<\n') %
        ' '.join(objects))
    return ['make', '-s', '-C', folder, 'all']


def _static(tools):
    path = os.path.join(tools.work, 'shares-static')
    if not os.path.exists(path):
        tools.output([os.environ.get('CC', 'cc'), '-static', '-O2', '-g',
                      '-o', path, os.path.join(TOP, 'tests/workload/shares.c')])
    return path


def _go(tools):
    source = os.path.join(tools.work, 'words.go')
    path = os.path.join(tools.work, 'words-go')
    if not os.path.exists(path):
        _write(source, GO)
        env = dict(tools.env, CGO_ENABLED='0', GOFLAGS='-mod=mod',
                   GOCACHE=os.path.join(tools.work, 'go-cache'))
        try:
            done = subprocess.run(['go', 'build', '-o', path, source], env=env,
                                  stdin=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            return None
        if done.returncode:
            raise Failed('go build: status %d' % done.returncode)
    return path


def _has(name):
    return any(os.access(os.path.join(d, name), os.X_OK)
               for d in os.environ.get('PATH', '').split(':'))


def _programs(tools, n):
    """Name, what records it without perf, command."""
    shares = os.path.join(tools.work, 'shares')
    if not os.path.exists(shares):
        tools.output([os.environ.get('CC', 'cc'), '-O2', '-g', '-o', shares,
                      os.path.join(TOP, 'tests/workload/shares.c')])
    yield 'C', 'timer', [shares, str(4000 * n)]
    yield 'C++ with templates', 'timer', [
        os.path.join(tools.work, 'big'), str(3 * n), '1']
    yield 'python3', 'timer', ['/usr/bin/python3', '-c', PYTHON % (3000 * n)]
    if _has('node'):
        yield 'node', 'timer', ['node', '-e', NODE % (600 * n)]
    yield '2 threads', 'timer', [os.path.join(tools.work, 'known_cost'),
                                 str(3 * n), '2']
    yield 'make', 'timer', _project(tools, 4 * n)
    yield 'static', 'ptrace', [_static(tools), str(4000 * n)]
    go = _go(tools)
    if go:
        yield 'Go', 'ptrace', [go, str(400 * n)]


ENDING = '[end]'


class Code:
    """The bytes of an ELF file by address, for one question."""

    def __init__(self, path):
        self.parts = []
        try:
            with open(path, 'rb') as f:
                self.data = f.read()
        except OSError:
            return
        at, = struct.unpack_from('<Q', self.data, 32)
        size, count = struct.unpack_from('<HH', self.data, 54)
        for i in range(count):
            kind, _, offset, start, _, n = struct.unpack_from(
                '<IIQQQQ', self.data, at + i * size)
            if kind == 1:	# PT_LOAD
                self.parts.append((start, n, offset))

    def behind_system_call(self, address):
        for start, n, offset in self.parts:
            if start + 2 <= address < start + n:
                at = offset + address - start
                return self.data[at - 2:at] == b'\x0f\x05'
        return False


def _key(frames, codes):
    """What a sample is counted for; frames: address, name, image."""
    if not frames:
        return '[none]'
    inside = [f[1] for f in frames if f[2] == '[kernel]']
    if any(END.match(name) for name in inside):
        return ENDING
    if any(START.search(name) for name in inside) or \
            os.path.basename(frames[-1][2]).startswith('ld-linux'):
        return '[start]'
    at, kernel = 0, False
    while at < len(frames) and frames[at][2] == '[kernel]':
        kernel |= frames[at][1].startswith(SYSTEM_CALL)
        kernel |= frames[at][1] == '[kernel]'
        at += 1
    if kernel or at == len(frames):
        return '[kernel]'
    address, _, image = frames[at]
    if image.startswith('/'):
        if image not in codes:
            codes[image] = Code(image)
        if codes[image].behind_system_call(address):
            return '[kernel]'
    while at + 1 < len(frames) and frames[at + 1][0] == address:
        at += 1		# the function that the others were inlined into
    name = frames[at][1]
    return os.path.basename(image) + (
        '' if name == '[unknown]' else ':' + name)


def _unsampled(tools, file):
    """What an event has counted beyond what samples stand for."""
    head = tools.tally_json(file, 'comm')['header']
    event = head['events'][0]
    return max(event['counted'] - event['weight'], 0) * (not event['lost'])


def _counts(tools, file, codes):
    """{key: weight}, the sum of weights, and of their squares."""
    sums, frames, weight, squares = {}, [], 0, 0

    def end():
        if weight:
            key = _key(frames, codes)
            sums[key] = sums.get(key, 0) + weight

    for line in tools.output(tools.dump_samples(file) + ['-g']).splitlines():
        m = SAMPLE.match(line)
        if m:
            end()
            frames, weight = [], int(m.group(1))
            squares += weight * weight
            continue
        m = FRAME.match(line)
        if m:
            frames.append((int(m.group(1), 16), m.group(2), m.group(3)))
    end()
    return sums, sum(sums.values()), squares


class Side:
    """What one source said of a program, in some runs."""

    def __init__(self):
        self.sums, self.weight, self.squares, self.runs = {}, 0, 0, []
        self.ending = 0

    def add(self, counts):
        sums, weight, squares = counts
        end = sums.pop(ENDING, 0)
        self.ending += end
        weight -= end
        for key, w in sums.items():
            self.sums[key] = self.sums.get(key, 0) + w
        self.weight += weight
        self.squares += squares
        self.runs.append((sums, weight))

    def samples(self):
        """Samples of one weight that would tell as much."""
        return self.weight ** 2 / self.squares if self.squares else 0

    def share(self, key):
        return self.sums.get(key, 0) / self.weight if self.weight else 0

    def error2(self, key, p):
        """The squared standard error of a share."""
        drawn = p * (1 - p) / max(self.samples(), 1)
        if len(self.runs) < 3:
            return drawn
        each = [s.get(key, 0) / max(w, 1) for s, w in self.runs]
        return max(drawn, statistics.variance(each) / len(each))


def _compare(one, other):
    """The largest difference in standard errors, and in points: each with
    what has it."""
    errors, points = (0, ''), (0, '')
    for key in set(one.sums) | set(other.sums):
        a, b = one.share(key), other.share(key)
        p = (one.sums.get(key, 0) + other.sums.get(key, 0)) / \
            (one.weight + other.weight)
        if p < LEAST:
            continue
        error = math.sqrt(one.error2(key, p) + other.error2(key, p))
        text = '%s %.1f %% and %.1f %%' % (key[:40], 100 * a, 100 * b)
        errors = max(errors, (abs(a - b) / error if error else 0, text))
        points = max(points, (100 * abs(a - b), text))
    return errors, points


def shares(tools, table, args):
    """A row for each program."""
    codes = {}
    env = tools.env
    tools.env = dict(env, PYTHONHASHSEED='0')
    # Nothing of a warm-up is compared.
    for name, source, cmd in _programs(tools, 1 if args.quick else 3):
        sides = {'perf': Side(), source: Side()}
        tools.output(cmd)
        for _ in range(2 if args.quick else max(args.rounds, 4)):
            for which, side in sides.items():
                file = os.path.join(tools.work, which + '-shares.tally')
                tools.output([tools.tally, 'record', '-q', '-g', '--source=' +
                              which, '-F', '999', '-e', 'cpu-clock', '-o',
                              file, '--'] + cmd)
                counts = _counts(tools, file, codes)
                more = _unsampled(tools, file) if which == 'perf' else 0
                counts[0]['[start]'] = counts[0].get('[start]', 0) + more
                side.add((counts[0], counts[1] + more, counts[2]))
        perf, ours = sides['perf'], sides[source]
        errors, points = _compare(perf, ours)
        table.fact('%s beside perf: %s' % (source, name),
                   '%d and %d samples; at most %.1f standard errors apart '
                   '(%s), %.1f points (%s); ending processes: %.1f %% of '
                   'perf\'s' % (
                       perf.samples(), ours.samples(), *errors, *points,
                       100 * perf.ending / (perf.weight + perf.ending)),
                   errors[0] < LIMIT)
    tools.env = env
