# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks into pages and pictures with parsers that are not ours.

    html_check.py policy PAGE        hashes, and what the page consists of
    html_check.py sums PAGE JSON     functions against `report --format=json`
    html_check.py lines PAGE JSON    lines and instructions against
                                     `annotate --both --format=json`
    html_check.py both PAGE JSON     both sides against `diff --format=json`
    html_check.py pairs PAGE JSON    which lines and instructions are paired,
                                     against `diff --both --format=json`
    html_check.py begins PAGE NAME   it opens at the lines of a function
    html_check.py threads PAGE JSON  threads against `report -s symbol,tid`
    html_check.py label PAGE NAME JSON   a label's values against
                                     `report -s NAME`
    html_check.py svg FILE JSON      elements, attributes, the root's samples
    html_check.py size FILE BYTES
    html_check.py short PAGE         prints the short names of functions
"""
import base64
import collections
import hashlib
import html.parser
import json
import os
import re
import struct
import sys
import xml.etree.ElementTree
import zlib

VOID = {'meta', 'input'}


class Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = collections.Counter()
        self.texts = collections.defaultdict(list)
        self.open = []
        self.policy = self.first = None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] += 1
        for name, value in attrs.items():
            assert not name.startswith('on'), (tag, name)
            assert name not in ('style', 'src', 'srcdoc', 'action'), name
            assert 'owned' not in (value or ''), (tag, attrs)
        if attrs.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attrs['content']
            self.before = dict(self.tags)
        if tag == 'script' and 'type' in attrs:
            tag = 'data'
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        last = self.open.pop()
        assert tag == last or (tag, last) == ('script', 'data'), (tag, last)

    def handle_data(self, data):
        self.texts[self.open[-1] if self.open else ''].append(data)


def parse(path):
    p = Parser()
    with open(path, encoding='utf-8') as f:
        text = f.read()
    assert text.startswith('<!DOCTYPE html>')
    p.feed(text)
    p.close()
    assert not p.open, p.open
    return p, text


def data(path):
    p, _ = parse(path)
    raw = zlib.decompress(base64.b64decode(''.join(p.texts['data']),
                                           validate=True))
    n = struct.unpack('<I', raw[:4])[0]
    meta = json.loads(raw[4:4 + n])
    at = 4 + n

    def column(count):
        nonlocal at
        out = []
        for _ in range(count):
            x = shift = 0
            while True:
                b = raw[at]
                at += 1
                x |= (b & 127) << shift
                shift += 7
                if b < 128:
                    break
            out.append(x)
        return out

    d = {'meta': meta}
    n = meta['nodes'] - 1
    d['up'] = column(n)
    d['key'] = column(n)
    cohorts = meta.get('cohorts', len(meta['lanes']))
    lane = column(cohorts) if 'labels' in meta else list(range(cohorts))
    d['label'] = {x['name']: column(cohorts) for x in meta.get('labels', [])}

    def entries(n):
        kind = ['kind'] if meta.get('kinds') else []
        e = {name: column(n) for name in ['node', 'event', 'cohort'] + kind +
             ['bucket', 'count']}
        e['lane'] = [lane[x] for x in e['cohort']]
        e['weight'] = column(sum(not meta['events'][x]['per']
                                 for x in e['event']))
        return e

    d.update(entries(meta['entries']))
    funcs = len(meta['funcs']['image'])
    d['sums'] = []
    for e in meta['events']:
        s = {'self': column(funcs), 'total': column(funcs)}
        s['self_weight'] = [x * e['per'] for x in s['self']] if e['per'] \
            else column(funcs)
        s['total_weight'] = [x * e['per'] for x in s['total']] if e['per'] \
            else column(funcs)
        d['sums'].append(s)
    n = meta['lines']['frames']
    for name in 'frame_func', 'frame_file', 'frame_line', 'frame_outer':
        d[name] = column(n)
    n = meta['lines']['locs']
    for name in 'loc_frame', 'loc_code', 'loc_insn':
        d[name] = column(n)
    d['loc'] = entries(meta['lines']['entries'])
    n = meta['lines']['insns']
    for name in 'size', 'flow', 'jump', 'insn_frame':
        d[name] = column(n)
    n = meta['lines']['calls']
    for name in 'call_func', 'call_file', 'call_line':
        d[name] = column(n)
    d['call'] = entries(meta['lines']['call_entries'])
    assert at == len(raw), (at, len(raw))
    return d


def samples_by(entries, n):
    """Samples by location or by call."""
    out = [0] * n
    at = 0
    for delta, count in zip(entries['node'], entries['count']):
        at += delta
        out[at] += count
    return out


def lines(path, annotation):
    """The page's functions by line and instruction, as annotate has them."""
    d = data(path)
    meta = d['meta']
    samples = samples_by(d['loc'], meta['lines']['locs'])
    calls = samples_by(d['call'], meta['lines']['calls'])
    with open(annotation, encoding='utf-8') as f:
        units = json.load(f)['units']
    known = set(meta['lines']['funcs'])
    seen = called = 0
    for u in units:
        # annotate takes what is declared at one place for one function,
        # the page what is in one image
        ids = {i + 1 for i, n in enumerate(meta['funcs']['name'])
               if n == u['name']}
        here = [i for i in ids if i - 1 in known]
        if u['kind'] != 'function' or not here:
            continue
        want = collections.Counter()
        for f in u['files']:
            for l in f['lines']:
                for c in l.get('cost', []):
                    for kind in 'self', 'inlined', 'called':
                        # without a line the page has instructions only
                        if kind in c and (f['file'] or kind != 'called'):
                            want[f['file'], l['line'], kind] += \
                                c[kind]['samples']
        got = collections.Counter()
        for loc, n in enumerate(samples):
            at, inner = d['loc_frame'][loc], True
            while d['frame_func'][at] not in here and d['frame_outer'][at]:
                at, inner = at - d['frame_outer'][at], False
            if d['frame_func'][at] not in here or not n:
                continue
            name = d['frame_file'][at]
            got[meta['lines']['files'][name - 1]['name'] if name else '',
                d['frame_line'][at], 'self' if inner else 'inlined'] += n
        for call, n in enumerate(calls):
            if d['call_func'][call] + 1 in here:
                name = d['call_file'][call]
                got[meta['lines']['files'][name - 1]['name'] if name else '',
                    d['call_line'][call], 'called'] += n
                called += n
        got += collections.Counter()    # without zeros
        if len(here) < len(ids):
            got, want = [{k: n for k, n in c.items() if k[2] == 'self'}
                         for c in (got, want)]
        assert got == want, (u['name'], got, want)
        seen += 1
    assert seen > 3 and called, (seen, called)
    insns(d, units, samples)


