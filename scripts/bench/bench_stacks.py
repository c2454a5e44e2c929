# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of programs without frame pointers: how many are whole, what files and
recorders cost, what is lost at high rates."""
import itertools
import os
import re
import shutil
import subprocess
import sys
import time

from bench_lib import TOP, Failed, interleaved, median, record

DEEP = r'''
#include <stdlib.h>
volatile unsigned long sink;
__attribute__((noinline)) static void leaf(void)
{
	for (int i = 0; i < 200000; i++)
		sink += i * 3;
}
__attribute__((noinline)) static int down(int n)
{
	volatile char pad[64];

	pad[n & 63] = n;
	if (!n) {
		leaf();
		return 1;
	}
	return down(n - 1) + pad[5];
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 40000; i++)
		sink += down(argc > 1 ? atoi(argv[1]) : 1000);
	return 0;
}
'''

LOCALS = r'''
volatile unsigned long sink;
__attribute__((noinline)) static void work(volatile char *pad)
{
	for (int i = 0; i < 300000; i++) {
		sink += i * 3;
		pad[i % 100000] = i;
	}
}
__attribute__((noinline)) static int fat(int n)
{
	volatile char pad[100000];

	pad[n % 100] = 1;
	work(pad);
	return pad[n % 1000];
}
int main(void)
{
	for (int i = 0; i < 6000; i++)
		sink += fat(i);
	return 0;
}
'''

THREADS = r'''
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink[64];
static int depth, seconds;
__attribute__((noinline)) static unsigned long leaf(unsigned long n)
{
	unsigned long s = 0;

	for (unsigned long i = 0; i < n; i++)
		s += i * i ^ s >> 3;
	return s;
}
__attribute__((noinline)) static unsigned long down(int n)
{
	volatile char pad[200];

	pad[n & 127] = n;
	return (n ? down(n - 1) + 1 : leaf(20000)) + pad[3];
}
static void *go(void *p)
{
	time_t end = time(0) + seconds;

	while (time(0) < end)
		*(volatile unsigned long *)p += down(depth);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t;

	depth = argc > 1 ? atoi(argv[1]) : 20;
	seconds = argc > 2 ? atoi(argv[2]) : 4;
	pthread_create(&t, 0, go, (void *)&sink[32]);
	go((void *)&sink[0]);
	pthread_join(t, 0);
	return 0;
}
'''

RUST = r'''
use std::collections::HashMap;
fn work(n: u64) -> u64 {
    let mut m = HashMap::new();
    for i in 0..n {
        *m.entry(format!("k{}", i % 977)).or_insert(0u64) += i;
    }
    let mut v: Vec<_> = m.into_iter().collect();
    v.sort();
    v.iter().map(|x| x.1).sum()
}
fn main() {
    let rounds = std::env::args().nth(1).map_or(400, |x| x.parse().unwrap());
    let h: Vec<_> = (0..2).map(|t| std::thread::spawn(move || {
        (0..rounds).map(|i: u64| work(20000 + i % 400 + t)).sum::<u64>()
    })).collect();
    println!("{}", h.into_iter().map(|x| x.join().unwrap()).sum::<u64>());
}
'''

PYTHON = """
import json
x = [{'a': i, 'b': str(i) * 10} for i in range(100000)]
for _ in range(16):
    json.loads(json.dumps(x))
"""

# For a Python built here, with its own library only: parsing and compiling.
COMPILER = """
import ast, glob, json, os
where = os.path.dirname(os.__file__)
for path in sorted(glob.glob(where + '/*.py'))[:45] * 8:
    with open(path, encoding='utf-8') as f:
        text = f.read()
    compile(text, path, 'exec')
    json.loads(json.dumps([ast.dump(ast.parse(text))]))
    sorted(text.split(), key=lambda w: (len(w), w))
