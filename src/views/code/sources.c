// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds source files and returns their lines. */
#include "views/code/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"
#include "symbolize/debuginfod.h"

enum { FILE_MAX = 64 << 20 };

void sources_init(struct sources *s, const struct profile *p,
		  const struct source_where *where)
{
	*s = (struct sources){ .p = p, .maps = where->maps,
			       .nmaps = where->nmaps };
	s->access = where->access;
	source_git_init(&s->git, p, &s->access, where->repo);
	s->server = where->server;
}

static void file_free(struct source_file *f)
{
	if (!f)
		return;
	free(f->path);
	free(f->why);
	free(f->origin);
	free(f->folder);
	buf_fini(&f->text);
	vec_fini(&f->rows);
	free(f);
}

void sources_fini(struct sources *s)
{
	for (size_t i = 0; i < s->files.n; i++)
		file_free(s->files.v[i]);
	vec_fini(&s->files);
	u64map_fini(&s->tab);
	source_git_fini(&s->git);
}

/* Returns the path after the first map that fits, or the path itself.  A mapped
 * path without a leading '/' is relative to the working directory. */
static char *mapped_path(const struct sources *s, const char *path)
{
	struct buf out = { 0 };
	char *copy, *cwd;

	for (size_t i = 0; i < s->nmaps && !out.n; i++) {
		const char *to = s->maps[i].to;
		size_t n = strlen(s->maps[i].from);

		if (strncmp(path, s->maps[i].from, n))
			continue;
		if (*to && *to != '/' && (cwd = getcwd(NULL, 0))) {
			buf_printf(&out, "%s/", cwd);
			free(cwd);
		}
		buf_str(&out, to);
		buf_str(&out, path + n);
	}
	copy = out.failed ? NULL : strdup(out.n ? buf_cstr(&out) : path);
	buf_fini(&out);
	return copy;
}

/* Indexes the lines of [start, end); the first one has number `line`. */
static int index_lines(struct source_file *f, const struct buf *text,
		       size_t start, size_t end, uint32_t line)
{
	while (start < end) {
		const uint8_t *p = text->p + start;
		const uint8_t *nl = memchr(p, '\n', end - start);
		size_t n = nl ? (size_t)(nl - p) : end - start;
		struct source_row row = { line, (uint32_t)start, (uint32_t)n };

		if (vec_push(&f->rows, row) < 0)
			return -ERR_NOMEM;
		if (line == UINT32_MAX)
			break;
		start += n + (nl != NULL);
		line++;
	}
	return 0;
}

/* Returns whether a source changed after the program was built or recorded.
 * Its lines may then differ. */
static bool is_newer(const struct sources *s, const struct stat *source,
		     uint32_t image)
{
	const struct profile *p = s->p;
	uint64_t began = p->runs.n ? p->runs.v[0].start_wall_ns : 0;
	struct stat made;

	if (began && (uint64_t)source->st_mtim.tv_sec > began / 1000000000)
		return true;
	return image < p->images.n &&
	       stat(profile_cstr(p, p->images.v[image].path), &made) == 0 &&
	       source->st_mtim.tv_sec > made.st_mtim.tv_sec &&
	       (uint64_t)made.st_mtim.tv_sec <= began / 1000000000;
}

/* Reads the file at f->path.  Returns the reason if there is none that can be
 * shown, otherwise "". */
static const char *read_path(const struct sources *s, struct source_file *f,
			     struct source_read *r, struct error *err)
{
	if (s->p->foreign)
		return "the recording belongs to another user: only the source "
		       "text in it is shown";
	if (f->path[0] != '/')
		return "its path is relative: name the folder with "
		       "--source-map =FOLDER/";
	if (source_access_read(&s->access, f->path, FILE_MAX, r, err) < 0) {
		f->refused = err->code == ERR_PERM;
		return err->msg;
	}
	return r->text.n && memchr(r->text.p, 0, r->text.n) ? "it is not a "
							      "text file"
							     : "";
}

