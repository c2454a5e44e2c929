// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of system calls and files. */
#include "record/waits/wait_kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/vec.h"

/* By the numbers of the calls. */
static const struct {
	uint8_t what, on;
} calls[] = {
	[SYS_futex] = { WAIT_FOR_FUTEX, 0 },
#ifdef SYS_futex_waitv
	[SYS_futex_waitv] = { WAIT_FOR_FUTEX, 0 },
#endif
#ifdef SYS_epoll_wait
	[SYS_epoll_wait] = { WAIT_FOR_EPOLL, 0 },
#endif
	[SYS_epoll_pwait] = { WAIT_FOR_EPOLL, 0 },
#ifdef SYS_epoll_pwait2
	[SYS_epoll_pwait2] = { WAIT_FOR_EPOLL, 0 },
#endif
#ifdef SYS_poll
	[SYS_poll] = { WAIT_FOR_POLL, 0 },
	[SYS_select] = { WAIT_FOR_POLL, 0 },
#endif
	[SYS_ppoll] = { WAIT_FOR_POLL, 0 },
	[SYS_pselect6] = { WAIT_FOR_POLL, 0 },

	[SYS_read] = { WAIT_FOR_READ, 0 },
	[SYS_readv] = { WAIT_FOR_READ, 0 },
	[SYS_pread64] = { WAIT_FOR_READ, 0 },
	[SYS_preadv] = { WAIT_FOR_READ, 0 },
	[SYS_preadv2] = { WAIT_FOR_READ, 0 },
	[SYS_getdents64] = { WAIT_FOR_READ, 0 },
	[SYS_recvfrom] = { WAIT_FOR_READ, WAIT_ON_SOCKET },
	[SYS_recvmsg] = { WAIT_FOR_READ, WAIT_ON_SOCKET },
	[SYS_recvmmsg] = { WAIT_FOR_READ, WAIT_ON_SOCKET },
	[SYS_write] = { WAIT_FOR_WRITE, 0 },
	[SYS_writev] = { WAIT_FOR_WRITE, 0 },
	[SYS_pwrite64] = { WAIT_FOR_WRITE, 0 },
	[SYS_pwritev] = { WAIT_FOR_WRITE, 0 },
	[SYS_pwritev2] = { WAIT_FOR_WRITE, 0 },
	[SYS_sendto] = { WAIT_FOR_WRITE, WAIT_ON_SOCKET },
	[SYS_sendmsg] = { WAIT_FOR_WRITE, WAIT_ON_SOCKET },
	[SYS_sendmmsg] = { WAIT_FOR_WRITE, WAIT_ON_SOCKET },
	[SYS_accept] = { WAIT_FOR_ACCEPT, 0 },
	[SYS_accept4] = { WAIT_FOR_ACCEPT, 0 },
	[SYS_connect] = { WAIT_FOR_CONNECT, 0 },
	[SYS_fsync] = { WAIT_FOR_SYNC, 0 },
	[SYS_fdatasync] = { WAIT_FOR_SYNC, 0 },
	[SYS_sync] = { WAIT_FOR_SYNC, 0 },
	[SYS_syncfs] = { WAIT_FOR_SYNC, 0 },
	[SYS_msync] = { WAIT_FOR_SYNC, 0 },
	[SYS_sync_file_range] = { WAIT_FOR_SYNC, 0 },
	[SYS_flock] = { WAIT_FOR_FILE_LOCK, 0 },
	[SYS_fcntl] = { WAIT_FOR_FILE_LOCK, 0 },
	[SYS_io_getevents] = { WAIT_FOR_AIO, 0 },
	[SYS_io_submit] = { WAIT_FOR_AIO, 0 },
#ifdef SYS_io_pgetevents
	[SYS_io_pgetevents] = { WAIT_FOR_AIO, 0 },
#endif
#ifdef SYS_io_uring_enter
	[SYS_io_uring_enter] = { WAIT_FOR_AIO, 0 },
#endif
	[SYS_ioctl] = { WAIT_FOR_IOCTL, 0 },

	[SYS_nanosleep] = { WAIT_FOR_SLEEP, 0 },
	[SYS_clock_nanosleep] = { WAIT_FOR_SLEEP, 0 },
#ifdef SYS_pause
	[SYS_pause] = { WAIT_FOR_SIGNAL, 0 },
#endif
	[SYS_rt_sigsuspend] = { WAIT_FOR_SIGNAL, 0 },
	[SYS_rt_sigtimedwait] = { WAIT_FOR_SIGNAL, 0 },
	[SYS_wait4] = { WAIT_FOR_CHILD, 0 },
	[SYS_waitid] = { WAIT_FOR_CHILD, 0 },
#ifdef SYS_vfork
	[SYS_vfork] = { WAIT_FOR_FORK, 0 },
	[SYS_fork] = { WAIT_FOR_FORK, 0 },
#endif
	[SYS_clone] = { WAIT_FOR_FORK, 0 },
#ifdef SYS_clone3
	[SYS_clone3] = { WAIT_FOR_FORK, 0 },
#endif
	[SYS_execve] = { WAIT_FOR_EXEC, 0 },
	[SYS_execveat] = { WAIT_FOR_EXEC, 0 },
	[SYS_exit] = { WAIT_FOR_EXIT, 0 },
	[SYS_exit_group] = { WAIT_FOR_EXIT, 0 },
	[SYS_semop] = { WAIT_FOR_IPC, 0 },
	[SYS_semtimedop] = { WAIT_FOR_IPC, 0 },
	[SYS_msgrcv] = { WAIT_FOR_IPC, 0 },
	[SYS_msgsnd] = { WAIT_FOR_IPC, 0 },
	[SYS_mq_timedreceive] = { WAIT_FOR_IPC, 0 },
	[SYS_mq_timedsend] = { WAIT_FOR_IPC, 0 },

	[SYS_mmap] = { WAIT_FOR_MEMORY, 0 },
	[SYS_munmap] = { WAIT_FOR_MEMORY, 0 },
	[SYS_mremap] = { WAIT_FOR_MEMORY, 0 },
	[SYS_mprotect] = { WAIT_FOR_MEMORY, 0 },
	[SYS_madvise] = { WAIT_FOR_MEMORY, 0 },
	[SYS_brk] = { WAIT_FOR_MEMORY, 0 },
	[SYS_mlock] = { WAIT_FOR_MEMORY, 0 },
	[SYS_mlockall] = { WAIT_FOR_MEMORY, 0 },

#ifdef SYS_open
	[SYS_open] = { WAIT_FOR_PATH, 0 },
	[SYS_creat] = { WAIT_FOR_PATH, 0 },
	[SYS_stat] = { WAIT_FOR_PATH, 0 },
	[SYS_lstat] = { WAIT_FOR_PATH, 0 },
	[SYS_access] = { WAIT_FOR_PATH, 0 },
	[SYS_unlink] = { WAIT_FOR_PATH, 0 },
	[SYS_rename] = { WAIT_FOR_PATH, 0 },
	[SYS_link] = { WAIT_FOR_PATH, 0 },
	[SYS_symlink] = { WAIT_FOR_PATH, 0 },
	[SYS_readlink] = { WAIT_FOR_PATH, 0 },
	[SYS_mkdir] = { WAIT_FOR_PATH, 0 },
	[SYS_rmdir] = { WAIT_FOR_PATH, 0 },
	[SYS_newfstatat] = { WAIT_FOR_PATH, 0 },
#endif
	[SYS_openat] = { WAIT_FOR_PATH, 0 },
#ifdef SYS_openat2
	[SYS_openat2] = { WAIT_FOR_PATH, 0 },
#endif
	[SYS_statx] = { WAIT_FOR_PATH, 0 },
	[SYS_faccessat] = { WAIT_FOR_PATH, 0 },
	[SYS_unlinkat] = { WAIT_FOR_PATH, 0 },
	[SYS_renameat2] = { WAIT_FOR_PATH, 0 },
	[SYS_linkat] = { WAIT_FOR_PATH, 0 },
	[SYS_symlinkat] = { WAIT_FOR_PATH, 0 },
	[SYS_readlinkat] = { WAIT_FOR_PATH, 0 },
	[SYS_mkdirat] = { WAIT_FOR_PATH, 0 },
	[SYS_truncate] = { WAIT_FOR_PATH, 0 },
	[SYS_ftruncate] = { WAIT_FOR_PATH, 0 },
	[SYS_fallocate] = { WAIT_FOR_PATH, 0 },
	[SYS_close] = { WAIT_FOR_PATH, 0 },
};

