// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks where names come from: kallsyms, tracepoints, debug files. */
#include "config.h"

#include <linux/capability.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "hints/hints.h"
#include "image/image.h"
#include "record/doctor/doctor.h"
#include "record/collect/kernel_maps.h"
#include "symbolize/kernel/kernel_files.h"
#include "symbolize/kernel/kallsyms.h"
#include "symbolize/symbolize.h"

/*
 * Explains hidden addresses (kallsyms_show_value, kernel/kallsyms.c).  kptr_restrict
 * 0 shows them to users that may sample the kernel, 1 only to those with CAP_SYSLOG,
 * and 2 to no user.
 */
static void hidden_names(const struct doctor *d, struct doctor_check *c)
{
	const struct rights *r = &d->rights;
	bool syslog = rights_has(r, CAP_SYSLOG);
	const char *what = "kernel.kptr_restrict=0";

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
	doctor_fix_sysctl(d, c, what);
	if (!syslog && r->inner_pids && r->kptr_restrict <= 1)
		doctor_fix(c, "; or docker or podman run --cap-add=SYSLOG");
}

void doctor_kernel_names(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "kernel names", DOCTOR_NO);
	struct kallsyms *k = NULL;
	struct error err = { 0 };

	if (!kallsyms_open("/proc/kallsyms", 0, &k, &err)) {
		kallsyms_close(k);
		d->kernel_names = true;
		doctor_state(c, DOCTOR_OK, "/proc/kallsyms shows the addresses of the "
			     "kernel's functions");
	} else if (err.code == ERR_PERM && !access("/proc/kallsyms", R_OK)) {
		hidden_names(d, c);
	} else {
		doctor_found(c, "%s", err.msg);
		if (err.code == ERR_NOTFOUND && access("/proc/self", F_OK))
			doctor_fix(c, "%smount -t proc proc /proc",
				   d->rights.root ? "" : "sudo ");
		else if (err.code == ERR_NOTFOUND)
			doctor_fix(c, "boot a kernel with CONFIG_KALLSYMS=y");
	}
}

/* Suggests how to get the debug information that `path` lacks. */
static void hint(struct doctor_check *c, const char *path,
		 const struct build_id *id, const char *kernel)
{
	struct hint_ask ask = { .path = path, .id = *id, .kernel = kernel };
	struct hint_options o = { .debuginfod = getenv("DEBUGINFOD_URLS") };
	struct hint h = { NULL, NULL, NULL, NULL };

	if (!hints_find(&o, &ask, 1, &h)) {
		doctor_fix(c, "%s", h.command);
		if (*h.note)
			doctor_fix(c, "%s%s%s", *h.command ? " (" : "", h.note,
				   *h.command ? ")" : "");
		if (*h.fetch)
			doctor_fix(c, "%s%s", *c->fix ? "; or " : "", h.fetch);
	}
	hints_fini(&h, 1);
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

/* Checks one library that every program uses, as an example. */
static void try_library(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "debug files", DOCTOR_LIMITED);
	const char *path = NULL;
	struct image *img = NULL;
	struct symbolizer *s = NULL;
	struct sym_sources from;
	struct build_id id;

	dl_iterate_phdr(libc_path, &path);
	if (!path || image_open_file(path, &img, NULL) < 0) {
		doctor_found(c, "not tested: this program has no libc.so");
	} else if (symbolizer_open(img, NULL, &s, NULL) < 0) {
		doctor_found(c, "%s cannot be read", path);
	} else {
		from = symbolizer_sources(s);
		id = image_build_id(img);
		if (from.dwarf) {
			doctor_state(c, DOCTOR_OK, "%s: lines and inlined functions "
				     "from %s", path,
				     *from.debug_file ? from.debug_file : "itself");
		} else {
			doctor_found(c, "%s: function names only, no lines",
				     path);
			hint(c, path, &id, NULL);
		}
	}
	symbolizer_close(s);
	image_close(img);
	if (access("/usr/lib/debug", F_OK))
		doctor_found(c, "; /usr/lib/debug does not exist");
	if (getenv("DEBUGINFOD_URLS"))
		doctor_found(c, "; DEBUGINFOD_URLS is set");
}

static void try_vmlinux(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "kernel debug file",
					    DOCTOR_LIMITED);
	struct kernel_files_options o = { .release = "" };
	struct build_id id = kernel_notes_id("/sys/kernel/notes");
	struct kernel_files *files;
	struct image *img = NULL;
	struct utsname u;
	const char *path = "";

	if (!uname(&u))
		o.release = u.release;
	files = kernel_files_open(&o);
	if (files && id.len)
		img = kernel_files_find(files, "", &id, &path);
	if (img && image_has_dwarf(img)) {
		doctor_state(c, DOCTOR_OK, "lines and inlined functions of the kernel "
			     "from %s", path);
	} else {
		doctor_found(c, "no vmlinux with debug information for %.100s: "
			     "functions of the kernel without lines",
			     o.release);
		hint(c, "[kernel]", &id, o.release);
	}
	image_close(img);
	kernel_files_close(files);
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
