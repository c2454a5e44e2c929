# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens pages in a headless Chromium without network and uses them.

    html_browser.py --can            exit status 0 when there is a browser
    html_browser.py DIR SCREENSHOTS  the test; SCREENSHOTS may be empty

States are read from the page and never judged by time.
"""
import json
import os
import sys

import html_changes
from browser import Browser, BrowserError, find, ok, same

ROWS = '[...document.querySelectorAll("#rows tr")]'


class Test:
    def __init__(self, browser, folder, shots):
        self.browser = browser
        self.folder = folder
        self.shots = shots

    def file(self, name):
        return os.path.join(self.folder, name)

    def open(self, name, fragment='', **how):
        return self.browser.open(self.file(name), fragment=fragment, **how)

    def shot(self, page, name):
        if self.shots:
            page.shot(os.path.join(self.shots, name + '.png'))


def drawn(page, box='flame'):
    """Distinct colours on a graph's canvas: one is an empty picture."""
    return page.run('''(() => {
        const c = document.querySelector("#%s canvas");
        const o = new OffscreenCanvas(c.width, c.height)
            .getContext("2d", { willReadFrequently: true });
        o.drawImage(c, 0, 0);
        const d = o.getImageData(0, 0, c.width, c.height);
        return new Set(new Uint32Array(d.data.buffer)).size })()''' % box)


def frame(page, n, graph='flame'):
    """Where the n-th widest frame below the root is, on the screen."""
    return page.run('''(() => {
        const g = tally.%s;
        g.box.scrollIntoView({block: "nearest"});
        const b = g.canvas.getBoundingClientRect();
        const r = g.rects.filter(r => r.row > 0 && !r.above)
            .sort((a, b) => b.w - a.w || a.row - b.row)[%d];
        return [b.left + r.x + r.w / 2, b.top + g.y(r.row) + 8,
            g.path(r.h), tally.model.d.meta.funcs.name[g.source.key(r.h) >> 1]]
        })()''' % (graph, n))


def test_table(t):
    p = t.open('many.html')
    with open(t.file('many.json'), encoding='utf-8') as f:
        report = json.load(f)
    rows = report['rows']
    same('the table comes first', p.run(
        'document.getElementById("view-table").hidden'), False)
    got = p.run(ROWS + '.slice(0, 20).map(r => [r.querySelector("a").title,'
                'r.querySelector(".im").textContent,'
                'r.children[0].textContent, r.children[2].textContent])')
    got = [[html_changes.plain(name, image)] + rest
           for (name, image, *rest) in got]
    same('it has the rows of the report', got, [
        [r['symbol'], '%.2f%%' % r['self']['percent']
         if r['self']['percent'] >= .1 else '%.3f%%' % r['self']['percent'],
         '{:,}'.format(r['self']['samples'])] for r in rows[:20]])
    p.run('document.querySelector("[data-sort=total]").click()')
    want = max(r['total']['samples'] for r in rows)
    same('sorted by total', p.run(
        'tally.model.byFunc.totalCount[+' + ROWS +
        '[0].querySelector("a").dataset.func]'), want)
    same('… which the head says', p.run(
        'document.querySelector("th[aria-sort]").textContent'), 'Total')
    p.run('document.querySelector("[data-sort=name]").click()')
    names = p.run(ROWS + '.map(r => r.querySelector("a").textContent)')
    same('sorted by name', names, sorted(names))
    n = p.run(ROWS + '.length')
    p.run('document.getElementById("more").click()')
    ok('more rows come when asked for', p.run(ROWS + '.length') > n, n)
    p.key('/')
    p.type('work_0001')
    ok('/ goes to the search, which filters', p.run(
        ROWS + '.every(r => r.textContent.includes("work_0001"))') and
       p.run(ROWS + '.length') == sum('work_0001' in r['symbol']
                                      for r in rows))
    p.key('Escape')
    same('Escape ends it', p.run('tally.state.q'), '')
    t.shot(p, 'table')
    return p


def test_twins(t):
    """Two functions called process, in a.c and b.c."""
    p = t.open('twins.html')
    got = p.run(ROWS + '.map(r => r.querySelector("a").textContent)'
                '.filter(n => n.startsWith("process")).sort()')
    same('functions of one name have a row each', got,
         ['process (a.c)', 'process (b.c)'])
    for which in 'a', 'b':
        p.run('tally.choose(tally.model.d.meta.funcs.name.indexOf('
              '"process (%s.c)"), "calls")' % which)
        same('… and callers of its own: ' + which, p.run(
            '[...new Set(document.getElementById("view-calls").textContent'
            '.match(/run_[ab]/g))].join()'), 'run_' + which)
    return p


def test_none(t):
    """No samples: why is seen without a click."""
    if not os.path.exists(t.file('none.html')):     # no perf events here
        return ()
    p = t.open('none.html')
    shown = 'document.getElementById("quality-text").innerText'
    ok('a page without samples shows why', 'No samples: ' in p.run(shown),
       p.run(shown))
    q = t.open('twins.html')
    same('… and others have their quality folded',
         q.run('document.getElementById("quality").open'), False)
    return p, q


