// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of names from stdin, readable on stdout: what c++filt does, by ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/demangle.h"

int main(int argc, char **argv)
{
	bool brief = argc > 1 && !strcmp(argv[1], "--short");
	struct buf text = { 0 }, shorter = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		buf_reset(&text);
		demangle(line, &text);
		if (brief) {
			buf_reset(&shorter);
			demangle_short(buf_cstr(&text), &shorter);
		}
		puts(buf_cstr(brief ? &shorter : &text));
	}
	free(line);
	buf_fini(&text);
	buf_fini(&shorter);
	return ferror(stdout) ? 1 : 0;
}
