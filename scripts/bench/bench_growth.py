# SPDX-License-Identifier: GPL-2.0-or-later
"""What grows: reports of 1, 10 and 100 million samples; 64 threads; 1,000
processes; 500 libraries; a program with a gigabyte of DWARF."""
import os
import shutil
import subprocess

from bench_images import through_libraries
from bench_lib import Failed, interleaved, record

STACKS = 100000
HUGE = 1000000000       # bytes of DWARF


def _made(tools, samples):
    """A recording of so many samples of the same unique stacks."""
    made = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                        'tests/workload/made_recording')
    if not os.access(made, os.X_OK):
        raise Failed(made + ' is not built: make check TESTS=')
    path = os.path.join(tools.work, 'made-%d.tally' % samples)
    if not os.path.exists(path):
        tools.output([made, 'many', path + '.new', str(samples), str(STACKS)])
        os.rename(path + '.new', path)
    return path


def samples(tools, table, args):
    """Ten times as many samples of the same stacks: time may be ten times as
    long, memory must stay (the page's within its own limits)."""
    counts = [100000, 1000000] if args.quick else [10**6, 10**7, 10**8]
    files = [_made(tools, n) for n in counts]
    page = os.path.join(tools.work, 'growth.html')
    for name, cmd, more in (
            ('report', ['report', '--format=text'], 1.1),
            ('report -g', ['report', '--format=text', '-g'], 1.1),
            ('diff', ['diff', '--format=text', files[0]], 1.1),
            ('report --html', ['report', '--html', '-o', page], 4)):
        before = None
        for n, file in zip(counts, files):
            mine = [tools.tally] + cmd + [file]
            now = tools.timed(mine, 900), tools.peak_mb(mine)
            if before:
                table.row('%s: %d samples; a tenth of them' % (name, n),
                          now[0], before[0], 's', ('<=', 12))
                table.row('… peak memory', now[1], before[1], 'MB',
                          ('<=', more))
            else:
                table.fact('%s: %d samples' % (name, n),
                           '%.2f s, %.0f MB' % now)
            before = now


THREADS = r'''
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void step(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}
static void *work(void *arg)
{
	for (int i = 0; i < 200; i++)
		step(200000 + (unsigned long)arg * 1000);
	return arg;
}
int main(void)
{
	pthread_t t[63];

	for (long i = 0; i < 63; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	work((void *)63);
	for (int i = 0; i < 63; i++)
		pthread_join(t[i], 0);
}
'''

PROCESSES = ('i=0; while [ $i -lt 1000 ]; do /bin/sh -c '
             '"j=0; while [ \\$j -lt 2000 ]; do j=\\$((j+1)); done"; '
             'i=$((i+1)); done')


def _beside_perf(tools, table, args, tag, cmd, keys, rows):
    """Both record one run; both report by `keys`, of which there must be
    `rows` at least."""
    file = os.path.join(tools.work, tag + '.tally')
    data = os.path.join(tools.work, tag + '.perf.data')
    record(tools, cmd, {
        'perf': [tools.perf, 'record', '-q', '-N', '-B', '-g', '-e',
                 'cpu-clock', '-F', '999', '-o', data],
        'tally': [tools.tally, 'record', '-q', '-g', '-e', 'cpu-clock', '-F',
                  '999', '-o', file]})
    got = len(tools.tally_json(file, keys[0])['rows'])
    table.fact('%s: rows by %s' % (tag, keys[0]), str(got),
               args.quick or got >= rows)
    mine = [tools.tally, 'report', '--format=text', '-g', '-s',
            keys[0] + ',symbol', file]
    theirs = tools.perf_report + ['report', '--stdio', '-g', '--no-inline',
                                  '-s', keys[1] + ',sym', '-i', data]
    got = interleaved(args.rounds, {
        'tally': lambda: tools.timed(mine), 'perf': lambda: tools.timed(theirs),
        'tally MB': lambda: tools.peak_mb(mine),
        'perf MB': lambda: tools.peak_mb(theirs)})
    table.row(tag + ': report -g; perf without inlined frames', got['tally'],
              got['perf'], 's', ('>=', 5))
    table.row('… peak memory', got['tally MB'], got['perf MB'], 'MB',
              ('<=', 0.5))


def many(tools, table, args):
    """64 threads, 1,000 processes, 500 libraries."""
    program = os.path.join(tools.work, 'threads64')
    done = subprocess.run([os.environ.get('CC', 'cc'), '-O1', '-g', '-pthread',
                           '-x', 'c', '-', '-o', program], input=THREADS,
                          text=True, check=False)
    if done.returncode:
        raise Failed('no program of 64 threads')
    _beside_perf(tools, table, args, '64 threads', [program], ('tid', 'tid'),
                 64)
    _beside_perf(tools, table, args, '1000 processes',
                 ['/bin/sh', '-c', PROCESSES], ('pid', 'pid'), 900)
    _beside_perf(tools, table, args, '500 libraries',
                 through_libraries(tools, 500), ('image', 'dso'), 450)


