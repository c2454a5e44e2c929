// SPDX-License-Identifier: GPL-2.0-or-later
/* Source lines: see sources.h. */
#include "views/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

enum { FILE_MAX = 64 << 20 };

void sources_init(struct sources *s, const struct profile *p,
		  const struct source_map *maps, size_t nmaps)
{
	*s = (struct sources){ .p = p, .maps = maps, .nmaps = nmaps };
}

static void file_free(struct source_file *f)
{
	if (!f)
		return;
	free(f->path);
	free(f->why);
	buf_fini(&f->text);
	vec_fini(&f->starts);
	vec_fini(&f->pieces);
	free(f);
}

void sources_fini(struct sources *s)
{
	for (size_t i = 0; i < s->files.n; i++)
		file_free(s->files.v[i]);
	vec_fini(&s->files);
	u64map_fini(&s->tab);
}

/* The first map that fits; the path itself where none does. */
static char *mapped_path(const struct sources *s, const char *path)
{
	struct buf out = { 0 };
	char *copy;

	for (size_t i = 0; i < s->nmaps && !out.n; i++) {
		size_t n = strlen(s->maps[i].from);

		if (strncmp(path, s->maps[i].from, n))
			continue;
		buf_str(&out, s->maps[i].to);
		buf_str(&out, path + n);
	}
	copy = strdup(out.n ? buf_cstr(&out) : path);
	buf_fini(&out);
	return copy;
}

static int index_lines(struct source_file *f)
{
	const uint8_t *p = f->text.p, *end = p + f->text.n;

	while (p < end) {
		const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));

		if (vec_push(&f->starts, (uint32_t)(p - f->text.p)) < 0)
			return -ERR_NOMEM;
		p = nl ? nl + 1 : end;
	}
	return vec_push(&f->starts, (uint32_t)f->text.n);
}

/* A source that changed after the program was built, or after it ran, may have
 * other lines. */
static bool is_newer(const struct sources *s, const struct source_file *f,
		     uint32_t image)
{
	const struct profile *p = s->p;
	uint64_t began = p->runs.n ? p->runs.v[0].start_wall_ns : 0;
	struct stat source, made;

	if (stat(f->path, &source) < 0)
		return false;
	if (began && (uint64_t)source.st_mtim.tv_sec > began / 1000000000)
		return true;
	return image < p->images.n &&
	       stat(profile_cstr(p, p->images.v[image].path), &made) == 0 &&
	       source.st_mtim.tv_sec > made.st_mtim.tv_sec &&
	       (uint64_t)made.st_mtim.tv_sec <= began / 1000000000;
}

static int read_file(const struct sources *s, struct source_file *f,
		     uint32_t image)
{
	struct error err = { 0 };
	const char *why = "";

	f->path = mapped_path(s, profile_cstr(s->p, f->file));
	if (!f->path)
		return -ERR_NOMEM;
	if (f->path[0] != '/')
		why = "its path is relative: name the folder with "
		      "--source-map =FOLDER/";
	else if (io_read_file(f->path, FILE_MAX, &f->text, &err) < 0)
		why = err.msg;
	else if (f->text.n && memchr(f->text.p, 0, f->text.n))
		why = "it is no text";
	f->why = strdup(why);
	if (!f->why)
		return -ERR_NOMEM;
	if (*why)
		return 0;
	f->place = SOURCE_FILE;
	f->newer = is_newer(s, f, image);
	return index_lines(f);
}

static int find_pieces(const struct sources *s, struct source_file *f)
{
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->texts.n; i++) {
		const struct prof_text *t = &p->texts.v[i];

		if (t->file != f->file)
			continue;
		f->place = SOURCE_RECORDING;
		f->newer |= t->flags & PROF_TEXT_NEWER;
		if (vec_push(&f->pieces, (uint32_t)i) < 0)
			return -ERR_NOMEM;
	}
	return 0;
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
	if (find_pieces(s, f) < 0 ||
	    (f->place == SOURCE_NONE && read_file(s, f, image) < 0))
		return NULL;
	return f;
}

static bool piece_line(const struct sources *s, const struct prof_text *t,
		       uint32_t line, struct span *out)
{
	const uint8_t *p, *end, *nl;

	if (line < t->line || t->offset > s->p->text_bytes.n ||
	    t->size > s->p->text_bytes.n - t->offset)
		return false;
	p = s->p->text_bytes.p + t->offset;
	end = p + t->size;
	for (line -= t->line; p < end; line--) {
		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl ? nl : end;
		if (!line) {
			*out = (struct span){ p, (size_t)(nl - p) };
			return true;
		}
		p = nl < end ? nl + 1 : end;
	}
	return false;
}

bool source_line(const struct sources *s, const struct source_file *f,
		 uint32_t line, struct span *out)
{
	uint32_t start, end;

	for (size_t i = 0; i < f->pieces.n; i++)
		if (piece_line(s, &s->p->texts.v[f->pieces.v[i]], line, out))
			return true;
	if (!line || line >= f->starts.n)
		return false;
	start = f->starts.v[line - 1];
	end = f->starts.v[line];
	if (end > start && f->text.p[end - 1] == '\n')
		end--;
	*out = (struct span){ f->text.p + start, end - start };
	return true;
}
