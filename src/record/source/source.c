// SPDX-License-Identifier: GPL-2.0-or-later
/* What all sources say about their events. */
#include "record/source/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void source_event_note(struct source_event *e, const char *fmt, ...)
{
	size_t n = strlen(e->note);
	va_list args;

	if (n && n + 2 < sizeof(e->note)) {
		memcpy(e->note + n, "; ", 3);
		n += 2;
	}
	va_start(args, fmt);
	vsnprintf(e->note + n, sizeof(e->note) - n, fmt, args);
	va_end(args);
}
