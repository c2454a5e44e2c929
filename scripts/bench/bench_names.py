# SPDX-License-Identifier: GPL-2.0-or-later
"""Readable names: ours, llvm-cxxfilt, c++filt."""
import glob
import os
import shutil
import subprocess

from bench_lib import Failed, interleaved


def _symbols(tools, binary):
    """Mangled names of a file's symbol tables."""
    found = set()
    for option in ('-a', '-D'):
        done = subprocess.run(['nm', option, binary], env=tools.env,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        for line in done.stdout.decode(errors='replace').splitlines():
            name = line.rsplit(' ', 1)[-1].split('@')[0]
            if name.startswith(('_Z', '_R')):
                found.add(name)
    return found


def _largest(pattern):
    """The largest library of that name, None without one."""
    found = {os.path.realpath(f) for f in glob.glob(pattern)}
    return max(found, key=os.path.getsize, default=None)


def _write(tools, names):
    path = os.path.join(tools.work, 'names')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(n + '\n' for n in sorted(names)))
    return path


def _linkage_names(tools, binary):
    """Names in the strings of DWARF, those of inlined functions too."""
    done = subprocess.run(['readelf', '-Wp', '.debug_str', binary],
                          env=tools.env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    words = (line.rsplit(b' ', 1)[-1] for line in done.stdout.splitlines())
    return {w.decode() for w in words if w.startswith(b'_Z')}


def _namecat(tools):
    """The program of the tests that only makes names readable."""
    path = os.path.join(os.path.dirname(tools.tally),
                        '../tests/symbolize/namecat')
    if not os.access(path, os.X_OK):
        raise Failed('names: %s is missing: make check TESTS=' % path)
    return path


def names(tools, table, args):
    """All names of LLVM's library, and those of the C++ workload's DWARF."""
    filters = {'llvm-cxxfilt': 0.5, 'c++filt': None}
    sets = {}
    llvm = _largest('/usr/lib/*/libLLVM*.so*')
    if llvm:
        sets[os.path.basename(llvm)] = _symbols(tools, llvm)
    else:
        print('names: no libLLVM is installed')
    sets['big (CGAL, Boost)'] = _linkage_names(
        tools, os.path.join(tools.work, 'big'))
    namecat = _namecat(tools)
    for what, found in sets.items():
        path = _write(tools, found)
        jobs = {}
        for name in ['tally'] + [f for f in filters if shutil.which(f)]:
            cmd = ['sh', '-c', 'exec "$0" <"$1"',
                   namecat if name == 'tally' else name, path]
            jobs[name] = lambda cmd=cmd: tools.timed(cmd)
        got = interleaved(args.rounds, jobs)
        for name in jobs:
            if name != 'tally':
                table.row('%d names of %s; %s' % (len(found), what, name),
                          got['tally'], got[name], 's',
                          ('<=', filters[name]))
