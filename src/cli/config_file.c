// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads options from a file: see config_file.h. */
#include "cli/config_file.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/options.h"

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
