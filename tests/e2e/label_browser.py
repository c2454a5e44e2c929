# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels in the page, compared with the reports of the same recordings.

    label_browser.py --can           exit status 0 when there is a browser
    label_browser.py DIR [SCREENSHOTS]
                                     the test: few.tally, lots.tally, one.tally,
                                     plain.tally with pages of the same names, and
                                     diff.html
"""
import json
import os
import re
import subprocess
import sys

from browser import Browser, BrowserError, find, ok, same

SCRIPT = '<script>owned()</script>'
IMG = "\"><img src=x onerror=document.title='owned'>"
# {label: values}; "" is none
CHOICES = (
    {'team': ['web']},
    {'team': ['web', 'db']},
    {'team': ['web'], 'canary': ['yes']},
    {'host': ['host-a', 'host-c'], 'service': ['db'], 'revision': ['r1']},
    {'canary': ['']},
    {'team': ['none']},
    {'team': ['']},
    {'task': ['task-9', 'task-11', 'task-12']},
    {'task': [''], 'host': ['host-a']},
    {'__proto__': ['constructor']},
    {SCRIPT: [IMG]},
    {'wide': ['w' * 1000]},
    {'cgroup': ['/system.slice/app.service'], 'team': ['web'],
     'revision': ['r2']},
)
FUNCTIONS = '''(() => { const m = tally.model, f = m.byFunc, out = {};
    m.d.meta.funcs.name.slice(0, m.named).forEach((name, i) => {
        if (f.totalCount[i])
            out[name + " in " + m.d.meta.images[m.d.meta.funcs.image[i]]] =
                [f.selfCount[i], f.totalCount[i]];
    });
    return out; })()'''
LINES = '''(() => { const d = tally.model.d, l = d.lines, out = {};
    const sum = tally.model.now.byLoc().count;
    sum.forEach((n, i) => { const f = l.frame[i];
        const key = d.meta.funcs.name[l.func[f]] + ":" + l.line[f];
        if (n)
            out[key] = (out[key] || 0) + n; });
    return out; })()'''


def report(*args):
    out = subprocess.run([os.environ['TALLY'], 'report', '--format=json', *args],
                         check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)['rows']


def arguments(choice):
    # what is special in a pattern stands for any one character
    return [a for name, values in choice.items() for a in
            ('--label', name + '=' + ','.join(values).replace("'", '?'))]


def index(p, name, value=None):
    """The numbers of a label and its value."""
    labels = p.run('tally.model.d.meta.labels.map(l => [l.name, l.values])')
    k = [x[0] for x in labels].index(name)
    return (k, labels[k][1].index(value)) if value is not None else k


def choose(p, choice):
    p.run('tally.state.labels = null; tally.refilter()')
    for name, values in choice.items():
        for value in values:
            p.run('tally.toggleLabel(%d, %d)' % index(p, name, value))


def equals(p, name, args, recording):
    rows = report(*args, recording)
    # equal names are told apart by their image
    got = {re.sub(r' \([^()]*\) in ', ' in ', k): v
           for k, v in p.run(FUNCTIONS).items()}
    same(name + ': functions', got, {
        re.sub(r' \([^()]*\)$', '', r['symbol']) + ' in ' + r['image']:
        [r['self']['samples'], r['total']['samples']]
        for r in rows if r['total']['samples']})
    total = sum(r['self']['samples'] for r in rows)
    same('… samples', p.run('[tally.model.count[0], '
                            'tally.model.now.before.count]'), [total, total])
    lines = {}
    for r in report('-s', 'symbol,line', *args, recording):
        if r['self']['samples']:
            key = '%s:%d' % (r['symbol'], r['line'])
            lines[key] = lines.get(key, 0) + r['self']['samples']
    same('… lines', p.run(LINES), lines)
    return total


def text_of(choice):
    return ' '.join('%s=%s' % (n[:20], ','.join(x[:20] for x in v))
                    for n, v in choice.items())


def selections(p):
    for choice in CHOICES:
        choose(p, choice)
        total = equals(p, text_of(choice), arguments(choice), 'few.tally')
        ok('… some, but not all', 0 < total < 6136, total)
    # a list of values has the shares that each of them would have
    choose(p, {'team': ['web']})
    k = index(p, 'host')
    got = p.run('''tally.model.d.meta.labels[%d].values.map((v, i) =>
        [v, tally.labels.sums(%d)[i]]).filter(x => x[1])''' % (k, k))
    same('values of another label', dict(got), {
        r['host']: r['self']['samples']
        for r in report('-s', 'host', '--label', 'team=web', 'few.tally')})
    same('a selection of nothing', p.run(
        'tally.toggleLabel(%d, %d); tally.model.count[0]' %
        index(p, 'host', 'host-c')), 0)
    choose(p, {})
    same('all again', p.run('[tally.model.count[0], tally.state.labels, '
                            'tally.model.exact]'), [6136, None, True])
    same('merged recordings have no times', p.run('tally.timeline.slices'), 1)
    # together with a thread
    lane = p.run('tally.model.d.meta.lanes.findIndex(l => l.tid === 101)')
    host, run = p.run('[tally.timeline.host(%d), '
                      'tally.model.d.meta.lanes[%d].run]' % (lane, lane))
    choose(p, {'service': ['app']})
    p.run('tally.toggleLane(%d)' % lane)
    equals(p, 'a label and a thread',
           ['--label', 'service=app', '--tid', '101', '--run', str(run)],
           'few.tally')
    ok('threads are named by machine', host.startswith('host-'), host)
    p.run('tally.toggleLane(%d)' % lane)


def by_hand(p):
    """Keys, clicks, the line of filters, and the address."""
    choose(p, {})
    p.run('document.activeElement.blur()')
    p.key('l')
    same('a key opens the labels', p.run(
        '[document.getElementById("labels").open, '
        'document.activeElement.title]'), [True, 'host: host-a'])
    p.key('Tab')
    p.key(' ')
    same('another one chooses a value, and stays there', p.run(
        '[document.activeElement.title, '
        'document.activeElement.getAttribute("aria-pressed")]'),
        ['host: host-b', 'true'])
    ok('… which is a filter', 'host: host-b' in p.run(
        'document.getElementById("filters").textContent'))
    equals(p, '… as in the report', ['--label', 'host=host-b'], 'few.tally')
    ok('… and a command', '--label host=host-b' in p.run(
        'document.getElementById("labels-how").textContent'))
    x, y = p.run('''(() => { const r = [...document.querySelectorAll(
        "#labels button")].find(b => b.title === "canary: no")
        .getBoundingClientRect(); return [r.x + 9, r.y + 9] })()''')
    p.click(x, y)
    equals(p, 'a click adds another label',
           ['--label', 'host=host-b', '--label', 'canary=no'], 'few.tally')
    link = p.run('location.hash.slice(1)')
    p.run('[...document.querySelectorAll("#filters button")].find('
          'b => b.textContent.startsWith("host")).click()')
    equals(p, 'the filter removes it', ['--label', 'canary=no'], 'few.tally')
    same('what is chosen is told aloud', p.run(
        'document.getElementById("filters").getAttribute("aria-live")'),
        'polite')
    same('nothing in the panel is out of reach of keys', p.run(
        '[...document.querySelectorAll("#labels button, #labels input")]'
        '.filter(b => b.tabIndex < 0).length'), 0)
    return link


def groups(p, recording, name):
    k = index(p, name)
    p.run('tally.setView("flame"); tally.setGroup(%d)' % (k + 2))
    want = {r[name]: r['self']['samples']
            for r in report('-s', name, recording)}
    full = {('[%s: %s]' % (name, v) if v else '[without %s]' % name): n
            for v, n in want.items()}
    same('grouped by %s, each value is a frame' % name, dict(p.run(
        '''(() => { const s = tally.flame.source; return s.kids(s.root).map(h => [
        tally.model.d.meta.funcs.name[s.key(h) >> 1], s.count(h)]) })()''')),
        full)
    same('… and a row', dict(p.run('''(() => { const t = tally.timeline;
        return t.rows.values.map((v, i) => [
            tally.model.d.meta.labels[%d].values[v], t.all.slice(
            i * t.slices, (i + 1) * t.slices).reduce((a, b) => a + b)]) })()'''
                                   % k)), want)
    p.run('tally.setView("table")')
    p.run('tally.timeline.toggle(0)')
    first = max(want, key=lambda v: (v != '', want[v]))
    same('a row selects its value', p.run('tally.model.count[0]'), want[first])
    p.run('tally.timeline.toggle(0); tally.setGroup(0)')


def hostile(p):
    same('names are text', p.run(
        '[document.title.includes("owned"), document.querySelectorAll('
        '"#main img, #main script").length, ({}).constructor === Object]'),
        [False, 0, True])
    choose(p, {SCRIPT: [IMG], 'wide': ['']})
    ok('… in the filters, too', p.run(
        'document.getElementById("filters").textContent').count(IMG[:20]) == 1)
    same('no commands that mean something else', p.run(
        'document.getElementById("labels-how").textContent'), '')
    widest = p.run('''Math.max(...[...document.querySelectorAll(
        "#labels button, #filters button")].map(b => b.offsetWidth))''')
    ok('wide values are cut', widest <= 520, widest)
    same('… and the page is not wider', p.run(
        'document.documentElement.scrollWidth <= innerWidth'), True)


def lots(p):
    l = p.run('''(() => { const l = tally.model.d.meta.labels.find(
        l => l.name === "task"); return [l.values.length, l.others] })()''')
    same('a page has at most 1000 values', l, [1002, 9000])
    p.run('tally.labels.open()')
    shown = p.run('document.querySelectorAll("#labels button.value").length')
    ok('few of 10,000 values are shown', shown < 60, shown)
    k = index(p, 'task')
    named = [r for r in report('-s', 'task', 'lots.tally') if r['task']]
    most = max(r['self']['samples'] for r in named)
    name = p.run('tally.model.d.meta.labels[%d].values[700]' % k)
    p.run('''(() => { const f = tally.labels.parts[%d].find;
        f.value = %s; f.dispatchEvent(new Event("input")) })()''' %
          (k, json.dumps(name.upper())))
    ok('the search finds one', name in p.run(
        '[...document.querySelectorAll("#labels button.value[data-label='
        '\'%d\'] .name")].map(b => b.textContent)' % k))
    p.run('tally.toggleLabel(%d, 700)' % k)
    equals(p, '… and it has its samples', ['--label', 'task=' + name],
           'lots.tally')
    p.run('tally.toggleLabel(%d, 700); tally.toggleLabel(%d, 1001)' % (k, k))
    values = p.run('tally.model.d.meta.labels[%d].values' % k)
    rest = sum(r['self']['samples'] for r in named) - sum(
        r['self']['samples'] for r in named if r['task'] in values[1:1001])
    same('the others are one value', p.run('tally.model.count[0]'), rest)
    ok('… of the rarest', 0 < rest and most > 1, (rest, most))
    p.run('tally.state.labels = null; tally.refilter()')
    for i in range(20):
        p.run('tally.toggleLabel(%d, %d)' % (k, i + 1))
    ok('many chosen values are one filter', 'task: 20 values' in p.run(
        'document.getElementById("filters").textContent'))


def timed(p):
    """One recording with times: labels, and a part of the time."""
    choose(p, {'task': ['task-9', 'task-17']})
    equals(p, 'threads of one process have several labels',
           arguments({'task': ['task-9', 'task-17']}), 'one.tally')
    same('the timeline has the selection', p.run(
        'tally.timeline.all.reduce((a, b) => a + b) === tally.model.count[0]'),
        True)
    whole = p.run('tally.model.count[0]')
    p.run('tally.setTime(0, 0)')
    part = p.run('tally.model.count[0]')
    rest = p.run('tally.setTime(1, tally.last); tally.model.count[0]')
    same('a part of the time and the rest are all', part + rest, whole)
    ok('… in slices', p.run('tally.timeline.slices') > 1)
    p.run('tally.setTime(0, tally.last)')


def compared(p):
    """A page of `diff`: both sides, filtered."""
    p.run('tally.toggleLabel(%d, %d)' % index(p, 'service', 'db'))
    for side, label in ('now', 'canary=yes'), ('base', 'canary!=yes'):
        want = sum(r['self']['samples'] for r in report(
            '--label', 'service=db', '--label', label, 'few.tally'))
        same('a comparison is filtered: ' + side, p.run(
            'tally.model.%s.count[0]' % side), want)


def main():
    if sys.argv[1:] == ['--can']:
        if not find():
            sys.exit('no Chromium here')
        with Browser() as b:
            b.call('Browser.getVersion')
        return
    os.chdir(sys.argv[1])
    shots = sys.argv[2] if len(sys.argv) > 2 else ''

    def shot(page, name):
        if shots:
            page.shot(os.path.join(shots, name + '.png'))
    with Browser() as browser:
        p = browser.open('few.html')
        selections(p)
        link = by_hand(p)
        shot(p, 'labels')
        q = browser.open('few.html', fragment=link)
        same('a link leads to the same selection', q.run(
            '[tally.model.count[0], tally.labelFilters().map(x => x[0])]'),
            [2032, ['host: host-b', 'canary: no']])
        bad = browser.open('few.html', fragment='l=99.1_0.x_2_1.99&g=77')
        same('what makes no sense in a link is left out', bad.run(
            '[tally.state.labels, tally.state.group]'), [None, 0])
        for name in 'host', 'service', 'task':
            groups(bad, 'few.tally', name)
        hostile(bad)
        shot(bad, 'labels-hostile')
        phone = browser.open('few.html', width=390, mobile=True)
        phone.run('tally.labels.open()')
        same('a narrow page is not wider', phone.run(
            'document.documentElement.scrollWidth <= innerWidth'), True)
        shot(phone, 'labels-phone')
        m = browser.open('lots.html')
        lots(m)
        shot(m, 'labels-lots')
        o = browser.open('one.html')
        timed(o)
        c = browser.open('diff.html')
        compared(c)
        n = browser.open('plain.html', fragment='l=0.1&g=2')
        same('without labels there is nothing of this', n.run(
            '[document.getElementById("labels").hidden, '
            'document.getElementById("group-box").hidden, '
            'tally.state.labels, tally.state.group, '
            '"labels" in tally.model.d.meta, '
            '"cohorts" in tally.model.d.meta]'),
            [True, True, None, 0, False, False])
        for page in p, q, bad, phone, m, o, c, n:
            found = page.problems()
            ok('no errors, no requests', not found, found)


if __name__ == '__main__':
    try:
        main()
    except BrowserError as e:
        sys.exit('%s: %s' % (sys.argv[0], e))
