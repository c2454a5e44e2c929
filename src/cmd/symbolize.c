// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally symbolize`: adds symbols to a recording, or replaces them when debug
 * files have been installed later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/debug_dirs.h"
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
	const char *embed_source;
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

static int symbolize(struct cmd_io *io, const struct symbolize_opts *o,
		     const char *dirs, const char *path, struct reader *r,
		     struct error *err)
{
	struct profile *p = reader_profile(r);
	uint64_t *self_samples = count_self_samples(r);
	struct source_access sources;
	struct symbolize_options f = { .debug_dirs = dirs,
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

static int run_symbolize(struct cmd_io *io, void *opts, int argc, char **argv,
			 struct error *err)
{
	const struct symbolize_opts *o = opts;
	struct reader *r = NULL;
	const char *path;
	struct buf dirs = { 0 };
	struct cmd_reading how = { .debug_dirs = &o->debug_dirs,
				   .max_memory = o->max_memory, .trust = o->trust,
				   .as_it_is = true };
	int rc = cmd_debug_dirs(&o->debug_dirs, &dirs, err);

	if (rc >= 0)
		rc = check_named("--kallsyms", o->kallsyms, err);
	if (rc >= 0)
		rc = check_named("--vmlinux", o->vmlinux, err);
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
	if (rc >= 0 && o->verify)
		rc = cmd_add_symbols(io, &how, path, r, err);
	if (rc >= 0)
		rc = o->verify ? cmd_verify_profile(io, reader_profile(r),
						    buf_cstr(&dirs), err)
			       : symbolize(io, o, buf_cstr(&dirs), path, r,
					   err);
	buf_fini(&dirs);
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
