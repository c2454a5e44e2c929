// SPDX-License-Identifier: GPL-2.0-or-later
/* Locates source files and decides on access to them: see source_options.h. */
#include "cmd/source_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/fetch_debug.h"
#include "cmd/open.h"
#include "views/code/sources.h"

/* Appends the values of --source-map as pairs of folders. */
static int add_source_maps(const struct opt_strs *words, struct source_map *v,
			   size_t *n, struct error *err)
{
	for (size_t i = 0; words && i < words->n; i++) {
		const char *word = words->v[i], *eq = strchr(word, '=');

		if (!eq)
			return error_set(err, ERR_USAGE,
					 "--source-map '%s': use FROM=TO",
					 word);
		v[*n].from = strndup(word, (size_t)(eq - word));
		if (!v[*n].from)
			return error_nomem(err);
		v[(*n)++].to = eq + 1;
	}
	return 0;
}

enum source_use cmd_source_use(const struct cmd_io *io, const char *path)
{
	return !path && io->out_tty ? SOURCES_ON_SCREEN : SOURCES_FOR_OTHERS;
}

int cmd_embed(const char *value, struct source_access *out, struct error *err)
{
	int rc;

	*out = (struct source_access){ .use = SOURCES_FOR_OTHERS };
	if (!value)
		return 0;
	if (*value && access(value, X_OK) < 0)
		return error_errno(err, errno, "--embed-source=%s", value);
	rc = source_access_init(out, SOURCES_FOR_OTHERS, err);
	return rc || !*value ? rc : source_access_add(out, value, err);
}

/* Allows all folders that the user named. */
static int allow(const struct source_where *w, enum source_use use,
		 struct source_access *a, struct error *err)
{
	int rc = source_access_init(a, use, err);

	for (size_t i = 0; !rc && i < w->nmaps; i++)
		rc = source_access_add(a, w->maps[i].to, err);
	if (!rc && w->repo)
		rc = source_access_add(a, w->repo, err);
	return rc;
}

/* Sets up the servers to ask for source files, if the user wants them. */
static int make_server(struct cmd_io *io, const struct source_opts *o,
		       struct source_where *out, struct error *err)
{
	if (o->no_debuginfod || !debuginfod_has_servers())
		return 0;
	out->server = malloc(sizeof(*out->server));
	if (!out->server)
		return error_nomem(err);
	*out->server = (struct debuginfod){
		.what = "source files", .off = "--no-debuginfod",
		.seconds = 30, .file_mb = 16, .mb = 64,
	};
	cmd_debuginfod(io, out->server);
	return 0;
}

int cmd_sources(struct cmd_io *io, const struct source_opts *o,
		const struct opt_strs *first, enum source_use use,
		struct source_where *out, struct error *err)
{
	size_t most = o->maps.n + (first ? first->n : 0) + 1;
	struct source_map *maps = calloc(most, sizeof(*maps));

	*out = (struct source_where){ .maps = maps, .repo = o->repo };
	if (!maps)
		return error_nomem(err);
	return add_source_maps(first, maps, &out->nmaps, err) ?:
	       add_source_maps(&o->maps, maps, &out->nmaps, err) ?:
	       make_server(io, o, out, err) ?:
	       allow(out, use, &out->access, err);
}

void cmd_report_sources(const struct cmd_io *io, struct buf *summary)
{
	cmd_notice_lines(io, buf_cstr(summary));
	buf_fini(summary);
}

void cmd_summarize_sources(const struct cmd_io *io, struct sources *const *read,
			   size_t n)
{
	struct buf out = { 0 };

	sources_summary(read, n, false, &out);
	cmd_report_sources(io, &out);
}

void cmd_listing_style(const struct listing_opts *o, struct annotate_style *out)
{
	enum { CONTEXT_MOST = 100000 };

	out->source = o->source || o->both || !o->code;
	out->code = o->code || o->both || !o->source;
	out->automatic = !o->source && !o->code && !o->both;
	out->all = o->all;
	out->context = o->context > CONTEXT_MOST ? CONTEXT_MOST
						 : (unsigned int)o->context;
}

void cmd_sources_free(struct source_where *where)
{
	for (size_t i = 0; i < where->nmaps; i++)
		free((char *)where->maps[i].from);
	free((void *)where->maps);
	where->maps = NULL;
	where->nmaps = 0;
	source_access_fini(&where->access);
	if (where->server)
		debuginfod_fini(where->server);
	free(where->server);
	where->server = NULL;
}
