// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the kernel's files where distributions install them:
 *	DIR/.build-id/ab/cdef….debug	all that package by build ID
 *	DIR/boot/vmlinux-RELEASE	Debian, openSUSE
 *	DIR/lib/modules/RELEASE/…	Fedora, RHEL (vmlinux), modules
 *	/lib/modules/RELEASE/build/vmlinux	a kernel built on this machine
 * DIR is /usr/lib/debug or a folder named by the user.
 */
#include "symbolize/kernel/kernel_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/vec.h"
#include "symbolize/dwarf/debug_dirs.h"

/* A tree of modules has about 5,000 files in folders up to 8 deep. */
enum { FILES_LIMIT = 1 << 17, DEPTH_LIMIT = 16 };

struct kernel_files {
	struct kernel_files_options o;
	struct buf path;
	struct buf names;	/* names of module files, one string after another */
	VEC(size_t) modules;	/* offset of each name */
	size_t seen;		/* number of files and folders visited */
	bool listed;
};

struct kernel_files *kernel_files_open(const struct kernel_files_options *o)
{
	struct kernel_files *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->o = *o;
	if (!k->o.debug_dirs)
		k->o.debug_dirs = "/usr/lib/debug";
	/* The release becomes part of paths and may come from an untrusted
	 * recording. */
	if (!k->o.release || strchr(k->o.release, '/') ||
	    k->o.release[0] == '.')
		k->o.release = "";
	return k;
}

void kernel_files_close(struct kernel_files *k)
{
	if (!k)
		return;
	buf_fini(&k->path);
	buf_fini(&k->names);
	vec_fini(&k->modules);
	free(k);
}

/* Opens k->path if it is the wanted file. */
static struct image *open_path(struct kernel_files *k,
			       const struct build_id *id)
{
	struct image *img;
	struct build_id got;

	if (image_open_file(buf_cstr(&k->path), &img, NULL) < 0)
		return NULL;
	got = image_build_id(img);
	if (got.len == id->len && !memcmp(got.bytes, id->bytes, got.len))
		return img;
	image_close(img);
	return NULL;
}

/* Sets k->path to the i-th possible path of a vmlinux.  Returns false after the
 * last one. */
static bool vmlinux_path(struct kernel_files *k, unsigned int i,
			 const struct build_id *id)
{
	static const struct { bool below; const char *format; } places[] = {
		{ true, "/boot/vmlinux-%s" },
		{ true, "/lib/modules/%s/vmlinux" },
		{ true, "/usr/lib/modules/%s/vmlinux" },
		{ true, "/vmlinux-%s" },
		{ true, "/vmlinux" },
		{ false, "/boot/vmlinux-%s" },
		{ false, "/lib/modules/%s/build/vmlinux" },
		{ false, "/lib/modules/%s/vmlinux" },
		{ false, "/usr/lib/modules/%s/build/vmlinux" },
		{ false, "/usr/lib/debug/boot/vmlinux-%s" },
		{ false, "/usr/lib/debug/lib/modules/%s/vmlinux" },
	};
	enum { BELOW = 5, BY_ID = 2 };
	struct debug_dir dir = { "", 0 };
	unsigned int n = 0;
	const char *f, *rest;

	while (debug_dir_at(k->o.debug_dirs, n, &dir))
		n++;
	if (i < n * (BELOW + BY_ID)) {
		debug_dir_at(k->o.debug_dirs, i / (BELOW + BY_ID), &dir);
		i %= BELOW + BY_ID;
		if (i < BY_ID)
			return debug_dir_by_id(dir, i, id, &k->path);
		i -= BY_ID;
	} else {
		dir = (struct debug_dir){ "", 0 };
		i -= n * (BELOW + BY_ID) - BELOW;
	}
	if (i >= COUNT(places))
		return false;
	f = places[i].format;
	rest = strstr(f, "%s");
	buf_reset(&k->path);
	buf_printf(&k->path, "%.*s", dir.n, dir.p);
	buf_bytes(&k->path, f, rest ? (size_t)(rest - f) : strlen(f));
	if (rest) {
		buf_str(&k->path, k->o.release);
		buf_str(&k->path, rest + 2);
	}
	return true;
}

/* Chooses the better of two images.  One without DWARF still has names; it is
 * used if there is nothing better. */
static struct image *better(struct image *have, struct image *img, bool *done)
{
	*done = img && image_has_dwarf(img);
	if (!img || (have && !*done))
		image_close(img);
	else
		image_close(have);
	return img && (*done || !have) ? img : have;
}

