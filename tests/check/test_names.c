// SPDX-License-Identifier: GPL-2.0-or-later
/* Clones' names, lists of known changes, and the revision of a checkout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/test.h"
#include "check/allow.h"
#include "symbolize/demangle/clones.h"
#include "record/revision.h"

static void clones(void **state)
{
	static const char *const names[][2] = {
		{ "foo", "foo" },
		{ "foo.isra.0", "foo" },
		{ "foo.constprop.12.isra.3", "foo" },
		{ "_ZN1a1bEv.part.0.cold", "_ZN1a1bEv" },
		{ "foo.cold", "foo" },
		{ "foo.llvm.123456", "foo" },
		{ "foo.lto_priv.0", "foo" },
		/* not clones: Go, and names that only begin so */
		{ "main.main", "main.main" },
		{ "foo.colder", "foo.colder" },
		{ ".cold", ".cold" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(clone_base(names[i][0]), strlen(names[i][1]));
}

static const struct allowed *find(const struct allow_list *l,
				  const char *name, double ratio)
{
	return allow_find(l, name, "", ratio);
}

static void known_changes(void **state)
{
	static const char text[] = "# comment\r\n"
		"\n"
		"  lex +20% --  checks lengths \n"
		"ns::f(int, char) -- any\n"
		"cut<…>(…) -- any\n"
		"sha?56_* +5.5% -- constant time";
	struct allow_list l;

	(void)state;
	assert_int_equal(allow_parse(text, strlen(text), "f", &l, NULL), 0);
	assert_int_equal(l.v.n, 4);
	assert_string_equal(find(&l, "lex", 1.2)->reason, "checks lengths");
	assert_null(find(&l, "lex", 1.21));
	assert_null(find(&l, "lexer", 1.1));
	assert_non_null(find(&l, "ns::f(int, char)", 100));
	assert_non_null(find(&l, "sha256_block", 1.05));
	assert_null(find(&l, "sha256_block", 1.06));
	/* as reports shorten it, and by its linkage name */
	assert_non_null(find(&l, "cut<int>(char)", 1.2));
	assert_non_null(allow_find(&l, "sha", "lex", 1.2));
	assert_null(allow_find(NULL, "lex", "lex", 1.2));
	allow_fini(&l);
}

static void bad_lists(void **state)
{
	static const char *const texts[] = {
		"lex\n", "lex -- \n", " -- reason\n", "lex +x% -- reason\n",
		"lex +nan% -- reason\n", "ok -- fine\nlex --reason\n",
	};
	struct allow_list l;
	struct error err;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(allow_parse(texts[i], strlen(texts[i]), "f",
					     &l, &err), -ERR_USAGE);
		assert_non_null(strstr(err.msg, i == 5 ? "f:2" : "f:1"));
		assert_null(l.v.v);
	}
	assert_int_equal(allow_parse("a\0b", 3, "f", &l, &err), -ERR_USAGE);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_dir(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0777), 0);
}

#define COMMIT_A "0123456789abcdef0123456789abcdef01234567"
#define COMMIT_B "89abcdef0123456789abcdef0123456789abcdef"

static void expect(const char *dir, const char *below, const char *want)
{
	char path[512];
	struct buf b = { 0 };

	snprintf(path, sizeof(path), "%s%s", dir, below);
	revision_find(path, &b);
	assert_string_equal(buf_cstr(&b), want);
	buf_fini(&b);
}

/* gitrepository-layout(5) */
static void revisions(void **state)
{
	char dir[] = "/tmp/tally-revision.XXXXXX", cmd[600], at[600];

	(void)state;
	assert_non_null(mkdtemp(dir));
	make_dir(dir, ".git");
	make_dir(dir, "deep");
	put(dir, ".git/HEAD", COMMIT_A "\n");
	expect(dir, "/deep", COMMIT_A);
	put(dir, ".git/HEAD", "ref: refs/heads/topic\n");
	expect(dir, "", "");	/* no commit yet */
	put(dir, ".git/packed-refs", "# pack-refs with: peeled\n"
	    COMMIT_A " refs/heads/topic2\n" COMMIT_B " refs/heads/topic\n");
	expect(dir, "", COMMIT_B);
	make_dir(dir, ".git/refs");
	make_dir(dir, ".git/refs/heads");
	put(dir, ".git/refs/heads/topic", COMMIT_A "\n");
	expect(dir, "", COMMIT_A);
	put(dir, ".git/HEAD", "ref: refs/../../etc/passwd\n");
	expect(dir, "", "");
	put(dir, ".git/HEAD", "nonsense");
	expect(dir, "", "");
	/* a work tree: its own HEAD, the branches of the repository */
	make_dir(dir, ".git/worktrees");
	make_dir(dir, ".git/worktrees/w");
	put(dir, ".git/worktrees/w/HEAD", "ref: refs/heads/topic\n");
	put(dir, ".git/worktrees/w/commondir", "../..\n");
	make_dir(dir, "w");
	snprintf(at, sizeof(at), "gitdir: %s/.git/worktrees/w\n", dir);
	put(dir, "w/.git", at);
	expect(dir, "/w", COMMIT_A);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	assert_int_equal(system(cmd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clones),
		cmocka_unit_test(known_changes),
		cmocka_unit_test(bad_lists),
		cmocka_unit_test(revisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
