// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hints from package databases made by hand, as the documents of dpkg and apt
 * describe them, whole and hostile.  What dpkg-query says of real files:
 * tests/e2e/missing.sh.
 */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "hints/apt_lists.h"
#include "hints/dpkg.h"
#include "hints/hints.h"

static char root[] = "/tmp/tally-hints.XXXXXX";
static struct buf elf;		/* this program, as a file with build-id */
static struct build_id id;

static void put_bytes(const char *path, const void *p, size_t n)
{
	char full[PATH_MAX];
	struct error err;
	int fd;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	fd = open(full, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, full, p, n, &err), 0);
	close(fd);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static int fresh_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*", root);
	return system(command);
}

static void debian(void)
{
	put("/etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian\n"
	    "VERSION_CODENAME=bookworm\n");
	put("/var/lib/dpkg/info/libc6:amd64.list",
	    "/.\n/lib\n/lib/x86_64-linux-gnu\n"
	    "/lib/x86_64-linux-gnu/libc.so.6\n");
	put("/var/lib/dpkg/info/libgmp10:amd64.list",
	    "/usr/lib/x86_64-linux-gnu/libgmp.so.10.4.1\n");
	put("/var/lib/dpkg/info/python3.11-minimal.list",
	    "/usr/bin/python3.11");	/* no newline at the end */
	put("/var/lib/dpkg/info/cpp-12.list",
	    "/usr/lib/gcc/x86_64-linux-gnu/12/cc1\n");
}

/* Asks for one file, which is there with this build-id. */
static struct hint ask(const char *path, bool stripped, bool lists)
{
	struct hint_options o = { .root = root, .search_lists = lists };
	struct hint_ask a = { .path = path, .id = id, .stripped = stripped };
	struct hint h;

	put_bytes(path, elf.p, elf.n);
	assert_int_equal(hints_find(&o, &a, 1, &h), 0);
	return h;
}

static void is_command(const char *path, const char *package,
		       const char *command)
{
	struct hint h = ask(path, true, false);

	assert_string_equal(h.package, package);
	assert_string_equal(h.command, command);
	assert_non_null(strstr(h.fetch, "tally symbolize --debuginfod"));
	hints_fini(&h, 1);
}

static void test_owners(void **state)
{
	(void)state;
	debian();
	/* /usr/lib is where /lib leads, and the other way round */
	is_command("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg",
		   "apt install libc6-dbg");
	is_command("/lib/x86_64-linux-gnu/libgmp.so.10.4.1",
		   "libgmp10-dbgsym", "apt install libgmp10-dbgsym");
	is_command("/usr/bin/python3.11", "python3.11-dbg",
		   "apt install python3.11-dbg");
	is_command("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "cpp-12-dbgsym",
		   "apt install cpp-12-dbgsym");
}

