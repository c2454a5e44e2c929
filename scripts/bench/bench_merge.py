# SPDX-License-Identifier: GPL-2.0-or-later
"""The recordings of a fleet as one, beside `go tool pprof` on the same
profiles."""
import glob
import os
import shutil
import subprocess

from bench_lib import Failed

HOSTS, SAMPLES, STACKS = 1000, 12000, 1000
PPROF_HOSTS = 100       # what both merge: pprof holds all profiles in memory


def _cpu(tools, cmd):
    """Seconds of processor time, seconds, and peak memory in MB."""
    run = subprocess.run(['time', '-f', '%U %S %e %M'] + cmd, env=tools.env,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True, check=False)
    if run.returncode:
        raise Failed(run.stderr[-500:])
    user, system, elapsed, peak = run.stderr.split('\n')[-2].split()
    return float(user) + float(system), float(elapsed), int(peak) / 1024


def _hosts(tools, hosts):
    made = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                        'tests/workload/made_recording')
    if not os.access(made, os.X_OK):
        raise Failed(made + ' is not built: make check TESTS=')
    folder = os.path.join(tools.work, 'hosts-%d' % hosts)
    if not os.path.isdir(folder):
        os.makedirs(folder + '.new', exist_ok=True)
        tools.output([made, 'hosts', folder + '.new', str(hosts), str(SAMPLES),
                      str(STACKS)])
        os.rename(folder + '.new', folder)
    return sorted(glob.glob(folder + '/*.tally'))


def merge(tools, table, args):
    """A recording of each of 1,000 machines: at most 20 s, 200 MB, and 0.1 s for
    the report; at least 50 MB of input in a second of processor time."""
    files = _hosts(tools, 50 if args.quick else HOSTS)
    out = os.path.join(tools.work, 'fleet.tally')
    size = sum(os.path.getsize(f) for f in files) / 1e6
    cpu, elapsed, peak = _cpu(tools, [tools.tally, 'merge', '-q', '-o', out] +
                              files)
    table.fact('merge of %d machines (%.0f MB)' % (len(files), size),
               '%.2f s, %.2f s of CPU time, %.0f MB, %.0f MB/s' % (
                   elapsed, cpu, peak, size / cpu))
    cpu, elapsed, peak = _cpu(tools, [tools.tally, 'report', '--format=text',
                                      '-i', out])
    table.fact('report of it (%.1f MB)' % (os.path.getsize(out) / 1e6),
               '%.2f s, %.2f s of CPU time, %.0f MB' % (elapsed, cpu, peak))
    if not shutil.which('go'):
        table.fact('go tool pprof', 'not installed: apt-get install golang-go')
        return
    files = files[:10 if args.quick else PPROF_HOSTS]
    profiles = []
    for f in files:
        profiles.append(f[:-6] + '.pb.gz')
        if not os.path.exists(profiles[-1]):
            tools.output([tools.tally, 'export', '--format=pprof', '-o',
                          profiles[-1], f])
    mine = _cpu(tools, [tools.tally, 'merge', '-q', '-o', out] + files)
    other = _cpu(tools, ['go', 'tool', 'pprof', '-proto', '-symbolize=none',
                         '-output', out + '.pb.gz'] + profiles)
    table.row('merge of %d machines, CPU time; go tool pprof' % len(files),
              mine[0], other[0], 's', ('<=', None))
    table.row('… peak memory', mine[2], other[2], 'MB', ('<=', None))