static struct image *find_vmlinux(struct kernel_files *k,
				  const struct build_id *id)
{
	struct image *found = NULL, *img;
	struct buf best = { 0 };
	bool done = false;

	for (unsigned int i = 0; !done && vmlinux_path(k, i, id); i++) {
		img = open_path(k, id);
		found = better(found, img, &done);
		if (img && found == img) {
			buf_reset(&best);
			buf_str(&best, buf_cstr(&k->path));
		}
	}
	buf_fini(&k->path);
	k->path = best;
	return found;
}

/* Returns whether a file belongs to a module: "nf-tables.ko.debug" is module
 * nf_tables. */
static bool is_module_file(const char *file, const char *module)
{
	for (; *module; file++, module++)
		if (*file != *module && !(*file == '-' && *module == '_'))
			return false;
	return !strcmp(file, ".ko") || !strcmp(file, ".ko.debug");
}

static void list_tree(struct kernel_files *k, struct buf *path,
		      unsigned int depth)
{
	size_t n = path->n;
	DIR *d = depth < DEPTH_LIMIT ? opendir(buf_cstr(path)) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL && k->seen++ < FILES_LIMIT) {
		struct stat st;

		/* the links "build" and "source" lead to whole source trees */
		if (e->d_name[0] == '.' || e->d_type == DT_LNK)
			continue;
		buf_printf(path, "/%s", e->d_name);
		if (e->d_type == DT_DIR ||
		    (e->d_type == DT_UNKNOWN &&
		     !lstat(buf_cstr(path), &st) && S_ISDIR(st.st_mode))) {
			list_tree(k, path, depth + 1);
		} else if (strstr(e->d_name, ".ko") &&
			   vec_push(&k->modules, k->names.n) == 0) {
			buf_str(&k->names, buf_cstr(path));
			buf_u8(&k->names, 0);
		}
		path->n = n;
	}
	if (d)
		closedir(d);
}

static void list_modules(struct kernel_files *k)
{
	struct debug_dir dir;
	struct buf path = { 0 };

	k->listed = true;
	if (!*k->o.release)
		return;
	for (unsigned int i = 0; debug_dir_at(k->o.debug_dirs, i / 2, &dir);
	     i++) {
		buf_reset(&path);
		buf_printf(&path, "%.*s%s/lib/modules/%s", dir.n, dir.p,
			   i % 2 ? "/usr" : "", k->o.release);
		list_tree(k, &path, 0);
	}
	buf_reset(&path);
	buf_printf(&path, "/lib/modules/%s", k->o.release);
	list_tree(k, &path, 0);
	buf_fini(&path);
	if (k->names.failed)
		k->modules.n = 0;
}

static struct image *find_module(struct kernel_files *k, const char *module,
				 const struct build_id *id)
{
	struct image *img;
	struct debug_dir dir;

	for (unsigned int i = 0; debug_dir_at(k->o.debug_dirs, i / 2, &dir);
	     i++) {
		debug_dir_by_id(dir, i % 2, id, &k->path);
		img = open_path(k, id);
		if (img)
			return img;
	}
	if (!k->listed)
		list_modules(k);
	for (size_t i = 0; i < k->modules.n; i++) {
		const char *path = (const char *)k->names.p + k->modules.v[i];

		if (!is_module_file(strrchr(path, '/') + 1, module))
			continue;
		buf_reset(&k->path);
		buf_str(&k->path, path);
		img = open_path(k, id);
		/* without DWARF it has no more information than kallsyms */
		if (img && image_has_dwarf(img))
			return img;
		image_close(img);
	}
	return NULL;
}

struct image *kernel_files_find(struct kernel_files *k, const char *module,
				const struct build_id *id, const char **path)
{
	struct image *img = NULL;

	*path = "";
	if (!*module && k->o.vmlinux) {
		buf_reset(&k->path);
		buf_str(&k->path, k->o.vmlinux);
		img = open_path(k, id);
	} else if (id->len) {
		img = *module ? find_module(k, module, id)
			      : find_vmlinux(k, id);
	}
	if (img && !k->path.failed)
		*path = buf_cstr(&k->path);
	return img;
}

const char *kernel_files_wanted(struct kernel_files *k)
{
	struct debug_dir dir;

	if (!*k->o.release || !debug_dir_last(k->o.debug_dirs, &dir))
		return "";
	buf_reset(&k->path);
	buf_printf(&k->path, "%.*s/boot/vmlinux-%s", dir.n, dir.p,
		   k->o.release);
	return buf_cstr(&k->path);
}
