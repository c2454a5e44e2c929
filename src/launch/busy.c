// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps CPUs from halting: see busy.h. */
#include "launch/busy.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void spin(size_t cpu, const cpu_set_t *all, size_t size,
			   pid_t parent)
{
	const struct sched_param none = { 0 };
	cpu_set_t *one = calloc(1, size);
	sigset_t set;

	/* Signals from the terminal are for the caller, which ends this process. */
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "tally-busy");
	if (!one || getppid() != parent || !CPU_ISSET_S(cpu, size, all))
		_exit(1);
	CPU_SET_S(cpu, size, one);
	if (sched_setaffinity(0, size, one) < 0 ||
	    sched_setscheduler(0, SCHED_IDLE, &none) < 0)
		_exit(1);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* Returns the caller's CPUs, however many the machine has; NULL with errno. */
static cpu_set_t *own_cpus(size_t *size)
{
	for (size_t n = 1024; n <= 1 << 20; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);

		*size = CPU_ALLOC_SIZE(n);
		if (set && !sched_getaffinity(0, *size, set))
			return set;
		CPU_FREE(set);
		if (!set || errno != EINVAL)
			break;
	}
	return NULL;
}

int busy_begin(struct busy *b, struct error *err)
{
	pid_t parent = getpid();
	size_t size, wanted;
	cpu_set_t *all = own_cpus(&size);

	*b = (struct busy){ 0 };
	if (!all)
		return error_errno(err, errno, "--keep-busy: cannot list the "
				   "processors");
	wanted = (size_t)CPU_COUNT_S(size, all);
	b->pids = calloc(wanted, sizeof(*b->pids));
	for (size_t cpu = 0; b->pids && b->n < wanted; cpu++) {
		pid_t pid;

		if (!CPU_ISSET_S(cpu, size, all))
			continue;
		pid = fork();
		if (!pid)
			spin(cpu, all, size, parent);
		if (pid < 0)
			break;
		b->pids[b->n++] = pid;
	}
	CPU_FREE(all);
	if (b->n == wanted)
		return 0;
	error_errno(err, b->pids ? errno : ENOMEM, "--keep-busy: cannot start a "
		    "process on each processor");
	busy_end(b);
	return -err->code;
}

void busy_end(struct busy *b)
{
	for (size_t i = 0; i < b->n; i++)
		kill(b->pids[i], SIGKILL);
	for (size_t i = 0; i < b->n; i++)
		while (waitpid(b->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	free(b->pids);
	*b = (struct busy){ 0 };
}