def begins(path, name):
    d = data(path)
    meta = d['meta']
    func = meta['begin']['func']
    assert meta['begin']['view'] == 'lines'
    assert name in meta['funcs']['name'][func], meta['funcs']['name'][func]
    assert func == meta['lines']['funcs'][0]


def insns(d, units, samples):
    by_code = collections.defaultdict(collections.Counter)
    for loc, n in enumerate(samples):
        if d['loc_code'][loc] and d['loc_insn'][loc] and n:
            by_code[d['loc_code'][loc] - 1][d['loc_insn'][loc] - 1] += n
    codes = {(c['image'], c['vaddr']): (i, c)
             for i, c in enumerate(d['meta']['lines']['codes'])}
    for u in units:
        for c in u['codes']:
            at, code = codes.get((c['image'], c['vaddr']), (None, None))
            if at is None or not code['insns']:
                continue
            assert [t.split('\t')[0] for t in code['text']] == \
                [x['text'] for x in c['instructions']]
            want = {i: x['cost'][0]['self']['samples']
                    for i, x in enumerate(c['instructions'])
                    if 'cost' in x}
            assert want == by_code[at], (c['symbol'], want, by_code[at])


def sha(text):
    return "'sha256-%s'" % base64.b64encode(
        hashlib.sha256(text.encode()).digest()).decode()


def policy(path):
    p, text = parse(path)
    style, = p.texts['style']
    script = ''.join(p.texts['script'])
    assert p.policy == (
        "default-src 'none'; script-src %s; style-src %s; base-uri 'none'; "
        "form-action 'none'" % (sha(script), sha(style))), p.policy
    # nothing that could run stands before the policy
    assert set(p.before) <= {'html', 'head', 'meta'}, p.before
    assert p.tags['script'] == 2 and p.tags['style'] == 1, p.tags
    for tag in ('img', 'iframe', 'link', 'object', 'embed', 'base', 'form',
                'svg', 'a'):
        assert not p.tags[tag], tag
    for word in ('http:', 'https:', '//www', 'XMLHttpRequest', 'fetch(',
                 'WebSocket', 'eval(', 'innerHTML', 'insertAdjacentHTML',
                 'document.write', 'outerHTML', 'new Function'):
        assert word not in script, word
    for c in text:
        assert c in '\n\t' or (ord(c) >= 32 and ord(c) != 127), repr(c)
        assert c not in '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068' \
            '\u2069\u200e\u200f\u200b\ufeff', repr(c)


