/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_HTTP_H
#define TALLY_PUSH_HTTP_H
/*
 * Sends POST requests one after the other by libcurl, which is loaded on first use.
 * Redirections are not followed and user names are not looked up in files, so a
 * token reaches only the host that the user named.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum {
	HTTP_ANSWER_MAX = 1 << 16,	/* most bytes of an answer that are kept */
	HTTP_TEXT = 256,
};

#define HTTP_ABORT SIZE_MAX

struct http_options {
	const char *ca, *cert, *key;	/* PEM files, or NULL */
	uint64_t timeout_ns;		/* limit of a whole request, nanoseconds;
					 * 0: 30 s */
	const char *agent;		/* User-Agent */
};

struct http_request {
	const char *url;
	const void *body;
	size_t n;
	const char *const *headers;	/* "Name: value" strings, then NULL; may be
					 * secret */
	bool http2;			/* use HTTP/2 even without TLS, which gRPC
					 * needs */
	/* Instead of a body, for HTTP/2: copies the next bytes, at most `room`.
	 * Returns their number, 0 at the end, or HTTP_ABORT.  Such a request may
	 * take ten minutes, but is ended if it stands still for the time limit. */
	size_t (*more)(void *ctx, void *out, size_t room);
	void *ctx;
};

enum http_failure {
	HTTP_ANSWERED,
	HTTP_AWAY,		/* no connection, or it ended early */
	HTTP_DISTRUST,		/* TLS: the certificate is not trusted */
	HTTP_SETTINGS,		/* the requested settings are not possible */
};

/* The answer.  All text comes from the server and is hostile. */
struct http_answer {
	enum http_failure failure;
	int status;			/* HTTP status; 0: none */
	struct buf body;		/* at most HTTP_ANSWER_MAX bytes */
	char retry_after[HTTP_TEXT];	/* header fields; "" if absent */
	char location[HTTP_TEXT], content_type[HTTP_TEXT];
	char grpc_status[16];
	char grpc_message[HTTP_TEXT];
	char problem[HTTP_TEXT];	/* reason if the outcome is not
					 * HTTP_ANSWERED */
};

/* Fills *answer, whose body the caller releases.  Returns a negative value only if
 * memory ran out. */
typedef int http_post_fn(void *ctx, const struct http_request *q,
			 struct http_answer *answer, struct error *err);

struct http;

/* Opens a client that http_close releases.  ERR_UNSUPPORTED names the missing
 * package. */
int http_open(const struct http_options *o, struct http **out,
	      struct error *err);
void http_close(struct http *h);
/* Sends a request.  It is an http_post_fn whose ctx is a struct http. */
int http_post(void *ctx, const struct http_request *q,
	      struct http_answer *answer, struct error *err);

/* Stores one header or trailer line of an answer. */
void http_take_header(struct http_answer *a, const char *line, size_t n);

#endif
