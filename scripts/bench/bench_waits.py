# SPDX-License-Identifier: GPL-2.0-or-later
"""What recording costs the program, beside perf's ways to do it."""
import os
import random
import subprocess

from bench_lib import Failed, median

# Two threads that compute for LOOPS rounds, each on a processor of its own.  With ROUNDS
# they share one, and wake each other after each.  Prints processor time, switches, time; in us.
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
static int turn, rounds;
static long loops;
static void compute(void)
{
	volatile unsigned sum = 0;
	for (long i = 0; i < loops; i++)
		sum = sum * 31 + i;
}
static void run_on(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &one);
	sched_setaffinity(0, sizeof(one), &one);
}
static void pass(int me)
{
	compute();
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, 0, 0, 0);
}
static void *other(void *p)
{
	if (!rounds) {
		run_on(0);
		compute();
		return p;
	}
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
	struct timespec begin, end;
	struct rusage u;
	pthread_t t;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	run_on(1);
	rounds = atoi(argv[1]);
	loops = atol(argv[2]);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < rounds; i++)
		pass(0);
	if (!rounds)
		compute();
	pthread_join(t, NULL);
	getrusage(RUSAGE_SELF, &u);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f %ld %.0f\n", u.ru_utime.tv_sec * 1e6 + u.ru_utime.tv_usec +
	       u.ru_stime.tv_sec * 1e6 + u.ru_stime.tv_usec,
	       u.ru_nvcsw + u.ru_nivcsw, (end.tv_sec - begin.tv_sec) * 1e6 +
	       (end.tv_nsec - begin.tv_nsec) / 1e3);
	return argc - 3;
}
'''


def one_run(tools, before, program, rounds, loops):
    """Processor time in us, switches, time in us."""
    done = subprocess.run(before + [program, str(rounds), str(loops)],
                          env=tools.env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    lines = [s.split() for s in done.stdout.decode().splitlines()]
    lines = [s for s in lines if len(s) == 3 and s[1].isdigit()]
    if done.returncode or not lines:
        raise Failed('%s: status %d' % (before[:2], done.returncode))
    return float(lines[0][0]), int(lines[0][1]), float(lines[0][2])


def build(tools):
    """The program."""
    os.makedirs(tools.work, exist_ok=True)
    program = os.path.join(tools.work, 'pingpong')
    subprocess.run(['cc', '-O1', '-x', 'c', '-', '-o', program, '-lpthread'],
                   input=PROGRAM.encode(), check=True)
    return program


def loops_of(tools, program, us):
    """How many loops take that long on one processor."""
    tried = 20000000
    took = median([one_run(tools, [], program, 0, tried)[0]
                   for _ in range(5)]) / 2
    return max(1, int(tried / took * us))


def slow_downs(tools, program, rounds, loops, jobs, times):
    """By job, of the program's processor time and of its time: median of the
    ratios to the first job in the same round.  And switches a second."""
    got = {name: [] for name in jobs}
    for _ in range(times):
        for name in random.sample(list(jobs), len(jobs)):
            got[name].append(one_run(tools, jobs[name], program, rounds,
                                     loops))
    alone = next(iter(got.values()))
    return {name: [median([x[i] / a[i] for x, a in zip(v, alone)])
                   for i in (0, 2)] for name, v in got.items()}, median(
                       [a[1] / a[0] * 1e6 for a in alone])


def percent(ratio):
    """A slow-down."""
    return '%.1f %%' % (100 * (ratio - 1))


def recorders(tools, rate):
    """What records CPU samples at a rate."""
    out = os.path.join(tools.work, 'cost.')
    perf = [tools.perf, 'record', '-q', '-e', 'cpu-clock', '-F', rate]
    return {
        'alone': [],
        'tally record -g': [tools.tally, 'record', '-q', '--no-symbols', '-F',
                            rate, '-g', '-o', out + 'tally', '--'],
        'perf record (no stacks)': perf + ['-o', out + 'flat', '--'],
        'perf record -g': perf + ['-g', '-o', out + 'fp', '--'],
        'perf record --call-graph dwarf':
            perf + ['--call-graph', 'dwarf', '-o', out + 'dwarf', '--'],
    }


def cost(tools, table, args):
    """What CPU samples cost two busy threads."""
    program = build(tools)
    loops = loops_of(tools, program, 500000)
    times = 3 if args.quick else 15
    for others, rate in ((0, '999'), (0, '3999'), (2, '999')):
        busy = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
                for _ in range(others * os.cpu_count())]
        try:
            by, _ = slow_downs(tools, program, 0, loops,
                               recorders(tools, rate), times)
        finally:
            for b in busy:
                b.kill()
                b.wait()
        beside = 'beside loops' if others else 'alone'
        for name in list(by)[1:]:
            cpu, wall = by[name]
            table.fact('%s Hz, %s: slow-down by %s' % (rate, beside, name),
                       '%s of processor time, %s of time'
                       % (percent(cpu), percent(wall)))


def slowdown(tools, table, args, program, jobs):
    """What a program loses that switches 10,000 times a second or so."""
    loops = loops_of(tools, program, 95)
    # The first waits are all sampled: long enough to have few of them.
    by, switches = slow_downs(tools, program, 8000, loops, jobs,
                              3 if args.quick else 15)
    table.fact('switches a second of processor time', '%.0f' % switches)
    for name in list(jobs)[1:]:
        table.fact('slow-down by ' + name, percent(by[name][0]))


def waits(tools, table, args):
    """Processor time a switch."""
    one = build(tools)
    rounds = '20000' if args.quick else '200000'
    out = os.path.join(tools.work, 'waits.')
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
            us, switches_n, _ = one_run(tools, before, one, rounds, 0)
            got[name].append(us / switches_n)
    cost = {name: median(v) for name, v in got.items()}
    table.fact('a switch alone', '%.2f us of processor time' % cost['alone'])
    ours = cost['tally record --wait'] - cost['alone']
    for name in list(jobs)[1:]:
        more = cost[name] - cost['alone']
        table.fact('… more by ' + name, '%.2f us, %.2f times ours'
                   % (more, more / ours),
                   name not in ('perf record -e context-switches -g',
                                'perf sched record') or
                   ours <= more * 1.05)
    for name in ('tally', 'fp', 'dwarf', 'sched'):
        table.fact('file: ' + name, '%.1f MB'
                   % (os.path.getsize(out + name) / 1e6))
        os.remove(out + name)
    record = [tools.tally, 'record', '-q', '--no-symbols', '-o', out + 'tally']
    events = ['-e', 'context-switches', '-c', '1', '--switch-events',
              '--call-graph', 'dwarf,2048', '--user-callchains']
    clock = ['-e', 'cpu-clock/freq=999/']
    perf = [tools.perf, 'record', '-q', '-o', out + 'fp']
    slowdown(tools, table, args, one, {
        'alone': [],
        'tally record': record + ['--'],
        'tally record --wait': record + ['--wait', '--'],
        'tally record --wait -F 49': record + ['--wait', '-F', '49', '--'],
        'perf record of CPU samples without stacks': perf + clock + ['--'],
        'perf record of switches, without samples':
            perf + ['-e', 'dummy', '-c', '1', '--switch-events', '--'],
        'perf record of the events of --wait -F 49': perf + events + ['--'],
        'perf record of the events of --wait': perf + clock + events + ['--'],
        'perf record -e context-switches -g':
            switches + ['-g', '-o', out + 'fp', '--'],
        'perf sched record':
            [tools.perf, 'sched', 'record', '-o', out + 'sched', '--'],
    })
    for name in ('tally', 'fp', 'sched'):
        os.remove(out + name)
