#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens exports of consumers.sh's program in programs that show profiles.

    consumers.py speedscope INDEX.html REPORT.json FILE
    consumers.py firefox PROFILER-CLI.js REPORT.json FILE

Self times of the program's functions must be those of the report; exit status 1, and
what differs, where they are not.
"""
import base64
import json
import os
import re
import subprocess
import sys
import time

import browser

FUNCTIONS = ('step', 'stir')
# Of formats that have times instead of weights; a late timer's sample lasts longer.
BY_TIME = ('cpuprofile', 'chrome')
UNITS = {'ns': 1e-6, 'µs': 1e-3, 'ms': 1, 's': 1e3, 'min': 6e4, '': 1e-6}


def report(path):
    with open(path, encoding='utf-8') as f:
        rows = json.load(f)['rows']
    out = {}
    for row in rows:
        out[row['symbol']] = out.get(row['symbol'], 0) + row['self']['weight'] / 1e6
    return out


def judge(got, want, tolerance):
    for name in FUNCTIONS:
        print(name, got.get(name), 'ms, want', want[name])
        if not want[name] or abs(got.get(name, 0) / want[name] - 1) > tolerance:
            sys.exit('wrong: ' + name)


def milliseconds(text):
    m = re.match(r'([0-9.,]+)([a-zµ]*)', text)
    number = m.group(1).replace(',', '')
    if re.match(r'[0-9]+:[0-9.]+', text):
        minutes, seconds = text.split(' ')[0].split(':')
        return int(minutes) * 6e4 + float(seconds) * 1e3
    return float(number) * UNITS[m.group(2)]


class Offline(browser.Page):
    """speedscope's page says by other means that it is ready."""
    def go(self, path, fragment=''):
        self.call('Page.navigate', url='file://' + os.path.abspath(path) +
                  '#' + fragment)


def table(page):
    """Self times of the table of functions that is shown."""
    out = {}
    for row in page.run('[...document.querySelectorAll("tbody tr, table tr")].map('
                        'r => r.innerText)'):
        # total, self, name
        words = [w.strip() for w in re.split(r'[\t\n]+', row) if w.strip()]
        if len(words) >= 3 and re.match(r'[0-9.]', words[1]):
            # what an event has besides its name stands behind it
            name = words[2].split(' {"')[0]
            out[name] = out.get(name, 0) + milliseconds(words[1])
    return out


def wait(what):
    for _ in range(600):
        got = what()
        if got:
            return got
        time.sleep(0.1)
    sys.exit('nothing came')


def speedscope(index, want, path):
    with open(path, 'rb') as f:
        data = base64.b64encode(f.read()).decode()
    script = os.path.abspath('load.js')
    name = os.path.basename(path) + ('.txt' if path.endswith('folded') else '')
    with open(script, 'w', encoding='utf-8') as f:
        f.write('speedscope.loadFileFromBase64(%s, %s)' % (json.dumps(name),
                                                         json.dumps(data)))
    sums, seen = {}, set()
    with browser.Browser() as b:
        page = Offline(b, index, 1280, 900, False, 'localProfilePath=' + script, False)
        wait(lambda: 'Sandwich' in (page.run(
            'document.body ? document.body.innerText : ""') or ''))
        page.key('3')		# the table of functions
        while True:
            wait(lambda: page.run('document.querySelectorAll("table tr").length > 1'))
            time.sleep(0.3)
            lines = page.run('document.body.innerText').split('\n')
            head = lines[1] if len(lines) > 1 else ''
            if head in seen:
                break
            seen.add(head)
            for function, ms in table(page).items():
                sums[function] = sums.get(function, 0) + ms
            m = re.search(r'\(([0-9]+)/([0-9]+)\)$', head)
            if not m or m.group(1) == m.group(2):
                break
            page.key('n')	# the next thread
            wait(lambda: page.run('document.body.innerText').split('\n')[1] != head)
        bad = [p for p in page.problems() if p.startswith('exception')]
        if bad:
            sys.exit('\n'.join(bad))
    by_time = path.rsplit('.', 1)[-1] in BY_TIME
    judge(sums, want, 0.25 if by_time else 0.01)


def firefox(cli, want, path):
    def run(*words):
        r = subprocess.run(['node', cli, *words, '--session', 'tally'],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           check=False)
        return r.returncode, r.stdout.decode()

    def ask(*words):
        status, text = run(*words)
        if status:
            sys.exit(text)
        return json.loads(text)
    sums = {}
    try:
        status, text = run('load', path)
        # its daemon should answer within half a second, but may come later
        if status and 'did not become ready' not in text:
            sys.exit(text)
        wait(lambda: not run('status')[0])
        for t in ask('thread', 'list', '--json')['threads']:
            shown = ask('thread', 'functions', '--thread', t['threadHandle'], '--json')
            for f in shown['functions']:
                sums[f['name']] = sums.get(f['name'], 0) + f['selfSamples']
    finally:
        subprocess.run(['node', cli, 'stop', '--all'], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    judge(sums, want, 1e-6)


def main():
    kind, program, rows, path = sys.argv[1:5]
    {'speedscope': speedscope, 'firefox': firefox}[kind](program, report(rows), path)


main()
