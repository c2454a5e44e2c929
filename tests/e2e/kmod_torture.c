// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Treats /dev/tally as programs should not.
 *
 *	kmod_torture fuzz CALLS SEED	calls with random and boundary arguments
 *	kmod_torture cycles N		open, set up, start, stop, close
 *	kmod_torture stats		one second of samples, and the histogram
 *	kmod_torture hold SECONDS	a recording is open and runs
 *	kmod_torture nobody		tries as a user without rights
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tally/kmod.h"

enum { FDS = 4, RING = 65536, MAPS = 16 };

struct torture {
	int fd[FDS];
	uint64_t random;
	uint8_t *edge;		/* the last byte before memory that is not there */
	size_t page;
	struct {
		uint8_t *p;
		size_t n;
	} maps[MAPS];
	unsigned int fine, refused;
};

static uint64_t roll(struct torture *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static uint64_t boundary(struct torture *t)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 255, 256,
		999, 1000, 4095, 4096, 4097, 8192, 65535, 65536, 65537,
		1000000, 1 << 24, (1 << 24) + 1, INT32_MAX, 0x80000000u,
		UINT32_MAX, 1000000000u, 0x100000000ull, 1ull << 47,
		(1ull << 47) + 1, INT64_MAX, UINT64_MAX - 4095, UINT64_MAX,
	};
	uint64_t r = roll(t);

	if (r % 4 == 0)
		return roll(t);
	return values[r / 4 % (sizeof(values) / sizeof(values[0]))];
}

static struct tally_setup plain_setup(void)
{
	return (struct tally_setup){
		.size = sizeof(struct tally_setup), .source = TALLY_TIMER,
		.flags = TALLY_SETUP_CHAIN, .nevents = 1, .ring_bytes = RING,
		.watermark = RING / 4, .max_chain = 64,
		.events[0] = {
			.period = 1000000,
			.flags = TALLY_EVENT_USER | TALLY_EVENT_KERNEL,
		},
	};
}

/* Changes up to three fields of 1, 2, 4 or 8 bytes. */
static void damage(struct torture *t, void *p, size_t n)
{
	for (uint64_t i = roll(t) % 4; i > 0; i--) {
		size_t width = (size_t)1 << roll(t) % 4;
		uint64_t v = boundary(t);

		memcpy((uint8_t *)p + roll(t) % (n / width) * width, &v, width);
	}
}

/* Where the struct lies: at an edge, in the middle, or nowhere. */
static void *placed(struct torture *t, const void *p, size_t n)
{
	static const uintptr_t nowhere[] = {
		0, 1, 0x1000, (uintptr_t)-1, (uintptr_t)-4096,
		0x7ffffffff000, 0xffff888000000000,
	};
	uint64_t r = roll(t) % 16;
	uint8_t *at;

	if (!r)
		return (void *)nowhere[roll(t) % 7];
	/* Its end may be cut off. */
	at = t->edge - n + (r == 1 ? roll(t) % n : 0);
	memcpy(at, p, (size_t)(t->edge - at) < n ? (size_t)(t->edge - at) : n);
	return at;
}

static int call(struct torture *t, int fd, unsigned long cmd, void *arg)
{
	int r = ioctl(fd, cmd, arg);

	if (r < 0)
		t->refused++;
	else
		t->fine++;
	return r;
}

static void one_setup(struct torture *t, int fd)
{
	struct tally_setup s = plain_setup();
	uint8_t cpus[16];

	if (roll(t) % 2)
		s.flags |= TALLY_SETUP_TASKS | TALLY_SETUP_INHERIT;
	if (roll(t) % 4 == 0) {
		for (size_t i = 0; i < sizeof(cpus); i++)
			cpus[i] = (uint8_t)roll(t);
		s.cpus = (uintptr_t)cpus;
		s.cpu_bits = (uint32_t)boundary(t);
	}
	if (roll(t) % 4 == 0)
		s.source = (uint32_t)(roll(t) % 5);
	damage(t, &s, sizeof(s));
	call(t, fd, TALLY_IOC_SETUP, placed(t, &s, sizeof(s)));
}

