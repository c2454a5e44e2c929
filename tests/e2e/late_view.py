# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives `tally report --debuginfod` in a pseudo terminal.

    late_view.py TALLY RECORDING SCENE

The recording is of debuginfod_program.sh, a server of bad_server.py runs, and the files
`asked`, `plain` (the table without names) and `gate` are in the working directory.
"""
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from terminal import DOWN, Terminal, done, ok

TALLY, RECORDING, SCENE = sys.argv[1:4]


def view(words=''):
    return Terminal('%s report --debuginfod %s %s' % (TALLY, words, RECORDING),
                    columns=110)


def chosen(t):
    """The selected row, which is reversed below the title."""
    for y in range(1, t.screen.lines):
        if t.screen.buffer[y][0].reverse:
            return t.screen.display[y].rstrip()
    return ''


def row_of(t, text):
    return [y for y, line in enumerate(t.screen.display) if text in line]


def ends(t, how, name):
    t.wait('^ended %d' % how, name, 20)
    t.close()


def keeps_place():
    t = view()
    t.wait(r'work +work\+0x', 'the view does not wait for a server')
    t.wait(r'fetching debug information of work \(1 of 2', '… and shows what goes on')
    t.keys(DOWN)
    t.settle()
    before = chosen(t)
    ok('libcold.so+0x' in before, 'a row is selected', before)
    open('gate', 'w').close()
    t.wait(r'work +mix', 'names come without a key')
    t.wait(r'libcold.so +inner', '… of each image')
    t.wait(r'the names? of \d+ functions? (is|are) new: |new names|inner')
    t.settle()
    ok('inner' in chosen(t), 'the same function is selected', before, t.text())
    t.wait(r'q:quit')
    ok(not row_of(t, 'fetching'), 'nothing goes on after the end', t.text())
    t.keys('q')
    ends(t, 0, 'q leaves')


def says_what_is_new():
    open('gate', 'w').close()
    t = view()
    t.wait(r'the names? of \d+ functions? (is|are) new: ', 'what is new is shown')
    while row_of(t, 'fetching') or row_of(t, 'storing'):
        t.feed(0.1)
    t.wait(r'the names? of \d+ functions? (is|are) new: ', '… also after the end')
    t.keys('q')
    ends(t, 0, '… and q leaves')


def other_page():
    t = view()
    t.wait(r'fetching debug information')
    t.keys('i')
    t.wait(r'fetching debug information.*q:back', 'what goes on is shown on any page')
    end = time.monotonic() + 2      # the library calls back once a second
    while time.monotonic() < end:
        t.feed(0.1)
    ok(not row_of(t, 'new names'), '… and nothing new before it comes', t.text())
    text = t.screen.display[1]
    open('gate', 'w').close()
    t.wait(r'new names are in the table', 'another page stays')
    ok(t.screen.display[1] == text, '… as it was', t.text())
    t.keys('q')
    t.wait(r'work +mix', 'the table has the names')
    t.keys('q')
    ends(t, 0, '… and q leaves')


def first_comes_first():
    """Of two files, only the first comes."""
    t = view()
    t.wait(r'work +mix', 'the first names do not wait for the second file')
    t.wait(r'fetching debug information of libcold.so \(2 of 2, ')
    t.keys('/mix\r')
    t.settle()
    ok('mix' in chosen(t), 'keys work meanwhile', t.text())
    t.keys('q')
    ends(t, 0, 'q ends the request')


def quits():
    t = view()
    t.wait(r'fetching debug information')
    t.keys('q')
    ends(t, 0, 'q does not wait for a silent server')


def running():
    """Processes of tally that have the recording."""
    out = subprocess.run(['ps', '-eo', 'args'], capture_output=True, text=True)
    return [line for line in out.stdout.splitlines()
            if line.startswith(TALLY + ' report') and RECORDING in line]


def leaves_nothing(end, name):
    t = view()
    t.wait(r'fetching debug information')
    ok(len(running()) == 2, 'another process makes the requests', *running())
    end(t)
    for _ in range(100):
        left = running()
        if not left:
            break
        t.feed(0.1)
    ok(not left, name, *left)
    t.close()


def interrupted():
    leaves_nothing(lambda t: t.keys('\x03'), 'Ctrl-C ends the view and the requests')


def killed():
    leaves_nothing(lambda t: os.kill(t.child(), signal.SIGKILL),
                   'the requests end with the view')


def refused():
    t = view()
    t.wait(r'nothing is requested from debuginfod: ', 'the view says why')
    t.keys('q')
    ends(t, 0, 'q leaves')


def failed():
    t = view()
    t.wait(r'debuginfod: .*(not asked for|refused)', 'a failure is shown')
    t.keys('q')
    ends(t, 0, 'q leaves')


def replaced():
    t = view()
    t.wait(r'fetching debug information')
    subprocess.run(['cp', RECORDING, 'new'], check=True)
    os.rename('new', RECORDING)
    open('gate', 'w').close()
    t.wait(r'replaced meanwhile: the names are not', 'a recording made meanwhile')
    t.keys('q')
    ends(t, 1, '… is said again at the end')


globals()[SCENE]()
done()
