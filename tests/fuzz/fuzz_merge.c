// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile recordings summed into one: no crash; the result is intact and has all
 * their samples.  The input is the first recording's
 * length in two bytes, the first one, and the second one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mend.h"
#include "profile/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Counts the samples that merging can read: it needs neither times nor CPUs, and
 * columns that are not read are not checked. */
static uint64_t count(struct reader *r)
{
	struct sample_batch b;
	uint64_t n = 0;

	reader_columns(r, COLUMN_ALL & ~(COLUMN_TIME | COLUMN_CPU));
	reader_rewind(r);
	while (reader_next(r, &b))
		for (size_t i = 0; i < b.n; i++)
			n += b.more[i] + 1;
	return n;
}

/* Merges two recordings; returns an fd, or -1 if they were refused. */
static int merge(struct reader *a, struct reader *b)
{
	int fd = memfd_create("merged", MFD_CLOEXEC);
	struct merger *m;
	int rc;

	if (fd < 0 || merger_open(&m) < 0)
		abort();
	rc = merger_add(m, a, "a", NULL);
	if (!rc)
		rc = merger_add(m, b, "b", NULL);
	if (!rc)
		rc = merger_write(m, fd, "merged", NULL);
	merger_close(m);
	if (!rc)
		return fd;
	close(fd);
	return -1;
}

static void check(struct reader *const r[2])
{
	uint64_t want = count(r[0]) + count(r[1]);
	int fd = merge(r[0], r[1]);
	struct reader *all;

	if (fd < 0)
		return;
	if (reader_open_fd(fd, "merged", UINT64_MAX, &all, NULL) < 0 ||
	    count(all) != want || *reader_damage(all)->message)
		abort();
	reader_close(all);
	close(fd);
}

static uint8_t *open_copy(const uint8_t *data, size_t size, struct reader **r)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	mend_checksums(copy, size);
	if (reader_open_bytes(copy, size, "fuzz", r, NULL) < 0)
		*r = NULL;
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader *r[2];
	uint8_t *copy[2];
	size_t n;

	if (size < 2 || size > 1 << 18)
		return 0;
	n = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	n = n < size ? n : size;
	copy[0] = open_copy(data, n, &r[0]);
	copy[1] = open_copy(data + n, size - n, &r[1]);
	if (r[0] && r[1])
		check(r);
	for (int s = 0; s < 2; s++) {
		reader_close(r[s]);
		free(copy[s]);
	}
	return 0;
}
