// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally diff`: shows what changed between two recordings. */
#include "cmd/diff.h"

#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/open.h"
#include "cmd/page.h"
#include "views/diff/diff_annotate.h"
#include "views/html/html_diff.h"
#include "views/svg/svg.h"

enum {
	ANNOTATED = 10,		/* functions to annotate if none is named */
	SVG_WIDTH = 1200, SVG_MIN = 300, SVG_MAX = 20000,
};

static int make_style(const struct cmd_io *io, const struct diff_opts *o,
		      struct diff_style *s, struct error *err)
{
	bool color;

	if (!cmd_color(o->color, io->color && !o->output, &color))
		return error_set(err, ERR_USAGE,
				 "--color '%s': use auto, always or never",
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
		const struct diff *d, int format, struct error *err)
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

	if (o->width != UINT64_MAX && (o->width < SVG_MIN ||
				       o->width > SVG_MAX))
		return error_set(err, ERR_USAGE,
				 "--width %llu: must be %d to %d pixels",
				 (unsigned long long)o->width, SVG_MIN,
				 SVG_MAX);
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
	struct buf out = { 0 }, source_notes = { 0 };
	int rc = html_diff(d, NULL, &source_notes, &out, err);

	if (!rc)
		rc = cmd_output_or_name(io, o->output, "diff.html", &out, err);
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
	size_t most = o->side[0].n || o->side[1].n ? 1 : 3;
	char *both[2];

	*what = NULL;
	if (!o->side[DIFF_NEW].n != !o->side[DIFF_OLD].n)
		return error_set(err, ERR_USAGE, "--%s FILE... requires the %s "
				 "side, too: --%s FILE...",
				 o->side[0].n ? "baseline" : "new",
				 o->side[0].n ? "new" : "old",
				 o->side[0].n ? "new" : "baseline");
	if (most == 3 && argc == 1 &&
	    (o->labels[DIFF_OLD].n || o->labels[DIFF_NEW].n)) {
		both[0] = both[1] = argv[0];
		argv = both;
		argc = 2;
	}
	if ((size_t)argc > most || (most == 3 && argc < 2))
		return error_set(err, ERR_USAGE, "name an old and a new "
				 "recording and at most one function: tally "
				 "diff OLD NEW [SYMBOL], or --baseline OLD... "
				 "--new NEW... for several on each side");
	if (most == 3 && add_word(&o->side[0], argv[0]) +
				 add_word(&o->side[1], argv[1]))
		return error_nomem(err);
	if ((size_t)argc == most)
		*what = argv[most - 1];
	else if (most == 1)
		*what = last_word(&o->side[DIFF_NEW], &o->side[DIFF_OLD]);
	o->annotate |= *what || o->source || o->code || o->both;
	return o->annotate ? key_list_parse("image,symbol", &spec->keys, err)
			   : 0;
}

static int check_options(const struct diff_opts *o, int format,
			  struct error *err)
{
	if (o->annotate && format != FORMAT_TEXT && format != FORMAT_JSON)
		return error_set(err, ERR_USAGE, "--format must be text or "
				 "json to show source side by side");
	if (strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return error_set(err, ERR_USAGE,
				 "--syntax '%s': use intel or att", o->syntax);
	return 0;
}

static int show_aligned(struct cmd_io *io, const struct diff_opts *o,
			struct diff_annotation *x, int format,
			struct error *err)
{
	struct diff_annotate_style style;
	struct diff_style s;
	struct buf out = { .most = o->max_output };
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
	if (!rc && o->output) {
		struct sources *read[DIFF_SIDES];

		for (int i = 0; i < DIFF_SIDES; i++)
			read[i] = &x->a[i]->sources;
		buf_reset(&out);
		sources_summary(read, DIFF_SIDES, false, &out);
		cmd_report_sources(io, &out);
	}
	buf_fini(&out);
	return rc;
}

static int annotate(struct cmd_io *io, const struct diff_opts *o,
		    struct diff *d, const char *what, int format,
		    struct error *err)
{
	struct diff_annotation *x = NULL;
	struct diff_annotate_spec spec = {
		.what = what, .intel = !strcmp(o->syntax, "intel"),
		.top = o->top ? o->top : what ? 0 : ANNOTATED,
		.code = o->code || o->both || !o->source,
	};
	int rc = diff_annotate(d, &spec, &x, err);

	if (!rc)
		rc = show_aligned(io, o, x, format, err);
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
	int format = diff_format(o, err);
	int rc = format < 0 ? format
			    : diff_spec_init(io, o, format, &spec, err);

	if (!rc)
		rc = take_words(o, argc, argv, &spec, &what, err);
	if (!rc)
		rc = check_options(o, format, err);
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

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings",
	.args = "OLD NEW [SYMBOL|SOURCE[:LINE]|IMAGE]",
	.opts = diff_opt_table,
	.opts_size = sizeof(struct diff_opts),
	.defaults = diff_defaults,
	.run = run_diff,
};
