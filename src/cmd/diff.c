// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally diff`: shows what changed between two recordings. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/page.h"
#include "cmd/source_options.h"
#include "profile/merge.h"
#include "views/diff/diff.h"
#include "views/diff/diff_annotate.h"
#include "views/html/html.h"
#include "views/svg/svg.h"

struct diff_opts {
	const char *by, *color, *output;
	int order, norm, median;	/* enum diff_order; enum diff_norm */
	int format, att;	/* enum diff_format; 1: AT&T's syntax */
	struct side_opts sides;
	struct select_opts samples_of;
	struct source_opts source_at;
	struct cmd_reading reading;
	struct opt_strs images, symbols, old_maps;
	struct listing_opts listing;
	bool annotate, children, no_inline, samples, full_names, no_header, no_pager;
	bool svg, html, icicle;
	double limit;
	uint64_t top, width, max_output;
};

enum diff_format { FORMAT_BY_NAME = -1, FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV,
		   FORMAT_SVG, FORMAT_HTML };

enum { AUTO = -1, MIN_ROWS = 20 };

#define AT(field) offsetof(struct diff_opts, field)

static const struct opt diff_opt_table[] = {
	OPT_TITLE("What to compare"),
	SIDE_OPTION_ROWS(struct diff_opts, ", as for --label. A single "
			 "recording is then both sides."),
	{ OPT_STR, 's', "by", "KEY[,KEY...]", AT(by),
	  "Compare by these keys and show them in this order: image (dso), "
	  "symbol (sym, function), file (srcfile), line (srcline), comm "
	  "(thread), cpu. Default: image,symbol." },
	{ OPT_STR, 0, "sort", "KEY[,KEY...]", AT(by), "The same as --by." },
	{ OPT_CHOICE, 0, "normalise", "auto|run|time|total", AT(norm),
	  "Compare the cost per run, the cost per second of recording, or "
	  "shares of the total. Default: auto, which is run if both sides are "
	  "complete runs of a command, otherwise time; total if events or "
	  "processors differ." },
	{ OPT_CHOICE, 0, "average", "mean|median", AT(median),
	  "Compare the mean run, or the median run, which is robust against "
	  "single bad runs. Lines, instructions and flame graphs show the "
	  "mean. Default: mean." },
	{ OPT_FLAG, 0, "children", NULL, AT(children),
	  "Compare and sort by total, which includes called functions, instead "
	  "of self." },
	OPT_ROWS_INLINE(AT(no_inline),
		"Show inlined functions as functions (the default)."),
	{ OPT_CHOICE, 0, "order", "change|growth|ratio|old|new|name", AT(order),
	  "Sort by largest change, largest increase, largest relative change, "
	  "cost on one side, or name. Default: change." },
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT", AT(limit),
	  "Hide rows that changed by less than this share of the more "
	  "expensive side's cost. Default: 0.1 for text (at least 20 rows), 0 "
	  "for json, csv and with --symbol." },
	{ OPT_UINT, 0, "top", "N", AT(top), "Show at most N rows; 0: all." },

	OPT_TITLE("Source and instructions side by side (name a function, source "
		  "file or image last)"),
	{ OPT_FLAG, 'a', "annotate", NULL, AT(annotate),
	  "If no function is named, show those with the largest significant "
	  "changes." },
	LISTING_OPTION_ROWS(struct diff_opts, "Show instructions.",
			    "Show source lines, then instructions."),
	SOURCE_OPTION_ROWS(struct diff_opts),
	{ OPT_STRS, 0, "old-source-map", "FROM=TO", AT(old_maps),
	  "Like --source-map for the old side only; takes precedence." },
	OPT_ROW_SYNTAX(AT(att)),

	SELECT_OPTION_ROWS(struct diff_opts, "Only these events."),

	OPT_TITLE("Which functions (costs remain those of all samples)"),
	SELECT_IMAGE_ROW(AT(images)),
	SELECT_SYMBOL_ROW(AT(symbols)),

	OPT_TITLE("How to show it"),
	{ OPT_CHOICE, 0, "format", "text|json|csv|svg|html", AT(format),
	  "Output format; svg is a flame graph of both sides (red grew, blue "
	  "shrank), html a page with table, flame graph, source and "
	  "instructions of both sides. Default: from the name of the output, "
	  "otherwise text." },
	{ OPT_FLAG, 0, "svg", NULL, AT(svg), "The same as --format=svg." },
	{ OPT_FLAG, 0, "html", NULL, AT(html), "The same as --format=html." },
	{ OPT_FLAG, 0, "icicle", NULL, AT(icicle),
	  "Put the root of an SVG on top." },
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE. Default for svg and html on a terminal: diff.svg, "
	  "diff.html." },
	OPT_ROW_SAMPLES(AT(samples)),
	OPT_ROW_FULL_NAMES(AT(full_names)),
	{ OPT_UINT, 'w', "width", "COLUMNS", AT(width),
	  "Cut lines at this width; for an SVG, its width in pixels. Default: "
	  "the width of the terminal, no limit for files and pipes; 1200 for "
	  "an SVG." },
	{ OPT_FLAG, 0, "no-header", NULL, AT(no_header),
	  "Omit the lines about what is compared." },
	OPT_ROW_COLOR(AT(color)),
	OPT_ROW_NO_PAGER(AT(no_pager)),
	READING_DIRS_ROW(struct diff_opts, "If a recording contains no symbols: "),
	OPT_ROW_MAX_OUTPUT(AT(max_output)),
	READING_ROWS(struct diff_opts),
	OPT_END
};