static void one_tasks(struct torture *t, int fd)
{
	uint32_t tids[8];
	struct tally_tasks k = {
		.size = sizeof(k), .n = 8, .tids = (uintptr_t)tids,
	};

	for (size_t i = 0; i < 8; i++)
		tids[i] = i ? (uint32_t)boundary(t) : (uint32_t)getpid();
	damage(t, &k, sizeof(k));
	call(t, fd, TALLY_IOC_TASKS, placed(t, &k, sizeof(k)));
}

static void one_stats(struct torture *t, int fd)
{
	struct tally_stats s = {
		.size = sizeof(s), .cpu = (uint32_t)(roll(t) % 4),
	};

	if (roll(t) % 2)
		s.cpu = TALLY_ALL_CPUS;
	damage(t, &s, 8);
	call(t, fd, TALLY_IOC_STATS, placed(t, &s, sizeof(s)));
}

static void unmap(struct torture *t, unsigned int i)
{
	if (t->maps[i].p)
		munmap(t->maps[i].p, t->maps[i].n);
	t->maps[i].p = NULL;
}

/* Maps something, and writes over what it got. */
static void one_map(struct torture *t, int fd)
{
	unsigned int i = (unsigned int)(roll(t) % MAPS);
	size_t n = t->page + RING;
	uint64_t offset = TALLY_RING_OFFSET(roll(t) % 4, t->page, RING);
	void *p;

	if (roll(t) % 4 == 0)
		n = (size_t)(boundary(t) % (1 << 22));
	if (roll(t) % 4 == 0)
		offset = boundary(t) & ~(uint64_t)(t->page - 1);
	unmap(t, i);
	p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		 roll(t) % 8 ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)offset);
	if (p == MAP_FAILED) {
		t->refused++;
		return;
	}
	t->fine++;
	t->maps[i].p = p;
	t->maps[i].n = n;
}

static void scribble(struct torture *t)
{
	unsigned int i = (unsigned int)(roll(t) % MAPS);
	struct tally_ring *r = (struct tally_ring *)t->maps[i].p;

	if (!r)
		return;
	r->head = boundary(t);
	r->tail = roll(t) % 2 ? r->head + boundary(t) : boundary(t);
	if (roll(t) % 4 == 0)
		memset(t->maps[i].p, (int)roll(t), t->maps[i].n);
}

static void reopen(struct torture *t, unsigned int i)
{
	if (t->fd[i] >= 0)
		close(t->fd[i]);
	t->fd[i] = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);
}

static void one_call(struct torture *t)
{
	unsigned int i = (unsigned int)(roll(t) % FDS);
	int fd = t->fd[i];
	struct tally_info info = { .size = sizeof(info) };
	struct pollfd p = { fd, POLLIN, 0 };

	switch (roll(t) % 16) {
	case 0: case 1: case 2: case 3:
		one_setup(t, fd);
		break;
	case 4: case 5:
		one_tasks(t, fd);
		break;
	case 6:
		call(t, fd, TALLY_IOC_START,
		     roll(t) % 4 ? NULL : (void *)boundary(t));
		break;
	case 7:
		call(t, fd, TALLY_IOC_STOP,
		     roll(t) % 4 ? NULL : (void *)boundary(t));
		break;
	case 8: case 9:
		one_stats(t, fd);
		break;
	case 10:
		damage(t, &info, 8);
		call(t, fd, TALLY_IOC_INFO, placed(t, &info, sizeof(info)));
		break;
	case 11:
		call(t, fd, roll(t) % 2 ? (unsigned long)_IO(TALLY_IOC,
		     roll(t) % 256) : (unsigned long)boundary(t),
		     (void *)boundary(t));
		break;
	case 12: case 13:
		one_map(t, fd);
		break;
	case 14:
		scribble(t);
		break;
	default:
		poll(&p, 1, 0);
	}
}

