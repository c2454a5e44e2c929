// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally report`: shows where the time of a recording went. */
#include "views/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/late_names.h"
#include "cmd/missing.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/page.h"
#include "cmd/source_options.h"
#include "symbolize/debuginfod.h"
#include "tui/tui.h"
#include "views/tree/tree.h"
#include "views/wait_sites.h"

enum {
	AUTO = -1,
	MIN_ROWS = 20,	/* rows that a flat profile shows at least */
	WAIT_ROWS = 15,		/* rows in the table of waits */
};

struct report_opts {
	struct cmd_reading reading;
	uint64_t max_output;
	const char *input, *sort, *call_graph, *color, *output;
	int format;		/* enum format */
	struct select_opts samples_of;
	struct opt_strs images, symbols;
	bool children, no_children, no_inline, samples;
	bool full_names, no_header, no_pager, missing, html, wakers;
	struct source_opts source_at;
	struct fetch_opts debuginfod;
	bool tui, no_tui;
	double limit;
	uint64_t top, width;
};

#define AT(field) offsetof(struct report_opts, field)

static const struct opt report_opt_table[] = {
	OPT_TITLE("What to show"),
	OPT_ROW_INPUT(AT(input)),
	{ OPT_STR, 's', "sort", "KEY[,KEY...]", AT(sort),
	  "Group by these keys and show them in this order: comm, pid, tid, "
	  "cpu, run, event, wait, label, host, service, container, pod, "
	  "cgroup, task, image (dso), symbol (sym), file (srcfile), line "
	  "(srcline). Default: image,symbol." },
	{ OPT_OPTSTR, 'g', "call-graph", "callers|callees", AT(call_graph),
	  "Show trees: callers below each function, or callees from the "
	  "outermost frames. Default: callers." },
	{ OPT_FLAG, 0, "children", NULL, AT(children),
	  "Sort by total, which includes called functions, instead of self." },
	{ OPT_FLAG, 0, "no-children", NULL, AT(no_children),
	  "Show self only." },
	OPT_ROWS_INLINE(AT(no_inline),
		"Show inlined functions as functions (the default)."),
	{ OPT_DOUBLE, 0, "percent-limit", "PERCENT", AT(limit),
	  "Hide rows and branches below this share. Default: 0.5 for text (at "
	  "least 20 rows), 0 for json, csv and with --symbol." },
	{ OPT_UINT, 0, "top", "N", AT(top), "Show at most N rows; 0: all." },
	{ OPT_FLAG, 0, "wakers", NULL, AT(wakers),
	  "Show which function ended which waits, pair by pair, for a "
	  "recording made with --wait; as text or json." },

	SELECT_OPTION_ROWS(struct report_opts, "Only these events."),

	OPT_TITLE("Which functions (percentages remain those of all samples)"),
	SELECT_IMAGE_ROW(AT(images)),
	{ OPT_STRS, 0, "dso", "NAME[,NAME...]", AT(images),
	  "The same as --image." },
	SELECT_SYMBOL_ROW(AT(symbols)),

	OPT_TITLE("How to show it"),
	{ OPT_FLAG, 0, "tui", NULL, AT(tui),
	  "Open the interactive view. Default on a terminal, unless an option "
	  "applies to text only." },
	{ OPT_FLAG, 0, "no-tui", NULL, AT(no_tui), "Print text." },
	{ OPT_CHOICE, 0, "format", "text|json|csv|html", AT(format),
	  "Output format; html is one self-contained page with a flame graph, "
	  "a timeline, callers and callees. Default: text." },
	{ OPT_FLAG, 0, "html", NULL, AT(html), "The same as --format=html." },
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE. Default for html on a terminal: report.html." },
	OPT_ROW_SAMPLES(AT(samples)),
	{ OPT_FLAG, 0, "full-names", NULL, AT(full_names),
	  "Show template arguments, parameters and paths in full." },
	OPT_ROW_WIDTH(AT(width)),
	OPT_ROW_NO_HEADER(AT(no_header)),
	{ OPT_FLAG, 0, "missing", NULL, AT(missing),
	  "For every image with unresolved functions or lines, show what would "
	  "resolve them, not only for the three most expensive." },
	OPT_ROW_COLOR(AT(color)),
	OPT_ROW_NO_PAGER(AT(no_pager)),
	SOURCE_OPTION_ROWS(struct report_opts),
	READING_DIRS_ROW(struct report_opts, IF_NO_SYMBOLS),
	{ OPT_OPTSTR, 0, "debuginfod", "TIME", AT(debuginfod.time),
	  "After the first report, request missing debug files from the "
	  "servers in DEBUGINFOD_URLS, those with the most samples first, for "
	  "at most TIME; store the names in the recording and show the report "
	  "again. Only for your own recordings. Default: 2m." },
	FETCH_OPTION_SIZE(struct report_opts, debuginfod),
	{ OPT_UINT, 0, "max-output", "SIZE", AT(max_output),
	  "Fail if the text, JSON or CSV has more than this many bytes (k, M, "
	  "G). Default: 64 times the size of the file (JSON: 1,024 times) plus "
	  "64 MB." },
	READING_ROWS(struct report_opts),
	OPT_END
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML };

static bool parse_graph(const char *word, enum tree_mode *out)
{
	static const char *const callers[] = { "", "callers", "bottom-up" };
	static const char *const callees[] = { "callees", "top-down" };

	*out = TREE_NONE;
	for (size_t i = 0; i < COUNT(callers); i++)
		if (!strcmp(word, callers[i]))
			*out = TREE_CALLERS;
	for (size_t i = 0; i < COUNT(callees); i++)
		if (!strcmp(word, callees[i]))
			*out = TREE_CALLEES;
	return *out != TREE_NONE || !strcmp(word, "none");
}

/* Returns whether perf takes this for a value of -g ("graph,0.5,caller"). */
static bool is_perf_graph(const char *word)
{
	static const char *const first[] = { "graph", "flat", "fractal",
					     "folded", "caller", "callee" };
	size_t n = strcspn(word, ",");

	for (size_t i = 0; i < COUNT(first); i++)
		if (n == strlen(first[i]) && !strncmp(word, first[i], n))
			return true;
	return false;
}

/* Users of perf write `-g callees` as two words.  Removes the second one from the
 * plain words, unless it is a file. */
static void take_graph_word(struct report_opts *o, int *argc, char **argv)
{
	enum tree_mode mode;
	int k = 0;

	if (!o->call_graph || *o->call_graph)
		return;
	for (int i = 0; i < *argc; i++) {
		if (!*o->call_graph && *argv[i] &&
		    (parse_graph(argv[i], &mode) || is_perf_graph(argv[i])) &&
		    access(argv[i], F_OK) != 0)
			o->call_graph = argv[i];
		else
			argv[k++] = argv[i];
	}
	*argc = k;
}

static int make_spec(const struct report_opts *o, enum format format,
		     struct report_spec *spec, struct error *err)
{
	int rc;

	*spec = (struct report_spec){
		.select = cmd_select(&o->samples_of),
		.no_inline = o->no_inline,
		.by_total = o->children,
		.top = o->top,
	};
	spec->select.images = cmd_names(&o->images);
	spec->select.symbols = cmd_names(&o->symbols);
	if (o->children && o->no_children)
		return error_set(err, ERR_USAGE,
				 "--children and --no-children exclude each "
				 "other");
	spec->limit = o->limit;
	if (o->limit == AUTO) {
		spec->limit = format == FORMAT_TEXT && !o->symbols.n ? 0.5 : 0;
		spec->at_least = MIN_ROWS;
	}
	rc = key_list_parse(o->sort, &spec->keys, err);
	if (!rc && o->call_graph && !parse_graph(o->call_graph, &spec->tree))
		/* perf's order "caller" is the one from the outermost frames. */
		rc = error_set(err, ERR_USAGE,
			       "--call-graph '%s': use callers (in perf: callee) or "
			       "callees (in perf: caller, -G)%s", o->call_graph,
			       strchr(o->call_graph, ',') ? "; --percent-limit "
			       "hides small branches" : "");
	return rc;
}

static struct text_style make_style(const struct cmd_io *io,
				    const struct report_opts *o, bool color)
{
	return (struct text_style){
		.columns = cmd_columns(io, o->output, o->width),
		.color = color,
		.full_names = o->full_names,
		.no_header = o->no_header,
		.samples = o->samples,
		.no_total = o->no_children,
	};
}

/* Returns the number of images whose missing data the report lists. */
static size_t count_missing(const struct report_opts *o,
			    const struct report *rep, enum format format)
{
	if (format == FORMAT_JSON)
		return rep->missing.rows.n;
	if (format == FORMAT_CSV || o->no_header)
		return 0;
	return o->missing ? rep->missing.rows.n
			  : missing_major(&rep->missing);
}

/* Lists the names of events that measure waits, or of all others.  The caller
 * frees the list. */
static int pick_events(const struct profile *p, bool waits,
		       struct name_list *out)
{
	const char **v = calloc(p->events.n + 1, sizeof(*v));

