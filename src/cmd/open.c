// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens recordings and writes notices for commands: see open.h. */
#include "config.h"

#include "cmd/open.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/output.h"
#include "import/import.h"
#include "profile/merge.h"
#include "profile/symbolize_profile.h"
#include "symbolize/debuginfod.h"
#include "verify/verify.h"
#include "views/query/select.h"

/* Adds debuginfod's cache, so that files fetched by hand or by gdb are used. */
static void add_cache(struct buf *out)
{
	struct buf b = { 0 };

	debuginfod_cache(&b);
	if (b.n && !access(buf_cstr(&b), R_OK | X_OK))
		buf_printf(out, "%s:", buf_cstr(&b));
	buf_fini(&b);
}

int cmd_debug_dirs(const struct opt_strs *named, struct buf *out,
		   struct error *err)
{
	for (size_t i = 0; named && i < named->n; i++) {
		/* Refuse a missing folder; otherwise it would seem to contain
		 * nothing useful. */
		if (access(named->v[i], R_OK) != 0)
			return error_errno(err, errno, "--debug-dir %s",
					   named->v[i]);
		buf_printf(out, "%s:", named->v[i]);
	}
	add_cache(out);
	buf_str(out, "/usr/lib/debug");
	if (out->failed)
		return error_nomem(err);
	return 0;
}

/* Imports to memory; no file is written. */
static int open_import(struct cmd_io *io, const struct cmd_reading *how,
		       const char *path, bool perf_data, struct reader **out,
		       struct error *err)
{
	struct buf dirs = { 0 };
	struct import_options o = { .symbols = true, .trust = how->trust,
				    .max_memory = how->max_memory,
				    /* tally info shows the sizes of a file */
				    .no_code = how->no_code,
				    .temporary = how->no_code,
				    .detail = how->detail,
				    .progress = cmd_show_step, .ctx = io,
				    .version = PACKAGE_VERSION };
	struct reader_damage damage = { .incomplete = true };
	struct import_result result;
	int fd = memfd_create("tally-import", MFD_CLOEXEC);
	int rc;

	if (fd < 0)
		return error_errno(err, errno, "%s: cannot allocate memory to "
				   "import it",
				   path);
	rc = cmd_debug_dirs(&how->debug_dirs, &dirs, err);
	o.debug_dirs = buf_cstr(&dirs);
	if (!rc)
		rc = (perf_data ? import_perf_data : import_foreign)
			(path, fd, path, &o, &result, err);
	if (!rc)
		rc = reader_open_fd(fd, path, result.max_memory
				    ? result.max_memory : UINT64_MAX, out, err);
	if (!rc)
		reader_profile(*out)->lines_unread = how->detail != SYM_LINES;
	close(fd);
	buf_fini(&dirs);
	if (!rc && result.cut_at) {
		snprintf(damage.message, sizeof(damage.message),
			 "it is truncated at offset %llu; all data before "
			 "it is shown",
			 (unsigned long long)result.cut_at);
		reader_inherit_damage(*out, &damage, path);
	}
	return rc;
}

int cmd_add_symbols(struct cmd_io *io, const struct cmd_reading *how,
		    const char *path, struct reader *r, struct error *err)
{
	struct symbolize_options o = { .detail = how->detail,
				       .progress = cmd_show_image, .ctx = io };
	struct buf dirs = { 0 };
	int rc;

	if (reader_profile(r)->symbolized || reader_profile(r)->foreign ||
	    !reader_profile(r)->locs.n)
		return 0;
	rc = cmd_debug_dirs(&how->debug_dirs, &dirs, err);
	if (!rc) {
		o.debug_dirs = buf_cstr(&dirs);
		rc = profile_symbolize(reader_profile(r), &o, err);
		reader_profile(r)->lines_unread = how->detail != SYM_LINES;
	}
	buf_fini(&dirs);
	cmd_show_step(io, NULL);
	if (rc < 0)
		return rc;
	cmd_notice(io, "%s contains no symbols: using the files on this machine "
		   "('tally symbolize' stores them)", path);
	return 0;
}

