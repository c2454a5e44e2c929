/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_OS_RELEASE_H
#define TALLY_HINTS_OS_RELEASE_H
/* Identifies the distribution from os-release(5) (private to src/hints). */
#include <stdbool.h>

struct os_release {
	char id[64], like[128], codename[64];	/* "" if absent */
};

void os_release_read(const char *root, struct os_release *out);
/* Returns whether this is the distribution `id` or a derivative of it. */
bool os_is(const struct os_release *os, const char *id);

#endif
