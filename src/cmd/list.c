// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally list`: shows this machine's events, the processors that tally knows, and
 * metrics. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/show_options.h"
#include "events/events.h"
#include "events/hw.h"
#include "events/metrics.h"
#include "record/perf/perf_open.h"

/* Prints a list in an object, both of which are still open. */
static void json_print(struct cmd_io *io, struct json *j)
{
	json_end(j);
	json_end(j);
	fprintf(io->out, "%s\n", buf_cstr(j->out));
	buf_fini(j->out);
}

/* tally list metrics: figures that are computed from counts. */

static bool metric_matches(const struct metric *m, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strcasestr(m->name, argv[i]) ||
		    strcasestr(m->summary, argv[i]) ||
		    (m->pmu && !strcasecmp(m->pmu->name, argv[i])))
			return true;
		for (size_t k = 0; k < metric_events(m); k++)
			if (strcasestr(m->events[k], argv[i]))
				return true;
	}
	return !argc;
}

static void metric_json(struct json *j, const struct metric *m)
{
	json_object(j, NULL);
	json_str(j, "name", m->name);
	json_str(j, "pmu", m->pmu ? m->pmu->name : "");
	json_str(j, "summary", m->summary);
	json_str(j, "unit", m->unit);
	json_str(j, "formula", m->formula);
	json_object(j, "events");
	for (size_t i = 0; i < metric_events(m); i++) {
		const char letter[] = { (char)('a' + i), 0 };

		json_str(j, letter, m->events[i]);
	}
	json_end(j);
	json_array(j, "parameters");
	for (size_t i = 0; i < METRIC_PARAMS_MAX && m->params[i].name; i++) {
		json_object(j, NULL);
		json_str(j, "name", m->params[i].name);
		json_fixed(j, "value", m->params[i].value, 0);
		json_str(j, "summary", m->params[i].what);
		json_end(j);
	}
	json_end(j);
	json_str(j, "source", m->source);
	if (m->note)
		json_str(j, "note", m->note);
	json_end(j);
}

static void metric_text(struct cmd_io *io, const struct metric *m)
{
	fprintf(io->out, "%s: %s\n    = %s%s%s\n", m->name, m->summary,
		m->formula, *m->unit ? "  " : "", m->unit);
	for (size_t i = 0; i < metric_events(m); i++)
		fprintf(io->out, "    %c = %s\n", (char)('a' + i),
			m->events[i]);
	if (metric_uses_time(m))
		fprintf(io->out, "    time = elapsed seconds\n");
	for (size_t i = 0; i < METRIC_PARAMS_MAX && m->params[i].name; i++)
		fprintf(io->out, "    %s = %g unless given (%s:%s=…): %s\n",
			m->params[i].name, m->params[i].value, m->name,
			m->params[i].name, m->params[i].what);
	fprintf(io->out, "    from %s\n", m->source);
	if (m->note)
		fprintf(io->out, "    %s\n", m->note);
}

/* Returns whether all words are names of metrics. */
static bool all_names(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!metric_find(argv[i], strcspn(argv[i], ":")))
			return false;
	return argc > 0;
}

static const struct metric *next(size_t *i, bool names, int argc, char **argv)
{
	const char *name = names && *i < (size_t)argc ? argv[(*i)++] : NULL;

	if (names)
		return name ? metric_find(name, strcspn(name, ":")) : NULL;
	while (metric_table[*i].name) {
		const struct metric *m = &metric_table[(*i)++];

		if (metric_matches(m, argc, argv))
			return m;
	}
	return NULL;
}

/* Shows metrics if `argv` asks for them by "metrics" and patterns, or by name.
 * Returns 0 if it does not. */
static int list_metrics(struct cmd_io *io, int argc, char **argv, bool json)
{
	bool names = all_names(argc, argv);
	struct buf b = { 0 };
	struct json j = json_on(&b);
	const struct metric *m;
	size_t i = 0, shown = 0;

	if (!names && (!argc || strcasecmp(argv[0], "metrics")))
		return 0;
	if (!names)
		argc--, argv++;
	if (!json && io->start_pager)
		io->start_pager(io);
	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_array_lines(&j, "metrics");
	while ((m = next(&i, names, argc, argv))) {
		if (json) {
			metric_json(&j, m);
			continue;
		}
		fputs(shown++ ? "\n" : "", io->out);
		metric_text(io, m);
	}
	if (json)
		json_print(io, &j);
	else if (!shown)
		fprintf(io->err, "tally: no metric matches\n");
	buf_fini(&b);
	return 1;
}

