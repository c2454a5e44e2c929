/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_MATCH_H
#define TALLY_VIEWS_QUERY_MATCH_H
/* Names that the user wrote against names of a profile. */
#include "views/query/select.h"

/* Equal, or the pattern holds * or ? and matches the whole text. */
bool match_word(const char *pattern, const char *text);
/* One of the words is a part of the name, or matches it. */
bool match_symbol_part(const struct name_list *l, const char *name);

/*
 * Sets ok[function] for those that are meant.  A word means the functions of
 * exactly that name: as stored, as demangled, as shown, or without name spaces
 * and parameters; "a.c:process" and "process (a.c)" mean those of a source file
 * or image alone; only if there is none, those whose name holds the word.
 */
int match_functions(const struct profile *p, const struct name_list *l,
		    uint8_t *ok, struct error *err);

/* Whether a word names this function and says where it is. */
bool match_placed(const struct profile *p, uint32_t func, const char *word);

#endif
