// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names kernel and module functions.  Lines and inlined functions come from a
 * vmlinux or .ko with the recorded build ID.  Names alone come from
 * /proc/kallsyms if the running kernel is the recorded one (/sys/kernel/notes
 * and /sys/module/NAME/notes), or from the recording.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/io.h"
#include "profile/symbolize_kernel.h"
#include "symbolize/kernel/kallsyms_kept.h"

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

#define OTHER_KERNEL \
	"another kernel is running than the recorded one: symbolize where it " \
	"was recorded, before the next boot, or with its vmlinux (--vmlinux)"

#define HIDDEN \
	"kernel addresses were hidden from the recorder " \
	"(kernel.kptr_restrict): they mean something only on that machine, " \
	"before its next boot"

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

static struct kallsyms *get_kallsyms(struct symbolize_run *f)
{
	if (f->kallsyms_running)
		pthread_join(f->kallsyms_thread, NULL);
	f->kallsyms_running = false;
	return f->kallsyms;
}

void symbolize_kernel_end(struct symbolize_run *f)
{
	kallsyms_close(get_kallsyms(f));
	kernel_files_close(f->kernel_files);
	kcore_close(f->kcore);
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

/* Returns NULL if the running kernel can name the locations; otherwise the
 * reason why not. */
static const char *check_running(struct kernel_part *k)
{
	if (!get_kallsyms(k->f))
		return k->f->kallsyms_error.msg;
	if (!is_running(k) || !find_base(k))
		return OTHER_KERNEL;
	k->live = true;
	return NULL;
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
	why = check_running(&k);
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
