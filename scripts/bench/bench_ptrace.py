# SPDX-License-Identifier: GPL-2.0-or-later
"""What sampling by ptrace costs the program, and whether it sees what perf
sees."""
import os
import subprocess
import time

from bench_lib import Failed, median

RATE = 999
PROGRAM = r'''
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned int sink;
__attribute__((noinline)) void f60(void)
{ for (unsigned int i = 0; i < 6000; i++) sink += i; }
__attribute__((noinline)) void f30(void)
{ for (unsigned int i = 0; i < 3000; i++) sink -= i; }
__attribute__((noinline)) void f10(void)
{ for (unsigned int i = 0; i < 1000; i++) sink ^= i; }
static void *work(void *p)
{ for (long i = 0; i < *(long *)p; i++) { f60(); f30(); f10(); } return p; }
int main(int argc, char **argv)
{
	long rounds = atol(argv[1]);
	int n = atoi(argv[2]);
	pthread_t t[64];
	for (int i = 1; i < n; i++) pthread_create(&t[i], 0, work, &rounds);
	work(&rounds);
	for (int i = 1; i < n; i++) pthread_join(t[i], 0);
	return argc - 3;
}
'''


def _build(work):
    source = os.path.join(work, 'ptrace_work.c')
    with open(source, 'w') as f:
        f.write(PROGRAM)
    subprocess.run(['cc', '-O1', '-g', source, '-o',
                    os.path.join(work, 'ptrace_work'), '-lpthread'],
                   check=True)


def _wall(tools, cmd):
    """Seconds of the command itself, as it or the recorder's file tells."""
    start = time.monotonic()
    done = subprocess.run(cmd, env=tools.env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        raise Failed('%s: status %d' % (' '.join(cmd), done.returncode))
    return time.monotonic() - start


def _own_wall(tools, work, cmd):
    """Wall seconds of a command, without those who start it: by sh's times."""
    mark = os.path.join(work, 'wall')
    script = 'a=$(date +%%s%%N); "$@"; s=$?; echo $(($(date +%%s%%N) - a)) ' \
             '>%s; exit $s' % mark
    _wall(tools, cmd[0] + ['sh', '-c', script, 'sh'] + cmd[1])
    with open(mark) as f:
        return int(f.read()) / 1e9


def _cost(tools, table, args, what, cmd, limit):
    work = tools.work
    record = [tools.tally, 'record', '-q', '--no-symbols', '-F', str(RATE),
              '-g', '-o', os.path.join(work, 'cost.tally')]
    jobs = {
        'alone': [],
        'ptrace': record + ['--source=ptrace', '--'],
        'perf': record + ['--source=perf', '-e', 'cpu-clock', '--'],
    }
    got = {name: [] for name in jobs}
    for _ in range(3 if args.quick else 11):
        for name, before in jobs.items():
            got[name].append(_own_wall(tools, work, (before, cmd)))
    wall = {n: median(v) for n, v in got.items()}
    table.fact('ptrace at %d Hz: %s alone' % (RATE, what),
               '%.3f s' % wall['alone'])
    for name in ('ptrace', 'perf'):
        slower = 100 * (wall[name] / wall['alone'] - 1)
        table.fact('… slower by %s' % name, '%.1f %%' % slower,
                   limit is None or name == 'perf' or slower <= limit)


def ptrace(tools, table, args):
    """Slow-down, and shares beside perf's."""
    work = tools.work
    os.makedirs(work, exist_ok=True)
    _build(work)
    one = os.path.join(work, 'ptrace_work')
    rounds = '40000' if args.quick else '100000'
    _cost(tools, table, args, '1 thread', [one, rounds, '1'], 5)
    _cost(tools, table, args, '2 threads', [one, rounds, '2'], 5)
    _cost(tools, table, args, '200 programs',
          ['sh', '-c', 'i=0; while [ $i -lt 200 ]; do /bin/true; '
           'i=$((i + 1)); done'], None)
    for source in ('perf', 'ptrace'):
        path = os.path.join(work, 'shares.tally')
        subprocess.run([tools.tally, 'record', '-q', '--source=' + source,
                        '-e', 'cpu-clock', '-F', str(RATE), '-o', path, '--',
                        one, rounds, '2'], env=tools.env, check=True,
                       stdin=subprocess.DEVNULL)
        out = subprocess.run([tools.tally, 'report', '--no-pager',
                              '--percent-limit', '0', path], env=tools.env,
                             check=True, stdout=subprocess.PIPE).stdout
        share = {}
        for line in out.decode().splitlines():
            words = line.split()
            if words and words[-1] in ('f60', 'f30', 'f10'):
                share[words[-1]] = words[0]
        table.fact('shares of 60, 30 and 10 by %s' % source,
                   ' '.join(share.get(k, '-') for k in ('f60', 'f30', 'f10')))
