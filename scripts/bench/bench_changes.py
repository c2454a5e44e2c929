# SPDX-License-Identifier: GPL-2.0-or-later
"""tally check on changes of real programs: regressions as people commit them, and
refactorings that change no cost.  The right answer is known from the change.  Each is
a commit of a repository, in which check finds the edited place."""
import glob
import json
import os
import re
import shutil
import subprocess

from bench_lib import TOP, Failed

RUNS = 10

LUA_WORK = '''
local t, n = {}, 0
for i = 1, 300000 do
  local k = "key" .. (i * 7919 % 80000)
  t[k] = (t[k] or 0) + 1
end
local text = string.rep("some words of a text that is long enough; ", 4000)
for i = 1, 3000 do
  if string.find(text, "Zebra", 1, true) then n = n + 1 end
end
for r = 1, 8 do
  local a = {}
  for i = 1, 20000 do a[i] = { v = (i * 7919) % 20011 } end
  table.sort(a, function(x, y) return x.v < y.v end)
end
local p = { x = 1, y = 2, z = 3, name = "p", list = {} }
for i = 1, 4000000 do p.x = p.x + p.y; p.z = p.z - p.y end
'''

SQL_WORK = '''
create table t(a integer, b text, c integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000)
insert into t select (i * 7919) % 60013, 'row ' || (i * 31 % 997), i from n;
create index ta on t(a);
create index tb on t(b, c);
select count(*), sum(x.c) from t x join t y on x.a = y.c;
select count(*) from t where b in (select b from t where c < 500);
select b, count(*) from t group by b order by 2 desc, 1 limit 3;
select sum(y.a) from t x join t y on y.b = x.b and y.c = x.c;
'''

ZSTD_MAIN = '''
#include <stdio.h>
#include <stdlib.h>
#include "zstd.h"
int main(int argc, char **argv)
{
	FILE *f = fopen(argv[1], "rb");
	size_t room = 64 << 20, n, sum = 0;
	char *in = malloc(room), *out = malloc(ZSTD_compressBound(room));

	if (!f || !in || !out)
		return 1;
	n = fread(in, 1, room, f);
	for (int i = 0; i < atoi(argv[2]); i++)
		sum += ZSTD_compress(out, ZSTD_compressBound(room), in, n, 3);
	printf("%zu %zu\\n", n, sum);
	return 0;
}
'''


class Change:
    """A change of a program and what is true of it."""
    def __init__(self, project, what, edits, slower=None, edited=None):
        self.project = project
        self.what = what
        self.edits = edits      # (file, from, to), or a function of the folder
        self.slower = slower    # what the culprit's name matches; None: nothing is
        self.edited = edited    # what was edited, where that is another place


def _rename(old, new):
    """A name of a function, everywhere."""
    def edit(folder):
        for path in _sources(folder):
            text = _read(path)
            changed = re.sub(r'\b%s\b' % old, new, text)
            if changed != text:
                _write(path, changed)
    return edit


def _move_file(old, new):
    def edit(folder):
        os.rename(os.path.join(folder, old), os.path.join(folder, new))
    return edit


def _longer_head(name):
    """300 lines of comment before a file's code."""
    def edit(folder):
        path = os.path.join(folder, name)
        _write(path, '/*\n' + ' * text\n' * 298 + ' */\n' + _read(path))
    return edit


def _moved_text(start, end, old, new, before):
    """The text from `start` up to `end` in one file goes into another."""
    def edit(folder):
        text = _read(os.path.join(folder, old))
        a = text.index(start)
        b = text.index(end, a)
        _write(os.path.join(folder, old), text[:a] + text[b:])
        other = _read(os.path.join(folder, new))
        c = other.index(before)
        _write(os.path.join(folder, new), other[:c] + text[a:b] + other[c:])
    return edit


def _read(path):
    with open(path, encoding='latin-1') as f:
        return f.read()


def _write(path, text):
    with open(path, 'w', encoding='latin-1') as f:
        f.write(text)


def _sources(folder):
    return sorted(glob.glob(folder + '/**/*.[ch]', recursive=True))


