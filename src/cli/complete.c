// SPDX-License-Identifier: GPL-2.0-or-later
/* Completes command lines: see complete.h. */
#include "cli/complete.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "events/events.h"
#include "events/metrics.h"
#include "export/export.h"
#include "record/perf/perf_open.h"
#include "views/query/keys.h"

enum { WHAT_BYTES = 60 };	/* bytes of a description */

/* The word that is being completed. */
struct word {
	struct buf *out;
	/* Prefix of each offer: "--event=cycles,". */
	const char *lead;
	size_t lead_n;
	const char *begun;	/* beginning of the word after `lead` */
};

/* Offers a completion if it begins with the typed text.  `what` is cut after its
 * first sentence. */
static void offer(const struct word *w, const char *text, size_t n,
		  const char *what)
{
	size_t len = strlen(w->begun), end = strcspn(what, ".;");

	if (n < len || strncmp(text, w->begun, len) != 0)
		return;
	buf_bytes(w->out, w->lead, w->lead_n);
	buf_bytes(w->out, text, n);
	if (end > WHAT_BYTES)
		for (end = WHAT_BYTES; end && what[end] != ' ';)
			end--;
	if (end) {
		buf_u8(w->out, '\t');
		buf_bytes(w->out, what, end);
	}
	buf_u8(w->out, '\n');
}

static void finish(const struct word *w, const char *besides)
{
	buf_printf(w->out, ":%s\n", besides);
}

/* Returns the part of a value after its last comma, ignoring commas in pmu/…/. */
static struct word last_of_list(const struct word *w)
{
	struct word last = *w;
	bool inside = false;

	for (const char *s = w->begun; *s; s++) {
		if (*s == '/')
			inside = !inside;
		if ((*s == ',' && !inside) || *s == '{')
			last.begun = s + 1;
	}
	last.lead_n = (size_t)(last.begun - last.lead);
	return last;
}

static bool offer_event(void *ctx, const struct event_info *info)
{
	const struct word *w = ctx;
	struct event_list one = { 0 };

	/* A clock replaces cycles if no counter is available. */
	if (!strncmp(info->name, w->begun, strlen(w->begun)) &&
	    (!strcmp(info->name, "cycles") ||
	     (!events_parse(info->name, "/sys", &one, NULL) &&
	      !event_usable(&one.v[0], NULL))))
		offer(w, info->name, strlen(info->name), info->summary);
	event_list_fini(&one);
	return true;
}

static int offer_tracepoint(void *ctx, const char *name, uint64_t id)
{
	(void)id;
	offer(ctx, name, strlen(name), "");
	return 0;
}

static void offer_events(const struct word *value)
{
	struct word w = last_of_list(value);
	char pattern[EVENT_NAME_MAX];

	events_each("/sys", offer_event, &w);
	/* There are thousands, so only those that match typed text are offered. */
	if (*w.begun && !strpbrk(w.begun, "*?[\\/")) {
		snprintf(pattern, sizeof(pattern), "%s*%s", w.begun,
			 strchr(w.begun, ':') ? "" : ":*");
		tracepoints_match("/sys", pattern, offer_tracepoint, &w, NULL);
	}
}

static void offer_keys(const struct word *value)
{
	struct word w = last_of_list(value);

	for (int k = 0; k < KEY_COUNT; k++) {
		const char *name = key_name((enum view_key)k);

		offer(&w, name, strlen(name), "");
	}
}

static void offer_metrics(const struct word *value)
{
	struct word w = last_of_list(value);

	offer(&w, "none", 4, "show none");
	for (const struct metric *m = metric_table; m->name; m++)
		offer(&w, m->name, strlen(m->name), "");
}

static void offer_formats(const struct word *w)
{
	size_t n;
	const struct export_format *f = export_formats(&n);

	for (size_t i = 0; i < n; i++)
		offer(w, f[i].name, strlen(f[i].name), "");
}

