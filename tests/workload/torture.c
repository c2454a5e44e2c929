// SPDX-License-Identifier: GPL-2.0-or-later
/*
 *	torture [PART…]		all, or: signals waits jumps children threads
 *				files filter stops transfers environ
 *	torture link N		prints the environment's size, executes itself
 *				N times more
 */
#include "torture.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void burn_ms(unsigned int ms)
{
	struct timespec ts;
	uint64_t end = 0, now, x = 88172645463325252ull;
	volatile uint64_t sink;

	do {
		for (int i = 0; i < 20000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
		}
		sink = x;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
		if (!end)
			end = now + ms;
	} while (now < end);
	(void)sink;
}

void show_child(const char *name, int pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			printf("%s: no child\n", name);
			return;
		}
	if (WIFEXITED(status))
		printf("%s: exit %d\n", name, WEXITSTATUS(status));
	else
		printf("%s: signal %d\n", name, WTERMSIG(status));
}

static int link_of_chain(int n, char **argv)
{
	char left[16], *again[] = { argv[0], (char *)"link", left, NULL };
	char *few[] = { (char *)"ONLY=this", NULL };
	int entries = 0;

	while (environ[entries])
		entries++;
	printf("link %d: %d variables\n", n, entries);
	fflush(stdout);
	if (!n)
		return 9;
	burn_ms(2);
	snprintf(left, sizeof(left), "%d", n - 1);
	switch (n % 4) {
	case 0: execv(argv[0], again); break;
	case 1: execve(argv[0], again, few); break;
	case 2: execl(argv[0], argv[0], "link", left, (char *)NULL); break;
	default: execle(argv[0], argv[0], "link", left, (char *)NULL, few);
	}
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "signals", torture_signals }, { "waits", torture_waits },
		{ "jumps", torture_jumps }, { "threads", torture_threads },
		{ "files", torture_files }, { "filter", torture_filter },
		{ "stops", torture_stops }, { "transfers", torture_transfers },
		{ "environ", torture_environ },
	};

	if (argc > 2 && !strcmp(argv[1], "link"))
		return link_of_chain(atoi(argv[2]), argv);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int want = argc < 2;

		for (int k = 1; k < argc; k++)
			want |= !strcmp(argv[k], parts[i].name);
		if (!want)
			continue;
		printf("-- %s\n", parts[i].name);
		fflush(stdout);
		parts[i].run();
		fflush(stdout);
	}
	for (int k = 1; k < argc || k == 1; k++)
		if (argc < 2 || !strcmp(argv[k], "children"))
			torture_children(argv[0]);
	return 3;
}
