// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally annotate`: what the lines and instructions of functions cost. */
#include "views/annotate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/debug_dirs.h"
#include "cmd/open.h"
#include "cmd/page.h"
#include "cmd/select_options.h"
#include "cmd/show_options.h"
#include "cmd/source_options.h"
#include "profile/fill_symbols.h"

struct annotate_opts {
	const char *input, *format, *color, *output, *syntax;
	struct select_opts samples_of;
	struct source_opts source_at;
	struct opt_strs debug_dirs;
	bool source, code, both, all, samples, full_names, no_header, no_pager;
	bool html;
	double limit;
	uint64_t top, width, context;
};

#define AT(field) offsetof(struct annotate_opts, field)

static const struct opt annotate_opt_table[] = {
	{ OPT_HEADING, 0, NULL, NULL, "What to show", 0 },
	{ OPT_STR, 'i', "input", "FILE",
	  "Read this recording. Default: profile.tally.", AT(input) },
	{ OPT_FLAG, 0, "source", NULL,
	  "Source lines. The default is source where lines are known, else "
	  "instructions.", AT(source) },
	{ OPT_FLAG, 0, "asm", NULL,
	  "Instructions, with the jumps between them.", AT(code) },
	{ OPT_FLAG, 0, "both", NULL,
	  "Source lines, and below each its instructions.", AT(both) },
	{ OPT_UINT, 0, "context", "N",
	  "Show N lines or instructions around each that cost something; the "
	  "rest is folded. Default: 3.", AT(context) },
	{ OPT_FLAG, 0, "all", NULL, "Fold nothing.", AT(all) },
	{ OPT_UINT, 0, "top", "N",
	  "Show N functions at most; 0: all. Default: 10, or all that were "
	  "named.", AT(top) },
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT",
	  "If none is named: leave functions below this share out. Default: 1.",
	  AT(limit) },
	SOURCE_OPTION_ROWS(struct annotate_opts),

	SELECT_OPTION_ROWS(struct annotate_opts, "Only these events."),

	{ OPT_HEADING, 0, NULL, NULL, "How to show it", 0 },
	{ OPT_STR, 0, "format", "text|json|html",
	  "Default: text. html: one page that needs nothing else, opened at "
	  "what was named.", AT(format) },
	{ OPT_FLAG, 0, "html", NULL, "The same as --format=html.", AT(html) },
	{ OPT_STR, 'o', "output", "FILE",
	  "Write to FILE. Default for html on a terminal: annotate.html.",
	  AT(output) },
	{ OPT_STR, 'M', "syntax", "intel|att",
	  "How instructions are written. Default: intel.", AT(syntax) },
	OPT_ROW_SAMPLES(AT(samples)),
	{ OPT_FLAG, 0, "full-names", NULL,
	  "Show template arguments and parameters in full.",
	  AT(full_names) },
	OPT_ROW_WIDTH(AT(width)),
	OPT_ROW_NO_HEADER(AT(no_header)),
	OPT_ROW_COLOR(AT(color)),
	OPT_ROW_NO_PAGER(AT(no_pager)),
	{ OPT_STRS, 0, "debug-dir", "DIR",
	  "If the recording holds no symbols: " DEBUG_DIR_HELP,
	  AT(debug_dirs) },
	OPT_END
};

static void annotate_defaults(void *opts)
{
	struct annotate_opts *o = opts;

	o->format = "text";
	o->syntax = "intel";
	o->limit = 1;
	o->context = 3;
	o->width = o->top = UINT64_MAX;
}

static int make_style(const struct cmd_io *io, const struct annotate_opts *o,
		      struct annotate_style *s, struct error *err)
{
	bool color, text = !strcmp(o->format, "text");