static int read_file(const struct sources *s, struct source_file *f,
		     uint32_t image)
{
	struct source_read r = { .root = NULL };
	struct error err = { 0 };
	const char *why;
	int rc = 0;

	f->path = mapped_path(s, profile_cstr(s->p, f->file));
	if (!f->path)
		return -ERR_NOMEM;
	why = read_path(s, f, &r, &err);
	f->why = strdup(why);
	if (!f->why || err.code == ERR_NOMEM)
		rc = -ERR_NOMEM;
	if (!rc && !*why) {
		free(f->path);
		f->path = r.name;
		r.name = NULL;
		f->root = r.root;
		f->text = r.text;
		r.text = (struct buf){ 0 };
		f->place = SOURCE_FILE;
		f->newer = is_newer(s, &r.st, image);
		rc = index_lines(f, &f->text, 0, f->text.n, 1);
	}
	source_read_fini(&r);
	return rc;
}

static bool is_text(const struct buf *b)
{
	return !b->failed && !(b->n && memchr(b->p, 0, b->n));
}

/* Replaces the file found at its path by `text`, of a repository in `folder` or NULL.
 * If both are equal, the file is kept and does not count as newer. */
static int take_older(struct source_file *f, struct buf *text,
		      enum source_place place, const char *origin,
		      const char *folder)
{
	if (f->place == SOURCE_FILE && f->text.n == text->n &&
	    (!text->n || !memcmp(f->text.p, text->p, text->n))) {
		f->newer = false;
		return 0;
	}
	f->changed = f->place == SOURCE_FILE;
	f->newer = false;
	f->place = (uint8_t)place;
	f->origin = strdup(origin);
	f->folder = folder ? strdup(folder) : NULL;
	f->rows.n = 0;
	buf_fini(&f->text);
	f->text = *text;
	*text = (struct buf){ 0 };
	if (!f->origin || (folder && !f->folder))
		return -ERR_NOMEM;
	return index_lines(f, &f->text, 0, f->text.n, 1);
}

/* Adds to the reason why there is no source. */
static void add_reason(struct source_file *f, const char *reason)
{
	struct buf why = { 0 };
	char *copy;

	if (!*reason)
		return;
	buf_printf(&why, "%s; %s", f->why, reason);
	copy = strdup(buf_cstr(&why));
	if (copy) {
		free(f->why);
		f->why = copy;
	}
	buf_fini(&why);
}

/* Returns whether the file is private, hidden or behind a link out of the folders that
 * allow its path: its older versions must not be shown then, either. */
static bool is_private(const struct sources *s, const struct source_file *f)
{
	return f->refused && source_access_allows(&s->access, f->path);
}

/* Reads the original version from a git repository.  Tries the path that --source-map
 * gives, then the compiled one. */
static int read_git(const struct sources *s, struct source_git *git,
		    const struct source_file *f, struct source_git_file *out,
		    struct error *err)
{
	const char *path = profile_cstr(s->p, f->file);
	int rc = source_git_read(git, f->path, FILE_MAX, out, err);

	if (rc && strcmp(f->path, path) != 0)
		rc = source_git_read(git, path, FILE_MAX, out, err);
	return rc;
}

/* Finds the original version of a file that is missing or newer than the
 * program. */
static int find_older(struct sources *s, struct source_file *f, uint32_t image)
{
	const char *path = profile_cstr(s->p, f->file);
	struct source_git_file git = { .text = { 0 } };
	struct buf text = { 0 };
	struct error err = { 0 };
	int rc = is_private(s, f) ? -1 : read_git(s, &s->git, f, &git, &err);

	if (!rc && is_text(&git.text)) {
		rc = take_older(f, &git.text, SOURCE_GIT, buf_cstr(&git.name),
				buf_cstr(&git.folder));
		goto out;
	}
	add_reason(f, err.msg);
	err = (struct error){ 0 };
	rc = image < s->p->images.n
		? debuginfod_read_source(s->server, &s->p->images.v[image].build_id,
				     path, FILE_MAX, &text, &err) : -1;
	if (!rc && is_text(&text)) {
		rc = take_older(f, &text, SOURCE_DEBUGINFOD, "debuginfod",
				NULL);
	} else {
		add_reason(f, err.msg);
		rc = 0;
	}
out:
	buf_fini(&text);
	source_git_file_fini(&git);
	return rc;
}

static int by_line(const void *x, const void *y)
{
	const struct source_row *a = x, *b = y;

	return ascending(a->line, b->line) ?: ascending(a->start, b->start);
}

