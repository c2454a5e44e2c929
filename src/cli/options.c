// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses command lines: see options.h. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/perf_options.h"

/* Return values of getopt: HELP_VAL, the command's options from FIRST_VAL by their
 * row, perf's options from PERF_VAL and their opposites from PERF_NOT, or the letter
 * of one of the command's options. */
enum { FIRST_VAL = 256, HELP_VAL = FIRST_VAL - 1, PERF_VAL = 1 << 16,
       PERF_NOT = 1 << 17, NAME_MAX_BYTES = 80 };

static size_t count_opts(const struct command *cmd)
{
	size_t n = 0;

	while (cmd->opts && !option_is_end(&cmd->opts[n]))
		n++;
	return n;
}

/* Returns "--name", or "-x" for an option without a long name. */
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

/* The two tables of getopt. */
struct getopt_tables {
	struct option *longs;
	char *shorts;
	int perf_short[128];	/* PERF_VAL + row, or 0 */
};

static void tables_fini(struct getopt_tables *t)
{
	free(t->longs);
	free(t->shorts);
}

const struct opt *option_called(const struct command *cmd, const char *name, size_t n)
{
	for (const struct opt *o = cmd->opts; o && !option_is_end(o); o++)
		if (o->kind != OPT_HEADING && o->name && strlen(o->name) == n &&
		    !memcmp(o->name, name, n))
			return o;
	return NULL;
}

const struct opt *option_of_letter(const struct command *cmd, int letter)
{
	for (const struct opt *o = cmd->opts; o && !option_is_end(o); o++)
		if (letter && o->short_name == letter)
			return o;
	return NULL;
}

static bool has_long(const struct command *cmd, const char *name)
{
	return option_called(cmd, name, strlen(name));
}

static bool has_word(char **argv, const char *name)
{
	size_t n = strlen(name);

	for (; *argv; argv++)
		if (!strncmp(*argv, "--", 2) && !strncmp(*argv + 2, name, n) &&
		    (!(*argv)[2 + n] || (*argv)[2 + n] == '='))
			return true;
	return false;
}

/* Returns the opposite of an option, "no-NAME" of "NAME" or the reverse, if it is on
 * the command line, or NULL. */
static const char *opposite_word(char **argv, const char *name)
{
	bool no = !strncmp(name, "no-", 3);

	for (; *argv; argv++) {
		const char *word;

		if (strncmp(*argv, "--", 2) != 0)
			continue;
		word = *argv + 2;
		if (no ? !strcmp(word, name + 3)
		       : !strncmp(word, "no-", 3) && !strcmp(word + 3, name))
			return word;
	}
	return NULL;
}

static const struct perf_option *perf_row(int val)
{
	return &perf_options[val & (PERF_VAL - 1)];
}

/* Returns "--name" of an option of perf or, with PERF_NOT, of its opposite. */
static const char *perf_shown(int val, char *buf, size_t size)
{
	const char *name = perf_row(val)->name;
	bool no = !strncmp(name, "no-", 3);

	if (val < PERF_NOT)
		snprintf(buf, size, "--%s", name);
	else
		snprintf(buf, size, "--%s%s", no ? "" : "no-",
			 no ? name + 3 : name);
	return buf;
}

/* Returns the row of perf's option of this name, or NULL. */
static const struct perf_option *perf_row_called(const struct command *cmd,
						 const char *name)
{
	for (const struct perf_option *o = perf_options; o->commands; o++)
		if (o->name && !strcmp(o->name, name) &&
		    perf_option_is_of(o, cmd))
			return o;
	return NULL;
}

/*
 * Adds perf's options that the command lacks.  A long one is added only if it is on
 * the command line, so that it cannot make abbreviations of tally's own options
 * ambiguous.
 */
