# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benches share: the two tools, timing, gated runs, the table."""
import os
import shutil
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Failed(Exception):
    """A command did not do what the bench needs."""


class Tools:
    """tally, the perf that records here, and the perf that reports."""

    def __init__(self, tally, work):
        self.work = work
        self.tally = os.path.abspath(tally)
        self.env = self._environment()
        self.perf = shutil.which('perf')
        if not self.perf:
            raise Failed('no perf is installed: apt-get install linux-perf')
        self.perf_report = [self.perf]
        self.addr2line = None
        if shutil.which('addr2line'):
            self.addr2line = ['addr2line']
        root = os.environ.get('PERF_ROOT')
        if root:
            self.perf_report = self._perf_of(root)
        if not shutil.which('time'):
            raise Failed('no time(1) is installed: apt-get install time')
        for cmd in ([self.tally, '--version'], [self.perf, 'version'],
                    self.perf_report + ['version']):
            if not self.output(cmd):
                raise Failed(' '.join(cmd) + ' says nothing')

    def _environment(self):
        """Nothing cached, fetched or paged: each tool sees an empty home."""
        home = os.path.join(self.work, 'home')
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home)
        env = dict(os.environ, HOME=home, XDG_CACHE_HOME=home, LC_ALL='C',
                   TERM='dumb', PAGER='cat')
        env.pop('DEBUGINFOD_URLS', None)
        return env

    def _perf_of(self, root):
        """perf of another Debian, run with that Debian's libraries but on
        this machine's files, so that it sees the same binaries as tally.
        What perf looks for beside itself (addr2line) gets the same."""
        lib = os.path.join(root, 'usr/lib/x86_64-linux-gnu')
        loader = [os.path.join(root, 'lib64/ld-linux-x86-64.so.2'),
                  '--library-path', lib]
        if os.access(root + '/usr/bin/addr2line', os.X_OK):
            self.addr2line = loader + [root + '/usr/bin/addr2line']
        beside = os.path.join(self.work, 'newest-perf')
        shutil.rmtree(beside, ignore_errors=True)
        os.makedirs(beside)
        os.symlink(os.path.join(root, 'usr/bin/perf'),
                   os.path.join(beside, 'perf'))
        wrapper = os.path.join(beside, 'addr2line')
        with open(wrapper, 'w', encoding='ascii') as f:
            f.write('#!/bin/sh\nexec %s %s/usr/bin/addr2line "$@"\n' %
                    (' '.join(loader), root))
        os.chmod(wrapper, 0o755)
        return loader + [os.path.join(beside, 'perf')]

    def output(self, cmd):
        """A command's standard output; it must succeed."""
        done = subprocess.run(cmd, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode:
            raise Failed('%s: status %d: %s' % (
                ' '.join(cmd), done.returncode,
                done.stderr.decode(errors='replace')[-400:]))
        return done.stdout.decode(errors='replace').strip()

    def dump_samples(self, file):
        """The command that shows the samples of a recording as text, whatever its
        length; with -g after it, their stacks, too."""
        return [self.tally, 'dump', '--no-pager', '--only', 'samples',
                '--max-output', '4G', file]

    def timed(self, cmd, limit=600):
        """Seconds that a command takes, output thrown away.  After `limit`
        seconds it is ended, and its time so far counts."""
        start = time.monotonic()
        p = subprocess.Popen(cmd, env=self.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        try:
            errors = p.communicate(timeout=limit)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            print('  (ended after %d s: %s)' % (limit, ' '.join(cmd)))
            return time.monotonic() - start
        wall = time.monotonic() - start
        if p.returncode:
            raise Failed('%s: status %d: %s' % (
                ' '.join(cmd), p.returncode,
                errors.decode(errors='replace')[-400:]))
        return wall

    def peak_mb(self, cmd):
        """Peak memory of a command.  By time(1): what wait4 gives for our own
        children counts this process's memory before exec, too."""
        note = os.path.join(self.work, 'peak')
        self.output(['time', '-f', '%M', '-o', note, 'sh', '-c',
                     'exec "$@" >/dev/null', 'sh'] + cmd)
        with open(note, encoding='ascii') as f:
            return int(f.read()) / 1024

    def versions(self):
        """One line for the head of the figures."""
        return '%s; recorded by %s; reported by %s' % (
            self.output([self.tally, '--version']).splitlines()[0],
            self.output([self.perf, 'version']),
            self.output(self.perf_report + ['version']))

    def perf_samples(self, path):
        """How many samples a perf.data holds."""
        out = self.output([self.perf, 'script', '-i', path, '-F', 'comm'])
        return out.count('\n') + 1 if out else 0

    def tally_json(self, path, keys, *options):
        """The rows of tally report as Python objects."""
        import json
        return json.loads(self.output(
            [self.tally, 'report', '--format=json', '-s', keys,
             '--percent-limit', '0', *options, path]))


class GatedRun:
    """A command that waits for start() before it runs, and whose parent shell
    stays until finish(), so that recorders attached to the shell see all of
    the command and can be looked at after its end."""

    def __init__(self, cmd):
        self.p = subprocess.Popen(
            ['sh', '-c', 'read a; "$@" >/dev/null; echo $?; read a',
             'sh'] + cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.p.pid

    def start(self):
        self.p.stdin.write(b'\n')
        self.p.stdin.flush()

    def wait_done(self):
        status = self.p.stdout.readline().strip()
        # 126 and above: it could not be run, or a signal ended it
        if not status or int(status) >= 126:
            raise Failed('the workload did not run: status %s' %
                         status.decode())

    def finish(self):
        self.p.stdin.write(b'\n')
        self.p.stdin.close()
        self.p.wait()


def cpu_of(pid):
    """Processor seconds of a process so far, all its threads, from the
    scheduler's own clock (schedstat counts nanoseconds; utime of stat only
    ticks of 4 or 10 ms)."""
    total = 0
    for tid in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/schedstat' % (pid, tid),
                  encoding='ascii') as f:
            total += int(f.read().split()[0])
    return total / 1e9


class Cost:
    """Processor seconds of a recorder: while the command ran, and in all."""

    def __init__(self, running, whole):
        self.running = running
        self.whole = whole


def record(tools, cmd, recorders):
    """Runs cmd once with all recorders attached to it; {name: Cost}.
    `recorders` is {name: command}, to which -p PID is added."""
    run = GatedRun(cmd)
    procs = {}
    try:
        for name, r in recorders.items():
            procs[name] = subprocess.Popen(
                r + ['-p', str(run.pid)], env=tools.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE)
        time.sleep(1.5)
        for name, p in procs.items():
            if p.poll() is not None:
                raise Failed('%s ended before the command: %s' % (
                    name, p.stderr.read().decode(errors='replace')[-400:]))
        before = {n: cpu_of(p.pid) for n, p in procs.items()}
        run.start()
        run.wait_done()
        cpu = {n: cpu_of(p.pid) - before[n] for n, p in procs.items()}
    finally:
        run.finish()
    costs = {}
    for name, p in procs.items():
        errors = p.stderr.read()
        rusage = reap(p)
        if p.returncode:
            raise Failed('%s: status %d: %s' % (
                name, p.returncode, errors.decode(errors='replace')[-400:]))
        costs[name] = Cost(cpu[name], rusage.ru_utime + rusage.ru_stime)
    return costs


def reap(p):
    """Waits for a process, as Popen.wait(), and gives its rusage."""
    _, status, rusage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return rusage


def median(values):
    return statistics.median(values)


def interleaved(rounds, jobs):
    """{name: median of what the job gives}: one of each job a round."""
    got = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            got[name].append(job())
    return {name: median(values) for name, values in got.items()}


class Table:
    """Figures of both tools, their ratio, and what the ratio should be."""

    def __init__(self):
        self.missed = 0
        print('%-46s %11s %11s %8s  %s' %
              ('', 'tally', 'perf', 'ratio', 'wanted'))

    def row(self, what, tally, perf, unit, wanted):
        """wanted: ('>=', 10): perf / tally; ('<=', 0.25): tally / perf;
        with None: the same, not judged."""
        relation, limit = wanted
        if relation == '<=':
            ratio = tally / perf if perf else float('inf')
            good = limit is None or ratio <= limit
        else:
            ratio = perf / tally if tally else float('inf')
            good = limit is None or ratio >= limit
        self.missed += not good
        better = ''
        if limit is not None:
            better = '%s %g  %s' % (relation, limit,
                                    'ok' if good else 'MISSED')
        print('%-46s %8.3f %-2s %8.3f %-2s %8.3g  %s' %
              (what, tally, unit, perf, unit, ratio, better))
        sys.stdout.flush()

    def fact(self, what, text, good=True):
        self.missed += not good
        print('%-46s %s%s' % (what, text, '' if good else '  MISSED'))
        sys.stdout.flush()