static void test_notes(void **state)
{
	const char *path = "/usr/lib/x86_64-linux-gnu/libgmp.so.10.4.1";
	struct hint h;

	(void)state;
	debian();
	h = ask(path, true, false);
	assert_string_equal(h.note, "from the archive debian-debug, suite "
			    "bookworm-debug");
	hints_fini(&h, 1);
	put("/var/lib/apt/lists/deb.example_debian-debug_dists_bookworm-debug_"
	    "main_binary-amd64_Packages", "");
	h = ask(path, true, false);
	assert_string_equal(h.note, "");
	hints_fini(&h, 1);
	put("/var/lib/dpkg/info/libgmp10-dbgsym:amd64.list", "");
	h = ask(path, true, false);
	assert_string_equal(h.command,
			    "apt install libgmp10-dbgsym libgmp10");
	assert_string_equal(h.note, "installed, but in another version");
	hints_fini(&h, 1);
	fresh_root(NULL);
	put("/etc/os-release", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
	put("/var/lib/dpkg/info/libgmp10:amd64.list",
	    "/usr/lib/x86_64-linux-gnu/libgmp.so.10.4.1\n");
	h = ask(path, true, false);
	assert_non_null(strstr(h.note, "ddebs"));
	hints_fini(&h, 1);
}

static void test_own_programs(void **state)
{
	struct hint h;

	(void)state;
	debian();
	h = ask("/home/me/prog", true, false);
	assert_string_equal(h.command, "");
	assert_string_equal(h.fetch, "");
	assert_non_null(strstr(h.note, "--debug-dir"));
	hints_fini(&h, 1);
	h = ask("/home/me/prog", false, false);
	assert_string_equal(h.note, "compile with -g");
	hints_fini(&h, 1);
	/* in a folder of packages, but of none */
	h = ask("/usr/bin/mine", false, false);
	assert_string_equal(h.note, "compile with -g");
	hints_fini(&h, 1);
}

/* A file that changed since: its package says nothing about the recorded one. */
static void test_other_build_id(void **state)
{
	struct hint_options o = { .root = root, .debuginfod = "https://d" };
	struct hint_ask a[2] = {
		{ .path = "/usr/bin/python3.11",
		  .id = { 4, { 0xde, 0xad, 0xbe, 0xef } } },
		{ .path = "/nonexistent" },
	};
	struct hint h[2];

	(void)state;
	debian();
	put_bytes("/usr/bin/python3.11", elf.p, elf.n);
	assert_int_equal(hints_find(&o, a, 2, h), 0);
	assert_string_equal(h[0].package, "");
	assert_string_equal(h[0].command,
			    "tally symbolize --debuginfod");
	assert_string_equal(h[1].command, "");
	assert_non_null(strstr(h[1].note, "--build-id"));
	hints_fini(h, 2);
}

static void test_rpm(void **state)
{
	struct hint h;
	char hex[2 * BUILD_ID_MAX + 1], want[200];

	(void)state;
	for (int i = 0; i < id.len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
	put("/var/lib/rpm/rpmdb.sqlite", "");
	put("/usr/lib/os-release", "ID=fedora\n");
	h = ask("/usr/lib64/libgmp.so.10", true, false);
	snprintf(want, sizeof(want), "dnf --enablerepo='*debug*' install "
		 "'debuginfo(build-id) = %s'", hex);
	assert_string_equal(h.command, want);
	hints_fini(&h, 1);
	put("/etc/os-release", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"");
	h = ask("/usr/lib64/libgmp.so.10", true, false);
	assert_non_null(strstr(h.command, "zypper install"));
	hints_fini(&h, 1);
}

static void test_kernel(void **state)
{
	struct hint_options o = { .root = root };
	struct hint_ask a = { .path = "[kernel]", .kernel = "6.1.0-50-amd64" };
	struct hint h;

	(void)state;
	debian();
	assert_int_equal(hints_find(&o, &a, 1, &h), 0);
	assert_string_equal(h.command, "");
	assert_non_null(strstr(h.note, "vmlinux-6.1.0-50-amd64"));
	hints_fini(&h, 1);
	put("/var/lib/dpkg/info/linux-image-6.1.0-50-amd64.list", "");
	assert_int_equal(hints_find(&o, &a, 1, &h), 0);
	assert_string_equal(h.command,
			    "apt install linux-image-6.1.0-50-amd64-dbg");
	hints_fini(&h, 1);
	a.kernel = "6.1; rm -rf /";
	assert_int_equal(hints_find(&o, &a, 1, &h), 0);
	assert_string_equal(h.command, "");
	assert_string_equal(h.note, "");
	hints_fini(&h, 1);
}

/* Names that are no names of packages never get into a command. */
static void test_hostile_lists(void **state)
{
	char *big = malloc(1 << 20);
	struct hint h;

	(void)state;
	memset(big, 'x', 1 << 20);
	put("/etc/os-release", "ID=debian\nVERSION_CODENAME=`reboot`\n");
	put("/var/lib/dpkg/info/$(reboot).list", "/usr/bin/a\n");
	put("/var/lib/dpkg/info/a;b.list", "/usr/bin/a\n");
	put("/var/lib/dpkg/info/.list", "/usr/bin/a\n");
	put("/var/lib/dpkg/info/-o.list", "/usr/bin/a\n");
	put_bytes("/var/lib/dpkg/info/aa.list", big, 1 << 20);
	put_bytes("/var/lib/dpkg/info/bb.list", "/usr/bin/a\0\n", 12);
	h = ask("/usr/bin/a", false, false);
	assert_string_equal(h.package, "");
	hints_fini(&h, 1);
	put("/var/lib/dpkg/info/real.list", "\n\n/usr/bin/a\n");
	h = ask("/usr/bin/a", false, false);
	assert_string_equal(h.package, "real-dbgsym");
	assert_string_equal(h.note, "from the archive debian-debug");
	hints_fini(&h, 1);
	free(big);
}

static void put_lists(const char *before, const char *ids)
{
	struct buf b = { 0 };

	buf_printf(&b, "%sPackage: all-dbg\nSource: all\nBuild-Ids: 00 ",
		   before);
	for (int i = 0; i < id.len; i++)
		buf_printf(&b, "%02x", id.bytes[i]);
	buf_printf(&b, "%s\nSize: 1\n\nPackage: last\n", ids);
	put("/var/lib/apt/lists/x_Packages", buf_cstr(&b));
	buf_fini(&b);
}

static void test_build_ids(void **state)
{
	struct buf many = { 0 };
	struct hint h;

	(void)state;
	debian();
	put_lists("Package: first-dbg\nBuild-Ids: 11\n\n", " ff");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.command, "apt install all-dbg");
	hints_fini(&h, 1);
	/* far into a list of several pieces */
	for (int i = 0; i < 60000; i++)
		buf_printf(&many, "Package: p%d\nDescription: about %d\n"
			   "Build-Ids: 12345%d\n\n", i, i, i);
	put_lists(buf_cstr(&many), "");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.package, "all-dbg");
	hints_fini(&h, 1);
	buf_fini(&many);
	/* of another: the rule for names must do */
	put("/var/lib/apt/lists/x_Packages",
	    "Build-Ids: 00\n\n\n\nPackage:\nBuild-Ids: 00\n\nPackage: a b\n");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.package, "python3.11-dbg");
	assert_string_equal(h.note, "");
	hints_fini(&h, 1);
	/* the right name, but built anew since */
	put("/var/lib/apt/lists/x_Packages", "Package: python3.11-dbg\n"
	    "Build-Ids: 00 11\n\nPackage: python3.12-dbg\nBuild-Ids: 22\n");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.package, "python3.11-dbg");
	assert_non_null(strstr(h.note, "another version"));
	hints_fini(&h, 1);
	put("/var/lib/dpkg/info/libpcre3:amd64.list",
	    "/lib/x86_64-linux-gnu/libpcre.so.3.13.3\n");
	is_command("/usr/lib/x86_64-linux-gnu/libpcre.so.3.13.3",
		   "libpcre3-dbg", "apt install libpcre3-dbg");
}

