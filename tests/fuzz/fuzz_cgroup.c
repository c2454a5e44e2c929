// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts of /proc/PID/cgroup and the paths in them: no crash, and names that are
 * parts of the path or shorter.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	struct cgroup_names n;
	struct buf path = { 0 };

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	cgroup_path_of(copy, size, &path);
	if (path.n > CGROUP_PATH_MAX || path.n > size)
		abort();
	cgroup_names(buf_cstr(&path), &n);
	if (strlen(n.container) > path.n || strlen(n.pod) > path.n ||
	    strlen(n.service) > path.n)
		abort();
	buf_fini(&path);
	free(copy);
	return 0;
}