int cmd_open_file(struct cmd_io *io, const struct cmd_reading *how, const char *path,
		  struct reader **out, struct error *err)
{
	bool other = !reader_is_recording(path);
	bool perf_data = other && import_is_perf_data(path);
	int rc;

	*out = NULL;
	rc = perf_data || (other && import_is_foreign(path))
	     ? open_import(io, how, path, perf_data, out, err)
	     : reader_open_in(path, how->max_memory, how->strings, out, err);
	if (rc < 0 || how->as_it_is)
		return rc;
	cmd_take_trust(io, path, *out, how->trust);
	rc = cmd_add_symbols(io, how, path, *out, err);
	if (rc < 0) {
		reader_close(*out);
		*out = NULL;
	}
	return rc;
}

int cmd_open(struct cmd_io *io, const struct cmd_reading *how, const char *input,
	     int argc, char **argv, const char **path, struct reader **out,
	     struct error *err)
{
	bool named = input || argc > 0;
	int rc;

	*out = NULL;
	if (argc > 1 || (argc && input))
		return error_set(err, ERR_USAGE,
				 "unexpected argument '%s': name only one "
				 "recording", argv[input ? 0 : 1]);
	*path = argc ? argv[0] : input ? input : "profile.tally";
	if (!strcmp(*path, "-"))
		*path = "/dev/stdin";
	rc = cmd_open_file(io, how, *path, out, err);
	if (rc == -ERR_NOTFOUND && !named)
		return error_set(err, ERR_NOTFOUND,
				 "no recording here (profile.tally): "
				 "create one with 'tally record -- PROGRAM', or "
				 "name a file");
	return rc;
}

void cmd_labelled_name(const char *path, const struct opt_strs *labels,
		       struct buf *out)
{
	buf_str(out, path);
	for (size_t i = 0; labels && i < labels->n; i++)
		buf_printf(out, "%s%s%s", i ? ", " : " (", labels->v[i],
			   i + 1 < labels->n ? "" : ")");
}

/* Replaces a recording by its samples with these labels, if there are any. */
static int select_labelled(const char *path, struct reader **r,
			   const struct opt_strs *labels, struct error *err)
{
	struct select_spec spec = { .labels = { NULL, 0 } };
	struct reader *some = NULL;
	struct selection sel;
	bool any = false;
	int rc;

	if (!labels || !labels->n)
		return 0;
	spec.labels = (struct name_list){ labels->v, labels->n };
	rc = selection_init(&sel, reader_profile(*r), &spec, err);
	if (rc < 0) {
		error_prefix(err, "%s", path);
		return rc;
	}
	for (size_t i = 0; i < reader_profile(*r)->threads.n; i++)
		any |= sel.thread_ok[i];
	rc = any ? recording_select(*r, sel.thread_ok, path, &some, err)
		 : error_set(err, ERR_USAGE, "%s: nothing has the label %s",
			     path, labels->v[0]);
	selection_fini(&sel);
	if (rc)
		return rc;
	reader_close(*r);
	*r = some;
	return 0;
}

int cmd_named_once(const struct opt_strs *a, const struct opt_strs *b,
		   struct error *err)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = a == b ? i + 1 : 0; k < b->n; k++)
			if (!strcmp(a->v[i], b->v[k]))
				return error_set(err, ERR_USAGE, "%s is named "
						 "twice", a->v[i]);
	return 0;
}

int cmd_open_files(struct cmd_io *io, const struct cmd_reading *how,
		   const struct opt_strs *files, const struct opt_strs *labels,
		   cmd_add_fn *add, void *ctx, struct error *err)
{
	struct buf name = { 0 };
	int rc = cmd_named_once(files, files, err);

	for (size_t i = 0; !rc && i < files->n; i++) {
		struct reader *r;

		rc = cmd_open_file(io, how, files->v[i], &r, err);
		if (rc < 0)
			break;
		rc = select_labelled(files->v[i], &r, labels, err);
		buf_reset(&name);
		cmd_labelled_name(files->v[i], labels, &name);
		if (!rc && name.failed)
			rc = error_nomem(err);
		if (rc)
			reader_close(r);
		else
			rc = add(ctx, buf_cstr(&name), r, err);
	}
	buf_fini(&name);
	return rc < 0 ? rc : 0;
}

