// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines and checks the options of `tally diff`. */
#include <stdlib.h>
#include <string.h>

#include "cmd/debug_dirs.h"
#include "cmd/diff.h"
#include "cmd/show_options.h"

enum { AUTO = -1, MIN_ROWS = 20 };

#define AT(field) offsetof(struct diff_opts, field)

const struct opt diff_opt_table[] = {
	{ OPT_HEADING, 0, NULL, NULL, "What to compare", 0 },
	{ OPT_WORDS, 0, "baseline", "FILE [FILE...]",
	  "Recordings of the old side, combined; each run in them counts.",
	  AT(side[DIFF_OLD]) },
	{ OPT_WORDS, 0, "new", "FILE [FILE...]",
	  "Recordings of the new state.", AT(side[DIFF_NEW]) },
	{ OPT_STRS, 0, "old-label", "NAME=VALUE",
	  "Only samples with this label on the old side, as for --label. With "
	  "one recording only, it is both sides.",
	  AT(labels[DIFF_OLD]) },
	{ OPT_STRS, 0, "new-label", "NAME=VALUE",
	  "The same on the new side.", AT(labels[DIFF_NEW]) },
	{ OPT_STR, 's', "by", "KEY[,KEY...]",
	  "Compare by these keys and show them in this order: image (dso), "
	  "symbol (sym, function), file (srcfile), line (srcline), comm "
	  "(thread), cpu. Default: image,symbol.", AT(by) },
	{ OPT_STR, 0, "sort", "KEY[,KEY...]", "The same as --by.", AT(by) },
	{ OPT_STR, 0, "normalise", "run|time|total",
	  "Compare the cost per run, the cost per second of recording, or "
	  "shares of the total. Default: run if both sides are complete runs "
	  "of a command, otherwise time; total if events or processors differ.",
	  AT(norm) },
	{ OPT_STR, 0, "average", "mean|median",
	  "Compare the mean run, or the median run, which is robust against "
	  "single bad runs. Lines, instructions and flame graphs show the "
	  "mean. Default: mean.", AT(average) },
	{ OPT_FLAG, 0, "children", NULL,
	  "Compare and sort by total, which includes called functions, instead "
	  "of self.", AT(children) },
	OPT_ROWS_INLINE(AT(no_inline),
		"Show inlined functions as functions (the default)."),
	{ OPT_STR, 0, "order", "change|growth|ratio|old|new|name",
	  "Sort by largest change, largest increase, largest relative change, "
	  "cost on one side, or name. Default: change.", AT(order) },
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT",
	  "Hide rows that changed by less than this share of the more "
	  "expensive side's cost. Default: 0.1 for text (at least 20 rows), 0 "
	  "for json, csv and with --symbol.", AT(limit) },
	{ OPT_UINT, 0, "top", "N", "Show at most N rows; 0: all.", AT(top) },

	{ OPT_HEADING, 0, NULL, NULL,
	  "Source and instructions side by side (name a function, source file "
	  "or image last)", 0 },
	{ OPT_FLAG, 'a', "annotate", NULL,
	  "If no function is named, show those with the largest significant "
	  "changes.",
	  AT(annotate) },
	{ OPT_FLAG, 0, "source", NULL,
	  "Show source lines. Default: source where lines are known, otherwise "
	  "instructions.", AT(source) },
	{ OPT_FLAG, 0, "asm", NULL, "Show instructions.", AT(code) },
	{ OPT_FLAG, 0, "both", NULL, "Show source lines, then instructions.",
	  AT(both) },
	{ OPT_UINT, 0, "context", "N",
	  "Show N lines or instructions around each one with a cost, and fold "
	  "the others. Default: 3.", AT(context) },
	{ OPT_FLAG, 0, "all", NULL, "Do not fold anything.", AT(all) },
	SOURCE_OPTION_ROWS(struct diff_opts),
	{ OPT_STRS, 0, "old-source-map", "FROM=TO",
	  "Like --source-map for the old side only; takes precedence.",
	  AT(old_maps) },
	{ OPT_STR, 'M', "syntax", "intel|att",
	  "Syntax of instructions. Default: intel.", AT(syntax) },

	SELECT_OPTION_ROWS(struct diff_opts, "Only these events."),
	SELECT_LABEL_ROW(struct diff_opts),

	{ OPT_HEADING, 0, NULL, NULL,
	  "Which functions (costs remain those of all samples)", 0 },
	{ OPT_STRS, 0, "image", "NAME[,NAME...]",
	  "Only functions of this program or library: its file name, path, or "
	  "a pattern with * and ?.", AT(images) },
	{ OPT_STRS, 0, "symbol", "TEXT",
	  "Only functions with this name (with or without name spaces and "
	  "parameters; * and ? match any text and any character) or, if there "
	  "is none, whose name contains TEXT. May be repeated.",
	  AT(symbols) },

	{ OPT_HEADING, 0, NULL, NULL, "How to show it", 0 },
	{ OPT_STR, 0, "format", "text|json|csv|svg|html",
	  "Output format; svg is a flame graph of both sides (red grew, blue "
	  "shrank), html a page with table, flame graph, source and "
	  "instructions of both sides. Default: from the name of the output, "
	  "otherwise text.", AT(format) },
	{ OPT_FLAG, 0, "svg", NULL, "The same as --format=svg.", AT(svg) },
	{ OPT_FLAG, 0, "html", NULL, "The same as --format=html.", AT(html) },
	{ OPT_FLAG, 0, "icicle", NULL, "Put the root of an SVG on top.",
	  AT(icicle) },
	{ OPT_STR, 'o', "output", "FILE",
	  "Write to FILE. Default for svg and html on a terminal: diff.svg, "
	  "diff.html.",
	  AT(output) },
	OPT_ROW_SAMPLES(AT(samples)),
	OPT_ROW_FULL_NAMES(AT(full_names)),
	{ OPT_UINT, 'w', "width", "COLUMNS",
	  "Cut lines at this width; for an SVG, its width in pixels. Default: "
	  "the width of the terminal, without one no limit; 1200.", AT(width) },
	{ OPT_FLAG, 0, "no-header", NULL,
	  "Omit the lines about what is compared.",
	  AT(no_header) },
	OPT_ROW_COLOR(AT(color)),
	OPT_ROW_NO_PAGER(AT(no_pager)),
	{ OPT_STRS, 0, "debug-dir", "DIR",
	  "If a recording contains no symbols: " DEBUG_DIR_HELP,
	  AT(debug_dirs) },
	OPT_ROW_MAX_MEMORY(offsetof(struct diff_opts, max_memory)),
	OPT_ROW_MAX_OUTPUT(offsetof(struct diff_opts, max_output)),
	OPT_ROW_TRUST(offsetof(struct diff_opts, trust)),
	OPT_END
};

