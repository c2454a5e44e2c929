// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the recordings that `tally diff` compares. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/diff.h"
#include "cmd/open.h"
#include "profile/merge.h"

/* Opens all recordings of a side, each with its symbols. */
static int open_files(struct cmd_io *io, const struct diff_opts *o,
		      const struct opt_strs *files, int side,
		      struct reader **r, struct error *err)
{
	struct cmd_reading how = { .debug_dirs = &o->debug_dirs,
				   .max_memory = o->max_memory,
				   .trust = o->trust };
	int rc = 0;

	for (size_t i = 0; !rc && i < files->n; i++) {
		rc = cmd_open_file(io, &how, files->v[i], &r[i], err);
		if (!rc)
			rc = cmd_select_labelled(files->v[i], &r[i],
						 &o->labels[side], err);
	}
	return rc < 0 ? rc : 0;
}

/* Makes the label of a side: "a.tally", "a.tally, b.tally", "a.tally and 2 more",
 * "a.tally (canary=yes)". */
static char *make_label(const struct opt_strs *files,
			const struct opt_strs *labels)
{
	struct buf b = { 0 };
	char *s;

	buf_str(&b, files->v[0]);
	if (files->n == 2)
		buf_printf(&b, ", %s", files->v[1]);
	else if (files->n > 2)
		buf_printf(&b, " and %zu more", files->n - 1);
	cmd_labelled_name("", labels, &b);
	s = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_fini(&b);
	return s;
}

static int open_side(struct cmd_io *io, const struct diff_opts *o, int side,
		     const char *label, struct reader **out, struct error *err)
{
	const struct opt_strs *files = &o->side[side];
	struct reader **r = calloc(files->n + 1, sizeof(*r));
	int rc = r && label ? open_files(io, o, files, side, r, err)
			    : error_nomem(err);

	if (!rc && files->n == 1) {
		*out = r[0];
		r[0] = NULL;
	} else if (!rc) {
		rc = recordings_merge(r, files->v, files->n, out, err);
	}
	for (size_t i = 0; r && i < files->n; i++)
		reader_close(r[i]);
	free(r);
	return rc;
}

int diff_open(struct cmd_io *io, const struct diff_opts *o,
	      struct diff_spec *spec, struct reader *r[DIFF_SIDES],
	      struct error *err)
{
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		spec->path[s] = make_label(&o->side[s], &o->labels[s]);
		rc = open_side(io, o, s, spec->path[s], &r[s], err);
	}
	return rc;
}

void diff_close(struct diff_spec *spec, struct reader *r[DIFF_SIDES])
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		reader_close(r[s]);
		free((char *)spec->path[s]);
		spec->path[s] = NULL;
	}
}