def test_graph(t):
    p = t.open('many.html', 'view=flame')
    ok('the graph is drawn', drawn(p) > 20, drawn(p))
    t.shot(p, 'flame')
    x, y, path, name = frame(p, 1)
    p.mouse('mouseMoved', x, y)
    ok('a tooltip names the frame', name in p.run(
        'document.getElementById("tip").textContent'), name)
    ok('… and counts its samples', ' samples' in p.run(
        'document.getElementById("tip").textContent'))
    p.click(x, y)
    same('a click zooms', p.run('tally.state.zoom'), path)
    ok('… which the address says', 'z=' + path.replace('.', '.') in
       p.run('location.hash'), p.run('location.hash'))
    same('… to the whole width', p.run(
        'tally.flame.byHandle.get(tally.flame.zoom).w'),
        p.run('tally.flame.box.clientWidth'))
    p.run('document.getElementById("reset").click()')
    same('reset zooms out', p.run('tally.state.zoom'), '')
    p.run('history.back()')
    p.wait('tally.state.zoom === "%s"' % path)
    ok('the way back zooms in again', True)
    p.run('tally.flame.canvas.focus()')
    p.key('Backspace')
    ok('Backspace zooms out by one frame',
       p.run('tally.state.zoom') == '.'.join(path.split('.')[:-1]))
    p.run('tally.pick(tally.flame.find("%s"), tally.flame)' % path)
    p.key('Escape')
    same('Escape leaves the zoom', p.run('tally.state.zoom'), '')
    p.run('document.getElementById("reset").click();'
          'tally.flame.canvas.focus()')
    p.key('ArrowUp')
    p.key('ArrowUp')
    said = p.run('document.getElementById("say").textContent')
    ok('arrow keys move and say where', ' samples' in said, said)
    p.key('Enter')
    same('Enter zooms', len(p.run('tally.state.zoom').split('.')), 2)
    p.run('document.getElementById("reset").click()')
    check_search(t, p)
    check_inverted(t, p)
    return p


def check_search(t, p):
    p.run('document.getElementById("search").focus()')
    p.type('libpart3')
    with open(t.file('many.json'), encoding='utf-8') as f:
        rows = json.load(f)['rows']
    matched = float(p.run('document.getElementById("matched").textContent')
                    .split('%')[0])
    least = max(r['total']['percent'] for r in rows
                if 'libpart3' in r['image'])
    ok('the matched share', least <= matched + .01 and matched <= 100,
       (least, matched))
    p.run('document.getElementById("search").value = "/work_0000[01]\\\\(/";'
          'tally.searched()')
    same('a regular expression', p.run(
        'tally.model.match.reduce((a, b) => a + b)'), sum(
            'work_00000(' in r['symbol'] or 'work_00001(' in r['symbol']
            for r in rows))
    p.run('document.getElementById("search").value = "/(/"; tally.searched()')
    same('a bad one is told', p.run(
        'document.getElementById("matched").textContent'),
        'not a regular expression')
    p.run('delete document.documentElement.dataset.marked;'
          'document.getElementById("search").value = "work_00001";'
          'tally.searched()')
    p.wait('document.documentElement.dataset.marked === "yes"')
    same('the timeline marks what matched', p.run(
        'tally.timeline.part.reduce((a, b) => a + b)'), p.run(
            'tally.model.within(tally.model.match)'))
    t.shot(p, 'search')
    p.run('document.getElementById("search").value = ""; tally.searched()')


def check_inverted(t, p):
    p.run('document.getElementById("inverted").click()')
    first = p.run('''(() => { const s = tally.flame.source;
        const k = s.kids(s.root);
        return [k.reduce((a, b) => a + s.count(b), 0), s.count(s.root)]})()''')
    same('inverted: all samples are some function\'s', first[0], first[1])
    x, y, path, _ = frame(p, 1)
    p.click(x, y)
    same('… and zoom works there', p.run('tally.state.zoom'), path)
    ok('… drawn', drawn(p) > 10, drawn(p))
    p.run('document.getElementById("icicle").click()')
    same('icicle: the root is on top', p.run('tally.flame.y(0)'), 1)
    t.shot(p, 'inverted')


# Whether the zoomed frame is in the box, and whether anything but the ground
# is drawn there.
SEEN = '''(() => { const g = tally.flame, r = g.byHandle.get(g.zoom);
    const y = r ? g.y(r.row) : -1;
    return y >= 0 && y + 18 <= g.box.clientHeight && g.seen().some(
        f => f.w > 30 && g.y(f.row) >= 0 && g.y(f.row) < g.box.clientHeight)
    })()'''
DEEP = '''(() => { const g = tally.flame, s = g.source; let h = s.root;
    for (let i = 0; i < %d; i++) { const k = s.kids(h);
        k.sort((a, b) => s.value(b) - s.value(a));
        const down = k.find(x => tally.model.short[s.key(x) >> 1]
            .startsWith("down"));
        const next = down !== undefined ? down : k[0];
        if (next === undefined) break; h = next; }
    tally.pick(h, g); return g.zoomed; })()'''


def test_deep(t):
    p = t.open('deep.html', 'view=flame')
    n = p.run('tally.model.d.depth.reduce((a, b) => Math.max(a, b), 0)')
    ok('stacks are deep', n > 800, n)
    ok('at first the root is seen', p.run(SEEN) and drawn(p) > 5)
    t.shot(p, 'deep')
    for name, act, back in (
            ('the reset button', 'document.getElementById("reset").click()',
             None),
            ('the way back', 'history.back()', 'tally.state.zoom === ""'),
            ('Inverted', 'document.getElementById("inverted").click()', None),
            ('Icicle', 'document.getElementById("icicle").click()', None),
            ('the root frame', 'tally.pick(tally.flame.source.root, '
             'tally.flame)', None),
            ('a link', 'location.hash = "#view=flame"',
             'tally.state.zoom === ""'),
            ('another view', 'tally.setView("table"); tally.setView("flame")',
             None),
            ('a time slice', 'tally.setTime(10, 60)', None),
            ('a thread', 'tally.setLanes(tally.model.d.meta.lanes.map('
             'x => 1))', None)):
        for depth in 700, 30:
            p.run(DEEP % depth)
            ok('zoomed into frame %d, it is seen' % depth, p.run(SEEN) and
               drawn(p) > 2)
            p.run('tally.flame.box.scrollTop = 0')
            p.run(act)
            if back:
                p.wait(back)
            p.run('new Promise(r => requestAnimationFrame(() => '
                  'setTimeout(r)))')
            if name in ('a time slice', 'a thread', 'another view'):
                # the zoom stays, and the place that was scrolled to as far
                # as there is anything
                ok('after %s the graph is not blank' % name,
                   drawn(p) > 2 and p.run('tally.flame.seen().length') > 0)
            else:
                ok('after %s the root is seen' % name, p.run(SEEN) and
                   drawn(p) > 4, p.run('[tally.flame.offset, '
                                       'tally.flame.height]'))
            if depth == 700 and name == 'the reset button':
                t.shot(p, 'deep-reset')
            p.run('tally.state.inverted = tally.state.icicle = false;'
                  'for (const id of ["inverted", "icicle"])'
                  '    document.getElementById(id).checked = false;'
                  'tally.state.zoom = ""; tally.state.lanes = null;'
                  'tally.setTime(0, tally.last); tally.plant();'
                  'tally.drawView()')
    p.run(DEEP % 700)
    t.shot(p, 'deep-zoomed')
    ok('frames above a deep one are folded', p.run(
        'tally.flame.rects.filter(r => r.folded).length') == 1 and
       p.run('tally.flame.rects.filter(r => r.above).length') < 60)
    q = t.open('deep.html', p.run('location.hash.slice(1)'))
    same('a link to a deep frame leads there', q.run('[tally.state.zoom, '
         'tally.flame.path(tally.flame.zoom)]'), [p.run('tally.state.zoom')] * 2)
    ok('… and shows it', q.run(SEEN))
    return p, q