	if (!text && strcmp(o->format, "json") && strcmp(o->format, "html"))
		return error_set(err, ERR_USAGE,
				 "--format '%s': want text, json or html",
				 o->format);
	if (!cmd_color(o->color, io->color && !o->output, &color))
		return error_set(err, ERR_USAGE,
				 "--color '%s': want auto, always or never",
				 o->color);
	if (strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return error_set(err, ERR_USAGE,
				 "--syntax '%s': want intel or att", o->syntax);
	*s = (struct annotate_style){
		.columns = o->output ? 0 : io->columns,
		.color = color,
		.source = o->source || o->both || !o->code,
		.code = o->code || o->both || !o->source,
		.automatic = !o->source && !o->code && !o->both,
		.full_names = o->full_names, .no_header = o->no_header,
		.samples = o->samples, .all = o->all,
		.context = o->context > 100000 ? 100000
					       : (unsigned int)o->context,
	};
	if (o->source && o->code)	/* both words mean --both */
		s->automatic = false;
	if (o->width != UINT64_MAX)
		s->columns = o->width > 10000 ? 10000 : (int)o->width;
	if (s->columns && s->columns < 40)
		s->columns = 40;
	return 0;
}

/* One word may be the recording or what is meant in it; of two, the first is the
 * recording. */
static int take_words(const struct annotate_opts *o, int argc, char **argv,
		      const char **input, const char **what, struct error *err)
{
	*input = o->input;
	*what = NULL;
	if (argc > 2 || (argc == 2 && o->input))
		return error_set(err, ERR_USAGE,
				 "one function, source file or image at a "
				 "time: do not know what to do with '%s'",
				 argv[o->input ? 1 : 2]);
	if (argc == 2) {
		*input = argv[0];
		*what = argv[1];
	} else if (argc == 1 && !o->input && reader_is_recording(argv[0])) {
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
	struct buf out = { 0 };
	int rc;

	if (!strcmp(o->format, "json"))
		annotate_json(a, style, &out);
	else
		annotate_text(a, style, &out);
	if (!o->output && !o->no_pager && io->start_pager)
		io->start_pager(io);
	rc = cmd_output(io, o->output, &out, err);
	buf_fini(&out);
	return rc;
}

/* Marks the locations of functions that were named and whose code the recording
 * does not hold, though their file is here; false where there are none. */
static bool mark_cold(const struct annotation *a, uint64_t *heat)
{
	const struct profile *p = a->p;
	bool any = false;

	for (size_t i = 0; i < a->codes.n; i++) {
		const struct annot_code *c = &a->codes.v[i];
		uint32_t image = p->symbols.v[c->symbol].image;

		any |= c->missing && p->images.v[image].kind == PROF_IMAGE_ELF &&
		       access(profile_cstr(p, p->images.v[image].path),
			      R_OK) == 0;
		for (size_t k = 0; k < a->locs.n; k++)
			if (a->locs.v[k].symbol == c->symbol)
				heat[a->locs.v[k].loc] = 1;
	}
	return any;
}

/* Takes the code of cold functions from their files, where that helps. */
static int take_cold(struct cmd_io *io, const struct annotate_opts *o,
		     struct reader *r, struct annotation **a, struct error *err)
{
	struct fill_options f = { .code_budget = 1,
				  .progress = cmd_show_image, .ctx = io };
	struct annotate_spec spec = (*a)->spec;
	uint64_t *heat = calloc((*a)->p->locs.n + 1, sizeof(*heat));
	struct buf dirs = { 0 };
	int rc = heat ? cmd_debug_dirs(&o->debug_dirs, &dirs, err)
		      : error_set(err, ERR_NOMEM, "out of memory");

	f.heat = heat;
	f.debug_dirs = rc ? NULL : buf_cstr(&dirs);
	if (!rc && mark_cold(*a, heat)) {
		annotate_free(*a);
		*a = NULL;
		rc = profile_fill_symbols(reader_profile(r), &f, err);
		reader_rewind(r);
		if (!rc)
			rc = annotate_build(r, &spec, a, err);
	}
	if (io->progress)
		io->progress(io, NULL);
	buf_fini(&dirs);
	free(heat);
	return rc;
}

/* The page of the whole recording, opened at what was named. */
static int show_page(struct cmd_io *io, const struct annotate_opts *o,
		     struct reader *r, const struct annotation *a,
		     struct error *err)
{
	struct html_style style = { .first = HTML_LINES,
				    .named = a->spec.what ? a : NULL };
	struct report_spec spec = { .select = a->spec.select };
	struct report *rep = NULL;
	int rc = key_list_parse("image,symbol", &spec.keys, err);

	if (!rc)
		rc = report_build(r, &spec, &rep, err);
	if (!rc)
		rc = cmd_page(io, o->output, "annotate.html", r, rep, &a->spec,
			      &style, err);
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
		.intel = !strcmp(o->syntax, "intel"),
	};
	const char *input = NULL, *path;
	int rc;

	if (o->html)
		o->format = "html";
	if (!strcmp(o->format, "html"))
		o->both = true;
	rc = make_style(io, o, &style, err);
	if (!rc)
		rc = take_words(o, argc, argv, &input, &spec.what, err);
	if (!rc)
		rc = cmd_sources(&o->source_at, NULL, &spec.where, err);
	spec.code = style.code;
	spec.top = o->top != UINT64_MAX ? o->top : spec.what ? 0 : 10;
	if (!rc)
		rc = cmd_open(input, 0, NULL, &path, &r, err);
	if (!rc)
		rc = cmd_symbolize_now(io, path, r, &o->debug_dirs, err);
	if (!rc)
		rc = annotate_build(r, &spec, &a, err);
	if (!rc && style.code && !style.automatic &&
	    (spec.what || !reader_profile(r)->codes.n))
		rc = take_cold(io, o, r, &a, err);
	if (!rc && !strcmp(o->format, "html"))
		rc = show_page(io, o, r, a, err);
	else if (!rc)
		rc = show(io, o, &style, a, err);
	annotate_free(a);
	reader_close(r);
	cmd_sources_free(&spec.where);
	return rc < 0 ? rc : 0;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "show what lines and instructions of functions cost",
	.args = "[FILE] [SYMBOL|SOURCE[:LINE]|IMAGE]",
	.opts = annotate_opt_table,
	.opts_size = sizeof(struct annotate_opts),
	.defaults = annotate_defaults,
	.run = run_annotate,
};