static const struct diff_opts usual = {
	.by = "image,symbol", .format = FORMAT_BY_NAME, .listing.context = 3,
	.limit = AUTO, .width = UINT64_MAX,
};

static enum diff_format choose_format(const struct diff_opts *o)
{
	const char *name = o->output ? o->output : "";

	if (o->svg || o->html)
		return o->svg ? FORMAT_SVG : FORMAT_HTML;
	if (o->format != FORMAT_BY_NAME)
		return (enum diff_format)o->format;
	return text_ends_with(name, ".html") ? FORMAT_HTML
	     : text_ends_with(name, ".svg") ? FORMAT_SVG : FORMAT_TEXT;
}

/* Fills in the spec except for the recordings.  Call diff_spec_fini even after an
 * error. */
static int diff_spec_init(struct cmd_io *io, const struct diff_opts *o,
			  enum diff_format format, struct diff_spec *spec,
			  struct error *err)
{
	enum source_use use = format == FORMAT_TEXT
			      ? cmd_source_use(io, o->output)
			      : SOURCES_FOR_OTHERS;
	int rc;

	*spec = (struct diff_spec){
		.select = cmd_select(&o->samples_of),
		.no_inline = o->no_inline, .by_total = o->children,
		.limit = o->limit, .top = o->top,
		.norm = (enum diff_norm)o->norm,
		.order = (enum diff_order)o->order, .median = o->median,
	};
	spec->select.images = cmd_names(&o->images);
	spec->select.symbols = cmd_names(&o->symbols);
	if (o->limit == AUTO) {
		spec->limit = format == FORMAT_TEXT && !o->symbols.n ? 0.1 : 0;
		spec->at_least = MIN_ROWS;
	}
	rc = key_list_parse(o->by, &spec->keys, err);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = cmd_sources(io, &o->source_at,
				 s == DIFF_OLD ? &o->old_maps : NULL, use,
				 &spec->where[s], err);
	/* both sides share one */
	free(spec->where[DIFF_NEW].server);
	spec->where[DIFF_NEW].server = spec->where[DIFF_OLD].server;
	return rc;
}

static void diff_spec_fini(struct diff_spec *spec)
{
	spec->where[DIFF_NEW].server = NULL;	/* owned by the old side */
	for (int s = 0; s < DIFF_SIDES; s++)
		cmd_sources_free(&spec->where[s]);
}

struct opening {
	VEC(struct reader *) readers;
};

static int add_reader(void *ctx, const char *name, struct reader *r,
		      struct error *err)
{
	struct opening *x = ctx;

	(void)name;
	if (vec_push(&x->readers, r) == 0)
		return 0;
	reader_close(r);
	return error_nomem(err);
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
		     struct reader **out, struct error *err)
{
	const struct opt_strs *files = &o->sides.files[side];
	struct opening x = { { 0 } };
	int rc = cmd_open_files(io, &o->reading, files, &o->sides.labels[side],
				add_reader, &x, err);

	if (!rc && files->n == 1) {
		*out = x.readers.v[--x.readers.n];
	} else if (!rc) {
		rc = recordings_merge(x.readers.v, files->v, files->n, out, err);
	}
	for (size_t i = 0; i < x.readers.n; i++)
		reader_close(x.readers.v[i]);
	vec_fini(&x.readers);
	return rc;
}

/* Opens the recordings of both sides and merges those of each side. */
static int diff_open(struct cmd_io *io, const struct diff_opts *o,
		     struct diff_spec *spec, struct reader *r[DIFF_SIDES],
		     struct error *err)
{
	int rc = 0;

