// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the running kernel says: whether it is the recorded one (/sys/kernel/notes and
 * /sys/module/NAME/notes), where it and its modules are now, and the names of its
 * functions (/proc/kallsyms).
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/io.h"
#include "profile/symbolize_kernel.h"
#include "symbolize/kernel/kallsyms_kept.h"

#define OTHER_KERNEL \
	"another kernel is running than the recorded one: symbolize where it " \
	"was recorded, before the next boot, or with its vmlinux (--vmlinux)"

enum { NOTES_LIMIT = 1 << 20, MODULES_LIMIT = 16 << 20 };

/* Returns the build ID in a file of ELF notes (gABI, Note Section). */
static struct build_id notes_build_id(const char *path)
{
	struct build_id id = { 0 };
	struct buf b = { 0 };
	struct cursor c;

	if (io_read_file(path, NOTES_LIMIT, &b, NULL) < 0)
		b.n = 0;
	c = cursor_of(b.p, b.n);
	while (!c.bad && cursor_left(&c) >= 12) {
		uint32_t namesz = cursor_u32(&c), descsz = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_take(&c, (namesz + 3ull) & ~3ull);
		const uint8_t *desc = cursor_take(&c, (descsz + 3ull) & ~3ull);

		if (!name || !desc || type != NT_GNU_BUILD_ID || namesz != 4 ||
		    memcmp(name, "GNU", 4) || descsz > BUILD_ID_MAX)
			continue;
		id.len = (uint8_t)descsz;
		memcpy(id.bytes, desc, descsz);
		break;
	}
	buf_fini(&b);
	return id;
}

static void *read_kallsyms(void *ctx)
{
	struct symbolize_run *f = ctx;
	const struct symbolize_item *part = f->kallsyms_part;

	if (part && f->o->kept_kallsyms <= 0)
		kallsyms_open_some("/proc/kallsyms", f->o->kallsyms_copy,
				   f->vaddrs + part->at, part->n, &f->kallsyms,
				   &f->kallsyms_error);
	else if (f->o->kallsyms || f->o->kept_kallsyms <= 0)
		kallsyms_open(f->o->kallsyms ? f->o->kallsyms : "/proc/kallsyms",
			      f->kallsyms_reach, &f->kallsyms,
			      &f->kallsyms_error);
	else
		kallsyms_open_kept(f->o->kept_kallsyms, "/proc/kallsyms",
				   "/proc/modules",
				   part ? f->vaddrs + part->at : NULL,
				   part ? part->n : 0, &f->kallsyms,
				   &f->kallsyms_error);
	return NULL;
}

/* Returns whether the running kernel is not the recorded one.  Then the long
 * symbol table need not be read. */
static bool is_other_kernel(const struct symbolize_run *f)
{
	struct build_id id = notes_build_id("/sys/kernel/notes");

	for (size_t i = 0; i < f->p->images.n && !f->o->kallsyms; i++) {
		const struct prof_image *im = &f->p->images.v[i];

		if (im->kind == PROF_IMAGE_KERNEL && im->build_id.len)
			return !build_id_equal(&id, &im->build_id);
	}
	return false;
}

/* Returns how far behind _text the locations reach: names of the kernel itself are
 * looked up relative to that (find_base). */
static uint64_t reach(const struct symbolize_run *f,
		      const struct symbolize_item *parts, size_t n)
{
	uint64_t most = 0;

	if (f->o->kallsyms)
		return KALLSYMS_ALL;
	for (size_t i = 0; i < n; i++) {
		const struct prof_image *im = &f->p->images.v[parts[i].image];
		uint64_t last = f->vaddrs[parts[i].at + parts[i].n - 1];

		if (im->kind == PROF_IMAGE_GENERATED)
			continue;	/* named by the recorder */
		if (im->kind != PROF_IMAGE_KERNEL || !im->base)
			return KALLSYMS_ALL;
		if (last > most)
			most = last;
	}
	return most;
}

/* Returns the image of the kernel if the table is needed for no other image, and its
 * addresses are relative to _text. */
static const struct symbolize_item *
only_kernel(const struct symbolize_run *f, const struct symbolize_item *parts, size_t n)
{
	const struct symbolize_item *only = NULL;

	for (size_t i = 0; i < n; i++) {
		if (f->p->images.v[parts[i].image].kind == PROF_IMAGE_GENERATED)
			continue;
		if (only)
			return NULL;
		only = &parts[i];
	}
	return f->kallsyms_reach == KALLSYMS_ALL ? NULL : only;
}

void symbolize_kernel_begin(struct symbolize_run *f,
			    const struct symbolize_item *parts, size_t n)
{
	if (is_other_kernel(f)) {
		error_set(&f->kallsyms_error, ERR_NOTFOUND, OTHER_KERNEL);
		return;
	}
	f->kallsyms_reach = reach(f, parts, n);
	f->kallsyms_part = only_kernel(f, parts, n);
	f->kallsyms_running = !f->o->one_thread &&
			      !pthread_create(&f->kallsyms_thread, NULL,
					      read_kallsyms, f);
	if (!f->kallsyms_running)
		read_kallsyms(f);
}