	*out = (struct name_list){ v, 0 };
	if (!v)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->events.n; i++)
		if (prof_is_of_waits(&p->events.v[i]) == waits)
			v[out->n++] = profile_cstr(p, p->events.v[i].name);
	return 0;
}

/* Builds a report of the events of waits; *rep is NULL if there are none. */
static int report_waits(const struct report_opts *o, struct reader *r,
			struct report **rep, struct name_list *names,
			struct error *err)
{
	struct report_spec spec = { .select = cmd_select(&o->samples_of) };
	int rc = pick_events(reader_profile(r), true, names);

	*rep = NULL;
	if (rc < 0 || !names->n)
		return rc;
	if (!spec.select.events.n)
		spec.select.events = *names;
	rc = key_list_parse("image,symbol", &spec.keys, err);
	return rc ? rc : report_build(r, &spec, rep, err);
}

/* Appends where threads wait, if that was recorded. */
static int put_waits(const struct report_opts *o, struct reader *r,
		     const struct text_style *style, struct buf *out,
		     struct error *err)
{
	struct wait_sites sites;
	struct name_list names;
	struct report *rep;
	int rc = report_waits(o, r, &rep, &names, err);

	if (rc >= 0 && rep)
		rc = wait_sites_build(rep, r, &sites);
	if (rc >= 0 && rep) {
		wait_sites_text(rep, &sites, style, o->top ? o->top : WAIT_ROWS,
				out);
		wait_sites_fini(&sites);
	}
	report_free(rep);
	free((void *)names.v);
	return rc == -ERR_NOMEM ? error_nomem(err) : rc;
}

/* Shows what ended which waits. */
static int show_wakers(struct cmd_io *io, const struct report_opts *o,
		       struct reader *r, enum format format, struct error *err)
{
	struct text_style style = make_style(io, o, false);
	struct wait_sites pairs;
	struct name_list names = { NULL, 0 };
	struct report *rep = NULL;
	struct buf out = { .most = o->max_output };
	uint64_t blocked;
	int rc;

	if (format != FORMAT_TEXT && format != FORMAT_JSON)
		return error_set(err, ERR_USAGE, "--wakers is shown as text or "
				 "json only");
	rc = report_waits(o, r, &rep, &names, err);
	if (rc >= 0 && !rep)
		rc = error_set(err, ERR_USAGE, "no waits were recorded: use "
			       "tally record --wait");
	if (rc >= 0)
		rc = wait_pairs_build(rep, r, &pairs, &blocked);
	if (rc >= 0) {
		if (format == FORMAT_JSON)
			wait_pairs_json(rep, &pairs, blocked, &out);
		else
			wait_pairs_text(rep, &pairs, blocked, &style,
					o->top ? o->top : WAIT_ROWS, &out);
		wait_sites_fini(&pairs);
		rc = cmd_output(io, o->output, &out, err);
	}
	buf_fini(&out);
	report_free(rep);
	free((void *)names.v);
	return rc == -ERR_NOMEM ? error_nomem(err) : rc;
}

static void put_json(void *rep, struct buf *out)
{
	report_json(rep, out);
}

static int show(struct cmd_io *io, const struct report_opts *o,
		struct reader *r, struct report *rep, enum format format,
		struct error *err)
{
	struct buf out = { .most = o->max_output };
	struct text_style style;
	struct missing_help help;
	bool color;
	int rc = cmd_color(o->color, io->color && !o->output, &color, err);

	if (rc < 0)
		return rc;
	style = make_style(io, o, color);
	style.missing = count_missing(o, rep, format);
	rc = missing_help_find(&rep->missing, style.missing, false, &help, err);
	if (rc < 0)
		return rc;
	if (format == FORMAT_CSV)
		report_csv(rep, &out);
	else if (format == FORMAT_TEXT)
		report_text(rep, &style, &out);
	if (format == FORMAT_TEXT && !o->images.n && !o->symbols.n)
		rc = put_waits(o, r, &style, &out, err);
	if (rc >= 0)
		cmd_use_pager(io, o->output, o->no_pager);
	if (rc >= 0 && format == FORMAT_JSON)
		rc = cmd_output_stream(io, o->output, o->max_output, put_json, rep, err);
	else if (rc >= 0)
		rc = cmd_output(io, o->output, &out, err);
	missing_help_free(&help);
	buf_fini(&out);
	return rc;
}

/* A page shows all functions, and its reader chooses their order. */
static int check_page(const struct report_opts *o, const struct report_spec *s,
		      struct error *err)
{
	const char *what = NULL;