def test_deeper(t):
    """Stacks of which a page shows the recursion folded."""
    p = t.open('deeper.html', 'view=flame')
    with open(t.file('deeper.json'), encoding='utf-8') as f:
        rows = {r['symbol']: r for r in json.load(f)['rows']}
    small = p.run('tally.model.d.meta.small')
    ok('recursion below a depth is folded', small['folded'] and
       p.run('tally.model.d.depth.reduce((a, b) => Math.max(a, b), 0)') <
       2 * small['depth'], small)
    ok('… which the page says', 'below that recursion is folded' in p.run(
        'document.getElementById("foot").textContent'))
    ok('the graph is drawn', drawn(p) > 2 and p.run(SEEN))
    # a slice that is all: sums of the tree, not those that are stored
    sums = '''(() => { const m = tally.model, f = m.byFunc, out = {};
        for (let i = 0; i < m.named; i++)
            out[m.short[i]] = [f.selfCount[i], f.totalCount[i]];
        return out })()'''
    want = {n: [r['self']['samples'], r['total']['samples']]
            for n, r in rows.items()}
    same('all sums are right', p.run(sums), want)
    p.run('tally.setChanges([["r", ""+tally.model.short.indexOf("main")]])')
    same('… those of the folded tree, too', p.run(sums), want)
    p.run('tally.setChanges([["a", ""]])')
    same('all recursion collapsed: each function itself costs the same',
         {n: x[0] for n, x in p.run(sums).items()},
         {n: x[0] for n, x in want.items()})
    ok('… and few frames', p.run('tally.model.nodes') < 10)
    p.run('tally.undo(); tally.setView("tree")')
    p.run('document.querySelector("#tree-rows tr").focus()')
    for _ in range(3):
        p.key('*')
    ok('the call tree opens it', p.run(
        'document.querySelectorAll("#tree-rows tr").length') > 50)
    p.run('tally.setView("flame"); tally.searchFor("leaf"); tally.hit(1)')
    ok('a search leads to the deepest frame', p.run(
        'tally.model.short[tally.flame.source.key(tally.flame.hit) >> 1]') ==
       'leaf' and p.run('''(() => { const g = tally.flame, y = g.y(
       g.byHandle.get(g.hit).row); return y >= 0 && y < g.box.clientHeight
       })()'''))
    t.shot(p, 'deeper')
    p.run('document.getElementById("inverted").click()')
    ok('inverted it is drawn, too', drawn(p) > 2 and p.run(SEEN))
    return p


def at_frame(page, names):
    """The place in the flame graph's tree of a path of (name, image)."""
    return page.run('''(() => { const m = tally.model, s = tally.flame.source;
        let h = s.root;
        for (const [name, image] of %s) {
            h = s.kids(h).find(k => { const f = s.key(k) >> 1;
                const all = m.d.meta.funcs.name[f];
                return (all === name || all === name + " (" +
                    image.replace(/.*[/]/, "") + ")") &&
                    m.d.meta.images[m.d.meta.funcs.image[f]] === image; });
        }
        tally.flame.focus = h; tally.flame.canvas.focus();
        return tally.flame.path(h); })()''' % json.dumps(names))


def by_key(page, check, kind, arg):
    """Makes a change as a user does: what it is of, then the key."""
    if kind in 'FMI':
        at_frame(page, arg)
    elif kind in 'LC':
        page.run('document.activeElement.blur(); tally.choose(%d)' % next(
            i for i, f in enumerate(check.func) if f[1] == arg))
    elif kind != 'a':
        page.run('document.activeElement.blur(); tally.choose(%d)' %
                 check.number[arg])
    page.key('F' if kind == 'I' else kind)


