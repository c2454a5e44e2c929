// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names kernel and module functions.  Lines and inlined functions come from a
 * vmlinux or .ko with the recorded build ID.  Names alone come from the running
 * kernel if it is the recorded one, or from the recording.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "profile/symbolize_kernel.h"

enum { MAX_SEGMENTS = 4096 };

/* The current code of the running kernel, patched by alternatives and tracing, from
 * /proc/kcore (proc(5)): an ELF core file whose segments are the kernel's memory.  Only
 * root may read it, and some kernels do not have it. */
struct kcore {
	int fd;
	ElfW(Phdr) *segs;
	size_t n;
};

static bool read_at(int fd, void *out, size_t n, uint64_t offset)
{
	return io_read_at(fd, offset, out, n) == n;
}

static bool read_segments(struct kcore *k)
{
	ElfW(Ehdr) h;

	if (!read_at(k->fd, &h, sizeof(h), 0) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) || !h.e_phnum ||
	    h.e_phnum > MAX_SEGMENTS || h.e_phentsize != sizeof(*k->segs))
		return false;
	k->n = h.e_phnum;
	k->segs = malloc(k->n * sizeof(*k->segs));
	return k->segs &&
	       read_at(k->fd, k->segs, k->n * sizeof(*k->segs), h.e_phoff);
}

static void kcore_close(struct kcore *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k->segs);
	free(k);
}

static struct kcore *kcore_open(const char *path)
{
	struct kcore *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd >= 0 && read_segments(k))
		return k;
	kcore_close(k);
	return NULL;
}

static size_t kcore_read(struct kcore *k, uint64_t addr, size_t n, struct buf *out)
{
	uint8_t *room;

	for (size_t i = 0; i < k->n; i++) {
		const ElfW(Phdr) *s = &k->segs[i];

		if (s->p_type != PT_LOAD || addr < s->p_vaddr ||
		    addr - s->p_vaddr >= s->p_filesz ||
		    n > s->p_filesz - (addr - s->p_vaddr))
			continue;
		room = buf_room(out, n);
		if (!room ||
		    !read_at(k->fd, room, n, s->p_offset + (addr - s->p_vaddr)))
			return 0;
		out->n += n;
		return n;
	}
	return 0;
}

struct code_at {
	struct kcore *kcore;
	struct image *img;
	uint64_t delta;		/* vaddr in the image + delta = address in the source */
};

static size_t read_code(void *ctx, uint64_t vaddr, size_t n, struct buf *out)
{
	const struct code_at *c = ctx;

	if (c->kcore)
		return kcore_read(c->kcore, vaddr + c->delta, n, out);
	return read_image_code(c->img, vaddr + c->delta, n, out);
}

/* Stores the code of hot functions; img may be NULL.  /proc/kcore is preferred: a
 * module's file has no addresses, and its jumps are not yet filled in.  Returns 0 or an
 * error. */
static int symbolize_kernel_code(const struct kernel_part *k, struct image *img,
				 uint32_t first)
{
	struct symbolize_run *f = k->f;
	struct code_at at = { .img = img, .delta = k->delta };

	if (!f->o->self_samples || !f->o->code_budget)
		return 0;
	if (k->live && !f->o->kallsyms) {
		if (!f->kcore)
			f->kcore = kcore_open("/proc/kcore");
		at.kcore = f->kcore;
		if (at.kcore)
			at.delta = k->base;
	}
	if (!at.kcore && (!img || !k->has_delta))
		return 0;
	return symbolize_keep_code(f, first, read_code, &at);
}

#define HIDDEN \
	"kernel addresses were hidden from the recorder " \
	"(kernel.kptr_restrict): they mean something only on that machine, " \
	"before its next boot"

/* Names the locations that have no name yet. */
static int name_locations(struct kernel_part *k)
{
	const struct symbolize_item *part = k->part;
	size_t i;
	int rc = 0;

	for (i = 0; i < part->n && !rc; i++) {
		uint64_t vaddr = k->f->vaddrs[part->at + i];
		struct sym_frame frame = { "", "", 0, 0, "", 0, false, 0, "" };
		struct sym_result r = { .vaddr = vaddr, .frames = &frame,
					.nframes = 1 };
		struct kernel_name name;

		if (k->done[i] || !kernel_name_at(k, vaddr, &name))
			continue;
		frame.name = r.symbol = name.name;
		r.sym_start = name.start;
		r.sym_size = name.size;
		rc = symbolize_add_location(k->f, part, i, &r);
		k->named++;
	}
	return rc;
}

