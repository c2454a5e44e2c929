// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what `tally check` found, in the formats that its options name. */
#include <stdlib.h>

#include "base/text.h"
#include "check/show.h"
#include "cmd/check.h"
#include "cmd/output.h"
#include "cmd/source_options.h"

static int write_text(struct cmd_io *io, const struct check_opts *o,
		      const struct check *c, struct error *err)
{
	struct check_style style = { .columns = io->columns,
				     .full_names = o->full_names,
				     .top = o->top };
	struct buf out = { 0 };

	if (o->no_text)
		return 0;
	if (o->calibrate)
		check_calibration(c, &out);
	else
		check_text(c, &style, &out);
	return cmd_output_last(io, "-", &out, err);
}

int check_write_findings(struct cmd_io *io, const struct check_opts *o,
			 const struct findings *f, struct error *err)
{
	char *root = realpath(o->repo ? o->repo : ".", NULL);
	struct buf out = { 0 };
	int rc = 0;

	if (o->junit) {
		findings_junit(f, &out);
		rc = cmd_output_last(io, o->junit, &out, err);
	}
	if (!rc && o->sarif) {
		findings_sarif(f, root, &out);
		rc = cmd_output_last(io, o->sarif, &out, err);
	}
	if (!rc && o->code_quality) {
		findings_code_quality(f, root, &out);
		rc = cmd_output_last(io, o->code_quality, &out, err);
	}
	if (!rc && o->github) {
		findings_github(f, root, o->warn_only, &out);
		rc = cmd_output_last(io, "-", &out, err);
	}
	free(root);
	return rc;
}

int check_write(struct cmd_io *io, const struct check_opts *o, const struct check *c,
		struct error *err)
{
	const struct {
		const char *path;
		void (*write)(const struct check *c, struct buf *out);
	} files[] = { { o->json, check_json },
		      { o->markdown, check_markdown },
		      { o->openmetrics, check_openmetrics } };
	struct buf out = { 0 }, source_notes = { 0 };
	struct findings found = { .total_fails = false };
	int rc = write_text(io, o, c, err);

	for (size_t i = 0; !rc && i < COUNT(files); i++)
		if (files[i].path) {
			files[i].write(c, &out);
			rc = cmd_output_last(io, files[i].path, &out, err);
		}
	if (!rc && o->html) {
		rc = check_html(c, &source_notes, &out, err) ?:
		     cmd_output_last(io, o->html, &out, err);
		if (!rc)
			cmd_report_sources(io, &source_notes);
		buf_fini(&source_notes);
		buf_fini(&out);
	}
	if (!rc && check_findings(c, &found) < 0)
		rc = error_nomem(err);
	if (!rc)
		rc = check_write_findings(io, o, &found, err);
	findings_fini(&found);
	return rc;
}

int check_write_broken(struct cmd_io *io, const struct check_opts *o,
		       const char *why, struct error *err)
{
	struct findings found = { .total_fails = false };
	struct buf out = { 0 };
	int rc = 0;

	buf_str(&found.broken, why);
	buf_printf(&found.verdict, "broken: %s", why);
	if (!o->no_text) {
		buf_str(&out, "broken: ");
		text_safe(&out, why);
		buf_u8(&out, '\n');
		rc = cmd_output_last(io, "-", &out, err);
	}
	if (!rc && o->markdown) {
		buf_str(&out, MARKDOWN_MARK "### tally check: broken: ");
		describe_markdown(why, &out);
		buf_u8(&out, '\n');
		rc = cmd_output_last(io, o->markdown, &out, err);
	}
	if (!rc)
		rc = check_write_findings(io, o, &found, err);
	findings_fini(&found);
	return rc;
}
