# SPDX-License-Identifier: GPL-2.0-or-later
"""What clang makes of an exported sample profile, beside an instrumented one."""
import os
import resource
import shutil
import subprocess

import bench_changes
from bench_lib import Failed

FLAGS = ['-O2', '-g', '-fdebug-info-for-profiling', '-w']
# clang 14 and later: counts that fit the flow of control
INFERENCE = ['-mllvm', '-sample-profile-use-profi']
RATE = '4999'
RUNS = '60'     # that a profile is made of: some 20 s, 100,000 samples


def _compiler():
    clang = os.environ.get('CLANG') or shutil.which('clang')
    if not clang:
        raise Failed('no clang is installed: apt-get install clang llvm')
    beside = os.path.join(os.path.dirname(os.path.realpath(clang)),
                          'llvm-profdata')
    profdata = beside if os.path.exists(beside) else shutil.which('llvm-profdata')
    if not profdata:
        raise Failed('no llvm-profdata is installed: apt-get install llvm')
    return clang, profdata


def _run(cmd, **more):
    done = subprocess.run(cmd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, **more)
    if done.returncode:
        raise Failed('%s: status %d: %s' % (
            ' '.join(cmd), done.returncode,
            done.stderr.decode(errors='replace')[-400:]))


class _Builds:
    """One program, built in several ways."""
    def __init__(self, programs, project, clang):
        self.source = programs.source[project]
        self.folder = os.path.join(programs.work, 'pgo', project)
        self.clang = clang
        if project == 'zstd':
            with open(self.source + '/main.c', 'w', encoding='ascii') as f:
                f.write(bench_changes.ZSTD_MAIN)
        patterns = {
            'lua': ['*.c'], 'sqlite': ['sqlite3.c', 'shell.c'],
            'zstd': ['main.c', 'lib/common/*.c', 'lib/compress/*.c',
                     'lib/decompress/*.c']}[project]
        self.files = [f for f in bench_changes._files(self.source, *patterns)
                      if f != 'luac.c']
        self.options = {
            'lua': ['-DLUA_USE_POSIX'], 'sqlite': ['-DSQLITE_THREADSAFE=0'],
            'zstd': ['-Ilib', '-DZSTD_DISABLE_ASM']}[project]

    def build(self, name, extra=(), link=()):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        objects = []
        for f in self.files:
            objects.append(os.path.join(folder, f.replace('/', '_') + '.o'))
            _run([self.clang, '-c', f, '-o', objects[-1]] + FLAGS +
                 self.options + list(extra), cwd=self.source)
        exe = os.path.join(folder, 'prog')
        _run([self.clang, '-o', exe] + objects + list(link) +
             ['-lm', '-lpthread', '-ldl'])
        return exe


def _user_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    _run(['sh', '-c', command])
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def _make(tools, programs, project, clang, profdata):
    """{how it was built: program}"""
    b = _Builds(programs, project, clang)
    made = {'plain': b.build('plain')}
    counted = b.build('counting', ['-fprofile-generate'],
                      ['-fprofile-generate'])
    raw = os.path.join(b.folder, 'counts.profraw')
    merged = os.path.join(b.folder, 'counts.profdata')
    _run(['sh', '-c', programs.command(project, counted)],
         env=dict(os.environ, LLVM_PROFILE_FILE=raw))
    _run([profdata, 'merge', '-o', merged, raw])
    made['instrumented'] = b.build('instrumented', ['-fprofile-use=' + merged])
    recording = os.path.join(b.folder, 'samples.tally')
    profile = os.path.join(b.folder, 'samples.prof')
    _run([tools.tally, 'record', '-q', '-F', RATE, '--repeat', RUNS, '-o',
          recording, '--', 'sh', '-c', programs.command(project, made['plain'])],
         env=tools.env)
    _run([tools.tally, 'export', '--format=llvm', '-o', profile, recording],
         env=tools.env)
    use = ['-fprofile-sample-use=' + profile]
    made['sampled'] = b.build('sampled', use)
    made['sampled, profi'] = b.build('profi', use + INFERENCE)
    return made


def pgo(tools, table, args):
    """Programs built by clang with exported samples, as fast as with counts?"""
    work = os.path.join(args.work, 'changes')
    os.makedirs(work, exist_ok=True)
    programs = bench_changes.Programs(work)
    clang, profdata = _compiler()
    print(tools.output([clang, '--version']).splitlines()[0])
    for project in ('lua', 'zstd', 'sqlite'):
        made = _make(tools, programs, project, clang, profdata)
        # what else runs on the machine only adds
        best = {name: float('inf') for name in made}
        for _ in range(args.rounds * 5):
            for name, exe in made.items():
                best[name] = min(best[name], _user_time(
                    programs.command(project, exe)))
        plain = best.pop('plain')
        gain = {name: 1 - t / plain for name, t in best.items()}
        # inference helps some programs and not others
        reached = max(gain['sampled'], gain['sampled, profi']) / \
            gain['instrumented']
        table.fact(project, '%.3f s plain; %s; %.0f %% of the gain (wanted: 50)' % (
            plain, ', '.join('%s %+.1f %%' % (n, -100 * g)
                             for n, g in gain.items()), 100 * reached),
                   reached >= 0.5)
