# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording waits costs the program, beside perf's ways to do it."""
import os
import subprocess

from bench_lib import Failed, median

# Two threads on one processor that wake each other; LOOPS: each computes before.
PROGRAM = r'''
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifndef LOOPS
#define LOOPS 0
#endif
static int turn, rounds;
static volatile unsigned sum;
static void pass(int me)
{
	for (int i = 0; i < LOOPS; i++)
		sum = sum * 31 + i;
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, 0, 0, 0);
}
static void *other(void *p)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 1)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	for (int i = 1; i < rounds; i++)
		pass(1);
	__atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	return p;
}
int main(int argc, char **argv)
{
	struct rusage u;
	cpu_set_t one;
	pthread_t t;
	CPU_ZERO(&one);
	CPU_SET(1 % sysconf(_SC_NPROCESSORS_ONLN), &one);
	sched_setaffinity(0, sizeof(one), &one);
	rounds = atoi(argv[1]);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < rounds; i++)
		pass(0);
	pthread_join(t, NULL);
	getrusage(RUSAGE_SELF, &u);
	printf("%.0f %ld\n", u.ru_utime.tv_sec * 1e6 + u.ru_utime.tv_usec +
	       u.ru_stime.tv_sec * 1e6 + u.ru_stime.tv_usec,
	       u.ru_nvcsw + u.ru_nivcsw);
	return argc - 2;
}
'''


def one_run(tools, before, program, rounds):
    """Processor time in us, switches."""
    done = subprocess.run(before + [program, rounds], env=tools.env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    lines = [s.split() for s in done.stdout.decode().splitlines()]
    lines = [s for s in lines if len(s) == 2 and s[1].isdigit()]
    if done.returncode or not lines:
        raise Failed('%s: status %d' % (before[:2], done.returncode))
    return float(lines[0][0]), int(lines[0][1])


def slowdown(tools, table, args, source, jobs):
    """What a program loses that switches 9,000 times a second or so."""
    program = os.path.join(tools.work, 'working')
    subprocess.run(['cc', '-O1', '-DLOOPS=40000', source, '-o', program,
                    '-lpthread'], check=True)
    got = {name: [] for name in jobs}
    for _ in range(3 if args.quick else 9):
        for name, before in jobs.items():
            got[name].append(one_run(tools, before, program, '4000'))
    time = {name: median([x[0] for x in v]) for name, v in got.items()}
    switches = median([x[1] for x in got['alone']])
    table.fact('switches a second of processor time',
               '%.0f' % (switches / time['alone'] * 1e6))
    for name in list(jobs)[1:]:
        table.fact('slow-down by ' + name, '%.1f %%' %
                   (100 * (time[name] / time['alone'] - 1)))


def waits(tools, table, args):
    """Processor time a switch."""
    work = tools.work
    os.makedirs(work, exist_ok=True)
    source = os.path.join(work, 'pingpong.c')
    with open(source, 'w') as f:
        f.write(PROGRAM)
    one = os.path.join(work, 'pingpong')
    subprocess.run(['cc', '-O1', source, '-o', one, '-lpthread'], check=True)
    rounds = '20000' if args.quick else '200000'
    out = os.path.join(work, 'waits.')
    switches = [tools.perf, 'record', '-q', '-e', 'context-switches', '-c', '1']
    jobs = {
        'alone': [],
        'tally record --wait': [tools.tally, 'record', '-q', '--no-symbols',
                                '--wait', '-o', out + 'tally', '--'],
        'perf record -e context-switches -g':
            switches + ['-g', '-o', out + 'fp', '--'],
        'perf record -e context-switches --call-graph dwarf':
            switches + ['--call-graph', 'dwarf,8192', '-o', out + 'dwarf', '--'],
        'perf sched record':
            [tools.perf, 'sched', 'record', '-o', out + 'sched', '--'],
    }
    got = {name: [] for name in jobs}
    for _ in range(3 if args.quick else 7):
        for name, before in jobs.items():
            us, switches_n = one_run(tools, before, one, rounds)
            got[name].append(us / switches_n)
    cost = {name: median(v) for name, v in got.items()}
    table.fact('a switch alone', '%.2f us of processor time' % cost['alone'])
    ours = cost['tally record --wait'] - cost['alone']
    for name in list(jobs)[1:]:
        more = cost[name] - cost['alone']
        table.fact('… more by ' + name, '%.2f us, %.2f times ours'
                   % (more, more / ours),
                   name != 'perf record -e context-switches -g' or
                   ours <= more * 1.05)
    for name in ('tally', 'fp', 'dwarf', 'sched'):
        table.fact('file: ' + name, '%.1f MB'
                   % (os.path.getsize(out + name) / 1e6))
        os.remove(out + name)
    record = [tools.tally, 'record', '-q', '--no-symbols', '-o', out + 'tally']
    slowdown(tools, table, args, source, {
        'alone': [],
        'tally record': record + ['--'],
        'tally record -F 99': record + ['-F', '99', '--'],
        'tally record --wait': record + ['--wait', '--'],
        'tally record --wait -F 99': record + ['--wait', '-F', '99', '--'],
        'perf record -e context-switches -g':
            switches + ['-g', '-o', out + 'fp', '--'],
        'perf sched record':
            [tools.perf, 'sched', 'record', '-o', out + 'sched', '--'],
    })
    for name in ('tally', 'fp', 'sched'):
        os.remove(out + name)
