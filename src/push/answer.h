/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_ANSWER_H
#define TALLY_PUSH_ANSWER_H
/*
 * Interprets a server's answer: HTTP statuses (RFC 9110), errors of Connect (JSON),
 * statuses of gRPC, and the partial success of OTLP.
 */
#include "base/cursor.h"
#include "push/http.h"
#include "push/url.h"

enum push_outcome {
	PUSH_TAKEN,		/* accepted, except for `rejected` profiles */
	PUSH_LATER,		/* send the same request again after wait_ns */
	PUSH_TOO_LARGE,		/* send less at once */
	PUSH_REFUSED,		/* never retry: the content is wrong for this
				 * server */
	PUSH_DENIED,		/* stop: address, token or certificate are wrong,
				 * so all further requests would fail */
};

struct push_verdict {
	enum push_outcome outcome;
	uint64_t wait_ns;	/* delay requested by the server, nanoseconds; 0:
				 * none */
	uint64_t rejected;
	bool fault;		/* PUSH_LATER because of an error within the server,
				 * which the content may have caused */
	char text[512];		/* reason, safe for a terminal; "" if accepted */
};

/* Interprets an answer.  `secret` is the Authorization that was sent, or NULL; the
 * text never contains its token.  `wall_s` is the time in seconds since 1970, needed
 * if Retry-After is a date. */
void push_judge(enum push_protocol protocol, const struct http_answer *a,
		const char *secret, int64_t wall_s, struct push_verdict *v);

/* Returns the message of an answer by gRPC, which is empty if it is compressed. */
struct cursor answer_message(const struct http_answer *a);

/* Returns the nanoseconds that a Retry-After asks for, at most an hour.  Returns 0
 * if the value is not readable or is a date in the past. */
uint64_t push_retry_after(const char *text, int64_t wall_s);

#endif
