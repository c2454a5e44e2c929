/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_KEYS_H
#define TALLY_VIEWS_QUERY_KEYS_H
/* The keys a report can be sorted and grouped by (`-s`). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum view_key {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_RUN,
	KEY_EVENT,
	KEY_WAIT,	/* what the thread waits for */
	KEY_LABEL, KEY_HOST, KEY_SERVICE, KEY_CONTAINER, KEY_POD,
	KEY_CGROUP,
	KEY_TASK,	/* in the order of enum thread_label */
	KEY_SYMBOL,
	KEY_IMAGE,
	KEY_FILE,
	KEY_LINE,	/* file and line */
	KEY_COUNT
};

#define KEY_BIT(k) (1u << (k))
/* Keys that describe a frame; the others describe the sample. */
#define KEYS_OF_FRAME \
	(KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL) | KEY_BIT(KEY_FILE) | \
	 KEY_BIT(KEY_LINE))
#define KEYS_OF_LABELS \
	(KEY_BIT(KEY_LABEL) | KEY_BIT(KEY_HOST) | KEY_BIT(KEY_SERVICE) | \
	 KEY_BIT(KEY_CONTAINER) | KEY_BIT(KEY_POD) | KEY_BIT(KEY_CGROUP) | \
	 KEY_BIT(KEY_TASK))
#define KEYS_OF_THREAD \
	(KEYS_OF_LABELS | KEY_BIT(KEY_COMM) | KEY_BIT(KEY_PID) | KEY_BIT(KEY_TID) | \
	 KEY_BIT(KEY_RUN))

struct key_list {
	uint8_t v[KEY_COUNT];	/* enum view_key, in the requested order */
	size_t n;
	uint32_t mask;		/* KEY_BITs of v */
};

static inline bool key_list_has(const struct key_list *l, enum view_key k)
{
	return l->mask & KEY_BIT(k);
}

/* Parses "comm,symbol": names separated by commas.  perf's names (dso, sym,
 * srcline, srcfile) are accepted; `overhead` is skipped. */
int key_list_parse(const char *text, struct key_list *out, struct error *err);
const char *key_name(enum view_key k);

#endif
