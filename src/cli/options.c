// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines: see options.h. */
#include "cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

enum { FIRST_VAL = 256, HELP_VAL = FIRST_VAL - 1, NAME_MAX_BYTES = 80 };

static size_t count_opts(const struct command *cmd)
{
	size_t n = 0;

	while (cmd->opts && !option_is_end(&cmd->opts[n]))
		n++;
	return n;
}

/* "--name", or "-x" for an option that has no long name. */
static const char *option_shown(const struct opt *o, char *buf, size_t size)
{
	if (o->name)
		snprintf(buf, size, "--%s", o->name);
	else
		snprintf(buf, size, "-%c", o->short_name);
	return buf;
}

static int arg_kind(const struct opt *o)
{
	switch (o->kind) {
	case OPT_FLAG:
	case OPT_NOFLAG:
	case OPT_HEADING:
		return no_argument;
	case OPT_OPTSTR:
		return optional_argument;
	default:
		return required_argument;
	}
}

/* getopt's two tables. */
struct getopt_tables {
	struct option *longs;
	char *shorts;
};

static void tables_fini(struct getopt_tables *t)
{
	free(t->longs);
	free(t->shorts);
}

static int tables_init(struct getopt_tables *t, const struct command *cmd)
{
	size_t n = count_opts(cmd), k = 0;
	char *s;

	t->longs = calloc(n + 2, sizeof(*t->longs));
	t->shorts = s = calloc(3 * n + 8, 1);
	if (!t->longs || !t->shorts)
		return -ERR_NOMEM;
	if (cmd->stop_at_arg)
		*s++ = '+';
	*s++ = ':';
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &cmd->opts[i];
		int arg = arg_kind(o);

		if (o->kind == OPT_HEADING)
			continue;
		if (o->name)
			t->longs[k++] = (struct option){ o->name, arg, NULL,
							 FIRST_VAL + (int)i };
		if (!o->short_name)
			continue;
		*s++ = o->short_name;
		for (int colons = arg; colons > 0; colons--)
			*s++ = ':';
	}
	t->longs[k] = (struct option){ "help", no_argument, NULL, HELP_VAL };
	if (!strchr(t->shorts, 'h'))
		*s++ = 'h';
	return 0;
}

static const struct opt *find_opt(const struct command *cmd, int c)
{
	size_t n = count_opts(cmd);

	if (c >= FIRST_VAL)
		return &cmd->opts[c - FIRST_VAL];
	for (size_t i = 0; i < n; i++)
		if (cmd->opts[i].short_name == c && c)
			return &cmd->opts[i];
	return NULL;
}

/* Is the word a value of an option ("text|json")? */
static bool is_value(const struct opt *o, const char *word)
{
	const char *at = o->kind == OPT_HEADING ? NULL : o->arg;
	size_t n = strlen(word);

	while (n && at) {
		if (!strncmp(at, word, n) && (!at[n] || strchr("|[", at[n])))
			return true;
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	return false;
}

static int unknown_option(const struct command *cmd, const char *word,
			  struct error *err)
{
	char name[NAME_MAX_BYTES];
	struct nearest near = nearest_to(name);
	size_t n = count_opts(cmd), len = strcspn(word, "=");
	const char *best;

	snprintf(name, sizeof(name), "%.*s",
		 len < sizeof(name) ? (int)len : (int)sizeof(name) - 1, word);
	for (size_t i = 0; i < n; i++) {
		if (cmd->opts[i].kind == OPT_HEADING || !cmd->opts[i].name)
			continue;
		if (is_value(&cmd->opts[i], name))
			return error_set(err, ERR_USAGE, "no option --%s; did "
					 "you mean --%s=%s?", name,
					 cmd->opts[i].name, name);
		nearest_try(&near, cmd->opts[i].name);
	}
	nearest_try(&near, "help");
	best = nearest_best(&near);
	if (best)
		return error_set(err, ERR_USAGE,
				 "no option --%s; did you mean --%s?", name,
				 best);
	return error_set(err, ERR_USAGE,
			 "no option --%s; 'tally help %s' lists them", name,
			 cmd->name);
}

/* What getopt stumbled over; c is its '?' or ':'. */
static int report_bad(const struct command *cmd, int c, char **argv,
		      struct error *err)
{
	const struct opt *o = find_opt(cmd, optopt);
	const char *word = optind > 0 ? argv[optind - 1] : "";
	char shown[NAME_MAX_BYTES] = "--help";

	if (o)
		option_shown(o, shown, sizeof(shown));
	if (c == ':' && o)
		return error_set(err, ERR_USAGE, "%s needs a value: %s", shown,
				 o->arg ? o->arg : "VALUE");
	if (optopt == HELP_VAL || (optopt >= FIRST_VAL && o))
		return error_set(err, ERR_USAGE, "%s takes no value", shown);
	if (optopt)
		return error_set(err, ERR_USAGE,
				 "no option -%c; 'tally help %s' lists them",
				 optopt, cmd->name);
	return unknown_option(cmd, word + strspn(word, "-"), err);
}

static int push_string(struct opt_strs *l, const char *s, struct error *err)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 4;
		const char **v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return error_set(err, ERR_NOMEM, "out of memory");
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = s;
	return 0;
}

