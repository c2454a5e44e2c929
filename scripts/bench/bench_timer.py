# SPDX-License-Identifier: GPL-2.0-or-later
"""Timers inside the program: what they cost beside gperftools' profiler, whether
their shares are perf's, and what many threads lose."""
import json
import os
import statistics
import struct
import subprocess

import bench_shares
from bench_lib import TOP, Failed
from bench_truth import SHARES

RATE = '999'


def _programs(tools, quick):
    """Name, command; each does a fixed piece of work."""
    shares = os.path.join(tools.work, 'shares')
    source = os.path.join(TOP, 'tests/workload/shares.c')
    if not os.path.exists(shares):
        tools.output([os.environ.get('CC', 'cc'), '-O2', '-g', '-o', shares,
                      source])
    n = 1 if quick else 3
    return {
        'C': [shares, str(4000 * n)],
        'python3': ['python3', '-c', bench_shares.PYTHON % (3000 * n)],
    }


def _profiler():
    for name in ('libprofiler.so.0', 'libprofiler.so'):
        path = '/usr/lib/x86_64-linux-gnu/' + name
        if os.path.exists(path):
            return path
    return None


def _cpu(cmd, env):
    """Processor seconds of a command and all that it started."""
    p = subprocess.Popen(cmd, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = status
    if status:
        raise Failed('%s: status %d' % (' '.join(cmd)[:60], status))
    return use.ru_utime + use.ru_stime


def _cpu_recorded(tools, source, file, cmd):
    """The same of a command within a recording: without the recorder."""
    tools.output([tools.tally, 'record', '-q', '--source=' + source, '-F',
                  RATE, '-g', '--no-symbols', '-o', file, '--'] + cmd)
    text = tools.output([tools.tally, 'info', '--format=json', file])
    run = json.loads(text)['runs'][0]
    return (run['user_ns'] + run['sys_ns']) / 1e9


def _gperf_stacks(path):
    """Mean depth, and the share of stacks with one frame only (the format is
    in gperftools' cpuprofile-fileformat.html)."""
    with open(path, 'rb') as f:
        data = f.read()
    words = struct.unpack_from('<%dQ' % (len(data) // 8), data)
    at, stacks, frames, single = 5, 0, 0, 0
    while at + 2 < len(words) and words[at]:
        count, depth = words[at], words[at + 1]
        stacks += count
        frames += count * depth
        single += count * (depth < 2)
        at += 2 + depth
    return frames / max(stacks, 1), single / max(stacks, 1), stacks


def _depth(tools, file):
    """Stacks of a recording that are not whole, and those that are."""
    head = json.loads(tools.output(
        [tools.tally, 'report', '--format=json', '--top', '1', file]))
    stacks = head['header']['stacks']
    whole = stacks['whole'] + stacks['later'] + stacks['guessed']
    return stacks['cut'] + stacks['broken'], whole


def _slow_down(tools, table, args):
    library = _profiler()
    rounds = max(args.rounds, 3) * (1 if args.quick else 3)
    for name, cmd in _programs(tools, args.quick).items():
        file = os.path.join(tools.work, 'timer.tally')
        prof = os.path.join(tools.work, 'timer.prof')
        env = dict(tools.env, LD_PRELOAD=library or '', CPUPROFILE=prof,
                   CPUPROFILE_FREQUENCY=RATE)
        times = {'alone': [], 'tally': [], 'gperftools': []}
        for _ in range(rounds):
            times['alone'].append(_cpu(cmd, tools.env))
            times['tally'].append(_cpu_recorded(tools, 'timer', file, cmd))
            if library:
                times['gperftools'].append(_cpu(cmd, env))
        alone = statistics.median(times['alone'])
        tally = statistics.median(times['tally']) / alone - 1
        bad, whole = _depth(tools, file)
        text = '%+.1f %% (%d stacks, %d not whole)' % (
            100 * tally, bad + whole, bad)
        if library:
            other = statistics.median(times['gperftools']) / alone - 1
            depth, single, n = _gperf_stacks(prof)
            text += '; gperftools %+.1f %% (%d stacks, %.0f %% of one frame)' \
                % (100 * other, n, 100 * single)
        table.fact('timer: slow-down of ' + name, text)


def _shares(tools, file, key):
    total, got = 0, {}
    for row in tools.tally_json(file, key)['rows']:
        got[row[key]] = got.get(row[key], 0) + row['self']['weight']
        total += row['self']['weight']
    return {k: v / total for k, v in got.items()} if total else {}


def _many_threads(tools, table, args):
    file = os.path.join(tools.work, 'threads.tally')
    known = os.path.join(tools.work, 'known_cost')
    if not os.path.exists(known):
        return
    tools.output([tools.tally, 'record', '-q', '--source=timer', '-F', '1000',
                  '-g', '-o', file, '--', known, '2' if args.quick else '5',
                  '64'])
    head = tools.tally_json(file, 'symbol')['header']
    got = sum(_shares(tools, file, 'symbol').get(f, 0) for f in SHARES)
    lost = head['samples']['lost']
    table.fact('timer: 64 threads at 1 kHz',
               '%d samples, %d lost, %d stacks broken; %.1f %% in the known '
               'functions' % (head['samples']['got'], lost,
                              head['samples']['broken_stacks'], 100 * got),
               not lost)


def timer(tools, table, args):
    _slow_down(tools, table, args)
    bench_shares.shares(tools, table, args)
    _many_threads(tools, table, args)
