// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary recordings on both sides of a check, and all that is written of it. */
#include <stdlib.h>
#include <string.h>

#include "check/show.h"
#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct check *c)
{
	struct check_style style = { .columns = 100, .top = 10 };
	struct buf out = { 0 };
	struct error err;

	check_text(c, &style, &out);
	check_calibration(c, &out);
	check_json(c, &out);
	check_junit(c, &out);
	check_markdown(c, &out);
	check_github(c, "/src", false, &out);
	check_openmetrics(c, &out);
	check_html(c, NULL, &out, &err);
	buf_fini(&out);
}

static int add(struct check *c, enum check_side side, const uint8_t *p,
	       size_t n)
{
	const char *name = side == CHECK_BASE ? "old" : "new";
	struct reader *r;

	if (reader_open_bytes(p, n, name, &r, NULL) < 0)
		return -1;
	return check_runs_add(&c->runs, side, name, r, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check c = { .o = { .judge = judge_defaults(),
				  .require_visible = 0.1,
				  .inclusive = true } };
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mend_checksums(copy, size);
	c.o.runs.by_line = size % 2;
	if (check_runs_init(&c.runs, NULL) == 0 &&
	    add(&c, CHECK_BASE, copy, size) == 0 &&
	    add(&c, CHECK_NEW, copy, size) == 0 &&
	    check_decide(&c, NULL) == 0)
		show(&c);
	check_fini(&c);
	free(copy);
	return 0;
}
