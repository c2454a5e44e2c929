// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the processor's counters. */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events/events.h"
#include "events/pmu.h"
#include "record/doctor/doctor.h"
#include "record/perf/perf_try.h"
#include "record/source/rights.h"

enum { CYCLES = 100000, MOST_PRECISE = 3 };

static void cycles(struct perf_event_attr *a, int precise, bool with_kernel)
{
	perf_try_clock(a, with_kernel);
	a->type = PERF_TYPE_HARDWARE;
	a->config = PERF_COUNT_HW_CPU_CYCLES;
	a->sample_period = CYCLES;
	a->precise_ip = precise & 3;
}

static bool is_guest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	/* Reserved for hypervisors (Intel SDM, CPUID, leaf 1, ECX 31). */
	if (__get_cpuid(1, &a, &b, &c, &d) && c >> 31)
		return true;
#endif
	return !access("/sys/hypervisor/type", F_OK);
}

static void no_counters(struct doctor_check *c, int errnum)
{
	bool guest = is_guest();

	doctor_found(c, "cycles cannot be sampled (%s)%s; cpu-clock is used "
		     "instead", strerror(errnum), guest
		     ? ": this virtual machine has no PMU" : "");
	doctor_fix(c, guest ? "give the virtual machine a PMU (QEMU, libvirt: "
		   "cpu \"host\" with pmu=on)" : "boot a kernel with the driver "
		   "of this processor's PMU");
}

/* PMUs of the processor; hybrid machines have several. */
struct cores {
	char names[256];
	int n;
};

static bool core_add(void *ctx, const struct event_info *info)
{
	struct cores *p = ctx;
	const char *s = info->name;
	size_t n = strlen(p->names);

	if (strcmp(s, "cpu") && strncmp(s, "cpu_", 4) && strncmp(s, "armv", 4))
		return true;
	snprintf(p->names + n, sizeof(p->names) - n, "%s%s", n ? ", " : "", s);
	p->n++;
	return true;
}

static bool opens(uint32_t type, uint64_t config)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct perf_event_attr a;

	cycles(&a, 0, false);
	a.type = type;
	a.config = config;
	return !perf_try_open(&a, &self);
}

static void found_events(struct doctor_check *c)
{
	struct cores p = { "", 0 };
	const struct event_name *e;
	bool any = false;

	pmu_names_each("/sys", core_add, &p);
	for (e = event_names; e->name; e++)
		if (e->type == PERF_TYPE_HARDWARE && opens(e->type, e->config)) {
			doctor_found(c, "%s%s", any ? " " : "", e->name);
			any = true;
		}
	if (*p.names)
		doctor_found(c, " (PMU %s)", p.names);
	if (p.n > 1)
		doctor_found(c, "; hybrid: cycles counts on the cores of one "
			     "kind");
}

static void try_precision(struct doctor *d)
{
	static const char *const marks[] = { "", ":p", ":pp", ":ppp" };
	const struct perf_scope self = { 0, -1, 0 };
	struct doctor_check *c = doctor_add(d, "precision", DOCTOR_OK);

	for (int p = MOST_PRECISE; p; p--) {
		struct perf_event_attr a;
		struct perf_try t;

		/* AMD's IBS cannot exclude the kernel. */
		cycles(&a, p, d->own_kernel);
		perf_try_run(&t, &a, &self, false);
		if (!t.open_errno && t.user) {
			doctor_found(c, "cycles%s names the instruction that "
				     "took the time", marks[p]);
			return;
		}
	}
	doctor_state(c, DOCTOR_LIMITED, "samples may name an instruction shortly after "
		     "the one that took the time (no PEBS, IBS or SPE here)");
}

static void try_watchdog(struct doctor *d)
{
	struct doctor_check *c;

	if (perf_sysctl("nmi_watchdog", 0) <= 0)
		return;
	c = doctor_add(d, "NMI watchdog", DOCTOR_LIMITED);
	doctor_found(c, "uses one counter of each processor, so fewer are left "
		     "for events");
	doctor_fix_sysctl(d, c, "kernel.nmi_watchdog=0");
}

void doctor_counters(struct doctor *d)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct doctor_check *c;
	struct perf_event_attr a;
	struct perf_try t;

	if (!d->own_user)
		return;
	c = doctor_add(d, "hardware counters", DOCTOR_NO);
	cycles(&a, 0, false);
	perf_try_run(&t, &a, &self, false);
	if (t.open_errno) {
		no_counters(c, t.open_errno);
		return;
	}
	if (!t.user) {
		doctor_found(c, "cycles was opened, but there were no samples: "
			     "this PMU does not interrupt; use -e cpu-clock");
		return;
	}
	c->state = DOCTOR_OK;
	d->counters = true;
	found_events(c);
	try_precision(d);
	try_watchdog(d);
}