/* tally list k8, tally list p6: the events of one processor family. */

enum { NAME_MAX_HW = 128, WIDTH = 80 };

static void strs_json(struct json *j, const char *key, const char *names)
{
	char name[NAME_MAX_HW];

	json_array(j, key);
	for (size_t i = 0; hw_names_at(names, i, name, sizeof(name)); i++)
		json_str(j, NULL, name);
	json_end(j);
}

/* Writes all spellings: with the prefixes of the documents, and FreeBSD's aliases. */
static void names_json(struct json *j, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char name[NAME_MAX_HW], full[NAME_MAX_HW + 8];

	json_array(j, "names");
	for (size_t i = 0; hw_names_at(e->names, i, name, sizeof(name)); i++) {
		snprintf(full, sizeof(full), "%s%s", pmu->prefix, name);
		json_str(j, NULL, full);
		snprintf(full, sizeof(full), "%s%s", pmu->doc_prefix, name);
		if (*pmu->doc_prefix)
			json_str(j, NULL, full);
	}
	json_end(j);
	json_array(j, "aliases");
	for (const struct hw_alias *a = pmu->aliases; a->name; a++)
		if (hw_event_find(pmu, a->event, strlen(a->event)) == e)
			json_str(j, NULL, a->name);
	json_end(j);
}

static void optional_json(struct json *j, const char *key, const char *s)
{
	if (s && *s)
		json_str(j, key, s);
}

static void masks_json(struct json *j, const struct hw_event *e)
{
	json_hex(j, "default_mask", e->default_mask);
	json_hex(j, "mask_bits", hw_event_bits(e));
	json_array(j, "masks");
	for (size_t i = 0; i < e->nmasks; i++) {
		json_object(j, NULL);
		json_hex(j, "bits", e->masks[i].bits);
		strs_json(j, "names", e->masks[i].names);
		json_str(j, "summary", e->masks[i].what);
		json_end(j);
	}
	json_end(j);
}

static void event_json(struct json *j, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	static const char *const when[] = {
		[HW_UNSAID] = NULL, [HW_SPECULATIVE] = "speculative",
		[HW_RETIRED] = "retired",
	};
	uint8_t counters = hw_event_counters(pmu, e);
	char name[NAME_MAX_HW];

	hw_event_name(pmu, e, name, sizeof(name));
	json_object(j, NULL);
	json_str(j, "name", name);
	json_str(j, "pmu", pmu->name);
	names_json(j, pmu, e);
	optional_json(j, "title", e->title);
	json_hex(j, "event", e->code);
	masks_json(j, e);
	json_array(j, "counters");
	for (unsigned int i = 0; i < pmu->model->counters; i++)
		if (counters >> i & 1)
			json_uint(j, NULL, i);
	json_end(j);
	json_bool(j, "northbridge", hw_event_shared(pmu, e));
	optional_json(j, "speculation", when[e->when]);
	json_str(j, "summary", e->what);
	optional_json(j, "note", e->note);
	optional_json(j, "revision", e->revision);
	optional_json(j, "generic", e->generic);
	json_array(j, "documents");
	for (int i = 0; i < HW_DOCUMENTS; i++)
		if (e->sources & hw_documents[i].bit)
			json_str(j, NULL, hw_documents[i].title);
	json_end(j);
	json_end(j);
}

/* Returns "counter 0 only" or the like, "" without a restriction. */
static const char *pinned(const struct hw_event *e)
{
	return e->counters == 1 ? "counter 0 only"
	       : e->counters == 2 ? "counter 1 only" : NULL;
}

/* Writes text from column `in` on, where the cursor is, wrapped at WIDTH. */
static void wrap(struct cmd_io *io, size_t in, const char *s)
{
	struct buf text = { 0 };

	text_wrap(&text, s, in, WIDTH);
	fputs(buf_cstr(&text), io->out);
	buf_fini(&text);
}

