// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests the debug files that a recording lacks: see fetch_debug.h. */
#include "cmd/fetch_debug.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/open.h"
#include "cmd/status.h"
#include "symbolize/dwarf/debug_file.h"
#include "views/info.h"

/* Sizes in MB.  Debug files of browsers and databases have 1 to 2 GB. */
enum { FILE_MB = 2048, ALL_MB = 4096 };

static void notice(void *ctx, const char *text)
{
	cmd_notice(ctx, text);
}

void cmd_debuginfod(struct cmd_io *io, struct debuginfod *d)
{
	d->notice = notice;
	d->progress = cmd_show_step;
	d->ctx = io;
}

struct fetching {
	struct cmd_io *io;
	const struct fetch_options *o;
	const struct profile *p;
	struct debuginfod d;
	int *files;
	const char *image;	/* path of the current image */
	uint64_t got;		/* bytes for the current image */
	struct error why;	/* why a file of it is missing */
};

/* Returns whether Ctrl-C was pressed.  The signal is blocked meanwhile. */
static bool interrupted(void *ctx)
{
	sigset_t pending;

	(void)ctx;
	return !sigpending(&pending) && sigismember(&pending, SIGINT) > 0;
}

/* Fetches a file.  Returns its descriptor, or -1. */
static int fetch(struct fetching *f, enum debuginfod_kind kind,
		 const struct build_id *id)
{
	struct error err = { 0 };
	int fd = debuginfod_fetch(&f->d, kind, id, f->image, &err);
	struct stat st;

	if (fd < 0) {
		f->why = err;
		return -1;
	}
	if (!fstat(fd, &st))
		f->got += (uint64_t)st.st_size;
	return fd;
}

/* Opens a fetched file, and closes its descriptor. */
static struct image *open_image(struct fetching *f, int fd)
{
	struct image *img = NULL;

	if (fd >= 0 && image_open_fd(fd, f->image, &img, &f->why) < 0)
		img = NULL;
	if (fd >= 0)
		close(fd);
	return img;
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

	if (image_open_file(f->image, &img, NULL) == 0)
		debug = symbolize_debug_file(img, f->o->debug_dirs);
	fetch_alternate(f, debug ? debug : img);
	if (debug)
		image_close(img);
}

static void fetch_for(struct fetching *f, uint32_t image, uint32_t missing)
{
	const struct build_id *id = &f->p->images.v[image].build_id;

	/* it may have gone since the recording got its symbols */
	if (!image_file_is(f->image, id))
		f->files[image] = fetch(f, DEBUGINFOD_PROGRAM, id);
	if (missing & PROF_MISSING_ALT)
		fetch_alternate_only(f);
	else
		fetch_alternate(f, open_image(f, fetch(f, DEBUGINFOD_DEBUG_FILE,
						       id)));
}

static void report_image(const struct fetching *f)
{
	struct buf b = { 0 };

	text_safe(&b, f->image);
	if (f->got >= 1000000)
		buf_printf(&b, ": %.1f MB", (double)f->got / 1e6);
	else if (f->got)
		buf_printf(&b, ": %.1f KB", (double)f->got / 1e3);
	if (f->why.msg[0])
		buf_printf(&b, "%s %s", f->got ? "," : ":", f->why.msg);
	if (!f->o->quiet)
		fprintf(f->io->err, "tally: debuginfod: %s\n", buf_cstr(&b));
	buf_fini(&b);
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

static void fetch_all(struct fetching *f, const struct missing *m)
{
	size_t asked = 0, left = 0;

	for (size_t i = 0; i < m->rows.n; i++) {
		uint32_t missing = lacks(f, &m->rows.v[i]);
		uint32_t image = m->rows.v[i].image;

		if (!missing)
			continue;
		if (*f->d.given_up) {
			left++;
			continue;
		}
		asked++;
		f->image = profile_cstr(f->p, f->p->images.v[image].path);
		f->got = 0;
		f->why = (struct error){ 0 };
		fetch_for(f, image, missing);
		report_image(f);
	}
	if (!f->o->quiet && left)
		fprintf(f->io->err, "tally: debuginfod: %s; %zu more image%s "
			"not asked for\n", f->d.given_up, left,
			left == 1 ? " was" : "s were");
	if (!f->o->quiet && !asked)
		fprintf(f->io->err, "tally: debuginfod: nothing to ask for: no "
			"image with a build ID lacks names or lines\n");
}

static int check_servers(struct error *err)
{
	if (debuginfod_has_servers())
		return 0;
	return error_set(err, ERR_USAGE, "--debuginfod: no server is set up: "
			 "DEBUGINFOD_URLS=https://debuginfod.elfutils.org tally "
			 "symbolize --debuginfod");
}

int cmd_fetch_debug(struct cmd_io *io, struct reader *r, const char *path,
		    const struct fetch_options *o, int *files, struct error *err)
{
	struct fetching f = {
		.io = io, .o = o, .p = reader_profile(r), .files = files,
		.d = { .what = "debug files", .seconds = o->seconds,
		       .file_mb = FILE_MB, .mb = ALL_MB,
		       .stopped = interrupted },
	};
	sigset_t block, before;
	struct info in;
	int rc = check_servers(err);

	if (!rc)
		rc = info_build(&in, r, path, 0, err);
	if (rc < 0)
		return rc;
	cmd_debuginfod(io, &f.d);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &before);
	fetch_all(&f, &in.missing);
	/* the signal has ended the requests, and is not to end the command, too */
	while (interrupted(NULL))
		sigtimedwait(&block, NULL, &(struct timespec){ 0 });
	sigprocmask(SIG_SETMASK, &before, NULL);
	debuginfod_fini(&f.d);
	info_fini(&in);
	return 0;
}