def test_changes(t):
    p = t.open('many.html', 'view=flame')
    stacks = html_changes.read(t.file('many.stacks'))
    c = html_changes.Changes(p, stacks, ok)
    c.compare('without any change', [])
    hot = sorted(((n, f) for f, n in html_changes.Counter(
        f for _, _, s in stacks for f in set(s)).items()), reverse=True)
    # the root and functions below it; one that calls itself
    top, a, b = hot[0][1], hot[2][1], hot[7][1]
    again = next(f for _, f in hot if any(
        x == y == f for _, _, s in stacks for x, y in zip(s, s[1:])))
    far = next(f for _, f in hot if any(
        s.count(f) > 1 for _, _, s in stacks) and f != top)
    path = next(s[:4] for _, _, s in stacks if len(s) > 8)
    tail = next(s[:-4:-1] for _, _, s in stacks if len(s) > 8)
    image = a[1]
    same('the page holds all stacks', p.run('tally.model.d.meta.small.nodes'),
         0)
    for kind, arg in (('f', a), ('F', path), ('m', b), ('m', top),
                      ('M', path), ('L', image), ('c', a), ('C', image),
                      ('r', far), ('R', again), ('a', None), ('d', b)):
        by_key(p, c, kind, arg)
        same('key %s makes a change' % kind, p.run(
            'tally.state.changes.map(x => x[0])'), [kind])
        c.compare(kind, [(kind, arg)])
        same('… the timeline has it, too', p.run(
            'tally.timeline.all.reduce((a, b) => a + b)'), p.run(
                'tally.model.count[0]'))
        ok('… the graph is drawn', drawn(p) > 5 and p.run(SEEN))
        p.key('z', 2)
        same('… Ctrl Z takes it back', p.run('tally.state.changes'), [])
    p.run('document.getElementById("inverted").click()')
    by_key(p, c, 'I', tail)
    c.compare('a subtree of the inverted tree', [('I', tail)])
    p.run('document.querySelector("#steps button").click();'
          'document.getElementById("inverted").click()')
    same('all are taken back by a click', p.run('tally.state.changes'), [])
    c.compare('… and all is as before', [])
    several(t, p, c, a, b, image, path)
    return p