	if (strcmp(o->sort, "image,symbol") != 0)
		what = "--sort";
	else if (s->select.symbols.n || s->select.images.n)
		what = s->select.symbols.n ? "--symbol" : "--image";
	else if (s->tree != TREE_NONE)
		what = "--call-graph";
	else if (s->top || o->limit > 0)
		what = s->top ? "--top" : "--percent-limit";
	if (what)
		return error_set(err, ERR_USAGE,
				 "%s cannot be combined with --html: the page "
				 "itself sorts, searches and shows callers",
				 what);
	return 0;
}

/* Returns whether to open the interactive view: it is possible, and no option
 * applies to text only. */
static bool wants_tui(const struct cmd_io *io, const struct report_opts *o,
		      enum format format)
{
	bool text = o->output || o->no_header || o->missing || o->no_pager ||
		    o->color || o->samples || o->no_children || o->top ||
		    o->limit != AUTO || o->width != UINT64_MAX;

	if (format != FORMAT_TEXT || o->no_tui)
		return false;
	return o->tui || (!text && io->out_tty && !io->no_screen);
}

/* What the output shows of symbols.  The ids of JSON and CSV have files, and a selected
 * symbol may name one. */
static enum sym_detail shown_detail(const struct report_spec *spec,
				    enum format format, bool tui)
{
	if (format != FORMAT_TEXT || tui || key_list_has(&spec->keys, KEY_FILE) ||
	    key_list_has(&spec->keys, KEY_LINE))
		return SYM_LINES;
	return spec->no_inline && !spec->select.symbols.n ? SYM_SYMBOLS : SYM_INLINED;
}

static int open_view(struct cmd_io *io, const struct tui_options *tui,
		     struct reader *r, struct error *err)
{
	struct screen screen;
	int rc = io->open_screen(io, &screen, err);

	if (rc < 0)
		return rc;
	rc = tui_run(r, tui, &screen, err);
	io->close_screen(io);
	return rc;
}

/* Requests names while the view is shown. */
static int open_late_view(struct cmd_io *io, struct tui_options *tui,
			  struct late_names *late, uint64_t max_memory,
			  struct error *err)
{
	struct late_view v = { .late = late, .max_memory = max_memory };
	int rc = late_view_init(&v, err);

	if (!rc) {
		cmd_late_announce(io);
		tui->news = &v.news;
		rc = open_view(io, tui, late->r, err);
	}
	if (!rc)
		rc = late_view_finish(&v, err);
	late_view_fini(&v);
	return rc;
}

/* `late`: for names that are requested, or NULL.  `notice`: what the user is to read at
 * first, or NULL. */
static int browse(struct cmd_io *io, const struct report_opts *o,
		  const struct report_spec *spec, const char *path,
		  struct reader *r, struct late_names *late, const char *notice,
		  struct error *err)
{
	struct tui_options tui = { .file = path, .report = *spec,
				   .full_names = o->full_names,
				   .annotate = { .intel = true },
				   .notice = notice };
	int rc = cmd_sources(io, &o->source_at, NULL, SOURCES_ON_SCREEN,
			     &tui.annotate.where, err);

	if (!rc && tui.annotate.where.server) {
		debuginfod_notify(tui.annotate.where.server);
		tui.annotate.where.server->progress = NULL;
	}
	if (!rc)
		rc = late ? open_late_view(io, &tui, late, o->reading.max_memory, err)
			  : open_view(io, &tui, r, err);
	cmd_sources_free(&tui.annotate.where);
	return rc;
}

static int write_page(struct cmd_io *io, const struct report_opts *o,
		      struct reader *r, struct report *rep, struct error *err)
{
	struct annotate_spec like = { .intel = true };
	struct html_style page = { 0 };
	int rc = cmd_sources(io, &o->source_at, NULL, SOURCES_FOR_OTHERS, &like.where,
			     err) ?:
		 cmd_page(io, o->output, "report.html", r, rep, &like, &page, err);

	cmd_sources_free(&like.where);
	return rc;
}

/* Shows the report as text, table or page. */
static int show_report(struct cmd_io *io, struct report_opts *o,
		       struct report_spec spec, enum format format,
		       const char *path, struct reader *r, struct error *err)
{
	struct name_list others = { NULL, 0 };
	struct report *rep = NULL;
	int rc = 0;

	if (o->wakers)
		return show_wakers(io, o, r, format, err);
	/* Waits form a separate table if there are other events. */
	if (format == FORMAT_TEXT && !spec.select.events.n) {
		rc = pick_events(reader_profile(r), false, &others);
		if (rc < 0)
			error_nomem(err);
		else if (others.n && others.n < reader_profile(r)->events.n)
			spec.select.events = others;
	}
	if (rc >= 0)
		rc = report_with_trees(r, &spec, &rep, err);
	if (rc >= 0 && (format == FORMAT_CSV || format == FORMAT_HTML))
		cmd_report_damage(io, path, r);
	if (rc >= 0 && format == FORMAT_HTML)
		rc = write_page(io, o, r, rep, err);
	else if (rc >= 0)
		rc = show(io, o, r, rep, format, err);
	report_free(rep);
	free((void *)others.v);
	return rc;
}

