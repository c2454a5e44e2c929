// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally diff`: what changed between two recordings. */
#include "views/diff.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/debug_dirs.h"
#include "cmd/open.h"
#include "cmd/page.h"
#include "cmd/select_options.h"
#include "cmd/source_maps.h"
#include "views/diff_annotate.h"
#include "views/html_diff.h"

enum {
	AUTO = -1,
	LEAST_ROWS = 20,
	ANNOTATED = 10,		/* functions, if none is named */
	SVG_WIDTH = 1200, SVG_LEAST = 300, SVG_MOST = 20000,
};

struct diff_opts {
	const char *by, *order, *norm, *format, *color, *output, *syntax;
	struct select_opts samples_of;
	struct opt_strs debug_dirs, images, symbols, maps, old_maps;
	bool annotate, source, code, both, all;
	bool children, no_inline, samples, full_names, no_header, no_pager;
	bool svg, html, icicle;
	double limit;
	uint64_t top, width, context;
};

#define AT(field) offsetof(struct diff_opts, field)

static const struct opt diff_opt_table[] = {
	{ OPT_HEADING, 0, NULL, NULL, "What to compare", 0 },
	{ OPT_STR, 's', "by", "KEY[,KEY...]",
	  "Compare what these tell apart and show them in this order: image "
	  "(dso), symbol (sym, function), file (srcfile), line (srcline), comm "
	  "(thread), cpu. Default: image,symbol.", AT(by) },
	{ OPT_STR, 0, "sort", "KEY[,KEY...]", "The same as --by.", AT(by) },
	{ OPT_STR, 0, "normalise", "run|time|total",
	  "Compare what a run cost, what a second of recording cost, or "
	  "shares of the total. Default: run where both sides are whole runs of "
	  "a command, else time; total where the sides measured different "
	  "events or on different processors.", AT(norm) },
	{ OPT_FLAG, 0, "children", NULL,
	  "Compare and order by the total, which counts what a function called "
	  "too, instead of by what it took itself.", AT(children) },
	{ OPT_NOFLAG, 0, "inline", NULL,
	  "Show inlined functions as functions (the default).",
	  AT(no_inline) },
	{ OPT_FLAG, 0, "no-inline", NULL,
	  "Count inlined functions for the one they were inlined into.",
	  AT(no_inline) },
	{ OPT_STR, 0, "order", "change|growth|ratio|old|new|name",
	  "What comes first: most changed either way (the default), grown "
	  "most, changed most beside what it was, dearest on one side, or by "
	  "name.", AT(order) },
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT",
	  "Hide rows that changed by less than this share of the dearer side's "
	  "cost. Default: 0.1 for text (but 20 rows are shown if there are), 0 "
	  "for json, csv and with --symbol.", AT(limit) },
	{ OPT_UINT, 0, "top", "N", "Show N rows at most; 0: all.", AT(top) },

	{ OPT_HEADING, 0, NULL, NULL,
	  "Source and instructions side by side (with a function, source file "
	  "or image behind the recordings)", 0 },
	{ OPT_FLAG, 'a', "annotate", NULL,
	  "Of the functions that changed most and by more than noise, if none "
	  "is named.",
	  AT(annotate) },
	{ OPT_FLAG, 0, "source", NULL,
	  "Source lines. The default is source where lines are known, else "
	  "instructions.", AT(source) },
	{ OPT_FLAG, 0, "asm", NULL, "Instructions.", AT(code) },
	{ OPT_FLAG, 0, "both", NULL, "Source lines, then instructions.",
	  AT(both) },
	{ OPT_UINT, 0, "context", "N",
	  "Show N lines or instructions around each that cost something; the "
	  "rest is folded. Default: 3.", AT(context) },
	{ OPT_FLAG, 0, "all", NULL, "Fold nothing.", AT(all) },
	{ OPT_STRS, 0, "source-map", "FROM=TO",
	  "Look for source files whose path begins with FROM where TO stands in "
	  "its place. May be repeated; the first that fits counts.",
	  AT(maps) },
	{ OPT_STRS, 0, "old-source-map", "FROM=TO",
	  "The same for the old side only.", AT(old_maps) },
	{ OPT_STR, 'M', "syntax", "intel|att",
	  "How instructions are written. Default: intel.", AT(syntax) },

	SELECT_OPTION_ROWS(struct diff_opts, "Only these events."),

	{ OPT_HEADING, 0, NULL, NULL,
	  "Which functions (costs stay those of all samples)", 0 },
	{ OPT_STRS, 0, "image", "NAME[,NAME...]",
	  "Only functions of this program or library: its file name, path, or "
	  "a pattern with * and ?.", AT(images) },
	{ OPT_STRS, 0, "symbol", "TEXT",
	  "Only functions of this name (with or without name spaces and "
	  "parameters; * and ? match any text and character), or, if there is "
	  "none, those whose name holds TEXT. May be repeated.",
	  AT(symbols) },

	{ OPT_HEADING, 0, NULL, NULL, "How to show it", 0 },
	{ OPT_STR, 0, "format", "text|json|csv|svg|html",
	  "Default: by the output's name, else text. svg: a flame graph of both "
	  "sides; what grew is red, what shrank is blue. html: a page with "
	  "table, flame graph, and source and instructions of both sides beside "
	  "each other.", AT(format) },
	{ OPT_FLAG, 0, "svg", NULL, "The same as --format=svg.", AT(svg) },
	{ OPT_FLAG, 0, "html", NULL, "The same as --format=html.", AT(html) },
	{ OPT_FLAG, 0, "icicle", NULL, "Of an SVG: put the root on top.",
	  AT(icicle) },
	{ OPT_STR, 'o', "output", "FILE",
	  "Write to FILE. Default for svg and html on a terminal: diff.svg, "
	  "diff.html.",
	  AT(output) },
	{ OPT_FLAG, 'n', "samples", NULL, "Show numbers of samples too.",
	  AT(samples) },
	{ OPT_FLAG, 0, "full-names", NULL,
	  "Show template arguments and parameters in full.",
	  AT(full_names) },
	{ OPT_UINT, 'w', "width", "COLUMNS",
	  "Cut lines at this width; pixels of an SVG. Default: the terminal's, "
	  "else not at all; 1200.", AT(width) },
	{ OPT_FLAG, 0, "no-header", NULL,
	  "Leave out the lines that say what is compared.",
	  AT(no_header) },
	{ OPT_OPTSTR, 0, "color", "auto|always|never",
	  "Default: auto, on a terminal and without NO_COLOR.", AT(color) },
	{ OPT_FLAG, 0, "no-pager", NULL,
	  "Do not show long output through a pager.", AT(no_pager) },
	{ OPT_STRS, 0, "debug-dir", "DIR",
	  "If a recording holds no symbols: " DEBUG_DIR_HELP,
	  AT(debug_dirs) },
	OPT_END
};

