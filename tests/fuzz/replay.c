// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a fuzz target over files and folders named on the command line: the
 * corpus as a test where there is no libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	struct buf b = { 0 };
	struct error err;

	if (io_read_file(path, 64 << 20, &b, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	LLVMFuzzerTestOneInput(b.p, b.n);
	buf_fini(&b);
	return 0;
}

static int run_folder(const char *path, DIR *d)
{
	struct dirent *e;
	int failed = 0;

	while ((e = readdir(d)) != NULL) {
		char name[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		failed |= run_file(name);
	}
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);

		failed |= d ? run_folder(argv[i], d) : run_file(argv[i]);
		if (d)
			closedir(d);
	}
	return failed;
}
