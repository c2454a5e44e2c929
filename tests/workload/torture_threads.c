// SPDX-License-Identifier: GPL-2.0-or-later
/* A thousand short threads, ended in all ways; ids changed in all of them. */
#include "torture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BATCH = 50, BATCHES = 20 };

static atomic_int ran, detached_ran, cleaned;
static pthread_key_t key;

static void clean(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *thread_main(void *arg)
{
	intptr_t n = (intptr_t)arg;

	pthread_setspecific(key, arg);
	ran++;
	if (n % 100 == 99)
		burn_ms(1);
	if (n % 7 == 3)
		pthread_exit((void *)(n + 1));
	if (n % 7 == 5) {
		for (;;)
			usleep(1000);
	}
	if (n % 7 == 6)
		detached_ran++;
	return (void *)(n + 1);
}

static intptr_t batch(intptr_t from)
{
	pthread_t t[BATCH];
	pthread_attr_t a;
	intptr_t sum = 0;

	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&a, 65536);
	for (intptr_t i = 0; i < BATCH; i++) {
		intptr_t n = from + i;

		if (pthread_create(&t[i], n % 7 == 6 ? &a : NULL, thread_main,
				   (void *)n))
			printf("no thread\n");
	}
	for (intptr_t i = 0; i < BATCH; i++) {
		void *r = NULL;

		if ((from + i) % 7 == 6)
			continue;
		if ((from + i) % 7 == 5)
			pthread_cancel(t[i]);
		pthread_join(t[i], &r);
		sum += r == PTHREAD_CANCELED ? 0 : (intptr_t)r;
	}
	pthread_attr_destroy(&a);
	return sum;
}

static atomic_int stop;

static void *stays(void *arg)
{
	(void)arg;
	while (!stop)
		burn_ms(1);
	return NULL;
}

/* The C library does that in each thread by a signal. */
static void change_ids(void)
{
	pthread_t t[4];
	int bad = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, stays, NULL);
	for (int i = 0; i < 10; i++) {
		bad += setresgid(getgid(), getegid(), (gid_t)-1) != 0;
		bad += setresuid(getuid(), geteuid(), (uid_t)-1) != 0;
		burn_ms(1);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("ids: %d failed\n", bad);
}

static void *named(void *arg)
{
	char name[16];

	pthread_setname_np(pthread_self(), arg);
	prctl(PR_GET_NAME, name);
	printf("name: %s\n", name);
	return NULL;
}

void torture_threads(void)
{
	char name[] = "a thread";
	intptr_t sum = 0;
	pthread_t t;

	pthread_key_create(&key, clean);
	for (int i = 0; i < BATCHES; i++)
		sum += batch(i * BATCH);
	while (detached_ran < BATCH * BATCHES / 7)
		usleep(1000);
	printf("threads: %d ran, sum %ld\n", (int)ran, (long)sum);
	change_ids();
	pthread_create(&t, NULL, named, name);
	pthread_join(t, NULL);
}
