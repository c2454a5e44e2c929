// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile recordings looked around in: no crash, no endless loop, and nothing on
 * the screen but safe text that fits.  The keys are made of the bytes, too. */
#include <stdlib.h>
#include <string.h>

#include "../tui/memory_screen.h"
#include "mend.h"
#include "tui/tui.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEYS = 48 };

static void look(struct reader *r, const char *keys, size_t n)
{
	static const struct source_map map = { "", "/nonexistent/" };
	struct tui_options o = { .file = "fuzz",
				 .annotate = { .where = { .maps = &map,
							.nmaps = 1 } } };
	struct memory_screen *s = malloc(sizeof(*s));

	if (s && key_list_parse("image,symbol", &o.report.keys, NULL) == 0) {
		memory_screen_init(s, 24, 80, keys, n);
		tui_run(r, &o, &s->screen, NULL);
		if (s->bad)
			abort();
	}
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char choice[] = K_DOWN K_UP K_ENTER K_TAB K_ESC K_BACK
		K_NARROW K_TINY K_WIDE K_END "+-*EC=zaTsc<>renN/wik&dxtfgo#H";
	static const char first[] = K_ENTER K_DOWN "*z" K_ENTER "aT*" K_DOWN
		"aisnno" K_ENTER K_BACK "q=qg" K_DOWN K_DOWN K_ENTER "tq";
	char keys[KEYS];
	struct reader *r;
	uint8_t *copy;

	if (size > 1 << 20)
		return 0;
	copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	mend_checksums(copy, size);
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = choice[size ? data[i * 131 % size] %
					(sizeof(choice) - 1) : 0];
	if (reader_open_bytes(copy, size, "fuzz", &r, NULL) == 0) {
		unsigned int views = fuzz_views(size, 2);

		if (views & 1)
			look(r, first, sizeof(first) - 1);
		reader_rewind(r);
		if (views & 2)
			look(r, keys, KEYS);
		reader_close(r);
	}
	free(copy);
	return 0;
}