static void diff_defaults(void *opts)
{
	struct diff_opts *o = opts;

	o->by = "image,symbol";
	o->order = "change";
	o->syntax = "intel";
	o->context = 3;
	o->limit = AUTO;
	o->width = UINT64_MAX;
}

/* The place of a word in a list that ends with NULL, or an error. */
static int one_of(const char *word, const char *const *words, const char *name,
		  struct error *err)
{
	struct buf all = { 0 };

	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	for (int i = 0; words[i]; i++)
		buf_printf(&all, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ",
			   words[i]);
	error_set(err, ERR_USAGE, "%s '%s': want %s", name, word,
		  buf_cstr(&all));
	buf_fini(&all);
	return -ERR_USAGE;
}

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_SVG, FORMAT_HTML };

static int choose_format(const struct diff_opts *o, struct error *err)
{
	static const char *const words[] = { "text", "json", "csv", "svg",
					     "html", NULL };
	size_t n = o->output ? strlen(o->output) : 0;

	if (o->svg || o->html)
		return o->svg ? FORMAT_SVG : FORMAT_HTML;
	if (o->format)
		return one_of(o->format, words, "--format", err);
	if (n > 5 && !strcmp(o->output + n - 5, ".html"))
		return FORMAT_HTML;
	return n > 4 && !strcmp(o->output + n - 4, ".svg") ? FORMAT_SVG
							   : FORMAT_TEXT;
}

/* "function" and "thread" are words of other tools for what we call symbol and
 * comm. */
static int parse_keys(const char *text, struct key_list *out,
		      struct error *err)
{
	static const char *const words[][2] = { { "function", "symbol" },
						{ "thread", "comm" } };
	struct buf b = { 0 };
	int rc;

	while (*text) {
		size_t n = strcspn(text, ","), i;

		for (i = 0; i < 2; i++)
			if (strlen(words[i][0]) == n &&
			    !strncmp(text, words[i][0], n))
				break;
		if (i < 2)
			buf_str(&b, words[i][1]);
		else
			buf_bytes(&b, text, n);
		text += n;
		if (*text) {
			buf_u8(&b, ',');
			text++;
		}
	}
	rc = key_list_parse(buf_cstr(&b), out, err);
	buf_fini(&b);
	return rc;
}

