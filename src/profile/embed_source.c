// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores source lines in a profile: those of hot functions, with some lines
 * around them.  File names come from the debug information of untrusted
 * programs, so everything is bounded, and files that are not text are left out.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/search.h"
#include "profile/symbolize_internal.h"

enum {
	AROUND = 12,			/* lines before and after */
	FILE_MAX = 16 << 20,		/* bytes of one file */
	LINE_MAX_BYTES = 1000,		/* bytes of one line; longer ones are
					 * truncated */
	TEXTS_MAX = 16 << 20,		/* bytes of all texts */
	LINES_MAX = 1 << 24,
};

struct wanted {
	uint32_t file, line, image;
};

struct texts {
	struct symbolize_run *f;
	VEC(struct wanted) want;	/* by file and line */
	struct source_read file;
};

static int by_place(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return ascending(x->file, y->file) ?: ascending(x->line, y->line);
}

static int want_line(struct texts *t, uint32_t file, uint32_t line,
		     uint32_t image)
{
	if (!file || !line || line > LINES_MAX)
		return 0;
	return vec_push(&t->want, (struct wanted){ file, line, image });
}

/* Collects lines of code and of the calls into which it was inlined. */
static int collect(struct texts *t)
{
	const struct profile *p = t->f->p;
	uint8_t *seen = calloc(p->frames.n + 1, 1);
	int rc = seen ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < p->lines.n; i++) {
		uint32_t f = p->lines.v[i].frame;

		for (; f != PROF_NONE && !seen[f] && !rc;
		     f = p->frames.v[f].outer) {
			const struct prof_frame *fr = &p->frames.v[f];
			const struct prof_func *fn = &p->funcs.v[fr->func];

			seen[f] = 1;
			rc = want_line(t, fr->file, fr->line, fn->image) ?:
			     want_line(t, fn->file, fn->line, fn->image);
		}
	}
	free(seen);
	vec_sort(&t->want, by_place);
	return rc;
}

static uint32_t file_flags(const struct texts *t, uint32_t image)
{
	const struct profile *p = t->f->p;
	const char *made = profile_cstr(p, p->images.v[image].path);
	struct stat binary;

	return stat(made, &binary) == 0 &&
			       t->file.st.st_mtime > binary.st_mtime
		       ? PROF_TEXT_NEWER : 0;
}

/* Copies lines [first, last].  Returns the offset of the next line. */
static size_t put_lines(struct texts *t, size_t at, uint32_t first,
			uint32_t last)
{
	struct buf *out = &t->f->p->text_bytes;

	for (uint32_t l = first; l <= last && at < t->file.text.n; l++) {
		const uint8_t *s = t->file.text.p + at;
		const uint8_t *end = memchr(s, '\n', t->file.text.n - at);
		size_t n = end ? (size_t)(end - s) : t->file.text.n - at;

		buf_bytes(out, s, n < LINE_MAX_BYTES ? n : LINE_MAX_BYTES);
		buf_u8(out, '\n');
		at += n + (end != NULL);
	}
	return at;
}

static size_t skip_lines(const struct texts *t, size_t at, uint32_t n)
{
	while (n && at < t->file.text.n) {
		const uint8_t *end = memchr(t->file.text.p + at, '\n',
					    t->file.text.n - at);

		at = end ? (size_t)(end - t->file.text.p) + 1 : t->file.text.n;
		n--;
	}
	return at;
}

/* Stores the excerpts of one file: want[i, end). */
static int put_file(struct texts *t, size_t i, size_t end, uint32_t flags)
{
	struct profile *p = t->f->p;
	uint32_t line = 1;
	size_t at = 0;

	while (i < end && p->text_bytes.n < TEXTS_MAX) {
		uint32_t first = t->want.v[i].line, last = first + AROUND;
		struct source_excerpt row = { .file = t->want.v[i].file,
					 .flags = flags };

		first = first > AROUND ? first - AROUND : 1;
		for (; i < end && t->want.v[i].line <= last + AROUND + 1; i++)
			last = t->want.v[i].line + AROUND;
		at = skip_lines(t, at, first - line);
		if (at >= t->file.text.n)
			return 0;
		row.line = first;
		row.offset = (uint32_t)p->text_bytes.n;
		at = put_lines(t, at, first, last);
		line = last + 1;
		row.size = (uint32_t)(p->text_bytes.n - row.offset);
		if (p->text_bytes.failed || vec_push(&p->texts, row) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int take_file(struct texts *t, size_t i, size_t end)
{
	const char *path = profile_cstr(t->f->p, t->want.v[i].file);

	const struct source_access *access = t->f->o->embed_source;
	struct error err = { 0 };

	source_read_fini(&t->file);
	if (t->f->p->foreign ||
	    source_access_read(access, path, FILE_MAX, &t->file, &err) < 0)
		return err.code == ERR_NOMEM ? -ERR_NOMEM : 0;
	if (!t->file.text.n || memchr(t->file.text.p, 0, t->file.text.n))
		return 0;	/* not text */
	return put_file(t, i, end, file_flags(t, t->want.v[i].image));
}

int embed_source(struct symbolize_run *f)
{
	struct texts t = { .f = f };
	int rc = collect(&t);
	size_t i, end;

	for (i = 0; !rc && i < t.want.n; i = end) {
		for (end = i + 1; end < t.want.n &&
				  t.want.v[end].file == t.want.v[i].file; end++)
			;
		rc = take_file(&t, i, end);
	}
	vec_fini(&t.want);
	source_read_fini(&t.file);
	return rc ? symbolize_nomem(f) : 0;
}
