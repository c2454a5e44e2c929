// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the address space of the kernel and its modules. */
#include "record/collect/kernel_maps.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/io.h"
#include "base/search.h"
#include "launch/proc_text.h"

/* Upper bound of the size of kernel code.  Modules lie further away, or below. */
#define KERNEL_SPAN (64ull << 20)
#define REFRESH_NS 1000000000u

enum { NOTES_MAX = 1 << 20, MODULES_MAX = 16 << 20, PATH_SPACE = 512 };

/* Finds the GNU build ID in ELF notes (gABI 4, "Note Section"). */
static struct build_id notes_build_id(const void *p, size_t n)
{
	struct cursor c = cursor_of(p, n);
	struct build_id id = { 0 };

	while (cursor_left(&c) >= 12) {
		uint32_t nname = cursor_u32(&c), ndesc = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_take(&c, nname), *desc;

		cursor_skip(&c, -nname & 3);
		desc = cursor_take(&c, ndesc);
		if (c.bad || !desc)
			break;
		if (type == NT_GNU_BUILD_ID && nname == 4 &&
		    !memcmp(name, "GNU", 4) && ndesc && ndesc <= BUILD_ID_MAX) {
			id.len = (uint8_t)ndesc;
			memcpy(id.bytes, desc, ndesc);
			break;
		}
		if (cursor_left(&c) < (-ndesc & 3))
			break;
		cursor_skip(&c, -ndesc & 3);
	}
	return id;
}

struct build_id kernel_notes_id(const char *path)
{
	struct buf b = { 0 };
	struct build_id id = { 0 };

	if (!io_read_file(path, NOTES_MAX, &b, NULL))
		id = notes_build_id(b.p, b.n);
	buf_fini(&b);
	return id;
}

/* Returns the address of _text, or else of _stext; 0 if hidden or missing.  Stops
 * reading once it is known, because the file is long. */
static uint64_t kallsyms_base(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long addr, stext = 0, text = 0;
	char line[1024], name[64], type;

	while (f && !text && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %63s", &addr, &type, name) != 3)
			continue;
		if (!strcmp(name, "_text"))
			text = addr;
		else if (!strcmp(name, "_stext"))
			stext = addr;
		else if (stext && addr > stext)
			break;
		else
			continue;
		if (!addr)
			break;
	}
	if (f)
		fclose(f);
	return text ? text : stext;
}

struct loading {
	struct kernel_maps *k;
	struct images *im;
	const char *sysfs;
	uint32_t *generation;
	VEC(struct proc_module) modules;
	int result;
};

static bool module_seen(void *ctx, const struct proc_module *m)
{
	struct loading *l = ctx;

	if (vec_push(&l->modules, *m) < 0)
		l->result = -ERR_NOMEM;
	return !l->result;
}

static int by_start(const void *a, const void *b)
{
	const struct proc_module *x = a, *y = b;

	return ascending(x->start, y->start);
}

int kernel_maps_place(struct kernel_maps *k, struct images *im, uint64_t base,
		      const struct build_id *id, uint32_t *generation)
{
	k->base = base;
	k->kernel = images_add(im, "[kernel]", PROF_IMAGE_KERNEL, base, id);
	k->space = ++*generation;
	return k->kernel == UINT32_MAX ? -ERR_NOMEM : 0;
}

int kernel_maps_add(struct kernel_maps *k, struct images *im, const char *name,
		    uint64_t start, uint64_t size, const struct build_id *id,
		    uint32_t *generation)
{
	struct map map = { start, start + size, 0 - start, 0 };

	map.image = images_add(im, name, PROF_IMAGE_MODULE, start, id);
	if (map.image == UINT32_MAX ||
	    mapset_insert(&k->modules, &map, generation) < 0)
		return -ERR_NOMEM;
	k->space = ++*generation;
	return 0;
}

