// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds metrics, parses requests for them and computes them. */
#include "events/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

const struct metric *metric_find(const char *name, size_t n)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (strlen(m->name) == n && !strncasecmp(m->name, name, n))
			return m;
	return NULL;
}

size_t metric_events(const struct metric *m)
{
	size_t n = 0;

	while (n < METRIC_EVENTS_MAX && m->events[n])
		n++;
	return n;
}

bool metric_uses_time(const struct metric *m)
{
	return formula_uses(m->formula, "time");
}

struct metric_use metric_plain(const struct metric *m)
{
	struct metric_use u = { .m = m };

	snprintf(u.text, sizeof(u.text), "%s", m->name);
	for (size_t i = 0; i < METRIC_PARAMS_MAX; i++)
		u.params[i] = m->params[i].value;
	return u;
}

static int unknown(const char *text, size_t n, struct error *err)
{
	char name[METRIC_NAME_MAX];
	struct nearest near;
	const char *best;

	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	near = nearest_to(name);
	for (const struct metric *m = metric_table; m->name; m++)
		nearest_try(&near, m->name);
	best = nearest_best(&near);
	if (best)
		return error_set(err, ERR_USAGE, "no metric \"%s\"; did you "
				 "mean %s?", name, best);
	return error_set(err, ERR_USAGE, "no metric \"%s\"; \"tally list "
			 "metrics\" shows them", name);
}

/* Parses NAME=NUMBER, n bytes. */
static int param_parse(struct metric_use *u, const char *s, size_t n,
		       struct error *err)
{
	const char *eq = memchr(s, '=', n);
	size_t k = eq ? (size_t)(eq - s) : n;
	char number[32];
	struct error why = { 0 };
	double v;

	for (size_t i = 0; i < METRIC_PARAMS_MAX && u->m->params[i].name; i++) {
		if (strlen(u->m->params[i].name) != k ||
		    strncasecmp(u->m->params[i].name, s, k))
			continue;
		snprintf(number, sizeof(number), "%.*s",
			 eq ? (int)(n - k - 1) : 0, eq ? eq + 1 : "");
		/* A formula without names is a number, in any locale. */
		if (n - k - 1 >= sizeof(number) ||
		    formula_eval(number, NULL, 0, &v, &why) < 0 || isnan(v))
			return error_set(err, ERR_USAGE, "metric %s: %s= needs "
					 "a number, not \"%s\"", u->m->name,
					 u->m->params[i].name, number);
		u->params[i] = v;
		return 0;
	}
	if (!u->m->params[0].name)
		return error_set(err, ERR_USAGE, "metric %s has no parameters, "
				 "so not \"%.*s\"", u->m->name, (int)n, s);
	return error_set(err, ERR_USAGE, "metric %s has no parameter \"%.*s\"; "
			 "it has %s%s%s", u->m->name, (int)k, s,
			 u->m->params[0].name,
			 u->m->params[1].name ? " and " : "",
			 u->m->params[1].name ? u->m->params[1].name : "");
}

int metric_parse(const char *text, struct metric_use *out, struct error *err)
{
	size_t n = strcspn(text, ":");
	const struct metric *m = metric_find(text, n);
	int r = 0;

	if (strlen(text) >= METRIC_NAME_MAX)
		return error_set(err, ERR_USAGE, "metric \"%.20s…\" is longer "
				 "than %d characters", text,
				 METRIC_NAME_MAX - 1);
	if (!n)
		return error_set(err, ERR_USAGE, "a metric's name is empty");
	if (!m)
		return unknown(text, n, err);
	*out = metric_plain(m);
	snprintf(out->text, sizeof(out->text), "%s", text);
	for (text += n; *text && !r; text += n) {
		n = strcspn(++text, ":");
		r = param_parse(out, text, n, err);
	}
	return r;
}

double metric_value(const struct metric_use *u, const double *counts,
		    double seconds)
{
	static const char *const letters[] = { "a", "b", "c", "d" };
	struct formula_name names[METRIC_EVENTS_MAX + METRIC_PARAMS_MAX + 1];
	size_t n = 0, events = metric_events(u->m);
	double v;

	for (size_t i = 0; i < events; i++)
		names[n++] = (struct formula_name){ letters[i], counts[i] };
	for (size_t i = 0; i < METRIC_PARAMS_MAX && u->m->params[i].name; i++)
		names[n++] = (struct formula_name){ u->m->params[i].name,
						    u->params[i] };
	names[n++] = (struct formula_name){ "time", seconds };
	return formula_eval(u->m->formula, names, n, &v, NULL) < 0 ? NAN : v;
}
