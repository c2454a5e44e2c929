// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether an opened file is the one that was mapped. */
#include "record/collect/image_identity.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define OVERLAYFS_MAGIC 0x794c7630	/* linux/magic.h */

/* Tolerance: the kernel's clock for files is coarse, and the two clocks drift. */
#define TIME_SLACK_NS 2000000

struct file_stamp file_stamp_of(const struct stat *st)
{
	return (struct file_stamp){ (uint64_t)st->st_size, st->st_mtim.tv_sec,
				    st->st_mtim.tv_nsec };
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->size == b->size && a->mtime_s == b->mtime_s &&
	       a->mtime_ns == b->mtime_ns;
}

bool self_map_find(const void *p, struct self_map *out)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t addr = (uint64_t)(uintptr_t)p;
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long start, end, inode;
		unsigned int major, minor;

		if (sscanf(line, "%lx-%lx %*s %*s %x:%x %lu", &start, &end,
			   &major, &minor, &inode) != 5)
			continue;
		*out = (struct self_map){ start, end, makedev(major, minor),
					  inode };
		found = addr >= start && addr < end;
	}
	if (f)
		fclose(f);
	return found;
}

/* Returns whether the kernel reports this file as it reported the mapping. */
static bool is_called(const struct mapping *m, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct self_map self;
	bool same = false;
	void *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return false;
	if (self_map_find(p, &self))
		same = self.dev == m->dev && self.inode == m->inode;
	munmap(p, page);
	return same;
}

/* Converts CLOCK_MONOTONIC to CLOCK_REALTIME. */
static int64_t wall_ns(uint64_t mono_ns)
{
	return (int64_t)(clock_read(CLOCK_REALTIME) - clock_now() + mono_ns);
}

/* Returns whether the file is newer than the mapping: an inode number may be reused
 * after a file is gone. */
static bool is_younger(const struct mapping *m, uint64_t mapped_ns, int fd)
{
	long generation = 0;
	struct statx x;

	if (m->generation && !ioctl(fd, FS_IOC_GETVERSION, &generation) &&
	    (uint32_t)generation != (uint32_t)m->generation)
		return true;
	return mapped_ns && !statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) &&
	       (x.stx_mask & STATX_BTIME) &&
	       x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec >
		       wall_ns(mapped_ns) + TIME_SLACK_NS;
}

bool is_written_since(uint64_t mapped_ns, const struct stat *st)
{
	int64_t written = clock_ns(st->st_mtim);

	/* A time in the future is another clock's. */
	return mapped_ns && written > wall_ns(mapped_ns) + TIME_SLACK_NS &&
	       written <= (int64_t)clock_read(CLOCK_REALTIME);
}

/*
 * Linux 6.8 to 6.17 report mappings on overlayfs with the inode of the lower layer,
 * which user space never sees.  The file of that name is accepted if it has been
 * there unchanged since before the mapping: a file moved into place gets a new change
 * time.
 */
static bool is_older_on_overlay(uint64_t mapped_ns, int fd,
				const struct stat *st)
{
	struct statfs fs;

	return mapped_ns && !fstatfs(fd, &fs) &&
	       fs.f_type == OVERLAYFS_MAGIC &&
	       clock_ns(st->st_ctim) < wall_ns(mapped_ns);
}

bool is_mapped_inode(const struct mapping *m, uint64_t mapped_ns, int fd,
		     const struct stat *st)
{
	if (m->inode == st->st_ino && m->dev == st->st_dev)
		return !is_younger(m, mapped_ns, fd);
	return is_called(m, fd) || is_older_on_overlay(mapped_ns, fd, st);
}