static void offer_processes(const struct word *value)
{
	struct word w = last_of_list(value);
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc))) {
		char path[300];
		struct buf comm = { 0 }, safe = { 0 };

		if (!isdigit((unsigned char)*d->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		if (!io_read_file(path, 64, &comm, NULL)) {
			comm.n -= comm.n && comm.p[comm.n - 1] == '\n';
			text_safe(&safe, buf_cstr(&comm));
			offer(&w, d->d_name, strlen(d->d_name),
			      buf_cstr(&safe));
		}
		buf_fini(&comm);
		buf_fini(&safe);
	}
	if (proc)
		closedir(proc);
}

/* Offers the lower-case words of "auto|dwarf[,BYTES]|fp". */
static void offer_choices(const struct word *w, const char *arg)
{
	for (;;) {
		size_t n = strcspn(arg, "|"), plain = strcspn(arg, "|[,");

		if (islower((unsigned char)*arg))
			offer(w, arg, plain, "");
		arg += n;
		if (!*arg)
			return;
		arg++;
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Completes an option's value, according to its placeholder in --help. */
static void complete_value(const struct word *w, const struct opt *o)
{
	const char *arg = o->arg ? o->arg : "", *besides = "";

	if (begins(arg, "EVENT"))
		offer_events(w);
	else if (begins(arg, "KEY"))
		offer_keys(w);
	else if (begins(arg, "METRIC"))
		offer_metrics(w);
	else if (begins(arg, "FORMAT"))
		offer_formats(w);
	else if (begins(arg, "PID"))
		offer_processes(w);
	else if (begins(arg, "FILE") || begins(arg, "fifo:"))
		besides = "files";
	else if (begins(arg, "DIR") || begins(arg, "PATH") ||
		 begins(arg, "FROM=TO"))
		besides = "folders";
	else
		offer_choices(w, arg);
	finish(w, besides);
}

static bool takes_next_word(const struct opt *o)
{
	return o && o->arg && o->kind != OPT_OPTSTR;
}

/* Returns the option whose value follows `word`, or NULL. */
static const struct opt *awaits_value(const struct command *cmd,
				      const char *word)
{
	const struct opt *o;

	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-') {
		o = strchr(word, '=') ? NULL
		    : option_called(cmd, word + 2, strlen(word + 2));
		return takes_next_word(o) ? o : NULL;
	}
	for (const char *c = word + 1; *c; c++) {
		o = option_of_letter(cmd, *c);
		if (takes_next_word(o))
			return c[1] ? NULL : o;
	}
	return NULL;
}

static void offer_options(const struct word *w, const struct command *cmd)
{
	char text[80];

	for (const struct opt *o = cmd->opts; o && !option_is_end(o); o++) {
		if (o->kind == OPT_HEADING)
			continue;
		if (o->name)
			snprintf(text, sizeof(text), "--%s", o->name);
		else
			snprintf(text, sizeof(text), "-%c", o->short_name);
		offer(w, text, strlen(text), o->help);
	}
	offer(w, "--help", 6, "show the options");
}

static void complete_option(const struct word *whole, const struct command *cmd)
{
	const char *equals = strchr(whole->begun, '=');
	const struct opt *o = NULL;
	struct word value = *whole;

	if (equals && begins(whole->begun, "--"))
		o = option_called(cmd, whole->begun + 2,
				  (size_t)(equals - whole->begun) - 2);
	if (!equals) {
		offer_options(whole, cmd);
		finish(whole, "");
		return;
	}
	value.begun = equals + 1;
	value.lead_n = (size_t)(value.begun - value.lead);
	if (o && o->arg)
		complete_value(&value, o);
	else
		finish(whole, "");
}

static void complete_plain(const struct word *w, const struct command *cmd)
{
	if (!strcmp(cmd->name, "list")) {
		offer(w, "metrics", 7, "metrics computed from counts");
		offer(w, "k8", 2, "all events of K8 processors");
		offer(w, "p6", 2, "all events of P6 processors");
	}
	finish(w, strstr(cmd->args, "FILE") ? "files" : "");
}

static void complete_command(const struct word *w, const struct command *cmd,
			     char *const *words, size_t n)
{
	bool only_plain = false;
	char besides[40];

	/* words[0] is the command's name */
	for (size_t i = 1; i + 1 < n; i++) {
		const struct opt *o = only_plain ? NULL
				      : awaits_value(cmd, words[i]);

		if (o && i + 2 == n) {
			complete_value(w, o);
			return;
		}
		if (o) {
			i++;
			continue;
		}
		only_plain |= !strcmp(words[i], "--");
		if (!cmd->stop_at_arg || (*words[i] == '-' &&
					  strcmp(words[i], "--") != 0))
			continue;
		snprintf(besides, sizeof(besides), "command %zu",
			 i + !strcmp(words[i], "--"));
		finish(w, besides);
		return;
	}
	if (*w->begun == '-' && !only_plain) {
		complete_option(w, cmd);
	} else if (cmd->stop_at_arg) {
		snprintf(besides, sizeof(besides), "command %zu", n - 1);
		finish(w, besides);
	} else {
		complete_plain(w, cmd);
	}
}

static void offer_commands(const struct word *w)
{
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++)
		offer(w, c->name, strlen(c->name), c->summary);
}

void complete(char *const *words, size_t n, struct buf *out)
{
	const char *last = n ? words[n - 1] : "";
	struct word w = { out, last, 0, last };
	const struct command *cmd = NULL, *c;

	if (n <= 1) {
		offer_commands(&w);
		offer(&w, "help", 4, "show the options of a command");
		if (*last == '-') {
			offer(&w, "--help", 6, "show the commands");
			offer(&w, "--version", 9, "show the version");
		}
		finish(&w, "");
		return;
	}
	for (size_t i = 0; (c = command_at(i)); i++)
		if (!strcmp(c->name, words[0]))
			cmd = c;
	if (cmd) {
		complete_command(&w, cmd, words, n);
		return;
	}
	if (n == 2 && !strcmp(words[0], "help"))
		offer_commands(&w);
	finish(&w, "");
}