static int find_pieces(const struct sources *s, struct source_file *f)
{
	const struct profile *p = s->p;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->texts.n; i++) {
		const struct source_excerpt *t = &p->texts.v[i];

		if (t->file != f->file || t->offset > p->text_bytes.n ||
		    t->size > p->text_bytes.n - t->offset)
			continue;
		f->place = SOURCE_RECORDING;
		f->newer |= t->flags & PROF_TEXT_NEWER;
		rc = index_lines(f, &p->text_bytes, t->offset,
				 (size_t)t->offset + t->size, t->line);
	}
	vec_sort(&f->rows, by_line);
	return rc;
}

const struct source_file *sources_get(struct sources *s, uint32_t file,
				      uint32_t image)
{
	uint32_t *slot = u64map_slot(&s->tab, file);
	struct source_file *f;

	if (!slot)
		return NULL;
	if (*slot != U64MAP_NONE)
		return s->files.v[*slot];
	*slot = (uint32_t)s->files.n;
	f = calloc(1, sizeof(*f));
	if (!f || vec_push(&s->files, f) < 0) {
		free(f);
		u64map_clear(&s->tab);
		return NULL;
	}
	f->file = file;
	if (find_pieces(s, f) < 0)
		return NULL;
	if (f->place == SOURCE_RECORDING)
		return f;
	if (read_file(s, f, image) < 0)
		return NULL;
	if (file && !s->p->foreign && (f->place == SOURCE_NONE || f->newer) &&
	    find_older(s, f, image) < 0)
		return NULL;
	return f;
}

static bool may_share_git(const struct sources *s,
			  const struct source_access *others,
			  const struct source_file *f)
{
	struct source_git git;
	struct source_git_file file;
	struct error err = { 0 };
	bool ok;

	source_git_init(&git, s->p, others, s->git.repo);
	ok = !read_git(s, &git, f, &file, &err) && file.text.n == f->text.n &&
	     (!f->text.n || !memcmp(file.text.p, f->text.p, f->text.n));
	source_git_file_fini(&file);
	source_git_fini(&git);
	return ok;
}

static bool may_share(const struct sources *s, const struct source_file *f)
{
	struct source_access others = s->access;
	struct source_read r;
	struct error err = { 0 };
	bool ok;

	others.use = SOURCES_FOR_OTHERS;
	if (f->place == SOURCE_GIT)
		return may_share_git(s, &others, f);
	if (f->place != SOURCE_FILE)
		return true;
	ok = !source_access_read(&others, f->path, FILE_MAX, &r, &err);
	if (ok)
		source_read_fini(&r);
	return ok;
}

bool source_is_for_others(struct sources *s, const struct source_file *f)
{
	struct source_file *own = s->files.v[u64map_get(&s->tab, f->file)];

	if (own->shared == SHARED_UNKNOWN)
		own->shared = may_share(s, f) ? SHARED : NOT_SHARED;
	return own->shared == SHARED;
}

const char *source_place_word(const struct source_file *f)
{
	static const char *const words[] = { "no", "recording", "file", "git",
					     "debuginfod" };

	return words[f->place];
}

void source_origin(const struct sources *s, const struct source_file *f,
		   struct buf *out)
{
	if (f->place == SOURCE_RECORDING)
		buf_str(out, "from the recording");
	else if (f->origin)
		buf_printf(out, "from %s%s", f->origin,
			   f->changed ? ": the file has changed since" : "");
	else if (f->place == SOURCE_FILE &&
		 strcmp(f->path, profile_cstr(s->p, f->file)) != 0)
		buf_printf(out, "read from %s", f->path);
	else if (f->place == SOURCE_FILE)
		buf_str(out, "this machine's file");
}

bool source_line(const struct sources *s, const struct source_file *f,
		 uint32_t line, struct span *out)
{
	const struct buf *text = f->place == SOURCE_RECORDING
					 ? &s->p->text_bytes : &f->text;
	size_t at;

	lower_bound(at, 0, f->rows.n, f->rows.v[at].line < line);
	if (at == f->rows.n || f->rows.v[at].line != line)
		return false;
	*out = (struct span){ text->p + f->rows.v[at].start,
			      f->rows.v[at].size };
	return true;
}

bool source_text(const struct sources *s, const struct source_file *f,
		 uint32_t line, size_t max, struct buf *out)
{
	struct span text;

	if (!f || !line || !source_line(s, f, line, &text))
		return false;
	if (text.n && text.p[text.n - 1] == '\r')
		text.n--;
	for (size_t i = 0; i < text.n && i < max && text.p[i]; i++)
		buf_u8(out, text.p[i]);
	if (text.n > max)
		buf_str(out, "\u2026");
	return true;
}
