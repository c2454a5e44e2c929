/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_MATCH_H
#define TALLY_VIEWS_QUERY_MATCH_H
/* Matches names given by the user with names of a profile. */
#include "views/query/select.h"

/* Returns whether both are equal, or the pattern contains * or ? and matches
 * the whole text. */
bool match_word(const char *pattern, const char *text);
/* Returns whether any of the words is a part of the name or matches it. */
bool match_symbol_part(const struct name_list *l, const char *name);

/*
 * Sets ok[function] for the functions that the words name.  A word selects the
 * functions with exactly that name: as stored, as demangled, as shown, or
 * without name spaces and parameters.  "a.c:process" and "process (a.c)" select
 * only those of a source file or image.  If there are none, it selects
 * functions whose name contains the word.
 */
int match_functions(const struct profile *p, const struct name_list *l,
		    uint8_t *ok, struct error *err);

/* Returns whether a word names this function together with its file or
 * image. */
bool match_placed(const struct profile *p, uint32_t func, const char *word);

#endif