/* apt knows the archives: what none of them has is not named. */
static void test_no_such_package(void **state)
{
	static const char *const gmp =
		"/usr/lib/x86_64-linux-gnu/libgmp.so.10.4.1";
	struct hint h;

	(void)state;
	debian();
	put("/var/lib/apt/lists/x_Packages", "Package: bash\nSize: 1\n\n"
	    "Package: python3.11-dbg-x\nSize: 2\n");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.package, "");
	assert_string_equal(h.command, "");
	assert_non_null(strstr(h.note, "no package"));
	assert_non_null(strstr(h.fetch, "tally symbolize --debuginfod"));
	hints_fini(&h, 1);
	/* old debug packages name no build-ids */
	put("/var/lib/apt/lists/x_Packages", "Package: python3.11-dbg\n"
	    "Size: 1\n\nPackage: bash\nSize: 2\n");
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.command, "apt install python3.11-dbg");
	hints_fini(&h, 1);
	/* no archive of debug packages is known: they may be in one */
	h = ask(gmp, true, true);
	assert_string_equal(h.package, "libgmp10-dbgsym");
	hints_fini(&h, 1);
	put("/var/lib/apt/lists/d_debian-debug_Packages",
	    "Package: bash-dbgsym\nBuild-Ids: 00\n");
	h = ask(gmp, true, true);
	assert_string_equal(h.package, "");
	assert_string_equal(h.command, "");
	hints_fini(&h, 1);
}

static void test_endless_paragraph(void **state)
{
	size_t n = 20 << 20;
	char *big = malloc(n);
	struct hint h;

	(void)state;
	debian();
	memset(big, 'x', n);
	put_bytes("/var/lib/apt/lists/x_Packages", big, n);
	h = ask("/usr/bin/python3.11", true, true);
	assert_string_equal(h.package, "python3.11-dbg");
	hints_fini(&h, 1);
	free(big);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(dpkg_is_name("libstdc++6", 10));
	assert_true(dpkg_is_name("0ad", 3));
	assert_false(dpkg_is_name("a", 1));
	assert_false(dpkg_is_name("A1", 2));
	assert_false(dpkg_is_name("a b", 3));
	assert_false(dpkg_is_name("-ab", 3));
	assert_false(dpkg_is_name("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_owners, fresh_root),
		cmocka_unit_test_setup(test_notes, fresh_root),
		cmocka_unit_test_setup(test_own_programs, fresh_root),
		cmocka_unit_test_setup(test_other_build_id, fresh_root),
		cmocka_unit_test_setup(test_rpm, fresh_root),
		cmocka_unit_test_setup(test_kernel, fresh_root),
		cmocka_unit_test_setup(test_hostile_lists, fresh_root),
		cmocka_unit_test_setup(test_build_ids, fresh_root),
		cmocka_unit_test_setup(test_no_such_package, fresh_root),
		cmocka_unit_test_setup(test_endless_paragraph, fresh_root),
		cmocka_unit_test(test_names),
	};
	struct image *img;
	int rc;

	if (!mkdtemp(root) ||
	    io_read_file("/bin/true", 64 << 20, &elf, NULL) < 0 ||
	    image_open_bytes(elf.p, elf.n, "true", &img, NULL) < 0)
		return 1;
	id = image_build_id(img);
	image_close(img);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fresh_root(NULL);
	rmdir(root);
	buf_fini(&elf);
	return rc;
}
