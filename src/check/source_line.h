/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_SOURCE_LINE_H
#define TALLY_CHECK_SOURCE_LINE_H
/*
 * What a line of source declares, and whether it is more than a comment.  Lines are
 * read one by one and without a grammar, so the answers are guesses that hold for
 * usual layouts: functions begin in the first column, as git's own rule has it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
	const char *p;
	size_t n;
};

enum source_language {
	SOURCE_OTHER,	/* only lines without letters and digits are no code */
	SOURCE_C,	/* comments of C; # begins a directive or an attribute */
	SOURCE_HASH,	/* # begins a comment: shell, Python, make */
};

/* What is open before a line. */
struct source_state {
	bool in_comment;	/* a comment of C that spans lines */
	bool in_declaration;	/* a function or type whose end is still to come */
	bool guess;		/* the lines before are unknown: a line that looks like
				 * the middle of a comment is one */
};

static inline bool text_begins(struct text t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && !memcmp(t.p, with, n);
}

/* Returns the text without white space at both ends. */
struct text text_trimmed(struct text t);

/* Returns the language of a file by its name. */
enum source_language source_language(struct text path);
/* Returns the name that a line declares, "" if there is none: it is part of the line. */
struct text source_declared(struct text line);
/* Returns whether a line begins a function or declaration.  Updates what is open. */
bool source_declares(struct text line, enum source_language l,
		     struct source_state *s);
/* Returns whether a change of the line can change what a program does.  Updates what
 * is open. */
bool source_has_code(struct text line, enum source_language l,
		     struct source_state *s);
/* Returns whether a declaration cannot continue in later lines. */
bool source_is_complete(struct text line);

#endif