CHANGES = (
    Change('zlib', 'chains four times as long at level 6', [
        ('deflate.c', '/* 6 */ {8,   16, 128, 128,',
         '/* 6 */ {8,   16, 128, 512,')], 'longest_match',
           'configuration_table'),
    Change('zlib', 'code of a length searched, not looked up', [
        ('trees.c', 'code = _length_code[lc];',
         'for (code = LENGTH_CODES-1; (unsigned)base_length[code] > '
         '(unsigned)lc || (code == LENGTH_CODES-1 && lc < 255); code--) ;')],
        'compress_block'),
    Change('zlib', 'CRC byte by byte', [
        ('crc32.c', 'if (len >= N * W + W - 1) {',
         'if (len >= 1000000000) {')], 'crc32_z'),
    Change('zlib', 'inflate leaves its fast loop early', [
        ('inflate.c', 'if (have >= 6 && left >= 258) {',
         'if (have >= 6 && left >= 65536) {')], 'inflate$'),
    Change('lua', 'the table of strings grows late', [
        ('lstring.c', 'if (tb->nuse >= tb->size) {',
         'if (tb->nuse >= tb->size * 16) {')],
        'internshrstr|growstrtab|luaS_'),
    Change('lua', 'garbage is collected more often', [
        ('lgc.h', '#define LUAI_GCPAUSE    200', '#define LUAI_GCPAUSE    110')],
        'white|sweep|mark|travers|propagate|luaC|atomic|clear|freeobj|singlestep',
        'LUAI_GCPAUSE'),
    Change('lua', 'memchr by hand', [
        ('lstrlib.c', 'static const char *lmemfind',
         'static const char *find_char(const char *s, char c, size_t n) {\n'
         '  for (; n > 0; n--, s++) if (*s == c) return s;\n'
         '  return NULL;\n}\nstatic const char *lmemfind'),
        ('lstrlib.c', 'init = (const char *)memchr(s1, *s2, l1)',
         'init = find_char(s1, *s2, l1)')],
        'find_char|lmemfind|str_find_aux'),
    Change('sqlite', 'the general comparison of records only', [
        ('sqlite3.c', 'if( p->pKeyInfo->nAllField<=13 ){', 'if( 0 ){')],
        'sqlite3VdbeRecordCompare', 'sqlite3VdbeFindCompare'),
    Change('sqlite', 'the hash table of pages grows late', [
        ('sqlite3.c', 'if( pCache->nPage>=pCache->nHash ) pcache1Resize',
         'if( pCache->nPage>=pCache->nHash*64 ) pcache1Resize')],
        'pcache1', 'pcache1FetchStage2'),
    Change('zstd', 'matches counted byte by byte', [
        ('lib/compress/zstd_compress_internal.h',
         'pInLimit - (sizeof(size_t)-1);', 'pIn;')],
        'ZSTD_count|doubleFast'),

    Change('zlib', 'longest_match gets another name',
           [_rename('longest_match', 'find_longest')]),
    Change('zlib', 'deflate.c gets another name',
           [_move_file('deflate.c', 'squeeze.c')]),
    Change('zlib', '300 lines of comment in front of deflate.c',
           [_longer_head('deflate.c')]),
    Change('zlib', 'a helper taken out of slide_hash', [
        ('deflate.c', 'local void slide_hash(s)\n',
         'local void slide_one(Posf *p, unsigned n, uInt wsize)\n{\n'
         '    unsigned m;\n    do {\n        m = *--p;\n        *p = (Pos)('
         'm >= wsize ? m - wsize : NIL);\n    } while (--n);\n}\n'
         'local void slide_hash(s)\n'),
        ('deflate.c', '''    unsigned n, m;
    Posf *p;
    uInt wsize = s->w_size;

    n = s->hash_size;
    p = &s->head[n];
    do {
        m = *--p;
        *p = (Pos)(m >= wsize ? m - wsize : NIL);
    } while (--n);
    n = wsize;
''', '''    unsigned n;
    Posf *p;
    uInt wsize = s->w_size;

    n = s->hash_size;
    p = &s->head[n];
    slide_one(p, n, wsize);
    n = wsize;
'''),
        ('deflate.c', '''    p = &s->prev[n];
    do {
        m = *--p;
        *p = (Pos)(m >= wsize ? m - wsize : NIL);
''', '''    p = &s->prev[n];
    slide_one(p, n, wsize);
    do {
        break;
''')]),
    Change('lua', 'luaH_getint gets another name',
           [_rename('luaH_getint', 'luaH_get_integer')]),
    Change('lua', 'a helper taken out of luaH_getshortstr', [
        ('ltable.c', 'const TValue *luaH_getshortstr (',
         'static const TValue *find_short (Node *n, TString *key) {\n'
         '  for (;;) {\n'
         '    if (keyisshrstr(n) && eqshrstr(keystrval(n), key))\n'
         '      return gval(n);\n'
         '    else {\n      int nx = gnext(n);\n      if (nx == 0)\n'
         '        return &absentkey;\n      n += nx;\n    }\n  }\n}\n'
         'const TValue *luaH_getshortstr ('),
        ('ltable.c', '''  for (;;) {  /* check whether 'key' is somewhere in the chain */
    if (keyisshrstr(n) && eqshrstr(keystrval(n), key))
      return gval(n);  /* that's it */
    else {
      int nx = gnext(n);
      if (nx == 0)
        return &absentkey;  /* not found */
      n += nx;
    }
  }
''', '  return find_short(n, key);\n')]),
    Change('lua', 'luaS_hash moves into another file', [
        _moved_text('unsigned int luaS_hash (', 'unsigned int luaS_hashlongstr',
                    'lstring.c', 'lobject.c', 'int luaO_ceillog2')]),
    Change('sqlite', 'sqlite3VdbeExec and sqlite3BtreeNext get other names',
           [_rename('sqlite3VdbeExec', 'sqlite3VdbeRun'),
            _rename('btreeNext', 'treeNext')]),
    Change('sqlite', '300 lines of comment in front of everything',
           [_longer_head('sqlite3.c')]),
    Change('zstd', 'zstd_double_fast.c gets another name',
           [_move_file('lib/compress/zstd_double_fast.c',
                       'lib/compress/zstd_two_tables.c')]),
)


