# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports' time and memory, recorders' time, file sizes."""
import os
import random
import shutil

from bench_lib import TOP, Failed, interleaved, median, record


def _recorders(tools, tag, hz, chains, symbols=True):
    """Both recorders' commands and files, with or without call chains."""
    data = os.path.join(tools.work, tag + '.perf.data')
    file = os.path.join(tools.work, tag + '.tally')
    # -N: perf copies no binaries to a cache, so reports start from nothing.
    perf = [tools.perf, 'record', '-q', '-N', '-e', 'cpu-clock', '-F',
            str(hz), '-o', data]
    tally = [tools.tally, 'record', '-e', 'cpu-clock', '-F', str(hz), '-o',
             file]
    if chains:
        perf.append('-g')
        tally.append('--call-graph=fp')
    if not symbols:
        tally.append('--no-symbols')
    return data, file, {'perf': perf, 'tally': tally}


def _big(tools, seconds):
    return [os.path.join(tools.work, 'big'), str(seconds), '2']


def _samples(tools, data, file):
    """Both counts; they sampled the same run at the same rate."""
    n = sum(r['self']['samples']
            for r in tools.tally_json(file, 'event')['rows'])
    return n, tools.perf_samples(data)


def _symbolize_and(tools, raw, report):
    """A job: symbolize a recording that has no symbols yet, then report; the
    time of both."""
    copy = raw + '.copy'

    def job():
        shutil.copyfile(raw, copy)
        return (tools.timed([tools.tally, 'symbolize', copy]) +
                tools.timed(report + [copy]))
    return job


def report(tools, table, args):
    """Issue 2, how good, 1."""
    for chains, speed, both in ((False, 10, 3), (True, 300, 100)):
        tag = 'chains' if chains else 'flat'
        data, raw, recorders = _recorders(tools, tag, 2400, chains,
                                          symbols=False)
        record(tools, _big(tools, 3), recorders)
        file = os.path.join(tools.work, tag + '.symbols.tally')
        shutil.copyfile(raw, file)
        tools.output([tools.tally, 'symbolize', file])
        mine = [tools.tally, 'report']
        theirs = tools.perf_report + ['report', '--stdio', '-i', data]
        if chains:  # both hide branches below 0.5 %
            mine.append('-g')
            theirs.append('-g')
            what = 'report -g with inlined frames'
        else:
            mine += ['--percent-limit', '0', '-s', 'symbol,line']
            theirs += ['-s', 'sym,srcline']
            what = 'report -s symbol,line'
        got = interleaved(args.rounds, {
            'tally': lambda: tools.timed(mine + [file]),
            'both': _symbolize_and(tools, raw, mine),
            'perf': lambda: tools.timed(theirs),
        })
        table.fact('recorded at once, samples of tally and perf',
                   '%d %d' % _samples(tools, data, file))
        table.row(what, got['tally'], got['perf'], 's',
                  ('>=', speed))
        table.row('… and symbolizing at the end of record',
                  got['both'], got['perf'], 's', ('>=', both))


def recorder(tools, table, args):
    """Issue 2, how good, 2."""
    seconds = 2 if args.quick else 8
    cost = {'perf': [], 'tally': []}
    for i in range(args.rounds):
        names = ['perf', 'tally'] if i % 2 else ['tally', 'perf']
        for name in names:
            # symbolizing is counted with the reports
            _, _, recorders = _recorders(tools, 'cpu', 5000, True,
                                         symbols=False)
            got = record(tools, _big(tools, seconds),
                         {name: recorders[name]})
            cost[name].append(got[name])
    table.row('recorder CPU in all, 5 kHz -g, 2 threads, %d s' % seconds,
              median(c.whole for c in cost['tally']),
              median(c.whole for c in cost['perf']), 's', ('<=', 1))
    table.row('recorder CPU until the command ends',
              median(c.running for c in cost['tally']),
              median(c.running for c in cost['perf']), 's', ('<=', None))
    data, file, recorders = _recorders(tools, 'size', 5000, True)
    record(tools, _big(tools, seconds), recorders)
    n, m = _samples(tools, data, file)
    size, theirs = os.path.getsize(file), os.path.getsize(data)
    table.row('file of that run, symbols included', size / 1e6, theirs / 1e6,
              'MB', ('<=', 0.1))
    table.fact('bytes a sample (samples of tally and perf)',
               '%.1f and %.1f (%d and %d)' % (size / n, theirs / m, n, m))


