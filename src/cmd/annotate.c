// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally annotate`: shows the cost of lines and instructions. */
#include "views/annotate/annotate.h"

#include <stdlib.h>

#include "base/text.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/page.h"
#include "cmd/source_options.h"
#include "import/import.h"
#include "profile/symbolize_profile.h"

struct annotate_opts {
	struct cmd_reading reading;
	uint64_t max_output;
	const char *input, *color, *output;
	int format, att;	/* enum format; 1: AT&T's syntax */
	struct select_opts samples_of;
	struct source_opts source_at;
	struct listing_opts listing;
	bool samples, full_names, no_header, no_pager, html;
	double limit;
	uint64_t top, width;
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML };

#define AT(field) offsetof(struct annotate_opts, field)

static const struct opt annotate_opt_table[] = {
	OPT_TITLE("What to show"),
	OPT_ROW_INPUT(AT(input)),
	LISTING_OPTION_ROWS(struct annotate_opts,
		"Show instructions and the jumps between them.",
		"Show source lines, each followed by its instructions."),
	{ OPT_UINT, 0, "top", "N", AT(top),
	  "Show at most N functions; 0: all. Default: 10, or all named ones." },
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT", AT(limit),
	  "If none is named, hide functions below this share. Default: 1." },
	SOURCE_OPTION_ROWS(struct annotate_opts),

	SELECT_OPTION_ROWS(struct annotate_opts, "Only these events."),

	OPT_TITLE("How to show it"),
	{ OPT_CHOICE, 0, "format", "text|json|html", AT(format),
	  "Output format; html is one self-contained page, opened at what was "
	  "named. Default: text." },
	{ OPT_FLAG, 0, "html", NULL, AT(html), "The same as --format=html." },
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE. Default for html on a terminal: annotate.html." },
	OPT_ROW_SYNTAX(AT(att)),
	OPT_ROW_SAMPLES(AT(samples)),
	OPT_ROW_FULL_NAMES(AT(full_names)),
	OPT_ROW_WIDTH(AT(width)),
	OPT_ROW_NO_HEADER(AT(no_header)),
	OPT_ROW_COLOR(AT(color)),
	OPT_ROW_NO_PAGER(AT(no_pager)),
	READING_DIRS_ROW(struct annotate_opts, IF_NO_SYMBOLS),
	OPT_ROW_MAX_OUTPUT(AT(max_output)),
	READING_ROWS(struct annotate_opts),
	OPT_END
};

static int make_style(const struct cmd_io *io, const struct annotate_opts *o,
		      struct annotate_style *s, struct error *err)
{
	bool color;
	int rc = cmd_color(o->color, io->color && !o->output, &color, err);

	*s = (struct annotate_style){
		.columns = cmd_columns(io, o->output, o->width),
		.color = color,
		.full_names = o->full_names, .no_header = o->no_header,
		.samples = o->samples,
	};
	cmd_listing_style(&o->listing, s);
	return rc;
}

/* Also accepts a file that is too damaged to be recognized as a recording. */
static bool is_recording(const char *word)
{
	return reader_is_recording(word) || import_is_perf_data(word) ||
	       import_is_foreign(word) ||
	       text_ends_with(word, ".tally");
}

/* Interprets the words.  A single word is the recording or what to show in it.  Of
 * two words, the first is the recording. */
static int take_words(const struct annotate_opts *o, int argc, char **argv,
		      const char **input, const char **what, struct error *err)
{
	*input = o->input;
	*what = NULL;
	if (argc > 2 || (argc == 2 && o->input))
		return error_set(err, ERR_USAGE,
				 "unexpected argument '%s': name only one "
				 "function, source file or image",
				 argv[o->input ? 1 : 2]);
	if (argc == 2) {
		*input = argv[0];
		*what = argv[1];
	} else if (argc == 1 && !o->input && is_recording(argv[0])) {
		*input = argv[0];
	} else if (argc == 1) {
		*what = argv[0];
	}
	return 0;
}

static int show(struct cmd_io *io, const struct annotate_opts *o,
		const struct annotate_style *style, struct annotation *a,
		struct error *err)
{
	struct buf out = { .most = o->max_output };
	int rc;

	if (o->format == FORMAT_JSON)
		annotate_json(a, style, &out);
	else
		annotate_text(a, style, &out);
	rc = cmd_output_paged(io, o->output, o->no_pager, &out, err);
	if (!rc && o->output)
		cmd_summarize_sources(io, &(struct sources *){ &a->sources }, 1);
	buf_fini(&out);
	return rc;
}

