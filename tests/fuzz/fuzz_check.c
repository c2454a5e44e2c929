// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile recordings on both sides of a check, and all that is written of it.  The
 * input is as fuzz_diff.c says.
 */
#include <stdlib.h>
#include <string.h>

#include "check/show.h"
#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct check *c)
{
	struct check_style style = { .columns = 100, .top = 10 };
	struct findings found = { .total_fails = false };
	struct buf out = { 0 };
	struct error err;

	check_text(c, &style, &out);
	check_calibration(c, &out);
	check_json(c, &out);
	check_markdown(c, &out);
	check_openmetrics(c, &out);
	check_html(c, NULL, &out, &err);
	if (check_findings(c, &found) < 0)
		abort();
	findings_junit(&found, &out);
	findings_github(&found, "/src", false, &out);
	findings_sarif(&found, "/src", &out);
	findings_code_quality(&found, NULL, &out);
	findings_fini(&found);
	buf_fini(&out);
}

/* Takes a copy of the bytes, so that reading beyond them is found. */
static int add(struct check *c, enum check_side side, uint8_t **copy,
	       const uint8_t *p, size_t n)
{
	const char *name = side == CHECK_BASE ? "old" : "new";
	struct reader *r;

	*copy = malloc(n + 1);
	if (!*copy)
		abort();
	memcpy(*copy, p, n);
	mend_checksums(*copy, n);
	if (reader_open_bytes(*copy, n, name, &r, NULL) < 0)
		return -1;
	return check_runs_add(&c->runs, side, name, r, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check c = { .o = { .judge = JUDGE_DEFAULTS,
				  .require_mde = 0.1,
				  .inclusive = true } };
	uint8_t *copy[2] = { NULL, NULL };
	size_t n;

	if (size < 2 || size > 1 << 18)
		return 0;
	n = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	n = n < size ? n : size;
	c.o.runs.by_line = size % 2;
	if (check_runs_init(&c.runs, NULL) == 0 &&
	    add(&c, CHECK_BASE, &copy[0], data, n) == 0 &&
	    add(&c, CHECK_NEW, &copy[1], data + n, size - n) == 0 &&
	    check_decide(&c, NULL) == 0)
		show(&c);
	check_fini(&c);
	free(copy[0]);
	free(copy[1]);
	return 0;
}