static void add_perf_options(struct getopt_tables *t, const struct command *cmd,
			     char **argv, size_t k, char *s)
{
	for (int i = 0; perf_options[i].commands; i++) {
		const struct perf_option *o = &perf_options[i];
		int arg = o->arg == 'y' ? required_argument
			: o->arg == 'o' ? optional_argument : no_argument;
		const char *not;

		if (!perf_option_is_of(o, cmd))
			continue;
		not = o->name ? opposite_word(argv, o->name) : NULL;
		if (not && !has_long(cmd, not) && !perf_row_called(cmd, not))
			t->longs[k++] = (struct option){ not, no_argument, NULL,
							 PERF_NOT + i };
		if (o->name && has_word(argv, o->name) && !has_long(cmd, o->name))
			t->longs[k++] = (struct option){ o->name, arg, NULL,
							 PERF_VAL + i };
		if (!o->short_name || strchr(t->shorts, o->short_name))
			continue;
		t->perf_short[(int)o->short_name] = PERF_VAL + i;
		*s++ = o->short_name;
		for (; arg > 0; arg--)
			*s++ = ':';
	}
}

static int tables_init(struct getopt_tables *t, const struct command *cmd,
		       char **argv)
{
	size_t n = count_opts(cmd), of_perf = 0, k = 0;
	char *s;

	while (perf_options[of_perf].commands)
		of_perf++;
	t->longs = calloc(n + 2 + 2 * of_perf, sizeof(*t->longs));
	t->shorts = s = calloc(3 * (n + of_perf) + 8, 1);
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
	add_perf_options(t, cmd, argv, k + 1, s);
	return 0;
}

static const struct opt *find_opt(const struct command *cmd, int c)
{
	if (c >= PERF_VAL)
		return NULL;
	return c >= FIRST_VAL ? &cmd->opts[c - FIRST_VAL] : option_of_letter(cmd, c);
}

/* Returns whether a word is a value of an option ("text|json"). */
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

/* Reports what getopt refused; c is its '?' or ':'. */
static int report_bad(const struct command *cmd, int c, char **argv,
		      struct error *err)
{
	const struct opt *o = find_opt(cmd, optopt);
	const char *word = optind > 0 ? argv[optind - 1] : "";
	const struct perf_option *p;
	char shown[NAME_MAX_BYTES] = "--help";

	if (o)
		option_shown(o, shown, sizeof(shown));
	if (c == ':' && o)
		return error_set(err, ERR_USAGE, "%s needs a value: %s", shown,
				 o->arg ? o->arg : "VALUE");
	if (optopt >= PERF_VAL)
		return error_set(err, ERR_USAGE, "%s takes %s value",
				 perf_shown(optopt, shown, sizeof(shown)),
				 c == ':' ? "a" : "no");
	if (c == ':' && !o)
		return error_set(err, ERR_USAGE, "-%c takes a value", optopt);
	if (optopt == HELP_VAL || (optopt >= FIRST_VAL && o)) {
		p = o ? perf_row_called(cmd, o->name) : NULL;
		if (!p || !p->hint)
			return error_set(err, ERR_USAGE, "%s takes no value", shown);
		return error_set(err, ERR_USAGE, "%s takes no value as in perf: %s",
				 shown, p->hint);
	}
	if (optopt)
		return error_set(err, ERR_USAGE,
				 "no option -%c; 'tally help %s' lists them",
				 optopt, cmd->name);
	return unknown_option(cmd, word + strspn(word, "-"), err);
}

static int uint_value(const char *name, const char *text, uint64_t *out,
		      struct error *err)
{
	static const struct {
		const char *suffix;
		uint64_t factor;
	} units[] = {
		{ "", 1 },	    { "k", 1000 },	 { "K", 1000 },
		{ "M", 1000000 },   { "m", 1000000 },	 { "G", 1000000000 },
		{ "g", 1000000000 },
	};
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return error_set(err, ERR_USAGE,
				 "%s '%s': not a whole number", name, text);
	errno = 0;
	v = strtoull(text, &end, 10);
	for (size_t i = 0; i < COUNT(units); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		if (errno || v > UINT64_MAX / units[i].factor)
			return error_set(err, ERR_USAGE,
					 "%s '%s': too large", name, text);
		*out = v * units[i].factor;
		return 0;
	}
	return error_set(err, ERR_USAGE,
			 "%s '%s': not a number with an optional k, M or G",
			 name, text);
}

/* Sets *out to the index of `text` among words such as "text|json". */
static int choice_value(const char *name, const char *text, const char *words,
			int *out, struct error *err)
{
	struct buf known = { 0 };
	size_t n;
	int at = 0;

	for (const char *w = words; *w; w += n + (w[n] == '|'), at++) {
		n = strcspn(w, "|");
		if (n == strlen(text) && !strncmp(text, w, n)) {
			buf_fini(&known);
			*out = at;
			return 0;
		}
		buf_printf(&known, "%s%.*s", !at ? "" : w[n] ? ", " : " or ",
			   (int)n, w);
	}
	error_set(err, ERR_USAGE, "%s '%s': use %s", name, text, buf_cstr(&known));
	buf_fini(&known);
	return -ERR_USAGE;
}

