// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Treats /dev/tally as programs should not.
 *
 *	kmod_torture hostile CALLS SEED	ioctls with random and boundary arguments, by
 *			three users: kmod_hostile.c
 *	kmod_torture cycles N		open, set up, start, stop, close
 *	kmod_torture stats [COPY DEPTH]	three seconds of samples and the
 *			histogram; with copies of so many bytes of a stack of so
 *			many, each checked
 *	kmod_torture counts		three seconds of samples, equal ones added up:
 *			none is missing
 *	kmod_torture twice		a thread that is named more than once
 *	kmod_torture clock SECONDS	the time of a recording never goes back
 *	kmod_torture waits		switches of a thread, in a ring that is full:
 *			what came and what was lost add up (kmod_waits.c)
 *	kmod_torture hold SECONDS [kernel]	a recording is open and runs; by the
 *			kernel's own events
 *	kmod_torture nobody		tries as a user without rights
 *	kmod_torture probe	samples where the kernel sleeps, by a kprobe
 *	kmod_torture walk STEPS SEED [k8|p6]	two recordings, perf, sleep and
 *			processors in any order: kmod_walk.c
 *	kmod_torture reload N SEED MODULE TALLY	loads the module, kills a recorder,
 *			unloads: kmod_reload.c
 *	kmod_torture memory NAME	memory that the kernel holds, after some quiet
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod_torture.h"

uint64_t seeded(uint64_t seed, unsigned int which)
{
	/* splitmix64 */
	uint64_t z = seed + (which + 1) * 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) | 1;
}

struct tally_setup plain_setup(void)
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

void by_kernel(struct tally_setup *s, uint32_t type, uint64_t config)
{
	s->source = TALLY_PERF;
	s->perf[0].type = type;
	s->perf[0].config = config;
}

void by_counters(struct tally_setup *s, uint32_t source)
{
	s->source = source;
	s->events[0].event = source == TALLY_PMU_P6 ? 0x79 : 0x76;
}

uint32_t counters_here(void)
{
	struct tally_info info = { .size = sizeof(info) };
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (ioctl(fd, TALLY_IOC_INFO, &info) < 0)
		info.sources = 0;
	close(fd);
	return info.sources & 1u << TALLY_PMU_K8 ? TALLY_PMU_K8
	     : info.sources & 1u << TALLY_PMU_P6 ? TALLY_PMU_P6 : 0;
}

void nap(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, text, strlen(text)) > 0;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fine;
}

int begin_as(struct tally_setup *s, void **ring)
{
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TALLY_IOC_SETUP, s) < 0)
		return -1;
	*ring = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + s->ring_bytes,
		     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *ring == MAP_FAILED ? -1 : fd;
}

static void clock_by_kernel(struct tally_setup *s)
{
	by_kernel(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

/* A recording of everything, all set up. */
int begin(void **ring, uint32_t bytes, uint32_t copy, bool by_kernel)
{
	struct tally_setup s = plain_setup();

	s.ring_bytes = bytes;
	s.watermark = bytes / 4;
	s.copy_bytes = copy;
	if (copy && by_kernel)
		s.flags |= TALLY_SETUP_UNWIND | TALLY_SETUP_STACKS;
	if (by_kernel)
		clock_by_kernel(&s);
	return begin_as(&s, ring);
}

static int cycles(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		void *ring;
		/* Every third one copies stacks, every fourth has the kernel's
		 * own events. */
		int fd = begin(&ring, RING, i % 3 ? 0 : 8192, i % 4 == 3);

		if (fd < 0 || ioctl(fd, TALLY_IOC_START, 0) < 0)
			return 1;
		for (int k = 0; k < 3; k++) {
			nap(2000000);
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

static int hold(unsigned int seconds, bool by_the_kernel)
{
	void *ring;
	int fd = begin(&ring, RING, 4096, by_the_kernel);

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

/* perf's type of events for probes of the kernel; 0: it has none. */
static unsigned int kprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	unsigned int type = 0;

	if (f && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f)
		fclose(f);
	return type;
}

static int probe(void)
{
	static const char name[] = "do_nanosleep";
	struct tally_setup s = plain_setup();
	void *ring;
	int fd;

	by_kernel(&s, kprobe_type(), 0);
	if (!s.perf[0].type) {
		puts("no kprobes");
		return 0;
	}
	s.perf[0].config1 = (uintptr_t)name;
	fd = begin_as(&s, &ring);
	if (fd < 0)
		return 1;
	puts(ioctl(fd, TALLY_IOC_START, 0) < 0 ? strerror(errno) : "started");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "hostile"))
		return hostile(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	if (!strcmp(what, "cycles"))
		return cycles(n);
	if (!strcmp(what, "stats"))
		return argc > 3 ? copies((uint32_t)n,
					 strtoul(argv[3], NULL, 10)) : stats("", true);
	if (!strcmp(what, "cost"))
		return stats(argc > 2 ? argv[2] : "", argc < 4);
	if (!strcmp(what, "counts"))
		return counts();
	if (!strcmp(what, "clock"))
		return clock_forward((unsigned int)n);
	if (!strcmp(what, "twice"))
		return twice();
	if (!strcmp(what, "waits"))
		return waits();
	if (!strcmp(what, "hold"))
		return hold((unsigned int)n, argc > 3);
	if (!strcmp(what, "walk"))
		return walk(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
			    argc > 4 ? argv[4] : "");
	if (!strcmp(what, "reload") && argc > 5)
		return reload(n, strtoull(argv[3], NULL, 10), argv[4], argv[5]);
	if (!strcmp(what, "memory") && argc > 2)
		return memory(argv[2]);
	if (!strcmp(what, "nobody"))
		return nobody();
	if (!strcmp(what, "probe"))
		return probe();
	return 2;
}
