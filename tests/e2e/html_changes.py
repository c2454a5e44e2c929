# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to the stacks of a page, compared with the same changes made here to
each stack that `tally dump --frames` prints."""
import json
import re
from collections import Counter

FRAME = re.compile(r'^  0x[0-9a-f]+ (.*?) \((.*?)\)( \S+:\d+)?$')


def plain(name, image):
    """A function's own name: without the image that tells it apart from others
    of that name."""
    told = ' (%s)' % image[image.rfind('/') + 1:]
    return name[:-len(told)] if name.endswith(told) else name


def read(path):
    """[(time, thread, ((name, image), …))…], the root first."""
    out = []
    with open(path, encoding='utf-8') as f:
        for line in f:
            if line.startswith('sample '):
                words = dict(w.split('=') for w in line.split()[1:])
                out.append((int(words['time_ns']), int(words['thread']), []))
            elif line.startswith('  '):
                m = FRAME.match(line.replace(' (inlined)', ''))
                if not m:
                    raise ValueError(line)
                out[-1][2].insert(0, (m.group(1), m.group(2)))
    return [(t, n, tuple(s)) for t, n, s in out]


def merged(stack, match):
    left = tuple(f for f in stack if not match(f))
    # what no caller is left for stays
    return left or stack[-1:]


def runs(stack, same):
    out = []
    for i, f in enumerate(stack):
        if not i or not same(stack[i - 1], f):
            out.append(f)
    return tuple(out)


def recursion(stack, func):
    if func not in stack:
        return stack
    first = stack.index(func)
    last = len(stack) - 1 - stack[::-1].index(func)
    return stack[:first] + stack[last:]


def no_recursion(stack):
    out = []
    for f in stack:
        if f in out:
            del out[out.index(f) + 1:]
        else:
            out.append(f)
    return tuple(out)


def change(kind, arg, s):
    """A stack after one change; None: the sample is out."""
    if kind == 'f':
        return s[s.index(arg):] if arg in s else None
    if kind == 'F':
        return s[len(arg) - 1:] if s[:len(arg)] == arg else None
    if kind == 'I':     # arg: from the innermost one outwards
        n = len(arg)
        return s[:len(s) - n + 1] if s[::-1][:n] == arg else None
    if kind == 'm':
        return merged(s, lambda f: f == arg)
    if kind == 'M':
        n = len(arg)
        if s[:n] != arg:
            return s
        return s[:n - 1] + s[n:] or s[-1:]
    if kind == 'L':
        return merged(s, lambda f: f[1] == arg)
    if kind == 'c':
        return s[:s.index(arg) + 1] if arg in s else s
    if kind == 'C':
        return runs(s, lambda a, b: a[1] == arg and b[1] == arg)
    if kind == 'r':
        return recursion(s, arg)
    if kind == 'R':
        return runs(s, lambda a, b: a == arg and b == arg)
    if kind == 'a':
        return no_recursion(s)
    if kind == 'd':
        return None if arg in s else s
    raise ValueError(kind)


def apply(stacks, changes):
    """Counter of stacks after all changes."""
    out = Counter()
    for stack, n in stacks.items():
        for kind, arg in changes:
            stack = change(kind, arg, stack)
            if stack is None:
                break
        if stack is not None:
            out[stack] += n
    return out


def sums(stacks):
    """{function: [self, total]}, and all samples."""
    out = {}
    for stack, n in stacks.items():
        for f in set(stack):
            out.setdefault(f, [0, 0])[1] += n
        out[stack[-1]][0] += n
    return out, sum(stacks.values())


# The same of the page: by name and image of each function.
SUMS = '''(() => { const m = tally.model, f = m.byFunc, out = {};
    for (let i = 0; i < m.named; i++)
        if (f.totalCount[i] > 0)
            out[JSON.stringify([m.d.meta.funcs.name[i],
                m.d.meta.images[m.d.meta.funcs.image[i]]])] =
                [f.selfCount[i], f.totalCount[i]];
    return [out, m.count[0]] })()'''
# All stacks of the page's tree with their samples.
STACKS = '''(() => { const m = tally.model, d = m.d, out = {};
    for (let i = 1; i < m.nodes; i++) {
        if (!(m.selfCount[i] > 0)) continue;
        const s = [];
        for (let k = i; k; k = d.parent[k]) s.push(d.func[k]);
        const key = s.reverse().join(" ");
        out[key] = (out[key] || 0) + m.selfCount[i]; }
    return out })()'''


class Changes:
    """A page and the stacks of the same recording."""
    def __init__(self, page, stacks, ok):
        self.page = page
        self.samples = stacks
        self.ok = ok
        funcs = page.run('''(() => { const f = tally.model.d.meta.funcs;
            return f.image.map((im, i) => [f.name[i],
                tally.model.d.meta.images[im]]) })()''')
        self.func = [(plain(*f), f[1]) for f in funcs]
        self.number = {f: i for i, f in enumerate(self.func)}
        self.images = page.run('tally.model.d.meta.images')

    def arg(self, kind, arg):
        """As the page writes it."""
        if kind == 'a':
            return ''
        if kind in 'LC':
            return str(self.images.index(arg))
        if kind in 'FMI':
            return None
        return str(self.number[arg])

    def compare(self, name, changes, stacks=None):
        want = apply(stacks if stacks is not None else
                     Counter(s for _, _, s in self.samples), changes)
        by_func, count = sums(want)
        got, got_count = self.page.run(SUMS)
        got = {(plain(*f), f[1]): v for f, v in (
            (json.loads(k), v) for k, v in got.items())}
        wrong = [(f, got.get(f), by_func.get(f))
                 for f in set(got) | set(by_func)
                 if got.get(f) != by_func.get(f)]
        self.ok('%s: self and total of all functions' % name,
                not wrong and got_count == count,
                (got_count, count, wrong[:4]))
        tree = self.page.run(STACKS)
        tree = {tuple(self.func[int(i)] for i in k.split()): v
                for k, v in tree.items()}
        self.ok('… and all stacks', tree == dict(want),
                (len(tree), len(want)))
        self.ok('… whose own samples add up to all', sum(
            v[0] for v in got.values()) == got_count == count > 0, count)
