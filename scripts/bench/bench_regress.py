# SPDX-License-Identifier: GPL-2.0-or-later
"""tally check on a real program, one file of which is compiled worse; and the time
that it takes for many large recordings."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import time

from bench_lib import TOP, Failed, median

# zlib's files that minigzip -6 and -d spend their time in, how they are compiled
# badly, and by which of the two the worse code is run
CASES = (
    ('trees.c', '-O0', 'compress'),
    ('deflate.c', '-O0', 'compress'),
    ('crc32.c', '-O0', 'expand'),
    ('inffast.c', '-O0', 'expand'),
)
RUNS = 8


def _source(work):
    """Debian 12's zlib, unpacked."""
    folder = os.path.join(work, 'zlib')
    have = glob.glob(folder + '/zlib-*/minigzip.c') + glob.glob(
        folder + '/zlib-*/test/minigzip.c')
    if not have:
        subprocess.run([TOP + '/scripts/debian-source', 'zlib', folder],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        tar = glob.glob(folder + '/zlib_*.orig.tar.*')
        subprocess.run(['tar', '-C', folder, '-xf', tar[0]], check=True)
        have = glob.glob(folder + '/zlib-*/test/minigzip.c')
    if not have:
        raise Failed('no minigzip.c in the source of zlib')
    return os.path.dirname(os.path.dirname(have[0]))


def _build(source, out, worse=None, level=None):
    """minigzip with all at -O2 but `worse`."""
    files = sorted(glob.glob(source + '/*.c')) + [source + '/test/minigzip.c']
    objects = []
    os.makedirs(out, exist_ok=True)
    for path in files:
        name = os.path.basename(path)
        obj = os.path.join(out, name[:-2] + '.o')
        flags = level if name == worse else '-O2'
        subprocess.run(['cc', '-g', flags, '-w', '-DHAVE_UNISTD_H',
                        '-DHAVE_STDARG_H', '-I' + source, '-c', '-o', obj,
                        path], check=True)
        objects.append(obj)
    exe = os.path.join(out, 'minigzip')
    subprocess.run(['cc', '-o', exe] + objects, check=True)
    return exe


def _functions(tools, exe, name):
    """The functions of a file, as its symbols are."""
    out = tools.output(['readelf', '-sW', os.path.join(
        os.path.dirname(exe), name[:-2] + '.o')])
    return set(re.findall(r'FUNC\s+\w+\s+\w+\s+\d+\s+(\w+)', out))


def _commands(tools, exe, data):
    packed = data + '.gz'
    if not os.path.exists(packed):
        with open(data, 'rb') as i, open(packed, 'wb') as o:
            subprocess.run([exe, '-6'], stdin=i, stdout=o, check=True)
    return {
        'compress': '%s -6 <%s >/dev/null' % (exe, data),
        'expand': 'for i in 1 2 3 4 5 6; do %s -d <%s >/dev/null; done' % (
            exe, packed),
    }


def _case(tools, table, work, source, good, case):
    name, level, how = case
    exe = _build(source, os.path.join(work, name[:-2] + level), name, level)
    data = os.path.join(work, 'data')
    report = os.path.join(work, 'verdict.json')
    done = subprocess.run(
        [tools.tally, 'check', '-n', str(RUNS), '--format', 'none', '--json',
         report, '--run', _commands(tools, exe, data)[how],
         '--against', _commands(tools, good, data)[how]],
        env=tools.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        check=False)
    if done.returncode not in (0, 1, 3):
        raise Failed(done.stderr.decode(errors='replace'))
    with open(report, encoding='utf-8') as f:
        result = json.load(f)
    failed = [r for r in result['rows'] if r['fails']]
    failed.sort(key=lambda r: (r['now'] if 'now' in r else r['new']) -
                r['base'], reverse=True)
    known = _functions(tools, exe, name) | _functions(tools, good, name)
    named = ['%s %s' % (r['function'],
                        'new' if r['ratio'] is None
                        else '%+.0f %%' % (100 * r['ratio'] - 100))
             for r in failed]
    right = bool(failed) and failed[0]['function'] in known
    others = [r['function'] for r in failed if r['function'] not in known]
    table.fact('zlib, %s at %s, %s' % (name, level, how),
               '%s; others named: %s' % (', '.join(named) or 'nothing',
                                         ', '.join(others) or 'none'), right)


def _wide(tools, table, work):
    """20 and 20 recordings of 5,000 functions."""
    maker = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                         'tests/check/make_recording')
    if not os.access(maker, os.X_OK):
        table.fact('20 + 20 recordings', 'not measured: no ' + maker +
                   ' (make check builds it)')
        return
    rnd = random.Random(3)
    weight = [1 / (i + 3) for i in range(5000)]
    folder = os.path.join(work, 'wide')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for run in range(40):
        text = ['event cpu-clock 4999 200040 ns',
                'run %d 0' % (1000000000 * (run + 1))]
        for i in range(5000):
            mean = 20000 * weight[i] / sum(weight)
            if run % 2 and i == 3:
                mean *= 1.2
            text.append('hit %d /usr/bin/prog f%d src/%d.c %d main' % (
                max(1, round(rnd.gauss(mean, mean ** 0.5))), i, i // 50,
                i % 50 * 10 + 5))
        subprocess.run([maker, '%s/%s%d.tally' % (folder, 'ab'[run % 2], run)],
                       input='\n'.join(text) + '\n', text=True, check=True)
    cmd = ([tools.tally, 'check', '--warn-only', '--baseline'] +
           sorted(glob.glob(folder + '/a*')) + ['--new'] +
           sorted(glob.glob(folder + '/b*')))
    spent = []
    for _ in range(9):
        start = time.monotonic()
        tools.output(cmd)
        spent.append(time.monotonic() - start)
    table.fact('check of 20 + 20 recordings, 5,000 functions',
               '%.3f s' % median(spent))


def regress(tools, table, args):
    """The culprit of a real slowdown is named first."""
    work = os.path.join(args.work, 'regress')
    os.makedirs(work, exist_ok=True)
    source = _source(work)
    good = _build(source, os.path.join(work, 'good'))
    data = os.path.join(work, 'data')
    if not os.path.exists(data):
        with open(data, 'wb') as o:
            for path in sorted(glob.glob(source + '/**/*.[ch]',
                                         recursive=True)) * 3:
                with open(path, 'rb') as i:
                    o.write(i.read())
    for case in CASES[:1] if args.quick else CASES:
        _case(tools, table, work, source, good, case)
    _wide(tools, table, work)
