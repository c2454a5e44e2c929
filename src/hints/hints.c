// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds packages and commands for missing debug information: see hints.h. */
#include "hints/hints.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "hints/apt_lists.h"
#include "hints/dpkg.h"
#include "hints/os_release.h"

struct answer {
	const struct hint_options *o;
	const char *root;
	const struct hint_ask *ask;
	size_t n;
	struct hint *out;
	struct os_release os;
	bool *here;		/* by ask: whether this machine has the recorded file */
	struct dpkg_ask *owner;
	struct apt_ask *listed;
	bool lists;		/* all of apt's package lists were searched */
	bool debug_lists;	/* … and they include debug packages */
};

static char *text_of(struct buf *b)
{
	char *s = b->failed ? NULL : strdup(buf_cstr(b));

	buf_fini(b);
	return s;
}

static void id_hex(const struct build_id *id, struct buf *b)
{
	buf_hex(b, id->bytes,
		id->len < BUILD_ID_MAX ? id->len : BUILD_ID_MAX);
}

/* Checks a kernel release, which becomes part of package and file names. */
static bool is_release(const char *s)
{
	size_t n = strlen(s);

	return n && n < 100 && *s != '.' && *s != '-' &&
	       n == strspn(s, "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-");
}

static bool is_here(const char *root, const struct hint_ask *a)
{
	char path[PATH_MAX];

	return a->id.len && !a->kernel &&
	       snprintf(path, sizeof(path), "%s%s", root, a->path) <
		       (int)sizeof(path) &&
	       image_file_is(path, &a->id);
}

/* Returns the command that requests an image's debug file from servers, which have
 * the files of distributions.  A kernel's is large and not requested along with
 * others. */
static char *fetch_command(const struct answer *w, const struct hint_ask *a)
{
	struct buf b = { 0 };

	if (!a->id.len)
		return strdup("");
	if (!w->o->debuginfod || !*w->o->debuginfod)
		buf_str(&b, "DEBUGINFOD_URLS=https://debuginfod.elfutils.org ");
	buf_str(&b, a->kernel ? "debuginfod-find debuginfo "
			      : "tally symbolize --debuginfod");
	if (a->kernel)
		id_hex(&a->id, &b);
	return text_of(&b);
}

static bool is_python(const char *owner, const char **version, size_t *n)
{
	if (!strncmp(owner, "lib", 3))
		owner += 3;
	if (strncmp(owner, "python", 6))
		return false;
	*version = owner + 6;
	*n = strspn(*version, "0123456789.");
	return *n > 1 && (!(*version)[*n] || (*version)[*n] == '-');
}

/* Returns the name of a debug package that predates debhelper's "-dbgsym"
 * convention, for frequently used packages (Debian 12). */
static const char *old_debug_package(const char *owner)
{
	static const char *const old[][2] = {
		{ "libc6", "libc6-dbg" },
		{ "libdb5.3", "libdb5.3-dbg" },
		{ "libgsl27", "libgsl-dbg" },
		{ "libgssapi-krb5-2", "libkrb5-dbg" },
		{ "libk5crypto3", "libkrb5-dbg" },
		{ "libkrb5-3", "libkrb5-dbg" },
		{ "liblua5.1-0", "liblua5.1-0-dbg" },
		{ "liblua5.3-0", "liblua5.3-0-dbg" },
		{ "liblua5.4-0", "liblua5.4-0-dbg" },
		{ "libpcre3", "libpcre3-dbg" },
		{ "librados2", "librados2-dbg" },
		{ "librbd1", "librbd1-dbg" },
		{ "valgrind", "valgrind-dbg" },
	};

	for (size_t i = 0; i < COUNT(old); i++)
		if (!strcmp(old[i][0], owner))
			return old[i][1];
	return NULL;
}

static char *debug_package(const char *owner)
{
	const char *old = old_debug_package(owner);
	const char *version;
	struct buf b = { 0 };
	size_t n;

	if (old)
		buf_str(&b, old);
	else if (is_python(owner, &version, &n))
		buf_printf(&b, "python%.*s-dbg", (int)n, version);
	else
		buf_printf(&b, "%s-dbgsym", owner);
	return text_of(&b);
}

