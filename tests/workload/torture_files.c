// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors that all belong to the program, and filters of system calls. */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *works(void *arg)
{
	(void)arg;
	burn_ms(3);
	return arg;
}

void torture_files(void)
{
	int first = open("/dev/null", O_RDONLY), opened = 0;
	pthread_t t;
	pid_t pid;

	printf("first free descriptor: %d\n", first);
	close(first);
	for (int fd = 3; fd < 1024; fd++)
		opened += fcntl(fd, F_GETFD) >= 0;
	printf("open: %d\n", opened);
	fflush(stdout);
	pid = fork();
	if (pid) {
		show_child("all overwritten", pid);
		return;
	}
	for (int fd = 3; fd < 256; fd++)
		dup2(0, fd);
	burn_ms(3);
	closefrom(3);
	pthread_create(&t, NULL, works, NULL);
	pthread_join(t, NULL);
	_exit(fork() ? 12 : 0);
}

/* All calls but these end the process: a profiler's, too. */
static int strict(void)
{
	static const int allowed[] = {
		SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_exit,
		SYS_clock_gettime,
	};
	struct sock_filter code[16];
	struct sock_fprog prog = { 0, code };
	size_t n = sizeof(allowed) / sizeof(allowed[0]);

	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		code[prog.len++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
				 (unsigned int)allowed[i],
				 (unsigned char)(n - i), 0);
	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* Timers and memory of others are refused, without a kill. */
static int polite(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* Without a clock: in the strictest mode reading one is a fault, too. */
static void burn_blindly(void)
{
	volatile unsigned int x = 1;

	for (int i = 0; i < 20000000; i++)
		x = x * 1103515245 + 12345;
}

enum entry { BY_PRCTL, BY_SECCOMP, BY_HAND, NO_CLOCK };

static long enter(enum entry how)
{
	long r = SYS_seccomp;

	switch (how) {
	case BY_PRCTL:
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	case BY_SECCOMP:
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	case NO_CLOCK:
		return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	case BY_HAND:
		break;
	}
#ifdef __x86_64__
	__asm__ volatile("syscall" : "+a"(r)
			 : "D"(SECCOMP_SET_MODE_STRICT), "S"(0), "d"(0)
			 : "rcx", "r11", "memory");
	return r;
#else
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
#endif
}

/* read, write, exit and rt_sigreturn, and no more (seccomp(2)). */
static void strictest(const char *name, enum entry how)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		burn_blindly();
		if (enter(how) < 0)
			syscall(SYS_exit, 1);
		burn_blindly();
		if (write(1, "within\n", 7) < 0)
			syscall(SYS_exit, 2);
		syscall(SYS_exit, 3);
	}
	show_child(name, pid);
}

/* Forbids some calls with an action, and allows all others. */
static int forbid(const int *calls, size_t n, unsigned int action)
{
	struct sock_filter code[16];
	struct sock_fprog prog = { 0, code };

	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		code[prog.len++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)calls[i],
				 (unsigned char)(n - i), 0);
	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* A filter that does not expect the return from a signal handler: sshd's. */
static void no_way_back(const char *name, unsigned int action)
{
	static const int back[] = { SYS_rt_sigreturn };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		burn_ms(5);
		if (forbid(back, 1, action) < 0)
			_exit(1);
		burn_ms(30);
		_exit(3);
	}
	show_child(name, pid);
}

/* A program below a filter of its parent's: only the loader's calls are expected. */
static void below(const char *name, const int *calls, size_t n)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (forbid(calls, n, SECCOMP_RET_KILL_PROCESS) < 0)
			_exit(1);
		execl("/proc/self/exe", "torture", "link", "0", (char *)NULL);
		_exit(2);
	}
	show_child(name, pid);
}

static void bad_arguments(void)
{
	static const int seldom[] = { SYS_acct };
	void *volatile nowhere = (void *)16;
	char *argv[] = { (char *)"true", NULL };
	char *bad[] = { nowhere, NULL };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (forbid(seldom, 1, SECCOMP_RET_KILL_PROCESS) < 0)
			_exit(1);
		execve(nowhere, argv, NULL);
		printf("path: %d\n", errno);
		execve("/bin/true", nowhere, NULL);
		printf("arguments: %d\n", errno);
		execve("/bin/true", argv, nowhere);
		printf("environment: %d\n", errno);
		execve("/bin/true", argv, bad);
		printf("variable: %d\n", errno);
		fflush(stdout);
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nowhere);
		printf("filter: %d\n", errno);
		burn_ms(10);
		fflush(stdout);
		_exit(4);
	}
	show_child("bad arguments below a filter", pid);
}

static void other_filters(void)
{
	static const int timers[] = { SYS_timer_create, SYS_timer_settime };
	static const int looks[] = { SYS_clock_gettime, SYS_getrusage, SYS_lseek,
				     SYS_readlinkat, SYS_getppid };
	static const int signals[] = { SYS_rt_sigaction, SYS_prctl };

	no_way_back("no return from handlers", SECCOMP_RET_KILL_PROCESS);
	no_way_back("an error for the return from handlers",
		    SECCOMP_RET_ERRNO | EPERM);
	below("below a filter of timers", timers, 2);
	below("below a filter of looks", looks, 5);
	below("below a filter of signals", signals, 2);
	bad_arguments();
}

void torture_filter(void)
{
	pthread_t t;
	pid_t pid;

	other_filters();
	strictest("strict mode", BY_PRCTL);
	strictest("strict mode by seccomp", BY_SECCOMP);
	strictest("strict mode by hand", BY_HAND);
	strictest("without a clock", NO_CLOCK);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (strict() < 0)
			_exit(1);
		burn_ms(15);
		if (write(1, "within\n", 7) < 0)
			_exit(2);
		_exit(3);
	}
	show_child("strict filter", pid);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		int status = 0;

		if (polite() < 0)
			_exit(1);
		burn_ms(5);
		pthread_create(&t, NULL, works, NULL);
		pthread_join(t, NULL);
		pid = fork();
		if (!pid) {
			burn_ms(5);
			_exit(2);
		}
		waitpid(pid, &status, 0);
		_exit(WEXITSTATUS(status) + 2);
	}
	show_child("polite filter", pid);
}