/* Finds the selected functions whose code the recording lacks.  Returns their
 * number. */
static size_t find_cold(const struct annotation *a, uint32_t *symbols)
{
	uint8_t *seen = calloc(a->p->symbols.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; seen && i < a->codes.n; i++) {
		const struct annot_code *c = &a->codes.v[i];

		if (c->unknown && !seen[c->symbol]++)
			symbols[n++] = c->symbol;
	}
	free(seen);
	return n;
}

/* Reads the code of functions without samples from their files, if that adds code. */
static int take_cold(struct cmd_io *io, const struct annotate_opts *o,
		     struct annotation *a, struct error *err)
{
	struct symbolize_options f = { .progress = cmd_show_image, .ctx = io };
	uint32_t *symbols = malloc((a->codes.n + 1) * sizeof(*symbols));
	size_t codes = a->p->codes.n, n = symbols ? find_cold(a, symbols) : 0;
	struct buf dirs = { 0 };
	int rc = symbols ? 0 : error_nomem(err);

	if (n)
		rc = cmd_debug_dirs(&o->reading.debug_dirs, &dirs, err);
	f.for_others = a->spec.where.access.use == SOURCES_FOR_OTHERS;
	if (n && !rc) {
		f.debug_dirs = buf_cstr(&dirs);
		rc = profile_add_cold_code(a->p, symbols, n, &f, err);
		cmd_show_step(io, NULL);
	}
	if (!rc && a->p->codes.n > codes)
		rc = annotate_again(a, err);
	buf_fini(&dirs);
	free(symbols);
	return rc;
}

/* Writes the page of the whole recording, opened at the selected function. */
static int show_page(struct cmd_io *io, const struct annotate_opts *o,
		     struct reader *r, const struct annotation *a,
		     struct error *err)
{
	struct html_style style = { .first = HTML_LINES,
				    .named = a->spec.what ? a : NULL };
	struct report_spec spec = { .select = a->spec.select };
	struct report *rep = NULL;
	int rc = key_list_parse("image,symbol", &spec.keys, err) ?:
		 report_build(r, &spec, &rep, err) ?:
		 cmd_page(io, o->output, "annotate.html", r, rep, &a->spec, &style,
			  err);

	report_free(rep);
	return rc;
}

static int run_annotate(struct cmd_io *io, void *opts, int argc, char **argv,
			struct error *err)
{
	struct annotate_opts *o = opts;
	struct annotate_style style;
	struct annotation *a = NULL;
	struct reader *r = NULL;
	struct annotate_spec spec = {
		.select = cmd_select(&o->samples_of),
		.limit = o->limit,
		.intel = !o->att,
	};
	const char *input = NULL, *path;
	int rc;

	if (o->html)
		o->format = FORMAT_HTML;
	if (o->format == FORMAT_HTML)
		o->listing.both = true;
	rc = make_style(io, o, &style, err);
	if (!rc)
		rc = take_words(o, argc, argv, &input, &spec.what, err);
	if (!rc)
		rc = cmd_sources(io, &o->source_at, NULL,
				 o->format != FORMAT_TEXT
				 ? SOURCES_FOR_OTHERS
				 : cmd_source_use(io, o->output), &spec.where,
				 err);
	spec.code = style.code;
	spec.top = o->top != UINT64_MAX ? o->top : spec.what ? 0 : 10;
	if (!rc)
		rc = cmd_open(io, &o->reading, input, 0, NULL, &path, &r, err);
	if (!rc) {
		o->max_output = cmd_max_output(o->max_output, reader_bytes(r),
					       CMD_TEXT_A_BYTE);
		rc = annotate_build(r, &spec, &a, err);
	}
	if (!rc && style.code && !style.automatic &&
	    (spec.what || !reader_profile(r)->codes.n))
		rc = take_cold(io, o, a, err);
	if (!rc && o->format == FORMAT_HTML) {
		cmd_report_damage(io, path, r);
		rc = show_page(io, o, r, a, err);
	} else if (!rc) {
		rc = show(io, o, &style, a, err);
	}
	annotate_free(a);
	reader_close(r);
	cmd_sources_free(&spec.where);
	return rc < 0 ? rc : 0;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "show the cost of source lines and instructions",
	.args = "[FILE] [SYMBOL|SOURCE[:LINE]|IMAGE]",
	.opts = annotate_opt_table,
	.opts_size = sizeof(struct annotate_opts),
	.defaults = &(const struct annotate_opts){
		.limit = 1, .listing.context = 3, .width = UINT64_MAX, .top = UINT64_MAX,
	},
	.run = run_annotate,
};