def sums(path, report):
    d = data(path)
    meta = d['meta']
    with open(report, encoding='utf-8') as f:
        rows = json.load(f)['rows']
    names = meta['funcs']['name']
    s, = d['sums']
    want = collections.Counter()
    got = collections.Counter()
    for r in rows:
        want[tuple(r[k][v] for k in ('self', 'total')
                   for v in ('samples', 'weight'))] += 1
    for i in range(len(s['self'])):
        got[s['self'][i], s['self_weight'][i], s['total'][i],
            s['total_weight'][i]] += 1
    assert got == want, (got - want, want - got)
    by_name = {}
    for r in rows:
        by_name.setdefault(r['symbol'], []).append(r['self']['samples'])
    plain_names = 0
    for i, n in enumerate(s['self']):
        if names[i] in by_name:
            assert n in by_name[names[i]], names[i]
            plain_names += 1
    assert plain_names > len(rows) / 3
    # what the tree holds is all that was selected
    assert sum(d['count']) == meta['header']['samples']['selected']
    assert sum(s['self']) == sum(d['count'])
    assert max(d['bucket']) < meta['time']['buckets']
    tree(d)


def both(path, diff):
    """Functions of both sides against `diff --format=json`."""
    d = data(path)
    meta = d['meta']
    side = {e['side']: i for i, e in enumerate(meta['events'])}
    with open(diff, encoding='utf-8') as f:
        rows = json.load(f)['rows']
    want = collections.Counter(
        tuple(r[k].get(s, {'samples': 0})['samples'] for s in ('old', 'new')
              for k in ('self', 'total')) for r in rows)
    old, new = d['sums'][side[1]], d['sums'][side[0]]
    got = collections.Counter(zip(old['self'], old['total'], new['self'],
                                  new['total']))
    # the diff leaves out what neither side did itself
    got, want = [collections.Counter({k: n for k, n in c.items()
                                      if k[0] or k[2]}) for c in (got, want)]
    assert got == want, (got - want, want - got)
    # the common tree holds all samples of both
    n = collections.Counter()
    for event, count in zip(d['event'], d['count']):
        n[event] += count
    for s in 0, 1:
        assert n[side[s]] == meta['events'][side[s]]['samples'] == \
            sum(d['sums'][side[s]]['self'])


def paired(p):
    """{old: (new, whether they differ)} of one pair of files or codes."""
    runs = p[2:]
    return {runs[k] + i: (runs[k + 1] + i, bool(runs[k + 3]))
            for k in range(0, len(runs), 4) for i in range(runs[k + 2])}


def pairs(path, diff):
    """The pairs of one function's lines and instructions."""
    lines = data(path)['meta']['lines']
    with open(diff, encoding='utf-8') as f:
        unit, = json.load(f)['units']
    checked = 0
    for part, kind, number in (('files', 'lines', 'line'),
                               ('codes', 'instructions', 'offset')):
        for x in unit[part]:
            want, alone = {}, [set(), set()]
            offsets = [sorted(int(r[s]['offset'], 16) for r in x[kind]
                              if s in r) if part == 'codes' else None
                       for s in ('old', 'new')]
            for r in x[kind]:
                at = [None if s not in r else r[s]['line'] if part == 'files'
                      else offsets[i].index(int(r[s]['offset'], 16))
                      for i, s in enumerate(('old', 'new'))]
                if None in at:
                    alone[at[0] is None].add(at[at[0] is None])
                else:
                    want[at[0]] = (at[1], r['how'] == 'changed')
            found = [paired(p) for p in lines[part[:-1] + '_pairs']]
            found = [p for p in found if want.items() <= p.items()]
            assert len(found) == 1, (part, want, lines[part[:-1] + '_pairs'])
            assert not alone[0] & found[0].keys()
            assert not alone[1] & {new for new, _ in found[0].values()}
            checked += len(want)
    assert checked > 20, checked


