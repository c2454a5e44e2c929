// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests the debug files that a recording lacks: see fetch_debug.h. */
#include "cmd/fetch_debug.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/path.h"
#include "base/text.h"
#include "cmd/open.h"
#include "symbolize/dwarf/debug_file.h"
#include "views/info.h"

/* Sizes in MB.  Debug files of browsers and databases have 1 to 2 GB. */
enum { FILE_MB = 2048, ALL_MB = 4096, SECONDS = 120 };

static void notice(void *ctx, const char *text)
{
	cmd_notice(ctx, "%s", text);
}

void cmd_debuginfod(struct cmd_io *io, struct debuginfod *d)
{
	d->notice = notice;
	d->progress = cmd_show_step;
	d->ctx = io;
}

int cmd_fetch_limits(const struct fetch_opts *o, struct fetch_options *out,
		     struct error *err)
{
	double time = SECONDS;
	uint64_t mb = o->size ? (o->size + (1 << 20) - 1) >> 20 : ALL_MB;
	bool bare;

	out->seconds = 0;
	if (o->size && !o->time)
		return error_set(err, ERR_USAGE, "--debuginfod-size limits "
				 "--debuginfod, which is not given");
	if (!o->time)
		return 0;
	if (*o->time && (!duration_parse(o->time, strlen(o->time), &time, &bare) ||
			 time < 1 || time > 1e6))
		return error_set(err, ERR_USAGE, "--debuginfod=%s: use a time from "
				 "one second on, such as 30s or 5m", o->time);
	if (o->size && o->size < 1000000)
		return error_set(err, ERR_USAGE, "--debuginfod-size: use one MB or "
				 "more, such as 500M");
	out->seconds = (unsigned int)time;
	out->mb = mb > UINT32_MAX ? UINT32_MAX : (unsigned int)mb;
	return 0;
}

static void put_size(struct buf *out, uint64_t bytes)
{
	if (bytes >= 1000000)
		buf_printf(out, "%.1f MB", (double)bytes / 1e6);
	else
		buf_printf(out, "%.1f KB", (double)bytes / 1e3);
}

static const char *image_path(const struct profile *p, uint32_t image)
{
	return image < p->images.n ? profile_cstr(p, p->images.v[image].path)
				   : "";
}

void cmd_fetch_show_step(const struct profile *p, const struct fetch_step *s,
			 struct buf *out)
{
	buf_str(out, "fetching debug information of ");
	text_safe(out, path_base(image_path(p, s->image)));
	buf_printf(out, " (%zu of %zu", s->at, s->of);
	if (s->bytes) {
		buf_str(out, ", ");
		put_size(out, s->bytes);
	}
	buf_str(out, ")");
}

void cmd_fetch_show_image(const struct profile *p, const struct fetch_step *s,
			  struct buf *out)
{
	text_safe(out, image_path(p, s->image));
	if (s->got) {
		buf_str(out, ": ");
		put_size(out, s->got);
	}
	if (*s->why) {
		buf_str(out, s->got ? ", " : ": ");
		text_safe(out, s->why);
	}
}

void cmd_fetch_show_result(const struct fetch_result *f, struct buf *out)
{
	if (f->left)
		buf_printf(out, "debuginfod: %s; %zu more image%s not asked for\n",
			   f->why, f->left, f->left == 1 ? " was" : "s were");
	else if (!strcmp(f->why, "interrupted"))
		buf_str(out, "debuginfod: interrupted\n");
	if (!f->asked && !*f->why)
		buf_str(out, "debuginfod: nothing to ask for: no image with a "
			"build ID lacks names or lines\n");
}

void cmd_interrupts_block(sigset_t *before)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, before);
}

bool cmd_interrupted(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGINT) > 0;
}

void cmd_interrupts_end(const sigset_t *before)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	while (cmd_interrupted())
		sigtimedwait(&block, NULL, &(struct timespec){ 0 });
	sigprocmask(SIG_SETMASK, before, NULL);
}

struct fetching {
	const struct fetch_options *o;
	const struct profile *p;
	struct debuginfod d;
	const char *path;	/* path of the current image */
	struct fetch_step now;
	struct error why;	/* why a file of it is missing */
};

static bool stopped(void *ctx)
{
	const struct fetching *f = ctx;

	return cmd_interrupted() || (f->o->stopped && f->o->stopped(f->o->ctx));
}

static void tell(struct fetching *f)
{
	f->now.bytes = f->d.bytes + (f->now.done ? 0 : f->d.now);
	f->o->step(f->o->ctx, &f->now);
}

/* The progress of debuginfod, with text of its own. */
static void progress(void *ctx, const char *text)
{
	struct fetching *f = ctx;

	if (text && !f->now.done)
		tell(f);
}

static void announce(void *ctx, const char *text)
{
	const struct fetching *f = ctx;

	f->o->notice(f->o->ctx, text);
}

