// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the device of the kernel module and explains its refusals. */
#include "record/kmod/kmod_device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/source/rights.h"

static int not_opened(int errnum, struct error *err)
{
	if (errnum == ENOENT || errnum == ENXIO || errnum == ENODEV)
		return error_set(err, ERR_NOTFOUND, "the kernel module is not "
				 "loaded (no " TALLY_DEVICE "): \"sudo modprobe "
				 "tally\" loads it; where it is not installed, "
				 "\"make -C kmod\" in tally's source builds it");
	if (errnum == EACCES || errnum == EPERM)
		return error_set(err, ERR_PERM, "not allowed to open "
				 TALLY_DEVICE ": run as root or with the "
				 "capability %s", rights_perfmon_name());
	return error_errno(err, errnum, TALLY_DEVICE);
}

int kmod_open(struct tally_info *info, struct error *err)
{
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return not_opened(errno, err);
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (ioctl(fd, TALLY_IOC_INFO, info) < 0) {
		int e = errno;

		close(fd);
		if (e == ENOTTY)
			return error_set(err, ERR_UNSUPPORTED, "the loaded kernel "
					 "module is older than this tally: load "
					 "the one that belongs to it (\"make -C "
					 "kmod\" builds it)");
		return error_set(err, ERR_UNSUPPORTED, TALLY_DEVICE " does not "
				 "answer as tally's kernel module: %s",
				 strerror(e));
	}
	if (info->abi_major == TALLY_ABI_MAJOR)
		return fd;
	close(fd);
	return error_set(err, ERR_UNSUPPORTED, "the loaded kernel module has "
			 "interface version %u, this tally version %u: load "
			 "the matching module (\"make -C kmod\" builds it)",
			 info->abi_major, TALLY_ABI_MAJOR);
}

int kmod_refused(int errnum, const char *what, struct error *err)
{
	switch (errnum) {
	case EBUSY:
		return error_set(err, ERR_UNSUPPORTED, "the performance "
				 "counters are in use by the kernel's watchdog "
				 "(\"sudo sysctl kernel.nmi_watchdog=0\" stops "
				 "it) or another profiler");
	case ENOENT:
	case EOPNOTSUPP:
		return error_set(err, ERR_UNSUPPORTED, "this kernel cannot sample "
				 "one of the events here; cpu-clock works "
				 "everywhere (-e cpu-clock)");
	case ENODEV:
		return error_set(err, ERR_UNSUPPORTED, "the kernel module finds "
				 "no performance counters here; cpu-clock works "
				 "everywhere (-e cpu-clock)");
	case ESRCH:
		return error_set(err, ERR_NOTFOUND,
				 "the processes to record have ended");
	case EPERM:
		return error_set(err, ERR_PERM, "this kernel is locked down: "
				 "only user space may be sampled (--user)");
	case EACCES:
		return error_set(err, ERR_PERM, "a security module of this kernel "
				 "(SELinux …) does not allow this user to sample "
				 "it: only user space (--user)");
	case EBADF:
		return error_set(err, ERR_UNSUPPORTED, "the kernel module "
				 "follows control groups of version 2 only: "
				 "this one is of version 1 (--source=perf takes "
				 "its perf_event hierarchy)");
	case ENOMEM:
		return error_set(err, ERR_NOMEM, "the kernel has no memory for "
				 "the rings of samples");
	default:
		return error_errno(err, errnum, "kernel module: %s", what);
	}
}
