// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbolizes ELF files and the vdso.  A file that is not the recorded one is
 * not used: wrong names are worse than none. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "profile/source_access.h"
#include "profile/symbolize_internal.h"

struct context {
	struct symbolize_run *f;
	const struct symbolize_item *part;
	bool in_turn;
	uint32_t first;		/* first row of the image in profile.symbols */
	struct symbolize_addrs ask;
	uint32_t frame;		/* frame of the most recent result */
	int rc;
};

static void take_turn(struct context *c)
{
	if (c->in_turn)
		return;
	symbolize_wait_turn(c->f, c->part);
	c->in_turn = true;
	c->first = (uint32_t)c->f->p->symbols.n;
}

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	struct context *c = ctx;

	uint32_t loc = c->ask.locs[i];

	take_turn(c);
	if (!r->same)
		c->rc = symbolize_add_frames(c->f, c->part->image, r, &c->frame);
	if (c->rc)
		return false;
	if (loc != SYMBOLIZE_NO_LOC)
		c->rc = symbolize_add_result(c->f, c->part, loc, r, c->frame);
	else
		c->rc = symbolize_add_line(c->f, c->part, &c->ask, r, c->frame);
	return c->rc == 0;
}

static void id_hex(const struct build_id *id, char out[2 * BUILD_ID_MAX + 1])
{
	text_hex(out, id->bytes, id->len < BUILD_ID_MAX ? id->len
							: BUILD_ID_MAX);
	if (!id->len)
		strcpy(out, "none");
}

/* Returns whether img is the recorded file. */
static bool is_recorded(const struct symbolize_run *f,
			const struct symbolize_item *part,
			const struct image *img, struct symbolize_failure *why)
{
	struct build_id want = f->p->images.v[part->image].build_id;
	struct build_id got = image_build_id(img);
	char w[2 * BUILD_ID_MAX + 1], g[2 * BUILD_ID_MAX + 1];

	if (want.len == got.len && !memcmp(want.bytes, got.bytes, want.len))
		return true;
	id_hex(&want, w);
	id_hex(&got, g);
	why->missing = PROF_MISSING_CHANGED;
	error_set(&why->text, ERR_NOTFOUND, "%s changed since recording: "
		  "build-id %s, wanted %s", part->path, g, w);
	return false;
}

/* Returns when the recording began, as far as it is known: its author chose what it
 * says.  It was not stored before it began; 0: unknown. */
static uint64_t began(const struct profile *p)
{
	uint64_t start = p->runs.n ? p->runs.v[0].start_wall_ns : 0;

	if (start > clock_read(CLOCK_REALTIME))
		return 0;
	return p->written_ns && p->written_ns < start ? p->written_ns : start;
}

/* Returns whether the file without build ID may be another one than the recorded: only
 * the time of its last change shows that, and for others' eyes its mode. */
static bool is_other(const struct symbolize_run *f,
		     const struct symbolize_item *part, int fd,
		     struct symbolize_failure *why)
{
	uint64_t start = began(f->p);
	struct stat st;

	if (f->p->images.v[part->image].build_id.len)
		return false;
	if (fstat(fd, &st) < 0)
		error_errno(&why->text, errno, "%s", part->path);
	else if (!start)
		error_set(&why->text, ERR_NOTFOUND, "%s has no build-id, and the "
			  "recording does not say when it began: it may be another "
			  "file (link with -Wl,--build-id)", part->path);
	else if ((uint64_t)clock_ns(st.st_mtim) > start)
		error_set(&why->text, ERR_NOTFOUND, "%s was written after the "
			  "recording began and has no build-id to compare: link "
			  "with -Wl,--build-id", part->path);
	else if (f->o->for_others && !source_is_public(&st, S_IROTH))
		error_set(&why->text, ERR_NOTFOUND, "%s has no build-id, and "
			  "others may not read it", part->path);
	else
		return false;
	why->missing = PROF_MISSING_CHANGED;
	return true;
}

/* Sets the reason why the file was not opened; the recorder's reason takes
 * precedence. */
static void why_unopened(const struct symbolize_item *part,
			 struct symbolize_failure *why)
{
	if (*part->reason)
		error_set(&why->text, ERR_NOTFOUND, "%s", part->reason);
	else
		error_set(&why->text, ERR_NOTFOUND, "%s could not be opened "
			  "while recording", part->path);
}