"""

# Where a program or a thread begins.
ENTRY = re.compile(r'^(_start|(__GI_)?_*clone3?|start_thread|'
                   r'thread_start|_dl_start_user|ret_from_fork\w*)$')
# What _start calls; its own name is not in stripped programs.
MAIN = re.compile(r'^_*libc_start_main')


def _compile(tools, name, source, compiler=('cc', '-x', 'c')):
    out = os.path.join(tools.work, name)
    if not os.path.exists(out):
        subprocess.run([*compiler, '-O2', '-fomit-frame-pointer', '-pthread',
                        '-w', '-o', out, '-'], input=source.encode(),
                       check=True)
    return out


def rust_program(tools):
    """Two threads; the argument is how long."""
    rust = os.path.join(tools.work, 'rust_rounds')
    if not os.path.exists(rust):
        with open(rust + '.rs', 'w', encoding='ascii') as f:
            f.write(RUST)
        subprocess.run(['rustc', '-O', '-o', rust, rust + '.rs'], check=True)
    return rust


def _cc1():
    return subprocess.run(['gcc', '-print-prog-name=cc1'], check=True,
                          stdout=subprocess.PIPE).stdout.decode().strip()


def _preprocessed(tools):
    out = os.path.join(tools.work, 'cc1.i')
    subprocess.run(['gcc', '-E', '-D_GNU_SOURCE', '-I' + TOP + '/src', '-o',
                    out, TOP + '/src/symbolize/dwarf/dwarf_abbrev.c'], check=True)
    return out


def _twice(tools, name):
    """A program of Debian, built without and with frame pointers, or None."""
    folder = os.path.join(tools.work, name)
    made = [os.path.join(folder, x, name) for x in ('plain', 'pointers')]
    if not all(os.path.exists(x) for x in made):
        print('building %s twice, once for all runs (see scripts/bench/'
              'build-twice)' % name, file=sys.stderr)
        built = subprocess.run([TOP + '/scripts/bench/build-twice', name,
                                folder], check=False,
                               stdout=subprocess.DEVNULL)
        if built.returncode:
            return None
    return made


def _repeated(cmd, quick):
    return ['sh', '-c', 'for i in $(seq %d); do "$@"; done >/dev/null' % (
        1 if quick else 20), 'sh', *cmd]


def _compilations(tools, cc1, quick):
    return _repeated([cc1, '-quiet', '-O2', '-o', '/dev/null',
                      _preprocessed(tools)], quick)


def _programs(tools, quick):
    """Name, command and the same with frame pointers, or None; programs that
    cannot be made here are left out."""
    big = os.path.join(tools.work, 'big')
    seconds = '2' if quick else '10'
    yield ('C++, 100 MB DWARF, 2 threads', [big + '_plain', seconds, '2'],
           [big, seconds, '2'])
    made = _twice(tools, 'python')
    if made:
        yield ('python3.11 built here',
               *([x, '-S', '-c', COMPILER] for x in made))
    made = None if quick else _twice(tools, 'cc1')
    if made:
        yield ('cc1 -O2 built here',
               *(_compilations(tools, x, quick) for x in made))
    for name, cmd in _programs_as_they_are(tools, quick):
        yield name, cmd, None


def _programs_as_they_are(tools, quick):
    """Programs of the distribution, and those written here."""
    yield 'python3', ['python3', '-c', PYTHON]
    yield 'git log -p', _repeated(['git', '-C', TOP, 'log', '-p', '--stat'],
                                  quick)
    yield 'cc1 -O2', _compilations(tools, _cc1(), quick)
    yield '1000-deep recursion', [_compile(tools, 'deep', DEEP), '1000']
    yield '100 KB of locals', [_compile(tools, 'locals', LOCALS)]
    yield '2 threads', [_compile(tools, 'threads', THREADS), '20', '3']
    if shutil.which('rustc'):
        yield 'Rust, 2 threads', [rust_program(tools)]


def _run(cmd, env):
    """Runs a recorder with its command."""
    p = subprocess.Popen(cmd, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = p.communicate()[1]
    if p.returncode:
        raise Failed('%s: status %d: %s' % (
            ' '.join(cmd[:6]), p.returncode,
            errors.decode(errors='replace')[-300:]))


def _whole(lines, frame):
    """Of samples told in paragraphs, how many end at an entry: (n, whole)."""
    n = whole = 0
    names = []
    for line in itertools.chain(lines, [None]):
        m = 'new' if line is None else frame(line)
        if m == 'new':
            n += bool(names)
            whole += bool(names) and bool(
                ENTRY.match(names[-1]) or MAIN.match(''.join(names[-2:-1])))
            names = []
        elif m:
            names.append(m)
    return n, whole


def _tally_frame(line):
    if line.startswith('sample '):
        return 'new'
    w = line.split()
    return w[1] if len(w) > 1 and w[0].startswith('0x') else \
        'missing' if line.startswith('  [c') else None


def _perf_frame(line):
    if not line:
        return 'new'
    w = line.split()
    return re.sub(r'\+0x[0-9a-f]+$', '', w[1]) if len(w) > 1 else None


def _lines(tools, cmd):
    p = subprocess.Popen(cmd, env=tools.env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in p.stdout:
        yield line.decode(errors='replace').rstrip('\n')
    if p.wait():
        raise Failed('%s: status %d' % (' '.join(cmd[:2]), p.returncode))


def _script(tools, data):
    return [tools.perf, 'script', '-i', data, '--no-inline', '-F', 'ip,sym']


def _absent(ends):
    """Stacks that the kernel could copy nothing of."""
    return sum(x['samples'] for x in ends['ends']
               if 'not in memory' in x['reason'])


def _frames(tools, file):
    """Frames of a recording's stacks, by sample."""
    kinds = [_tally_frame(x)
             for x in _lines(tools, tools.dump_samples(file) + ['-g'])]
    samples = kinds.count('new')
    return (len(kinds) - kinds.count(None) - samples) / max(samples, 1)


