// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen if tally was built without ncurses: see screen.h. */
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>

bool screen_only_prints(void)
{
	const char *name = getenv("TERM");

	return !name || !*name || !strcmp(name, "dumb");
}

const char *screen_lacks(void)
{
	return "this tally was built without ncurses (libncurses-dev)";
}

int screen_open(bool color, struct screen *out, struct error *err)
{
	(void)color;
	(void)out;
	return error_set(err, ERR_UNSUPPORTED, "%s", screen_lacks());
}

void screen_close(void)
{
}

void screen_restore(void)
{
}

bool screen_is_busy(void)
{
	return false;
}
