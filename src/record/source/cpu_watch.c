// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects CPUs that go online and offline. */
#include "record/source/cpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "events/sysfs_files.h"

/* Returns false if the list cannot be read or is too long. */
static bool read_list(const struct cpu_watch *w, char *out, size_t size)
{
	ssize_t n = w->fd < 0 ? -1 : pread(w->fd, out, size, 0);

	if (n <= 0 || (size_t)n >= size)
		return false;
	out[n] = 0;
	return true;
}

/* Opens the kernel's broadcast of device events, which any user may read. */
static int devices_open(void)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Returns the time that the machine has slept. */
static uint64_t slept(void)
{
	uint64_t awake = clock_now();

	return clock_read(CLOCK_BOOTTIME) - awake;
}

/* Notes the CPU of "offline@/devices/system/cpu/cpu3". */
static bool note_device(struct cpu_watch *w, const char *text)
{
	static const char begin[] = "offline@/devices/system/cpu/cpu";
	char *end;
	unsigned long cpu;

	if (strncmp(text, begin, sizeof(begin) - 1))
		return false;
	text += sizeof(begin) - 1;
	cpu = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || cpu >= CPU_WATCH_MAX)
		return false;
	w->went[cpu / 64] |= 1ull << cpu % 64;
	return true;
}

/* Messages that are not from the kernel are ignored. */
static bool read_devices(struct cpu_watch *w)
{
	enum { CALLS_MAX = 4096 };
	bool any = false;

	for (int i = 0; w->device_fd >= 0 && i < CALLS_MAX; i++) {
		char text[4096];
		struct sockaddr_nl from = { 0 };
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(w->device_fd, text, sizeof(text) - 1,
				     MSG_DONTWAIT, (struct sockaddr *)&from, &size);

		if (n < 0 && errno == ENOBUFS) {
			w->all_went = any = true;
			continue;
		}
		if (n < 0)
			break;
		text[n] = 0;
		if (!from.nl_pid && note_device(w, text))
			any = true;
	}
	return any;
}

void cpu_watch_open(struct cpu_watch *w, const char *path)
{
	*w = (struct cpu_watch){ .device_fd = devices_open(), .slept_ns = slept() };
	w->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!read_list(w, w->text, sizeof(w->text)))
		cpu_watch_close(w);
}

void cpu_watch_close(struct cpu_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->device_fd >= 0)
		close(w->device_fd);
	w->fd = w->device_fd = -1;
	w->text[0] = 0;
}

bool cpu_watch_changed(struct cpu_watch *w)
{
	enum { SLEEP_NS = 100000000 };
	char now[sizeof(w->text)];
	uint64_t slept_ns = slept();
	bool changed;

	memset(w->went, 0, sizeof(w->went));
	w->all_went = (int64_t)(slept_ns - w->slept_ns) > SLEEP_NS;
	if (w->all_went)
		w->slept_ns = slept_ns;
	changed = read_devices(w) || w->all_went;
	if (!read_list(w, now, sizeof(now)) || !strcmp(now, w->text))
		return changed;
	strcpy(w->text, now);
	return true;
}

bool cpu_watch_went(const struct cpu_watch *w, uint32_t cpu)
{
	return w->all_went || (cpu < CPU_WATCH_MAX &&
			       w->went[cpu / 64] >> cpu % 64 & 1);
}

bool cpu_watch_has(const struct cpu_watch *w, uint32_t cpu)
{
	return cpu_list_has(w->text, cpu);
}