void diff_defaults(void *opts)
{
	struct diff_opts *o = opts;

	o->by = "image,symbol";
	o->order = "change";
	o->average = "mean";
	o->syntax = "intel";
	o->context = 3;
	o->limit = AUTO;
	o->width = UINT64_MAX;
}

/* Returns the index of a word in a list that ends with NULL, or an error. */
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
	error_set(err, ERR_USAGE, "%s '%s': use %s", name, word,
		  buf_cstr(&all));
	buf_fini(&all);
	return -ERR_USAGE;
}

int diff_format(const struct diff_opts *o, struct error *err)
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

/* Other tools use "function" and "thread" for what tally calls symbol and comm. */
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

static int choose(const struct diff_opts *o, struct diff_spec *spec,
		  struct error *err)
{
	static const char *const norms[] = { "auto", "run", "time", "total",
					     NULL };
	static const char *const orders[] = { "change", "growth", "ratio",
					      "old", "new", "name", NULL };
	static const char *const averages[] = { "mean", "median", NULL };
	int norm = o->norm ? one_of(o->norm, norms, "--normalise", err) : 0;
	int order = norm < 0 ? norm : one_of(o->order, orders, "--order", err);
	int average = order < 0 ? order
		: one_of(o->average, averages, "--average", err);

	spec->norm = (enum diff_norm)norm;
	spec->order = (enum diff_order)order;
	spec->median = average == 1;
	return average < 0 ? average : 0;
}

int diff_spec_init(struct cmd_io *io, const struct diff_opts *o,
		   int format, struct diff_spec *spec, struct error *err)
{
	enum source_use use = format == FORMAT_TEXT
			      ? cmd_source_use(io, o->output)
			      : SOURCES_FOR_OTHERS;
	int rc;

	*spec = (struct diff_spec){
		.select = cmd_select(&o->samples_of),
		.no_inline = o->no_inline, .by_total = o->children,
		.limit = o->limit, .top = o->top,
	};
	spec->select.images = cmd_names(&o->images);
	spec->select.symbols = cmd_names(&o->symbols);
	if (o->limit == AUTO) {
		spec->limit = format == FORMAT_TEXT && !o->symbols.n ? 0.1 : 0;
		spec->at_least = MIN_ROWS;
	}
	rc = choose(o, spec, err);
	if (!rc)
		rc = parse_keys(o->by, &spec->keys, err);
	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		rc = cmd_sources(io, &o->source_at,
				 s == DIFF_OLD ? &o->old_maps : NULL, use,
				 &spec->where[s], err);
	/* both sides share one */
	free(spec->where[DIFF_NEW].server);
	spec->where[DIFF_NEW].server = spec->where[DIFF_OLD].server;
	return rc;
}

void diff_spec_fini(struct diff_spec *spec)
{
	spec->where[DIFF_NEW].server = NULL;	/* owned by the old side */
	for (int s = 0; s < DIFF_SIDES; s++)
		cmd_sources_free(&spec->where[s]);
}
