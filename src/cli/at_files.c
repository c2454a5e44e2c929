// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes words and options from files: see at_files.h. */
#include "cli/at_files.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/options.h"

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

/* --- --config */

enum { CONFIG_MAX = 1 << 20 };

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return s;
}

static int add(struct at_files *a, const char *dashes, const char *name,
	       const char *equals, const char *value, struct error *err)
{
	char *word = NULL;

	if (asprintf(&word, "%s%s%s%s", dashes, name, equals, value) < 0)
		return error_nomem(err);
	if (vec_push(&a->texts, word) < 0) {
		free(word);
		return error_nomem(err);
	}
	return vec_push(&a->argv, word) < 0 ? error_nomem(err) : 0;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	return n && !s[n] && *s != '-';
}

int config_words(struct at_files *a, const char *name, char *text,
		 struct error *err)
{
	unsigned int number = 0;
	char *line;
	int rc = 0;

	while (!rc && (line = strsep(&text, "\n"))) {
		char *value;

		number++;
		line = trim(line);
		if (!*line || *line == '#')
			continue;
		value = strchr(line, '=');
		if (value) {
			*value++ = 0;
			value = trim(value);
			line = trim(line);
		}
		if (!is_name(line))
			rc = error_set(err, ERR_USAGE, "%s:%u: expected NAME "
				       "= VALUE or NAME, with the name of an "
				       "option",
				       name, number);
		else if (line[1])
			rc = add(a, "--", line, value ? "=" : "",
				 value ? value : "", err);
		else	/* -x or -xVALUE */
			rc = add(a, "-", line, "", value ? value : "", err);
	}
	return rc;
}

int config_expand(struct at_files *a, const struct command *cmd, int argc,
		  char **argv, struct error *err)
{
	const char *file = NULL;
	struct buf text = { 0 };
	int next = 2, rc;

	if (argc < 2 || !option_called(cmd, "config", strlen("config")))
		return 0;
	if (!strncmp(argv[1], "--config=", 9)) {
		file = argv[1] + 9;
	} else if (!strcmp(argv[1], "--config") && argc > 2) {
		file = argv[2];
		next = 3;
	}
	if (!file)
		return 0;
	rc = io_read_file(file, CONFIG_MAX, &text, err);
	if (!rc && vec_push(&a->argv, argv[0]) < 0)
		rc = error_nomem(err);
	buf_cstr(&text);
	if (!rc && text.failed)
		rc = error_nomem(err);
	if (!rc && text.n && strlen((char *)text.p) != text.n)
		rc = error_set(err, ERR_USAGE, "%s: is not a text file", file);
	if (!rc && text.n)
		rc = config_words(a, file, (char *)text.p, err);
	for (int i = next; !rc && i < argc; i++)
		if (vec_push(&a->argv, argv[i]) < 0)
			rc = error_nomem(err);
	if (!rc && vec_push(&a->argv, NULL) < 0)
		rc = error_nomem(err);
	else if (!rc)
		a->argv.n--;
	buf_fini(&text);
	return rc;
}