struct kallsyms *kernel_kallsyms(struct symbolize_run *f)
{
	if (f->kallsyms_running)
		pthread_join(f->kallsyms_thread, NULL);
	f->kallsyms_running = false;
	return f->kallsyms;
}

/* Returns whether the running kernel (or module) is the recorded one. */
static bool is_running(const struct kernel_part *k)
{
	const struct prof_image *im = &k->f->p->images.v[k->part->image];
	struct build_id id;
	char path[320] = "/sys/kernel/notes";

	if (*k->module)
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", k->module);
	if (!im->build_id.len)
		return true;
	if (k->f->o->kallsyms)	/* the caller guarantees that the table belongs to
				 * the recorded kernel */
		return true;
	id = notes_build_id(path);
	return build_id_equal(&id, &im->build_id);
}

static bool is_same_boot(const struct symbolize_run *f)
{
	const char *recorded = profile_env(f->p, PROF_NONE, "boot_id");
	struct buf b = { 0 };
	bool same = false;

	if (recorded && !f->o->kallsyms &&
	    !io_read_file("/proc/sys/kernel/random/boot_id", 4096, &b, NULL)) {
		const char *now = buf_cstr(&b);

		same = *recorded && !strncmp(now, recorded, strlen(recorded));
	}
	buf_fini(&b);
	return same;
}

/* Returns the current load address of a module; 0 if it is not loaded or the
 * address is hidden.  Lines of /proc/modules: name size users dependencies
 * state 0xaddress. */
static uint64_t module_base(const char *module)
{
	struct buf b = { 0 };
	const char *p, *at;
	uint64_t base = 0;
	size_t n = strlen(module);

	if (io_read_file("/proc/modules", MODULES_LIMIT, &b, NULL) < 0)
		b.n = 0;
	for (p = buf_cstr(&b); p && *p; p = *p ? p + 1 : p) {
		const char *end = p + strcspn(p, "\n");

		if (!strncmp(p, module, n) && p[n] == ' ' &&
		    (at = strstr(p, " 0x")) != NULL && at < end)
			base = strtoull(at + 3, NULL, 16);
		p = end;
	}
	buf_fini(&b);
	return base;
}

/* Returns whether the caller's symbol table is from a boot in which the kernel,
 * and so perhaps its modules, had another address. */
static bool is_other_boot(const struct symbolize_run *f)
{
	uint64_t text = kallsyms_address(f->kallsyms, "_text");

	for (size_t i = 0; i < f->p->images.n; i++)
		if (f->p->images.v[i].kind == PROF_IMAGE_KERNEL)
			return text && f->p->images.v[i].base &&
			       f->p->images.v[i].base != text;
	return false;
}

/*
 * Finds the current address of the image.  The kernel moves at each boot
 * (KASLR), modules each time they are loaded.  A recorded base of 0 was hidden
 * from the recorder: its addresses are those of that boot.
 */
static bool find_base(struct kernel_part *k)
{
	const struct symbolize_run *f = k->f;
	const struct prof_image *im = &f->p->images.v[k->part->image];
	bool same = is_same_boot(f);

	k->base = im->base;
	k->same_boot = true;
	if (im->kind == PROF_IMAGE_MODULE) {
		if (!f->o->kallsyms)
			k->base = module_base(k->module);
		else if (is_other_boot(f))
			return false;
		k->same_boot = same && k->base == im->base;
		return k->base != 0;
	}
	if (!im->base)
		return same || f->o->kallsyms || !im->build_id.len;
	k->base = kallsyms_address(f->kallsyms, "_text");
	if (!k->base)
		k->base = kallsyms_address(f->kallsyms, "_stext");
	if (!k->base)
		k->base = im->base;
	k->same_boot = same || (k->base == im->base && !profile_env(
					f->p, PROF_NONE, "boot_id"));
	return k->base == im->base || im->build_id.len;
}

const char *kernel_check_running(struct kernel_part *k)
{
	if (!kernel_kallsyms(k->f))
		return k->f->kallsyms_error.msg;
	if (!is_running(k) || !find_base(k))
		return OTHER_KERNEL;
	k->live = true;
	return NULL;
}

bool kernel_name_at(const struct kernel_part *k, uint64_t vaddr,
		    struct kernel_name *out)
{
	const char *in;

	if (!k->live)
		return k->f->old &&
		       keep_old_symbol(k->f->old, k->part->image, vaddr,
				       &out->name, &out->start, &out->size);
	if (!kallsyms_find(k->f->kallsyms, vaddr + k->base, &out->name, &in,
			   &out->start, &out->size))
		return false;
	out->start -= k->base;
	if (!strcmp(in, k->module))
		return true;
	/* Code outside the kernel's image keeps its address only until the next
	 * boot. /proc/modules may show a module where the kernel has generated
	 * code. */
	return k->same_boot && (!*k->module || !strcmp(in, "bpf") ||
				!strncmp(in, "__builtin__", 11));
}
