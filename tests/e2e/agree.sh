#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# diff and check agree about one pair of programs: which functions are the same,
# renamed, moved, new and gone.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
python3 -c 'import json' 2>/dev/null || {
	t_skip_all "diff and check agree" "python3 is not installed"
}
mkdir one two
# Two functions of one name, and …
cat >one/a.c <<'END'
static __attribute__((noinline)) unsigned step(unsigned x)
{
	for (unsigned i = 0; i < 5000; i++)
		x = x * 1103515245 + (x >> 7) + i;
	return x;
}
unsigned run_a(unsigned x) { return step(x) + 1; }
END
cat >one/b.c <<'END'
static __attribute__((noinline)) unsigned step(unsigned x)
{
	unsigned a[16] = { x, 1, 2 };

	for (unsigned i = 0; i < 4000; i++) {
		a[i & 15] = (a[(i + 3) & 15] >> (x & 7)) ^ a[(i + 5) & 15];
		x ^= a[x & 15] + (x << 3);
	}
	return a[x & 15] + x;
}
unsigned run_b(unsigned x) { return step(x) + 2; }
END
cat >one/work.c <<'END'
#include <stdlib.h>
unsigned run_a(unsigned), run_b(unsigned);
#ifdef NEW
#define before after	/* … a renamed function, … */
#endif
__attribute__((noinline)) unsigned before(unsigned x)
{
	for (unsigned i = 0; i < 3000; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		if (x & 0x400)
			x += i * 77;
		else
			x -= (x >> 3) | i;
	}
	return x;
}
/* … code that a function of its own has now, … */
#define PIECE \
	for (int i = 0; i < 2500; i++) \
		a[i & 15] = (a[(i + 3) & 15] >> (x & 7)) + i / (x | 1) + a[7]
#ifdef NEW
__attribute__((noinline)) unsigned piece(unsigned x, unsigned *a)
{
	PIECE;
	return a[x & 15];
}
#endif
__attribute__((noinline)) unsigned whole(unsigned x)
{
	unsigned a[16] = { x, 1, 2 };

	for (int i = 0; i < 3000; i++)
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
#ifdef NEW
	return x + piece(x, a);
#else
	PIECE;
	return x + a[x & 15];
#endif
}
/* … and functions that have nothing in common. */
#ifdef NEW
__attribute__((noinline)) unsigned fresh(unsigned x)
{
	unsigned n = 0;

	for (unsigned i = 1; i < 3000; i++)
		n += ((x * i) % 1000003) ^ (n >> 5);
	return n;
}
#else
#define fresh stale
__attribute__((noinline)) unsigned stale(unsigned x)
{
	double d = x;

	for (int i = 1; i < 2500; i++)
		d = d / (i + 0.5) + i * 1.25 - (d > 9 ? 3 : 4);
	return (unsigned)d;
}
#endif
int main(void)
{
	unsigned s = 0;

	for (int i = 0; i < 4000; i++)
		s += run_a(s) + run_b(s) + before(s) + whole(s) + fresh(s);
	return s == 12345;
}
END
cp one/* two
mv two/b.c two/c.c
flags="-O1 -g -fno-omit-frame-pointer -fno-ipa-icf"
for side in one two; do
	new=
	[ $side = one ] || new=-DNEW
	# shellcheck disable=SC2086
	(cd $side && ${CC:-cc} $flags $new -o prog ./*.c 2>cc.err) &&
		"$TALLY" record -q -F 2000 --repeat 5 -o $side.tally -- \
			$side/prog 2>rec.err || {
		t_skip_all "diff and check agree" "it cannot be recorded here"
	}
done
"$TALLY" diff --top 0 --format json one.tally two.tally >diff.json
"$TALLY" check --warn-only --format none --json check.json --baseline one.tally \
	--new two.tally

cat >said.py <<'END'
import json, sys
def said(file, name):
    out = {}
    for r in json.load(open(file))['rows']:
        if r.get('image') != 'prog':
            continue
        s = r['status']
        out[r[name]] = (s if s in ('new', 'gone') else
                        'moved' if 'moved_from' in r else 'there',
                        r.get('moved_from'))
    return out
diff, check = said('diff.json', 'symbol'), said('check.json', 'function')
END
t_run "a function that moved to another file, beside one of its name" python3 - <<'END'
exec(open('said.py').read())
assert diff['step (c.c)'] == ('moved', 'step (b.c)'), diff
assert diff['step (a.c)'] == ('there', None), diff
assert 'step (b.c)' not in diff, diff
END
t_run "a renamed one, moved code, what is new and gone" python3 - <<'END'
exec(open('said.py').read())
want = {'after': ('moved', 'before'), 'piece': ('moved', 'whole'),
        'fresh': ('new', None)}
assert {f: diff[f] for f in want} == want, diff
assert diff['stale'][0] == 'gone' and 'before' not in diff, diff
END
t_run "diff and check agree" python3 - <<'END'
exec(open('said.py').read())
# small functions are not tested, and have no row of their own
for f, s in check.items():
    if f in diff or s[0] != 'there':
        assert diff[f] == s, (f, diff.get(f), s)
for f in ('step (a.c)', 'step (c.c)', 'after', 'piece', 'fresh', 'stale'):
    assert f in check, check
END
t_done
