# SPDX-License-Identifier: GPL-2.0-or-later
"""Annotated functions: tally annotate and perf annotate --stdio."""
import csv
import os

from bench_lib import interleaved, record


def _hottest(tools, data):
    """The function of the program that has most samples, as tally names it."""
    out = tools.output([tools.tally, 'report', '--no-pager', '--format=csv',
                        '-s', 'symbol', '--no-inline', '--image', 'big',
                        '--top', '1', '-i', data])
    return next(csv.DictReader(out.splitlines()))['symbol']


def annotate(tools, table, args):
    """All functions with samples, source and instructions; one function.
    perf is ended after a while: what it took so far is what counts, for fewer
    functions."""
    big = os.path.join(tools.work, 'big')
    ours = os.path.join(tools.work, 'annotate.tally')
    theirs = os.path.join(tools.work, 'annotate.perf.data')
    record(tools, [big, '3', '2'], {
        'tally': [tools.tally, 'record', '-q', '-F', '999', '-e',
                  'cpu-clock:u', '-o', ours],
        'perf': [tools.perf, 'record', '-q', '-F', '999', '-e', 'cpu-clock:u',
                 '-o', theirs]})
    show = [tools.tally, 'annotate', '--no-pager', '-i', ours, '--both']
    every = ['--all', '--top', '0', '--percent-limit', '0']
    perf = tools.perf_report + ['annotate', '--stdio', '-i', theirs,
                                '--objdump=/usr/bin/objdump']
    limit = 60 if args.quick else 300
    mine = interleaved(args.rounds, {'all': lambda: tools.timed(show + every)})
    table.row('annotate all functions, source and code', mine['all'],
              tools.timed(perf, limit), 's', ('>=', 100))
    one = interleaved(args.rounds, {
        'one': lambda: tools.timed(show + [_hottest(tools, ours)])})['one']
    table.fact('annotate one function', '%.3f s (wanted: at most 0.1)' % one,
               one <= 0.1)