static void event_line(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char name[NAME_MAX_HW];
	struct buf b = { 0 };

	hw_event_name(pmu, e, name, sizeof(name));
	fprintf(io->out, "0x%02x  %s\n      ", e->code, name);
	buf_str(&b, e->what);
	if (pinned(e))
		buf_printf(&b, " (%s)", pinned(e));
	wrap(io, 6, buf_cstr(&b));
	buf_reset(&b);
	for (size_t i = 0; i < e->nmasks; i++) {
		hw_names_at(e->masks[i].names, 0, name, sizeof(name));
		buf_printf(&b, "%s%s=0x%02x", i ? " " : "", name,
			   e->masks[i].bits);
	}
	if (b.n) {
		fprintf(io->out, "      masks: ");
		wrap(io, 13, buf_cstr(&b));
	}
	buf_fini(&b);
}

static void field(struct cmd_io *io, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(io->out, "  %-13s", key);
	wrap(io, 15, value);
}

static void masks_text(struct cmd_io *io, const struct hw_event *e)
{
	struct buf b = { 0 };

	buf_printf(&b, "0x%02x; default 0x%02x", hw_event_bits(e),
		   e->default_mask);
	if (e->rule == HW_MASK_MESI)
		buf_str(&b, "; 0 counts nothing and is rejected");
	field(io, "mask bits", e->nmasks ? buf_cstr(&b) : "none");
	for (size_t i = 0; i < e->nmasks; i++) {
		char name[NAME_MAX_HW];

		buf_reset(&b);
		buf_printf(&b, "0x%02x", e->masks[i].bits);
		for (size_t k = 0; hw_names_at(e->masks[i].names, k, name,
					       sizeof(name)); k++)
			buf_printf(&b, "%s%s", k ? ", or " : "  ", name);
		buf_printf(&b, ": %s", e->masks[i].what);
		field(io, "", buf_cstr(&b));
	}
	buf_fini(&b);
}

static void names_text(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char name[NAME_MAX_HW];
	struct buf b = { 0 };

	for (size_t i = 1; hw_names_at(e->names, i, name, sizeof(name)); i++)
		buf_printf(&b, "%s%s%s", b.n ? ", " : "", pmu->prefix, name);
	for (const struct hw_alias *a = pmu->aliases; a->name; a++)
		if (hw_event_find(pmu, a->event, strlen(a->event)) == e)
			buf_printf(&b, "%s%s", b.n ? ", " : "", a->name);
	hw_names_at(e->names, 0, name, sizeof(name));
	if (*pmu->doc_prefix)
		buf_printf(&b, "%s%s%s", b.n ? ", " : "", pmu->doc_prefix,
			   name);
	buf_printf(&b, "%s%s:0x%02x", b.n ? ", " : "", pmu->name, e->code);
	field(io, "other names", buf_cstr(&b));
	buf_fini(&b);
}

static void event_text(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char text[NAME_MAX_HW];
	struct buf b = { 0 };

	hw_event_name(pmu, e, text, sizeof(text));
	fprintf(io->out, "%s: event 0x%02x of %s\n", text, e->code,
		pmu->summary);
	field(io, "headed", e->title);
	field(io, "counts", e->what);
	names_text(io, pmu, e);
	masks_text(io, e);
	field(io, "counters", pinned(e) ? pinned(e)
	      : pmu->model->counters == 4 ? "any of 0 to 3" : "0 or 1");
	if (hw_event_shared(pmu, e))
		field(io, "northbridge", "shared by the cores of a node: while "
		      "one counts this in a counter, the others may not use "
		      "their counter of that number; halted processors do not "
		      "count (--keep-busy keeps them running)");
	field(io, "speculation", e->when == HW_RETIRED
	      ? "retired work only" : e->when == HW_SPECULATIVE
	      ? "speculative work is included" : NULL);
	field(io, "note", e->note);
	field(io, "revision", e->revision);
	field(io, "elsewhere", e->generic);
	for (int i = 0; i < HW_DOCUMENTS; i++)
		if (e->sources & hw_documents[i].bit)
			buf_printf(&b, "%s%s", b.n ? "; " : "",
				   hw_documents[i].title);
	field(io, "documents", buf_cstr(&b));
	buf_fini(&b);
}

/* Recognizes a code: 0x42 or 42h. */
static bool is_code(const char *word, uint16_t code)
{
	char *end;
	unsigned long v = strtoul(word, &end, 16);

	return end != word && v == code &&
	       (strcasecmp(end, "h") == 0 ||
		(!*end && !strncasecmp(word, "0x", 2)));
}

