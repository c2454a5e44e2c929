# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives tally's interactive view in a pseudo terminal.

    tui.py TALLY RECORDING TWINS

TWINS is of a program with two functions called process.
"""
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
from terminal import DOWN, ENTER, WAIT, Terminal, done, is_shell, ok

TALLY, RECORDING, TWINS = sys.argv[1:4]


def report(words='', recording=RECORDING):
    return '%s report %s %s' % (TALLY, words, recording)


def two_of_one_name():
    t = Terminal(report(recording=TWINS), columns=100)
    t.wait(r'twins +process \(a\.c\)', 'two functions of one name: the first')
    t.wait(r'twins +process \(b\.c\)', '… and the second have a row each')
    t.keys('/process (b' + ENTER + ENTER)
    t.wait(r'process \(b\.c\) *\n.*run_b', '… with callers of its own')
    t.keys('q')
    t.close()


def looks_around():
    t = Terminal(report())
    t.wait(r'SELF +TOTAL', 'opens on a terminal')
    ok(b'\x1b[?1049h' in t.raw, 'on a screen of its own')
    t.wait(r'\?:help')  # the last row that is drawn
    ok(re.search(rb'\x1b\[3[1-7]', t.raw), 'with colours')
    t.keys('/heavy' + ENTER)
    t.keys(ENTER)
    t.wait(r'- work +heavy *\n.*main', 'a row opens into its callers')
    t.keys('z')
    t.wait(r'^around heavy', 'zoom')
    t.keys('q')
    t.wait(r'^tally ')
    t.keys('a')
    t.wait(r'heavy in work +source', 'annotate')
    t.wait(r'% .*\d  .*x = x \* 1664525u', 'its source')
    t.keys('s')
    if t.wait(r'instructions'):
        ok(True, 'its instructions')
    t.keys('q')
    t.keys('T')
    t.wait(r'^top-down', 'top-down')
    t.keys('q?')
    t.wait(r'^ +/ +search', 'help')
    t.keys('q')
    t.wait(r'^tally ')
    t.resize(12, 40)
    t.wait(r'\A.*\n.*SYMBOL', 'a narrow terminal')
    ok(len(t.screen.display) == 12, 'has its size')
    t.resize(30, 120)
    t.wait(r'IMAGE +SYMBOL', 'a wide one')
    resized_while_drawing(t)
    t.keys('q')
    t.wait(r'^ended 0', 'leaves with q')
    ok(b'\x1b[?1049l' in t.raw, 'and gives the screen back')
    ok(is_shell(t), 'and the terminal', t.settings())
    t.close()


def writes():
    """What it writes others may get: no file that is the user's alone."""
    t = Terminal(report())
    t.wait(r'SELF +TOTAL')
    t.keys('/heavy' + ENTER + 'a')
    t.wait(r'% .*\d  .*x = x \* 1664525u')
    for mode, name in (0o600, 'tally.txt'), (0o644, 'tally-2.txt'):
        os.chmod('work.c', mode)
        if name != 'tally.txt':     # it is asked for once
            t.keys('q')
            t.wait(r'^tally ')
            t.keys('a')
            t.wait(r'% .*\d  .*x = x \* 1664525u')
        t.keys('P')
        t.wait('wrote ' + name)
        text = open(name).read()
        has = 'x * 1664525u' in text
        hidden = re.search(r'[0-9]%.*not included in files for others', text)
        if mode == 0o600:
            ok(hidden and not has, 'a private source is not written', text)
        else:
            ok(has and not hidden, 'one that all may read is', text)
    t.keys('q')
    t.close()


def resized_while_drawing(t):
    """What is there then is what a redraw of all of it gives."""
    other = ''
    for i in range(60):
        t.keys('?' if i % 4 < 2 else 'q')
        end = time.monotonic() + i % 20 / 5000
        while time.monotonic() < end:
            pass
        mark = len(t.raw)
        t.resize(*((30, 100) if i % 2 else (12, 40)))
        end = time.monotonic() + WAIT / 6
        while b'\x1b[H\x1b[J' not in t.raw[mark:] and \
                time.monotonic() < end:
            t.feed(0.1)
        t.settle()
        drawn = t.text()
        t.keys('\x0c')
        t.settle()
        if t.text() != drawn:
            other = drawn
    t.wait(r'IMAGE +SYMBOL')
    ok(not other, 'a size that changes while it draws', other)