static void note_wrong_file(const struct kernel_part *k)
{
	symbolize_note(k->f, k->part->image, "%s is not the recorded kernel's: its "
		       "build-id is another one", k->f->o->vmlinux);
}

/* Handles an image without names; `text` says why. */
static int no_kernel(const struct kernel_part *k, const char *text)
{
	struct image_debug_info row = { .image = k->part->image,
				   .missing = PROF_MISSING_KERNEL };

	if (k->wrong_file)
		note_wrong_file(k);
	else
		symbolize_note(k->f, k->part->image, "%s", text);
	return symbolize_set_source(k->f, &row, "");
}

static struct image *find_file(struct kernel_part *k, const char **path)
{
	const struct prof_image *im = &k->f->p->images.v[k->part->image];
	struct kernel_files_options o = {
		.debug_dirs = k->f->o->debug_dirs,
		.vmlinux = k->f->o->vmlinux,
		.release = profile_env(k->f->p, PROF_NONE, "kernel"),
	};

	*path = "";
	if (!k->f->kernel_files)
		k->f->kernel_files = kernel_files_open(&o);
	if (!k->f->kernel_files)
		return NULL;
	return kernel_files_find(k->f->kernel_files, k->module, &im->build_id,
				 path);
}

/* Names locations, with lines and inlined functions, from a file. */
static int name_by_file(struct kernel_part *k, struct image *img,
			const char *path)
{
	struct prof_image *im = &k->f->p->images.v[k->part->image];
	bool dwarf = image_has_dwarf(img);
	struct image_debug_info row = { .image = k->part->image,
				   .names = PROF_NAMES_SYMTAB };
	uint32_t id = dwarf ? profile_str(k->f->p, path) : 0;
	int rc = symbolize_kernel_file(k, img) ?: name_locations(k);

	if (!rc && !k->in_file && !k->named)
		return no_kernel(k, im->base ? "the kernel's file has no name "
				 "for these addresses" : HIDDEN);
	if (dwarf)
		row.names |= PROF_NAMES_DWARF;
	else
		row.missing |= PROF_MISSING_DWARF;
	if (k->live && k->named)
		row.names |= PROF_NAMES_KALLSYMS;
	if (id == PROF_NONE)
		return symbolize_nomem(k->f);
	im->debug_file = id;
	return rc ? rc : symbolize_set_source(k->f, &row, "");
}

static int name_by_kallsyms(struct kernel_part *k)
{
	struct image_debug_info row = { .image = k->part->image,
				   .names = PROF_NAMES_KALLSYMS,
				   .missing = PROF_MISSING_DWARF };
	const char *file = "";
	int rc;

	if (keep_old_is_better(k->f, k->part->image, row.names))
		return 0;
	rc = name_locations(k);
	if (!rc && !k->named)
		return no_kernel(k, "no symbol of the running kernel covers "
				 "these addresses");
	if (!*k->module && k->f->kernel_files)
		file = kernel_files_wanted(k->f->kernel_files);
	if (k->wrong_file)
		note_wrong_file(k);
	else if (*file)
		symbolize_note(k->f, k->part->image, "no lines and inlined "
			       "functions: no %s", file);
	return rc ? rc : symbolize_set_source(k->f, &row, file);
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

int symbolize_kernel(struct symbolize_run *f, const struct symbolize_item *part)
{
	const struct prof_image *im = &f->p->images.v[part->image];
	struct kernel_part k = { .f = f, .part = part };
	const char *path, *why;
	struct image *img;
	uint32_t first;
	int rc;

	symbolize_wait_turn(f, part);
	first = (uint32_t)f->p->symbols.n;
	if (im->kind == PROF_IMAGE_MODULE)
		module_name(profile_cstr(f->p, im->path), k.module,
			    sizeof(k.module));
	k.done = calloc(part->n + 1, 1);
	if (!k.done)
		return symbolize_nomem(f);
	why = kernel_check_running(&k);
	img = find_file(&k, &path);
	k.wrong_file = !img && f->o->vmlinux && !*k.module;
	if (img && (!k.live || image_has_dwarf(img)))
		rc = name_by_file(&k, img, path);
	else
		rc = k.live ? name_by_kallsyms(&k) : no_kernel(&k, why);
	if (!rc)
		rc = symbolize_kernel_code(&k, img, first);
	image_close(img);
	free(k.done);
	return rc;
}

void symbolize_kernel_end(struct symbolize_run *f)
{
	kallsyms_close(kernel_kallsyms(f));
	kernel_files_close(f->kernel_files);
	kcore_close(f->kcore);
}