wait_kind wait_kind_of_call(int64_t number)
{
	if (number >= 0 && number < (int64_t)COUNT(calls) && calls[number].what)
		return wait_kind_of(calls[number].what, calls[number].on);
	/* A call that was interrupted: which one is unknown. */
	if (number == SYS_restart_syscall)
		return 0;
	return wait_kind_of(WAIT_FOR_OTHER, WAIT_ON_NOTHING);
}

enum wait_object wait_object_of_link(const char *link)
{
	static const struct {
		const char *prefix;
		enum wait_object on;
	} links[] = {
		{ "pipe:", WAIT_ON_PIPE },
		{ "socket:", WAIT_ON_SOCKET },
		{ "anon_inode:[eventfd", WAIT_ON_EVENTFD },
		{ "anon_inode:[timerfd", WAIT_ON_TIMERFD },
		{ "anon_inode:[signalfd", WAIT_ON_SIGNALFD },
		{ "anon_inode:inotify", WAIT_ON_INOTIFY },
		{ "anon_inode:[fanotify", WAIT_ON_INOTIFY },
		{ "/", WAIT_ON_PATH },
	};

	for (size_t i = 0; i < COUNT(links); i++)
		if (!strncmp(link, links[i].prefix, strlen(links[i].prefix)))
			return links[i].on;
	return WAIT_ON_NOTHING;
}