	for (int s = 0; !rc && s < DIFF_SIDES; s++) {
		spec->path[s] = make_label(&o->sides.files[s],
					   &o->sides.labels[s]);
		rc = spec->path[s] ? open_side(io, o, s, &r[s], err)
				   : error_nomem(err);
	}
	return rc;
}

static void diff_close(struct diff_spec *spec, struct reader *r[DIFF_SIDES])
{
	for (int s = 0; s < DIFF_SIDES; s++) {
		reader_close(r[s]);
		free((char *)spec->path[s]);
		spec->path[s] = NULL;
	}
}

enum { ANNOTATED = 10 };	/* functions to annotate if none is named */

static int make_style(const struct cmd_io *io, const struct diff_opts *o,
		      struct diff_style *s, struct error *err)
{
	bool color;
	int rc = cmd_color(o->color, io->color && !o->output, &color, err);

	*s = (struct diff_style){
		.columns = cmd_columns(io, o->output, o->width), .color = color,
		.full_names = o->full_names, .no_header = o->no_header,
		.samples = o->samples,
	};
	return rc;
}

static int show(struct cmd_io *io, const struct diff_opts *o,
		const struct diff *d, enum diff_format format, struct error *err)
{
	struct diff_style style;
	struct buf out = { .most = o->max_output };
	int rc = make_style(io, o, &style, err);

	if (rc < 0)
		return rc;
	if (format == FORMAT_JSON)
		diff_json(d, &out);
	else if (format == FORMAT_CSV)
		diff_csv(d, &out);
	else
		diff_text(d, &style, &out);
	rc = cmd_output_paged(io, o->output, o->no_pager, &out, err);
	buf_fini(&out);
	return rc;
}

static int draw(struct cmd_io *io, const struct diff_opts *o, struct diff *d,
		struct error *err)
{
	struct diff_svg_style style = { .icicle = o->icicle };
	struct buf out = { 0 };
	int rc = cmd_picture_width(o->width, &style.width, err) ?:
		 diff_svg(d, &style, &out, err) ?:
		 cmd_output_or_name(io, o->output, "diff.svg", &out, err);

	buf_fini(&out);
	return rc;
}

static int write_page(struct cmd_io *io, const struct diff_opts *o,
		      struct diff *d, struct error *err)
{
	struct buf out = { 0 }, source_notes = { 0 };
	int rc = html_diff(d, &source_notes, &out, err) ?:
		 cmd_output_or_name(io, o->output, "diff.html", &out, err);

	if (!rc)
		cmd_report_sources(io, &source_notes);
	buf_fini(&source_notes);
	buf_fini(&out);
	return rc;
}

/* Adds a word to a list of files, which is released with the options. */
static int add_word(struct opt_strs *list, const char *word)
{
	struct opt_strs v = *list;
	int rc = vec_push(&v, word);

	*list = v;
	return rc;
}

/* Returns the function after a list of recordings: its last word, if no such file
 * exists. */
static const char *last_word(struct opt_strs *list, struct opt_strs *other)
{
	struct opt_strs *lists[] = { list, other };

	for (int i = 0; i < 2; i++) {
		size_t n = lists[i]->n;

		if (n > 1 && access(lists[i]->v[n - 1], F_OK) != 0)
			return lists[i]->v[--lists[i]->n];
	}
	return NULL;
}

/* Interprets the word after the recordings: a function, a source file or an image. */
static int take_words(struct diff_opts *o, int argc, char **argv,
		      struct diff_spec *spec, const char **what,
		      struct error *err)
{
	size_t most = o->sides.files[0].n || o->sides.files[1].n ? 1 : 3;
	char *both[2];

	*what = NULL;
	if (!o->sides.files[DIFF_NEW].n != !o->sides.files[DIFF_OLD].n)
		return error_set(err, ERR_USAGE, "--%s FILE... requires the %s "
				 "side, too: --%s FILE...",
				 o->sides.files[0].n ? "baseline" : "new",
				 o->sides.files[0].n ? "new" : "old",
				 o->sides.files[0].n ? "new" : "baseline");
	if (most == 3 && argc == 1 &&
	    (o->sides.labels[DIFF_OLD].n || o->sides.labels[DIFF_NEW].n)) {
		both[0] = both[1] = argv[0];
		argv = both;
		argc = 2;
	}
	if ((size_t)argc > most || (most == 3 && argc < 2))
		return error_set(err, ERR_USAGE, "name an old and a new "
				 "recording and at most one function: tally "
				 "diff OLD NEW [SYMBOL], or --baseline OLD... "
				 "--new NEW... for several on each side");
	if (most == 3 && add_word(&o->sides.files[0], argv[0]) +
				 add_word(&o->sides.files[1], argv[1]))
		return error_nomem(err);
	if ((size_t)argc == most)
		*what = argv[most - 1];
	else if (most == 1)
		*what = last_word(&o->sides.files[DIFF_NEW], &o->sides.files[DIFF_OLD]);
	o->annotate |= *what || o->listing.source || o->listing.code ||
		       o->listing.both;
	return o->annotate ? key_list_parse("image,symbol", &spec->keys, err)
			   : 0;
}