static char *archive_note(const struct answer *w)
{
	struct buf b = { 0 };

	if (apt_has_debug_archive(w->root))
		return strdup("");
	if (os_is(&w->os, "ubuntu"))
		buf_str(&b, "from the archive of debug packages, "
			"ddebs.ubuntu.com");
	else if (*w->os.codename)
		buf_printf(&b, "from the archive debian-debug, suite %s-debug",
			   w->os.codename);
	else
		buf_str(&b, "from the archive debian-debug");
	return text_of(&b);
}

/* Returns whether apt's lists show that there is no package of this name. */
static bool is_not_there(const struct answer *w, size_t i)
{
	const struct apt_ask *a = &w->listed[i];

	return a->id.len && a->name && !a->known &&
	       !dpkg_has(w->root, a->name) &&
	       (text_ends_with(a->name, "-dbgsym") ? w->debug_lists : w->lists);
}

/* Writes the hint for a package with a known name; `owner` is the package it
 * belongs to. */
static void apt_hint(const struct answer *w, const char *owner, bool listed,
		     struct hint *h)
{
	struct buf b = { 0 };

	if (!h->package)
		return;
	buf_printf(&b, "apt install %s", h->package);
	if (!listed && dpkg_has(w->root, h->package)) {
		buf_printf(&b, " %s", owner);
		h->note = strdup("installed, but in another version");
	} else if (!listed && text_ends_with(h->package, "-dbgsym")) {
		h->note = archive_note(w);
	}
	h->command = text_of(&b);
}

/* Explains that apt's lists contain the package only for another build, after
 * they were searched for the build ID. */
static void other_version(const struct answer *w, size_t i, struct hint *h)
{
	if (!w->listed[i].seen || (h->note && *h->note))
		return;
	free(h->note);
	h->note = strdup("apt's lists have it for another version only: "
			 "upgrade and record again, or fetch this one");
}

static void rpm_hint(const struct answer *w, const struct hint_ask *a,
		     struct hint *h)
{
	struct buf b = { 0 };

	/* find-debuginfo makes each debug package provide its build IDs. */
	buf_str(&b, os_is(&w->os, "suse")
			    ? "zypper install -C 'debuginfo(build-id) = "
			    : "dnf --enablerepo='*debug*' install "
			      "'debuginfo(build-id) = ");
	id_hex(&a->id, &b);
	buf_u8(&b, '\'');
	h->command = text_of(&b);
}

/* Returns the package of a kernel's debug information, or NULL. */
static char *kernel_package(const struct answer *w, const char *image)
{
	struct buf b = { 0 };

	if (!dpkg_has(w->root, image))
		return NULL;
	buf_printf(&b, "%s-%s", image,
		   os_is(&w->os, "ubuntu") ? "dbgsym" : "dbg");
	return text_of(&b);
}

static void kernel_hint(const struct answer *w, size_t i, struct hint *h)
{
	const struct hint_ask *a = &w->ask[i];
	struct buf b = { 0 };
	char image[160];

	if (!is_release(a->kernel))
		return;
	if (w->listed[i].name && !is_not_there(w, i)) {
		snprintf(image, sizeof(image), "linux-image-%s", a->kernel);
		h->package = w->listed[i].name;
		w->listed[i].name = NULL;
		apt_hint(w, image, false, h);
		return;
	}
	buf_printf(&b, "put its vmlinux at /usr/lib/debug/boot/vmlinux-%s, or "
		   "name it: tally symbolize --vmlinux FILE", a->kernel);
	h->note = text_of(&b);
}

/* Returns whether an rpm database exists. */
static bool has_rpm(const char *root)
{
	static const char *const at[] = { "/usr/lib/sysimage/rpm",
					  "/var/lib/rpm" };
	char path[PATH_MAX];
	DIR *d = NULL;

	for (size_t i = 0; i < 2 && !d; i++) {
		snprintf(path, sizeof(path), "%s%s", root, at[i]);
		d = opendir(path);
	}
	if (d)
		closedir(d);
	return d != NULL;
}

static bool is_system_path(const char *path)
{
	static const char *const tops[] = { "/usr/", "/lib", "/bin/",
					    "/sbin/" };

	if (!strncmp(path, "/usr/local/", 11))
		return false;
	for (size_t i = 0; i < COUNT(tops); i++)
		if (!strncmp(path, tops[i], strlen(tops[i])))
			return true;
	return false;
}

static void own_hint(const struct hint_ask *a, struct hint *h)
{
	h->note = strdup(a->stripped
		? "compile with -g and do not strip, or name the folder of the "
		  "unstripped file: tally symbolize --debug-dir DIR"
		: "compile with -g");
}

