# SPDX-License-Identifier: GPL-2.0-or-later
"""Recording a machine that has more to do than processors, beside perf: what is
lost, how long a recording of three seconds takes, memory and processor time of
the recorder."""
import json
import os
import re
import shutil
import statistics
import subprocess
import time

from bench_lib import TOP, Failed

SECONDS = 3
RATE = 999

# 64 threads that each compute, and often let another go on.
THREADS = r'''
#include <pthread.h>
#include <sched.h>
static void *work(void *arg)
{
	volatile unsigned long n = 0;

	for (;; n++)
		if (n % 100000 == 0)
			sched_yield();
	return arg;
}
int main(void)
{
	pthread_t t;

	for (int i = 0; i < 63; i++)
		pthread_create(&t, 0, work, 0);
	work(0);
}
'''


def _loops(n):
    return [['sh', '-c', 'while :; do :; done']] * n


def _threads(tools):
    path = os.path.join(tools.work, 'threads64')
    if not os.path.exists(path):
        with open(path + '.c', 'w', encoding='ascii') as f:
            f.write(THREADS)
        tools.output([os.environ.get('CC', 'cc'), '-O1', '-pthread', '-o',
                      path, path + '.c'])
    return [[path]]


def compile_load(tools):
    """make -j8 over this repository's own sources, again and again."""
    tree = os.path.join(tools.work, 'busy-make')
    if not os.path.exists(tree + '/Makefile'):
        os.makedirs(tree, exist_ok=True)
        subprocess.run([TOP + '/configure', 'CC=gcc'], cwd=tree, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [['sh', '-c', 'while :; do make -C "$1" clean; make -j8 -C "$1" '
             'src/tally; done', 'sh', tree]]


def _workloads(tools, quick):
    few = {
        'idle': [],
        '8 loops': _loops(8),
        '30 loops': _loops(30),
    }
    if quick:
        return few
    return {
        'idle': [],
        '2 loops': _loops(2),
        '8 loops': _loops(8),
        '30 loops': _loops(30),
        'make -j8': compile_load(tools),
        'processes': [['sh', '-c', 'while :; do /bin/true; done']],
        '64 threads': _threads(tools),
    }


class Load:
    """Commands that run until the end of the block, each in a group of its
    own, and all in a control group `cgroup`, if there is one."""

    def __init__(self, commands, cgroup=None):
        self.commands = commands
        self.cgroup = cgroup
        self.procs = []

    def _join(self):
        if self.cgroup:
            with open(self.cgroup + '/cgroup.procs', 'w',
                      encoding='ascii') as f:
                f.write('0')

    def __enter__(self):
        for c in self.commands:
            self.procs.append(subprocess.Popen(
                c, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, process_group=0,
                preexec_fn=self._join))
        time.sleep(0.5 if self.commands else 0)
        return self

    def __exit__(self, *unused):
        for p in self.procs:
            os.killpg(p.pid, 9)
            p.wait()


def _measured(tools, cmd):
    """Wall seconds, processor seconds and peak MB of a command, and its
    errors."""
    note = os.path.join(tools.work, 'busy-time')
    start = time.monotonic()
    done = subprocess.run(
        ['time', '-f', '%U %S %M', '-o', note] + cmd, env=tools.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, check=False)
    wall = time.monotonic() - start
    if done.returncode:
        raise Failed(' '.join(cmd) + ': ' +
                     done.stderr.decode(errors='replace')[-400:])
    with open(note, encoding='ascii') as f:
        user, system, peak = f.read().split()
    return {'over': wall - SECONDS, 'cpu': float(user) + float(system),
            'peak': int(peak) / 1024}


def _tally(tools):
    path = os.path.join(tools.work, 'busy.tally')
    m = _measured(tools, [tools.tally, 'record', '-q', '-a', '-g', '-F',
                          str(RATE), '--duration', str(SECONDS), '-o', path])
    head = json.loads(tools.output(
        [tools.tally, 'report', '--format=json', '--top', '1', path]))['header']
    n = head['samples']
    m['got'] = n['got']
    m['lost'] = n['lost'] / max(n['lost'] + n['got'], 1)
    m['sampled'] = head['duration_ns'] / 1e9
    m['size'] = os.path.getsize(path) / 1e6
    bad = head['stacks']
    m['whole'] = 1 - (bad['cut'] + bad['broken']) / max(n['got'], 1)
    return m


def _perf(tools):
    path = os.path.join(tools.work, 'busy.data')
    m = _measured(tools, [tools.perf, 'record', '-q', '-a', '-g',
                          '--call-graph', 'dwarf', '-e', 'cpu-clock', '-F',
                          str(RATE), '-o', path, 'sleep', str(SECONDS)])
    stats = tools.output([tools.perf, 'report', '--stats', '-i', path])
    found = re.search(r'SAMPLE events: +(\d+)', stats)
    m['got'] = int(found.group(1)) if found else 0
    # What it says of losses does not add up: of what there should be at least.
    wanted = RATE * SECONDS * len(os.sched_getaffinity(0))
    m['lost'] = max(0, 1 - m['got'] / wanted)
    m['size'] = os.path.getsize(path) / 1e6
    os.unlink(path)
    return m


def _spawned():
    with open('/proc/stat', encoding='ascii') as f:
        return int(re.search(r'^processes (\d+)', f.read(), re.M).group(1))


def _middle(rounds, key):
    return statistics.median(r[key] for r in rounds)


def busy(tools, table, args):
    """Losses, delay, memory and processor time under load."""
    print('%-11s %-6s %8s %7s %7s %6s %7s %8s' % (
        'load', 'by', 'samples', 'lost', 'over s', 'MB', 'cpu s', 'file MB'))
    for name, commands in _workloads(tools, args.quick).items():
        got = {'tally': [], 'perf': []}
        with Load(commands):
            before, start = _spawned(), time.monotonic()
            for _ in range(args.rounds):
                got['tally'].append(_tally(tools))
                got['perf'].append(_perf(tools))
            rate = (_spawned() - before) / (time.monotonic() - start)
        for tool, rounds in got.items():
            print('%-11s %-6s %8d %6.2f%% %7.2f %6.0f %7.2f %8.1f' % (
                name, tool, _middle(rounds, 'got'),
                100 * _middle(rounds, 'lost'), _middle(rounds, 'over'),
                _middle(rounds, 'peak'), _middle(rounds, 'cpu'),
                _middle(rounds, 'size')))
        ours, theirs = got['tally'], got['perf']
        print('%-11s sampled %.2f s, %.1f%% of stacks whole, %.0f processes '
              'a second' % ('', _middle(ours, 'sampled'),
                            100 * _middle(ours, 'whole'), rate))
        lost, over, peak = (_middle(ours, k) for k in ('lost', 'over', 'peak'))
        table.fact('%s: <= 0.1 %% lost' % name, '%.2f %%' % (100 * lost),
                   lost <= 0.001)
        table.fact('%s: over by <= 0.5 s' % name, '%.2f s' % over, over <= 0.5)
        table.fact('%s: <= 64 MB' % name, '%.0f MB' % peak, peak <= 64)
        table.row('%s: processor time' % name, _middle(ours, 'cpu'),
                  _middle(theirs, 'cpu'), 's', ('<=', None))
    shutil.rmtree(os.path.join(tools.work, 'busy-make'), ignore_errors=True)
