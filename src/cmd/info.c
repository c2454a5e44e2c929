// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally info`: describes the content of a recording. */
#include "views/info.h"

#include <sys/stat.h>

#include "cmd/missing.h"
#include "cmd/open.h"
#include "cmd/output.h"

struct info_opts {
	struct cmd_reading reading;
	const char *input;
	int json;
	bool no_pager;
};

static const struct opt info_opt_table[] = {
	OPT_ROW_INPUT(offsetof(struct info_opts, input)),
	OPT_ROW_JSON(offsetof(struct info_opts, json)),
	OPT_ROW_NO_PAGER(offsetof(struct info_opts, no_pager)),
	READING_ROWS(struct info_opts),
	OPT_END
};

static int show(struct cmd_io *io, const struct info_opts *o,
		struct info *in, struct error *err)
{
	struct buf out = { 0 };
	struct missing_help help;
	int rc = missing_help_find(&in->missing, in->missing.rows.n, true,
				   &help, err);

	if (rc < 0)
		return rc;
	if (o->json)
		info_json(in, &out);
	else
		info_text(in, io->columns, &out);
	rc = cmd_output_paged(io, NULL, o->no_pager, &out, err);
	missing_help_free(&help);
	buf_fini(&out);
	return rc;
}

static int run_info(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	const struct info_opts *o = opts;
	struct reader *r = NULL;
	struct stat st = { 0 };
	const char *path;
	struct info in;
	int rc;

	rc = cmd_open(io, &o->reading, o->input, argc, argv, &path, &r, err);
	if (rc < 0)
		return rc;
	cmd_take_trust(io, path, r, o->reading.trust);
	if (stat(path, &st) < 0)
		st.st_size = 0;
	rc = info_build(&in, r, path, (uint64_t)st.st_size, err);
	if (!rc) {
		rc = show(io, o, &in, err);
		info_fini(&in);
	}
	reader_close(r);
	return rc;
}

const struct command cmd_info = {
	.name = "info",
	.summary = "show the contents of a recording: runs, events, images, "
			"counts",
	.args = "[FILE]",
	.opts = info_opt_table,
	.opts_size = sizeof(struct info_opts),
	.defaults = &(const struct info_opts){ .reading.as_it_is = true },
	.run = run_info,
};
