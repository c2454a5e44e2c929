// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes pages and pictures: see page.h. */
#include "cmd/page.h"

#include "base/text.h"
#include "cmd/missing.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/source_options.h"

enum { ANNOTATED = 400 };	/* functions whose code is read */

int cmd_output_or_name(struct cmd_io *io, const char *path, const char *name,
		       const struct buf *text, struct error *err)
{
	struct buf size = { 0 };
	int rc;

	if (!path && io->out_tty)
		path = name;
	rc = cmd_output(io, path, text, err);
	if (rc < 0 || path != name)
		return rc;
	text_count(&size, (text->n + 512) / 1024);
	fprintf(io->err, "tally: wrote %s (%s KB)\n", path, buf_cstr(&size));
	buf_fini(&size);
	return rc;
}

int cmd_picture_width(uint64_t asked, unsigned int *out, struct error *err)
{
	enum { USUAL = 1200, LEAST = 300, MOST = 20000 };

	*out = asked == UINT64_MAX ? USUAL : (unsigned int)asked;
	if (asked == UINT64_MAX || (asked >= LEAST && asked <= MOST))
		return 0;
	return error_set(err, ERR_USAGE, "--width %llu: must be %d to %d pixels",
			 (unsigned long long)asked, LEAST, MOST);
}

/* Annotates lines and instructions of the most expensive functions for a page.
 * `like` supplies syntax and source maps, or is NULL. */
static int cmd_page_lines(struct reader *r, const struct report *rep,
			  const struct annotate_spec *like, struct annotation **out,
			  struct error *err)
{
	struct annotate_spec spec = { .intel = true };

	if (like)
		spec = *like;
	spec.select = rep->spec.select;
	spec.what = NULL;
	spec.top = ANNOTATED;
	spec.limit = 0;
	spec.code = spec.by_symbol = true;
	return annotate_build(r, &spec, out, err);
}

int cmd_page(struct cmd_io *io, const char *path, const char *name,
	     struct reader *r, struct report *rep,
	     const struct annotate_spec *like, struct html_style *style,
	     struct error *err)
{
	struct html_input in = { .r = r, .rep = rep };
	struct missing_help help;
	struct buf out = { 0 }, source_notes = { 0 };
	int rc;

	style->source_notes = &source_notes;
	style->missing = missing_major(&rep->missing);
	rc = missing_help_find(&rep->missing, style->missing, false, &help,
			       err);
	if (rc < 0)
		return rc;
	rc = cmd_page_lines(r, rep, like, &in.lines, err) ?:
	     html_write(&in, 1, style, &out, err) ?:
	     cmd_output_or_name(io, path, name, &out, err);
	if (!rc)
		cmd_report_sources(io, &source_notes);
	buf_fini(&source_notes);
	missing_help_free(&help);
	annotate_free(in.lines);
	buf_fini(&out);
	return rc;
}