def _dwarf_bytes(tools, path):
    """Of all .debug_ sections."""
    total = 0
    for line in tools.output(['size', '-A', path]).splitlines():
        words = line.split()
        if words and words[0].startswith('.debug_'):
            total += int(words[1])
    return total


def _copy_unit(tools, unit, out, number):
    """The unit with all that it defines named anew, as the linker would throw
    equal templates away; its DWARF stays as it is."""
    names = out + '.names'
    with open(names, 'w', encoding='ascii') as f:
        for line in tools.output(['nm', '-P', '--defined-only',
                                  unit]).splitlines():
            words = line.split()
            if words[1] in 'TWVRDBu':
                f.write('%s %s.c%d\n' % (words[0], words[0], number))
    # its constructors would register destructors that the linker threw away
    tools.output(['objcopy', '--redefine-syms=' + names,
                  '--remove-section=.init_array*',
                  '--remove-section=.rela.init_array*', unit, out])
    os.unlink(names)


def _link_huge(tools, path, copies):
    """The bench's large program and so many copies of its units, linked."""
    folder = os.path.join(tools.work, 'big.o')
    units = [os.path.join(folder, f) for f in sorted(os.listdir(folder))
             if f.endswith('.o') and not f.endswith('.plain.o')]
    made = os.path.join(tools.work, 'huge.o')
    shutil.rmtree(made, ignore_errors=True)
    os.makedirs(made)
    parts = list(units)
    for number in range(1, copies + 1):
        for unit in units:
            if os.path.basename(unit) == 'main.o':
                continue
            parts.append(os.path.join(made, '%d-%s' % (
                number, os.path.basename(unit))))
            _copy_unit(tools, unit, parts[-1], number)
    # Copies never run, and may lack what of their groups is the originals'
    tools.output(['g++', '-no-pie', '-Wl,--unresolved-symbols=ignore-all',
                  '-pthread', '-o', path] + parts + ['-lmpfr', '-lgmp'])
    shutil.rmtree(made)
    return _dwarf_bytes(tools, path)


def _huge(tools):
    """A program with a gigabyte of DWARF: as copies of units share strings and
    groups with the first ones, what one adds is known only from a link."""
    path = os.path.join(tools.work, 'huge')
    if os.path.exists(path) and _dwarf_bytes(tools, path) >= HUGE:
        return path
    big = _dwarf_bytes(tools, os.path.join(tools.work, 'big'))
    few = HUGE // big
    each = (_link_huge(tools, path, few) - big) // few
    size = _link_huge(tools, path, int((HUGE - big) * 1.05 / each) + 1)
    if size < HUGE:
        raise Failed('%s has only %d MB of DWARF' % (path, size // 1000000))
    return path


def dwarf(tools, table, args):
    """Names and lines of a program with a gigabyte of DWARF."""
    from bench_addresses import compare
    path = _huge(tools)
    table.fact('huge: DWARF', '%d MB' % (_dwarf_bytes(tools, path) // 1000000))
    compare(tools, table, args, 'huge', path, 1000, True, 0.5, rounds=1)
    file = os.path.join(tools.work, 'huge.tally')
    data = os.path.join(tools.work, 'huge.perf.data')
    record(tools, [path, '3', '2'], {
        'perf': [tools.perf, 'record', '-q', '-N', '-B', '-e', 'cpu-clock:u',
                 '-F', '999', '-o', data],
        'tally': [tools.tally, 'record', '-q', '--no-symbols', '-e',
                  'cpu-clock:u', '-F', '999', '-o', file]})
    if tools.perf_samples(data) < 100:
        raise Failed('%s ran too briefly to be sampled' % path)
    mine = [tools.tally, 'report', '--format=text', '-s', 'symbol,line', file]
    theirs = tools.perf_report + ['report', '--stdio', '-s', 'sym,srcline',
                                  '-i', data]
    # without the address, perf prints no names
    names = tools.output([tools.perf, 'script', '-i', data, '-F',
                          'ip,sym']).strip().split('\n')
    unknown = [n for n in names if n.endswith('[unknown]')]
    if len(unknown) * 2 > len(names):
        raise Failed('perf has no names for most samples of ' + data)
    limit = 60 if args.quick else 600
    table.row('huge: symbolize and report by line', tools.timed(mine),
              tools.timed(theirs, limit), 's', ('>=', 10))
    table.fact('… its peak memory', '%.0f MB' % tools.peak_mb(mine))