def tree(d):
    """Totals by function from the tree, where nothing was left out."""
    meta = d['meta']
    small = meta['small']
    funcs = len(meta['funcs']['image'])
    parent, depth, path = [0], [0], [0]
    for up in d['up']:
        level = depth[-1] + 1 - up
        assert level >= 1
        depth.append(level)
        parent.append(path[level - 1])
        path[level:] = [len(parent) - 1]
    own = [0] * len(parent)
    node = 0
    for delta, count in zip(d['node'], d['count']):
        node += delta
        own[node] += count
    func = [None] + [k >> 1 for k in d['key']]
    total = own[:]
    for i in range(len(parent) - 1, 0, -1):
        total[parent[i]] += total[i]
    by_self = [0] * funcs
    left_out = 0
    for i in range(1, len(parent)):
        if func[i] < funcs:
            by_self[func[i]] += own[i]
        else:
            left_out += own[i]
    assert left_out == small['samples'], (left_out, small)
    if small['nodes']:
        assert small['share'] > 0 and small['samples'] > 0
        assert all(a <= b for a, b in zip(by_self, d['sums'][0]['self']))
    else:
        assert by_self == d['sums'][0]['self']
    # siblings: the largest first, but for what was summed
    for i in range(1, len(parent)):
        j = i + 1
        while j < len(parent) and depth[j] > depth[i]:
            j += 1
        if i < 3000 and j < len(parent) and depth[j] == depth[i] and \
                func[j] < funcs:
            assert total[i] >= total[j]


def threads(path, report):
    d = data(path)
    got = collections.Counter()
    for lane, count in zip(d['lane'], d['count']):
        got[d['meta']['lanes'][lane]['tid']] += count
    with open(report, encoding='utf-8') as f:
        rows = json.load(f)['rows']
    want = collections.Counter()
    for r in rows:
        want[r['tid']] += r['self']['samples']
    assert got == +want, (got, want)
    for lane in d['meta']['lanes']:
        assert lane['samples'] == want[lane['tid']]


def label(path, name, report):
    """Samples by value of a label against `report -s NAME`.  The rarest values
    are one."""
    d = data(path)
    values, = [x for x in d['meta']['labels'] if x['name'] == name]
    got = [0] * len(values['values'])
    for cohort, count in zip(d['cohort'], d['count']):
        got[d['label'][name][cohort]] += count
    with open(report, encoding='utf-8') as f:
        want = {r[name]: r['self']['samples'] for r in json.load(f)['rows']}
    others = values.get('others', 0)
    names = values['values'][:-1] if others else values['values']
    for text, n in zip(names, got):
        assert want.pop(text, 0) == n, (text, n)
    assert len(want) == others, (len(want), others)
    assert sum(want.values()) == (got[-1] if others else 0)
    # the rarest ones are summed
    if others:
        assert max(want.values()) <= min(got[1:-1])
    assert got[1:len(names)] == sorted(got[1:len(names)], reverse=True)


def svg(path, report):
    root = xml.etree.ElementTree.parse(path).getroot()
    ns = '{http://www.w3.org/2000/svg}'
    allowed = {
        'svg': {'width', 'height', 'viewBox', 'font-family', 'font-size',
                'fill'},
        'g': set(), 'title': set(),
        'rect': {'x', 'y', 'width', 'height', 'fill'},
        'text': {'x', 'y', 'font-size', 'fill', 'font-style'},
    }
    width = float(root.get('width'))
    for e in root.iter():
        assert e.tag.startswith(ns), e.tag
        tag = e.tag[len(ns):]
        assert tag in allowed and set(e.attrib) <= allowed[tag], (tag,
                                                                  e.attrib)
        if tag == 'rect' and e.get('x'):
            x, w = float(e.get('x')), float(e.get('width'))
            assert 0 <= x and w > 0 and x + w <= width, (x, w)
    with open(report, encoding='utf-8') as f:
        header = json.load(f)['header']
    n = '{:,}'.format(header['samples']['selected'])
    assert root.find('%sg/%stitle' % (ns, ns)).text == \
        'all\n%s samples, 100.00%%' % n
    with open(path, encoding='utf-8') as f:
        text = f.read()
    assert not re.search('<script|<img|<b>|on[a-z]+="|&#?0|\x1b', text)
    assert '\u202e' not in text


def short(path):
    funcs = data(path)['meta']['funcs']
    for name, brief in zip(funcs['name'], funcs['short']):
        print(brief or name)


def size(path, most):
    n = os.path.getsize(path)
    assert n <= int(most), n
    print(n)


if __name__ == '__main__':
    {'policy': policy, 'sums': sums, 'lines': lines, 'both': both,
     'pairs': pairs, 'begins': begins, 'threads': threads,
     'label': label, 'svg': svg,
     'size': size, 'short': short}[sys.argv[1]](*sys.argv[2:])
