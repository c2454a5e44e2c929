/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_BPF_CALL_H
#define TALLY_RECORD_SOURCE_BPF_CALL_H
/* bpf(2), which the C library does not have.  A filter may kill its callers: ask
 * rights_bpf_kills before. */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the result, such as a descriptor, or a negative errno. */
static inline int bpf_call(int cmd, union bpf_attr *a)
{
	int r = (int)syscall(SYS_bpf, cmd, a, sizeof(*a));

	return r < 0 ? -errno : r;
}

#endif
