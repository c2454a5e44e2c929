// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of kernel and module functions from the running kernel, if it is the
 * recorded one: /proc/kallsyms, checked by the build-ids in /sys/kernel/notes and
 * /sys/module/NAME/notes.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/io.h"
#include "profile/fill_internal.h"

enum { NOTES_LIMIT = 1 << 20 };

static void *read_kallsyms(void *ctx)
{
	struct fill *f = ctx;

	kallsyms_open(f->o->kallsyms ? f->o->kallsyms : "/proc/kallsyms",
		      &f->kallsyms, &f->kallsyms_error);
	return NULL;
}

void fill_kernel_begin(struct fill *f)
{
	f->kallsyms_running = !pthread_create(&f->kallsyms_thread, NULL,
					      read_kallsyms, f);
	if (!f->kallsyms_running)
		read_kallsyms(f);
}

static struct kallsyms *get_kallsyms(struct fill *f)
{
	if (f->kallsyms_running)
		pthread_join(f->kallsyms_thread, NULL);
	f->kallsyms_running = false;
	return f->kallsyms;
}

void fill_kernel_end(struct fill *f)
{
	kallsyms_close(get_kallsyms(f));
}

/* The build-id in a file of ELF notes (gABI, Note Section). */
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

/* "[nf_tables]" or ".../nf-tables.ko.xz" -> "nf_tables" */
static void module_name(const char *path, char *out, size_t n)
{
	const char *slash = strrchr(path, '/');
	size_t i = 0;

	path = slash ? slash + 1 : path;
	if (*path == '[')
		path++;
	for (; *path && *path != '.' && *path != ']' && i + 1 < n; path++)
		out[i++] = *path == '-' ? '_' : *path;
	out[i] = '\0';
}

/* Whether the running kernel (or module) is what was recorded. */
static bool is_running(struct fill *f, const struct prof_image *im,
		       const char *module)
{
	struct build_id id;
	char path[320] = "/sys/kernel/notes";

	if (*module)
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", module);
	if (!im->build_id.len)
		return true;
	if (f->o->kallsyms)	/* the caller vouches for another kernel's */
		return true;
	id = notes_build_id(path);
	return id.len == im->build_id.len &&
	       !memcmp(id.bytes, im->build_id.bytes, id.len);
}

/* Where the kernel lies now: it moves at each boot (KASLR).  Modules move when
 * they are loaded; they are trusted only where they were. */
static bool find_base(struct fill *f, const struct prof_image *im,
		      uint64_t *base)
{
	uint64_t now;

	*base = im->base;
	if (im->kind != PROF_IMAGE_KERNEL || !im->base)
		return true;
	now = kallsyms_address(f->kallsyms, "_text");
	if (!now)
		now = kallsyms_address(f->kallsyms, "_stext");
	if (!now || now == im->base)
		return true;
	*base = now;
	return im->build_id.len != 0;
}

/* No names, and what to say about it. */
static int no_kernel(struct fill *f, const struct fill_part *part,
		     const char *text)
{
	struct prof_source row = { .image = part->image,
				   .missing = PROF_MISSING_KERNEL };

	fill_note(f, part->image, "%s", text);
	return fill_source(f, &row, "");
}

static int fill_names(struct fill *f, const struct fill_part *part,
		      const char *module, uint64_t base)
{
	struct prof_source row = { .image = part->image,
				   .names = PROF_NAMES_KALLSYMS };
	size_t i, named = 0;
	int rc = 0;

	for (i = 0; i < part->n && !rc; i++) {
		uint64_t vaddr = f->vaddrs[part->at + i], start;
		struct sym_frame frame = { "", "", 0, 0, "", 0, false };
		struct sym_result r = { .vaddr = vaddr, .frames = &frame,
					.nframes = 1 };
		const char *in;

		if (!kallsyms_find(f->kallsyms, vaddr + base, &r.symbol, &in,
				   &start, &r.sym_size))
			continue;
		if (*module && strcmp(in, module))
			continue;
		frame.name = r.symbol;
		r.sym_start = start - base;
		rc = fill_result(f, part, i, &r);
		named++;
	}
	if (!rc && !named)
		return no_kernel(f, part, "no symbol of the running kernel "
				 "covers these addresses");
	return rc ? rc : fill_source(f, &row, "");
}

int fill_kernel(struct fill *f, const struct fill_part *part)
{
	const struct prof_image *im = &f->p->images.v[part->image];
	char module[128] = "";
	uint64_t base;

	fill_wait_turn(f, part);
	if (!get_kallsyms(f))
		return no_kernel(f, part, f->kallsyms_error.msg);
	if (im->kind == PROF_IMAGE_MODULE)
		module_name(profile_cstr(f->p, im->path), module,
			    sizeof(module));
	if (!is_running(f, im, module) || !find_base(f, im, &base))
		return no_kernel(f, part, "another kernel is running than the "
				 "recorded one: symbolize where it was "
				 "recorded, before the next boot");
	return fill_names(f, part, module, base);
}