/* Fetches a file.  Returns its descriptor, or -1. */
static int fetch(struct fetching *f, enum debuginfod_kind kind,
		 const struct build_id *id)
{
	struct error err = { 0 };
	int fd = debuginfod_fetch(&f->d, kind, id, f->path, &err);
	struct stat st;

	f->d.now = 0;
	if (fd < 0) {
		f->why = err;
		return -1;
	}
	if (!fstat(fd, &st))
		f->now.got += (uint64_t)st.st_size;
	return fd;
}

/* Opens a fetched file, and closes its descriptor.  A file of another build has
 * other names and addresses. */
static struct image *open_image(struct fetching *f, int fd,
				const struct build_id *id)
{
	struct image *img = NULL;
	struct build_id has;

	if (fd >= 0 && image_open_fd(fd, f->path, &img, &f->why) < 0)
		img = NULL;
	if (fd >= 0)
		close(fd);
	if (!img)
		return NULL;
	has = image_build_id(img);
	if (build_id_equal(&has, id))
		return img;
	error_set(&f->why, ERR_FORMAT, "the server sent a file of another build");
	image_close(img);
	return NULL;
}

static void fetch_program(struct fetching *f, const struct build_id *id)
{
	int fd = fetch(f, DEBUGINFOD_PROGRAM, id);
	struct image *img = open_image(f, fd >= 0
				       ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1, id);

	if (img)
		f->now.program = fd;
	else if (fd >= 0)
		close(fd);
	image_close(img);
}

/* Fetches what the debug information of img refers to, and closes img. */
static void fetch_alternate(struct fetching *f, struct image *img)
{
	struct build_id id;
	int fd = img && symbolize_alternate(img, &id)
		 ? fetch(f, DEBUGINFOD_DEBUG_FILE, &id) : -1;

	if (fd >= 0)
		close(fd);
	image_close(img);
}

/* Fetches the alternate file of an image whose own debug file is here. */
static void fetch_alternate_only(struct fetching *f)
{
	struct image *img = NULL, *debug = NULL;

	if (image_open_file(f->path, &img, NULL) == 0)
		debug = symbolize_debug_file(img, f->o->debug_dirs);
	fetch_alternate(f, debug ? debug : img);
	if (debug)
		image_close(img);
}

static void fetch_for(struct fetching *f, uint32_t image, uint32_t missing)
{
	const struct build_id *id = &f->p->images.v[image].build_id;

	/* it may have gone since the recording got its symbols */
	if (!image_file_is(f->path, id))
		fetch_program(f, id);
	if (missing & PROF_MISSING_ALT)
		fetch_alternate_only(f);
	else
		fetch_alternate(f, open_image(f, fetch(f, DEBUGINFOD_DEBUG_FILE,
						       id), id));
}

/* Returns what a server could have of an image (PROF_MISSING_*). */
static uint32_t lacks(const struct fetching *f, const struct missing_row *r)
{
	const struct prof_image *im = &f->p->images.v[r->image];

	if (im->kind != PROF_IMAGE_ELF || !im->build_id.len || !r->source)
		return 0;
	return r->source->missing &
	       (PROF_MISSING_FILE | PROF_MISSING_CHANGED |
		PROF_MISSING_SYMTAB | PROF_MISSING_DWARF | PROF_MISSING_ALT);
}

static void fetch_image(struct fetching *f, uint32_t image, uint32_t missing)
{
	f->path = image_path(f->p, image);
	f->why = (struct error){ 0 };
	f->now.image = image;
	f->now.at++;
	f->now.done = false;
	f->now.got = 0;
	f->now.why = "";
	f->now.code = 0;
	f->now.program = -1;
	fetch_for(f, image, missing);
	f->now.done = true;
	f->now.why = f->why.msg;
	f->now.code = f->why.code;
	tell(f);
}

static void fetch_all(struct fetching *f, const struct missing *m,
		      struct fetch_result *result)
{
	for (size_t i = 0; i < m->rows.n; i++)
		f->now.of += lacks(f, &m->rows.v[i]) != 0;
	for (size_t i = 0; i < m->rows.n; i++) {
		uint32_t missing = lacks(f, &m->rows.v[i]);

		if (missing && *f->d.given_up)
			result->left++;
		else if (missing)
			fetch_image(f, m->rows.v[i].image, missing);
	}
	result->asked = f->now.at;
	snprintf(result->why, sizeof(result->why), "%s", f->d.given_up);
}

int cmd_fetch_debug(struct reader *r, const char *path,
		    const struct fetch_options *o, struct fetch_result *result,
		    struct error *err)
{
	struct fetching f = {
		.o = o, .p = reader_profile(r),
		.d = { .what = "debug files", .seconds = o->seconds,
		       .file_mb = FILE_MB, .mb = o->mb,
		       .notice = o->notice ? announce : NULL,
		       .progress = progress, .stopped = stopped },
	};
	struct info in;
	sigset_t before;
	int rc = info_build(&in, r, path, 0, err);

	*result = (struct fetch_result){ 0 };
	if (rc < 0)
		return rc;
	f.d.ctx = &f;
	cmd_interrupts_block(&before);
	fetch_all(&f, &in.missing, result);
	cmd_interrupts_end(&before);
	debuginfod_fini(&f.d);
	info_fini(&in);
	return 0;
}