/* Returns whether a report that was shown can be replaced, or followed by a newer
 * one: on a terminal, and in a file.  A program that reads a pipe wants one. */
static bool can_repeat(const struct cmd_io *io, const struct report_opts *o,
		       enum format format)
{
	struct stat st;

	if (o->output)
		return !stat(o->output, &st) && S_ISREG(st.st_mode);
	return io->out_tty && (format == FORMAT_TEXT || format == FORMAT_HTML);
}

/* Requests names after the report, and shows it again if some came. */
static int add_names(struct cmd_io *io, struct report_opts *o,
		     const struct report_spec *spec, enum format format,
		     struct late_names *late, struct error *err)
{
	bool news = false;
	int rc = fflush(io->out) ? error_errno(err, errno, "cannot write the "
					       "output")
				 : cmd_late_names(late, &news, err);

	if (rc >= 0 && news && can_repeat(io, o, format))
		rc = show_report(io, o, *spec, format, late->path, late->r, err);
	else if (rc >= 0 && news)
		fputs("tally: repeat the report to see them\n", io->err);
	cmd_late_fini(late);
	return rc;
}

/* Shows the report and, if names are requested, what they add. */
static int print_report(struct cmd_io *io, struct report_opts *o,
			const struct report_spec *spec, enum format format,
			struct late_names *late, bool request, struct error *err)
{
	bool no_pager = o->no_pager;
	int rc;

	/* what follows would disturb the pager */
	o->no_pager |= request;
	rc = show_report(io, o, *spec, format, late->path, late->r, err);
	o->no_pager = no_pager;
	return rc >= 0 && request ? add_names(io, o, spec, format, late, err) : rc;
}

/* Returns whether names are to be requested.  If they are not, although the user
 * wants them, says why, also in `why`; the report is shown anyway. */
static bool may_request(struct cmd_io *io, const struct fetch_options *limits,
			const char *path, struct reader *r, bool trusted,
			struct buf *why)
{
	if (!limits->seconds)
		return false;
	buf_str(why, "nothing is requested from debuginfod: ");
	if (cmd_late_allowed(path, r, trusted, why))
		return true;
	fprintf(io->err, "tally: %s\n", buf_cstr(why));
	return false;
}

static int run_report(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	struct report_opts *o = opts;
	enum format format = o->html ? FORMAT_HTML : (enum format)o->format;
	bool tui = wants_tui(io, o, format), request;
	struct fetch_options limits = { 0 };
	struct late_names late = { .io = io, .limits = &limits,
				   .debug_dirs = &o->reading.debug_dirs };
	struct report_spec spec;
	struct reader *r = NULL;
	struct buf why = { 0 };
	int rc;

	take_graph_word(o, &argc, argv);
	rc = make_spec(o, format, &spec, err);
	if (rc >= 0 && format == FORMAT_HTML)
		rc = check_page(o, &spec, err);
	if (rc >= 0)
		rc = cmd_fetch_limits(&o->debuginfod, &limits, err);
	if (rc < 0)
		return rc;
	o->reading.no_code = format != FORMAT_HTML && !tui;
	o->reading.detail = shown_detail(&spec, format, tui);
	rc = cmd_open(io, &o->reading, o->input, argc, argv, &late.path, &r, err);
	if (rc < 0)
		return rc;
	o->max_output = cmd_max_output(o->max_output, reader_bytes(r),
				       format == FORMAT_JSON && !o->wakers
				       ? CMD_EXPORT_A_BYTE : CMD_TEXT_A_BYTE);
	late.r = r;
	request = may_request(io, &limits, late.path, r, o->reading.trust, &why);
	if (tui && !o->wakers)
		rc = browse(io, o, &spec, late.path, r, request ? &late : NULL,
			    why.n && !request ? buf_cstr(&why) : NULL, err);
	else
		rc = print_report(io, o, &spec, format, &late,
				  request, err);
	buf_fini(&why);
	reader_close(r);
	return rc < 0 ? rc : 0;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show where a recording spent its time",
	.args = "[FILE]",
	.opts = report_opt_table,
	.opts_size = sizeof(struct report_opts),
	.defaults = &(const struct report_opts){
		.sort = "image,symbol", .limit = AUTO, .width = UINT64_MAX,
	},
	.run = run_report,
};