def _unpack(package, work):
    folder = os.path.join(work, package)
    have = glob.glob(folder + '/source/*')
    if not have:
        subprocess.run([TOP + '/scripts/debian-source', package, folder],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        os.makedirs(folder + '/source', exist_ok=True)
        for tar in glob.glob(folder + '/*.orig.tar.*'):
            if not tar.endswith('.asc'):
                subprocess.run(['tar', '-C', folder + '/source', '-xf', tar],
                               check=True)
        have = glob.glob(folder + '/source/*')
    if not have:
        raise Failed('no source of ' + package)
    return have[0]


def _amalgamate(source, work):
    """sqlite3.c and shell.c, as its makefile puts them together."""
    folder = os.path.join(work, 'sqlite')
    if not os.path.exists(folder + '/shell.c'):
        made = folder + '-made'
        os.makedirs(made, exist_ok=True)
        subprocess.run([source + '/configure', '-q'], cwd=made, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(['make', 'sqlite3.c', 'shell.c'], cwd=made, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.makedirs(folder, exist_ok=True)
        for name in ('sqlite3.c', 'sqlite3.h', 'shell.c'):
            shutil.copy(os.path.join(made, name), folder)
    return folder


def _compile(exe, folder, files, flags):
    """Objects beside each other, as builds make them."""
    commands = [['cc', '-g', '-O2', '-w', '-c', f, '-o', f + '.o'] + flags
                for f in files]
    for command in commands:
        subprocess.run(command, cwd=folder, check=True)
    subprocess.run(['cc', '-o', exe] + [f + '.o' for f in files] +
                   ['-lm', '-lpthread', '-ldl'], cwd=folder, check=True)


def _files(folder, *patterns):
    found = []
    for p in patterns:
        found += sorted(glob.glob(p, root_dir=folder, recursive=True))
    return found


class Programs:
    """The programs, unpacked, and how each is built and run."""
    def __init__(self, work):
        self.work = work
        self.data = os.path.join(work, 'data')
        zlib = _unpack('zlib', work)
        self.source = {
            'zlib': zlib,
            'lua': _unpack('lua5.4', work) + '/src',
            'sqlite': _amalgamate(_unpack('sqlite3', work), work),
            'zstd': _unpack('libzstd', work),
        }
        with open(self.data, 'wb') as out:
            for path in _sources(zlib) + _sources(self.source['lua']):
                with open(path, 'rb') as i:
                    out.write(i.read())
        _write(os.path.join(work, 'work.lua'), LUA_WORK)
        _write(os.path.join(work, 'work.sql'), SQL_WORK)

    def build(self, project, folder):
        exe = os.path.join(folder, 'prog')
        if project == 'zlib':
            _compile(exe, folder, _files(folder, '*.c') + ['test/minigzip.c'],
                     ['-DHAVE_UNISTD_H', '-DHAVE_STDARG_H', '-I.'])
        elif project == 'lua':
            _compile(exe, folder, [f for f in _files(folder, '*.c')
                                   if f != 'luac.c'], ['-DLUA_USE_POSIX'])
        elif project == 'sqlite':
            _compile(exe, folder, ['sqlite3.c', 'shell.c'],
                     ['-DSQLITE_THREADSAFE=0'])
        else:
            _write(os.path.join(folder, 'main.c'), ZSTD_MAIN)
            _compile(exe, folder, _files(
                folder, 'main.c', 'lib/common/*.c', 'lib/compress/*.c',
                'lib/decompress/*.c'), ['-Ilib', '-DZSTD_DISABLE_ASM'])
        return exe

    def command(self, project, exe):
        if project == 'zlib':
            return ('%s -6 <%s >/dev/null; %s -6 <%s >%s.gz; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s -d <%s.gz '
                    '>/dev/null; done' % (exe, self.data, exe, self.data, exe, exe,
                                       exe))
        if project == 'lua':
            return '%s %s/work.lua' % (exe, self.work)
        if project == 'sqlite':
            return '%s :memory: <%s/work.sql >/dev/null' % (exe, self.work)
        return '%s %s 30' % (exe, self.data)

    def changed(self, change, folder, base=None):
        """Builds a change in a folder; with `base`, as a commit of its repository."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.source[change.project], folder)
        for edit in change.edits:
            if callable(edit):
                edit(folder)
                continue
            path = os.path.join(folder, edit[0])
            text = _read(path)
            if edit[1] not in text:
                raise Failed('%s: no "%s"' % (edit[0], edit[1]))
            _write(path, text.replace(edit[1], edit[2], 1))
        if base:
            _commit(folder, base, change.what)
        return self.build(change.project, folder)


def _commit(folder, base, what):
    """Commits a folder's sources: a repository's first commit in `base`, the next one
    of that repository elsewhere."""
    git = ['git', '-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@example.org']
    if folder == base:
        shutil.rmtree(folder + '/.git', ignore_errors=True)
        subprocess.run(git + ['init', '-q'], check=True)
    else:
        shutil.copytree(base + '/.git', folder + '/.git')
    subprocess.run(git + ['add', '-A'], check=True)
    subprocess.run(git + ['commit', '-q', '-m', what or 'Begin'], check=True)


def _verdict(tools, programs, change, old, new):
    report = os.path.join(programs.work, 'verdict.json')
    files = {old: [], new: []}
    for i in range(2 * RUNS):
        # old, new, new, old …: neither is always the first
        exe = (old, new)[(i + i // 2) % 2]
        files[exe].append(os.path.join(programs.work, 'run-%d.tally' % i))
        # a recording has the revision of the folder it is made in
        subprocess.run(
            [tools.tally, 'record', '-q', '-F', '4999', '-g', '-o', files[exe][-1], '--',
             'sh', '-c', programs.command(change.project, exe)],
            cwd=os.path.dirname(exe), env=tools.env, stdout=subprocess.DEVNULL, check=True)
    done = subprocess.run(
        [tools.tally, 'check', '--format', 'none', '--json', report,
         '--repo', os.path.dirname(new), '--baseline', *files[old], '--new', *files[new]],
        env=tools.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        check=False)
    if done.returncode not in (0, 1, 3):
        raise Failed(done.stderr.decode(errors='replace'))
    with open(report, encoding='utf-8') as f:
        return json.load(f), done.returncode


def _growth(row):
    return row['new'] - row['base']


def _found(change, culprit):
    """Whether check says which change made the culprit slower."""
    if not change.edited:
        return bool(culprit.get('commits')) or any(
            e['relation'] == 'self' for e in culprit.get('changed_elsewhere', ()))
    return any(e['function'] == change.edited for e in culprit.get('changed_elsewhere', ()))


def _tell(table, change, result, status):
    failed = sorted((r for r in result['rows'] if r['fails']), key=_growth,
                    reverse=True)
    named = ['%s %s' % (r['function'], 'new' if r['ratio'] is None
                        else '%+.0f %%' % (100 * r['ratio'] - 100))
             for r in failed]
    if change.slower:
        culprits = [r for r in failed if not r['function'].startswith('[')]
        right = bool(culprits) and re.search(change.slower,
                                             culprits[0]['function'])
        kind = 'slower'
        if right:
            found = _found(change, culprits[0])
            named.append('by ' + (change.edited or 'its own lines') if found
                         else 'the edited place is NOT found')
            right = found
    else:
        right = not failed and status in (0, 3)     # 3: it could see too little
        kind = 'as fast'
    table.fact('%s, %s: %s' % (change.project, kind, change.what),
               '%s (exit status %d)' % (', '.join(named) or 'nothing named',
                                        status), bool(right))


def changes(tools, table, args):
    """Changes of real programs: which of them are regressions."""
    work = os.path.join(args.work, 'changes')
    os.makedirs(work, exist_ok=True)
    programs = Programs(work)
    old = {}
    todo = CHANGES[::5] if args.quick else CHANGES
    for change in todo:
        base = os.path.join(work, 'old', change.project)
        if change.project not in old:
            old[change.project] = programs.changed(
                Change(change.project, '', []), base, base)
        new = programs.changed(change, os.path.join(work, 'new', change.project),
                               base)
        result, status = _verdict(tools, programs, change,
                                  old[change.project], new)
        _tell(table, change, result, status)