static int open_by_caller(struct symbolize_run *f, const struct symbolize_item *part,
			  struct symbolize_failure *why)
{
	int fd;

	symbolize_lock(f);
	fd = f->o->open_image(f->o->ctx, part->image);
	symbolize_unlock(f);
	if (fd < 0)
		why_unopened(part, why);
	return fd;
}

static int open_by_path(const struct symbolize_run *f,
			const struct symbolize_item *part,
			struct symbolize_failure *why)
{
	int fd = io_open_file(part->path, &why->text);

	if (fd >= 0 && is_other(f, part, fd, why)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct image *symbolize_open_elf(struct symbolize_run *f,
				 const struct symbolize_item *part,
				 struct symbolize_failure *why)
{
	struct image *img = NULL;
	int fd = -1;

	why->missing = PROF_MISSING_FILE;
	/* Its locations are unchecked file offsets. */
	if (f->p->images.v[part->image].flags & PROF_IMAGE_UNREADABLE)
		why_unopened(part, why);
	else if (f->o->files && f->o->files[part->image] >= 0)
		fd = fcntl(f->o->files[part->image], F_DUPFD_CLOEXEC, 0);
	else if (f->o->open_image)
		fd = open_by_caller(f, part, why);
	else
		fd = open_by_path(f, part, why);
	if (fd < 0)
		return NULL;
	if (image_open_fd(fd, part->path, &img, &why->text) < 0)
		img = NULL;
	close(fd);
	if (img && !is_recorded(f, part, img, why)) {
		image_close(img);
		img = NULL;
	}
	return img;
}

static int no_names(struct symbolize_run *f, const struct symbolize_item *part,
		    const struct symbolize_failure *why)
{
	struct image_debug_info row = { .image = part->image,
				   .missing = why->missing };

	symbolize_wait_turn(f, part);
	symbolize_note(f, part->image, "%s", why->text.msg);
	return symbolize_set_source(f, &row, "");
}

static uint32_t names_of(const struct sym_sources *s)
{
	return (s->debugdata ? PROF_NAMES_DEBUGDATA
		: s->symtab ? PROF_NAMES_SYMTAB : 0) |
	       (s->unwind ? PROF_NAMES_UNWIND : 0) |
	       (s->dynsym ? PROF_NAMES_DYNSYM : 0) |
	       (s->go ? PROF_NAMES_GOPCLNTAB : 0) |
	       (s->dwarf ? PROF_NAMES_DWARF : 0);
}

static uint32_t missing_of(const struct sym_sources *s)
{
	return (s->symtab || s->dwarf || s->go ? 0 : PROF_MISSING_SYMTAB) |
	       (s->dwarf || s->go ? 0 : PROF_MISSING_DWARF) |
	       (*s->missing_alt ? PROF_MISSING_ALT : 0) |
	       (*s->missing_dwo ? PROF_MISSING_DWO : 0) |
	       (*s->damage || *s->unreadable ? PROF_MISSING_DAMAGED : 0);
}

/* Writes one sentence about missing files; empty if none is missing. */
static void describe_missing(const struct sym_sources *s, struct buf *b)
{
	if (!s->dwarf && !s->symtab)
		buf_str(b, "; stripped");
	if (!s->dwarf && *s->missing)
		buf_printf(b, "; no debug file %s", s->missing);
	else if (!s->dwarf)
		buf_str(b, "; no debug information");
	if (*s->missing_alt)
		buf_printf(b, "; no alternate debug file %s", s->missing_alt);
	if (*s->missing_dwo)
		buf_printf(b, "; %zu split debug files missing, the first is "
			   "%s", s->missing_dwo_units, s->missing_dwo);
	if (*s->unreadable)
		buf_printf(b, "; %s", s->unreadable);
	else if (*s->damage)
		buf_printf(b, "; damaged debug information: %s", s->damage);
}

static int note_sources(struct symbolize_run *f, const struct symbolize_item *part,
			const struct sym_sources *s, uint32_t machine)
{
	struct prof_image *im = &f->p->images.v[part->image];
	struct image_debug_info row = { .image = part->image,
				   .names = names_of(s),
				   .missing = missing_of(s),
				   .units = (uint32_t)s->missing_dwo_units,
				   .machine = machine };
	struct buf text = { 0 };
	uint32_t id = 0;

	describe_missing(s, &text);
	if (text.n)
		symbolize_note(f, part->image, "%s", buf_cstr(&text) + 2);
	buf_fini(&text);
	if (s->dwarf)
		id = *s->debug_file ? profile_str(f->p, s->debug_file)
				    : im->path;
	if (id != PROF_NONE)
		im->debug_file = id;
	return symbolize_set_source(f, &row, !s->dwarf ? s->missing
				  : *s->missing_alt ? s->missing_alt
						    : s->missing_dwo);
}

static int resolve(struct context *c, struct symbolizer *s, struct image *img,
		   struct error *err)
{
	struct symbolize_run *f = c->f;
	const struct symbolize_item *part = c->part;
	struct sym_sources src = symbolizer_sources(s);
	size_t first_code;
	int rc;

	if (keep_old_is_better(f, part->image, names_of(&src)))
		return 0;
	rc = symbolize_addrs_init(f, part, s, &c->ask) ?:
	     symbolizer_resolve(s, c->ask.vaddrs, c->ask.n, on_result, c, err);
	take_turn(c);
	if (!rc && !c->rc)
		c->rc = symbolize_end_lines(f, part, &c->ask);
	if (c->rc || rc == -ERR_NOMEM)
		return symbolize_nomem(f);
	if (rc) {
		*f->err = *err;
		return rc;
	}
	src = symbolizer_sources(s);
	rc = note_sources(f, part, &src, image_machine(img));
	first_code = f->codes.n;
	if (!rc)
		rc = symbolize_keep_code(f, c->first, read_image_code, img);
	return rc ? rc : name_call_targets(f, part, s, img, first_code);
}

/* Symbolizes with img and closes it. */
static int fill_from(struct symbolize_run *f, const struct symbolize_item *part,
		     struct image *img)
{
	struct sym_options so = { .debug_dirs = f->o->debug_dirs,
				  .detail = f->o->detail, .cache = f->o->cache };
	struct context c = { .f = f, .part = part };
	struct symbolizer *s;
	struct error err;
	int rc = symbolizer_open(img, &so, &s, &err);

	if (rc < 0) {
		take_turn(&c);
		*f->err = err;
	} else {
		rc = resolve(&c, s, img, &err);
		symbolize_addrs_fini(&c.ask);
		symbolizer_close(s);
	}
	image_close(img);
	return rc;
}

int symbolize_elf(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct symbolize_failure why = { 0 };
	struct image *img = symbolize_open_elf(f, part, &why);

	return img ? fill_from(f, part, img) : no_names(f, part, &why);
}

/* Returns the size of this process's vdso, which ends with its section
 * headers. */
static size_t vdso_size(const uint8_t *p)
{
	const ElfW(Ehdr) *e = (const void *)p;
	const ElfW(Phdr) *ph = (const void *)(p + e->e_phoff);
	size_t end = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
	unsigned i;

	for (i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    ph[i].p_offset + ph[i].p_filesz > end)
			end = ph[i].p_offset + ph[i].p_filesz;
	return end;
}

/* Opens this process's vdso, which the kernel gives to all programs of its
 * kind. */
static struct image *open_own_vdso(struct symbolize_run *f,
				   const struct symbolize_item *part,
				   struct symbolize_failure *why)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct image *img = NULL;

	why->missing = PROF_MISSING_FILE;
	if (f->p->images.v[part->image].flags & PROF_IMAGE_UNREADABLE)
		why_unopened(part, why);
	else if (!p)
		error_set(&why->text, ERR_NOTFOUND, "this process has no vdso to "
			  "take names from");
	else if (image_open_bytes(p, vdso_size(p), part->path, &img,
				  &why->text) < 0)
		img = NULL;
	if (img && !is_recorded(f, part, img, why)) {
		image_close(img);
		img = NULL;
	}
	return img;
}

int symbolize_vdso(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct symbolize_failure why = { 0 };
	struct image *img = f->o->open_image ? symbolize_open_elf(f, part, &why)
					     : open_own_vdso(f, part, &why);

	return img ? fill_from(f, part, img) : no_names(f, part, &why);
}
