// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile profiles with names: pprof, the Firefox Profiler's, and the text of
 * perf script. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"
#include "profile/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options o = { .version = "fuzz",
				    .max_memory = 1 << 20 };
	struct import_result result;
	struct reader *r = NULL;
	struct error err;
	char path[32];
	int in = memfd_create("in", MFD_CLOEXEC);
	int out = memfd_create("out", MFD_CLOEXEC);

	if (in < 0 || out < 0 || write(in, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (import_foreign(path, out, "out", &o, &result, &err) < 0) {
		if (!*err.msg)
			abort();
	} else {
		/* what was written is a recording */
		if (reader_open_fd(out, "out", UINT64_MAX, &r, &err) < 0)
			abort();
		reader_close(r);
	}
	close(in);
	close(out);
	return 0;
}
