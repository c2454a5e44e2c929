// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile recordings summed into one: no crash; the result is intact and has all
 * their samples, also in its sums by stack, and is the same if they share their strings.
 * The input is the first recording's length in two bytes, the first one, and the second
 * one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
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

/* Counts the samples by the sums by event and stack, if there are any. */
static uint64_t count_sums(struct reader *r)
{
	struct sample_batch b;
	uint64_t n = 0;

	reader_columns(r, COLUMN_EVENT | COLUMN_STACK | COLUMN_MORE);
	reader_rewind_sums(r);
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

struct copy {
	uint8_t *p;
	size_t n;
};

/* Merges two recordings that are opened one after another with common strings. */
static int merge_sharing(const struct copy in[2])
{
	int fd = memfd_create("shared", MFD_CLOEXEC), rc = 0;
	struct merger *m;

	if (fd < 0 || merger_open(&m) < 0)
		abort();
	for (int s = 0; !rc && s < 2; s++) {
		struct reader *r;

		if (reader_open_bytes_in(in[s].p, in[s].n, "fuzz",
					 merger_strings(m), &r, NULL) < 0)
			abort();
		rc = merger_add(m, r, "fuzz", NULL);
		reader_close(r);
	}
	if (!rc)
		rc = merger_write(m, fd, "merged", NULL);
	merger_close(m);
	if (!rc)
		return fd;
	close(fd);
	return -1;
}

static bool same_bytes(int a, int b)
{
	struct io_map x, y;
	bool same = io_map_fd(a, "a", &x, NULL) == 0 &&
		    io_map_fd(b, "b", &y, NULL) == 0 && x.n == y.n &&
		    !memcmp(x.p, y.p, x.n);

	io_unmap(&x);
	io_unmap(&y);
	return same;
}

static void check(struct reader *const r[2], const struct copy in[2])
{
	uint64_t want = count(r[0]) + count(r[1]);
	int fd = merge(r[0], r[1]), shared = merge_sharing(in);
	struct reader *all;

	if ((fd < 0) != (shared < 0) || (fd >= 0 && !same_bytes(fd, shared)))
		abort();
	if (fd < 0)
		return;
	close(shared);
	if (reader_open_fd(fd, "merged", UINT64_MAX, &all, NULL) < 0 ||
	    count(all) != want || count_sums(all) != want || *reader_damage(all)->message)
		abort();
	reader_close(all);
	close(fd);
}

static struct copy open_copy(const uint8_t *data, size_t size, struct reader **r)
{
	struct copy c = { malloc(size ? size : 1), size };

	if (!c.p)
		abort();
	memcpy(c.p, data, size);
	mend_checksums(c.p, size);
	if (reader_open_bytes(c.p, size, "fuzz", r, NULL) < 0)
		*r = NULL;
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader *r[2];
	struct copy copy[2];
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
		check(r, copy);
	for (int s = 0; s < 2; s++) {
		reader_close(r[s]);
		free(copy[s].p);
	}
	return 0;
}
