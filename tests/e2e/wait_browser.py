# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits in the page, compared with the reports of the same recording.

    wait_browser.py --can            exit status 0 when there is a browser
    wait_browser.py DIR SCREENSHOTS  the test: a.html with waits, c.html without,
                                     d.html compares; pairs.json, kinds.json,
                                     events.json
"""
import json
import os
import sys

from browser import Browser, BrowserError, find, ok, same


def near(got, want):
    return abs(got - want) <= 1e-6 * max(want, 1)


def read(folder, name):
    with open(os.path.join(folder, name), encoding='utf-8') as f:
        return json.load(f)


ROWS = '''[...document.querySelectorAll("#%s tr:not(.gap)")].map(
    r => [...r.cells].map(c => c.textContent))'''


def tables(p, folder):
    pairs = read(folder, 'pairs.json')['pairs']
    shown = p.run(ROWS % 'pairs')

    def place(pair, key):
        call = pair[key + 'call']
        return pair[key + 'function'] + (call and ' in ' + call)
    # Names are shortened on both sides: the hostile one keeps its markup as text.
    want = [[str(x['waits']), x['wait'] or 'unknown',
             place(x, '').replace('alert(1)', 'alert(…)')] for x in pairs[:40]]
    same('the table of ends has the rows of --wakers',
         [r[2:5] for r in shown], want)
    same('… and who ended them', [r[5] for r in shown],
         [place(x, 'by_').replace('<b>', '<…>') for x in pairs[:40]])
    whole = p.run('tally.model.d.meta.waits.pairs.rows.map(r => r.ns)')
    same('… and their times', whole, [x['blocked_ns'] for x in pairs])
    same('names are not markup', p.run(
        'document.querySelectorAll("#main img, #main td b:not(.share b)")'
        '.length'), 0)
    sites = p.run(ROWS % 'sites')
    first_idle = p.run('[...document.querySelectorAll("#sites tr")].findIndex('
                       'r => r.classList.contains("gap"))')
    ok('idle threads come last', 0 < first_idle and any(
        'idle_worker' in r[4] for r in sites[first_idle:]), sites)
    ok('callers that tell are shown', any(
        r[4] == 'wait_any in poll, from ask_disk' for r in sites), sites)


def states(p, folder):
    """Time by state is that of the reports; {state: ns}."""
    events = {r['event']: r['self']['weight']
              for r in read(folder, 'events.json')['rows']}
    cpu = next(w for e, w in events.items()
               if e not in ('blocked', 'runnable', 'waking'))
    got = {k: v for k, v in p.run(
        'tally.waits.states().map(x => [tally.model.d.meta.kinds[x.kind], x.ns])')}
    want = {r['wait'] or 'unknown': r['self']['weight']
            for r in read(folder, 'kinds.json')['rows']}
    want['running'] = cpu
    want['runnable'] = events['runnable']
    ok('time by state is that of the reports', got.keys() == want.keys() and all(
        near(got[k], want[k]) for k in want), (got, want))
    return want


def choose(p, name):
    p.run('''[...document.querySelectorAll("#kinds button")].find(
        b => b.textContent === %s).click()''' % json.dumps(name))


def filters(p, want):
    choose(p, 'read pipe')
    same('a state by click selects all time', p.run(
        'tally.model.events[tally.state.event].name'), 'all time')
    ok('… of that state only', near(p.run('tally.model.value[0]'),
                                    want['read pipe']))
    ok('… which is named', 'Waits: read pipe' in p.run(
        'document.getElementById("filters").textContent'))
    ok('… and filters the timeline', near(p.run(
        'tally.timeline.all.reduce((a, b) => a + b)'), want['read pipe']))
    same('… and the tables', set(p.run(
        '[...document.querySelectorAll("#sites tr:not(.gap)")]'
        '.map(r => r.cells[3].textContent)')), {'read pipe'})
    choose(p, 'futex')
    ok('another one is added', near(p.run('tally.model.value[0]'),
                                    want['read pipe'] + want['futex']))
    link = p.run('location.hash.slice(1)')
    choose(p, 'futex')
    choose(p, 'read pipe')
    ok('without any all time is shown', near(p.run('tally.model.value[0]'),
                                             sum(want.values())))
    return link


def groups(p, want):
    p.run('tally.setView("flame"); tally.setGroup(1)')
    got = dict(p.run('''(() => { const s = tally.flame.source;
        return s.kids(s.root).map(h => [
            tally.model.d.meta.funcs.name[s.key(h) >> 1], s.value(h)]) })()'''))
    names = {('[%s]' if k in ('running', 'runnable') else '[waits: %s]') % k: v
             for k, v in want.items()}
    ok('grouped, each state is a frame at the root', got.keys() == names.keys()
       and all(near(got[k], v) for k, v in names.items()), (got, names))
    same('… whose functions are those of that state', p.run('''(() => {
        const s = tally.flame.source, d = tally.model.d, at = s.kids(s.root).find(
            h => d.meta.funcs.name[s.key(h) >> 1] === "[waits: read pipe]");
        let n = 0;
        for (let i = at; i < d.end[at]; i++)
            n += d.meta.funcs.name[d.func[i]].startsWith("<img");
        return n })()'''), 1)
    p.run('document.getElementById("inverted").click()')
    ok('… inverted, too', near(p.run(
        '''(() => { const s = tally.flame.source; return s.kids(s.root).reduce(
        (a, k) => a + s.value(k), 0) })()'''), sum(want.values())))
    p.run('document.getElementById("inverted").click()')


def colours(p, want):
    same('colours tell what waits', p.run(
        'document.getElementById("colour").value'), 'state')
    waits = p.run('tally.model.waiting()[0]')
    ok('… as much as there is', near(waits, sum(want.values()) -
                                     want['running']), waits)
    ok('a function that computes hardly waits', p.run('''(() => {
        const m = tally.model, w = m.waiting(), f = tally.model.nodesOf(
            m.d.meta.funcs.name.indexOf("compute"));
        const run = f.reduce((a, i) => a + m.value[i] - w[i], 0);
        return run })()''') > .5 * want['running'])
    same('the timeline has all three states', p.run(
        'tally.timeline.states.length'), 2)


def main():
    if sys.argv[1:] == ['--can']:
        if not find():
            sys.exit('no Chromium here')
        with Browser() as b:
            b.call('Browser.getVersion')
        return
    folder, shots = sys.argv[1:]

    def file(name):
        return os.path.join(folder, name)
    with Browser() as browser:
        p = browser.open(file('a.html'), fragment='view=waits')
        tables(p, folder)
        want = states(p, folder)
        p.shot(os.path.join(shots, 'waits.png'))
        link = filters(p, want)
        groups(p, want)
        colours(p, want)
        p.shot(os.path.join(shots, 'waits-flame.png'))
        q = browser.open(file('a.html'), fragment=link + '&g=1')
        ok('a link leads to the same state', near(
            q.run('tally.model.value[0]'), want['read pipe'] + want['futex']))
        ok('… with groups', q.run('document.getElementById("group").value') == '1')
        bad = browser.open(file('a.html'),
                           fragment='view=waits&k=99.x.-1&g=7&e=99&c=none')
        same('what makes no sense in a link is left out', bad.run(
            '[tally.state.kinds, tally.state.group, tally.state.colour]'),
            [None, 0, 'state'])
        c = browser.open(file('c.html'), fragment='view=waits&g=1&k=1')
        same('without waits there is nothing of this', c.run(
            '[document.getElementById("tab-waits").hidden,'
            'document.getElementById("group-box").hidden,'
            'document.getElementById("colour-box").hidden,'
            'tally.state.view === "waits", tally.state.kinds]'),
            [True, True, True, False, None])
        d = browser.open(file('d.html'), fragment='view=waits')
        ok('a comparison has time by state', d.run(
            'document.querySelectorAll("#kinds tr").length') > 3)
        for page in p, q, bad, c, d:
            found = page.problems()
            ok('no errors, no requests', not found, found)


if __name__ == '__main__':
    try:
        main()
    except BrowserError as e:
        sys.exit('%s: %s' % (sys.argv[0], e))
