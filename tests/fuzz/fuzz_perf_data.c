// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile files of perf, imported without names. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options o = { .version = "fuzz",
				    .max_memory = 16 << 20 };
	struct import_result result;
	struct error err;
	char path[32];
	int in = memfd_create("in", MFD_CLOEXEC);
	int out = memfd_create("out", MFD_CLOEXEC);

	if (in < 0 || out < 0 || write(in, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (import_perf_data(path, out, "out", &o, &result, &err) < 0 &&
	    !*err.msg)
		abort();
	close(in);
	close(out);
	return 0;
}
