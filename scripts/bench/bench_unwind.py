# SPDX-License-Identifier: GPL-2.0-or-later
"""Unwind tables and walks, beside libdw's and libunwind's of the same threads."""
import glob
import os
import shutil
import subprocess

from bench_lib import TOP, Failed, median
from bench_stacks import rust_program

# A program that runs until it is stopped, for stacks of it.
PYTHON = '''
import json
while True:
    s = json.dumps([{"a": i, "b": [i] * 5} for i in range(1000)])
    json.loads(s)
    sorted(range(1000), key=lambda x: -x)
'''
PERL = ('while (1) { $h{$i % 1000} .= join(",", map {$_ * 2} 1..20);'
        ' $h{$i % 1000} =~ s/\\d+,//; $i++ }')
GDB = ('python\nwhile True:\n'
       '    gdb.execute("info functions zzz", to_string=True)')
BASH = 'while :; do x=${x}a; [[ $x =~ a{50} ]] && x=; done'


def _helper(tools):
    """tests/unwind/beside, built when it is missing."""
    build = os.path.dirname(os.path.dirname(tools.tally))
    path = os.path.join(build, 'tests/unwind/beside')
    done = subprocess.run(['make', '-s', '-C', build, 'tests/unwind/beside'],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False)
    if done.returncode or not os.access(path, os.X_OK):
        raise Failed('tests/unwind/beside could not be built: '
                     'apt-get install libdw-dev libcmocka-dev')
    return path


def _values(tools, cmd):
    """The "name value" lines that the helper prints."""
    return {k: float(v) for k, v in
            (line.split() for line in tools.output(cmd).splitlines())}


def _large_c(tools):
    """C source that keeps a compiler busy."""
    path = os.path.join(tools.work, 'unwind.c')
    with open(path, 'w', encoding='ascii') as f:
        for i in range(20000):
            f.write('int f%d(int *a, int n) { int s = 0; for (int i = 0; '
                    'i < n; i++) { s += a[i] * %d; if (s > %d) '
                    's ^= a[i] >> 3; } return s + %s; }\n' %
                    (i, i, i * 7, 'f%d(a, n / 2)' % (i - 1) if i else '0'))
    return path


def _tables(tools, table, args, helper):
    """Building whole tables, one thread; CPU time."""
    found = []
    for pattern in ('/usr/lib/x86_64-linux-gnu/libLLVM*.so*',
                    '/usr/lib/gcc/x86_64-linux-gnu/*/cc1plus',
                    '/usr/lib/x86_64-linux-gnu/libstdc++.so.6',
                    '/usr/lib/x86_64-linux-gnu/libc.so.6'):
        real = sorted({os.path.realpath(p) for p in glob.glob(pattern)
                       if os.path.getsize(p) > 100000})
        found += real[:1]
    for path in found:
        runs = [_values(tools, [helper, 'table', path])
                for _ in range(args.rounds)]
        seconds = median(r['seconds'] for r in runs)
        a_row = runs[0]['bytes'] / runs[0]['rows']
        # small files are mostly their rules
        good = seconds <= 0.3 and (a_row <= 5 or runs[0]['rows'] < 100000)
        table.fact('table of ' + os.path.basename(path),
                   '%d rows of %d rules in %.3f s, %.2f bytes a row' % (
                       runs[0]['rows'], runs[0]['rules'], seconds, a_row),
                   good)


def _walks(tools, table, what, helper, samples, cmd):
    """Stacks of one program; what both walks gave and took."""
    got = _values(tools, [helper, 'run', str(samples)] + cmd)
    if not got['samples']:
        raise Failed(what + ' could not be sampled')
    table.row('ns a frame, %s; libdw' % what, got['warm_ns'],
              got['their_ns'], 'ns', ('<=', 0.2))
    if got['warm_ns'] > 100:
        table.fact('  more than 100 ns', '%.0f' % got['warm_ns'], False)
    # without libunwind there is one to compare with
    got.setdefault('second_same', 0)
    got.setdefault('either', got['same'])
    table.fact('  stacks', '%d: %d as libdw\'s, %d as libunwind\'s, %d as one '
               'of them, %d more as the program then returned; whole %d; '
               'libdw %d' % (
                   got['samples'], got['same'], got['second_same'],
                   got['either'], got['proven'], got['whole'],
                   got['their_whole']),
               got['either'] + got['proven'] >= 0.995 * got['samples'] and
               got['whole'] >= got['their_whole'])
    return got


def unwind(tools, table, args):
    """Issue 5, how good, 2 to 4."""
    helper = _helper(tools)
    samples = 100 if args.quick else 2000
    cc1 = sorted(glob.glob('/usr/lib/gcc/x86_64-linux-gnu/*/cc1'))
    programs = {
        'python3': ['/usr/bin/python3', '-c', PYTHON],
        'perl': ['perl', '-e', PERL],
        'bash': ['bash', '-c', BASH],
        'xz': ['sh', '-c', 'exec xz -9 -c "$0" "$0" "$0"', cc1[-1]],
        'openssl': ['openssl', 'speed', '-seconds', '10', 'sha256', 'rsa2048'],
        'git': ['git', '-C', TOP, 'log', '-p', '--stat', '--all', '-C', '-C'],
        'cc1': [cc1[-1], '-O2', '-quiet', _large_c(tools), '-o', '/dev/null'],
        'C++': [os.path.join(tools.work, 'big_plain'), '60', '2'],
        'gdb': ['gdb', '-nx', '-batch', '-ex', GDB, '/usr/bin/gdb'],
    }
    if shutil.which('rustc'):
        programs['Rust'] = [rust_program(tools), '40000']
    _tables(tools, table, args, helper)
    total = {'samples': 0, 'same': 0, 'either': 0, 'proven': 0,
             'whole': 0}
    for what, cmd in programs.items():
        got = _walks(tools, table, what, helper, samples, cmd)
        for key in total:
            total[key] += got[key]
    table.fact('stacks of all', '%d: %.3f %% as libdw\'s, %.3f %% as libdw\'s '
               'or libunwind\'s, %.3f %% more as the program then returned, '
               '%.3f %% whole' % tuple(
                   [total['samples']] + [100 * total[k] / total['samples']
                                         for k in ('same', 'either', 'proven',
                                                   'whole')]))