int option_rate(const char *name, const char *text, uint64_t *out,
		struct error *err)
{
	if (!strcmp(text, "max")) {
		*out = UINT64_MAX;
		return 0;
	}
	return uint_value(name, text, out, err);
}

static int parse_double(const char *text, double *v, char **end)
{
	/* reject hexadecimal numbers, "inf" and "nan", which strtod accepts */
	if (strspn(text, "0123456789.") == 0 || text[1] == 'x' ||
	    text[1] == 'X')
		return -ERR_USAGE;
	*v = strtod(text, end);
	return *end == text || !isfinite(*v) ? -ERR_USAGE : 0;
}

static int double_value(const char *name, const char *text, double *out,
			struct error *err)
{
	char *end;
	double v;

	if (parse_double(text, &v, &end) < 0 || *end)
		return error_set(err, ERR_USAGE, "%s '%s': not a number",
				 name, text);
	*out = v;
	return 0;
}

/* Parses "3%" or "3" to 0.03, or "off" to -1 if that is allowed. */
static int percent_value(const char *name, const char *text, bool off,
			 double *out, struct error *err)
{
	char *end;
	double v;

	if (off && !strcmp(text, "off")) {
		*out = -1;
		return 0;
	}
	if (parse_double(text, &v, &end) < 0 || v > 1e6 ||
	    (*end && strcmp(end, "%")))
		return error_set(err, ERR_USAGE, "%s %s: not a percentage; use for "
				 "example 3%%", name, text);
	*out = v / 100;
	return 0;
}

int option_duration(const char *name, const char *text, enum opt_kind kind,
		    double *out, struct error *err)
{
	bool bare;

	/* perf's value for "start disabled". */
	if (kind == OPT_DELAY && !strcmp(text, "-1")) {
		*out = -1;
		return 0;
	}
	if (!duration_parse(text, strlen(text), out, &bare))
		return error_set(err, ERR_USAGE,
				 "%s '%s': not a time: use a number with ms, "
				 "s, m or h", name, text);
	if (bare && kind == OPT_MILLIS)
		*out /= 1000;
	/* A delay of ten seconds or more is rare, but perf's users often give ten
	 * or more milliseconds. */
	if (bare && *out > 0 && (kind == OPT_UNIT ||
				 (kind == OPT_DELAY && *out >= 10)))
		return error_set(err, ERR_USAGE,
				 "%s %s: %s milliseconds, as perf reads it, or "
				 "%s seconds? Write %sms or %ss", name, text,
				 text, text, text, text);
	return 0;
}

static int push_string(struct opt_strs *l, const char *s, struct error *err)
{
	return vec_push(l, s) < 0 ? error_nomem(err) : 0;
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
	case OPT_TAGGED:
		/* the option's name outlives the list */
		return push_string((struct opt_strs *)at, o->name, err) ?:
		       push_string((struct opt_strs *)at, arg, err);
	case OPT_UINT:
		return uint_value(name, arg, (uint64_t *)at, err);
	case OPT_DOUBLE:
		return double_value(name, arg, (double *)at, err);
	case OPT_PERCENT:
		return percent_value(name, arg, is_value(o, "off"),
				      (double *)at, err);
	case OPT_CHOICE:
		return choice_value(name, arg, o->arg, (int *)at, err);
	case OPT_RATE:
		return option_rate(name, arg, (uint64_t *)at, err);
	case OPT_SECONDS:
	case OPT_DELAY:
	case OPT_MILLIS:
	case OPT_UNIT:
		return option_duration(name, arg, o->kind, (double *)at, err);
	case OPT_HEADING:
		break;
	}
	return 0;
}

/* Handles an option of perf, given as a letter or (0) by its name; `arg` may be
 * NULL. */
static int perf_option(const struct command *cmd, void *opts,
		       const struct perf_option *p, int letter, const char *arg,
		       struct error *err)
{
	char shown[NAME_MAX_BYTES];
	const struct opt *own;
	struct opt o;

