// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally flamegraph`: draws the call stacks of a recording as a picture. */
#include "base/text.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/page.h"
#include "cmd/source_options.h"
#include "views/html/html.h"
#include "views/svg/svg.h"

struct flamegraph_opts {
	struct cmd_reading reading;
	const char *input, *output;
	int format;		/* enum format */
	struct select_opts samples_of;
	bool inverted, icicle, no_inline;
	uint64_t width;
};

enum format { FORMAT_BY_NAME = -1, FORMAT_HTML, FORMAT_SVG };

#define AT(field) offsetof(struct flamegraph_opts, field)

static const struct opt flamegraph_opt_table[] = {
	OPT_TITLE("What to draw"),
	OPT_ROW_INPUT(AT(input)),
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE. Default: flamegraph.html or flamegraph.svg on a "
	  "terminal, otherwise standard output." },
	{ OPT_CHOICE, 0, "format", "html|svg", AT(format),
	  "A page with zoom, search, threads and time, or a picture without "
	  "scripts. Default: from the name of the output, otherwise html." },
	{ OPT_FLAG, 0, "inverted", NULL, AT(inverted),
	  "Draw from each function to its callers instead of from the root." },
	{ OPT_FLAG, 0, "icicle", NULL, AT(icicle), "Put the root on top." },
	OPT_ROWS_INLINE(AT(no_inline),
		"Show inlined functions as frames (the default)."),
	{ OPT_UINT, 'w', "width", "PIXELS", AT(width),
	  "Width of an SVG. Default: 1200." },

	SELECT_OPTION_ROWS(struct flamegraph_opts,
		"Only these events. An SVG shows the first."),
	READING_DIRS_ROW(struct flamegraph_opts, IF_NO_SYMBOLS),
	READING_ROWS(struct flamegraph_opts),
	OPT_END
};

static int build(const struct flamegraph_opts *o, struct reader *r,
		 struct report **rep, struct error *err)
{
	struct report_spec spec = {
		.select = cmd_select(&o->samples_of),
		.no_inline = o->no_inline,
	};
	int rc = key_list_parse("image,symbol", &spec.keys, err);

	return rc < 0 ? rc : report_build(r, &spec, rep, err);
}

/* `svg`: how to draw a picture, or NULL for a page. */
static int draw(struct cmd_io *io, const struct flamegraph_opts *o,
		const struct svg_style *svg, struct reader *r, struct report *rep,
		struct error *err)
{
	struct annotate_spec like = { .intel = true };
	struct html_style style = { .first = HTML_FLAME,
				    .inverted = o->inverted,
				    .icicle = o->icicle };
	struct source_opts nowhere = { .repo = NULL };
	struct buf out = { 0 };
	int rc;

	if (!svg) {
		rc = cmd_sources(io, &nowhere, NULL, SOURCES_FOR_OTHERS, &like.where,
				 err) ?:
		     cmd_page(io, o->output, "flamegraph.html", r, rep, &like, &style,
			      err);
		cmd_sources_free(&like.where);
		return rc;
	}
	rc = svg_write(rep, svg, &out, err) ?:
	     cmd_output_or_name(io, o->output, "flamegraph.svg", &out, err);
	buf_fini(&out);
	return rc;
}

static int run_flamegraph(struct cmd_io *io, void *opts, int argc, char **argv,
			  struct error *err)
{
	struct flamegraph_opts *o = opts;
	struct svg_style style = { .inverted = o->inverted, .icicle = o->icicle };
	struct report *rep = NULL;
	struct reader *r = NULL;
	const char *path;
	bool svg = o->format == FORMAT_BY_NAME
		   ? o->output && text_ends_with(o->output, ".svg")
		   : o->format == FORMAT_SVG;
	int rc = cmd_picture_width(o->width, &style.width, err);

	o->reading.no_code = svg;
	o->reading.detail = !svg ? SYM_LINES
			    : o->no_inline ? SYM_SYMBOLS : SYM_INLINED;
	if (!rc)
		rc = cmd_open(io, &o->reading, o->input, argc, argv, &path, &r, err) ?:
		     build(o, r, &rep, err);
	if (!rc)
		cmd_report_damage(io, path, r);
	if (!rc)
		rc = draw(io, o, svg ? &style : NULL, r, rep, err);
	report_free(rep);
	reader_close(r);
	return rc < 0 ? rc : 0;
}

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.summary = "draw the call stacks of a recording",
	.args = "[FILE]",
	.opts = flamegraph_opt_table,
	.opts_size = sizeof(struct flamegraph_opts),
	.defaults = &(const struct flamegraph_opts){
		.width = UINT64_MAX, .format = FORMAT_BY_NAME,
	},
	.run = run_flamegraph,
};
