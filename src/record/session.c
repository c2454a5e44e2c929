// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins and ends the files of a recording, and shows notices. */
#include "record/session.h"

#include <stdarg.h>
#include <stdio.h>

#include "profile/replace.h"
#include "record/collect/jit_map.h"

void session_notice(struct session *s, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	if (!s->o->notice)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->o->notice(s->o->ctx, text);
}

int session_prepare_file(struct session *s, struct error *err)
{
	int r = writer_open_fd(s->out.fd, s->o->output, &s->profile,
			       &s->prepared, err);

	if (!r)
		r = writer_flush(s->prepared, err);
	if (!r)
		r = recording_keep_old(&s->out, err);
	return r ? r : outfile_try(&s->out, err);
}

int session_begin_file(struct session *s, struct error *err)
{
	int r = outfile_place(&s->out, err);

	if (r)
		return r;
	s->writer = s->collector.writer = s->prepared;
	s->prepared = NULL;
	return 0;
}

static int fill(struct session *s, struct error *err)
{
	struct symbolize_options fo = {
		.vmlinux = s->o->vmlinux,
		.embed_source = s->o->embed_source,
		.debug_dirs = s->o->debug_dirs,
		.identified_later = s->o->identified_later,
		.cache = s->o->symbol_cache,
		.one_thread = s->o->calm,
		/* Without records of generated code, its names could be old. */
		.kept_kallsyms = s->collector.gaps ? 0 : s->rotation.kallsyms,
	};

	int rc = collector_symbolize(&s->collector, &fo, s->o->progress,
				     s->o->ctx, err);

	if (rc >= 0)
		jit_maps_remove(&s->collector.images);
	return rc;
}

int session_flush(struct session *s, struct error *err)
{
	struct profile *p = &s->profile;
	int rc;

	if (p->nodes_repeat && !profile_env(p, PROF_NONE, PROF_ENV_REPEATED) &&
	    profile_set_env(p, PROF_NONE, PROF_ENV_REPEATED, "1") < 0)
		return error_nomem(err);
	rc = writer_flush(s->writer, err);
	if (rc < 0)
		return rc;
	profile_threads_written(p);
	/* held samples still need their nodes */
	if (!s->collector.held.on)
		profile_nodes_written(p);
	return 0;
}

/* Returns whether recording failed in the middle of a run. */
static bool has_open_run(const struct profile *p)
{
	for (size_t i = 0; i < p->runs.n; i++)
		if (!p->runs.v[i].end_ns)
			return true;
	return false;
}

/* Notes that records of mappings were lost. */
static int note_gaps(struct session *s, struct error *err)
{
	uint64_t n = s->collector.gaps;

	session_notice(s, "%llu records of mappings and processes were lost "
		       "(the recorder could not keep up): programs that ended "
		       "meanwhile may have no symbols", (unsigned long long)n);
	return profile_set_number(&s->profile, PROF_NONE, "lost_mappings", n) < 0
	       ? error_nomem(err) : 0;
}

int session_finish_file(struct session *s, struct error *err)
{
	int r = collector_release(&s->collector, err);

	if (r < 0)
		return r;
	/* Without an end mark, the file cannot be mistaken for a complete run. */
	if (has_open_run(&s->profile))
		return writer_flush(s->writer, err);

	if (s->collector.gaps && note_gaps(s, err) < 0)
		return -err->code;
	if (s->o->symbols) {
		struct error why = { 0 };

		/* Keep the samples even if names fail. */
		if (fill(s, &why) < 0)
			session_notice(s, "no symbols: %s", why.msg);
	}
	r = writer_finish(s->writer, err);
	s->result->bytes = writer_bytes(s->writer);
	return r;
}
