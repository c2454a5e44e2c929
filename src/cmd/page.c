// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages and pictures: see page.h. */
#include "cmd/page.h"

#include "base/text.h"
#include "cmd/missing.h"
#include "cmd/open.h"
#include "views/annotate.h"

enum { ANNOTATED = 40, ANNOTATION_BYTES = 2 << 20 };

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

/* What lines and instructions of the dearest functions cost, so many of them
 * that it stays a small part of the page. */
static int annotate(struct reader *r, const struct report *rep,
		    struct buf *out, struct error *err)
{
	const struct annotate_style style = { .source = true, .code = true,
					      .full_names = true,
					      .context = 3 };
	struct annotate_spec spec = { .select = rep->spec.select,
				      .top = ANNOTATED, .limit = 0.1,
				      .code = true, .intel = true };
	int rc;

	do {
		struct annotation *a = NULL;

		buf_reset(out);
		rc = annotate_build(r, &spec, &a, err);
		if (!rc)
			annotate_json(a, &style, out);
		annotate_free(a);
		spec.top /= 2;
	} while (!rc && out->n > ANNOTATION_BYTES && spec.top);
	if (!rc && out->n > ANNOTATION_BYTES)
		buf_reset(out);
	return rc;
}

int cmd_page(struct cmd_io *io, const char *path, const char *name,
	     struct reader *r, struct report *rep, struct html_style *style,
	     struct error *err)
{
	struct missing_help help;
	struct buf out = { 0 }, annotation = { 0 };
	int rc;

	style->missing = missing_worth_telling(&rep->missing);
	rc = missing_help_find(&rep->missing, style->missing, false, &help,
			       err);
	if (rc < 0)
		return rc;
	rc = annotate(r, rep, &annotation, err);
	style->annotation = annotation.n ? &annotation : NULL;
	if (!rc)
		rc = html_write(r, rep, style, &out, err);
	if (!rc)
		rc = cmd_output_or_name(io, path, name, &out, err);
	missing_help_free(&help);
	style->annotation = NULL;
	buf_fini(&annotation);
	buf_fini(&out);
	return rc;
}