enum wait_object wait_object_of_mode(uint32_t mode, uint32_t major)
{
	/* Linux, Documentation/admin-guide/devices.txt: terminals, /dev/tty and
	 * pseudoterminals. */
	enum { TTY = 4, TTY_AUX = 5, PTY_FIRST = 128, PTY_LAST = 143,
	       SERIAL_USB = 188 };

	switch (mode & S_IFMT) {
	case S_IFIFO:
		return WAIT_ON_PIPE;
	case S_IFSOCK:
		return WAIT_ON_SOCKET;
	case S_IFREG:
		return WAIT_ON_FILE;
	case S_IFDIR:
		return WAIT_ON_DIRECTORY;
	case S_IFBLK:
		return WAIT_ON_DISK;
	case S_IFCHR:
		return major == TTY || major == TTY_AUX || major == SERIAL_USB ||
		       (major >= PTY_FIRST && major <= PTY_LAST)
		       ? WAIT_ON_TTY : WAIT_ON_DEVICE;
	default:
		return WAIT_ON_NOTHING;
	}
}

void wait_kind_text(wait_kind k, char *out, size_t size)
{
	static const char *const what[WAIT_FOR_KINDS] = {
		[WAIT_FOR_UNKNOWN] = "unknown",
		[WAIT_FOR_FUTEX] = "futex",
		[WAIT_FOR_EPOLL] = "epoll",
		[WAIT_FOR_POLL] = "poll",
		[WAIT_FOR_READ] = "read",
		[WAIT_FOR_WRITE] = "write",
		[WAIT_FOR_ACCEPT] = "accept",
		[WAIT_FOR_CONNECT] = "connect",
		[WAIT_FOR_SYNC] = "fsync",
		[WAIT_FOR_SLEEP] = "sleep",
		[WAIT_FOR_SIGNAL] = "signal",
		[WAIT_FOR_CHILD] = "child",
		[WAIT_FOR_FORK] = "fork",
		[WAIT_FOR_EXEC] = "exec",
		[WAIT_FOR_EXIT] = "exit",
		[WAIT_FOR_FILE_LOCK] = "filelock",
		[WAIT_FOR_AIO] = "aio",
		[WAIT_FOR_IPC] = "ipc",
		[WAIT_FOR_PATH] = "filesystem",
		[WAIT_FOR_MEMORY] = "mappings",
		[WAIT_FOR_IOCTL] = "ioctl",
		[WAIT_FOR_PAGE] = "pagefault",
		[WAIT_FOR_CONTINUE] = "stopped",
		[WAIT_FOR_OTHER] = "other",
	};
	static const char *const on[WAIT_ON_KINDS] = {
		[WAIT_ON_PIPE] = "pipe",
		[WAIT_ON_SOCKET] = "socket",
		[WAIT_ON_FILE] = "file",
		[WAIT_ON_DIRECTORY] = "directory",
		[WAIT_ON_TTY] = "tty",
		[WAIT_ON_DEVICE] = "device",
		[WAIT_ON_DISK] = "disk",
		[WAIT_ON_EVENTFD] = "eventfd",
		[WAIT_ON_TIMERFD] = "timerfd",
		[WAIT_ON_SIGNALFD] = "signalfd",
		[WAIT_ON_INOTIFY] = "inotify",
	};
	size_t w = k & 0xff, o = k >> 8;

	if (w >= WAIT_FOR_KINDS)
		w = WAIT_FOR_UNKNOWN;
	if (o < WAIT_ON_KINDS && on[o])
		snprintf(out, size, "%s %s", what[w], on[o]);
	else
		snprintf(out, size, "%s", what[w]);
}
