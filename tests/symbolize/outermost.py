# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the names of a program's functions with those that nm -C says.

    python3 outermost.py TALLY PROGRAM [ASKED]

Asks `tally addr2line` for three addresses of each function of PROGRAM that has a
symbol: its first byte, its last, and one between.  The outermost name must be
the readable form of one of the symbols that cover the address, without what is
appended for clones (.isra.0, .cold) but with the parts of a coroutine.

ASKED is the file that is asked instead, a copy of PROGRAM without symbols.
"""
import collections
import os
import re
import subprocess
import sys

PARTS = ('[clone .actor]', '[clone .destroy]', '[clone .resume]',
         '[clone .cleanup]')


def output(cmd, text=''):
    return subprocess.run(cmd, input=text, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def without_clones(name):
    """The readable name of the function that a clone is made of."""
    plain = re.sub(r'(\.(isra|constprop|part|cold|lto_priv|localalias)'
                   r'(\.\d+)?)+$', '', name)
    while True:
        m = re.search(r' \[clone [^]]*\]$', plain)
        if not m or m.group().strip() in PARTS:
            return plain
        plain = plain[:m.start()]


def functions(program):
    """[(start, size, readable name)]"""
    found = []
    for line in output([os.environ.get('NM', 'nm'), '-SC', program]):
        m = re.match(r'([0-9a-f]+) ([0-9a-f]+) [tTWi] (.*)', line)
        if m and int(m.group(2), 16):
            found.append((int(m.group(1), 16), int(m.group(2), 16),
                          # binutils shows the commas of empty packs
                          without_clones(m.group(3).replace(', , ', ', '))))
    return found


def answers(tally, asked, addrs):
    """Outermost names by address."""
    got = {}
    addr = None
    for line in output([tally, 'addr2line', '-fiaCe', asked],
                       ''.join('0x%x\n' % a for a in addrs)):
        if line.startswith('0x') and '\n' not in line and ' ' not in line:
            addr, names = int(line, 16), []
            got[addr] = names
        else:
            names.append(line)
    return {a: v[-2] for a, v in got.items()}


def main():
    tally, program = sys.argv[1:3]
    asked = sys.argv[3] if len(sys.argv) > 3 else program
    wanted = collections.defaultdict(set)
    all_functions = functions(program)
    for start, size, _ in all_functions:
        for addr in (start, start + size // 2, start + size - 1):
            wanted[addr] = {name for lo, n, name in all_functions
                            if lo <= addr < lo + n}
    got = answers(tally, asked, sorted(wanted))
    # binutils cannot read the clones of templates of conversion functions
    wrong = [(a, got[a], names) for a, names in sorted(wanted.items())
             if got[a] not in names and
             without_clones(got[a]) not in names and
             not any(name.startswith('_Z') for name in names)]
    for addr, ours, names in wrong:
        print('0x%x\n  tally %s\n  nm    %s' % (addr, ours,
                                               ' or '.join(sorted(names))))
    print('%d functions, %d addresses, %d wrong' % (
        len(all_functions), len(wanted), len(wrong)))
    lambdas = sum('{lambda(' in name or '$_' in name or "'lambda" in name
                  for _, _, name in all_functions)
    return bool(wrong) or lambdas < 8


if __name__ == '__main__':
    sys.exit(main())
