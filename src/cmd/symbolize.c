// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally symbolize`: adds symbols to a recording, or replaces them when debug
 * files have been installed later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/fetch_debug.h"
#include "cmd/open.h"
#include "cmd/source_options.h"
#include "profile/symbolize_profile.h"
#include "verify/verify.h"

struct symbolize_opts {
	struct cmd_reading reading;
	const char *input, *output, *kallsyms, *vmlinux;
	const char *embed_source;
	struct fetch_opts debuginfod;
	bool quiet, verify;
};

static const struct opt symbolize_opt_table[] = {
	OPT_ROW_INPUT(offsetof(struct symbolize_opts, input)),
	{ OPT_STR, 'o', "output", "FILE",
	  offsetof(struct symbolize_opts,output),
	  "Write a copy instead of replacing the recording." },
	READING_DIRS_ROW(struct symbolize_opts, ""),
	{ OPT_OPTSTR, 0, "debuginfod", "TIME",
	  offsetof(struct symbolize_opts,debuginfod.time),
	  "First request missing debug files from the servers in "
	  "DEBUGINFOD_URLS, those with the most samples first, for at most "
	  "TIME. Default: 2m." },
	FETCH_OPTION_SIZE(struct symbolize_opts, debuginfod),
	{ OPT_STR, 0, "kallsyms", "FILE",
	  offsetof(struct symbolize_opts,kallsyms),
	  "File with the names of kernel functions. Default: /proc/kallsyms." },
	{ OPT_STR, 'k', "vmlinux", "FILE",
	  offsetof(struct symbolize_opts,vmlinux),
	  "ELF file of the kernel with debug information. Default: found by "
	  "build ID in the debug directory, /boot and /lib/modules." },
	EMBED_OPTION_ROW(offsetof(struct symbolize_opts, embed_source),
		"Also store the source lines of hot functions, unless the "
		"recording contains some."),
	{ OPT_FLAG, 0, "verify", NULL, offsetof(struct symbolize_opts,verify),
	  "Compare every name, inline chain, file and line of the recording "
	  "with the result of libdw and print each difference; change nothing. "
	  "Exit status 1 if there is an unexplained difference." },
	OPT_ROW_QUIET(offsetof(struct symbolize_opts, quiet)),
	READING_ROWS(struct symbolize_opts),
	OPT_END
};

static size_t count_named(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->locs.n; i++)
		n += profile_loc_frame(p, (uint32_t)i) != PROF_NONE;
	return n;
}

/* A given kernel must be the recorded one, for the same reason. */
static int check_vmlinux(const char *path, const struct profile *p,
			 struct error *err)
{
	struct image *img;
	struct build_id id;
	int rc;

	if (!path)
		return 0;
	rc = image_open_file(path, &img, err);
	if (rc < 0)
		return rc;
	id = image_build_id(img);
	image_close(img);
	for (size_t i = 0; i < p->images.n; i++) {
		const struct prof_image *im = &p->images.v[i];

		if (im->kind == PROF_IMAGE_KERNEL &&
		    !build_id_equal(&im->build_id, &id))
			return error_set(err, ERR_FORMAT, "--vmlinux %s is not "
				"the recorded kernel: its build ID differs",
				path);
	}
	return 0;
}

/* The requests of this command. */
struct requests {
	struct cmd_io *io;
	const struct profile *p;
	int *files;
	bool quiet;
};

static void show_step(void *ctx, const struct fetch_step *s)
{
	struct requests *q = ctx;
	struct buf text = { 0 };

	if (s->done && s->program >= 0)
		q->files[s->image] = s->program;
	if (!s->done)
		cmd_fetch_show_step(q->p, s, &text);
	else
		cmd_fetch_show_image(q->p, s, &text);
	cmd_show_step(q->io, s->done ? NULL : buf_cstr(&text));
	if (s->done && !q->quiet)
		cmd_notice(q->io, "debuginfod: %s", buf_cstr(&text));
	buf_fini(&text);
}

static void notice(void *ctx, const char *text)
{
	cmd_notice(((struct requests *)ctx)->io, "%s", text);
}

static void show_result(const struct requests *q, const struct fetch_result *f)
{
	struct buf text = { 0 };

	cmd_fetch_show_result(f, &text);
	if (!q->quiet)
		cmd_notice_lines(q->io, buf_cstr(&text));
	buf_fini(&text);
}

/* Requests debug files.  If the recording has no symbols yet, adds those of this
 * machine first, which shows what is missing. */
static int fetch(struct cmd_io *io, const struct symbolize_opts *o,
		 struct fetch_options *f, const char *path, struct reader *r,
		 int *files, struct error *err)
{
	struct requests q = { .io = io, .p = reader_profile(r), .files = files,
			      .quiet = o->quiet };
	struct fetch_result result;
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(&o->reading.debug_dirs, &dirs, err);

	f->debug_dirs = buf_cstr(&dirs);
	f->step = show_step;
	f->notice = notice;
	f->ctx = &q;
	if (!rc && !reader_profile(r)->symbolized)
		rc = profile_symbolize(reader_profile(r),
				       &(struct symbolize_options){
					       .debug_dirs = f->debug_dirs,
					       .kallsyms = o->kallsyms,
					       .progress = cmd_show_image,
					       .ctx = io },
				       err);
	if (!rc)
		rc = cmd_fetch_debug(r, path, f, &result, err);
	if (!rc)
		show_result(&q, &result);
	buf_fini(&dirs);
	return rc;
}