void cmd_report_damage(struct cmd_io *io, const char *path,
		       const struct reader *r)
{
	const struct reader_damage *damage = reader_damage(r);

	if (*damage->message)
		cmd_notice(io, "%s: %s", path, damage->message);
}

void cmd_show_image(void *ctx, const char *image, size_t done, size_t total)
{
	struct cmd_io *io = ctx;
	struct buf text = { 0 };

	if (!io->progress)
		return;
	buf_printf(&text, "symbolizing %zu/%zu ", done, total);
	text_safe(&text, image);
	io->progress(io, buf_cstr(&text));
	buf_fini(&text);
}

void cmd_show_step(void *ctx, const char *text)
{
	struct cmd_io *io = ctx;

	if (io->progress)
		io->progress(io, text);
}

void cmd_take_trust(struct cmd_io *io, const char *path, struct reader *r,
		    bool trusted)
{
	struct profile *p = reader_profile(r);

	if (trusted)
		p->foreign = false;
	if (p->foreign)
		cmd_notice(io, "%s belongs to another user: the files it names are "
			   "not opened, only its own symbols, code and source are "
			   "shown (--trust-recording)", path);
}

int cmd_verified(struct cmd_io *io, const struct verify_counts *counts, struct buf *out,
		 int rc, struct error *err)
{
	if (rc >= 0) {
		verify_summary(counts, out);
		rc = cmd_output(io, NULL, out, err);
	}
	buf_fini(out);
	if (rc < 0)
		return rc;
	return counts->different > 0;
}

int cmd_color(const char *word, bool automatic, bool *out, struct error *err)
{
	*out = automatic;
	if (!word || !strcmp(word, "auto"))
		return 0;
	*out = !strcmp(word, "always") || !*word;
	if (*out || !strcmp(word, "never"))
		return 0;
	return error_set(err, ERR_USAGE, "--color '%s': use auto, always or never",
			 word);
}

int cmd_columns(const struct cmd_io *io, const char *path, uint64_t asked)
{
	enum { LEAST = 40, MOST = 10000 };
	uint64_t columns = asked != UINT64_MAX ? asked
			 : path ? 0 : (uint64_t)io->columns;

	if (columns && columns < LEAST)
		return LEAST;
	return columns > MOST ? MOST : (int)columns;
}

/* --- exit statuses of recorded commands, and notices to the user */

/*
 * If a signal ended the command, tally ends by the same signal, so that a shell's
 * loop stops at Ctrl-C. A signal that leaves a core file would cause a second one.
 * For these, tally exits with 128 + signal, which is what a shell shows for them
 * anyway.
 */
int cmd_pass_status(struct cmd_io *io, int status)
{
	int signo;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return 0;
	signo = WTERMSIG(status);
	/* Like a shell, does not report signals that usually end programs. */
	if (signo != SIGINT && signo != SIGTERM && signo != SIGHUP &&
	    signo != SIGPIPE)
		fprintf(io->err, "tally: the command was ended by signal %d "
			"(%s)\n", signo, strsignal(signo));
	fflush(io->err);
	fflush(io->out);
	if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	return 128 + signo;
}

void cmd_notice(const struct cmd_io *io, const char *fmt, ...)
{
	struct buf safe = { 0 };
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;		/* the command ends with a message about that */
	text_safe(&safe, text);
	fprintf(io->err, "tally: %s\n", buf_cstr(&safe));
	fflush(io->err);
	buf_fini(&safe);
	free(text);
}

void cmd_notice_lines(const struct cmd_io *io, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		cmd_notice(io, "%.*s", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

void cmd_message(void *ctx, const char *text)
{
	const struct cmd_messages *m = ctx;

	if (!m->quiet)
		cmd_notice(m->io, "%s", text);
}