PYTHON = """
import json
x = [{'a': i, 'b': str(i) * 10} for i in range(100000)]
for _ in range(8):
    json.loads(json.dumps(x))
"""


def programs(tools, table, args):
    """Issue 2's other programs: python3, git (many short processes), cc1."""
    repeat = 1 if args.quick else 20
    for name, cmd in (
            ('python3', ['python3', '-c', PYTHON]),
            ('git', ['sh', '-c', 'for i in $(seq %d); do git -C "$0" log -p '
                     '--stat >/dev/null; done' % repeat, TOP]),
            ('cc1', ['sh', '-c', 'for f in "$0"/src/*/*.c; do gcc -O2 -S '
                     '-D_GNU_SOURCE -I"$0"/src -I"$0"/include -I"$1" -o /dev/null '
                     '"$f"; done', TOP, os.path.dirname(os.path.dirname(tools.tally))])):
        data, file, recorders = _recorders(tools, name, 5000, True)
        recorders['perf'].append('-B')  # as in _record_many
        record(tools, cmd, recorders)
        n, m = _samples(tools, data, file)
        got = interleaved(args.rounds, {
            'tally': lambda f=file: tools.timed(
                [tools.tally, 'report', '-g', f]),
            'perf': lambda d=data: tools.timed(
                tools.perf_report + ['report', '--stdio', '-g', '-i', d],
                limit=120),
        })
        table.row('%s: report -g, %d samples' % (name, n), got['tally'],
                  got['perf'], 's', ('>=', 10))
        size, theirs = os.path.getsize(file), os.path.getsize(data)
        table.row('%s: file (perf: %d samples)' % (name, m), size / 1e6,
                  theirs / 1e6, 'MB', ('<=', 0.1))


def _record_many(tools, tag, hz, seconds):
    data, file, recorders = _recorders(tools, tag, hz, True)
    # -B: perf 6.1 may die while it looks for build-ids at such rates.
    recorders['perf'].append('-B')
    record(tools, _big(tools, seconds), recorders)
    n, m = _samples(tools, data, file)
    if not n or not m:
        raise Failed('no samples in ' + tag)
    return data, file, n, m


def _memory_by_samples(tools, table, args, hz, seconds):
    """The same few stacks, sampled ten times as often: memory must not tell."""
    program = [os.path.join(tools.work, 'known_cost'), str(seconds), '2']
    sizes, counts = [], []
    for tag, rate in (('same-few', hz // 10), ('same-many', hz)):
        _, file, recorders = _recorders(tools, tag, rate, True)
        record(tools, program, {'tally': recorders['tally']})
        counts.append(tools.tally_json(file, 'event')['rows'][0]['self']
                      ['samples'])
        sizes.append(median(tools.peak_mb([tools.tally, 'report', '-g', file])
                            for _ in range(args.rounds)))
    table.row('peak memory with %d samples; with %d of the same stacks' %
              (counts[1], counts[0]), sizes[1], sizes[0], 'MB', ('<=', 1.1))


def scale(tools, table, args):
    """Issue 2, how good, 3."""
    hz, seconds = (5000, 4) if args.quick else (25000, 26)
    data, file, n, m = _record_many(tools, 'many', hz, seconds)
    mine = [tools.tally, 'report', '-g']
    theirs = tools.perf_report + ['report', '--stdio', '--no-inline', '-i',
                                  data]
    got = interleaved(args.rounds, {
        'tally': lambda: tools.timed(mine + [file]),
        'perf': lambda: tools.timed(theirs),
        'tally MB': lambda: tools.peak_mb(mine + [file]),
        'perf MB': lambda: tools.peak_mb(theirs),
    })
    table.fact('samples of tally and perf', '%d %d' % (n, m),
               args.quick or n >= 1000000)
    table.row('report -g; perf without inlined frames', got['tally'],
              got['perf'], 's', ('>=', 10))
    table.row('peak memory', got['tally MB'], got['perf MB'], 'MB',
              ('<=', 0.25))
    _memory_by_samples(tools, table, args, hz, seconds)
