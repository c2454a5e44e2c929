# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of others in, formats of others out: tally export beside perf
script, tally's report of a perf.data beside perf's own."""
import ctypes
import os
import subprocess

from bench_lib import Failed, interleaved, reap

SAMPLES = 1000000
STACKS = 10000
# Text of each sample's whole stack: gigabytes, which a disk takes seconds for.
LARGE = ('perf-script', 'chrome')

WORK = r'''
import json
import re
rows = [{"a": i, "b": str(i) * 3} for i in range(200000)]
for k in range(%d):
    text = json.dumps(rows)
    json.loads(text)
    re.findall(r"\d+3", text)
    sorted(rows, key=lambda row: row["b"])
'''


def _made(tools, samples):
    made = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                        'tests/workload/made_recording')
    if not os.access(made, os.X_OK):
        raise Failed(made + ' is not built: make check TESTS=')
    path = os.path.join(tools.work, 'export-%d.tally' % samples)
    if not os.path.exists(path):
        tools.output([made, 'many', path + '.new', str(samples), str(STACKS)])
        os.rename(path + '.new', path)
    return path


def _cpu(tools, cmd):
    """Processor seconds, user and system, of a command and of the processes that
    it leaves behind: perf does not wait for its addr2line."""
    subreaper = 36      # PR_SET_CHILD_SUBREAPER
    ctypes.CDLL(None).prctl(subreaper, 1, 0, 0, 0)
    with subprocess.Popen(cmd, env=tools.env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        errors = p.stderr.read()
        used = reap(p)
    seconds = used.ru_utime + used.ru_stime
    while True:
        try:
            _, _, left = os.wait3(0)
        except ChildProcessError:
            break
        seconds += left.ru_utime + left.ru_stime
    if p.returncode:
        raise Failed('%s: status %d: %s' % (
            ' '.join(cmd), p.returncode, errors.decode(errors='replace')[-400:]))
    return seconds


def _data(tools, name, options, times):
    """A perf.data of Python, whose stacks are deep and repeat."""
    path = os.path.join(tools.work, name)
    program = WORK % times
    subprocess.run([tools.perf, 'record', '-q', '-o', path] + options +
                   ['--', 'python3', '-c', program], env=tools.env,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)
    if not os.path.exists(path):
        raise Failed('perf made no ' + path)
    return path


def export(tools, table, args):
    """A million samples of 10,000 stacks in each format, in processor
    seconds; the same text from perf.data by both tools."""
    path = _made(tools, SAMPLES // 10 if args.quick else SAMPLES)
    formats = [line.split()[0] for line in tools.output(
        [tools.tally, 'export', '--list-formats']).splitlines()]
    for f in formats:
        out = '/dev/null'
        if f == 'sqlite':
            out = os.path.join(tools.work, 'export.db')
        cmd = [tools.tally, 'export', '--format=' + f, '--max-output=16G',
               '-o', out, path]
        cpu = interleaved(args.rounds, {f: lambda c=cmd: _cpu(tools, c)})[f]
        table.fact('export %s' % f, '%.2f s of processor, %.0f MB (wanted: '
                   'at most 1 s)' % (cpu, tools.peak_mb(cmd)),
                   cpu <= 1 or f in LARGE)
    data = _data(tools, 'export.perf.data', ['-g', '-F', '5000'],
                 1 if args.quick else 4)
    table.fact('perf.data', '%d samples' % tools.perf_samples(data))
    jobs = {
        # perf script has no inlined functions of call chains
        'tally': lambda: _cpu(tools, [tools.tally, 'export', '-o', '-', '--no-inline',
                                      '--format=perf-script', data]),
        'perf': lambda: _cpu(tools, tools.perf_report + [
            'script', '-i', data]),
        'json': lambda: _cpu(tools, tools.perf_report + [
            'data', 'convert', '--force', '-i', data, '--to-json',
            os.path.join(tools.work, 'convert.json')]),
    }
    got = interleaved(args.rounds, jobs)
    table.row('perf.data as text: perf script', got['tally'], got['perf'],
              's', ('>=', 2))
    table.row('… perf data convert --to-json', got['tally'], got['json'],
              's', ('<=', None))


def importing(tools, table, args):
    """Import with names, and the report, of a perf.data: without stacks, by frame
    pointers and by copies of stacks, of a short run and of a longer one."""
    for name, options, times in (
            ('no stacks, short', ['-F', '5000'], 1),
            ('frame pointers, short', ['-g', '-F', '5000'], 1),
            ('copies of stacks, short', ['--call-graph', 'dwarf,8192', '-F', '3000'],
             1),
            ('frame pointers', ['-g', '-F', '5000'], 4),
            ('copies of stacks', ['--call-graph', 'dwarf,8192', '-F', '3000'], 4)):
        if args.quick and times > 1:
            continue
        data = _data(tools, 'import.perf.data', options, times)
        mine = os.path.join(tools.work, 'import.tally')
        table.fact('perf.data, ' + name, '%d samples, %.0f MB' % (
            tools.perf_samples(data), os.path.getsize(data) / 1e6))
        jobs = {
            'tally': lambda: _cpu(tools, [tools.tally, 'report',
                                          '--format=text', data]),
            'plain': lambda: _cpu(tools, [tools.tally, 'import', '-q', '-o',
                                          mine, '--no-symbols', data]),
            'names': lambda: _cpu(tools, [tools.tally, 'report', '--format=text',
                                          '--no-inline', data]),
            'perf': lambda: _cpu(tools, tools.perf_report + [
                'report', '--stdio', '-i', data]),
            'perf names': lambda: _cpu(tools, tools.perf_report + [
                'report', '--stdio', '--no-inline', '-i', data]),
            'lines': lambda: _cpu(tools, [tools.tally, 'report', '--format=text',
                                          '-s', 'symbol,line', data]),
            'perf lines': lambda: _cpu(tools, tools.perf_report + [
                'report', '--stdio', '--inline', '-s', 'sym,srcline', '-i', data]),
        }
        got = interleaved(args.rounds, jobs)
        # without stacks, perf's plain report has no inlined functions; tally's does
        table.row('report of it, seconds of processor', got['tally'], got['perf'],
                  's', ('>=', 2))
        table.row('… of symbols only (--no-inline)', got['names'],
                  got['perf names'], 's', ('>=', 2))
        table.row('… by function and line, with inlines', got['lines'],
                  got['perf lines'], 's', ('>=', 10))
        got.update(interleaved(args.rounds, {
            'tally': lambda: tools.timed([tools.tally, 'report', '--format=text', data]),
            'perf': lambda: tools.timed(tools.perf_report + [
                'report', '--stdio', '-i', data])}))
        table.row('… seconds', got['tally'], got['perf'], 's', ('>=', None))
        table.fact('… import without names', '%.3f s of processor' %
                   got['plain'])
