# SPDX-License-Identifier: GPL-2.0-or-later
"""What counting costs around a program that does nothing."""
import os
import subprocess
import time

from bench_lib import Failed, median

TIMES = 200


def _once(tools, cmd):
    """Wall and processor seconds of one command, with all it starts."""
    start = time.monotonic()
    p = subprocess.Popen(cmd, env=tools.env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    wall = time.monotonic() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        raise Failed('%s: status %d' % (' '.join(cmd), p.returncode))
    return wall, usage.ru_utime + usage.ru_stime


def _counts(tools, cmd, event):
    """The mean that a run of 20 gives, by either tool."""
    done = subprocess.run(cmd, env=tools.env, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True)
    for line in done.stderr.decode().splitlines():
        words = line.replace(',', ' ').split()
        if event in words:
            return float(words[0])
    raise Failed('%s does not tell %s' % (' '.join(cmd), event))


def stat(tools, table, args):
    """tally stat and perf stat around /bin/true, one after the other."""
    jobs = {
        'tally': [tools.tally, 'stat', '--', '/bin/true'],
        'perf': [tools.perf, 'stat', '--', '/bin/true'],
        'alone': ['/bin/true'],
    }
    got = {name: [] for name in jobs}
    for _ in range(20 if args.quick else TIMES):
        for name, cmd in jobs.items():
            got[name].append(_once(tools, cmd))
    wall = {n: 1000 * median([v[0] for v in got[n]]) for n in jobs}
    cpu = {n: 1000 * sum(v[1] for v in got[n]) / len(got[n]) for n in jobs}
    table.row('stat of /bin/true: time', wall['tally'], wall['perf'], 'ms',
              ('<=', 1))
    table.row('… processor time', cpu['tally'], cpu['perf'], 'ms', ('<=', 1))
    table.fact('… /bin/true alone', '%.3f ms, %.3f ms' %
               (wall['alone'], cpu['alone']))
    of = [_counts(tools, [tool, 'stat', '-r', '20', '-e', 'page-faults', '--',
                          '/bin/true'], 'page-faults')
          for tool in (tools.tally, tools.perf)]
    table.fact('… page faults counted by tally and perf',
               '%.2f %.2f' % tuple(of))
