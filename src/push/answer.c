// SPDX-License-Identifier: GPL-2.0-or-later
/* Interprets a server's answer: see answer.h. */
#include "push/answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/gzip.h"
#include "base/json_in.h"
#include "base/proto_in.h"
#include "base/text.h"
#include "base/vec.h"
#include "push/grpc.h"

enum {
	SECOND = 1000000000,
	WAIT_MAX_S = 3600,
	MESSAGE_MAX = 300,	/* bytes of the server's message that are shown */
	TOKEN_PART = 4,		/* fewest bytes of a token that are recognized */
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

/* Returns how many bytes at p begin like the token: all of it, or at least four
 * bytes at the end of a text that may have been cut. */
static size_t token_at(const char *p, size_t n, const char *token, size_t length)
{
	size_t same = 0;

	while (same < n && same < length && p[same] == token[same])
		same++;
	return same == length || (same == n && same >= TOKEN_PART) ? same : 0;
}

/* Appends a text without the token of an Authorization ("Bearer TOKEN"). */
static void add_masked(struct buf *out, const char *secret, const char *p,
		       size_t n)
{
	const char *blank = secret ? strrchr(secret, ' ') : NULL;
	const char *token = blank ? blank + 1 : secret;
	size_t length = token ? strlen(token) : 0;

	/* Servers may leave out the padding of base64. */
	while (length && token[length - 1] == '=')
		length--;
	for (size_t i = 0, same; i < n; i += same ? same : 1) {
		same = length ? token_at(p + i, n - i, token, length) : 0;
		if (same)
			buf_str(out, "[token]");
		else
			buf_u8(out, (uint8_t)p[i]);
	}
}

/* Appends the server's message, made safe and cut to length. */
static void add_words(struct buf *out, const char *secret, const void *p,
		      size_t n)
{
	struct buf raw = { 0 }, safe = { 0 };

	while (n && strchr(" \t\r\n", ((const char *)p)[n - 1]))
		n--;
	add_masked(&raw, secret, p, n);
	raw.n = raw.n < MESSAGE_MAX ? raw.n : MESSAGE_MAX;
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
static void add_body(struct buf *out, const char *secret,
		     const struct buf *body)
{
	struct json_in j = json_in_of(body->p, body->n);
	struct buf key = { 0 }, message = { 0 };

	bool object = body->n && json_in_is(&j, '{') && json_in_object(&j);

	while (object && json_in_key(&j, &key)) {
		if (!strcmp(buf_cstr(&key), "message") && json_in_is(&j, '"'))
			json_in_string(&j, &message);
		else
			json_in_skip(&j);
	}
	if (message.n && !j.bad)
		add_words(out, secret, message.p, message.n);
	else if (body->n && body->p[0] != '<')	/* an HTML page is no reason */
		add_words(out, secret, body->p, body->n);
	buf_fini(&key);
	buf_fini(&message);
}

/* Reads ExportProfilesServiceResponse.partial_success.  Returns false if it is not
 * readable. */
static bool partial_success(const void *p, size_t n, const char *secret,
			    uint64_t *rejected, struct buf *reason)
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
				add_words(reason, secret, g.part.p,
					  cursor_left(&g.part));
		if (f.part.bad)
			return false;
	}
	return !c.bad;
}

static void judge_taken(enum push_protocol protocol, const void *p, size_t n,
			const char *secret, struct push_verdict *v,
			struct buf *text)
{
	struct buf reason = { 0 };
	uint64_t rejected = 0;

	v->outcome = PUSH_TAKEN;
	if (push_is_otlp(protocol) && n &&
	    partial_success(p, n, secret, &rejected, &reason)) {
		v->rejected = rejected;
		if (rejected)
			buf_printf(text, "the server rejected %llu profile%s",
				   (unsigned long long)rejected,
				   plural(rejected, "s"));
		else if (reason.n)
			buf_str(text, "the server warns");
		if (text->n)
			buf_bytes(text, reason.p, reason.n);
	}
	buf_fini(&reason);
}

/* Returns whether a server says that a request is too large.  Besides 413:
 * connect-go, grpc-go, grpc-java, tonic, and the limits of Pyroscope. */
