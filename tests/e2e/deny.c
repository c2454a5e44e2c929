// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deny HOW COMMAND [ARGS…]: runs a command under a seccomp filter that answers
 * perf_event_open(2) in the kernel's place.  HOW:
 *
 *	EPERM EACCES ENOSYS	it fails with that number (Docker: EPERM)
 *	KILL			who calls it is killed (systemd's default)
 *	KILL-BPF		the same for bpf(2)
 *	LEVEL			EACCES, but calls with unknown flags reach the
 *				kernel: what Debian's kernel does where
 *				kernel.perf_event_paranoid is 3
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The low half of the fifth argument, the flags. */
#define FLAGS (offsetof(struct seccomp_data, args[4]) + \
	       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

static int filter(uint32_t call, uint32_t answer, uint32_t flags_most)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, flags_most, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint32_t call, answer, flags_most;
	} how[] = {
		{ "EPERM", SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM,
		  UINT32_MAX },
		{ "EACCES", SYS_perf_event_open, SECCOMP_RET_ERRNO | EACCES,
		  UINT32_MAX },
		{ "ENOSYS", SYS_perf_event_open, SECCOMP_RET_ERRNO | ENOSYS,
		  UINT32_MAX },
		{ "KILL", SYS_perf_event_open, SECCOMP_RET_KILL_PROCESS, UINT32_MAX },
		{ "KILL-BPF", SYS_bpf, SECCOMP_RET_KILL_PROCESS, UINT32_MAX },
		{ "LEVEL", SYS_perf_event_open, SECCOMP_RET_ERRNO | EACCES, 15 },
	};

	for (size_t i = 0; argc > 2 && i < sizeof(how) / sizeof(how[0]); i++) {
		if (strcmp(argv[1], how[i].name))
			continue;
		if (filter(how[i].call, how[i].answer, how[i].flags_most) < 0)
			break;
		execvp(argv[2], argv + 2);
	}
	perror("deny");
	return 125;
}
