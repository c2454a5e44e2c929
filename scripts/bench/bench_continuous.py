# SPDX-License-Identifier: GPL-2.0-or-later
"""What always-on recording of a whole machine costs, beside perf: processor time
of all processes of each recorder, memory and open files, while 500 processes wake
now and then and a compiler builds the same program again and again.  All
recorders run at the same time, so that they see the same load."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from bench_busy import Load, compile_load
from bench_lib import Failed, median

RATE = 99
PROCESSES = 500
SECONDS = 120
QUICK = 20
LOOK_S = 2

# Processes that wake once a second and compute for 0.1 ms.
SLEEPERS = r'''
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void live(unsigned int seed)
{
	struct timespec a, b;
	volatile unsigned long n = 0;

	for (;;) {
		usleep(500000 + (useconds_t)rand_r(&seed) % 1000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		do {
			for (int i = 0; i < 1000; i++)
				n++;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		} while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec -
			 a.tv_nsec < 100000);
	}
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 1; i < n; i++)
		if (!fork())
			live((unsigned int)i);
	live(0);
}
'''

# Runs a command, waits for it and for all that it leaves behind, and writes the
# processor seconds of all of them.
REAPER = '''
import ctypes, os, resource, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)	# PR_SET_CHILD_SUBREAPER
p = subprocess.Popen(sys.argv[2:])
for s in (signal.SIGINT, signal.SIGTERM):
    signal.signal(s, lambda n, f: p.send_signal(n))
status = p.wait()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
u = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], 'w') as f:
    f.write('%f' % (u.ru_utime + u.ru_stime))
sys.exit(status not in (0, -signal.SIGINT))
'''


def _sleepers(tools):
    path = os.path.join(tools.work, 'sleepers')
    with open(path + '.c', 'w', encoding='ascii') as f:
        f.write(SLEEPERS)
    tools.output([os.environ.get('CC', 'cc'), '-O1', '-o', path, path + '.c'])
    return [[path, str(PROCESSES)]]


def _make_cgroup():
    """Makes a control group of version 2 for the load, since every service and
    session has one on machines with systemd.  Returns None without the right to
    do so."""
    with open('/proc/self/mounts', encoding='ascii', errors='replace') as f:
        mounts = [line.split() for line in f]
    for m in mounts:
        if m[2] == 'cgroup2':
            path = '%s/tally-bench-%d' % (m[1], os.getpid())
            try:
                os.mkdir(path)
                return path
            except OSError:
                pass
    return None


def _remove_cgroup(path):
    """Waits for processes that have just been killed."""
    for _ in range(50):
        try:
            os.rmdir(path)
            return
        except OSError:
            time.sleep(0.1)


class Recorder:
    """A recorder under REAPER, in a session of its own."""

    def __init__(self, tools, name, cmd):
        self.name = name
        self.note = os.path.join(tools.work, 'continuous-cpu')
        self.note += '-' + re.sub('[ ,]+', '-', name)
        self.log = self.note + '.log'
        with open(self.log, 'wb') as log:
            self.p = subprocess.Popen(
                [sys.executable, '-c', REAPER, self.note] + cmd,
                env=tools.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log,
                start_new_session=True)
        self.looks = []

    def _members(self):
        """Process IDs of the session but for REAPER, and their stat."""
        for path in glob.glob('/proc/[0-9]*/stat'):
            try:
                with open(path, encoding='ascii', errors='replace') as f:
                    rest = f.read().rsplit(')', 1)[1].split()
            except OSError:
                continue
            if int(rest[3]) == self.p.pid:
                pid = int(path.split('/')[2])
                if pid != self.p.pid:
                    yield pid, rest

    def look(self):
        """Notes memory, descriptors and processor time now.  The time of a
        helper shows once its parent has waited for it."""
        memory, fds, cpu = 0, 0, 0
        for pid, stat in self._members():
            cpu += sum(int(t) for t in stat[11:15])
            try:
                with open('/proc/%d/smaps_rollup' % pid,
                          encoding='ascii') as f:
                    memory += int(re.search(r'^Pss: +(\d+)', f.read(),
                                            re.M).group(1))
                fds += len(os.listdir('/proc/%d/fd' % pid))
            except (OSError, AttributeError):
                continue	# it has ended
        self.looks.append((memory / 1024, fds,
                           cpu / os.sysconf('SC_CLK_TCK'),
                           time.monotonic()))

    def end(self):
        self.p.send_signal(signal.SIGINT)
        if self.p.wait():
            with open(self.log, encoding='utf-8', errors='replace') as f:
                raise Failed('%s: %s' % (self.name, f.read()[-400:]))
        with open(self.note, encoding='ascii') as f:
            self.cpu = float(f.read())

    def steady(self):
        """Share of a processor in the second half, before the end."""
        a, b = self.looks[len(self.looks) // 2], self.looks[-1]
        return (b[2] - a[2]) / (b[3] - a[3]) if b[3] > a[3] else 0

    def memory(self):
        """Medians of the second and the last quarter, and the peak, MB."""
        v = [k[0] for k in self.looks]
        q = max(len(v) // 4, 1)
        return median(v[q:2 * q] or v), median(v[-q:]), max(v)

    def fds(self):
        v = [k[1] for k in self.looks]
        q = max(len(v) // 4, 1)
        return median(v[q:2 * q] or v), median(v[-q:])


def _commands(tools, work):
    rate = ['-F', str(RATE)]
    tally = [tools.tally, 'record', '-q', '--continuous', '-a'] + rate
    # -B: perf 6.1 ends with a crash where a program has a long build ID.
    perf = [tools.perf, 'record', '-q', '-a', '-B', '-e', 'cpu-clock'] + rate
    # What symbols cost shows in short files.  Nobody listens there: requests go to
    # the spool.
    short = tally + ['--call-graph=none', '--switch-output=2s', '--push',
                     'pyroscope+http://127.0.0.1:1', '-o']
    return {
        'tally short': short + [work + '/short'],
        'tally short, nothing kept': short + [work + '/anew',
                                              '--keep-symbols=0'],
        'tally short, server': short + [work + '/server',
                                        '--symbols=server'],
        'tally flat': tally + ['--call-graph=none', '-o', work + '/flat'],
        'tally fp': tally + ['--call-graph=fp', '-o', work + '/pointers'],
        'tally dwarf': tally + ['-o', work + '/stacks'],
        'tally dwarf, no symbols': tally + ['--no-symbols', '-o',
                                            work + '/bare'],
        'perf flat': perf + ['-o', work + '/perf.data'],
        'perf fp': perf + ['-g', '-o', work + '/perf-fp.data'],
        'perf dwarf': perf + ['--call-graph', 'dwarf', '-o',
                              work + '/perf-dwarf.data'],
    }


def _samples(tools, work, name, seconds):
    """Samples that a recorder got and lost, from its own files."""
    cmd = _commands(tools, work)[name]
    path = cmd[cmd.index('-o') + 1]
    if os.path.isdir(path):
        with open(path + '/status.json', encoding='ascii') as f:
            status = json.load(f)
        got, lost = status['samples'], status['lost']
    else:
        out = tools.output([tools.perf, 'report', '--stats', '-i', path])
        found = re.search(r'SAMPLE events: +(\d+)', out)
        got = int(found.group(1)) if found else 0
        found = re.search(r'LOST_SAMPLES events: +(\d+)', out)
        lost = int(found.group(1)) if found else 0
    wanted = RATE * seconds * len(os.sched_getaffinity(0))
    return got, lost, wanted


def continuous(tools, table, args):
    """Processor time, memory and descriptors of recorders that always run."""
    seconds = args.seconds or (QUICK if args.quick else SECONDS)
    work = os.path.join(tools.work, 'continuous')
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    commands = _commands(tools, work)
    names = [n for n in commands if 'short' not in n]
    if args.recorders:
        names = args.recorders.split('/')
    commands = {n: c for n, c in commands.items() if n in names}
    recorders = []
    cgroup = _make_cgroup()
    with Load(_sleepers(tools) + compile_load(tools), cgroup):
        time.sleep(2)
        try:
            for name, cmd in commands.items():
                recorders.append(Recorder(tools, name, cmd))
            began, spawned = time.monotonic(), _spawned()
            while time.monotonic() - began < seconds:
                time.sleep(LOOK_S)
                for r in recorders:
                    r.look()
            ran = time.monotonic() - began
            spawned = (_spawned() - spawned) / ran
        finally:
            for r in recorders:
                r.end()
    if cgroup:
        _remove_cgroup(cgroup)
    print('%d processes, %.0f more a second, load %.0f; %d s at %d Hz%s' % (
        PROCESSES, spawned, os.getloadavg()[0], ran, RATE,
        '; in a control group' if cgroup else ''))
    print('%-24s %8s %8s %6s %6s %6s %5s %5s %8s %6s %6s' % (
        '', '% of a', 'second', 'MB,', 'MB,', 'MB,', 'files', 'files',
        'samples', 'lost', 'idle'))
    print('%-24s %8s %8s %6s %6s %6s %5s %5s %8s %6s %6s' % (
        '', 'core', 'half', 'early', 'late', 'peak', 'early', 'late',
        '', '', ''))
    for r in recorders:
        got, lost, wanted = _samples(tools, work, r.name, ran)
        print('%-24s %8.2f %8.2f %6.0f %6.0f %6.0f %5.0f %5.0f %8d %6d %5.1f%%'
              % ((r.name, 100 * r.cpu / ran,
                  100 * r.steady())
                 + r.memory() + r.fds()
                 + (got, lost, 100 * (1 - (got + lost) / wanted))))
    by_name = {r.name: r for r in recorders}
    for ours, theirs in (('tally flat', 'perf flat'), ('tally fp', 'perf fp'),
                         ('tally dwarf', 'perf dwarf')):
        if ours in by_name and theirs in by_name:
            table.row('%s beside %s: of a core' % (ours, theirs),
                      100 * by_name[ours].cpu / ran,
                      100 * by_name[theirs].cpu / ran, '%', ('<=', None))
    for name, r in by_name.items():
        if not name.startswith('tally'):
            continue
        share, peak = 100 * r.cpu / ran, r.memory()[2]
        table.fact('%s: <= 0.3 %% of a core' % name, '%.2f %%' % share,
                   share <= 0.3)
        table.fact('%s: <= 40 MB' % name, '%.0f MB' % peak, peak <= 40)
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(os.path.join(tools.work, 'busy-make'), ignore_errors=True)


def _spawned():
    with open('/proc/stat', encoding='ascii') as f:
        return int(re.search(r'^processes (\d+)', f.read(), re.M).group(1))