static void answer_one(const struct answer *w, size_t i)
{
	const struct hint_ask *a = &w->ask[i];
	struct hint *h = &w->out[i];
	bool packaged = true;

	if (a->kernel) {
		kernel_hint(w, i, h);
	} else if (w->listed[i].package) {
		h->package = strdup(w->listed[i].package);
		apt_hint(w, "", true, h);
	} else if (is_not_there(w, i)) {
		h->note = strdup("apt's lists have no package of its debug "
				 "information");
	} else if (w->owner[i].owner) {
		h->package = w->listed[i].name;
		w->listed[i].name = NULL;
		apt_hint(w, w->owner[i].owner, false, h);
		other_version(w, i, h);
	} else if (w->here[i] && !dpkg_is_here(w->root) &&
		   is_system_path(a->path)) {
		if (has_rpm(w->root))
			rpm_hint(w, a, h);
	} else if (w->here[i]) {
		own_hint(a, h);
		packaged = false;
	} else if (!a->id.len) {
		h->note = strdup("link with -Wl,--build-id and compile with -g");
		packaged = false;
	}
	if (packaged && !(a->kernel && !h->package))
		h->fetch = fetch_command(w, a);
	if (!h->command && h->fetch && !h->note) {
		h->command = h->fetch;
		h->fetch = NULL;
	}
}

/* Determines the package name by a rule; apt's lists take precedence. */
static int name_package(const struct answer *w, size_t i)
{
	const struct hint_ask *a = &w->ask[i];
	char image[160];

	w->listed[i].id = a->id;
	if (a->kernel && is_release(a->kernel)) {
		snprintf(image, sizeof(image), "linux-image-%s", a->kernel);
		w->listed[i].name = kernel_package(w, image);
	} else if (!a->kernel && w->owner[i].owner) {
		w->listed[i].name = debug_package(w->owner[i].owner);
		return w->listed[i].name ? 0 : -ERR_NOMEM;
	}
	if (!w->listed[i].name)
		w->listed[i].id.len = 0;
	return 0;
}

static int look_up(struct answer *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->n; i++) {
		w->here[i] = !w->o->no_files && is_here(w->root, &w->ask[i]);
		if (w->here[i])
			w->owner[i].path = w->ask[i].path;
	}
	if (dpkg_is_here(w->root))
		rc = dpkg_find_owners(w->root, w->owner, w->n);
	for (size_t i = 0; i < w->n && !rc; i++)
		rc = name_package(w, i);
	if (!rc && w->o->search_lists)
		rc = apt_find_build_ids(w->root, w->listed, w->n, &w->lists);
	w->debug_lists = w->lists && apt_has_debug_archive(w->root);
	return rc;
}

/* Sets missing texts to "". */
static int close_gaps(struct hint *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char **const all[] = { &out[i].package, &out[i].command,
				       &out[i].note, &out[i].fetch };

		for (size_t k = 0; k < COUNT(all); k++) {
			if (!*all[k])
				*all[k] = strdup("");
			if (!*all[k])
				return -ERR_NOMEM;
		}
	}
	return 0;
}

int hints_find(const struct hint_options *o, const struct hint_ask *ask,
	       size_t n, struct hint *out)
{
	struct answer w = { .o = o, .root = o->root ? o->root : "",
			    .ask = ask, .n = n, .out = out };
	int rc = -ERR_NOMEM;

	memset(out, 0, n * sizeof(*out));
	w.here = calloc(n + 1, sizeof(*w.here));
	w.owner = calloc(n + 1, sizeof(*w.owner));
	w.listed = calloc(n + 1, sizeof(*w.listed));
	os_release_read(w.root, &w.os);
	if (w.here && w.owner && w.listed)
		rc = look_up(&w);
	for (size_t i = 0; i < n && !rc; i++)
		answer_one(&w, i);
	for (size_t i = 0; i < n && w.owner && w.listed; i++) {
		free(w.owner[i].owner);
		free(w.listed[i].package);
		free(w.listed[i].name);
	}
	free(w.here);
	free(w.owner);
	free(w.listed);
	return rc ? rc : close_gaps(out, n);
}

void hints_fini(struct hint *h, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(h[i].package);
		free(h[i].command);
		free(h[i].note);
		free(h[i].fetch);
	}
	memset(h, 0, n * sizeof(*h));
}