def _one(tools, table, name, cmd, pointers, rounds):
    """`pointers`: the same command of a program with frame pointers, or
    None."""
    hz = '999'
    path = {k: os.path.join(tools.work, 'stacks.' + k)
            for k in ('tally', 'fp', 'pointers', 'data')}
    mine = [tools.tally, 'record', '-q', '-e', 'cpu-clock', '-F', hz]
    _run([*mine, '-g', '-o', path['tally'], '--', *cmd], tools.env)
    _run([*mine, '--call-graph=fp', '-o', path['fp'], '--', *cmd], tools.env)
    if pointers:
        _run([*mine, '--call-graph=fp', '-o', path['pointers'], '--',
              *pointers], tools.env)
    # Without build-ids (-B) perf script 6.1 dies now and then.
    _run([tools.perf, 'record', '-q', '-N', '-e', 'cpu-clock', '-F', hz,
          '--call-graph', 'dwarf', '-o', path['data'], '--', *cmd], tools.env)
    n, whole = _whole(_lines(tools, tools.dump_samples(path['tally']) + ['-g']),
                      _tally_frame)
    pn, pwhole = _whole(_lines(tools, _script(tools, path['data'])),
                        _perf_frame)
    # perf: unwound and told, without what sums it up
    got = interleaved(rounds, {
        'perf': lambda: tools.timed(_script(tools, path['data']), limit=120),
        'tally': lambda: tools.timed([tools.tally, 'report', '-g',
                                      path['tally']]),
    })
    size = {k: os.path.getsize(v) / 1e6 for k, v in path.items()
            if k != 'pointers' or pointers}
    table.row(name + ': stacks to the entry', 100 * whole / max(n, 1),
              100 * pwhole / max(pn, 1), '%', ('<=', None))
    ends = tools.tally_json(path['tally'], 'event')['header']['stacks']
    known = n - ends['cut'] - ends['later'] - _absent(ends)
    if known > 100:
        table.fact('… of those that were copied whole', '%.3f %%' % (
            100 * (whole - ends['later']) / known),
                   whole - ends['later'] >= 0.999 * known)
    table.row('… file', size['tally'], size['data'], 'MB', ('<=', 0.01))
    # Frame pointers that are not there lead to few callers.
    table.row('… file; beside tally by frame pointers', size['tally'],
              size['fp'], 'MB', ('<=', None if pointers else 1.5))
    table.fact('… callers found so', '%.0f %%' % (
        100 * _frames(tools, path['fp']) / _frames(tools, path['tally'])), True)
    if pointers:
        table.row('… file; beside that of a build with frame pointers',
                  size['tally'], size['pointers'], 'MB', ('<=', 1.5))
    table.row('… report', got['tally'], got['perf'], 's', ('>=', 10))
    os.unlink(path['data'])
    return whole / max(n, 1), pwhole / max(pn, 1)


