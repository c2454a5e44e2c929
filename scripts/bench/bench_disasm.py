# SPDX-License-Identifier: GPL-2.0-or-later
"""Disassembly of whole programs beside objdump: see doc/disassembly.md."""
import bisect
import glob
import os
import re
import shutil
import subprocess

from bench_lib import TOP, Failed

FDE = re.compile(r'FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)')
LINE = re.compile(r' *([0-9a-f]+):\t')
SUMMARY = re.compile(r'(\d+) instructions, (\d+) other sizes, (\d+) other '
                     r'texts .*, (\d+) ns each')


def _functions(path):
    """Where functions are by call frame information: [(start, end)]."""
    out = subprocess.run(['readelf', '--debug-dump=frames-interp', path],
                         capture_output=True, text=True, errors='replace',
                         check=False).stdout
    return sorted((int(m[1], 16), int(m[2], 16)) for m in FDE.finditer(out))


def _instructions(path, only_functions):
    """objdump's lines for instructions within functions."""
    found = _functions(path) if only_functions else []
    starts = [start for start, _ in found]
    with subprocess.Popen(['objdump', '-d', '-w', '-M', 'intel', path],
                          stdout=subprocess.PIPE, text=True,
                          errors='replace') as dump:
        for line in dump.stdout:
            m = LINE.match(line)
            if not m:
                continue
            at = int(m[1], 16)
            i = bisect.bisect_right(starts, at) - 1
            if not only_functions or (i >= 0 and at < found[i][1]):
                yield line


def _programs(tools):
    """{path: whether only its functions count}"""
    lib = '/usr/lib/x86_64-linux-gnu/'
    paths = [lib + 'libc.so.6', lib + 'libcrypto.so.3', '/usr/bin/python3']
    paths += sorted(glob.glob('/usr/lib/gcc/x86_64-linux-gnu/*/cc1'))[-1:]
    out = {os.path.realpath(p): True for p in paths if os.path.exists(p)}
    made = os.path.join(tools.work, 'avx512.o')
    if subprocess.run([TOP + '/scripts/bench/avx512-program', made],
                      check=False).returncode == 0:
        out[made] = False
    return out


def disasm(tools, table, args):
    """Sizes must be equal for all instructions, texts for 99.9 %."""
    compare = os.path.join(os.path.dirname(os.path.dirname(tools.tally)),
                           'tests/disasm/disasmcmp')
    if not os.access(compare, os.X_OK) or not shutil.which('objdump'):
        raise Failed('%s is not built: make check, with Zydis' % compare)
    for path, only_functions in _programs(tools).items():
        with subprocess.Popen([compare, '-i'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as run:
            for line in _instructions(path, only_functions):
                run.stdin.write(line)
            run.stdin.close()
            m = SUMMARY.search(run.stdout.read())
        if not m:
            raise Failed('%s says nothing of %s' % (compare, path))
        count, sizes, texts, each = (int(x) for x in m.groups())
        name = os.path.basename(path)
        print('%-20s %9d instructions  %d other sizes  %.4f %% same text  '
              '%d ns each' % (name, count, sizes,
                              100 - 100.0 * texts / max(count, 1), each))
        table.missed += sizes > 0 or texts * 1000 > count