static bool matches(const struct hw_event *e, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strcasestr(e->names, argv[i]) ||
		    strcasestr(e->title, argv[i]) ||
		    strcasestr(e->what, argv[i]) || is_code(argv[i], e->code))
			return true;
		for (size_t k = 0; k < e->nmasks; k++)
			if (strcasestr(e->masks[k].names, argv[i]))
				return true;
	}
	return !argc;
}

/* Finds the event that a word names.  Kernel names have precedence, as in `record
 * -e`. */
static const struct hw_pmu *named(const char *word,
				  const struct hw_event **event)
{
	struct event_spec spec;

	if (event_name_find(word, strlen(word), &spec))
		return NULL;
	return hw_spec_pmu(word, hw_pmu_here("/sys"), event);
}

static void all(struct cmd_io *io, const struct hw_pmu *pmu, int argc,
		char **argv, struct json *j)
{
	size_t shown = 0;

	if (!j)
		fprintf(io->out, "%s:\n\n", pmu->summary);
	for (const struct hw_event *e = pmu->events; e->names; e++) {
		if (!matches(e, argc, argv))
			continue;
		shown++;
		if (j)
			event_json(j, pmu, e);
		else
			event_line(io, pmu, e);
	}
	if (!shown && !j)
		fprintf(io->err, "tally: no event of %s matches\n",
			pmu->name);
}

static int explain(struct cmd_io *io, int argc, char **argv, struct json *j,
		   struct error *err)
{
	for (int i = 0; i < argc; i++) {
		const struct hw_event *e;
		const struct hw_pmu *pmu = named(argv[i], &e);
		struct hw_spec spec;

		if (!e)		/* a known prefix: report the mistake */
			return hw_spec_parse(pmu, argv[i], &spec, err);
		if (j)
			event_json(j, pmu, e);
		else if (i)
			fputc('\n', io->out);
		if (!j)
			event_text(io, pmu, e);
	}
	return 1;
}

/* Shows the events that argv asks for.  Returns 1 if they were shown, 0 if argv
 * does not name these processors. */
static int list_hw(struct cmd_io *io, int argc, char **argv, bool json,
		   struct error *err)
{
	const struct hw_pmu *pmu = argc ? hw_pmu_find(argv[0]) : NULL;
	struct buf b = { 0 };
	struct json j = json_on(&b);
	const struct hw_event *e;
	int r = 1;

	for (int i = 0; i < argc && !pmu; i++)
		if (!named(argv[i], &e))
			return 0;
	if (!argc)
		return 0;
	if (!json && pmu && io->start_pager)
		io->start_pager(io);
	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	if (pmu)
		json_str(&j, "pmu", pmu->name);
	json_array_lines(&j, "events");
	if (pmu)
		all(io, pmu, argc - 1, argv + 1, json ? &j : NULL);
	else
		r = explain(io, argc, argv, json ? &j : NULL, err);
	if (json && r > 0)
		json_print(io, &j);
	buf_fini(&b);
	return r;
}

enum { NAME_WIDTH = 36, NAME_WIDEST = 60 };

struct list_opts {
	bool all;
	int json;
};

static const struct opt list_opt_table[] = {
	{ OPT_FLAG, 0, "all", NULL, offsetof(struct list_opts,all),
	  "Also list events that cannot be used here, with the reason." },
	OPT_ROW_JSON(offsetof(struct list_opts, json)),
	OPT_END
};

struct row {
	char name[EVENT_NAME_MAX], alias[64], group[64];
	char summary[160];
	char reason[160];	/* why it cannot be used; "" if it can */
};

struct listing {
	int nwords;
	char **words;
	bool all;
	size_t hidden;		/* number of unusable events that are not shown
				 * without `all` */
	struct error blocked;	/* reason why no event can be tried */
	VEC(struct row) rows;
	bool failed;
};

static bool wanted(const struct listing *l, const struct event_info *info)
{
	for (int i = 0; i < l->nwords; i++)
		if (strcasestr(info->name, l->words[i]) ||
		    strcasestr(info->alias, l->words[i]) ||
		    strcasestr(info->group, l->words[i]))
			return true;
	return !l->nwords;
}

