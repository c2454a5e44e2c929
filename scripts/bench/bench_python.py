# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of Python: whether they are right, by what the program says of itself
(tests/e2e/python_scenes.py), and what timers with and without stacks cost a
program with so many frames."""
import json
import os
import statistics
import sys

from bench_lib import TOP
from bench_timer import _cpu

DEEP = '''
def f(n):
    if n:
        return f(n - 1)
    s = 0
    for i in range(%d):
        s += i * i
    return s
f(%d)
'''


def _right(tools, table, args, source):
    at = os.path.join(tools.work, 'python')
    e2e = os.path.join(TOP, 'tests/e2e/python_')
    tools.output([tools.tally, 'record', '-q', '-g', '--source=' + source,
                  '-o', at + '.tally', '--', sys.executable, e2e + 'scenes.py',
                  '3' if args.quick else '20', at + '.truth'])
    tools.output([tools.tally, 'export', '--format=firefox', '-i',
                  at + '.tally', '-o', at + '.json'])
    said = tools.output([sys.executable, e2e + 'check.py', at + '.json',
                         at + '.truth', at + '.truth.child'])
    got = dict(line.split(' ', 1) for line in said.splitlines()
               if not line.startswith('#'))
    table.fact('python by %s: %s samples, chains and lines as the program says'
               % (source, got['samples']),
               '%s %%; shares differ by %s points at most' %
               (got['right'], got['off']), float(got['right']) >= 99)


def _cost(tools, table, args):
    file = os.path.join(tools.work, 'python.tally')
    for depth in (10, 100):
        cmd = [sys.executable, '-c',
               DEEP % (10000000 if args.quick else 40000000, depth)]
        ways = [(source, how) for source in ('timer', 'ptrace')
                for how in ('none', 'auto')]
        times = {way: [] for way in ways + ['alone']}
        for _ in range(max(args.rounds, 3) * (1 if args.quick else 3)):
            times['alone'].append(_cpu(cmd, tools.env))
            for source, how in ways:
                tools.output([tools.tally, 'record', '-q', '--source=' + source,
                              '-F', '999', '--call-graph=' + how,
                              '--no-symbols', '-o', file, '--'] + cmd)
                times[source, how].append(_run_seconds(tools, file))
        alone = statistics.median(times['alone'])
        table.fact('python: slow-down with %d frames' % depth,
                   'timer: %+.1f %% without stacks, %+.1f %% with; '
                   'ptrace: %+.1f %%, %+.1f %%' % tuple(
                       100 * (statistics.median(times[way]) / alone - 1)
                       for way in ways))


def _run_seconds(tools, file):
    run = json.loads(tools.output(
        [tools.tally, 'info', '--format=json', file]))['runs'][0]
    return (run['user_ns'] + run['sys_ns']) / 1e9


def python(tools, table, args):
    for source in ('timer', 'ptrace'):
        _right(tools, table, args, source)
    _cost(tools, table, args)
