// SPDX-License-Identifier: GPL-2.0-or-later
/* Interprets a server's answer: see answer.h. */
#include "push/answer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_in.h"
#include "base/proto_in.h"
#include "base/text.h"
#include "push/grpc.h"

enum {
	SECOND = 1000000000,
	WAIT_MAX_S = 3600,
	MESSAGE_MAX = 300,	/* bytes of the server's message that are shown */
};

/* Codes of gRPC (doc/statuscodes.md). */
enum {
	G_OK, G_CANCELLED, G_UNKNOWN, G_INVALID, G_DEADLINE, G_NOT_FOUND,
	G_EXISTS, G_DENIED, G_EXHAUSTED, G_PRECONDITION, G_ABORTED, G_RANGE,
	G_UNIMPLEMENTED, G_INTERNAL, G_UNAVAILABLE, G_DATA_LOSS,
	G_UNAUTHENTICATED
};

uint64_t push_retry_after(const char *text, int64_t wall_s)
{
	struct tm tm = { 0 };
	const char *end;
	int64_t wait;

	if (*text >= '0' && *text <= '9') {
		size_t n = strspn(text, "0123456789");

		if (text[n])
			return 0;
		wait = n > 9 ? WAIT_MAX_S : strtol(text, NULL, 10);
	} else {
		/* RFC 9110, 5.6.7: IMF-fixdate, which uses the names of the C
		 * locale */
		end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
		if (!end || *end)
			return 0;
		wait = timegm(&tm) - wall_s;
	}
	if (wait <= 0)
		return 0;
	return (uint64_t)(wait < WAIT_MAX_S ? wait : WAIT_MAX_S) * SECOND;
}

/* Appends the server's message, made safe and cut to length. */
static void add_words(struct buf *out, const void *p, size_t n)
{
	struct buf raw = { 0 }, safe = { 0 };

	while (n && strchr(" \t\r\n", ((const char *)p)[n - 1]))
		n--;
	buf_bytes(&raw, p, n < MESSAGE_MAX ? n : MESSAGE_MAX);
	for (size_t i = 0; i < raw.n; i++)
		if (strchr("\t\r\n", raw.p[i]))
			raw.p[i] = ' ';
	text_safe(&safe, buf_cstr(&raw));
	if (safe.n) {
		buf_str(out, ": ");
		text_cut(out, buf_cstr(&safe), MESSAGE_MAX);
	}
	buf_fini(&raw);
	buf_fini(&safe);
}

/* Appends Connect's {"code": …, "message": …}, or plain text. */
static void add_body(struct buf *out, const struct http_answer *a)
{
	struct json_in j = json_in_of(a->body.p, a->body.n);
	struct buf key = { 0 }, message = { 0 };

	bool object = a->body.n && json_in_is(&j, '{') && json_in_object(&j);

	while (object && json_in_key(&j, &key)) {
		if (!strcmp(buf_cstr(&key), "message") && json_in_is(&j, '"'))
			json_in_string(&j, &message);
		else
			json_in_skip(&j);
	}
	if (message.n && !j.bad)
		add_words(out, message.p, message.n);
	else if (a->body.n && a->body.p[0] != '<')	/* an HTML page is no
							 * reason */
		add_words(out, a->body.p, a->body.n);
	buf_fini(&key);
	buf_fini(&message);
}

/* Reads ExportProfilesServiceResponse.partial_success.  Returns false if it is not
 * readable. */
static bool partial_success(const void *p, size_t n, uint64_t *rejected,
			    struct buf *reason)
{
	struct cursor c = cursor_of(p, n);
	struct proto_field f, g;

	while (proto_next(&c, &f)) {
		if (f.number != 1 || f.wire != PROTO_BYTES)
			continue;
		while (proto_next(&f.part, &g))
			if (g.number == 1 && g.wire == PROTO_VARINT)
				*rejected = g.v;
			else if (g.number == 2 && g.wire == PROTO_BYTES)
				add_words(reason, g.part.p,
					  cursor_left(&g.part));
		if (f.part.bad)
			return false;
	}
	return !c.bad;
}

static void judge_taken(enum push_protocol protocol, const void *p, size_t n,
			struct push_verdict *v, struct buf *text)
{
	struct buf reason = { 0 };
	uint64_t rejected = 0;

	v->outcome = PUSH_TAKEN;
	if (push_is_otlp(protocol) && n &&
	    partial_success(p, n, &rejected, &reason)) {
		v->rejected = rejected;
		if (rejected)
			buf_printf(text, "the server rejected %llu profile%s",
				   (unsigned long long)rejected,
				   rejected == 1 ? "" : "s");
		else if (reason.n)
			buf_str(text, "the server warns");
		if (text->n)
			buf_bytes(text, reason.p, reason.n);
	}
	buf_fini(&reason);
}

static bool contains(const char *text, const char *what)
{
	return strstr(text, what) != NULL;
}

