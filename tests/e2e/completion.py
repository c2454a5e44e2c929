# SPDX-License-Identifier: GPL-2.0-or-later
"""Types lines into a real shell and shows, a line for each, what the command got.

    completion.py bash|zsh SCRIPTS BIN KEYS…

In KEYS, @ is the tab key.  BIN has a tally that prints "ARGS <word> <word>".
"""
import os
import pty
import re
import select
import sys
import time

shell, scripts, bin_folder = sys.argv[1:4]
env = {'PATH': bin_folder + ':/usr/bin:/bin', 'TERM': 'dumb', 'HOME': bin_folder,
       'LC_ALL': 'C', 'PS1': '$ ', 'INPUTRC': '/dev/null'}
if shell == 'bash':
    argv = ['bash', '--norc', '--noprofile', '-i']
    setup = f'. {scripts}/tally.bash'
else:
    argv = ['zsh', '-f', '-i']
    setup = (f'fpath=({scripts} $fpath); autoload -Uz compinit; '
             'compinit -u -D')
pid, fd = pty.fork()
if pid == 0:
    os.execvpe(argv[0], argv, env)
seen = b''


def until(pattern):
    """Reads until the pattern has come, for a minute at most."""
    global seen
    end = time.monotonic() + 60
    while not re.search(pattern, seen):
        left = end - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            break
        try:
            seen += os.read(fd, 4096)
        except OSError:
            break
    return re.search(pattern, seen)


# The echo of what is typed does not look like what it prints.
os.write(fd, (setup + "; echo re''ady\n").encode())
if not until(rb'ready'):
    sys.exit(f'{shell} does not start: {seen!r}')
for keys in sys.argv[4:]:
    seen = b''
    os.write(fd, keys.replace('@', '\t').encode() + b'\n')
    found = until(rb'ARGS[^\r\n]*[\r\n]')
    print(found.group(0).decode().strip() if found else repr(seen), flush=True)
    if not found:
        os.write(fd, b'\x03')
os.write(fd, b'\x03exit\n')
os.close(fd)
os.waitpid(pid, 0)
