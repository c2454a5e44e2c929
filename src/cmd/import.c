// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally import`: converts a recording of perf to one of tally. */
#include "config.h"

#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/open.h"
#include "profile/replace.h"

struct import_opts {
	const char *output, *vmlinux;
	struct cmd_reading reading;
	bool force, no_symbols, quiet;
};

static const struct opt import_opt_table[] = {
	{ OPT_STR, 'o', "output", "FILE", offsetof(struct import_opts,output),
	  "Write to FILE; an existing recording is renamed to FILE.old. "
	  "Default: profile.tally." },
	OPT_ROW_FORCE(offsetof(struct import_opts, force)),
	{ OPT_STR, 'k', "vmlinux", "FILE", offsetof(struct import_opts,vmlinux),
	  "ELF file of the kernel with debug information. Default: found by "
	  "build ID." },
	{ OPT_FLAG, 0, "no-symbols", NULL,
	  offsetof(struct import_opts,no_symbols),
	  "Do not symbolize; the first reader or \"tally symbolize\" does "
	  "it." },
	READING_DIRS_ROW(struct import_opts, ""),
	READING_ROWS(struct import_opts),
	OPT_ROW_QUIET(offsetof(struct import_opts, quiet)),
	OPT_END
};

static void report_result(struct cmd_io *io, const char *path,
			  const struct import_result *r)
{
	struct buf name = { 0 };

	text_safe(&name, path);
	fprintf(io->err, "tally: %s: %llu samples",
		buf_cstr(&name), (unsigned long long)r->samples);
	if (r->lost)
		fprintf(io->err, ", %llu lost", (unsigned long long)r->lost);
	if (r->branches)
		fprintf(io->err, "; branch stacks of %llu samples skipped",
			(unsigned long long)r->branches);
	if (r->data_sources)
		fprintf(io->err, "; data sources of %llu samples skipped",
			(unsigned long long)r->data_sources);
	if (r->skipped)
		fprintf(io->err, "; %llu records of other kinds skipped",
			(unsigned long long)r->skipped);
	if (r->cut_at)
		fprintf(io->err, "; the file is truncated at offset %llu; all "
			"data before it was imported",
			(unsigned long long)r->cut_at);
	fputc('\n', io->err);
	buf_fini(&name);
}

static int import_to(struct cmd_io *io, const struct import_opts *o,
		     const char *dirs, const char *path, struct error *err)
{
	const char *output = o->output ? o->output : "profile.tally";
	struct import_options io_opts = {
		.debug_dirs = dirs, .vmlinux = o->vmlinux,
		.symbols = !o->no_symbols, .trust = o->reading.trust,
		.max_memory = o->reading.max_memory,
		.version = PACKAGE_VERSION, .progress = cmd_show_step,
		.ctx = io,
	};
	struct import_result result;
	struct outfile f;
	int rc = recording_may_replace(output, o->force, err) ?:
		 outfile_open(&f, output, true, err);

	if (rc < 0)
		return rc;
	rc = (import_is_foreign(path) ? import_foreign : import_perf_data)
		(path, f.fd, output, &io_opts, &result, err);
	if (!rc)
		rc = recording_keep_old(&f, err) ?: outfile_close(&f, err);
	outfile_drop(&f);
	if (!rc && !o->quiet)
		report_result(io, path, &result);
	return rc;
}

/* Opens an unnamed file in the folder of the recording to be written, or in memory if its
 * file system has none. */
static int open_spool(const char *output)
{
	char *copy = strdup(output);
	int fd = copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	free(copy);
	return fd >= 0 ? fd : memfd_create("tally-stdin", MFD_CLOEXEC);
}

/* Copies standard input to a file, because files are mapped, and makes that standard
 * input. */
static int keep_stdin(const char *output, struct error *err)
{
	static const char name[] = "standard input";
	int fd = open_spool(output), rc = 0;
	char block[1 << 16];
	ssize_t n = 1;

	if (fd < 0)
		return error_errno(err, errno, "no file for %s", name);
	while (!rc && n) {
		n = read(STDIN_FILENO, block, sizeof(block));
		if (n > 0)
			rc = io_write_all(fd, name, block, (size_t)n, err);
		else if (n < 0 && errno != EINTR)
			rc = error_errno(err, errno, "%s: cannot read", name);
	}
	if (!rc && dup2(fd, STDIN_FILENO) < 0)
		rc = error_errno(err, errno, "%s", name);
	close(fd);
	return rc;
}

static int run_import(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	const struct import_opts *o = opts;
	const char *path = argc ? argv[0] : "perf.data";
	struct buf dirs = { 0 };
	int rc = 0;

	if (argc > 1)
		return error_set(err, ERR_USAGE, "unexpected argument '%s': "
				 "name only one file", argv[1]);
	if (argc && !strcmp(argv[0], "-")) {
		path = "/dev/stdin";
		rc = keep_stdin(o->output ? o->output : ".", err);
	}
	if (!rc)
		rc = cmd_debug_dirs(&o->reading.debug_dirs, &dirs, err) ?:
		     import_to(io, o, buf_cstr(&dirs), path, err);
	buf_fini(&dirs);
	return rc;
}

const struct command cmd_import = {
	.name = "import",
	.summary = "convert recordings of other profilers",
	.args = "[FILE]",
	.opts = import_opt_table,
	.opts_size = sizeof(struct import_opts),
	.run = run_import,
};