def ends(sig, status):
    """However it ends, the terminal is as it was."""
    t = Terminal(report())
    t.wait(r'SELF +TOTAL')
    ok(not is_shell(t), '%s: the terminal was taken' % sig.name)
    os.kill(t.child(), sig)
    t.wait(r'^ended %d' % status, '%s ends it' % sig.name)
    ok(b'\x1b[?1049l' in t.raw, '... and gives the screen back')
    ok(is_shell(t), '... and the terminal', t.settings())
    t.close()


def interrupts():
    """The key goes to the shell, too, which may end with it."""
    t = Terminal(report())
    t.wait(r'SELF +TOTAL')
    t.keys('\x03')
    end = time.monotonic() + WAIT
    while b'\x1b[?1049l' not in t.raw and time.monotonic() < end:
        if not t.feed(0.1):
            break
    ok(b'\x1b[?1049l' in t.raw, 'Ctrl-C gives the screen back')
    t.close()


def stops():
    """With job control, as in a shell that somebody types in."""
    t = Terminal('set -m; %s; echo halted; read x; fg' % report())
    t.wait(r'SELF +TOTAL')
    # ncurses ignores the key while it draws, and a shell that waits does
    for _ in range(20):
        t.keys('\x1a')
        if t.wait(r'^halted', seconds=3):
            break
    t.wait(r'^halted', 'Ctrl-Z stops it')
    ok(is_shell(t), '... and the terminal is the shell\'s', t.settings())
    t.screen.reset()
    t.keys('\n')
    t.wait(r'SELF +TOTAL', 'in the foreground again, all is drawn')
    t.keys('q')
    t.wait(r'^ended 0', 'and keys work')
    ok(is_shell(t), 'and the terminal is given back')
    t.close()


def hangs_up():
    t = Terminal(report())
    t.wait(r'SELF +TOTAL')
    pid = t.child()
    os.close(t.fd)
    end = time.monotonic() + WAIT
    gone = False
    while not gone and time.monotonic() < end:
        try:
            os.kill(pid, 0)
            with open('/proc/%d/stat' % pid) as f:
                gone = ') Z ' in f.read()
            time.sleep(0.1)
        except (ProcessLookupError, FileNotFoundError):
            gone = True
    ok(gone, 'a terminal that is closed ends it')
    try:
        os.kill(t.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(t.pid, 0)


def shows_text():
    for name, words, env in (
            ('--no-tui', report('--no-tui'), {}),
            ('a pipe', report() + ' | cat', {}),
            ('no keyboard', report() + ' </dev/null', {}),
            ('a dumb terminal', report(), {'TERM': 'dumb'}),
            ('--top', report('--top 3'), {})):
        t = Terminal(words, rows=60, env={'PAGER': 'cat', **env})
        t.wait(r'^ended 0')
        ok(b'\x1b[?1049h' not in t.raw and b'SELF' in t.raw,
           name + ': text', t.text())
        t.close()
    t = Terminal(report('--tui'), env={'TERM': 'dumb'})
    t.wait(r'cannot position the cursor', '--tui says why it cannot')
    t.close()
    t = Terminal(report(), env={'NO_COLOR': '1'})
    t.wait(r'SELF +TOTAL')
    ok(not re.search(rb'\x1b\[[0-9;]*3[1-7]m', t.raw), 'NO_COLOR')
    t.close()
    t = Terminal(report(), env={'LC_ALL': 'C', 'LANG': 'C'})
    t.wait(r'SELF +TOTAL', 'a locale without UTF-8')
    t.close()


looks_around()
writes()
two_of_one_name()
for sig, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143),
                    (signal.SIGSEGV, 139), (signal.SIGABRT, 134),
                    (signal.SIGBUS, 135), (signal.SIGQUIT, 131)):
    ends(sig, status)
interrupts()
stops()
hangs_up()
shows_text()
done()
