// SPDX-License-Identifier: GPL-2.0-or-later
/* Expands @FILE on command lines: see at_files.h. */
#include "cli/at_files.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/io.h"

/* A file may refer to other files, but not endlessly. */
enum { MAX_FILES = 64, MAX_BYTES = 64 << 20 };

void at_files_fini(struct at_files *a)
{
	for (size_t i = 0; i < a->texts.n; i++)
		free(a->texts.v[i]);
	vec_fini(&a->texts);
	vec_fini(&a->argv);
}

/* Splits the next word off *text, in place.  Returns NULL if there is none. */
static char *next_word(char **text)
{
	char *from = *text, *word, *to, quote = 0;

	while (isspace((unsigned char)*from))
		from++;
	if (!*from)
		return NULL;
	word = to = from;
	for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '\'' || *from == '"'))
			quote = *from;
		else
			*to++ = *from;
	}
	*text = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static int add_file(struct at_files *a, const char *word, bool *there,
		    struct error *err)
{
	struct buf b = { 0 };
	char *text, *next;
	int rc;

	if (a->texts.n == MAX_FILES)
		return error_set(err, ERR_USAGE, "%s: more than %d files of "
				 "arguments", word, MAX_FILES);
	rc = io_read_file(word + 1, MAX_BYTES, &b, err);
	*there = rc != -ERR_NOTFOUND;
	buf_u8(&b, '\0');
	text = (char *)b.p;
	if (rc < 0 || b.failed || vec_push(&a->texts, text) < 0) {
		rc = rc < 0 ? rc : error_nomem(err);
		buf_fini(&b);
		return *there ? rc : 0;
	}
	while ((next = next_word(&text)))
		if (vec_push(&a->argv, next) < 0)
			return error_nomem(err);
	return 0;
}

/* Replaces each @FILE by the words in the file.  *more is set if there were files,
 * whose words may name further files. */
static int expand_once(struct at_files *a, bool *more, struct error *err)
{
	VEC(char *) old = { a->argv.v, a->argv.n, a->argv.cap };
	int rc = 0;

	*more = false;
	a->argv.v = NULL;
	a->argv.n = a->argv.cap = 0;
	for (size_t i = 0; i < old.n && !rc; i++) {
		bool there = false;

		if (i && old.v[i][0] == '@')
			rc = add_file(a, old.v[i], &there, err);
		*more |= there;
		if (!rc && !there && vec_push(&a->argv, old.v[i]) < 0)
			rc = error_nomem(err);
	}
	vec_fini(&old);
	return rc;
}

int at_files_expand(struct at_files *a, int argc, char **argv,
		    struct error *err)
{
	bool more = true;
	int rc = 0;

	for (int i = 0; i < argc; i++)
		if (vec_push(&a->argv, argv[i]) < 0)
			return error_nomem(err);
	while (more && !rc)
		rc = expand_once(a, &more, err);
	if (!rc && vec_push(&a->argv, NULL) < 0)
		rc = error_nomem(err);
	if (!rc)
		a->argv.n--;
	return rc;
}
