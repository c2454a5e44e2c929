# SPDX-License-Identifier: GPL-2.0-or-later
"""A pseudo terminal for tests of the interactive view.

pyte is the terminal: it keeps the screen that the bytes draw.  Prints TAP.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

WAIT = 60                       # seconds until a screen must be there
count = 0


def ok(good, name, *notes):
    global count
    count += 1
    if not good:
        for note in notes:
            for line in str(note).splitlines():
                print('#', line)
    print('ok' if good else 'not ok', count, '-', name, flush=True)


class Screen(pyte.Screen):
    """Scrolls parts of it, too (ECMA-48 SU and SD), which pyte does not know."""

    def at_top(self, do, n):
        y = self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        do(n or 1)
        self.cursor.y = y

    def scroll_up(self, n=1, **_):
        self.at_top(self.delete_lines, n)

    def scroll_down(self, n=1, **_):
        self.at_top(self.insert_lines, n)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, S='scroll_up', T='scroll_down')
    events = pyte.ByteStream.events | {'scroll_up', 'scroll_down'}


class Terminal:
    """A shell that has the terminal, as a user's, and runs one command."""

    def __init__(self, words, rows=24, columns=80, env=None):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b''
        env = {**os.environ, 'TERM': 'screen-256color', 'LC_ALL': 'C.UTF-8',
               **(env or {})}
        for name in 'COLUMNS', 'LINES':
            env.pop(name, None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A background job of sh gets them ignored, and sh cannot change it.
            for sig in signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP:
                signal.signal(sig, signal.SIG_DFL)
            # not -i: that would want a user's start-up files
            os.execvpe('sh', ['sh', '-c', 'stty rows %d cols %d; %s; '
                              'echo "ended $?"; sleep 1000'
                              % (rows, columns, words)], env)

    def feed(self, seconds):
        """Draws what comes until nothing does; False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        return '\n'.join(self.screen.display)

    def settle(self):
        """Draws what comes until nothing did for a while."""
        for _ in range(100):
            before = len(self.raw)
            if not self.feed(0.08) or len(self.raw) == before:
                break

    def wait(self, pattern, name=None, seconds=WAIT):
        """Until the screen has it; a test if it has a name."""
        end = time.monotonic() + seconds
        found = False
        while not found and time.monotonic() < end:
            found = re.search(pattern, self.text(), re.M)
            if not found and not self.feed(0.2):
                break
        if name:
            ok(bool(found), name, 'want: ' + pattern, self.text())
        return found

    def keys(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack('HHHH', rows, columns, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.fd)[:4]

    def child(self):
        """tally's process."""
        out = subprocess.run(['ps', '-o', 'pid=,args=', '--ppid',
                              str(self.pid)], capture_output=True, text=True)
        for line in out.stdout.splitlines():
            pid, args = line.split(None, 1)
            if 'report' in args:
                return int(pid)
        return None

    def close(self):
        for pid in filter(None, (self.child(), self.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def is_shell(t):
    """The terminal echoes and waits for lines, as a shell has it."""
    flags = termios.ECHO | termios.ICANON | termios.ISIG
    return t.settings()[3] & flags == flags


def done():
    print('1..%d' % count)


DOWN, ENTER = '\x1bOB', '\r'
