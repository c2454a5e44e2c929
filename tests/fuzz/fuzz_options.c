// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What users and other programs write in options and to --control: durations,
 * sizes, and commands, which come in parts of any length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "launch/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void values(const char *text, size_t size)
{
	double seconds = -1;
	uint64_t bytes = 0;
	bool bare;

	if (duration_parse(text, size, &seconds, &bare) && !(seconds >= 0))
		abort();
	if (size_parse(text, &bytes) && !bytes)
		abort();
}

static void take(struct control *c)
{
	enum control_command command;

	while (c->fd >= 0 && (command = control_next(c)) != CONTROL_NONE)
		if (command > CONTROL_UNTIL || !c->name ||
		    strlen(c->line) >= sizeof(c->line) ||
		    c->name < c->line || c->name > c->line + strlen(c->line))
			abort();
}

/* The first byte is the length of the parts. */
static void commands(const uint8_t *data, size_t size)
{
	size_t part = size ? 1 + data[0] : 1, n;
	struct control c;
	struct error err;
	char spec[32];
	int fds[2];

	if (pipe(fds))
		return;
	snprintf(spec, sizeof(spec), "fd:%d", fds[0]);
	if (control_open(&c, spec, &err) < 0)
		abort();
	for (size_t i = 1; i < size; i += n) {
		n = size - i < part ? size - i : part;
		if (write(fds[1], data + i, n) != (ssize_t)n)
			break;
		take(&c);
	}
	close(fds[1]);
	take(&c);
	control_close(&c);
	close(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size <= 4096 ? malloc(size + 1) : NULL;
	struct control c;
	struct error err;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	values(text, size);
	commands(data, size);
	/* No file, and no descriptor of this process. */
	if (strncmp(text, "fifo:", 5) && strncmp(text, "fd:", 3) &&
	    control_open(&c, text, &err) == 0)
		abort();
	free(text);
	return 0;
}
