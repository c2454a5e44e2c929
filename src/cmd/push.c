// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally push`: sends recordings to servers that store profiles. */
#include "config.h"

#include "cmd/push.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "cmd/open.h"
#include "profile/symbolize_profile.h"
#include "push/labels.h"

enum { TOKEN_MAX = 8192 };

struct push_cmd_opts {
	struct cmd_push_opts push;
	struct select_opts samples_of;
	struct cmd_reading reading;
	double patience;
	bool quiet;
};

#define AT(field) offsetof(struct push_cmd_opts, field)

static const struct opt push_opt_table[] = {
	OPT_TITLE("What to send"),
	{ OPT_STRS, 0, "label", "NAME=VALUE", AT(push.labels),
	  "Add this label to all profiles (may be repeated); service_name, "
	  "host and revision replace what the recording says." },
	CMD_PUSH_WINDOW_ROW(struct push_cmd_opts, push),
	CMD_PUSH_SYMBOLS_ROW(struct push_cmd_opts, push),
	OPT_TITLE("How to send"),
	CMD_PUSH_SEND_ROWS(struct push_cmd_opts, push),
	{ OPT_UNIT, 0, "retry-for", "TIME", AT(patience),
	  "Give up if the server is unavailable for this long (30s, 5m). "
	  "Default: 30s." },
	OPT_ROW_QUIET(AT(quiet)),
	SELECT_SAMPLE_ROWS(struct push_cmd_opts, "Only these events."),
	READING_DIRS_ROW(struct push_cmd_opts, IF_NO_SYMBOLS),
	READING_ROWS(struct push_cmd_opts),
	OPT_END
};

/* Returns whether a value may be used in a header field. */
static bool is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
			return false;
	return true;
}

/* Reads the Authorization from a file or the environment: "Basic …" as it is, a
 * bare token as "Bearer TOKEN". */
static int authorization(const struct cmd_push_opts *o, struct buf *out,
			 struct error *err)
{
	const char *from = o->token_file ? o->token_file : "TALLY_PUSH_TOKEN";
	const char *env = getenv("TALLY_PUSH_TOKEN");
	struct buf text = { 0 };
	int rc = 0;

	if (o->token_file)
		rc = io_read_file(o->token_file, TOKEN_MAX, &text, err);
	else if (env && *env)
		buf_str(&text, env);
	else
		return 0;
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	if (!rc && (!text.n || strlen(buf_cstr(&text)) != text.n ||
		    !is_plain(buf_cstr(&text))))
		rc = error_set(err, ERR_USAGE, "%s: expected a token on one "
			       "line",
			       from);
	if (!rc && !strchr(buf_cstr(&text), ' '))
		buf_str(out, "Bearer ");
	if (!rc)
		buf_bytes(out, text.p, text.n);
	if (text.failed || out->failed)
		rc = error_nomem(err);
	buf_fini(&text);
	return rc;
}

int cmd_push_labels(const struct cmd_push_opts *o, struct cmd_push *p,
		    struct error *err)
{
	const struct opt_strs *given = &o->labels;
	int rc = 0;

	if (given->n > LABELS_MAX)
		return error_set(err, ERR_USAGE, "more than %d labels",
				 LABELS_MAX);
	for (size_t i = 0; !rc && i < given->n; i++) {
		struct push_label l;
		char *name;

		rc = label_parse(given->v[i], &name, &l.value, err);
		if (rc)
			break;
		l.name = name;
		if (vec_push(&p->labels, l) < 0) {
			free(name);
			rc = error_nomem(err);
		}
	}
	return rc;
}

int cmd_push_prepare(const struct cmd_push_opts *o, const char *url,
		     struct cmd_push *p, struct error *err)
{
	const struct opt_rule rules[] = {
		{ o->tenant && (!*o->tenant || !is_plain(o->tenant)),
		  "--tenant must be plain ASCII" },
		{ o->window < 1 || o->window > 3600, "--window must be 1s to 1h" },
		{ o->timeout < 0.1 || o->timeout > 3600,
		  "--timeout must be 100ms to 1h" },
		{ !o->spool_size, "--spool-size needs more than 0" },
	};
	int rc;

	*p = (struct cmd_push){ .options = {
		.url = url, .tenant = o->tenant, .spool = o->spool,
		.spool_bytes = o->spool_size,
		.server_names = o->symbols == SYMBOLS_SERVER,
		.http = { .ca = o->ca, .cert = o->cert, .key = o->key,
			  .agent = "tally/" PACKAGE_VERSION },
		.version = PACKAGE_VERSION } };
	rc = options_obey(rules, COUNT(rules), err);
	if (rc)
		return rc;
	p->options.window_ns = (uint64_t)(o->window * 1e9);
	p->options.http.timeout_ns = (uint64_t)(o->timeout * 1e9);
	rc = authorization(o, &p->authorization, err);
	if (!rc && p->authorization.n)
		p->options.authorization = buf_cstr(&p->authorization);
	if (!rc)
		rc = cmd_push_labels(o, p, err);
	p->options.labels = p->labels.v;
	p->options.nlabels = p->labels.n;
	return rc;
}

