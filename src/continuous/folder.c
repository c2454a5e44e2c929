// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder, its lock and the control group: see folder.h. */
#include "continuous/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "continuous/status.h"
#include "launch/target.h"

enum {
	LEFT_BEHIND_S = 30,	/* time that processes of a killed supervisor get */
	STATUS_MAX = 1 << 16,
};

/* Returns whether the supervisor that wrote the status has died, so that only
 * processes that it left behind can hold the lock. */
static bool supervisor_died(int dir)
{
	int fd = openat(dir, "status.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct continuous_status st;
	struct buf text = { 0 };
	struct error ignored;
	bool died;

	if (fd < 0)
		return false;
	died = !io_read_fd(fd, "status.json", STATUS_MAX, &text, &ignored) &&
	       !status_parse(text.p, text.n, &st, &ignored) && st.pid > 1 &&
	       st.pid <= INT_MAX && kill((pid_t)st.pid, 0) < 0 &&
	       errno == ESRCH;
	close(fd);
	buf_fini(&text);
	return died;
}

/* Locks the folder.  Processes of a supervisor that was killed end soon. */
static bool take_lock(int dir, int lock, bool wait)
{
	uint64_t end = clock_now() + LEFT_BEHIND_S * SECOND;

	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (!wait || clock_now() >= end || !supervisor_died(dir))
			return false;
		poll(NULL, 0, 100);
	}
	return true;
}

int folder_open(const char *path, bool wait, int *dir, int *lock,
		struct error *err)
{
	int rc = 0;

	*lock = -1;
	*dir = outfile_folder(path, 0750, "the folder of recordings (-o)", err);
	if (*dir < 0)
		return *dir;
	*lock = openat(*dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		       0644);
	if (*lock < 0)
		rc = error_errno(err, errno, "%s/lock", path);
	else if (!take_lock(*dir, *lock, wait))
		rc = error_set(err, ERR_USAGE, "%s: another tally records into "
			       "this folder; -o names another one", path);
	if (!rc)
		return 0;
	if (*lock >= 0)
		close(*lock);
	close(*dir);
	*dir = *lock = -1;
	return rc;
}

bool folder_is_at(int dir, const char *path)
{
	struct stat now, used;

	return fstat(dir, &used) < 0 ||
	       (!stat(path, &now) && now.st_dev == used.st_dev &&
		now.st_ino == used.st_ino);
}

uint64_t cgroup_inode(const char *path)
{
	struct error ignored;
	struct stat st;
	uint64_t inode = 0;
	int fd;

	if (target_cgroup(path, &fd, &ignored) < 0)
		return 0;
	if (!fstat(fd, &st))
		inode = st.st_ino;
	close(fd);
	return inode;
}