static int module_add(struct loading *l, const struct proc_module *m)
{
	char path[PATH_SPACE], name[80];
	struct build_id id = { 0 };

	if (!strchr(m->name, '/') && m->name[0] != '.') {
		snprintf(path, sizeof(path),
			 "%s/module/%s/notes/.note.gnu.build-id", l->sysfs,
			 m->name);
		id = kernel_notes_id(path);
	}
	snprintf(name, sizeof(name), "[%s]", m->name);
	return kernel_maps_add(l->k, l->im, name, m->start, m->size, &id,
			       l->generation);
}

/* Returns whether the module was already present at the last reading. */
static bool is_known(const struct loading *l, const struct proc_module *m)
{
	const struct map *old = mapset_find(l->k->modules, m->start);
	const char *path;

	if (!old || old->start != m->start)
		return false;
	path = l->im->v.v[old->image].path;
	return !strncmp(path + 1, m->name, strlen(m->name)) &&
	       !strcmp(path + 1 + strlen(m->name), "]");
}

/* The size covers all parts of a module, which need not be contiguous (since Linux
 * 6.4).  The next module's start therefore limits it. */
static int add_modules(struct loading *l, const struct buf *text)
{
	int rc;

	proc_modules_parse((const char *)text->p, text->n, module_seen, l);
	rc = l->result;
	vec_sort(&l->modules, by_start);
	for (size_t i = 0; i < l->modules.n && !rc; i++)
		if (!is_known(l, &l->modules.v[i]))
			rc = module_add(l, &l->modules.v[i]);
	vec_fini(&l->modules);
	return rc;
}

static int read_modules(struct loading *l, const char *proc)
{
	struct buf b = { 0 };
	char path[PATH_SPACE];
	int rc = 0;

	snprintf(path, sizeof(path), "%s/modules", proc);
	if (!io_read_file(path, MODULES_MAX, &b, NULL))
		rc = add_modules(l, &b);
	buf_fini(&b);
	return rc;
}

int kernel_maps_init(struct kernel_maps *k, struct images *im,
		     const char *proc, const char *sysfs,
		     uint32_t *generation)
{
	struct loading l = { .k = k, .im = im, .sysfs = sysfs,
			     .generation = generation };
	struct build_id id;
	char path[PATH_SPACE];

	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	k->base = kallsyms_base(path);
	snprintf(path, sizeof(path), "%s/kernel/notes", sysfs);
	id = kernel_notes_id(path);
	k->kernel = images_add(im, "[kernel]", PROF_IMAGE_KERNEL, k->base, &id);
	k->modules = mapset_new(generation);
	k->generated = mapset_new(generation);
	k->space = *generation;
	if (k->kernel == UINT32_MAX || !k->modules || !k->generated)
		return -ERR_NOMEM;
	return read_modules(&l, proc);
}

int kernel_maps_refresh(struct kernel_maps *k, struct images *im,
			const char *proc, const char *sysfs,
			uint32_t *generation, uint64_t now_ns)
{
	struct loading l = { .k = k, .im = im, .sysfs = sysfs,
			     .generation = generation };
	uint32_t before;
	int rc;

	if (!k->stray || now_ns < k->read_ns + REFRESH_NS)
		return 0;
	k->stray = false;
	k->read_ns = now_ns;
	before = k->modules->generation;
	rc = read_modules(&l, proc);
	if (k->modules->generation != before)
		k->space = ++*generation;
	return rc;
}

void kernel_maps_fini(struct kernel_maps *k)
{
	mapset_put(k->modules);
	mapset_put(k->generated);
	k->modules = k->generated = NULL;
}

uint32_t kernel_maps_find(struct kernel_maps *k, uint64_t addr,
			  uint64_t *vaddr)
{
	const struct map *m = mapset_find(k->generated, addr);

	if (!m)
		m = mapset_find(k->modules, addr);
	if (!m && k->base && addr - k->base >= KERNEL_SPAN)
		k->stray = true;
	*vaddr = m ? addr + m->delta : addr - k->base;
	return m ? m->image : k->kernel;
}
