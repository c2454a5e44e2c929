// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches of a history, one after the other, and all that is made of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(struct history *h, const struct history_classes *classes)
{
	const struct history_class *c = &classes->v.v[0];
	struct verdict_options o = verdict_defaults();
	struct findings found = { .total_fails = false };
	struct buf out = { 0 };
	struct error err;
	struct verdict v;

	if (c->batches.n > 1 &&
	    verdict_reach(h, c->batches.v, c->batches.n - 1,
			  c->batches.v + c->batches.n - 1, 1, &o, &v,
			  &err) == 0) {
		verdict_text(h, &v, &o, classes, 0, &out);
		verdict_json(h, &v, &o, classes, 0, &out);
		verdict_markdown(h, &v, &o, &out);
		if (verdict_findings(h, &v, &o, &found) < 0)
			abort();
		findings_junit(&found, &out);
		findings_github(&found, "/src", false, &out);
		findings_sarif(&found, "/src", &out);
		findings_code_quality(&found, NULL, &out);
		findings_fini(&found);
		verdict_fini(&v);
	}
	buf_fini(&out);
}

static void show(struct history *h)
{
	struct history_classes classes;
	struct history_report r = { .h = h };
	struct buf out = { 0 };
	struct error err;

	if (history_classify(h, NULL, NULL, &classes, &err) < 0)
		return;
	if (classes.v.n)
		judge(h, &classes);
	history_list(h, &classes, &out);
	if (history_report_build(&r, &classes, &err) == 0) {
		history_text(&r, 5, &out);
		history_json(&r, &out);
		history_html(&r, 5, &out);
	}
	history_report_fini(&r);
	history_classes_fini(&classes);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char begin[] = "tally-history 1\n";
	const char *text = (const char *)data, *end = text + size;
	struct history h;
	struct error err;

	if (history_init(&h, &err) < 0)
		return 0;
	while (text < end) {
		const char *next = memmem(text + 1, (size_t)(end - text) - 1,
					  begin, sizeof(begin) - 1);

		next = next ? next : end;
		history_parse(&h, "fuzz", text, (size_t)(next - text), &err);
		text = next;
	}
	if (h.batches.n <= 64)
		show(&h);
	history_fini(&h);
	return 0;
}
