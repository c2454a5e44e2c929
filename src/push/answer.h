/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_ANSWER_H
#define TALLY_PUSH_ANSWER_H
/*
 * What a server's answer means: HTTP statuses (RFC 9110), errors of Connect (JSON),
 * statuses of gRPC, and the partial success of OTLP.
 */
#include "push/http.h"
#include "push/url.h"

enum push_outcome {
	PUSH_TAKEN,		/* `rejected` profiles were left out */
	PUSH_LATER,		/* the same again, after wait_ns */
	PUSH_TOO_LARGE,		/* less at once */
	PUSH_REFUSED,		/* never: what is in it is wrong for this server */
	PUSH_DENIED,		/* not like this: address, token or certificate are
				 * wrong, and so is what comes next */
};

struct push_verdict {
	enum push_outcome outcome;
	uint64_t wait_ns;	/* that the server asked for; 0: it did not */
	uint64_t rejected;
	char text[512];		/* why, safe to be shown; "" where taken */
};

/* `wall_s` is the time since 1970, for a Retry-After that is a date. */
void push_judge(enum push_protocol protocol, const struct http_answer *a,
		int64_t wall_s, struct push_verdict *v);

/* Nanoseconds that a Retry-After asks for, at most an hour; 0: none that can be
 * read, or a date that is past. */
uint64_t push_retry_after(const char *text, int64_t wall_s);

#endif