static int show_aligned(struct cmd_io *io, const struct diff_opts *o,
			struct diff_annotation *x, enum diff_format format,
			struct error *err)
{
	struct annotate_style style;
	struct diff_style s;
	struct buf out = { .most = o->max_output };
	int rc = make_style(io, o, &s, err);

	if (rc < 0)
		return rc;
	style = (struct annotate_style){
		.columns = s.columns, .color = s.color,
		.full_names = o->full_names, .no_header = o->no_header,
	};
	cmd_listing_style(&o->listing, &style);
	if (format == FORMAT_JSON)
		diff_annotate_json(x, &style, &out);
	else
		diff_annotate_text(x, &style, &out);
	rc = cmd_output_paged(io, o->output, o->no_pager, &out, err);
	if (!rc && o->output) {
		struct sources *read[DIFF_SIDES];

		for (int i = 0; i < DIFF_SIDES; i++)
			read[i] = &x->a[i]->sources;
		cmd_summarize_sources(io, read, DIFF_SIDES);
	}
	buf_fini(&out);
	return rc;
}

static int annotate(struct cmd_io *io, const struct diff_opts *o,
		    struct diff *d, const char *what,
		    enum diff_format format, struct error *err)
{
	struct diff_annotation *x = NULL;
	struct diff_annotate_spec spec = {
		.what = what, .intel = !o->att,
		.top = o->top ? o->top : what ? 0 : ANNOTATED,
		.code = o->listing.code || o->listing.both || !o->listing.source,
	};
	int rc = diff_annotate(d, &spec, &x, err) ?:
		 show_aligned(io, o, x, format, err);

	diff_annotation_free(x);
	return rc;
}

static int run_diff(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	struct diff_opts *o = opts;
	struct reader *r[DIFF_SIDES] = { NULL, NULL };
	const char *what = NULL;
	struct diff_spec spec = { .top = 0 };
	struct diff *d = NULL;
	enum diff_format format = choose_format(o);
	int rc = diff_spec_init(io, o, format, &spec, err) ?:
		 take_words(o, argc, argv, &spec, &what, err);

	if (!rc && o->annotate && format != FORMAT_TEXT && format != FORMAT_JSON)
		rc = error_set(err, ERR_USAGE, "--format must be text or json to "
			       "show source side by side");
	if (!rc)
		rc = diff_open(io, o, &spec, r, err);
	if (!rc) {
		o->max_output = cmd_max_output(o->max_output,
			reader_bytes(r[DIFF_OLD]) + reader_bytes(r[DIFF_NEW]),
			CMD_TEXT_A_BYTE);
		rc = diff_build(r, &spec, &d, err);
	}
	for (int i = 0; !rc && i < DIFF_SIDES; i++)
		if (format != FORMAT_TEXT && format != FORMAT_JSON)
			cmd_report_damage(io, spec.path[i], r[i]);
	if (!rc && o->annotate)
		rc = annotate(io, o, d, what, format, err);
	else if (!rc && format == FORMAT_SVG)
		rc = draw(io, o, d, err);
	else if (!rc && format == FORMAT_HTML)
		rc = write_page(io, o, d, err);
	else if (!rc)
		rc = show(io, o, d, format, err);
	diff_free(d);
	diff_close(&spec, r);
	diff_spec_fini(&spec);
	return rc < 0 ? rc : 0;
}

int cmd_diff_page(struct cmd_io *io, const struct opt_strs side[2],
		  const char *output, struct error *err)
{
	struct diff_opts o = usual;

	o.sides.files[DIFF_OLD] = side[0];
	o.sides.files[DIFF_NEW] = side[1];
	o.output = output;
	o.html = true;
	return run_diff(io, &o, 0, NULL, err);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings",
	.args = "OLD NEW [SYMBOL|SOURCE[:LINE]|IMAGE]",
	.opts = diff_opt_table,
	.opts_size = sizeof(struct diff_opts),
	.defaults = &usual,
	.run = run_diff,
};
