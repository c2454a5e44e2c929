# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML page of a million samples of 100,000 unique stacks: its size, and how
long a headless Chromium takes to answer.  The recording is a made-up one, worse
than real ones: stacks of random calls, spread evenly over 16 threads and time.
Then the page of 100 and of 1,000 merged machines, filtered and grouped by label."""
import os
import sys

from bench_lib import TOP, Failed, median

sys.path.insert(0, os.path.join(TOP, 'tests/e2e'))
from browser import Browser, find  # noqa: E402

SAMPLES, STACKS = 1000000, 100000

# From the call until the frame that shows its result is drawn.
TOOK = '''(async () => { const start = performance.now();
    %s;
    await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
    return performance.now() - start })()'''

SEARCH = ('document.getElementById("search").value = "%s"; '
          'tally.searched()')
STEPS = (
    ('zoom into a frame', 'tally.pick(tally.flame.rects[2].h, tally.flame)'),
    ('zoom deeper', 'tally.pick(tally.flame.rects[9].h, tally.flame)'),
    ('zoom out', 'tally.pick(0, tally.flame)'),
    ('search a function', SEARCH % 'work_0001'),
    ('search an image', SEARCH % 'libpart3'),
    ('end the search', SEARCH % ''),
    ('select a slice of time', 'tally.setTime(20, 40)'),
    ('select all', 'tally.setTime(0, tally.last)'),
    ('invert', 'document.getElementById("inverted").click()'),
    ('select a slice, inverted', 'tally.setTime(60, 90)'),
    ('select threads, inverted', 'tally.setLanes(tally.model.d.meta.lanes'
                                 '.map((x, i) => +(i < 3)))'),
    ('select all, inverted', 'tally.setLanes(null); '
                             'tally.setTime(0, tally.last)'),
    ('turn back', 'document.getElementById("inverted").click()'),
    ('table of functions', 'tally.setView("table")'),
    ('select a slice of the table', 'tally.setTime(10, 40)'),
    ('lines of a function', 'tally.choose(tally.mostExpensive("lines"), "lines")'),
    ('select a slice of its lines', 'tally.setTime(50, 60)'),
    ('callers and callees', 'tally.setView("calls")'),
)


LABEL_STEPS = (
    ('a machine', 'tally.toggleLabel(0, 1)'),
    ('a service, with the list open', 'document.getElementById("labels").open '
     '= true; tally.toggleLabel(1, 1)'),
    ('all again', 'tally.state.labels = null; tally.refilter()'),
    ('group by service', 'tally.setGroup(3)'),
    ('group by machine', 'tally.setGroup(2)'),
)


def labels(tools, args, made, machines):
    folder = os.path.join(args.work, 'hosts%d' % machines)
    recording, page = folder + '.tally', folder + '.html'
    os.makedirs(folder, exist_ok=True)
    tools.output([made, 'hosts', folder, str(machines), '2000', '200'])
    tools.output([tools.tally, 'merge', '-q', '-o', recording] + [
        os.path.join(folder, f) for f in sorted(os.listdir(folder))])
    cmd = [tools.tally, 'report', '--html', '-o', page, recording]
    seconds = median([tools.timed(cmd) for _ in range(args.rounds)])
    print('page of %d machines: %.2f MB, written in %.2f s' % (
        machines, os.path.getsize(page) / 1e6, seconds))
    with Browser() as browser:
        p = browser.open(page, fragment='view=flame')
        for name, script in LABEL_STEPS:
            print('  %s: %.0f ms' % (name, p.run(TOOK % script)))


def html(tools, table, args):
    if not find():
        raise Failed('no Chromium is installed: apt-get install chromium')
    n, stacks = (SAMPLES // 10, STACKS // 10) if args.quick else \
        (SAMPLES, STACKS)
    made = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                        'tests/workload/made_recording')
    if not os.access(made, os.X_OK):
        raise Failed(made + ' is not built: make check TESTS=')
    recording = os.path.join(args.work, 'many.tally')
    page = os.path.join(args.work, 'many.html')
    tools.output([made, 'many', recording, str(n), str(stacks)])
    cmd = [tools.tally, 'report', '--html', '-o', page, recording]
    seconds = median([tools.timed(cmd) for _ in range(args.rounds)])
    size = os.path.getsize(page)
    print('page of %d samples, %d stacks: %.2f MB, written in %.2f s, '
          '%.0f MB of memory' % (n, stacks, size / 1e6, seconds,
                                 tools.peak_mb(cmd)))
    table.missed += size > 3000000
    with Browser() as browser:
        times, opened = {}, []
        for _ in range(args.rounds):
            p = browser.open(page, fragment='view=flame')
            opened.append(p.run('performance.now()'))
            for name, script in STEPS:
                times.setdefault(name, []).append(p.run(TOOK % script))
            p.close()
    print('  open: %.0f ms' % median(opened))
    for name, all_times in times.items():
        ms = median(all_times)
        missed = ms > 100
        table.missed += missed
        print('  %s: %.0f ms%s' % (name, ms, ' (wanted: 100)' if missed
                                   else ''))
    for machines in (100,) if args.quick else (100, 1000):
        labels(tools, args, made, machines)
