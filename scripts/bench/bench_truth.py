# SPDX-License-Identifier: GPL-2.0-or-later
"""Are the shares right?  Against known costs, and against perf."""
import collections
import math
import os
import subprocess

from bench_lib import Failed, record

SHARES = {'cost_50': 0.50, 'cost_25': 0.25, 'cost_15': 0.15, 'cost_08': 0.08,
          'cost_02': 0.02}


def _log_pmf(k, n, p):
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) +
            k * math.log(p) + (n - k) * math.log1p(-p))


def binomial_interval(n, p, level=0.99):
    """The counts left when (1 - level) / 2 is cut off at each end of
    Binomial(n, p)."""
    tail = (1 - level) / 2
    total, low = 0.0, 0
    while total + math.exp(_log_pmf(low, n, p)) < tail:
        total += math.exp(_log_pmf(low, n, p))
        low += 1
    total, high = 0.0, n
    while total + math.exp(_log_pmf(high, n, p)) < tail:
        total += math.exp(_log_pmf(high, n, p))
        high -= 1
    return low, high


def _counts(tools, file, key, *options):
    """Samples by the values of one key."""
    got = collections.Counter()
    for row in tools.tally_json(file, key, *options)['rows']:
        got[row[key]] += row['self']['samples']
    return got


def _perf_counts(tools, data, key, *options):
    """The same of perf; symbols demangled by binutils, as perf leaves out
    more or less by version."""
    got = collections.Counter()
    out = tools.output([tools.perf, 'report', '--stdio', '-i', data, '-s', key,
                        '--no-children', '-g', 'none', '--no-demangle', '-F',
                        'sample,' + key, '-t', '\t', '--percent-limit', '0',
                        *options])
    out = subprocess.run(['c++filt'], input=out, stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split('\t')
        if len(words) == 2 and words[0].strip().isdigit():
            name = words[1].strip()
            if key == 'sym':
                name = name.split(' ', 1)[-1].strip()
            got[name] += int(words[0])
    return got


def _known_costs(tools, table, args):
    runs = 10 if args.quick else 100
    file = os.path.join(tools.work, 'truth.tally')
    good, misses, total = 0, collections.Counter(), 0
    for _ in range(runs):
        tools.output([tools.tally, 'record', '-F', '999', '-o', file, '--',
                      os.path.join(tools.work, 'known_cost'), '1'])
        counts = _counts(tools, file, 'symbol')
        n = sum(counts[f] for f in SHARES)
        if n < 100:
            raise Failed('known_cost got only %d samples' % n)
        total += n
        wrong = []
        for f, share in SHARES.items():
            low, high = binomial_interval(n, share)
            if not low <= counts[f] <= high:
                wrong.append(f)
        misses.update(wrong)
        good += not wrong
    table.fact('recordings with all five shares in the 99 % interval',
               '%d of %d (%d samples each; misses: %s)' % (
                   good, runs, total // runs, dict(misses) or 'none'),
               good >= runs * 0.99)


def _worst(mine, theirs):
    """The largest distance between two sets of counts, in standard errors,
    over names with at least 50 samples in both together."""
    n, m = sum(mine.values()), sum(theirs.values())
    worst, which, compared = 0.0, '', 0
    for name in set(mine) | set(theirs):
        a, b = mine[name], theirs[name]
        if a + b < 50:
            continue
        compared += 1
        p = (a + b) / (n + m)
        z = abs(a / n - b / m) / math.sqrt(p * (1 - p) * (1 / n + 1 / m)) \
            if p < 1 else 0.0
        if z > worst:
            worst, which = z, '%s: %d of %d, perf %d of %d' % (
                name[:40], a, n, b, m)
    return worst, which, compared


def _same_as_perf(tools, table, args):
    """Both record the same run of the big program; the shares by image and by
    symbol differ by sampling error only.  4.5 standard errors is one chance in
    1,000 that one of 150 names is out."""
    data = os.path.join(tools.work, 'same.perf.data')
    file = os.path.join(tools.work, 'same.tally')
    record(tools, [os.path.join(tools.work, 'big'),
                   '2' if args.quick else '6', '2'], {
        'perf': [tools.perf, 'record', '-q', '-N', '-e', 'cpu-clock', '-F',
                 '1999', '-o', data],
        'tally': [tools.tally, 'record', '-e', 'cpu-clock', '-F', '2003',
                  '-o', file],
    })
    big = ['--no-inline', '--image', 'big']
    for what, a, b in (
            ('image', _by_file_name(_counts(tools, file, 'image')),
             _by_file_name(_perf_counts(tools, data, 'dso'))),
            ('symbol', _without_clones(_counts(tools, file, 'symbol', *big)),
             _without_clones(_perf_counts(tools, data, 'sym', '--dso',
                                          'big')))):
        worst, which, compared = _worst(a, b)
        table.fact('agreement with perf by %s (%d names)' % (what, compared),
                   'worst %.1f standard errors%s' % (
                       worst, '' if worst <= 4.5 else ' (%s)' % which),
                   worst <= 4.5 and compared > 0)


def _by_file_name(counts):
    """tally says paths; perf calls the kernel [kernel.kallsyms]."""
    out = collections.Counter()
    for name, n in counts.items():
        name = os.path.basename(name)
        kernel = name.startswith('[') and 'vdso' not in name
        out['[kernel]' if kernel else name] += n
    return out


def _without_clones(counts):
    """DWARF names the function that a clone is of, and spells lambdas in its
    own way."""
    out = collections.Counter()
    for name, n in counts.items():
        out['lambda' if 'lambda' in name else name.split(' [clone')[0]] += n
    return out


def truth(tools, table, args):
    """Issue 2, how good, 4."""
    _known_costs(tools, table, args)
    _same_as_perf(tools, table, args)
