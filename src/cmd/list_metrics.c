// SPDX-License-Identifier: GPL-2.0-or-later
/* tally list metrics: figures that counts can be turned into. */
#include "cmd/list_metrics.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "events/metrics.h"

static bool matches(const struct metric *m, int argc, char **argv)
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
		fprintf(io->out, "    time = seconds that went by\n");
	for (size_t i = 0; i < METRIC_PARAMS_MAX && m->params[i].name; i++)
		fprintf(io->out, "    %s = %g unless given (%s:%s=…): %s\n",
			m->params[i].name, m->params[i].value, m->name,
			m->params[i].name, m->params[i].what);
	fprintf(io->out, "    from %s\n", m->source);
	if (m->note)
		fprintf(io->out, "    %s\n", m->note);
}

/* Are all words names of metrics? */
static bool all_names(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!metric_find(argv[i], strcspn(argv[i], ":")))
			return false;
	return argc > 0;
}

static const struct metric *next(size_t *i, bool names, int argc, char **argv)
{
	const struct metric *m;

	if (names) {
		if (*i >= (size_t)argc)
			return NULL;
		m = metric_find(argv[*i], strcspn(argv[*i], ":"));
		(*i)++;
		return m;
	}
	while ((m = metric_at((*i)++)))
		if (matches(m, argc, argv))
			return m;
	return NULL;
}

int list_metrics(struct cmd_io *io, int argc, char **argv, bool json)
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
	json_end(&j);
	json_end(&j);
	if (json)
		fprintf(io->out, "%s\n", buf_cstr(&b));
	else if (!shown)
		fprintf(io->err, "tally: no metric matches\n");
	buf_fini(&b);
	return 1;
}
