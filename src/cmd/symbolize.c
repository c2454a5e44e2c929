// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally symbolize`: adds symbols to a recording, or replaces them when debug
 * files have been installed later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "cmd/command.h"
#include "cmd/debug_dirs.h"
#include "cmd/fetch_debug.h"
#include "cmd/open.h"
#include "cmd/show_options.h"
#include "cmd/source_options.h"
#include "cmd/verify.h"
#include "profile/symbolize_profile.h"
#include "profile/writer.h"

struct symbolize_opts {
	uint64_t max_memory;
	const char *input, *output, *kallsyms, *vmlinux;
	struct opt_strs debug_dirs;
	const char *embed_source, *debuginfod;
	bool quiet, verify;
	bool trust;
};

static const struct opt symbolize_opt_table[] = {
	OPT_ROW_INPUT(offsetof(struct symbolize_opts, input)),
	{ OPT_STR, 'o', "output", "FILE",
	  "Write a copy instead of replacing the recording.",
	  offsetof(struct symbolize_opts, output) },
	{ OPT_STRS, 0, "debug-dir", "DIR", DEBUG_DIR_HELP,
	  offsetof(struct symbolize_opts, debug_dirs) },
	{ OPT_OPTSTR, 0, "debuginfod", "TIME",
	  "First request missing debug files from the servers in "
	  "DEBUGINFOD_URLS, those with the most samples first, for at most "
	  "TIME. Default: 2m.", offsetof(struct symbolize_opts, debuginfod) },
	{ OPT_STR, 0, "kallsyms", "FILE",
	  "File with the names of kernel functions. Default: /proc/kallsyms.",
	  offsetof(struct symbolize_opts, kallsyms) },
	{ OPT_STR, 'k', "vmlinux", "FILE",
	  "ELF file of the kernel with debug information. Default: found by "
	  "build ID in the debug directory, /boot and /lib/modules.",
	  offsetof(struct symbolize_opts, vmlinux) },
	EMBED_OPTION_ROW(offsetof(struct symbolize_opts, embed_source),
		"Also store the source lines of hot functions, unless the "
		"recording contains some."),
	{ OPT_FLAG, 0, "verify", NULL,
	  "Compare every name, inline chain, file and line of the recording "
	  "with the result of libdw and print each difference; change nothing. "
	  "Exit status 1 if there is an unexplained difference.",
	  offsetof(struct symbolize_opts, verify) },
	{ OPT_FLAG, 'q', "quiet", NULL, "Print errors only.",
	  offsetof(struct symbolize_opts, quiet) },
	OPT_ROW_MAX_MEMORY(offsetof(struct symbolize_opts, max_memory)),
	OPT_ROW_TRUST(offsetof(struct symbolize_opts, trust)),
	OPT_END
};

/* Counts how often each location was sampled itself. */
static uint64_t *count_self_samples(struct reader *r)
{
	const struct profile *p = reader_profile(r);
	uint64_t *self_samples = calloc(p->locs.n + 1, sizeof(*self_samples));
	struct sample_batch b;

	if (!self_samples)
		return NULL;
	reader_columns(r, COLUMN_STACK);
	reader_rewind(r);
	while (reader_next(r, &b)) {
		for (size_t i = 0; i < b.n; i++) {
			uint32_t loc = p->nodes.v[b.stack[i]].loc;

			if (loc < p->locs.n)
				self_samples[loc]++;
		}
	}
	reader_columns(r, COLUMN_ALL);
	return self_samples;
}

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

/* Parses the value of --debuginfod.  Sets *seconds to 0 without the option. */
static int debuginfod_time(const char *value, unsigned int *seconds,
			   struct error *err)
{
	double time = 120;
	bool bare;

	*seconds = 0;
	if (!value)
		return 0;
	if (*value && (!duration_parse(value, strlen(value), &time, &bare) ||
		       time < 1 || time > 1e6))
		return error_set(err, ERR_USAGE, "--debuginfod=%s: use a time from "
				 "one second on, such as 30s or 5m", value);
	*seconds = (unsigned int)time;
	return 0;
}

/* Requests debug files.  If the recording has no symbols yet, adds those of this
 * machine first, which shows what is missing. */
static int fetch(struct cmd_io *io, const struct symbolize_opts *o,
		 unsigned int seconds, const char *path, struct reader *r,
		 int *files, struct error *err)
{
	struct fetch_options f = { .seconds = seconds, .quiet = o->quiet };
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(&o->debug_dirs, &dirs, err);

	f.debug_dirs = buf_cstr(&dirs);
	if (!rc && !reader_profile(r)->symbolized)
		rc = profile_symbolize(reader_profile(r),
				       &(struct symbolize_options){
					       .debug_dirs = f.debug_dirs,
					       .kallsyms = o->kallsyms,
					       .progress = cmd_show_image,
					       .ctx = io },
				       err);
	if (!rc)
		rc = cmd_fetch_debug(io, r, path, &f, files, err);
	buf_fini(&dirs);
	return rc;
}