	if (letter)
		snprintf(shown, sizeof(shown), "-%c", letter);
	else
		snprintf(shown, sizeof(shown), "--%s", p->name);
	if (p->hint)
		return error_set(err, ERR_USAGE, "no option %s as in perf: %s",
				 shown, p->hint);
	if (!p->is)
		return 0;
	own = option_called(cmd, p->is, strlen(p->is));
	if (!own)
		return error_set(err, ERR_USAGE, "no option %s", shown);
	o = *own;
	/* Users of perf's option expect milliseconds. */
	if (o.kind == OPT_DELAY || o.kind == OPT_SECONDS)
		o.kind = arg && !strcmp(arg, "-1") ? OPT_DELAY : OPT_UNIT;
	return set_value(&o, opts, p->value ? p->value : arg, err);
}

/* Handles the opposite of an option of perf: tally behaves so, unless it always
 * behaves as the option says. */
static int perf_opposite(int val, struct error *err)
{
	const struct perf_option *p = perf_row(val);
	char shown[NAME_MAX_BYTES];

	if (p->is || p->hint)
		return 0;
	return error_set(err, ERR_USAGE, "no option %s as in perf: tally always "
			 "behaves as with --%s",
			 perf_shown(val, shown, sizeof(shown)), p->name);
}

/* The plain words after an OPT_WORDS' first value belong to it. */
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
	struct getopt_tables t = { 0 };
	int rc = tables_init(&t, cmd, argv), c, letter;

	*help = false;
	*rest = argc;
	if (rc < 0)
		rc = error_nomem(err);
	optind = 0;	/* glibc: restart */
	opterr = 0;
	while (!rc &&
	       (c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct opt *o;

		if (c == '?' || c == ':') {
			rc = report_bad(cmd, c, argv, err);
			break;
		}
		letter = c > 0 && c < 128 ? c : 0;
		if (letter && t.perf_short[letter])
			c = t.perf_short[letter];
		if (c >= PERF_NOT) {
			rc = perf_opposite(c, err);
			continue;
		}
		if (c >= PERF_VAL) {
			rc = perf_option(cmd, opts, perf_row(c), letter, optarg,
					 err);
			continue;
		}
		o = find_opt(cmd, c);
		/* getopt would parse "-g=x" as the value "=x", but --help shows
		 * the option so, and `--graph=x` is the long form */
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
		    cmd->opts[i].kind != OPT_TAGGED &&
		    cmd->opts[i].kind != OPT_WORDS)
			continue;
		l = (struct opt_strs *)((char *)opts + cmd->opts[i].offset);
		free(l->v);
		*l = (struct opt_strs){ 0 };
	}
}

/* --- --help */

enum { WIDTH = 80, INDENT = 30 };

static void put_option(struct buf *out, const struct opt *o)
{
	struct buf left = { 0 };
	size_t n;

	if (!o->name)
		buf_printf(&left, "  -%c", o->short_name);
	else if (o->short_name)
		buf_printf(&left, "  -%c, --%s", o->short_name, o->name);
	else
		buf_printf(&left, "      --%s", o->name);
	if (o->arg)
		buf_printf(&left, o->kind == OPT_OPTSTR ? "[=%s]" : " %s",
			   o->arg);
	n = left.n;
	buf_str(out, buf_cstr(&left));
	if (n + 2 > INDENT) {
		buf_u8(out, '\n');
		n = 0;
	}
	buf_printf(out, "%*s", (int)(INDENT - n), "");
	text_wrap(out, o->help, INDENT, WIDTH);
	buf_fini(&left);
}

void options_help(const struct command *cmd, struct buf *out)
{
	const struct opt *o = cmd->opts;

	buf_printf(out, "Usage: tally %s [options]%s%s\n\n", cmd->name,
		   *cmd->args ? " " : "", cmd->args);
	text_wrap(out, cmd->summary, 0, WIDTH);
	if (o && o->kind != OPT_HEADING)
		buf_str(out, "\nOptions:\n");
	for (; o && !option_is_end(o); o++) {
		if (o->kind == OPT_HEADING)
			buf_printf(out, "\n%s:\n", o->help);
		else
			put_option(out, o);
	}
	buf_str(out, "  -h, --help                  Show this text.\n");
}
