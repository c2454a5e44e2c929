// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arbitrary bytes as a list of apt's, as a list of files of dpkg's and as
 * os-release: what goes into a command has nothing in it that a shell would read
 * as more than words.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hints/apt_lists.h"
#include "hints/dpkg.h"
#include "hints/os_release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_folder(const char *root, const char *path)
{
	char at[256];

	for (const char *p = path; (p = strchr(p + 1, '/')) != NULL;) {
		snprintf(at, sizeof(at), "%s%.*s", root, (int)(p - path), path);
		mkdir(at, 0700);
	}
}

static void put(const char *root, const char *path, const uint8_t *p, size_t n)
{
	char at[256];
	FILE *f;

	make_folder(root, path);
	snprintf(at, sizeof(at), "%s%s", root, path);
	f = fopen(at, "w");
	if (!f)
		abort();
	fwrite(p, 1, n, f);
	fclose(f);
}

static void take_away(const char *root)
{
	static const char *const all[] = {
		"/etc/os-release", "/etc", "/var/lib/apt/lists/x_Packages",
		"/var/lib/apt/lists", "/var/lib/apt",
		"/var/lib/dpkg/info/own.list", "/var/lib/dpkg/info",
		"/var/lib/dpkg", "/var/lib", "/var", "",
	};
	char at[256];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(at, sizeof(at), "%s%s", root, all[i]);
		remove(at);
	}
}

static void check_lists(const char *root)
{
	struct apt_ask a[2] = { { .id = { .len = 2, .bytes = { 0xab, 0xcd } },
				  .name = (char[]){ "libx-dbgsym" } },
				{ .id = { .len = 1, .bytes = { 0x11 } } } };
	struct dpkg_ask d = { .path = "/usr/bin/own" };
	bool read;

	if (apt_find_build_ids(root, a, 2, &read) < 0 ||
	    dpkg_find_owners(root, &d, 1) < 0)
		abort();
	for (size_t i = 0; i < 2; i++)
		if (a[i].package &&
		    !dpkg_is_name(a[i].package, strlen(a[i].package)))
			abort();
	if (d.owner && strcmp(d.owner, "own"))
		abort();
	free(a[0].package);
	free(a[1].package);
	free(d.owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char root[] = "/dev/shm/fuzz-packages-XXXXXX";
	struct os_release os;

	if (!mkdtemp(root))
		return 0;
	put(root, "/etc/os-release", data, size);
	put(root, "/var/lib/apt/lists/x_Packages", data, size);
	put(root, "/var/lib/dpkg/info/own.list", data, size);
	os_release_read(root, &os);
	for (const char *s = os.codename; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._- ", *s))
			abort();
	check_lists(root);
	take_away(root);
	return 0;
}