static int symbolize(struct cmd_io *io, const struct symbolize_opts *o,
		     const char *dirs, const int *files, const char *path,
		     struct reader *r, struct error *err)
{
	struct profile *p = reader_profile(r);
	uint64_t *self_samples = count_self_samples(r);
	struct source_access sources;
	struct symbolize_options f = { .debug_dirs = dirs,
				  .files = files,
				  .kallsyms = o->kallsyms,
				  .vmlinux = o->vmlinux,
				  .self_samples = self_samples,
				  .embed_source = o->embed_source ? &sources
								  : NULL,
				  .code_budget = symbolize_code_budget(
					  reader_sample_count(r)),
				  .progress = cmd_show_image, .ctx = io };
	size_t before = count_named(p);
	int rc;

	if (!self_samples)
		return error_nomem(err);
	rc = cmd_embed(o->embed_source, &sources, err);
	if (!rc)
		rc = profile_symbolize(p, &f, err);
	source_access_fini(&sources);
	free(self_samples);
	if (io->progress)
		io->progress(io, NULL);
	if (rc < 0)
		return rc;
	if (io->no_memory && io->no_memory())
		return error_set(err, ERR_NOMEM, "out of memory for symbols: "
				 "%s is unchanged", path);
	rc = writer_replace_symbols(path, o->output ? o->output : path, p, err);
	if (rc >= 0)
		cmd_report_damage(io, path, r);
	if (rc >= 0 && !o->quiet)
		fprintf(io->err, "tally: %zu of %zu addresses have names now "
			"(%zu before)\n", count_named(p), p->locs.n, before);
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

/* Requests files for so many seconds, if any, and symbolizes with them. */
static int update(struct cmd_io *io, const struct symbolize_opts *o,
		  unsigned int seconds, const char *path, struct reader *r,
		  struct error *err)
{
	size_t n = reader_profile(r)->images.n;
	int *files = malloc((n + 1) * sizeof(*files));
	struct buf dirs = { 0 };
	int rc = files ? 0 : error_nomem(err);

	for (size_t i = 0; files && i < n; i++)
		files[i] = -1;
	if (!rc && seconds)
		rc = fetch(io, o, seconds, path, r, files, err);
	/* after that, because the first file makes the folder of the cache */
	if (!rc)
		rc = cmd_debug_dirs(&o->debug_dirs, &dirs, err);
	if (!rc)
		rc = symbolize(io, o, buf_cstr(&dirs), files, path, r, err);
	for (size_t i = 0; files && i < n; i++)
		if (files[i] >= 0)
			close(files[i]);
	free(files);
	buf_fini(&dirs);
	return rc;
}

static int verify(struct cmd_io *io, const struct symbolize_opts *o,
		  const struct cmd_reading *how, const char *path,
		  struct reader *r, struct error *err)
{
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(&o->debug_dirs, &dirs, err);

	if (!rc)
		rc = cmd_add_symbols(io, how, path, r, err);
	if (!rc)
		rc = cmd_verify_profile(io, reader_profile(r), buf_cstr(&dirs),
					err);
	buf_fini(&dirs);
	return rc;
}

static int check_options(const struct symbolize_opts *o, unsigned int *seconds,
			 struct error *err)
{
	int rc = debuginfod_time(o->debuginfod, seconds, err);

	if (!rc && *seconds && o->verify)
		rc = error_set(err, ERR_USAGE, "--verify requests no files: run "
			       "tally symbolize --debuginfod before");
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
	struct cmd_reading how = { .debug_dirs = &o->debug_dirs,
				   .max_memory = o->max_memory, .trust = o->trust,
				   .as_it_is = true };
	unsigned int seconds;
	int rc = check_options(o, &seconds, err);

	if (rc >= 0)
		rc = cmd_open(io, &how, o->input, argc, argv, &path, &r, err);
	if (rc >= 0 && o->trust)
		reader_profile(r)->foreign = false;
	if (rc >= 0 && reader_profile(r)->foreign)
		rc = error_set(err, ERR_PERM, "%s belongs to another user, who "
			       "could choose which files are read for symbols: "
			       "--trust-recording allows it", path);
	if (rc >= 0)
		rc = check_vmlinux(o->vmlinux, reader_profile(r), err);
	if (rc >= 0)
		rc = o->verify ? verify(io, o, &how, path, r, err)
			       : update(io, o, seconds, path, r, err);
	reader_close(r);
	return rc;
}

const struct command cmd_symbolize = {
	.name = "symbolize",
	.summary = "update the symbols of a recording",
	.args = "[FILE]",
	.opts = symbolize_opt_table,
	.opts_size = sizeof(struct symbolize_opts),
	.run = run_symbolize,
};
