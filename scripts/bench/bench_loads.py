# SPDX-License-Identifier: GPL-2.0-or-later
"""tally check on recordings of real programs under load: false alarms on identical code,
and slowdowns that are named.

A block records each program three times: twice unchanged, once slower, in a new order.
A check takes some blocks.  Identical code: the unchanged runs of each block, their sides
chosen at random, so checks of the same blocks differ.  Run the bench again into the same
folder after half an hour, and it compares sides that were recorded apart, too.
"""
import glob
import json
import os
import random
import re
import subprocess
import time

from bench_changes import Change, Programs

LOADS = (0, 4, 20)
BLOCKS = {0: 16, 4: 12, 20: 10}
CHECKS = 25

SLOWER = (
    Change('zlib', 'longer chains', [
        ('deflate.c', '/* 6 */ {8,   16, 128, 128,',
         '/* 6 */ {8,   16, 128, 180,')], 'longest_match'),
    Change('lua', 'garbage is collected more often', [
        ('lgc.h', '#define LUAI_GCPAUSE    200', '#define LUAI_GCPAUSE    150')],
        'sweep|mark|travers|propagate|luaC|atomic|clear|freeobj|singlestep|'
        'free|malloc|whitelist|internshrstr|luaS_remove|tablerehash'),
    Change('sqlite', 'the general comparison of records only', [
        ('sqlite3.c', 'if( p->pKeyInfo->nAllField<=13 ){', 'if( 0 ){')],
        'sqlite3VdbeRecordCompare|vdbe|sqlite3'),
    Change('zstd', 'matches counted byte by byte', [
        ('lib/compress/zstd_compress_internal.h',
         'pInLimit - (sizeof(size_t)-1);', 'pIn;')],
        'ZSTD_'),
)


def _record(tools, command, out):
    subprocess.run([tools.tally, 'record', '-q', '-F', '4999', '-o', out, '--',
                    'sh', '-c', command], env=tools.env, check=True,
                   stdout=subprocess.DEVNULL)


def _session(tools, programs, built, load, folder):
    """The blocks of one load.  The busy loops have this process's priority."""
    loops = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
             for _ in range(load)]
    rnd = random.Random(load)
    os.makedirs(folder, exist_ok=True)
    try:
        for block in range(BLOCKS[load]):
            jobs = [(p, v) for p in built for v in ('a', 'b', 'slow')]
            rnd.shuffle(jobs)
            for project, variant in jobs:
                exe = built[project]['slow' if variant == 'slow' else 'a']
                _record(tools, programs.command(project, exe),
                        '%s/%s-%s-%02d.tally' % (folder, project, variant,
                                                 block))
            with open('/proc/loadavg', encoding='ascii') as f, \
                    open(folder + '/loadavg', 'a', encoding='ascii') as o:
                o.write(f.read())
    finally:
        for p in loops:
            p.kill()
            p.wait()


def _check(tools, base, new):
    out = subprocess.run([tools.tally, 'check', '--format', 'none', '--json', '-',
                          '--baseline'] + base + ['--new'] + new,
                         env=tools.env, stdout=subprocess.PIPE, check=False)
    if out.returncode not in (0, 1, 3):
        raise RuntimeError('check: status %d' % out.returncode)
    return out.returncode, json.loads(out.stdout)


def _named(result):
    return [r['function'] for r in result['rows'] if r['fails']]


def _file(folder, project, variant, block):
    return '%s/%s-%s-%02d.tally' % (folder, project, variant, block)


def _judge(tools, table, change, title, old, new, interleaved):
    """Checks of random blocks of the folders `old` and `new`."""
    rnd = random.Random(7)
    blocks = [sorted(int(p[-8:-6]) for p in glob.glob(
        '%s/%s-slow-*.tally' % (f, change.project))) for f in (old, new)]
    n = min(10, len(blocks[0]), len(blocks[1]))
    if n < 3:
        return
    alarms = found = other = blind = 0
    for _ in range(CHECKS):
        a = sorted(rnd.sample(blocks[0], n))
        b = a if interleaved else sorted(rnd.sample(blocks[1], n))
        sides = [rnd.choice('ab') for _ in a]
        base = [_file(old, change.project, s, k) for s, k in zip(sides, a)]
        same = [_file(new, change.project, 'b' if s == 'a' else 'a', k)
                for s, k in zip(sides, b)]
        slow = [_file(new, change.project, 'slow', k) for k in b]
        status, _ = _check(tools, base, same)
        alarms += status == 1
        blind += status == 3
        status, result = _check(tools, base, slow)
        named = _named(result)
        right = [bool(re.search(change.slower, f)) for f in named]
        found += any(right)
        other += not all(right)
    table.fact('%s, %s, %d runs a side' % (title, change.project, n),
               'identical: %d %% alarms (%d %% inconclusive); slower: %d %% named, '
               '%d %% another function' % tuple(
                   round(100 * x / CHECKS) for x in (alarms, blind, found, other)),
               not alarms)


def loads(tools, table, args):
    work = os.path.join(args.work, 'changes')
    os.makedirs(work, exist_ok=True)
    programs = Programs(work)
    built = {}
    for change in SLOWER:
        name = change.project
        same = Change(name, 'nothing', [])
        built[name] = {
            'a': programs.changed(same, os.path.join(work, 'loads-a-' + name)),
            'slow': programs.changed(change,
                                     os.path.join(work, 'loads-b-' + name))}
    home = os.path.join(args.work, 'loads')
    session = '%s/%d' % (home, int(time.time()))
    for load in LOADS:
        _session(tools, programs, built, load, '%s/load-%d' % (session, load))
    sessions = sorted(glob.glob(home + '/[0-9]*'))
    for load in LOADS:
        for change in SLOWER:
            here = '%s/load-%d' % (session, load)
            _judge(tools, table, change, 'load %d, in turns' % load, here, here,
                   True)
            for old in sessions[:-1]:
                _judge(tools, table, change, 'load %d, %d minutes apart' % (
                    load, (int(os.path.basename(session)) -
                           int(os.path.basename(old))) // 60),
                    '%s/load-%d' % (old, load), here, False)