static bool says_too_large(const void *p, size_t n)
{
	static const char *const words[] = {
		"larger than", "message exceeds maximum size",
		"message length too large",
		"exceeds the size limit (max_profile_size_byte",
		"exceeds the samples count limit (max_profile_stacktrace_samples",
	};

	for (size_t i = 0; n && i < COUNT(words); i++)
		if (memmem(p, n, words[i], strlen(words[i])))
			return true;
	return false;
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
		       const struct http_answer *a, const char *secret,
		       struct push_verdict *v, struct buf *text)
{
	long code = strtol(a->grpc_status, NULL, 10);
	bool large = says_too_large(a->grpc_message, strlen(a->grpc_message));
	struct buf reason = { 0 };

	if (code == G_OK) {
		struct cursor c = answer_message(a);

		judge_taken(protocol, c.p, cursor_left(&c), secret, v, text);
		return;
	}
	switch (code) {
	case G_CANCELLED: case G_DEADLINE: case G_ABORTED:
	case G_UNAVAILABLE: case G_DATA_LOSS:
		v->outcome = PUSH_LATER;
		break;
	case G_EXHAUSTED: case G_RANGE:
		/* a rate limit, or the size of a message */
		v->outcome = large ? PUSH_TOO_LARGE : PUSH_LATER;
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
	add_words(text, secret, reason.p, reason.n);
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

/* Returns the body of an answer, in `room` if it is compressed; an empty one if it
 * cannot be unpacked. */
static const struct buf *plain_body(const struct http_answer *a,
				    struct buf *room)
{
	struct error ignored;

	if (a->body.n < 2 || a->body.p[0] != 0x1f || a->body.p[1] != 0x8b)
		return &a->body;
	if (gzip_unpack(room, a->body.p, a->body.n, HTTP_ANSWER_MAX, &ignored))
		buf_reset(room);
	return room;
}

static void judge_status(enum push_protocol protocol,
			 const struct http_answer *a, const char *secret,
			 struct push_verdict *v, struct buf *text)
{
	bool large = a->status == 400 || a->status == 422 || a->status == 429;
	struct buf room = { 0 };
	const struct buf *body;

	if (a->status >= 200 && a->status < 300) {
		/* Proxies and web servers answer any request with a page. */
		if (!strncasecmp(a->content_type, "text/html", 9)) {
			v->outcome = PUSH_DENIED;
			buf_printf(text, "HTTP status %d with a web page (check "
				   "the URL)", a->status);
			return;
		}
		judge_taken(protocol, a->body.p, a->body.n, secret, v, text);
		return;
	}
	body = plain_body(a, &room);
	v->outcome = large && says_too_large(body->p, body->n)
			     ? PUSH_TOO_LARGE : of_status(protocol, a->status);
	v->fault = v->outcome == PUSH_LATER && a->status >= 500 &&
		   (a->status < 502 || a->status > 504);
	buf_printf(text, "HTTP status %d", a->status);
	add_body(text, secret, body);
	buf_fini(&room);
	buf_str(text, help_for(a->status));
}

void push_judge(enum push_protocol protocol, const struct http_answer *a,
		const char *secret, int64_t wall_s, struct push_verdict *v)
{
	struct buf text = { 0 }, problem = { 0 };
	size_t n;

	*v = (struct push_verdict){ .outcome = PUSH_LATER };
	if (a->failure != HTTP_ANSWERED) {
		v->outcome = a->failure == HTTP_AWAY ? PUSH_LATER : PUSH_DENIED;
		add_masked(&problem, secret, a->problem, strlen(a->problem));
		text_safe(&text, buf_cstr(&problem));
		buf_fini(&problem);
	} else if (push_is_grpc(protocol) && a->status == 200 &&
		   *a->grpc_status >= '0' && *a->grpc_status <= '9') {
		judge_grpc(protocol, a, secret, v, &text);
	} else if (push_is_grpc(protocol) && a->status >= 200 &&
		   a->status < 300) {
		buf_str(&text, "a response without a gRPC status");
	} else {
		judge_status(protocol, a, secret, v, &text);
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