static int make_spec(const struct diff_opts *o, enum format format,
		     struct diff_spec *spec, struct error *err)
{
	static const char *const norms[] = { "auto", "run", "time", "total",
					     NULL };
	static const char *const orders[] = { "change", "growth", "ratio",
					      "old", "new", "name", NULL };
	int norm = o->norm ? one_of(o->norm, norms, "--normalise", err) : 0;
	int order = norm < 0 ? norm : one_of(o->order, orders, "--order", err);

	if (order < 0)
		return order;
	*spec = (struct diff_spec){
		.select = cmd_select(&o->samples_of),
		.norm = (enum diff_norm)norm, .order = (enum diff_order)order,
		.no_inline = o->no_inline, .by_total = o->children,
		.limit = o->limit, .top = o->top,
	};
	spec->select.images = cmd_names(&o->images);
	spec->select.symbols = cmd_names(&o->symbols);
	if (o->limit == AUTO) {
		spec->limit = format == FORMAT_TEXT && !o->symbols.n ? 0.1 : 0;
		spec->at_least = LEAST_ROWS;
	}
	return parse_keys(o->by, &spec->keys, err);
}

static int make_style(const struct cmd_io *io, const struct diff_opts *o,
		      struct diff_style *s, struct error *err)
{
	bool color;

	if (!cmd_color(o->color, io->color && !o->output, &color))
		return error_set(err, ERR_USAGE,
				 "--color '%s': want auto, always or never",
				 o->color);
	*s = (struct diff_style){
		.columns = o->output ? 0 : io->columns, .color = color,
		.full_names = o->full_names, .no_header = o->no_header,
		.samples = o->samples,
	};
	if (o->width != UINT64_MAX)
		s->columns = o->width > 10000 ? 10000 : (int)o->width;
	if (s->columns && s->columns < 40)
		s->columns = 40;
	return 0;
}

static int show(struct cmd_io *io, const struct diff_opts *o,
		const struct diff *d, enum format format, struct error *err)
{
	struct diff_style style;
	struct buf out = { 0 };
	int rc = make_style(io, o, &style, err);

	if (rc < 0)
		return rc;
	if (format == FORMAT_JSON)
		diff_json(d, &out);
	else if (format == FORMAT_CSV)
		diff_csv(d, &out);
	else
		diff_text(d, &style, &out);
	if (!o->output && !o->no_pager && io->start_pager)
		io->start_pager(io);
	rc = cmd_output(io, o->output, &out, err);
	buf_fini(&out);
	return rc;
}

static int draw(struct cmd_io *io, const struct diff_opts *o, struct diff *d,
		struct error *err)
{
	struct diff_svg_style style = { SVG_WIDTH, o->icicle };
	struct buf out = { 0 };
	int rc;

	if (o->width != UINT64_MAX && (o->width < SVG_LEAST ||
				       o->width > SVG_MOST))
		return error_set(err, ERR_USAGE,
				 "--width %llu: want %d to %d pixels",
				 (unsigned long long)o->width, SVG_LEAST,
				 SVG_MOST);
	if (o->width != UINT64_MAX)
		style.width = (unsigned int)o->width;
	rc = diff_svg(d, &style, &out, err);
	if (!rc)
		rc = cmd_output_or_name(io, o->output, "diff.svg", &out, err);
	buf_fini(&out);
	return rc;
}

static int write_page(struct cmd_io *io, const struct diff_opts *o,
		      struct diff *d, struct error *err)
{
	struct buf out = { 0 };
	int rc = html_diff(d, NULL, &out, err);

	if (!rc)
		rc = cmd_output_or_name(io, o->output, "diff.html", &out, err);
	buf_fini(&out);
	return rc;
}

static int open_side(struct cmd_io *io, const struct diff_opts *o,
		     const char *path, struct reader **r, struct error *err)
{
	int rc = reader_open(path, r, err);

	return rc < 0 ? rc : cmd_symbolize_now(io, path, *r, &o->debug_dirs,
					       err);
}

/* OLD NEW [SYMBOL|SOURCE[:LINE]|IMAGE] */
static int take_words(struct diff_opts *o, int argc, char **argv,
		      struct diff_spec *spec, const char **what,
		      struct error *err)
{
	if (argc < 2 || argc > 3)
		return error_set(err, ERR_USAGE, "want two recordings, the old "
				 "one and the new one, and one function at "
				 "most: tally diff OLD NEW [SYMBOL]");
	for (int s = 0; s < DIFF_SIDES; s++)
		spec->path[s] = argv[s];
	*what = argc == 3 ? argv[2] : NULL;
	o->annotate |= *what || o->source || o->code || o->both;
	return o->annotate ? key_list_parse("image,symbol", &spec->keys, err)
			   : 0;
}