static bool add(void *ctx, const struct event_info *info)
{
	struct listing *l = ctx;
	struct row row = { .reason = "" };
	struct event_list one = { 0 };
	struct error err = { 0 };

	if (!wanted(l, info))
		return true;
	if (l->blocked.code)
		err = l->blocked;
	else if (!events_parse(info->name, "/sys", &one, &err))
		event_usable(&one.v[0], &err);
	snprintf(row.reason, sizeof(row.reason), "%.159s", err.msg);
	event_list_fini(&one);
	if (*row.reason && !l->all) {
		l->hidden++;
		return true;
	}
	snprintf(row.name, sizeof(row.name), "%s", info->name);
	snprintf(row.alias, sizeof(row.alias), "%s", info->alias);
	snprintf(row.group, sizeof(row.group), "%s", info->group);
	snprintf(row.summary, sizeof(row.summary), "%s", info->summary);
	l->failed = vec_push(&l->rows, row) < 0;
	return !l->failed;
}

static void print_json(struct cmd_io *io, const struct listing *l)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_array_lines(&j, "events");
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct row *r = &l->rows.v[i];

		json_object(&j, NULL);
		json_str(&j, "name", r->name);
		if (*r->alias)
			json_str(&j, "alias", r->alias);
		json_str(&j, "group", r->group);
		json_str(&j, "summary", r->summary);
		json_bool(&j, "usable", !*r->reason);
		if (*r->reason)
			json_str(&j, "reason", r->reason);
		json_end(&j);
	}
	json_print(io, &j);
}

/* Returns the width of the column of names, that of the longest name. */
static int name_width(const struct listing *l)
{
	size_t width = NAME_WIDTH;

	for (size_t i = 0; i < l->rows.n; i++) {
		const struct row *r = &l->rows.v[i];
		size_t n = strlen(r->name) +
			   (*r->alias ? strlen(r->alias) + 4 : 0);

		if (n > width && n <= NAME_WIDEST)
			width = n;
	}
	return (int)width;
}

static void print_text(struct cmd_io *io, const struct listing *l)
{
	const char *group = "";
	int width = name_width(l);

	for (size_t i = 0; i < l->rows.n; i++) {
		const struct row *r = &l->rows.v[i];
		struct buf name = { 0 }, text = { 0 };

		if (strcmp(group, r->group)) {
			text_safe(&text, r->group);
			fprintf(io->out, "%s%s:\n", i ? "\n" : "",
				buf_cstr(&text));
			buf_reset(&text);
			group = r->group;
		}
		text_safe(&name, r->name);
		if (*r->alias) {
			buf_str(&name, " or ");
			text_safe(&name, r->alias);
		}
		text_safe(&text, *r->reason ? r->reason : r->summary);
		fprintf(io->out, "  %-*s %s%s\n", width, buf_cstr(&name),
			*r->reason ? "unusable: " : "", buf_cstr(&text));
		buf_fini(&name);
		buf_fini(&text);
	}
	if (l->hidden)
		fprintf(io->out, "\n# %zu more event%s cannot be used here: "
			"--all shows why\n", l->hidden, plural(l->hidden, "s"));
}

static void print_none(struct cmd_io *io, const struct listing *l)
{
	if (l->hidden)
		fprintf(io->err, "tally: %zu event%s%s, but none that can be "
			"used here: --all shows why\n", l->hidden,
			plural(l->hidden, "s"),
			l->nwords ? " of that name" : "");
	else
		fprintf(io->err, "tally: no event%s; 'tally list --all' lists "
			"all events\n", l->nwords ? " of that name" : "");
}

static int list_run(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	const struct list_opts *o = opts;
	struct listing l = { .nwords = argc, .words = argv, .all = o->all };
	int r;

	if (list_metrics(io, argc, argv, o->json))
		return 0;
	r = list_hw(io, argc, argv, o->json, err);
	if (r)
		return r < 0 ? r : 0;
	perf_reachable(&l.blocked);
	events_each("/sys", add, &l);
	if (l.failed) {
		vec_fini(&l.rows);
		return error_nomem(err);
	}
	if (!o->json && io->start_pager)
		io->start_pager(io);
	if (o->json)
		print_json(io, &l);
	else if (l.rows.n)
		print_text(io, &l);
	else
		print_none(io, &l);
	vec_fini(&l.rows);
	return 0;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "list events of this machine, of K8 and P6, and metrics",
	.args = "[WORD...]",
	.opts = list_opt_table,
	.opts_size = sizeof(struct list_opts),
	.run = list_run,
};