/* A file or folder named on the command line must exist; otherwise it would seem
 * to contain nothing useful. */
static int check_named(const char *option, const char *path, struct error *err)
{
	if (path && access(path, R_OK) != 0)
		return error_errno(err, errno, "%s %s", option, path);
	return 0;
}

/* Requests files, if the user wants that, and symbolizes with them. */
static int update(struct cmd_io *io, const struct symbolize_opts *o,
		  struct fetch_options *f, const char *path, struct reader *r,
		  struct error *err)
{
	const struct profile *p = reader_profile(r);
	size_t n = p->images.n, before;
	int *files = malloc((n + 1) * sizeof(*files));
	struct store_options store = {
		.debug_dirs = &o->reading.debug_dirs, .kallsyms = o->kallsyms,
		.vmlinux = o->vmlinux, .embed_source = o->embed_source,
		.output = o->output, .files = files,
	};
	int rc = files ? 0 : error_nomem(err);

	for (size_t i = 0; files && i < n; i++)
		files[i] = -1;
	if (!rc && f->seconds)
		rc = fetch(io, o, f, path, r, files, err);
	before = count_named(p);
	if (!rc)
		rc = cmd_store_symbols(io, &store, path, r, err);
	for (size_t i = 0; files && i < n; i++)
		if (files[i] >= 0)
			close(files[i]);
	free(files);
	if (rc < 0)
		return rc;
	cmd_report_damage(io, path, r);
	if (!o->quiet)
		fprintf(io->err, "tally: %zu of %zu addresses have names now "
			"(%zu before)\n", count_named(p), p->locs.n, before);
	return rc;
}

/* Compares a recording with what libdw says.  Returns the exit status. */
static int compare(struct cmd_io *io, const struct profile *p, const char *debug_dirs,
		   struct error *err)
{
	struct verify_counts counts = { 0 };
	struct buf out = { 0 };
	int rc = verify_profile(p, debug_dirs, cmd_show_image, io, &counts,
				&out, err);

	cmd_show_step(io, NULL);
	return cmd_verified(io, &counts, &out, rc, err);
}

static int verify(struct cmd_io *io, const struct symbolize_opts *o,
		  const char *path, struct reader *r, struct error *err)
{
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(&o->reading.debug_dirs, &dirs, err) ?:
		 cmd_add_symbols(io, &o->reading, path, r, err) ?:
		 compare(io, reader_profile(r), buf_cstr(&dirs), err);

	buf_fini(&dirs);
	return rc;
}

static int check_options(const struct symbolize_opts *o, struct fetch_options *f,
			 struct error *err)
{
	int rc = cmd_fetch_limits(&o->debuginfod, f, err);

	if (!rc && f->seconds && o->verify)
		rc = error_set(err, ERR_USAGE, "--verify requests no files: run "
			       "tally symbolize --debuginfod before");
	if (!rc && f->seconds && !debuginfod_has_servers())
		rc = error_set(err, ERR_USAGE, "--debuginfod: no server is set up: "
			       "DEBUGINFOD_URLS=https://debuginfod.elfutils.org "
			       "tally symbolize --debuginfod");
	if (!rc)
		rc = check_named("--kallsyms", o->kallsyms, err);
	return rc ? rc : check_named("--vmlinux", o->vmlinux, err);
}

static int run_symbolize(struct cmd_io *io, void *opts, int argc, char **argv,
			 struct error *err)
{
	const struct symbolize_opts *o = opts;
	struct reader *r = NULL;
	const char *path;
	struct fetch_options f = { 0 };
	int rc = check_options(o, &f, err);

	if (rc >= 0)
		rc = cmd_open(io, &o->reading, o->input, argc, argv, &path, &r, err);
	if (rc >= 0 && o->reading.trust)
		reader_profile(r)->foreign = false;
	if (rc >= 0 && reader_profile(r)->foreign)
		rc = error_set(err, ERR_PERM, "%s belongs to another user, who "
			       "could choose which files are read for symbols: "
			       "--trust-recording allows it", path);
	if (rc >= 0)
		rc = check_vmlinux(o->vmlinux, reader_profile(r), err);
	if (rc >= 0)
		rc = o->verify ? verify(io, o, path, r, err)
			       : update(io, o, &f, path, r, err);
	reader_close(r);
	return rc;
}

const struct command cmd_symbolize = {
	.name = "symbolize",
	.summary = "update the symbols of a recording",
	.args = "[FILE]",
	.opts = symbolize_opt_table,
	.opts_size = sizeof(struct symbolize_opts),
	.defaults = &(const struct symbolize_opts){ .reading.as_it_is = true },
	.run = run_symbolize,
};