static int set_value(const struct opt *o, void *opts, const char *arg,
		     struct error *err)
{
	char *at = (char *)opts + o->offset, name[NAME_MAX_BYTES];

	option_shown(o, name, sizeof(name));
	switch (o->kind) {
	case OPT_FLAG:
	case OPT_NOFLAG:
		*(bool *)at = o->kind == OPT_FLAG;
		return 0;
	case OPT_STR:
		*(const char **)at = arg;
		return 0;
	case OPT_OPTSTR:
		*(const char **)at = arg ? arg : "";
		return 0;
	case OPT_STRS:
	case OPT_WORDS:
		return push_string((struct opt_strs *)at, arg, err);
	case OPT_UINT:
		return option_uint(name, arg, (uint64_t *)at, err);
	case OPT_DOUBLE:
		return option_double(name, arg, (double *)at, err);
	case OPT_SECONDS:
		return option_seconds(name, arg, (double *)at, err);
	case OPT_HEADING:
		break;
	}
	return 0;
}

/* The plain words behind an OPT_WORDS' first are its own. */
static int take_words(const struct opt *o, void *opts, int argc, char **argv,
		      struct error *err)
{
	int rc = 0;

	while (!rc && optind < argc && *argv[optind] != '-')
		rc = set_value(o, opts, argv[optind++], err);
	return rc;
}

int options_parse(const struct command *cmd, void *opts, int argc, char **argv,
		  int *rest, bool *help, struct error *err)
{
	struct getopt_tables t = { NULL, NULL };
	int rc = tables_init(&t, cmd), c;

	*help = false;
	*rest = argc;
	if (rc < 0)
		rc = error_set(err, ERR_NOMEM, "out of memory");
	optind = 0;	/* glibc: start afresh */
	opterr = 0;
	while (!rc &&
	       (c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct opt *o;

		if (c == '?' || c == ':') {
			rc = report_bad(cmd, c, argv, err);
			break;
		}
		o = find_opt(cmd, c);
		/* getopt takes "-g=x" for the value "=x", but it is how help
		 * shows the option, and `--graph=x` is its long form */
		if (o && o->kind == OPT_OPTSTR && c < FIRST_VAL && optarg)
			optarg += *optarg == '=';
		if (o)
			rc = set_value(o, opts, optarg, err);
		else
			*help = true;
		if (!rc && o && o->kind == OPT_WORDS)
			rc = take_words(o, opts, argc, argv, err);
	}
	if (!rc)
		*rest = optind;
	tables_fini(&t);
	return rc;
}

void options_release(const struct command *cmd, void *opts)
{
	size_t n = count_opts(cmd);

	for (size_t i = 0; i < n; i++) {
		struct opt_strs *l;

		if (cmd->opts[i].kind != OPT_STRS &&
		    cmd->opts[i].kind != OPT_WORDS)
			continue;
		l = (struct opt_strs *)((char *)opts + cmd->opts[i].offset);
		free(l->v);
		*l = (struct opt_strs){ 0 };
	}
}