/* Decodes the text of a header, in which %XX is a byte. */
static void unescape(const char *s, struct buf *out)
{
	for (; *s; s++) {
		char hex[3] = { s[0] == '%' ? s[1] : 0,
				s[0] == '%' && s[1] ? s[2] : 0, 0 };
		char *end = hex;
		long v = strtol(hex, &end, 16);

		if (end == hex + 2) {
			buf_u8(out, (uint8_t)v);
			s += 2;
		} else {
			buf_u8(out, (uint8_t)*s);
		}
	}
}

struct cursor answer_message(const struct http_answer *a)
{
	bool has = a->body.n > GRPC_PREFIX && !a->body.p[0];

	return has ? cursor_of(a->body.p + GRPC_PREFIX,
			       a->body.n - GRPC_PREFIX)
		   : cursor_of(NULL, 0);
}

static void judge_grpc(enum push_protocol protocol,
		       const struct http_answer *a, struct push_verdict *v,
		       struct buf *text)
{
	long code = strtol(a->grpc_status, NULL, 10);
	struct buf reason = { 0 };

	if (code == G_OK) {
		struct cursor c = answer_message(a);

		judge_taken(protocol, c.p, cursor_left(&c), v, text);
		return;
	}
	switch (code) {
	case G_CANCELLED: case G_DEADLINE: case G_ABORTED: case G_RANGE:
	case G_UNAVAILABLE: case G_DATA_LOSS:
		v->outcome = PUSH_LATER;
		break;
	case G_EXHAUSTED:
		/* either the size of a message or a rate limit was exceeded */
		v->outcome = contains(a->grpc_message, "larger than") ||
			     contains(a->grpc_message, "too large")
				     ? PUSH_TOO_LARGE : PUSH_LATER;
		break;
	case G_DENIED: case G_UNAUTHENTICATED: case G_UNIMPLEMENTED:
	case G_NOT_FOUND:
		v->outcome = PUSH_DENIED;
		break;
	default:
		v->outcome = PUSH_REFUSED;
	}
	buf_printf(text, "gRPC status %ld", code);
	unescape(a->grpc_message, &reason);
	add_words(text, reason.p, reason.n);
	buf_fini(&reason);
}

static enum push_outcome of_status(enum push_protocol protocol, int status)
{
	switch (status) {
	case 413:
		return PUSH_TOO_LARGE;
	case 408: case 425: case 429: case 502: case 503: case 504:
		return PUSH_LATER;
	case 401: case 403: case 404: case 405: case 407: case 415:
		return PUSH_DENIED;
	}
	if (status >= 300 && status < 400)
		return PUSH_DENIED;
	/* OTLP lists the statuses to retry; no other is retried */
	return status >= 500 && !push_is_otlp(protocol) ? PUSH_LATER
							 : PUSH_REFUSED;
}

static const char *help_for(int status)
{
	switch (status) {
	case 401: case 403: case 407:
		return " (--token-file names the file with the token, --tenant "
		       "the tenant)";
	case 404: case 405: case 415:
		return " (check the URL, and that this server accepts "
		       "profiles)";
	default:
		return status >= 300 && status < 400
			       ? " (the server redirects: use its current URL)"
			       : "";
	}
}

static void judge_status(enum push_protocol protocol,
			 const struct http_answer *a, struct push_verdict *v,
			 struct buf *text)
{
	if (a->status >= 200 && a->status < 300) {
		judge_taken(protocol, a->body.p, a->body.n, v, text);
		return;
	}
	v->outcome = of_status(protocol, a->status);
	buf_printf(text, "HTTP status %d", a->status);
	add_body(text, a);
	buf_str(text, help_for(a->status));
}

void push_judge(enum push_protocol protocol, const struct http_answer *a,
		int64_t wall_s, struct push_verdict *v)
{
	struct buf text = { 0 };
	size_t n;

	*v = (struct push_verdict){ .outcome = PUSH_LATER };
	if (a->failure != HTTP_ANSWERED) {
		v->outcome = a->failure == HTTP_AWAY ? PUSH_LATER : PUSH_DENIED;
		text_safe(&text, a->problem);
	} else if (push_is_grpc(protocol) && a->status == 200 &&
		   *a->grpc_status) {
		judge_grpc(protocol, a, v, &text);
	} else if (push_is_grpc(protocol) && a->status >= 200 &&
		   a->status < 300) {
		buf_str(&text, "a response without a gRPC status");
	} else {
		judge_status(protocol, a, v, &text);
	}
	if (v->outcome == PUSH_LATER)
		v->wait_ns = push_retry_after(a->retry_after, wall_s);
	n = text.n < sizeof(v->text) - 1 ? text.n : sizeof(v->text) - 1;
	/* do not cut within a character */
	while (n && n < text.n && (text.p[n] & 0xc0) == 0x80)
		n--;
	if (n)
		memcpy(v->text, text.p, n);
	v->text[n] = 0;
	buf_fini(&text);
}
