// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that a continuous recording reads: its status ('s' first) and options. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/at_files.h"
#include "continuous/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void status(const uint8_t *p, size_t n)
{
	struct continuous_status s, again;
	struct buf text = { 0 }, json = { 0 };
	struct error err;

	if (status_parse(p, n, &s, &err) < 0)
		return;
	status_text(&s, n & 1, 1800000000, &text);
	status_json(&s, &json);
	if (json.failed || status_parse(json.p, json.n, &again, &err) < 0)
		abort();
	buf_fini(&text);
	buf_fini(&json);
}

static void config(const uint8_t *p, size_t n)
{
	struct at_files words = { { 0 }, { 0 } };
	char *text = strndup((const char *)p, n);
	struct error err;

	if (text && !config_words(&words, "fuzz", text, &err))
		for (size_t i = 0; i < words.argv.n; i++)
			if (words.argv.v[i][0] != '-')
				abort();
	at_files_fini(&words);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 's')
		status(data + 1, size - 1);
	else
		config(data, size);
	return 0;
}