def _losses(tools, table, args):
    """10 kHz, two busy threads, 32 KB copies of deep stacks."""
    two = _compile(tools, 'threads', THREADS)
    cmd = [two, '140', '3']
    file = os.path.join(tools.work, 'loss.tally')
    data = os.path.join(tools.work, 'loss.data')
    lost = {'tally': [], 'perf': []}
    for _ in range(args.rounds):
        _run([tools.tally, 'record', '-q', '-e', 'cpu-clock', '-F', '10000',
              '--call-graph=dwarf,32768', '-o', file, '--', *cmd], tools.env)
        head = tools.tally_json(file, 'event')['header']
        lost['tally'].append(head['samples']['lost'])
        got = head['samples']['got']
        _run([tools.perf, 'record', '-q', '-N', '-B', '-e', 'cpu-clock', '-F',
              '10000', '--call-graph', 'dwarf,32768', '-o', data, '--', *cmd],
             tools.env)
        stats = tools.output([tools.perf, 'report', '--stats', '-i', data])
        found = re.findall(r'LOST_SAMPLES events: +(\d+)', stats)
        lost['perf'].append(int(found[-1]) if found else 0)
    table.fact('10 kHz, 2 threads, 32 KB: lost, tally and perf (of about)',
               '%d %d (%d)' % (median(lost['tally']), median(lost['perf']),
                               got),
               median(lost['tally']) == 0 or
               median(lost['tally']) < median(lost['perf']))
    os.unlink(data)


def _cpu(tools, table, args):
    """Recorders attached to the C++ program; perf unwinds later."""
    seconds = 2 if args.quick else 5
    cmd = [os.path.join(tools.work, 'big_plain'), str(seconds), '2']
    file = os.path.join(tools.work, 'cpu.tally')
    data = os.path.join(tools.work, 'cpu.data')
    cost = {'tally': [], 'perf': [], 'later': []}
    for _ in range(args.rounds):
        got = record(tools, cmd, {'tally': [
            tools.tally, 'record', '-q', '-e', 'cpu-clock', '-F', '2000',
            '-g', '--no-symbols', '-o', file]})
        cost['tally'].append(got['tally'].whole)
        got = record(tools, cmd, {'perf': [
            tools.perf, 'record', '-q', '-N', '-B', '-e', 'cpu-clock', '-F',
            '2000', '--call-graph', 'dwarf', '-o', data]})
        cost['perf'].append(got['perf'].whole)
        cost['later'].append(tools.timed(_script(tools, data), limit=300))
    table.row('recorder CPU, C++, 2 kHz; perf with unwinding later',
              median(cost['tally']),
              median(cost['perf']) + median(cost['later']), 's', ('<=', 1))
    table.row('… perf without it', median(cost['tally']),
              median(cost['perf']), 's', ('<=', None))
    os.unlink(data)


LIBRARY = """
static volatile unsigned long sum;
__attribute__((noinline)) static void add(int n)
{
	for (int i = 0; i < n * 100; i++)
		sum += i;
}
void work%d(int n)
{
	add(n);
	sum++;
}
"""