static int fuzz(unsigned long calls, uint64_t seed)
{
	struct torture t = { .random = seed | 1 };
	unsigned long n = 0;

	t.page = (size_t)sysconf(_SC_PAGESIZE);
	t.edge = mmap(NULL, 3 * t.page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.edge == MAP_FAILED)
		return 1;
	t.edge += 2 * t.page;
	mprotect(t.edge, t.page, PROT_NONE);
	memset(t.fd, -1, sizeof(t.fd));
	for (unsigned int i = 0; i < FDS; i++)
		reopen(&t, i);
	if (t.fd[0] < 0)
		return 1;
	for (; n < calls; n++) {
		one_call(&t);
		if (n % 400 == 399)
			reopen(&t, (unsigned int)(roll(&t) % FDS));
	}
	for (unsigned int i = 0; i < MAPS; i++)
		unmap(&t, i);
	printf("%lu calls: %u fine, %u refused\n", n, t.fine, t.refused);
	return t.fine && t.refused ? 0 : 1;
}

/* A recording of everything, all set up. */
static int begin(void **ring)
{
	struct tally_setup s = plain_setup();
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TALLY_IOC_SETUP, &s) < 0)
		return -1;
	*ring = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + RING,
		     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *ring == MAP_FAILED ? -1 : fd;
}

static int cycles(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		void *ring;
		int fd = begin(&ring);

		if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
			return 1;
		for (int k = 0; k < 3; k++) {
			struct timespec ts = { .tv_nsec = 2000000 };

			nanosleep(&ts, NULL);
			if (ioctl(fd, TALLY_IOC_STOP, 0) < 0 ||
			    ioctl(fd, TALLY_IOC_START, 0) < 0)
				return 1;
		}
		/* Every other time the file is closed as it runs. */
		if (i % 2)
			ioctl(fd, TALLY_IOC_STOP, 0);
		munmap(ring, (size_t)sysconf(_SC_PAGESIZE) + RING);
		close(fd);
	}
	printf("%lu cycles\n", n);
	return 0;
}

static int stats(void)
{
	struct tally_stats s = { .size = sizeof(s), .cpu = TALLY_ALL_CPUS };
	uint64_t sum = 0;
	void *ring;
	int fd = begin(&ring);
	time_t end = time(NULL) + 3;

	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	while (time(NULL) < end)
		getppid();
	ioctl(fd, TALLY_IOC_STOP, 0);
	if (ioctl(fd, TALLY_IOC_STATS, &s) < 0)
		return 1;
	for (int i = 0; i < TALLY_HISTOGRAM; i++) {
		sum += s.histogram[i];
		if (s.histogram[i])
			printf("cycles %u: %llu\n", 1u << i,
			       (unsigned long long)s.histogram[i]);
	}
	printf("samples %llu lost %llu throttled %llu missed %llu mean %llu\n",
	       (unsigned long long)s.events[0].samples,
	       (unsigned long long)s.events[0].lost,
	       (unsigned long long)s.events[0].throttled,
	       (unsigned long long)s.events[0].missed,
	       (unsigned long long)(sum ? s.cycles / sum : 0));
	/* Each that was taken, lost or throttled is in the histogram. */
	return !sum || sum < s.events[0].samples + s.events[0].lost;
}

static int hold(unsigned int seconds)
{
	void *ring;
	int fd = begin(&ring);

	if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
		return 1;
	puts("holds");
	fflush(stdout);
	sleep(seconds);
	return 0;
}

static int nobody(void)
{
	if (setuid(65534) < 0 || open(TALLY_DEVICE, O_RDWR) >= 0)
		return 1;
	puts(strerror(errno));
	return errno != EPERM;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "fuzz"))
		return fuzz(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	if (!strcmp(what, "cycles"))
		return cycles(n);
	if (!strcmp(what, "stats"))
		return stats();
	if (!strcmp(what, "hold"))
		return hold((unsigned int)n);
	if (!strcmp(what, "nobody"))
		return nobody();
	return 2;
}
