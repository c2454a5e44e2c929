// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles SIGBUS and SIGPIPE: see guard.h. */
#include "cli/guard.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static void die_of(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Uses only functions that are safe in a handler: getpagesize reads a constant,
 * and mmap (memory.c), which has run before, makes one system call. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);

	(void)context;
	/* BUS_ADRERR: beyond the end of the file; other codes mean faulty hardware */
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)at, page, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		die_of(sig);
}

static void on_sigpipe(int sig)
{
	(void)sig;
}

void guard_install(void)
{
	struct sigaction bus = { .sa_sigaction = on_sigbus,
				 .sa_flags = SA_SIGINFO };
	struct sigaction pipe_gone = { .sa_handler = on_sigpipe,
				       .sa_flags = SA_RESTART };
	struct sigaction before;

	sigemptyset(&bus.sa_mask);
	sigemptyset(&pipe_gone.sa_mask);
	sigaction(SIGBUS, &bus, NULL);
	/* If SIGPIPE is ignored, writing also fails with EPIPE. It stays ignored
	 * for a command that tally records. */
	if (!sigaction(SIGPIPE, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGPIPE, &pipe_gone, NULL);
}
