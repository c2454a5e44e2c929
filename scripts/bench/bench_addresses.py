# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses to names: tally addr2line, llvm-symbolizer, binutils' addr2line."""
import glob
import os
import random
import shutil
import subprocess

from bench_lib import Failed, interleaved, record


def _text_range(tools, binary):
    """Start and size of .text."""
    for line in tools.output(['readelf', '-SW', binary]).splitlines():
        words = line.replace('[ ', '[').split()
        if len(words) > 5 and words[1] == '.text':
            return int(words[3], 16), int(words[5], 16)
    raise Failed('no .text in ' + binary)


def _draw(tools, binary, count):
    """A file of random addresses of .text."""
    start, size = _text_range(tools, binary)
    draw = random.Random(1)
    path = os.path.join(tools.work, 'addresses')
    with open(path, 'w', encoding='ascii') as f:
        for _ in range(count):
            f.write('0x%x\n' % (start + draw.randrange(size)))
    return path


def _commands(tools, binary, demangle):
    """{name: command} of those that are there."""
    commands = {'tally': [tools.tally, 'addr2line', '-fie', binary]}
    if shutil.which('llvm-symbolizer'):
        commands['llvm-symbolizer'] = [
            'llvm-symbolizer', '--inlines', '--functions=linkage',
            '--demangle' if demangle else '--no-demangle', '-e', binary]
    if tools.addr2line:
        commands['addr2line'] = tools.addr2line + ['-fie', binary]
    if demangle:
        for name in ('tally', 'addr2line'):
            if name in commands:
                commands[name] = commands[name] + ['-C']
    return commands


def compare(tools, table, args, what, binary, count, demangle, wanted,
            rounds=None):
    """Time and peak memory of all, `wanted` of llvm-symbolizer's."""
    path = _draw(tools, binary, count)
    jobs = {}
    for name, cmd in _commands(tools, binary, demangle).items():
        cmd = ['sh', '-c', 'in=$0; exec "$@" <"$in"', path] + cmd
        jobs[name] = lambda cmd=cmd: tools.timed(cmd)
        jobs[name + ' MB'] = lambda cmd=cmd: tools.peak_mb(cmd)
    got = interleaved(rounds or args.rounds, jobs)
    for name in got:
        if name == 'tally' or name.endswith(' MB'):
            continue
        judged = wanted if name == 'llvm-symbolizer' else None
        table.row('%s; %s' % (what, name), got['tally'], got[name], 's',
                  ('<=', judged))
        table.row('  peak memory', got['tally MB'], got[name + ' MB'], 'MB',
                  ('<=', judged))


def _vmlinux(args):
    if args.vmlinux:
        return args.vmlinux
    found = sorted(glob.glob('/usr/lib/debug/boot/vmlinux-*'))
    return found[0] if found else None


def _units(tools, binary):
    """How many units .debug_info holds."""
    out = subprocess.run(['readelf', '--debug-dump=aranges', binary],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True).stdout
    return out.count(b'Offset into .debug_info')


def addresses(tools, table, args):
    """Issue 3, how good, 1."""
    big = os.path.join(tools.work, 'big')
    many = os.path.join(tools.work, 'many')
    compare(tools, table, args, '10,000 addresses', big, 10000, False, 0.4)
    compare(tools, table, args, '10,000 addresses, readable names', big,
             10000, True, 0.4)
    units = _units(tools, many)
    if units < 200:
        raise Failed('%s has %d units' % (many, units))
    compare(tools, table, args, '100 addresses of %d units' % units, many,
             100, False, 0.2)
    vmlinux = _vmlinux(args)
    if vmlinux:
        compare(tools, table, args, '1,000 addresses of vmlinux', vmlinux,
                 1000, False, 0.5)
    else:
        print('vmlinux: none with DWARF is installed '
              '(apt-get install linux-image-amd64-dbg, or --vmlinux PATH)')


def drop_in(tools, table, args):
    """perf report, whose addr2line is ours or binutils'."""
    # its help ends with a status of its own
    options = subprocess.run(tools.perf_report + ['report', '-h'],
                             env=tools.env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False).stdout
    if b'--addr2line-style' not in options or not tools.addr2line:
        print('dropin: this perf takes no --addr2line-style (see PERF_ROOT)')
        return
    data = os.path.join(tools.work, 'dropin.perf.data')
    record(tools, [os.path.join(tools.work, 'big'), '1', '2'],
           {'perf': [tools.perf, 'record', '-q', '-N', '-B', '-g', '-e',
                     'cpu-clock', '-F', '500', '-o', data]})
    ours = os.path.join(tools.work, 'tally-addr2line')
    theirs = os.path.join(tools.work, 'binutils-addr2line')
    if os.path.lexists(ours):
        os.unlink(ours)
    os.symlink(tools.tally, ours)
    with open(theirs, 'w', encoding='ascii') as f:
        f.write('#!/bin/sh\nexec %s "$@"\n' % ' '.join(tools.addr2line))
    os.chmod(theirs, 0o755)

    def report(path):
        return lambda: tools.timed(
            tools.perf_report + ['report', '--stdio', '-i', data, '-g',
                                 '--addr2line-style=addr2line',
                                 '--addr2line=' + path], limit=300)
    got = interleaved(1, {'tally': report(ours), 'other': report(theirs)})
    table.row('perf report -g with it; with addr2line', got['tally'],
              got['other'], 's', ('<=', 1))
