/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_HTTP_H
#define TALLY_PUSH_HTTP_H
/*
 * One POST after the other, by libcurl (which is loaded when it is asked for).
 * Redirections are not followed and no names of users are looked for in files: a
 * token goes to the host that the user named.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum {
	HTTP_ANSWER_MAX = 1 << 16,	/* bytes of an answer that are kept */
	HTTP_TEXT = 256,
};

struct http_options {
	const char *ca, *cert, *key;	/* PEM files, or NULL */
	uint64_t timeout_ns;		/* of a whole request; 0: 30 s */
	const char *agent;		/* User-Agent */
};

struct http_request {
	const char *url;
	const void *body;
	size_t n;
	const char *const *headers;	/* "Name: value", up to NULL; may be
					 * secret */
	bool http2;			/* gRPC needs it, also without TLS */
};

enum http_failure {
	HTTP_ANSWERED,
	HTTP_AWAY,		/* no connection, or none to the end */
	HTTP_DISTRUST,		/* TLS: the certificate is not to be trusted */
	HTTP_SETTINGS,		/* what was asked for is not possible */
};

/* What came back.  Text is the server's: hostile. */
struct http_answer {
	enum http_failure failure;
	int status;			/* 0: there is none */
	struct buf body;		/* at most HTTP_ANSWER_MAX */
	char retry_after[HTTP_TEXT];	/* header fields; "" where absent */
	char location[HTTP_TEXT];
	char grpc_status[16];
	char grpc_message[HTTP_TEXT];
	char problem[HTTP_TEXT];	/* where it is no HTTP_ANSWERED */
};

/* Fills *answer, whose body the caller releases.  Negative only where memory ran
 * out. */
typedef int http_post_fn(void *ctx, const struct http_request *q,
			 struct http_answer *answer, struct error *err);

struct http;

/* ERR_UNSUPPORTED names the package that is missing. */
int http_open(const struct http_options *o, struct http **out,
	      struct error *err);
void http_close(struct http *h);
/* An http_post_fn whose ctx is a struct http. */
int http_post(void *ctx, const struct http_request *q,
	      struct http_answer *answer, struct error *err);

/* Takes one header or trailer line of an answer. */
void http_take_header(struct http_answer *a, const char *line, size_t n);

#endif