static int check_annotate(const struct diff_opts *o, int format,
			  struct error *err)
{
	if (format != FORMAT_TEXT && format != FORMAT_JSON)
		return error_set(err, ERR_USAGE, "source side by side is text "
				 "or json");
	if (strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return error_set(err, ERR_USAGE,
				 "--syntax '%s': want intel or att", o->syntax);
	return 0;
}

static int show_aligned(struct cmd_io *io, const struct diff_opts *o,
			struct diff_annotation *x, int format,
			struct error *err)
{
	struct diff_annotate_style style;
	struct diff_style s;
	struct buf out = { 0 };
	int rc = make_style(io, o, &s, err);

	if (rc < 0)
		return rc;
	style = (struct diff_annotate_style){
		.columns = s.columns, .color = s.color,
		.source = o->source || o->both || !o->code,
		.code = o->code || o->both || !o->source,
		.automatic = !o->source && !o->code && !o->both,
		.full_names = o->full_names, .no_header = o->no_header,
		.all = o->all,
		.context = o->context > 100000 ? 100000
					       : (unsigned int)o->context,
	};
	if (format == FORMAT_JSON)
		diff_annotate_json(x, &style, &out);
	else
		diff_annotate_text(x, &style, &out);
	if (!o->output && !o->no_pager && io->start_pager)
		io->start_pager(io);
	rc = cmd_output(io, o->output, &out, err);
	buf_fini(&out);
	return rc;
}

/* Maps of the old side come first there. */
static int make_maps(const struct diff_opts *o, struct source_map **old,
		     struct source_map **now, struct opt_strs *both,
		     struct error *err)
{
	size_t n = o->old_maps.n + o->maps.n;
	int rc = cmd_source_maps(&o->maps, now, err);

	if (rc < 0)
		return rc;
	both->v = calloc(n + 1, sizeof(*both->v));
	if (!both->v)
		return error_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < o->old_maps.n; i++)
		both->v[both->n++] = o->old_maps.v[i];
	for (size_t i = 0; i < o->maps.n; i++)
		both->v[both->n++] = o->maps.v[i];
	return cmd_source_maps(both, old, err);
}

static int annotate(struct cmd_io *io, const struct diff_opts *o,
		    struct diff *d, const char *what, int format,
		    struct error *err)
{
	struct source_map *maps[DIFF_SIDES] = { NULL, NULL };
	struct opt_strs words = { 0 };
	struct diff_annotation *x = NULL;
	struct diff_annotate_spec spec = {
		.what = what, .intel = !strcmp(o->syntax, "intel"),
		.top = o->top ? o->top : what ? 0 : ANNOTATED,
		.code = o->code || o->both || !o->source,
	};
	int rc = make_maps(o, &maps[0], &maps[1], &words, err);

	for (int s = 0; s < DIFF_SIDES; s++) {
		spec.maps[s] = maps[s];
		spec.nmaps[s] = s ? o->maps.n : words.n;
	}
	if (!rc)
		rc = diff_annotate(d, &spec, &x, err);
	if (!rc)
		rc = show_aligned(io, o, x, format, err);
	diff_annotation_free(x);
	cmd_source_maps_free(maps[0], words.n);
	cmd_source_maps_free(maps[1], o->maps.n);
	free(words.v);
	return rc;
}

static int run_diff(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	struct diff_opts *o = opts;
	struct reader *r[DIFF_SIDES] = { NULL, NULL };
	const char *what = NULL;
	struct diff_spec spec;
	struct diff *d = NULL;
	int format = choose_format(o, err);
	int rc = format < 0 ? format
			    : make_spec(o, (enum format)format, &spec, err);

	if (!rc)
		rc = take_words(o, argc, argv, &spec, &what, err);
	if (!rc && o->annotate)
		rc = check_annotate(o, format, err);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = open_side(io, o, spec.path[s], &r[s], err);
	if (!rc)
		rc = diff_build(r, &spec, &d, err);
	if (!rc && o->annotate)
		rc = annotate(io, o, d, what, format, err);
	else if (!rc && format == FORMAT_SVG)
		rc = draw(io, o, d, err);
	else if (!rc && format == FORMAT_HTML)
		rc = write_page(io, o, d, err);
	else if (!rc)
		rc = show(io, o, d, (enum format)format, err);
	diff_free(d);
	reader_close(r[0]);
	reader_close(r[1]);
	return rc < 0 ? rc : 0;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings",
	.args = "OLD NEW [SYMBOL|SOURCE[:LINE]|IMAGE]",
	.opts = diff_opt_table,
	.opts_size = sizeof(struct diff_opts),
	.defaults = diff_defaults,
	.run = run_diff,
};
