// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort keys: see keys.h. */
#include "views/query/keys.h"

#include <string.h>

#include "base/nearest.h"

enum { WORD_MAX = 32, SKIPPED = KEY_COUNT };

static const struct {
	const char *name;
	int key;
} names[] = {
	/* the first KEY_COUNT rows are the names we print, by enum view_key */
	{ "comm", KEY_COMM },	  { "pid", KEY_PID },
	{ "tid", KEY_TID },	  { "cpu", KEY_CPU },
	{ "run", KEY_RUN },	  { "event", KEY_EVENT },
	{ "image", KEY_IMAGE },	  { "symbol", KEY_SYMBOL },
	{ "file", KEY_FILE },	  { "line", KEY_LINE },
	{ "dso", KEY_IMAGE },	  { "sym", KEY_SYMBOL },
	{ "srcfile", KEY_FILE },  { "srcline", KEY_LINE },
	{ "overhead", SKIPPED },
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

const char *key_name(enum view_key k)
{
	return names[k].name;
}

static int find_key(const char *word, struct error *err)
{
	struct nearest near = nearest_to(word);
	const char *best;

	for (int i = 0; i < NAMES; i++) {
		if (!strcmp(word, names[i].name))
			return names[i].key;
		nearest_try(&near, names[i].name);
	}
	best = nearest_best(&near);
	if (best)
		return error_set(err, ERR_USAGE,
				 "no sort key '%s'; did you mean '%s'?", word,
				 best);
	return error_set(
		err, ERR_USAGE,
		"no sort key '%s'; there are comm, pid, tid, cpu, run, "
		"event, image, symbol, file, line",
		word);
}

int key_list_parse(const char *text, struct key_list *out, struct error *err)
{
	*out = (struct key_list){ 0 };
	for (;;) {
		size_t n = strcspn(text, ",");
		char word[WORD_MAX];
		int key;

		if (n >= sizeof(word))
			n = sizeof(word) - 1;
		memcpy(word, text, n);
		word[n] = 0;
		key = find_key(word, err);
		if (key < 0)
			return key;
		if (key != SKIPPED && !(out->mask & KEY_BIT(key))) {
			out->v[out->n++] = (uint8_t)key;
			out->mask |= KEY_BIT(key);
		}
		text += strcspn(text, ",");
		if (!*text)
			break;
		text++;
	}
	if (!out->n)
		return error_set(
			err, ERR_USAGE,
			"no sort key to group by; try -s image,symbol");
	return 0;
}
