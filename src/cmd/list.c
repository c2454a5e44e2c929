// SPDX-License-Identifier: GPL-2.0-or-later
/* tally list: events that this machine has, processors that tally knows, metrics. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/list_hw.h"
#include "cmd/list_metrics.h"
#include "events/events.h"
#include "record/perf/perf_open.h"
#include "record/perf/probe.h"

enum { NAME_WIDTH = 36, NAME_WIDEST = 60 };

struct list_opts {
	bool all;
	const char *format;
};

static const struct opt list_opt_table[] = {
	{ OPT_FLAG, 0, "all", NULL,
	  "Also list events that cannot be used here, with the reason.",
	  offsetof(struct list_opts, all) },
	{ OPT_STR, 0, "format", "text|json", "Output format. Default: text.",
	  offsetof(struct list_opts, format) },
	OPT_END
};

struct row {
	char name[EVENT_NAME_MAX], alias[64], group[64];
	char summary[160];
	char reason[160];	/* "" when usable */
};

struct listing {
	int nwords;
	char **words;
	bool all;
	size_t hidden;		/* that cannot be used, without `all` */
	struct error blocked;	/* no event at all may be tried */
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
	json_end(&j);
	json_end(&j);
	fprintf(io->out, "%s\n", buf_cstr(&b));
	buf_fini(&b);
}

/* Of the column of names, as wide as its longest. */
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
			"--all shows why\n", l->hidden,
			l->hidden == 1 ? "" : "s");
}

static void print_none(struct cmd_io *io, const struct listing *l)
{
	if (l->hidden)
		fprintf(io->err, "tally: %zu event%s%s, but none that can be "
			"used here: --all shows why\n", l->hidden,
			l->hidden == 1 ? "" : "s",
			l->nwords ? " of that name" : "");
	else
		fprintf(io->err, "tally: no event%s; 'tally list --all' shows "
			"all there are\n", l->nwords ? " of that name" : "");
}

static int list_run(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	const struct list_opts *o = opts;
	struct listing l = { .nwords = argc, .words = argv, .all = o->all };
	bool json = o->format && !strcmp(o->format, "json");
	int r;

	if (o->format && !json && strcmp(o->format, "text"))
		return error_set(err, ERR_USAGE,
				 "--format must be text or json, not \"%s\"",
				 o->format);
	if (list_metrics(io, argc, argv, json))
		return 0;
	r = list_hw(io, argc, argv, json, err);
	if (r)
		return r < 0 ? r : 0;
	perf_reachable(&l.blocked);
	events_each("/sys", add, &l);
	if (l.failed) {
		vec_fini(&l.rows);
		return error_set(err, ERR_NOMEM, "out of memory for events");
	}
	if (!json && io->start_pager)
		io->start_pager(io);
	if (json)
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
