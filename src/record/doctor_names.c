// SPDX-License-Identifier: GPL-2.0-or-later
/* Where names come from: kallsyms, tracepoints, debug files. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "events/events.h"
#include "events/pmu.h"
#include "image/image.h"
#include "record/doctor.h"
#include "record/probe.h"
#include "symbolize/symbolize.h"

/*
 * Who sees addresses (kallsyms_show_value, kernel/kallsyms.c): with
 * kptr_restrict 0 also users that may sample the kernel; with 1 only those with
 * CAP_SYSLOG; with 2 nobody.
 */
static void hidden_names(const struct doctor *d, struct doctor_check *c)
{
	const struct rights *r = &d->rights;
	bool syslog = rights_has(r, CAP_SYSLOG);
	const char *what = "kernel.kptr_restrict=0";
	char fix[sizeof(c->fix)];

	doctor_found(c, "hidden in /proc/kallsyms: kernel.kptr_restrict is %ld",
		     r->kptr_restrict);
	if (syslog) {
		what = "kernel.kptr_restrict=1";
	} else {
		doctor_found(c, ", kernel.perf_event_paranoid %ld, and "
			     "CAP_SYSLOG is missing", r->paranoid);
		if (r->kptr_restrict <= 0)
			what = "kernel.perf_event_paranoid=1";
		else if (r->paranoid > 1)
			what = "kernel.kptr_restrict=0 "
			       "kernel.perf_event_paranoid=1";
	}
	rights_sysctl(r, what, fix, sizeof(fix));
	doctor_fix(c, "%s", fix);
}

void doctor_kernel_names(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "kernel names", DOCTOR_NO);
	struct kallsyms *k = NULL;
	struct error err = { 0 };

	if (!kallsyms_open("/proc/kallsyms", &k, &err)) {
		kallsyms_close(k);
		d->kernel_names = true;
		c->state = DOCTOR_OK;
		doctor_found(c, "/proc/kallsyms shows the addresses of the "
			     "kernel's functions");
	} else if (err.code == ERR_PERM && !access("/proc/kallsyms", R_OK)) {
		hidden_names(d, c);
	} else {
		doctor_found(c, "%s", err.msg);
		if (err.code == ERR_NOTFOUND && access("/proc/self", F_OK))
			doctor_fix(c, "mount -t proc proc /proc");
		else if (err.code == ERR_NOTFOUND)
			doctor_fix(c, "boot a kernel with CONFIG_KALLSYMS=y");
	}
}

/* What the distribution calls the package with debug information. */
struct distribution {
	bool debian, redhat, suse;
};

static struct distribution distribution(void)
{
	struct distribution d = { false, false, false };
	struct buf b = { 0 };
	const char *s;

	if (io_read_file("/etc/os-release", 65536, &b, NULL) < 0)
		b.n = 0;
	s = buf_cstr(&b);
	d.debian = strstr(s, "debian") || strstr(s, "ubuntu");
	d.redhat = strstr(s, "fedora") || strstr(s, "rhel");
	d.suse = strstr(s, "suse");
	buf_fini(&b);
	return d;
}

static int libc_path(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char **out = ctx;

	(void)size;
	if (!info->dlpi_name || (!strstr(info->dlpi_name, "/libc.so") &&
				 !strstr(info->dlpi_name, "/libc-")))
		return 0;
	*out = info->dlpi_name;
	return 1;
}

static void libc_fix(struct doctor_check *c, const char *missing)
{
	struct distribution d = distribution();

	if (d.debian)
		doctor_fix(c, "sudo apt install libc6-dbg");
	else if (d.redhat)
		doctor_fix(c, "sudo dnf debuginfo-install glibc");
	else if (d.suse)
		doctor_fix(c, "sudo zypper install glibc-debuginfo");
	else if (*missing)
		doctor_fix(c, "install %s", missing);
}

/* The library that every program uses stands for the others. */
static void try_library(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "debug files", DOCTOR_LIMITED);
	const char *path = NULL;
	struct image *img = NULL;
	struct symbolizer *s = NULL;
	struct sym_sources from;

	dl_iterate_phdr(libc_path, &path);
	if (!path || image_open_file(path, &img, NULL) < 0) {
		doctor_found(c, "not tried: this program has no libc.so to "
			     "look for");
	} else if (symbolizer_open(img, NULL, &s, NULL) < 0) {
		doctor_found(c, "%s cannot be read", path);
	} else {
		from = symbolizer_sources(s);
		if (from.dwarf) {
			c->state = DOCTOR_OK;
			doctor_found(c, "%s: lines and inlined functions from "
				     "%s", path, *from.debug_file
				     ? from.debug_file : "itself");
		} else {
			doctor_found(c, "%s: function names only, no lines",
				     path);
			libc_fix(c, from.missing);
		}
	}
	symbolizer_close(s);
	image_close(img);
	if (access("/usr/lib/debug", F_OK))
		doctor_found(c, "; /usr/lib/debug does not exist");
}

static bool has_dwarf(const char *path)
{
	struct image *img = NULL;
	bool yes;

	if (access(path, R_OK) || image_open_file(path, &img, NULL) < 0)
		return false;
	yes = image_has_dwarf(img);
	image_close(img);
	return yes;
}

static void try_vmlinux(struct doctor *d)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
		"/boot/vmlinux-%s",
	};
	struct doctor_check *c = doctor_add(d, "kernel debug file",
					    DOCTOR_LIMITED);
	struct distribution dist = distribution();
	struct utsname u;
	char path[512];

	if (uname(&u) < 0)
		u.release[0] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), places[i], u.release);
		if (!has_dwarf(path))
			continue;
		c->state = DOCTOR_OK;
		doctor_found(c, "%s", path);
		return;
	}
	doctor_found(c, "no vmlinux with debug information for %.100s: kernel "
		     "functions without lines", u.release);
	snprintf(path, sizeof(path), "/var/lib/dpkg/info/linux-image-%s.list",
		 u.release);
	if (!access(path, F_OK))
		doctor_fix(c, "sudo apt install linux-image-%.100s-dbg",
			   u.release);
	else if (dist.redhat)
		doctor_fix(c, "sudo dnf debuginfo-install kernel");
	else if (dist.suse)
		doctor_fix(c, "sudo zypper install kernel-default-debuginfo");
	else
		doctor_fix(c, "copy vmlinux of this kernel's build to "
			   "/usr/lib/debug/boot/vmlinux-%.100s", u.release);
}

static void try_formats(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "built in", DOCTOR_OK);

	doctor_found(c, "zlib");
#ifdef HAVE_LIBZSTD
	doctor_found(c, ", zstd");
#else
	doctor_found(c, "; not zstd (compressed debug sections)");
	c->state = DOCTOR_LIMITED;
	doctor_fix(c, "build tally with libzstd-dev");
#endif
#ifdef HAVE_LIBLZMA
	doctor_found(c, ", xz");
#else
	doctor_found(c, "; not xz (.gnu_debugdata)");
	c->state = DOCTOR_LIMITED;
	doctor_fix(c, "%sliblzma-dev", *c->fix ? " and " : "build tally with ");
#endif
}

void doctor_debug_files(struct doctor *d)
{
	try_library(d);
	try_vmlinux(d);
	try_formats(d);
}