def several(t, p, c, a, b, image, path):
    """Changes one after the other; with time and threads; undone; linked."""
    other = next(f for f in c.func if f[1] != image and f not in (a, b))
    steps = [('f', a), ('m', b), ('L', image), ('d', other), ('a', None)]
    for kind, arg in steps:
        by_key(p, c, kind, arg)
    c.compare('five changes', steps)
    t.shot(p, 'changes')
    link = p.run('location.hash.slice(1)')
    q = t.open('many.html', link)
    html_changes.Changes(q, c.samples, ok).compare('a link to them', steps)
    same('… which lists them', q.run(
        'document.querySelectorAll("#steps button").length'), 6)
    q.close()
    p.run('document.querySelectorAll("#steps button")[2].click()')
    c.compare('one of them taken back', steps[:1] + steps[2:])
    p.run('history.back()')
    p.wait('tally.state.changes.length === 5')
    c.compare('the way back', steps)
    p.key('z', 2)
    c.compare('Ctrl Z', steps[:-1])
    p.key('Z', 2 | 8)
    c.compare('Ctrl Shift Z', steps)
    time = p.run('tally.model.d.meta.time')
    begin = min(s[0] for s in c.samples)
    part = html_changes.Counter(
        s for at, _, s in c.samples
        if 10 <= (at - begin) // time['width_ns'] <= 90)
    p.run('tally.setTime(10, 90)')
    c.compare('a slice of time of them', steps, part)
    p.run('tally.setTime(0, tally.last)')
    known = p.run('tally.source.lines.meta.funcs[0]')
    lines = p.run('tally.source.lines.collect(tally.model.now, %d).all.count'
                  '()' % known)
    for view in 'table', 'tree', 'calls', 'lines':
        p.run('tally.setView("%s")' % view)
        if view == 'lines':
            p.run('tally.choose(%d, "lines")' % known)
            text = p.run('document.getElementById("source-text").textContent')
            ok('lines say that changes do not reach them',
               'changes to the stacks do not apply' in text, text[:300])
            ok('… and are shares of all samples', '%.2f%% of the selection' % (
                100 * lines / len(c.samples)) in text, text[:300])
        t.shot(p, 'changes-' + view)
    p.run('tally.setView("flame"); document.querySelector("#steps button")'
          '.click()')
    check_menu(t, p, c)


def check_menu(t, p, c):
    x, y, path, name = frame(p, 3)
    p.right(x, y)
    ok('a right click opens the menu', p.run(
        '!document.getElementById("menu").hidden'))
    t.shot(p, 'menu')
    same('… with the focus in it', p.run(
        'document.activeElement.getAttribute("role")'), 'menuitem')
    p.key('ArrowDown')
    p.key('ArrowUp')
    p.key('ArrowUp')
    same('… where arrow keys move', p.run(
        'document.activeElement.textContent'), 'Copy stackY')
    p.key('Escape')
    same('… and Escape leaves', p.run(
        '[document.getElementById("menu").hidden, tally.state.zoom,'
        'document.activeElement === tally.flame.canvas]'), [True, '', True])
    p.key('F10', 8)
    ok('Shift F10 opens it for the same frame', name.startswith(p.run(
        'tally.model.short[tally.context().func]')[:5]) and p.run(
            '!document.getElementById("menu").hidden'), name)
    p.key('Enter')
    number = int(path.split('.')[-1]) >> 1
    same('… Enter does what it says', p.run('tally.state.changes'),
         [['f', str(number)]])
    p.key('z', 2)
    at_frame(p, [])
    h = p.run('tally.flame.focus = tally.flame.find("%s")' % path)
    p.key('Y')
    p.wait('tally.copied')
    want = p.run('''(() => { const out = [], m = tally.model;
        for (let h = %d; h; h = m.d.parent[h]) { const f = m.d.func[h];
            out.push(m.d.meta.funcs.name[f] + " (" + m.image(f) + ")"); }
        return out.join("\\n") + "\\n" })()''' % h)
    same('Y copies the stack', p.run('tally.copied'), want)
    p.run('tally.setView("table"); tally.copied = ""; document.querySelector('
          '"#rows tr:nth-child(3) a").focus()')
    func = p.run('+document.activeElement.dataset.func')
    p.key('y')
    p.wait('tally.copied')
    same('y copies the name', html_changes.plain(
        p.run('tally.copied'), c.func[func][1]), c.func[func][0])
    p.key('m')
    same('keys change what has the focus', p.run('tally.state.changes'),
         [['m', str(func)]])
    p.key('?')
    ok('? shows the keys', p.run('document.getElementById("help").open'))
    t.shot(p, 'help')
    p.key('Escape')
    ok('… until Escape', not p.run('document.getElementById("help").open') and
       p.run('tally.state.changes.length') == 1)


def test_places(t):
    p = t.open('many.html', 'view=flame')
    with open(t.file('many.json'), encoding='utf-8') as f:
        rows = [r for r in json.load(f)['rows'] if 'work_0001' in r['symbol']]
    stacks = [s for _, _, s in html_changes.read(t.file('many.stacks'))]
    # places: paths to frames that match below one that does not
    places = html_changes.Counter()
    for s in stacks:
        for i, f in enumerate(s):
            if 'work_0001' in f[0] and not (i and 'work_0001' in s[i - 1][0]):
                places[s[:i + 1]] += 1
    matched = sum(any('work_0001' in f[0] for f in s) for s in stacks)
    p.key('/')
    p.type('work_0001')
    same('the matched share', p.run(
        'document.getElementById("matched").textContent').split('%')[0],
        '%.2f' % (100 * matched / len(stacks)))
    same('places are counted', p.run(
        'document.getElementById("hit-at").textContent'),
        '%d places' % len(places))
    hidden = p.run('tally.flame.rects.reduce((a, r) => a + (r.hidden || 0),'
                   '0)')
    shown = p.run('''tally.flame.rects.filter(r => !r.above && r.row &&
        tally.model.match[tally.flame.source.key(r.h) >> 1] && !tally.model
        .match[tally.flame.source.key(tally.flame.source.parent(r.h)) >> 1])
        .length''')
    same('… all are drawn, or marked where they are hidden', hidden + shown,
         len(places))
    ok('… some are hidden', hidden > 10, hidden)
    sizes = []
    for i in range(1, 8):
        p.key('Enter')
        same('Enter goes to place %d' % i, p.run(
            'document.getElementById("hit-at").textContent'),
            '%d of %d places' % (i, len(places)))
        sizes.append(p.run('tally.flame.source.count(tally.flame.hit)'))
        ok('… which is seen', p.run('''(() => { const g = tally.flame,
            r = g.byHandle.get(g.hit), y = r ? g.y(r.row) : -1;
            return y >= 0 && y < g.box.clientHeight && r.w >= 10 })()'''))
    same('… the costliest first', sizes,
         sorted(places.values(), reverse=True)[:7])
    t.shot(p, 'place')
    p.key('Enter', 8)
    same('Shift Enter goes back', p.run('tally.foundAt'), 5)
    p.run('document.activeElement.blur()')
    p.key('n')
    p.key('N')
    p.key('N')
    same('n and N do so, too', p.run('tally.foundAt'), 4)
    for _ in range(5):
        p.key('N')
    same('… around the end', p.run('tally.foundAt'), len(places) - 1)
    ok('… to the least one, which is seen', p.run(
        'tally.flame.byHandle.get(tally.flame.hit).w') >= 10)
    p.run('document.getElementById("inverted").click()')
    p.key('n')
    p.key('n')
    ok('inverted there are places, too', p.run(
        'tally.model.match[tally.flame.hit.key >> 1]') == 1 and p.run(
            'tally.flame.byHandle.has(tally.flame.hit)'))
    t.shot(p, 'place-inverted')
    p.run('document.getElementById("inverted").click();'
          'tally.setView("tree")')
    p.key('n')
    ok('in the call tree the place is a row that is seen', p.run(
        '''(() => { const b = document.querySelector("#tree-rows tr.hit")
        .getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight
        })()'''))
    t.shot(p, 'place-tree')
    p.run('tally.setView("table")')
    same('in the table functions are counted', p.run(
        'document.getElementById("hit-at").textContent'),
        '%d functions' % len(rows))
    p.key('n')
    same('… and marked', p.run(
        'document.querySelectorAll("#rows tr.hit").length'), 1)
    p.key('Escape')
    same('one Escape ends the search', p.run('[tally.state.q, tally.state.'
                                             'view]'), ['', 'table'])
    return p


def test_time(t):
    p = t.open('many.html', 'view=flame')
    box = p.run('''(() => { const b = document.getElementById("time-canvas")
        .getBoundingClientRect(); return [b.left, b.top, b.width] })()''')
    left = p.run('tally.timeline.left()')
    x0 = box[0] + left + (box[2] - left) * .25
    x1 = box[0] + left + (box[2] - left) * .5
    p.mouse('mouseMoved', x0, box[1] + 10)
    p.mouse('mousePressed', x0, box[1] + 10)
    for i in range(1, 5):
        p.mouse('mouseMoved', x0 + (x1 - x0) * i / 4, box[1] + 10)
    p.mouse('mouseReleased', x1, box[1] + 10)
    s = p.run('[tally.state.from, tally.state.to, tally.last]')
    ok('a slice of time is selected by dragging',
       0 < s[0] < s[1] < s[2], s)
    part = p.run('tally.model.count[0]')
    same('… which filters the graph', part, p.run('''
        tally.timeline.all.reduce((sum, n, i) => { const k = i %
            tally.timeline.slices; return k >= tally.state.from &&
            k <= tally.state.to ? sum + n : sum }, 0)'''))
    ok('… and says how much that is', '{:,} samples selected'.format(part) in
       p.run('document.getElementById("filters").textContent'))
    p.click(box[0] + 30, box[1] + 26 + 10)
    same('a click selects a thread', p.run('tally.laneList()'), [1])
    ok('… which filters, too', 0 < p.run('tally.model.count[0]') < part)
    t.shot(p, 'selected')
    link = p.run('location.hash.slice(1)')
    p.run('document.getElementById("time-canvas").focus()')
    p.key('Escape')
    same('Escape selects all', p.run('tally.model.count[0]'), 10000)
    p.key('ArrowRight')
    p.key('ArrowRight', 8)
    ok('arrow keys select', p.run('tally.state.to') < s[2])
    q = t.open('many.html', link)
    same('a link leads to the same state', q.run(
        '[tally.state.from, tally.state.to, tally.laneList()]'),
        [s[0], s[1], [1]])
    return p, q


def test_tree(t):
    p = t.open('many.html', 'view=tree')
    rows = '[...document.querySelectorAll("#tree-rows tr")]'
    ok('the call tree has rows', p.run(rows + '.length') > 5)
    same('… whose roots are those of the graph', p.run(
        rows + '.filter(r => r.ariaLevel === "1" && !r.dataset.more)'
        '.map(r => tally.tree.rows[+r.dataset.row].h)'), p.run(
            'tally.flame.source.kids(0).slice(0, 60)'))
    p.run('document.querySelector(\'#tree-rows tr[aria-expanded="false"]\')'
          '.focus()')
    n, row = p.run('[%s.length, +document.activeElement.dataset.row]' % rows)
    p.key('ArrowRight')
    ok('the arrow opens a row', p.run(rows + '.length') > n)
    p.key('ArrowRight')
    same('… then goes into it', p.run(
        '[+document.activeElement.dataset.row, '
        'tally.tree.source.parent(tally.tree.at) === tally.tree.rows[%d].h]'
        % row), [row + 1, True])
    p.key('ArrowLeft')
    p.key('ArrowLeft')
    p.key('ArrowLeft')
    same('… and back closes it', p.run(rows + '.length'), n)
    t.shot(p, 'tree')
    p.run('document.getElementById("inverted-tree").click()')
    same('inverted, its roots add up to all samples', p.run(
        'tally.tree.source.kids(tally.tree.source.root)'
        '.reduce((a, k) => a + tally.tree.source.count(k), 0)'), 10000)
    p.run('document.querySelector("#tree-rows a").click()')
    same('a name leads to its callers', p.run('tally.state.view'), 'calls')
    return p


def test_calls(t):
    p = t.open('many.html')
    p.run(ROWS + '[2].querySelector("a").click()')
    same('a function by click', p.run('tally.state.view'), 'calls')
    same('… is named', p.run(
        'document.querySelector("#chosen h2").title'),
        p.run('tally.model.d.meta.funcs.name[tally.state.func]'))
    ok('callers add up to its total', p.run('''(() => {
        const b = new Object(), c = tally.calls.up.source;
        const kids = c.kids(c.root);
        return kids.reduce((a, k) => a + c.count(k), 0) <= c.count(c.root) &&
            c.count(c.root) === tally.model.byFunc.totalCount[
                tally.state.func] })()'''))
    ok('graphs of both are drawn',
       drawn(p, 'up') > 5 and drawn(p, 'down') > 5)
    t.shot(p, 'calls')
    f = p.run('tally.state.func')
    p.run('document.querySelector("#callers a").click()')
    ok('a caller by click', p.run('tally.state.func') != f)
    for key, view in (('1', 'table'), ('2', 'flame'), ('3', 'tree'),
                      ('4', 'calls'), ('5', 'lines')):
        p.run('document.activeElement.blur()')
        p.key(key)
        same('key ' + key, p.run('tally.state.view'), view)
    return p


# What the lines of the chosen function add up to: itself, in all.
LINES = '''(() => { const c = tally.source.lines.collect(tally.model.now,
    tally.state.func).all; return [c.selfCount, c.count()] })()'''
SELF = 'tally.model.now.byFunc().selfCount[tally.state.func]'
CODE = 'document.querySelectorAll("#source-text .code tbody tr")'


# With what its lines called, the lines of a function have all samples that it
# is in: as the tree has them for what is selected.
CALLED = '''(() => { const c = tally.source.lines.collect(tally.model.now,
    tally.state.func).all; return [c.calledCount, c.count() + c.calledCount]
    })()'''
TOTAL = 'tally.model.now.byFunc().totalCount[tally.state.func]'


def called(t, p):
    f = p.run('tally.state.func')
    p.run('tally.choose(tally.source.lines.meta.funcs.filter(f => '
          '!tally.source.lines.uncalled.has(f) && '
          'tally.source.lines.callsOf(f).length)[0], "lines")')
    same('what lines called is a column', p.run(
        '[...document.querySelectorAll("#source-text .code th")].map('
        'x => x.textContent).slice(0, 3)'), ['Self', 'Inlined', 'Calls'])
    whole = p.run(CALLED)
    same('… that adds up to all the function is in', whole[1], p.run(TOTAL))
    shown = p.run('[...document.querySelectorAll("#source-text tbody '
                  'td.num:nth-child(3)")].map(x => x.title).filter(x => x)')
    same('… as it is shown', sum(
        int(x.split()[0].replace(',', '')) for x in shown), whole[0])
    p.run('tally.setLanes(tally.model.d.meta.lanes.map((x, i) => +(i < 2)));'
          'tally.setTime(20, 120)')
    part = p.run(CALLED)
    ok('threads and time filter it', 0 < part[0] < whole[0], (part, whole))
    same('… exactly', part[1], p.run(TOTAL))
    p.run('tally.setTime(0, tally.last); tally.setLanes(null)')
    t.shot(p, 'called')
    p.run('tally.choose(%d, "lines")' % f)


def test_lines(t):
    p = t.open('many.html', 'view=lines')
    ok('lines are shown', p.run(CODE + '.length') > 0)
    same('… and add up to the function\'s own samples', p.run(LINES)[0],
         p.run(SELF))
    shown = p.run('[...document.querySelectorAll("#source-text tbody '
                  'td.num:first-child")].map(x => x.title).filter(x => x)')
    same('… as they are shown', sum(
        int(x.split()[0].replace(',', '')) for x in shown), p.run(SELF))
    whole = p.run(LINES)[0]
    p.run('tally.setLanes(tally.model.d.meta.lanes.map((x, i) => +(i < 2)))')
    part = p.run(LINES)[0]
    ok('threads that are selected filter them', 0 < part < whole,
       (part, whole))
    same('… exactly', part, p.run(SELF))
    p.run('tally.setTime(20, 120)')
    ok('time, too', 0 < p.run(LINES)[0] < part)
    same('… exactly, too', p.run(LINES)[0], p.run(SELF))
    p.run('tally.setTime(0, tally.last); tally.setLanes(null)')
    t.shot(p, 'lines')
    called(t, p)
    q = t.open('real.html', 'view=lines')
    for show in 'source', 'both', 'asm':
        q.run('document.getElementById("show").value = "%s";'
              'document.getElementById("show").dispatchEvent('
              'new Event("change"))' % show)
        ok('a real program\'s ' + show, q.run(CODE + '.length') > 3)
        t.shot(q, 'real-' + show)
    ok('loops have brackets', q.run(
        'document.querySelectorAll("td.jumps s.loop").length') > 2)
    q.run('document.querySelector("button.jump").click()')
    same('a jump leads to its target', q.run(
        'document.querySelectorAll("tr.target").length'), 1)
    link = q.run('location.hash.slice(1)')
    r = t.open('real.html', link)
    same('a link leads to the same instructions', r.run('tally.state.show'),
         'asm')
    q.run('document.getElementById("all").click()')
    same('nothing is folded when asked for', q.run(
        'document.querySelectorAll("tr.gap").length'), 0)
    s = t.open('one.html')
    same('a page opened at a function', s.run('tally.state.view'), 'lines')
    ok('… which is the one', 'known_cost' in s.run(
        'document.querySelector("#source-text h2").textContent') or
       s.run(CODE + '.length') > 0)
    return p, q, r, s


def choose(page, id, value):
    page.run('(() => { const e = document.getElementById("%s"); e.value = '
             '"%s"; e.dispatchEvent(new Event("change")) })()' % (id, value))


def test_diff(t):
    p = t.open('diff.html')
    with open(t.file('diff.json'), encoding='utf-8') as f:
        rows = json.load(f)['rows']
    same('changes come first', p.run('tally.state.sort'), 'change')
    same('… those of the diff', p.run('''tally.table.order("change", false)
        .slice(0, 1).map(i => [tally.model.d.meta.funcs.name[i],
         tally.model.base.byFunc().selfCount[i],
         tally.model.now.byFunc().selfCount[i]])'''), [
        [r['symbol'], r['self']['old']['samples'],
         r['self']['new']['samples']] for r in rows[:1]])
    r = rows[0]['self']
    got = p.run(ROWS + '[0].children[4].textContent')
    ok('… its cost in one run on both sides', all(
        x.endswith(' ms') and
        abs(float(x[:-3]) * 1e6 / r[side]['cost'] - 1) < .005
        for x, side in zip(got.split(' → '), ('old', 'new'))), got)
    same('… all columns say what they are of', p.run(
        '[...document.querySelectorAll("#table th")].slice(0, 5).map('
        'x => x.innerText.replace(/ [▾▴]/, "").split("\\n"))'), [
            ['Change', 'self, of all before'],
            ['Before', 'self, of all before'], ['Now', 'self, of all now'],
            ['Total now', 'of all now'], ['Self per run', 'before → now']])
    names = p.run('tally.model.d.meta.funcs.name')
    ok('what was renamed has its new name', 'stable' in names and
       'steady' not in names, names)
    both = p.run('["now", "base"].map(s => tally.model[s].byFunc().selfCount'
                 '[%d])' % names.index('stable'))
    ok('… and the cost of both', min(both) > 0, both)
    t.shot(p, 'diff')
    p.run('tally.setView("flame")')
    red = p.run('''(() => { const g = tally.flame, f = tally.model.d.meta.funcs;
        return ["slower", "stable"].map(n => g.changeAt(g.rects.find(r =>
            f.name[g.source.key(r.h) >> 1] === n))) })()''')
    ok('what grew is red, and more than the rest', red[0] > .2 and
       red[0] > red[1], red)
    t.shot(p, 'diff-flame')
    for widths, side in ('base', 'base'), ('new', 'now'):
        choose(p, 'widths', widths)
        same('widths of ' + widths, p.run('tally.flame.source.count(0)'),
             p.run('tally.model.%s.count[0]' % side))
    choose(p, 'widths', 'both')
    p.run('document.getElementById("inverted").click()')
    same('inverted: both sides add up', p.run('''(() => {
        const s = tally.flame.source, k = s.kids(s.root).map(s.sides);
        return [0, 1].map(i => k.reduce((a, x) => a + x[i].count, 0)) })()'''),
        p.run('[tally.model.now.count[0], tally.model.base.count[0]]'))
    p.run('tally.choose(tally.model.d.meta.funcs.name.indexOf("slower"),'
          '"lines")')
    text = p.run('document.getElementById("source-text").textContent')
    ok('its source stands side by side', 'Source before' in text and
       p.run('document.querySelectorAll("tr.changed, tr.added").length') > 0,
       text[:500])
    ok('… with its verdict', 'grew' in text, text[:500])
    ok('… and what shares are of', ' of all before; now ' in text and
       ' ms per run, ' in text and 'Beforeof all before' in text and
       'Nowof all now' in text, text[:500])
    t.shot(p, 'diff-lines')
    choose(p, 'show', 'asm')
    ok('… and its instructions', p.run(
        'document.querySelectorAll("table.pair.asm tbody tr").length') > 4)
    t.shot(p, 'diff-asm')
    q = t.open('diff.html', p.run('location.hash.slice(1)'))
    same('a link leads there', q.run('[tally.state.view, tally.state.show,'
                                     'tally.state.func]'),
         ['lines', 'asm', p.run('tally.state.func')])
    phone = t.open('diff.html', 'view=lines', width=390, height=844,
                   mobile=True)
    for view in 'table', 'flame', 'tree', 'calls', 'lines':
        phone.run('tally.setView("%s")' % view)
        same('a phone is wide enough for changes in ' + view, phone.run(
            'document.documentElement.scrollWidth'), 390)
        t.shot(phone, 'phone-diff-' + view)
    return p, q, phone


def test_check(t):
    p = t.open('check.html')
    head = p.run('document.getElementById("headline").textContent')
    ok('the verdict stands first', head.startswith('regressed') and
       p.run('document.getElementById("headline").getBoundingClientRect().top'
             '< document.getElementById("bar").getBoundingClientRect().top'),
       head)
    row = p.run(ROWS + '[0].textContent')
    ok('what regressed is the first row, with its lines', 'slower' in row and
       'lines that gained: two.c:' in row, row)
    # 4 runs a side: all samples of one side are those of 4 runs
    ms = p.run('tally.model.now.value[0] * tally.model.events[0].per / 4e6')
    got = p.run('tally.model.aRun(tally.model.now, tally.model.now.value[0])')
    number, unit = got.split()
    ok('costs are those of one run', abs(
        float(number) * {'ms': 1, 's': 1000}[unit] / ms - 1) < .005,
       (got, ms))
    t.shot(p, 'check')
    p.run('tally.setView("lines")')
    same('its lines come first', p.run(
        'document.querySelector("#source-text h2").textContent'), 'slower')
    same('all runs are in the timeline', p.run('tally.timeline.lanes.length'),
         8)
    same('… and in the sums', p.run('tally.model.now.count[0] + '
                                    'tally.model.base.count[0]'),
         p.run('tally.timeline.lanes.reduce((a, l) => a + l.samples, 0)'))
    t.shot(p, 'check-lines')
    return p


def test_links(t):
    p = t.open('many.html', 'view=flame&z=99999.1&t=9-3&th=x.900&f=-1&e=7'
               '&sort=evil&q=' + 'a' * 3000)
    same('a senseless link does no harm', p.run(
        '[tally.state.zoom, tally.state.from, tally.state.lanes,'
        'tally.state.func, tally.state.event, tally.state.sort]'),
        ['', 0, None, -1, 0, 'self'])
    q = t.open('begin.html')
    same('flamegraph begins with the graph', q.run(
        '[tally.state.view, tally.state.icicle]'), ['flame', True])
    return p, q


def test_looks(t):
    dark = t.open('many.html', 'view=flame', dark=True)
    same('dark where the system is', dark.run(
        'document.documentElement.dataset.theme'), 'dark')
    t.shot(dark, 'dark')
    dark.run('document.getElementById("theme").click()')
    same('… until switched', dark.run(
        'document.documentElement.dataset.theme'), 'light')
    phone = t.open('many.html', width=390, height=844, mobile=True)
    for view in 'table', 'flame', 'tree', 'calls', 'lines':
        phone.run('tally.setView("%s")' % view)
        same('a phone is wide enough for ' + view, phone.run(
            'document.documentElement.scrollWidth'), 390)
        t.shot(phone, 'phone-' + view)
    return dark, phone


def test_hostile(t):
    return [see_hostile(t, 'hostile%s.html' % kind)
            for kind in ('', '-lines', '-diff', '-check')]


def see_hostile(t, name):
    p = t.open(name)
    for view in 'table', 'flame', 'tree', 'calls', 'lines':
        p.run('tally.setView("%s")' % view)
    for i in range(p.run('tally.model.funcs - 1')):
        p.run('tally.choose(%d, "calls"); tally.tipText(tally.describe('
              'tally.calls.up.source.root, tally.calls.up), 5, 5)' % i)
    for i in range(p.run('tally.model.funcs - 1')):
        p.run('tally.choose(%d, "lines")' % i)
    title = p.run('document.title')
    ok(name + ': hostile names do not run', 'owned' not in title.replace(
        "document.title='owned'", ''), title)
    same('… nor make elements', p.run(
        'document.querySelectorAll("img, svg, b:not(.share b), iframe")'
        '.length'), 0)
    ok('… they are shown as they are', p.run(
        'document.body.textContent.includes("<script>document.title")') or
       p.run('tally.model.d.meta.funcs.name.some(n => n.includes('
             '"<script>document.title"))'))
    t.shot(p, name.split('.')[0])
    if name != 'hostile.html':
        return p
    p.call('Page.navigate', url='file://' + t.file('hostile.svg'))
    p.wait('document.documentElement && '
           'document.documentElement.tagName === "svg"')
    same('an SVG holds none, either', p.run(
        'document.querySelectorAll("script, img, foreignObject").length'), 0)
    ok('… and has no title that ran', not p.run('document.title')
       .startswith('owned'))
    return p


def main():
    if sys.argv[1:] == ['--can']:
        if not find():
            sys.exit('no Chromium here')
        with Browser() as b:
            b.call('Browser.getVersion')
        return
    folder, shots = sys.argv[1:]
    with Browser() as browser:
        t = Test(browser, folder, shots)
        for test in (test_table, test_twins, test_none, test_graph, test_deep, test_deeper,
                     test_changes, test_places,
                     test_time, test_tree, test_calls,
                     test_lines, test_diff, test_check, test_links,
                     test_looks, test_hostile):
            pages = test(t)
            for p in pages if isinstance(pages, (tuple, list)) else (pages,):
                found = p.problems()
                ok('%s: no errors, no requests' % test.__name__, not found,
                   found)
                p.close()


if __name__ == '__main__':
    try:
        main()
    except BrowserError as e:
        sys.exit('%s: %s' % (sys.argv[0], e))