void cmd_push_fini(struct cmd_push *p)
{
	for (size_t i = 0; i < p->labels.n; i++)
		free((char *)p->labels.v[i].name);
	vec_fini(&p->labels);
	buf_fini(&p->authorization);
}

static int push_file(struct cmd_io *io, const struct push_cmd_opts *o,
		     const char *path, bool server_names, struct push *p,
		     struct error *err)
{
	struct select_spec select = cmd_select(&o->samples_of);
	struct reader *r = NULL;
	int rc = cmd_open_file(io, &o->reading, path, &r, err);

	if (!rc && server_names)
		cmd_take_trust(io, path, r, o->reading.trust);
	if (!rc && server_names && !reader_profile(r)->symbolized &&
	    reader_profile(r)->locs.n)
		rc = profile_symbolize(reader_profile(r),
				       &(struct symbolize_options){
					       .identified_later = true }, err);
	if (!rc) {
		rc = push_recording(p, r, &select, err);
		if (rc < 0)
			error_prefix(err, "%s", path);
	}
	if (!rc)
		cmd_report_damage(io, path, r);
	reader_close(r);
	return rc;
}

static void put_number(struct buf *b, const char *before, uint64_t n,
		       const char *what)
{
	buf_str(b, before);
	text_count(b, n);
	buf_printf(b, " %s%s", what, plural(n, "s"));
}

static void summary(struct cmd_io *io, const struct push_counts *c,
		    const char *spool)
{
	const struct {
		uint64_t n;
		const char *before, *what;
	} rows[] = {
		{ c->rejected, "; rejected by the server: ", "profile" },
		{ c->refused, "; refused: ", "request" },
		{ c->dropped, "; dropped because the spool was full: ", "request" },
		{ c->damaged, "; damaged in the spool: ", "file" },
		{ c->waiting, "; ", "request" },
	};
	struct buf b = { 0 };

	put_number(&b, "sent ", c->sent, "request");
	put_number(&b, " with ", c->samples, "sample");
	buf_printf(&b, " (%.1f KB)", (double)c->sent_bytes / 1024);
	if (c->debug_files) {
		put_number(&b, ", and debug information: ", c->debug_files, "file");
		buf_printf(&b, " (%.1f MB)", (double)c->debug_bytes / 1e6);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].n)
			put_number(&b, rows[i].before, rows[i].n, rows[i].what);
	if (c->waiting) {
		buf_str(&b, c->waiting == 1 ? " waits in " : " wait in ");
		text_safe(&b, spool);
		buf_str(&b, " for the next push");
	}
	cmd_notice(io, "%s", buf_cstr(&b));
	buf_fini(&b);
}

static int run_push(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	struct push_cmd_opts *o = opts;
	struct cmd_messages messages = { io, o->quiet };
	struct cmd_push prepared = { .labels = { 0 } };
	const struct push_counts *c;
	struct buf dirs = { 0 };
	struct push *p = NULL;
	bool whole;
	int rc;

	if (argc < 1)
		return error_set(err, ERR_USAGE, "no URL given: tally push "
				 "pyroscope+http://HOST:4040 [FILE...]");
	rc = cmd_push_prepare(&o->push, argv[0], &prepared, err);
	prepared.options.patience_ns = (uint64_t)(o->patience * 1e9);
	prepared.options.notice = cmd_message;
	prepared.options.ctx = &messages;
	if (!rc)
		rc = cmd_debug_dirs(&o->reading.debug_dirs, &dirs, err);
	if (!rc)
		prepared.options.debug_dirs = buf_cstr(&dirs);
	o->reading.as_it_is = prepared.options.server_names;
	if (!rc)
		rc = push_open(&prepared.options, &p, err);
	if (!rc && argc == 1 && !o->push.spool)
		rc = push_file(io, o, "profile.tally",
			       prepared.options.server_names, p, err);
	for (int i = 1; !rc && i < argc; i++)
		rc = push_file(io, o, argv[i],
			       prepared.options.server_names, p, err);
	if (!rc)
		rc = push_drain(p, err);
	while (!rc && (rc = push_debuginfo(p, err)) > 0)
		rc = 0;
	if (p) {
		c = push_get_counts(p);
		whole = !c->rejected && !c->refused && !c->dropped &&
			!c->damaged;
		if (!o->quiet || !whole)
			summary(io, c, o->push.spool);
		rc = rc < 0 ? rc : !whole;
	}
	push_close(p);
	cmd_push_fini(&prepared);
	buf_fini(&dirs);
	return rc;
}

const struct command cmd_push = {
	.name = "push",
	.summary = "send recordings to Pyroscope, Parca or a collector",
	.args = "URL [FILE...]",
	.opts = push_opt_table,
	.opts_size = sizeof(struct push_cmd_opts),
	.defaults = &(const struct push_cmd_opts){
		.push = CMD_PUSH_DEFAULTS, .patience = 30,
	},
	.run = run_push,
};
