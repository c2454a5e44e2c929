# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that runs through 300 libraries: symbolizing must cost what was
touched of them, not what they hold."""
import os
import shutil
import subprocess

from bench_lib import Failed, median, record

LIBRARIES = 300
UNITS = 24          # of the larger libraries, beside the one that runs
FUNCTIONS = 150     # of each

MAIN = r'''
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[2]); i++) {
		char path[4096];
		unsigned (*f)(unsigned);
		void *h;

		snprintf(path, sizeof(path), "%s/l%d.so", argv[1], i);
		h = dlopen(path, RTLD_NOW);
		f = h ? (unsigned (*)(unsigned))dlsym(h, "work") : NULL;
		if (!f)
			return 1;
		for (unsigned k = 0; k < 500; k++)
			f(k);
	}
	return 0;
}
'''

HOT = r'''
static inline unsigned mix(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525u + NUMBER;
	return x;
}
unsigned work(unsigned x);
unsigned work(unsigned x) { return mix(x, 9000) + mix(x, 3000); }
'''


def _filler(unit):
    """A unit that is never run."""
    text = []
    for i in range(FUNCTIONS):
        name = 'u%d_%d' % (unit, i)
        text.append(
            'struct s_%s { int a, b[%d]; struct s_%s *next; };\n'
            'static inline int in_%s(struct s_%s *s, int k)\n'
            '{ for (int i = 0; i < k; i++) s->a += s->b[i & 1]; '
            'return s->a; }\n'
            'int f_%s(struct s_%s *s, int k);\n'
            'int f_%s(struct s_%s *s, int k)\n'
            '{ return in_%s(s, k) + (s->next ? in_%s(s->next, k) : 0); }\n' %
            (name, i + 2, name, name, name, name, name, name, name, name,
             name))
    return ''.join(text)


def _cc(*args, text=None):
    cmd = [os.environ.get('CC', 'cc')] + list(args)
    done = subprocess.run(cmd, input=text, text=True, check=False,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise Failed('%s: %s' % (' '.join(cmd), done.stderr[-400:]))


def _compile(text, out, *options):
    _cc('-O2', '-g', '-fPIC', *options, '-c', '-x', 'c', '-', '-o', out,
        text=text)


def _through(top):
    """The program that runs through libraries."""
    _cc('-O1', '-x', 'c', '-', '-o', os.path.join(top, 'through'), '-ldl',
        text=MAIN)


def through_libraries(tools, count):
    """A command that runs through so many small libraries."""
    top = os.path.join(tools.work, 'libraries')
    os.makedirs(top, exist_ok=True)
    for i in range(count):
        out = os.path.join(top, 'l%d.so' % i)
        if os.path.exists(out):
            continue
        hot = os.path.join(top, 'hot.o')
        _compile(HOT, hot, '-DNUMBER=%d' % i)
        _cc('-shared', '-Wl,--build-id', '-o', out, hot)
    _through(top)
    return [os.path.join(top, 'through'), top, str(count)]


def _build(top):
    """Two folders of libraries, which differ only in what never runs."""
    done = os.path.join(top, 'done')
    if os.path.exists(done):
        return
    shutil.rmtree(top, ignore_errors=True)
    filler = []
    for unit in range(UNITS):
        os.makedirs(top, exist_ok=True)
        filler.append(os.path.join(top, 'f%d.o' % unit))
        _compile(_filler(unit), filler[-1])
    for kind, more in (('small', []), ('large', filler)):
        os.mkdir(os.path.join(top, kind))
        for i in range(LIBRARIES):
            hot = os.path.join(top, 'hot.o')
            _compile(HOT, hot, '-DNUMBER=%d' % i)
            _cc('-shared', '-Wl,--build-id', '-o',
                os.path.join(top, kind, 'l%d.so' % i), hot, *more)
    _through(top)
    with open(done, 'w', encoding='ascii'):
        pass


def images(tools, table, args):
    """Issue 3, how good, 3."""
    top = os.path.join(tools.work, 'images')
    _build(top)
    seconds, peaks = {}, {}
    for kind in ('small', 'large'):
        size = os.path.getsize(os.path.join(top, kind, 'l0.so')) >> 10
        print('images: %d libraries of %d KB' % (LIBRARIES, size))
        file = os.path.join(tools.work, kind + '.tally')
        data = os.path.join(tools.work, kind + '.perf.data')
        record(tools, [os.path.join(top, 'through'), os.path.join(top, kind),
                       str(LIBRARIES)], {
            'perf': [tools.perf, 'record', '-q', '-N', '-e', 'cpu-clock',
                     '-F', '4000', '-o', data],
            'tally': [tools.tally, 'record', '-q', '-e', 'cpu-clock', '-F',
                      '4000', '--no-symbols', '-o', file]})
        rows = tools.tally_json(file, 'image')['rows']
        if sum('/%s/l' % kind in r['image'] for r in rows) < LIBRARIES * 0.9:
            raise Failed('not all libraries were hit')
        mine = [tools.tally, 'report', '-s', 'image,symbol,line', file]
        seconds[kind] = median(tools.timed(mine) for _ in range(args.rounds))
        peaks[kind] = median(tools.peak_mb(mine) for _ in range(args.rounds))
    theirs = tools.perf_report + ['report', '--stdio', '-i', data, '-s',
                                  'dso,sym,srcline']
    perf = tools.timed(theirs)
    table.row('symbolize and report 300 libraries by line', seconds['large'],
              perf, 's', ('<=', 0.5))
    table.row('… its peak memory', peaks['large'], tools.peak_mb(theirs), 'MB',
              ('<=', 0.5))
    table.row('… beside 300 without what does not run', seconds['large'],
              seconds['small'], 's', ('<=', 2))
