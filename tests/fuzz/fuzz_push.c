// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of servers, and files of a spool, with the requests made of them.  The
 * first byte chooses the protocol, the second what the rest is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "push/answer.h"
#include "push/debuginfo.h"
#include "push/entry.h"
#include "push/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void headers(struct http_answer *a, const char *p, size_t n)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t line = end ? (size_t)(end - p) + 1 : n;

		http_take_header(a, p, line);
		p += line;
		n -= line;
	}
}

static void answer(enum push_protocol protocol, const uint8_t *p, size_t n)
{
	const uint8_t *blank = memmem(p, n, "\n\n", 2);
	size_t head = blank ? (size_t)(blank - p) + 2 : 0;
	struct http_answer a = { .status = n ? 200 + p[0] * 2 : 0 };
	struct debuginfo_plan plan;
	struct push_verdict v;
	bool wanted;

	headers(&a, (const char *)p, head);
	buf_bytes(&a.body, p + head, n - head);
	push_judge(protocol, &a, "Bearer abcd", 1800000000, &v);
	if (memchr(v.text, 0, sizeof(v.text)) == NULL || v.outcome > PUSH_DENIED)
		abort();
	debuginfo_wanted(answer_message(&a), &wanted);
	if (debuginfo_read_plan(answer_message(&a), &plan) &&
	    cursor_left(&plan.id) > a.body.n)
		abort();
	buf_fini(&a.body);
}

static void entry(enum push_protocol protocol, const uint8_t *p, size_t n,
		  int depth)
{
	struct buf half[2] = { { 0 }, { 0 } };
	struct entry_request q;
	struct error err;
	struct entry e;

	if (entry_parse(p, n, &e, &err) < 0)
		return;
	if (entry_fits(&e, protocol) &&
	    !entry_request(&e, protocol, "tenant", &q, &err))
		entry_request_fini(&q);
	if (depth < 3 && entry_halves(&e, half, &err))
		for (int i = 0; i < 2; i++)
			entry(protocol, half[i].p, half[i].n, depth + 1);
	buf_fini(&half[0]);
	buf_fini(&half[1]);
	entry_fini(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum push_protocol protocol;
	struct push_url url;
	struct error err;
	const uint8_t *p;
	char *text;
	size_t n;

	if (size < 2)
		return 0;
	protocol = data[0] % (PUSH_OTLP_GRPC + 1);
	switch (data[1] % 4) {
	case 0:
		answer(protocol, data + 2, size - 2);
		break;
	case 1:
		entry(protocol, data + 2, size - 2, 0);
		break;
	case 2:
		if (spool_payload(data + 2, size - 2, &p, &n))
			entry(protocol, p, n, 0);
		break;
	case 3:
		text = strndup((const char *)data + 2, size - 2);
		if (text && !push_url_parse(text, &url, &err))
			push_url_fini(&url);
		free(text);
		break;
	}
	return 0;
}
