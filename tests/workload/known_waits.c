// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread with known waits, its own clock around each, and what the kernel counts: prints
 * nanoseconds, which known_waits.sh compares with a recording.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
enum { ROUNDS = 15, MS = 50 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t start, done;
static int pipes[2];
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static void ms(int n) { nanosleep(&(struct timespec){ 0, n * 1000000l }, NULL); }
/* Nothing here may end in a jump to what it calls. */
#define STAY __asm__ volatile("" ::: "memory")
#define SITE(name) static __attribute__((noinline)) void name(void)
SITE(site_lock)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	STAY;
}
SITE(site_pipe) { char c; if (read(pipes[0], &c, 1) != 1) abort(); }
SITE(site_sleep) { ms(MS); STAY; }
static struct {
	const char *name;
	void (*fn)(void);
	long long ns;
} sites[] = {
	{ "site_lock", site_lock, 0 }, { "site_pipe", site_pipe, 0 },
	{ "site_sleep", site_sleep, 0 },
};
static void accounts(long long v[2])
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%lld %lld", v, v + 1) != 2)
		exit(3);
	fclose(f);
}
SITE(all_sites)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&start);
		for (int s = 0; s < 3; s++) {
			long long before = now();

			sites[s].fn();
			sites[s].ns += now() - before;
		}
		sem_post(&done);
	}
	STAY;
}
static void *worker(void *arg)
{
	long long begin, end, a[2], b[2];

	accounts(a);
	begin = now();
	all_sites();
	end = now();
	accounts(b);
	printf("all_sites %lld\nqueued %lld\n", end - begin - (b[0] - a[0]),
	       b[1] - a[1]);
	return arg;
}
static __attribute__((noinline)) void helper(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		sem_post(&start);
		ms(MS);
		pthread_mutex_unlock(&mutex);
		ms(MS);
		if (write(pipes[1], "", 1) != 1)
			abort();
		sem_wait(&done);
	}
}
int main(void)
{
	pthread_t t;

	if (pipe(pipes) || sem_init(&start, 0, 0) || sem_init(&done, 0, 0))
		return 1;
	pthread_create(&t, NULL, worker, NULL);
	helper();
	pthread_join(t, NULL);
	for (int s = 0; s < 3; s++)
		printf("%s %lld\n", sites[s].name, sites[s].ns);
	return 0;
}
