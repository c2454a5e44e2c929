// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally merge`: sums the recordings of many machines into one. */
#include <inttypes.h>
#include <string.h>

#include "base/outfile.h"
#include "base/text.h"
#include "cmd/open.h"
#include "profile/merge.h"
#include "profile/replace.h"

struct merge_opts {
	const char *output;
	struct cmd_reading reading;
	bool force, quiet;
};

#define AT(field) offsetof(struct merge_opts, field)

static const struct opt merge_opt_table[] = {
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write the merged recording to FILE; an existing recording is "
	  "renamed to FILE.old." },
	OPT_ROW_FORCE(AT(force)),
	OPT_ROW_QUIET(AT(quiet)),
	READING_ROWS(struct merge_opts),
	OPT_END
};

static int add_file(struct cmd_io *io, const struct merge_opts *o,
		    struct merger *m, const char *path, uint64_t *bytes,
		    struct error *err)
{
	struct reader *r = NULL;
	struct cmd_reading how = o->reading;
	int rc;

	how.strings = merger_strings(m);
	rc = cmd_open_file(io, &how, path, &r, err);

	/* The result belongs to this user, so that nothing shows any more whose
	 * choice the names in it were. */
	if (!rc && reader_profile(r)->foreign && !o->reading.trust)
		rc = error_set(err, ERR_PERM, "%s belongs to another user, and "
			       "the files that it names would be opened later, "
			       "because the result is yours: 'tally merge "
			       "--trust-recording' merges it", path);
	if (!rc)
		rc = merger_add(m, r, path, err);
	if (!rc) {
		*bytes += reader_bytes(r);
		cmd_report_damage(io, path, r);
	}
	reader_close(r);
	return rc;
}

static int add_files(struct cmd_io *io, const struct merge_opts *o,
		     struct merger *m, int n, char **paths, uint64_t *bytes,
		     struct error *err)
{
	struct buf text = { 0 };
	int rc = 0;

	for (int i = 0; !rc && i < n; i++) {
		buf_reset(&text);
		buf_printf(&text, "merging %d/%d ", i + 1, n);
		text_safe(&text, paths[i]);
		cmd_show_step(io, buf_cstr(&text));
		rc = add_file(io, o, m, paths[i], bytes, err);
	}
	cmd_show_step(io, NULL);
	buf_fini(&text);
	return rc;
}

static void summary(struct cmd_io *io, const char *path,
		    const struct merger *m, int n, uint64_t bytes)
{
	struct buf apart = { 0 };

	cmd_notice(io, "%d recording%s (%.1f MB, %zu run%s) in %s", n,
		   n == 1 ? "" : "s", (double)bytes / 1e6, merger_runs(m),
		   plural(merger_runs(m), "s"), path);
	merger_apart(m, &apart);
	if (apart.n)
		cmd_notice(io, "events with different rates are kept apart: %s",
			   buf_cstr(&apart));
	buf_fini(&apart);
}

static int write_file(const struct merge_opts *o, struct merger *m,
		      struct error *err)
{
	struct outfile f;
	int rc = outfile_open(&f, o->output, true, err) ?:
		 merger_write(m, f.fd, o->output, err) ?:
		 recording_keep_old(&f, err) ?:
		 outfile_close(&f, err);

	outfile_drop(&f);
	return rc;
}

static int run_merge(struct cmd_io *io, void *opts, int argc, char **argv,
		     struct error *err)
{
	const struct merge_opts *o = opts;
	struct merger *m = NULL;
	uint64_t bytes = 0;
	int rc;

	if (!argc)
		return error_set(err, ERR_USAGE, "name the recordings to merge: "
				 "tally merge A.tally B.tally -o ALL.tally");
	if (!o->output)
		return error_set(err, ERR_USAGE, "name the output: -o FILE");
	rc = recording_may_replace(o->output, o->force, err);
	if (!rc && merger_open(&m) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = add_files(io, o, m, argc, argv, &bytes, err) ?:
		     write_file(o, m, err);
	if (!rc && !o->quiet)
		summary(io, o->output, m, argc, bytes);
	merger_close(m);
	return rc < 0 ? rc : 0;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "sum the recordings of many machines into one",
	.args = "FILE...",
	.opts = merge_opt_table,
	.opts_size = sizeof(struct merge_opts),
	.defaults = &(const struct merge_opts){ .reading.as_it_is = true },
	.run = run_merge,
};