def _many_libraries(tools, count):
    """A program that runs through so many libraries, second after second."""
    folder = os.path.join(tools.work, 'libraries')
    main = os.path.join(folder, 'main')
    if os.path.exists(main):
        return main
    os.makedirs(folder, exist_ok=True)
    source = '#include <stdlib.h>\n#include <time.h>\n'
    for i in range(count):
        subprocess.run(['cc', '-O2', '-fomit-frame-pointer', '-shared',
                        '-fPIC', '-x', 'c', '-o',
                        '%s/libwork%d.so' % (folder, i), '-'],
                       input=(LIBRARY % i).encode(), check=True)
        source += 'void work%d(int);\n' % i
    source += ('int main(int c, char **v)\n{\n'
               '\ttime_t end = time(0) + (c > 1 ? atoi(v[1]) : 1);\n'
               '\twhile (time(0) < end) {\n' +
               ''.join('\t\twork%d(10);\n' % i for i in range(count)) +
               '\t}\n\treturn 0;\n}\n')
    subprocess.run(['cc', '-O2', '-x', 'c', '-o', main, '-', '-L' + folder,
                    '-Wl,-rpath,' + folder] +
                   ['-lwork%d' % i for i in range(count)],
                   input=source.encode(), check=True)
    return main


def _first_sample(tools, cmd, lines, start):
    """Seconds from start to the first sample, told in lines."""
    subprocess.run(cmd, env=tools.env, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return min(lines()) - start


def _attach(tools, table, args):
    """How soon samples come when 200 libraries are mapped already."""
    main = _many_libraries(tools, 200)
    file = os.path.join(tools.work, 'attach.tally')
    data = os.path.join(tools.work, 'attach.data')
    took = {'tally': [], 'perf': []}
    rounds = max(args.rounds, 3)

    def ours():
        dump = tools.output(tools.dump_samples(file))
        return [int(x) / 1e9 for x in re.findall(r'time_ns=(\d+)', dump)]

    def theirs():
        script = tools.output([tools.perf, 'script', '-i', data, '-F', 'time',
                               '--ns'])
        return [float(x) for x in re.findall(r'^ *(\d+\.\d+):', script, re.M)]

    with subprocess.Popen([main, str(30 + 10 * rounds)]) as program:
        time.sleep(1)
        try:
            for _ in range(rounds):
                took['tally'].append(_first_sample(tools, [
                    tools.tally, 'record', '-q', '-e', 'cpu-clock', '-F',
                    '4000', '-g', '--duration', '0.3', '-o', file, '-p',
                    str(program.pid)], ours, time.monotonic()))
                took['perf'].append(_first_sample(tools, [
                    tools.perf, 'record', '-q', '-N', '-B', '-k', 'mono', '-e',
                    'cpu-clock', '-F', '4000', '--call-graph', 'dwarf', '-o',
                    data, '-p', str(program.pid), '--', 'sleep', '0.3'],
                    theirs, time.monotonic()))
        finally:
            program.kill()
    table.row('attach to 200 libraries: first sample after',
              median(took['tally']), median(took['perf']), 's', ('<=', None))
    if median(took['tally']) > 0.2:
        table.fact('  more than 0.2 s', '%.3f' % median(took['tally']), False)
    os.unlink(data)


def stacks(tools, table, args):
    """Whole stacks, small files, fast reports, nothing lost."""
    shares = []
    for name, cmd, pointers in _programs(tools, args.quick):
        shares.append((name, *_one(tools, table, name, cmd, pointers,
                                   args.rounds)))
    worse = [name for name, mine, theirs in shares if mine < theirs]
    table.fact('more whole stacks than perf', 'on all programs' if not worse
               else 'not: ' + ', '.join(worse), not worse)
    _attach(tools, table, args)
    _losses(tools, table, args)
    _cpu(tools, table, args)
